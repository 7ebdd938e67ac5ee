"""bench.py BENCH-PROGRAM FOLDER [SNAPSHOT]: ratios, from runs that take turns in one session.

Loading is compared with CPython's pickle.load of the same file; replay with what the released
allocator needs for an operation.  Each figure is the best of ROUNDS runs, each in its own process,
in time on the processor.
"""

import os
import subprocess
import sys

ROUNDS = 5
EVENTS = 1_150_000
RELEASED_NS = (240, 300)  # PyTorch 2.9.1's allocator over a runtime that only keeps books
PICKLE_LOAD = """
import pickle, resource, sys, time
start = time.process_time_ns()
with open(sys.argv[1], "rb") as file:
    pickle.load(file)
elapsed = time.process_time_ns() - start
print("pickle ns", elapsed, "events 0 peak_kib", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def measure(*command):
    """The `key value` pairs of one run."""
    words = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()[1:]
    return {key: int(value) for key, value in zip(words[::2], words[1::2])}


def fastest(runs):
    return min(runs, key=lambda run: run["ns"])


def show_load(program, path):
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(measure(program, "load", path))
        theirs.append(measure(sys.executable, "-c", PICKLE_LOAD, path))
    own, other = fastest(ours), fastest(theirs)
    print(f"load {os.path.basename(path)}: {own['events']} events, {os.path.getsize(path) / 1e6:.0f} MB")
    print(f"  fraglab      {own['ns'] / 1e9:7.3f} s, peak {own['peak_kib'] / 1024:6.0f} MiB")
    print(f"  pickle.load  {other['ns'] / 1e9:7.3f} s, peak {other['peak_kib'] / 1024:6.0f} MiB")
    print(f"  ratio        {other['ns'] / own['ns']:7.1f} times as fast")


def show_replay(program, kind, argument, name):
    run = fastest([measure(program, kind, argument) for _ in range(ROUNDS)])
    each = run["ns"] / run["events"]
    low, high = (released / each for released in RELEASED_NS)
    print(f"replay {name}: {run['events']} operations")
    print(f"  fraglab      {each:7.1f} ns an operation")
    print(f"  ratio        {low:.1f} to {high:.1f} times as fast as the released allocator")


def main():
    program, folder = sys.argv[1:3]
    path = sys.argv[3] if len(sys.argv) > 3 else os.path.join(folder, "generated.pickle")
    if not os.path.exists(path):
        if len(sys.argv) > 3:
            sys.exit(f"bench: no file {path}")
        make = os.path.join(os.path.dirname(__file__), "make_snapshot.py")
        subprocess.run([sys.executable, make, path, str(EVENTS)], check=True)
    show_load(program, path)
    show_replay(program, "replay", "traces/lora-gen.txt.gz", "lora-gen")
    show_replay(program, "churn", "1000000", "churn")


if __name__ == "__main__":
    main()
