"""limits.py FRAGLAB: when the host itself gives out: exit 6, one line, and no result left behind."""

import os
import resource
import subprocess
import sys
import tempfile

LIMIT = 16 << 20
TRACE = "traces/lora-gen.txt.gz"


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))


def call(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, preexec_fn=limit)


def main(program):
    if call(program, "--version").returncode != 0:
        print(f"this build does not run in {LIMIT >> 20} MiB (a sanitizer?)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        result = f"{folder}/result"
        run = call(program, "info", TRACE, "-o", result)
        print(run.stderr, end="")
        assert run.returncode == 6, run.returncode
        assert run.stderr.startswith("fraglab: ") and run.stderr.count("\n") == 1, run.stderr
        assert os.listdir(folder) == [], os.listdir(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
