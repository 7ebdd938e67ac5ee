"""Shell scripts are clean by shellcheck."""

import subprocess
import sys

import tree

sys.exit(subprocess.run([tree.need("shellcheck"), "lab", ".ci/run"]).returncode != 0)
