"""Small wrong changes to the rules, from mutants.tsv; as a check: does the table fit the tree?

Each row names the section of docs/allocator-rules.md (or the page of docs/) that the change breaks,
the program whose worked example must notice it, the text that is changed, and what it becomes.  Every
section has a row, or a reason in unmutated.tsv for having none: so the table also says where the
examples of a rule are.
"""

import collections
import os
import re
import sys

sys.path.insert(0, "tests/lint")
import tree  # noqa: E402 (found through the line above)

TABLE = "tests/mutation/mutants.tsv"
EXCEPTIONS = "tests/mutation/unmutated.tsv"
RULES = "docs/allocator-rules.md"
HEADING = re.compile(r"^###? (\d+(?:\.\d+)?)\.? ", re.MULTILINE)

Mutant = collections.namedtuple("Mutant", "rule name test file original replacement")


def load():
    return [Mutant(**row) for row in tree.table(TABLE)]


def pattern(mutant):
    """The text that is changed; a blank in the table stands for any white space."""
    return re.compile(r"\s+".join(map(re.escape, mutant.original.split())))


def sections():
    """The sections of the rules, those that only hold others left out."""
    found = HEADING.findall(tree.read(RULES))
    return [name for name in found if not any(other.startswith(name + ".") for other in found)]


def row_complaints(mutant, rules):
    if not all(mutant):
        yield "a cell is empty"
    elif mutant.rule not in rules and not os.path.exists(f"docs/{mutant.rule}.md"):
        yield f"{mutant.rule} is neither a section of {RULES} nor a page of docs/"
    elif mutant.replacement == mutant.original:
        yield "nothing is changed"
    elif not os.path.exists(mutant.file):
        yield f"there is no {mutant.file}"
    else:
        count = len(pattern(mutant).findall(tree.read(mutant.file)))
        if count != 1:
            yield f"'{mutant.original}' occurs {count} times in {mutant.file}"
    folder, name = os.path.split(mutant.test)
    if not os.path.exists(f"tests/{folder}/test_{name}.c"):
        yield f"there is no tests/{folder}/test_{name}.c"


def complaints():
    mutants = load()
    rules = sections()
    reasons = tree.exceptions(EXCEPTIONS, "rule")
    names = collections.Counter(mutant.name for mutant in mutants)
    for mutant in mutants:
        for complaint in row_complaints(mutant, rules):
            yield f"{TABLE}:1: {mutant.name}: {complaint}"
        if names[mutant.name] > 1:
            yield f"{TABLE}:1: {mutant.name}: another row has the same name"
    covered = {mutant.rule for mutant in mutants}
    for rule in rules:
        if rule not in covered and rule not in reasons:
            yield f"{RULES}:1: section {rule} has no wrong change in {TABLE}"
    for rule in reasons:
        if rule in covered or rule not in rules:
            yield f"{EXCEPTIONS}:1: {rule} needs no reason any more"


if __name__ == "__main__":
    tree.finish(list(complaints()))
