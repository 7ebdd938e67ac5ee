"""regressions.py PROGRAM: what once differed from a released allocator must not differ again.

tests/data/regressions holds shrunk scripts and what each release decides about them, in the form of
tests/data/conformance.  Needs no released allocator.
"""

import csv
import hashlib
import subprocess
import sys

DATA = "tests/data/regressions"


def decide(program, script, release):
    """(digest of the decisions, or `-` where the settings are refused; what went wrong)."""
    command = [program, "replay", "--torch", release, "--decisions", f"{DATA}/scripts/{script}.txt"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode == 3:
        return "-", ""
    return hashlib.sha256(done.stdout).hexdigest()[:8], done.stderr.decode().strip()


def main():
    program = sys.argv[1]
    with open(DATA + "/releases.tsv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    wrong = 0
    for row in rows:
        decisions, text = decide(program, row["script"], row["release"])
        if decisions != row["decisions"]:
            wrong += 1
            print(f"{row['script']} on {row['release']}: {row['decisions']}, got {decisions} {text}")
    print(f"{len(rows) - wrong} of {len(rows)} outcomes as recorded")
    sys.exit(1 if wrong else 0)


main()
