"""The lines of docs/adding-a-release.md that stand for unchanged source are in the source, and the
added ones are not."""

import re
import sys

with open("docs/adding-a-release.md", encoding="utf-8") as file:
    blocks = re.findall(r"```diff\n(.*?)```", file.read(), re.DOTALL)
with open("src/rules/profile.c", encoding="utf-8") as file:
    source = file.read().split("\n")

wrong = 0
for line in "".join(blocks).splitlines():
    if (line[1:] in source) != (line[0] == " "):
        print(f"docs/adding-a-release.md: '{line}' does not fit src/rules/profile.c")
        wrong += 1
sys.exit(1 if wrong or not blocks else 0)
