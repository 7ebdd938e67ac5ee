"""count_cases.py TESTLOG: which tests failed, a line each, and last how many test cases passed, failed
and were skipped.

A cmocka program counts by its cases; any other test is one case.  A case that began and did not end
well is a failure, and so is a program that failed though its cases did not (a crash between them, a
leak at its end).  Exit status 1 if anything failed.
"""

import json
import re
import sys

BEGUN = re.compile(r"^\[ RUN      \] ", re.MULTILINE)
NAMED = re.compile(r"^\[ RUN      \] (.*)$", re.MULTILINE)
ENDED = re.compile(r"^\[ (?:      OK| SKIPPED) \] (.*)$", re.MULTILINE)
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


def failed_cases(test):
    """The names of the cases that began and did not end well."""
    output = test.get("stdout", "")
    ended = set(ENDED.findall(output))
    return [name for name in NAMED.findall(output) if name not in ended]


def main():
    with open(sys.argv[1], encoding="utf-8", errors="replace") as log:
        tests = [json.loads(line) for line in log]
    counts = [count(test) for test in tests]
    for test, (_, failed, _) in zip(tests, counts):
        if failed:
            print("FAILED: " + ": ".join([test["name"], ", ".join(failed_cases(test))]).removesuffix(": "))
    passed, failed, skipped = (sum(column) for column in zip(*counts)) if counts else (0, 0, 0)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
