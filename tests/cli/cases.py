"""cases.py FRAGLAB: every folder of tests/cli/cases is one call of the program.

A case holds `cmd`, a line for the shell, and what must come of it: `stdout`, `stderr` (where missing:
nothing) and `exit`.  In `cmd`, and in what is compared, $TMP is an empty folder and $CASE the case's
own; the program's version stands as @VERSION@.  FL_UPDATE_GOLDEN=1 writes what came instead of
comparing.
"""

import difflib
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

CASES = "tests/cli/cases"
STREAMS = ("stdout", "stderr", "exit")


def environment(program, folder, case):
    kept = {name: text for name, text in os.environ.items() if name.endswith("SAN_OPTIONS")}
    path = os.path.dirname(os.path.abspath(program)) + ":" + os.environ["PATH"]
    return {**kept, "PATH": path, "LC_ALL": "C", "TERM": "xterm", "TMP": folder, "CASE": case}


def run(program, version, case):
    """{stream: text} of one call."""
    with open(f"{case}/cmd", encoding="utf-8") as file:
        command = file.read()
    with tempfile.TemporaryDirectory() as folder:
        call = subprocess.run(
            ["sh", "-c", command],
            env=environment(program, folder, case),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
        )
    got = {"stdout": call.stdout, "stderr": call.stderr, "exit": b"%d\n" % call.returncode}
    names = {folder: "$TMP", case: "$CASE", version: "@VERSION@"}
    return {stream: replaced(text.decode("utf-8", "backslashreplace"), names) for stream, text in got.items()}


def replaced(text, names):
    for name, word in names.items():
        text = text.replace(name, word)
    return text


def expected(case, stream):
    path = f"{case}/{stream}"
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def write(case, got):
    for stream, text in got.items():
        path = f"{case}/{stream}"
        if text:
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text)
        elif os.path.exists(path):
            os.remove(path)


def differences(case, got):
    lines = []
    for stream in STREAMS:
        wanted = expected(case, stream)
        if got[stream] != wanted:
            lines += difflib.unified_diff(
                wanted.splitlines(), got[stream].splitlines(), f"{case}/{stream}", "what came", lineterm=""
            )
    return lines


def main(program):
    is_update = os.environ.get("FL_UPDATE_GOLDEN") == "1"
    version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout.split()[1]
    cases = [f"{CASES}/{name}" for name in sorted(os.listdir(CASES))]
    failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for case, got in zip(cases, pool.map(lambda case: run(program, version, case), cases)):
            name = os.path.basename(case)
            print(f"[ RUN      ] {name}")
            if is_update:
                write(case, got)
            lines = differences(case, got)
            print(*lines, sep="\n", end="\n" if lines else "")
            print(f"[  FAILED  ] {name}" if lines else f"[       OK ] {name}")
            failed += bool(lines)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
