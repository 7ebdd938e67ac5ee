"""statistics.py FRAGLAB [--all FOLDER]: memory_stats and memory_summary as the recorded program saw them.

Without --all, the snapshots in tests/data/statistics, tests/data/snapshots and traces; with it, all
complete ones of the same kinds in FOLDER/RELEASE (exit 77, a skip, where FOLDER is an empty text).
Every key, its place and value, and every byte of the table must come out of the replay.
"""

import glob
import json
import os
import subprocess
import sys

# What the recorded program did and no snapshot tells.
FRACTIONS = {"gc": "0.75", "fraction": "0.2"}
KINDS = (
    "default expandable split128 pressure expandpress streams events gpt gpt_oom conv train fmt gc fraction"
)
SKIP = 77


def run(program, *arguments):
    return subprocess.run([program, "replay", "--quiet", *arguments], capture_output=True, check=True).stdout


def read_stats(path):
    with open(path, encoding="utf-8") as file:
        record = json.load(file)
    return record["devices"][0]["memory_stats"] if "devices" in record else record


def differences(program, trace, stem, kind):
    fraction = ["--fraction", FRACTIONS[kind]] if kind in FRACTIONS else []
    record = json.loads(run(program, "--format", "json", "--stats", *fraction, trace))
    left_out = record["memory_stats_left_out"]
    expected = [pair for pair in read_stats(stem + ".stats.json").items() if pair[0] not in left_out]
    got = list(record["memory_stats"].items())
    lines = [f"{trace}: expected {a}, got {b}" for a, b in zip(expected, got) if a != b]
    if len(expected) != len(got):
        lines.append(f"{trace}: expected {len(expected)} keys, got {len(got)}")
    with open(stem + ".summary.txt", "rb") as file:
        if file.read() != run(program, "--summary", *fraction, trace):
            lines.append(f"{trace}: another table")
    return lines


def shipped():
    """(trace, stem of what PyTorch said, kind)"""
    for path in sorted(glob.glob("tests/data/statistics/*.pickle.gz")):
        stem = path.removesuffix(".pickle.gz")
        yield path, stem, stem.split("-")[-1]
    for path in sorted(glob.glob("tests/data/snapshots/*.pickle") + glob.glob("traces/*.pickle*")):
        kind = os.path.basename(path).split(".")[0]
        if kind not in KINDS.split():
            continue
        yield path, "tests/data/snapshots/" + kind, kind


def in_folder(folder):
    for path in sorted(glob.glob(folder + "/2.*/*.pickle") + glob.glob(folder + "/2.*/*.pickle.gz")):
        release, name = path.split("/")[-2:]
        kind = name.split(".")[0]
        is_early = [int(part) for part in release.split(".")[:2]] < [2, 4]
        if kind in KINDS.split() and ".list." not in name and not is_early:
            yield path, f"{os.path.dirname(path)}/{kind}", kind


def main(program, option=None, folder=None):
    if option is not None and not folder:
        print("skipped: -Dgenuine_snapshots=FOLDER names no further snapshots of PyTorch")
        return SKIP
    lines, count = [], 0
    for trace, stem, kind in shipped() if option is None else in_folder(folder):
        lines += differences(program, trace, stem, kind)
        count += 1
    print(*lines, f"{count} snapshots", sep="\n")
    return 1 if lines or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
