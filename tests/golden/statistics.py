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
    "default expandable split128 pressure expandpress streams events gpt gpt_oom conv train fmt gc fraction "
    "graph graph_expand mempool mempool_expand pools features oommsgs oommsgs_expand oommsgs_other confchange "
    "threads twodev"
)
# What a snapshot cannot tell.  A split limit may have been set at any of several operations, between
# which it decided nothing, but some blocks count as oversize.  Up to 2.11 nothing says that a refused
# request was made in the scope of a private pool, where it is not retried.
UNTOLD = {
    "confchange": ("oversize_allocations.",),
    "oommsgs": ("num_alloc_retries",),
    "oommsgs_expand": ("num_alloc_retries",),
    "oommsgs_other": ("num_alloc_retries",),
}
SKIP = 77


def run(program, *arguments):
    return subprocess.run([program, "replay", "--quiet", *arguments], capture_output=True, check=True).stdout


def read_stats(path):
    """One dictionary by device."""
    with open(path, encoding="utf-8") as file:
        record = json.load(file)
    return [device["memory_stats"] for device in record["devices"]] if "devices" in record else [record]


def differences(program, trace, stem, kind, *options):
    if kind in FRACTIONS:
        options += ("--fraction", FRACTIONS[kind])
    lines, tables, is_untold = [], b"", False
    for device, stats in enumerate(read_stats(stem + ".stats.json")):
        chosen = (*options, "--trace-device", str(device))
        record = json.loads(run(program, "--format", "json", "--stats", *chosen, trace))
        left_out = record["memory_stats_left_out"]
        expected = [pair for pair in stats.items() if pair[0] not in left_out]
        got = list(record["memory_stats"].items())
        for a, b in zip(expected, got):
            is_known = not a[0].startswith(UNTOLD.get(kind, ("-",)))
            is_untold |= a != b and not is_known
            if a != b and is_known:
                lines.append(f"{trace}: expected {a}, got {b}")
        if len(expected) != len(got):
            lines.append(f"{trace}: expected {len(expected)} keys, got {len(got)}")
        tables += run(program, "--summary", *chosen, trace)
    with open(stem + ".summary.txt", "rb") as file:
        if file.read() != tables and not is_untold:
            lines.append(f"{trace}: another table")
    return lines


def shipped():
    """(trace, stem of what PyTorch said, kind)"""
    for path in sorted(glob.glob("tests/data/statistics/*.pickle.gz")):
        stem = path.removesuffix(".pickle.gz")
        yield path, stem, stem.split("-")[-1].split(".")[0]
    for path in sorted(glob.glob("tests/data/snapshots/*.pickle") + glob.glob("traces/*.pickle*")):
        kind = os.path.basename(path).split(".")[0]
        if kind not in KINDS.split() or not os.path.exists(f"tests/data/snapshots/{kind}.stats.json"):
            continue
        yield path, "tests/data/snapshots/" + kind, kind


def in_folder(folder):
    for path in sorted(glob.glob(folder + "/2.*/*.pickle") + glob.glob(folder + "/2.*/*.pickle.gz")):
        release, name = path.split("/")[-2:]
        kind = name.split(".")[0]
        own = path.removesuffix(".gz").removesuffix(".pickle")
        stem = own if os.path.exists(own + ".stats.json") else f"{os.path.dirname(path)}/{kind}"
        has_history = not name.endswith((".list.pickle", ".poolP.pickle"))
        if kind == "gc" and release in ("2.0.1", "2.1.2"):
            continue  # neither the threshold nor the limit is in the file: only what was decided is known
        if kind in KINDS.split() and has_history and os.path.exists(stem + ".stats.json"):
            yield path, stem, kind, "--torch", release


def main(program, option=None, folder=None):
    if option is not None and not folder:
        print("skipped: -Dgenuine_snapshots=FOLDER names no further snapshots of PyTorch")
        return SKIP
    lines, count = [], 0
    for sample in shipped() if option is None else in_folder(folder):
        lines += differences(program, *sample)
        count += 1
    print(*lines, f"{count} snapshots", sep="\n")
    return 1 if lines or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
