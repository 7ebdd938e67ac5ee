"""tidy.py BUILD-FOLDER: clang-tidy finds nothing in the sources of the library and the program."""

import subprocess
import sys

import tree

program = tree.need("clang-tidy")
sys.exit(
    subprocess.run([program, "--quiet", "-p", sys.argv[1], *tree.files("src/**/*.c")]).returncode != 0
)
