"""ranges.py FRAGLAB: what is replayed from the middle on is the rest of what is replayed as a whole.

A script decides the same from any operation on.  A history of expandable segments puts every block where it was
recorded, as the state before the range lies where it was.
"""

import glob
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ALL = sorted(glob.glob("tests/data/conformance/scripts/*.txt"))
SCRIPTS = [path for i, path in enumerate(ALL) if i % 3 == 0 or "gc-" in path]
HISTORIES = ["traces/expandpress.pickle", "traces/expandable.pickle", "traces/pressure.pickle", "traces/events.pickle"]
BEGINNINGS = (20, 200, 400)
FREE = re.compile(r"^(B \d+) \d+ free$")


def decisions(program, path, *words):
    call = subprocess.run(
        [program, "replay", "-q", "--decisions", "--torch", "2.9.1", *words, path],
        capture_output=True,
        text=True,
        timeout=60,
    )
    # Counters begin anew with a range, and what a free block once served is nobody's any more.
    lines = [line for line in call.stdout.split("\n") if not line.startswith("T ")]
    return call.returncode, [FREE.sub(r"\1 - free", line) for line in lines], call.stderr


def script_complaints(program, path):
    code, whole, _ = decisions(program, path)
    if code != 0:
        return  # this release refuses its settings
    for first in BEGINNINGS:
        code, part, err = decisions(program, path, "--range", f"{first}:")
        if code == 2:
            continue  # it is shorter than that
        if code != 0 or part != whole[-len(part) :]:
            yield f"{path}: from operation {first} on it decides otherwise ({code}) {err}"
        code, _, err = decisions(program, path, "--range", f"{first}:", "--start", "fresh")
        if code != 0:
            yield f"{path}: from operation {first} on, anew: ends with {code}: {err}"


def recorded_places(program, path):
    call = subprocess.run([program, "convert", "-q", "--to", "json", path], capture_output=True, check=True)
    events = json.loads(call.stdout)["device_traces"][0]
    return [event.get("addr") for event in events if event["action"] in ("alloc", "oom")]


def history_complaints(program, path):
    places = recorded_places(program, path)
    for first in BEGINNINGS:
        code, part, err = decisions(program, path, "--range", f"{first}:")
        if code != 0:
            yield f"{path}: from event {first} on: ends with {code}: {err}"
            continue
        answers = [line.split() for line in part if line.startswith("A ")]
        moved = sum(int(words[2], 16) != places[int(words[1])] for words in answers)
        fresh = sum(line[:1] == "m" for line in part)
        if not answers or (moved > 0 and (fresh == 0 or "expand" in path)):
            yield f"{path}: from event {first} on {moved} of {len(answers)} blocks lie elsewhere"


def main(program):
    rows = [(script_complaints, path) for path in SCRIPTS] + [(history_complaints, path) for path in HISTORIES]
    with ThreadPoolExecutor(2) as pool:
        found = [line for lines in pool.map(lambda row: list(row[0](program, row[1])), rows) for line in lines]
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{len(rows)} traces from {len(BEGINNINGS)} places on, {len(found)} complaints")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
