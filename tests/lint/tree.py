"""What the checks of the tree share: its files, its code without comments, and tables with reasons.

A check prints `path:line: what is wrong` and exits with 1, or says why it cannot run and exits with
77, which meson shows as skipped.  Checks run in the root of the tree.
"""

import csv
import glob
import os
import re
import shutil
import sys

SKIPPED = 77
TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL
)


def files(*patterns):
    found = {path for pattern in patterns for path in glob.glob(pattern, recursive=True)}
    return sorted(path for path in found if os.path.isfile(path) and "__pycache__" not in path)


def sources():
    return files("src/**/*.[ch]", "include/**/*.h")


def all_code():
    return sources() + files("tests/**/*.[ch]")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def bare(text, keep_strings=False):
    """C text with comments (and strings) blanked; every line keeps its number."""

    def blank(match):
        token = match.group()
        if keep_strings and token[0] in "\"'":
            return token
        filler = '""' if token[0] == '"' else "' '" if token[0] == "'" else " "
        return filler + "\n" * token.count("\n")

    return TOKEN.sub(blank, text)


def table(path):
    """Rows of a tab-separated file as dictionaries; lines that begin with # are comments."""
    with open(path, encoding="utf-8", newline="") as file:
        lines = [line for line in file if line.strip() and not line.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def exceptions(path, key):
    """A table of exceptions as {key: reason}; each must have its reason."""
    rows = {}
    for row in table(path):
        if not (row.get("reason") or "").strip():
            sys.exit(f"{path}: {row[key]} has no reason")
        rows[row[key]] = row["reason"]
    return rows


def need(program):
    """The path of a program, or the end of this check as skipped."""
    path = shutil.which(program)
    if path is None:
        print(f"{program} is not installed")
        sys.exit(SKIPPED)
    return path


def finish(complaints):
    for complaint in complaints:
        print(complaint)
    sys.exit(1 if complaints else 0)
