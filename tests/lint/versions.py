"""No file of the policies, devices and the heap asks which release it is: what differs is a field of
a profile row (src/rules/profile.h)."""

import re

import tree

PLACES = ("src/policy/", "src/device/", "src/heap/")
ASKS = re.compile(r"(->|\.)\s*(major|minor|patch)\b|\bfl_profile_release\b|\bFL_RELEASE\b")


def complaints_of(path):
    text = tree.bare(tree.read(path))
    for match in ASKS.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield f"{path}:{line}: '{match.group()}' asks for a release; make a field of fl_profile of it"


paths = [path for path in tree.sources() if path.startswith(PLACES)]
tree.finish([complaint for path in paths for complaint in complaints_of(path)])
