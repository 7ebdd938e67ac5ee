"""The code is what clang-format 14 makes of it."""

import re
import subprocess
import sys

import tree

VERSION = "14"

program = tree.need("clang-format")
version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
found = re.search(r"version (\d+)", version)
if found is None or found.group(1) != VERSION:
    print(f"clang-format {VERSION} is wanted, this is: {version.strip()}")
    sys.exit(tree.SKIPPED)
sys.exit(subprocess.run([program, "--dry-run", "--Werror", *tree.all_code()]).returncode != 0)
