"""test_scripts.py BUILD: random scripts keep their promises, and a difference is shrunk and kept."""

import os
import shlex
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import conformance  # noqa: E402 (found through the line above)
import families  # noqa: E402
import shrink  # noqa: E402
import subjects  # noqa: E402

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


class Impostor(conformance.Release):
    """fraglab as another release in the place of the released allocator, so that much differs."""

    def __init__(self, version, other, build, folder):
        self.version, self.folder = version, folder
        self.released = subjects.Replayed(other, build)
        self.replayed = subjects.Replayed(version, build)
        replay = shlex.join([self.replayed.program, "replay", "--quiet", "--decisions", "--torch"])
        self.question = f'! test "$({replay} {other} "$1")" = "$({replay} {version} "$1")"'


class Shrinking(unittest.TestCase):
    def test_settings_that_do_not_matter_go(self):
        script = "# cap=1 conf=a:1,b:[1:2,>:3],c:4\na 1 5 0\n"
        small = shrink.drop_settings(script, "grep -q 'b:.1:2,>:3.' \"$1\"")
        self.assertEqual(small, "# cap=1 conf=b:[1:2,>:3]\na 1 5 0\n")

    def test_what_fraglab_does_not_take_stays(self):
        script = "# cap=1 conf=max_split_size_mb:1\na 1 5 0\n"
        program = subjects.Replayed("2.9.1", BUILD).program
        self.assertEqual(shrink.shrink(program, "2.9.1", script, "grep -q split_size_mb:1 \"$1\""), script)

    def test_a_pool_goes_as_a_whole(self):
        script = "# cap=100000000 conf=\nb 1.0\na 1 5 0\nq 1.0\nb 2.0\nq 2.0\nx 1.0\nx 2.0\nf 1\n"
        program = subjects.Replayed("2.9.1", BUILD).program
        small = shrink.shrink(program, "2.9.1", script, "grep -q 'x 2.0' \"$1\"")
        self.assertEqual(small, "# cap=100000000\nb 2.0\nq 2.0\nx 2.0\n")

    def test_a_difference_is_shrunk_and_kept(self):
        whole = families.make("2.0.1", "train", 7)
        with tempfile.TemporaryDirectory() as folder:
            release = Impostor("2.15.0", "2.0.1", BUILD, folder)
            self.assertTrue(release.differs(whole))
            release.keep(whole, "one")
            with open(folder + "/one.txt", encoding="utf-8") as file:
                small = file.read()
            self.assertTrue(release.differs(small))
            self.assertLess(small.count("\n"), 20)
            for line in small.splitlines(keepends=True)[1:]:
                self.assertFalse(release.differs(small.replace(line, "", 1)), line)


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    unittest.main()
