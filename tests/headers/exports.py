"""exports.py LIBRARY: the shared library exports what the public headers declare, and no more."""

import glob
import re
import subprocess
import sys

DECLARED = re.compile(r"^FL_API\b[^;{]*?\b(fl_\w+)\s*\(", re.MULTILINE)

declared = set()
for header in glob.glob("include/fraglab/*.h"):
    with open(header, encoding="utf-8") as file:
        declared |= set(DECLARED.findall(file.read()))
symbols = subprocess.run(
    ["nm", "-D", "--defined-only", "--format=posix", sys.argv[1]], check=True, capture_output=True, text=True
).stdout
exported = {line.split()[0] for line in symbols.splitlines()}

for name in sorted(declared - exported):
    print(f"declared but not exported: {name}")
for name in sorted(exported - declared):
    print(f"exported but not declared: {name}")
sys.exit(declared != exported)
