"""No call of a banned function outside the places that banned.tsv allows."""

import re

import tree

RULES = []
for row in tree.table("tests/lint/banned.tsv"):
    # A member of that name (`ops->free(…)`) is no call of the function.
    call = re.compile(r"(?<![\w.>*])(" + "|".join(row["names"].split()) + r")\s*\(")
    RULES.append((call, (row["allowed"] or "").split(), row["reason"]))


def complaints_of(path):
    text = tree.bare(tree.read(path))
    for call, allowed, reason in RULES:
        if any(path.startswith(place) for place in allowed):
            continue
        for match in call.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            yield f"{path}:{line}: {match.group(1)}: {reason}"


tree.finish([complaint for path in tree.sources() for complaint in complaints_of(path)])
