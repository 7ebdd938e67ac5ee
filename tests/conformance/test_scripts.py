"""The random scripts keep their promises, and shrinking finds what it is to find."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import families  # noqa: E402 (found through the line above)
import shrink  # noqa: E402

VERSIONS = ["2.0.1", "2.1.2", "2.3.1", "2.9.1", "2.12.1", "2.15.0"]


def scripts():
    for version in VERSIONS:
        release = tuple(int(part) for part in version.split("."))
        for family in families.families_of(release):
            yield version, family, families.make(version, family, 7)


class Scripts(unittest.TestCase):
    def test_a_seed_gives_one_script(self):
        for version, family, script in scripts():
            self.assertEqual(script, families.make(version, family, 7), (version, family))

    def test_blocks_are_freed_once_and_after_their_allocation(self):
        for version, family, script in scripts():
            live = set()
            for line in script.splitlines():
                words = line.split()
                if words[0] == "a":
                    live.add(words[1])
                elif words[0] == "f":
                    live.remove(words[1])
                elif words[0] == "r":
                    self.assertIn(words[1], live, (version, family, line))

    def test_scopes_are_closed_and_pools_not_released_too_often(self):
        for version, family, script in scripts():
            opened, uses = set(), {}
            for line in script.splitlines():
                words = line.split()
                if words[0] == "b":
                    self.assertNotIn(words[1], opened, (version, family))
                    self.assertNotEqual(uses.get(words[1]), 0, (version, family))
                    opened.add(words[1])
                    uses[words[1]] = uses.get(words[1], 0) + 1
                elif words[0] == "q":
                    opened.remove(words[1])
                elif words[0] == "x":
                    uses[words[1]] -= 1
                    self.assertGreaterEqual(uses[words[1]], 0, (version, family))
            self.assertFalse(opened, (version, family))


class Shrinking(unittest.TestCase):
    def test_what_does_not_matter_goes_and_the_rest_is_rounded(self):
        lines = [f"a {number} {1000 * number + 7} 64" for number in range(1, 40)]
        lines += [f"f {number}" for number in range(1, 40)] + ["e", "s", "t"]
        script = "# cap=100 conf=a:1,b:[1:2,>:3],c:4\n" + "\n".join(lines) + "\n"

        def fails(text):
            requests = [line.split() for line in text.splitlines() if line.startswith("a ")]
            return "b:[1:2,>:3]" in text and sum(int(words[2]) > 20000 for words in requests) >= 2

        small = shrink.shrink(script, fails)
        head, *rest = small.splitlines()
        self.assertEqual(head, "# cap=100 conf=b:[1:2,>:3]")
        self.assertEqual([line.split()[:2] for line in rest if line[0] == "a"], [["a", "1"], ["a", "2"]])
        self.assertEqual(sorted(line for line in rest if line[0] != "a"), ["f 1", "f 2"])
        for line in rest:
            if line[0] == "a":
                self.assertEqual(int(line.split()[2]) % 512, 0)
                self.assertEqual(line.split()[3], "0")

    def test_a_pool_goes_as_a_whole(self):
        script = "# cap=1 conf=\nb 1\na 1 5 0\nq 1\nb 2\nq 2\nx 1\nx 2\nf 1\n"
        small = shrink.shrink(script, lambda text: "x 2" in text)
        self.assertEqual(small, "# cap=1 conf=\nb 2\nq 2\nx 2\n")


if __name__ == "__main__":
    unittest.main()
