"""session.py FRAGLAB: what README.md shows is what the program says, command by command."""

import re
import shlex
import subprocess
import sys

sys.path.insert(0, "tests/lint")
import tree  # noqa: E402 (found through the line above)

BLOCK = re.compile(r"^```\n\$ fraglab (.*)\n((?:.*\n)*?)```$", re.MULTILINE)


def complaints(program):
    text = tree.read("README.md")
    for match in BLOCK.finditer(text):
        command = [program, *shlex.split(match.group(1))]
        shown = subprocess.run(command, capture_output=True, text=True).stdout
        if shown != match.group(2):
            line = text.count("\n", 0, match.start()) + 2
            yield f"README.md:{line}: fraglab {match.group(1)} says\n{shown}"


tree.finish(list(complaints(sys.argv[1])))
