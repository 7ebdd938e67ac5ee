"""count_cases.py TESTLOG: how many test cases passed, failed and were skipped, in one line.

A cmocka program counts by its cases; any other test is one case.  A case that began and did not end
well is a failure, and so is a program that failed though its cases did not (a crash between them, a
leak at its end).  Exit status 1 if anything failed.
"""

import json
import re
import sys

BEGUN = re.compile(r"^\[ RUN      \] ", re.MULTILINE)
PASSED = re.compile(r"^\[       OK \] ", re.MULTILINE)
SKIPPED = re.compile(r"^\[  SKIPPED \] ", re.MULTILINE)


def count(test):
    """Passed, failed and skipped cases of one entry of the log."""
    is_good = test["result"] in ("OK", "EXPECTEDFAIL")
    output = test.get("stdout", "")
    begun = len(BEGUN.findall(output))
    if begun == 0:
        is_skipped = test["result"] == "SKIP"
        return int(is_good), int(not is_good and not is_skipped), int(is_skipped)
    passed = len(PASSED.findall(output))
    skipped = len(SKIPPED.findall(output))
    failed = begun - passed - skipped
    return passed, max(failed, int(not is_good)), skipped


def main():
    with open(sys.argv[1], encoding="utf-8", errors="replace") as log:
        counts = [count(json.loads(line)) for line in log]
    passed, failed, skipped = (sum(column) for column in zip(*counts)) if counts else (0, 0, 0)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
