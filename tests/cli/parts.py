"""parts.py FRAGLAB: what lies behind a range changes nothing.

Of a file with a name only what lies before the end of the range is kept, if that suffices; standard input is always
kept whole.  Both must come to the same in all but what was inferred, which is that of what was read.
"""

import glob
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

FILES = sorted(glob.glob("tests/data/snapshots/*.pickle") + glob.glob("tests/data/snapshots/releases/*.pickle"))
FILES += sorted(glob.glob("tests/data/rings/*[a-z].pickle.gz")) + sorted(glob.glob("traces/*.pickle"))
FILES += sorted(glob.glob("traces/*.txt")) + sorted(glob.glob("tests/data/conformance/scripts/*.txt"))[::40]
PARTS = ((0, 0.3), (0, 0.8), (0.4, 0.6), (0.7, 0.98))  # of all events
COMMANDS = (["replay", "--stats", "--summary"], ["replay", "--gpu", "40GiB"], ["diagnose"])


def record(program, words, path, source):
    call = subprocess.run(
        [program, words[0], "--format", "json", *words[1:], path], stdin=source, capture_output=True, timeout=120
    )
    name = path.encode()
    out, err = (
        text.replace(name, b"-").replace(b"standard input", b"-").decode() for text in (call.stdout, call.stderr)
    )
    record = json.loads(out) if out else {}
    record.pop("inferred", None)
    record.pop("changes", None)
    return call.returncode, record, err


def count_events(program, path):
    call = subprocess.run([program, "info", "-q", "--format", "json", path], capture_output=True, check=True)
    return max(device["events"] for device in json.loads(call.stdout)["devices"])


def complaints(program, path):
    events = count_events(program, path)
    for begin, end in PARTS:
        first, last = int(begin * events), int(end * events)
        for words in COMMANDS if first < last else ():
            words = [*words, "--range", f"{first}:{last}"]
            part = record(program, words, path, subprocess.DEVNULL)
            with open(path, "rb") as source:
                whole = record(program, words, "-", source)
            if part != whole:
                yield f"{path}: {' '.join(words)}: {part[0]} and {whole[0]}, or another record"


def main(program):
    with ThreadPoolExecutor(2) as pool:
        found = [line for lines in pool.map(lambda path: list(complaints(program, path)), FILES) for line in lines]
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{len(FILES)} files, {len(found)} complaints")
    return 1 if found or len(FILES) < 50 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
