"""explain.py FRAGLAB FOLDER: explain against messages that people read and classed.

FOLDER/messages.tsv has a row for each: the message, its numbers in bytes, and its class.  Numbers must be
those, to the precision printed; all but a few classes must agree.
"""

import csv
import json
import subprocess
import sys

SKIP = 77
AGREE = 115 / 122
NUMBERS = "requested total free allocated reserved reserved_unallocated allowed private_pools this_process".split()
CLASSES = {"exhaustion": "full", "other-processes-or-non-pytorch": "outside", "fragmentation-soft": "fragmentation"}


def explain(program, text):
    call = subprocess.run([program, "explain", "--format", "json"], input=text.encode(), capture_output=True)
    return json.loads(call.stdout)["messages"]


def differences(program, row):
    """Sentences about numbers, and whether the class agrees."""
    found = explain(program, row["message"].replace("\\n", "\n"))
    if len(found) != 1:
        return [f"{row['id']}: {len(found)} messages"], False
    lines = []
    for key in NUMBERS:
        number = found[0][f"{key}_bytes"]
        wanted = int(row[key]) if row[key] not in ("", "N/A") else None
        if (number is None) != (wanted is None) or (wanted and abs(number - wanted) > 2 + wanted * 1e-9):
            lines.append(f"{row['id']}: {key} is {number}, expected {wanted}")
    wanted = CLASSES.get(row["class"], row["class"])
    if found[0]["class"] != wanted:
        print(f"{row['id']}: class {found[0]['class']}, people say {wanted}")
    return lines, found[0]["class"] == wanted


def main(program, folder=""):
    if not folder:
        print("skipped: -Dgenuine_messages=FOLDER names no messages")
        return SKIP
    with open(f"{folder}/messages.tsv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    lines, agreed = [], 0
    for row in rows:
        wrong, agrees = differences(program, row)
        lines += wrong
        agreed += agrees
    print(*lines, f"{agreed} of {len(rows)} classes agree", sep="\n")
    return 1 if lines or agreed < AGREE * len(rows) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
