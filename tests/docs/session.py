"""session.py FRAGLAB: what the documents show is what the program says, command by command."""

import re
import shlex
import subprocess
import sys

sys.path.insert(0, "tests/lint")
import tree  # noqa: E402 (found through the line above)

BLOCK = re.compile(r"^```\n\$ fraglab (.*)\n((?:.*\n)*?)```$", re.MULTILINE)


def complaints_of(path, program):
    text = tree.read(path)
    for match in BLOCK.finditer(text):
        command = [program, *shlex.split(match.group(1))]
        shown = subprocess.run(command, capture_output=True, text=True).stdout
        if shown != match.group(2):
            line = text.count("\n", 0, match.start()) + 2
            yield f"{path}:{line}: fraglab {match.group(1)} says\n{shown}"


documents = tree.files("*.md", "docs/**/*.md", "traces/*.md")
tree.finish([complaint for path in documents for complaint in complaints_of(path, sys.argv[1])])
