"""bench.py BENCH-PROGRAM FOLDER [SNAPSHOT]: ratios, from runs that take turns in one session.

Loading is compared with CPython's pickle.load of the same file; a replay with all observers on with
one that nobody watches; replay with the released allocators,
over stand-ins for the CUDA libraries that only keep books, where their wheels are in the cache of
./lab conformance.  Each figure is the best of ROUNDS runs, each in its own process, in time on the
processor.
"""

import gzip
import itertools
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/conformance")
import memory  # noqa: E402 (beside this file)
import subjects  # noqa: E402 (found through the line above)
import wheels  # noqa: E402 (likewise)

ROUNDS = 3
LOG_BYTES = 100_000_000
LOGS = {
    "nothing that looks like it": "2024-05-01 12:13:14,567 - INFO - step {0} loss {1:.4f} grad norm 0.71 tokens/s 48123\n",
    "every line speaks of memory": "2024-05-01 12:13:14 INFO step {0} memory allocated {1:.2f} GiB out of 80 GiB\n",
}
REPEAT = "3"
SETTINGS, JOBS = "200", "2"
EVENTS = 1_150_000
LARGE = 250  # MB
CARD = str(80 << 30)
VERSIONS = ("2.9.1", "2.15.0")
PICKLE_LOAD = """
import pickle, resource, sys, time
start = time.process_time_ns()
with open(sys.argv[1], "rb") as file:
    pickle.load(file)
elapsed = time.process_time_ns() - start
print("pickle ns", elapsed, "events 0 peak_kib", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def measures(*command):
    """The `key value` pairs of each line of one run."""
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    rows = [line.split()[1:] for line in lines]
    return [{key: int(value) for key, value in zip(words[::2], words[1::2])} for words in rows]


def measure(*command):
    return measures(*command)[0]


def fastest(runs):
    return min(runs, key=lambda run: run["ns"])


def show_flt(program, path, pickle_ns):
    """The same trace as .flt, mapped."""
    fraglab = os.path.join(os.path.dirname(program), "../../src/cli/fraglab")
    with tempfile.TemporaryDirectory() as folder:
        flt = os.path.join(folder, "trace.flt")
        subprocess.run([fraglab, "convert", "-q", "--to", "flt", "-o", flt, path], check=True)
        run = fastest([measure(program, "load", flt) for _ in range(ROUNDS)])
        size = os.path.getsize(flt)
    print(f"  .flt         {run['ns'] / 1e9:7.4f} s, {size / 1e6:.0f} MB, {pickle_ns / run['ns']:.0f} times as fast")


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
    show_flt(program, path, other["ns"])


def show_memory(program, folder):
    """What reading needs beside the columns, which grow with the history."""
    path = os.path.join(folder, f"large-{LARGE}.pickle")
    run_tool("make_large.py", path, str(LARGE))
    run = measure(program, "load", path)
    columns = memory.COLUMN_BYTES * run["events"]
    peak = run["peak_kib"] << 10
    print(f"load {os.path.basename(path)}: {run['events']} events, {LARGE} MB")
    print(f"  peak {peak / 1e6:.0f} MB, of which the columns have {columns / 1e6:.0f} MB")


def show_observers(program, path):
    """A replay that nobody watches, and the same with all observers on."""
    runs = [measures(program, "observe", path, REPEAT) for _ in range(ROUNDS)]
    plain, observed = (fastest(column) for column in zip(*runs))
    print(f"observers, {os.path.basename(path)}:")
    print(f"  plain        {plain['ns'] / plain['events']:7.1f} ns an event")
    print(f"  all observed {observed['ns'] / observed['events']:7.1f} ns an event")
    print(f"  ratio        {observed['ns'] / plain['ns']:7.2f} times the time of a plain replay", flush=True)


def write_log(path, size, line):
    """A log of that size; each line differs from the last."""
    with open(path, "w", encoding="ascii") as log:
        written = 0
        for number in itertools.count():
            if written >= size:
                return written
            written += log.write(line.format(number, number % 997 / 997))


def show_explain(program, folder):
    print("explain, logs without a message:")
    path = os.path.join(folder, "job.log")
    for name, line in LOGS.items():
        size = write_log(path, LOG_BYTES, line)
        run = fastest([measure(program, "explain", path, str(size)) for _ in range(ROUNDS)])
        print(f"  {name:25} {size * 1e3 / run['ns']:7.0f} MB/s, peak {run['peak_kib'] / 1024:4.0f} MiB", flush=True)


def released_ns(driver, script, conf):
    environment = dict(os.environ, PYTORCH_CUDA_ALLOC_CONF=conf)
    with open(script, encoding="ascii") as file:
        words = subprocess.run(
            [driver, CARD, REPEAT], check=True, stdin=file, env=environment, stdout=subprocess.PIPE, text=True
        ).stdout.split()
    return float(words[words.index("ns_per_operation") + 1])


def show_replay(program, name, script, version, conf, driver):
    """One row: both take turns, each the best of what it repeats."""
    ours, theirs = [], []
    for _ in range(ROUNDS):
        run = measure(program, "replay", script, version, conf, REPEAT)
        ours.append(run["ns"] / run["events"])
        if driver:
            theirs.append(released_ns(driver, script, conf))
    mode = "expandable" if conf else "native"
    row = f"  {name:9} {mode:10} PyTorch {version:7} fraglab {min(ours):5.1f} ns"
    if driver:
        row += f"   released {min(theirs):6.1f} ns   {min(theirs) / min(ours):5.1f} times as fast"
    print(row, flush=True)


def find_driver(version, folder):
    """The program around a released allocator, or None and why."""
    if not wheels.has_torch(version):
        return None, f"no PyTorch {version} in {wheels.CACHE}: ./lab conformance {version} fetches it"
    try:
        subprocess.run(["ninja", "-C", folder, "interpose"], check=True, stdout=subprocess.DEVNULL)
        return subjects.build_driver(version, folder), None
    except (OSError, AttributeError, subprocess.CalledProcessError) as error:
        return None, f"the driver of PyTorch {version} does not build here: {error}"


def plain_script(source, path):
    """The requests and frees of a trace, as the released allocator's driver reads them."""
    with gzip.open(source, "rt", encoding="ascii") as file, open(path, "w", encoding="ascii") as script:
        script.writelines(line for line in file if line[0] in "af")
    return path


def show_replays(program, folder):
    churn = os.path.join(folder, "churn.txt")
    run_tool("make_churn.py", churn, "1000000")
    scripts = {
        "lora-gen": plain_script("traces/lora-gen.txt.gz", os.path.join(folder, "lora-gen.txt")),
        "churn": churn,
    }
    print("replay, per allocation or free:")
    for version in VERSIONS:
        driver, why = find_driver(version, folder)
        if why:
            print(f"  released allocator skipped: {why}")
        for name, script in scripts.items():
            for conf in ("", "expandable_segments:True"):
                show_replay(program, name, script, version, conf, driver)


def show_tuning(program, folder):
    """Many settings on one card: the trace is shared, and so are the cores."""
    scripts = {"lora-gen": "traces/lora-gen.txt.gz", "churn": os.path.join(folder, "churn.txt")}
    print(f"tune, {SETTINGS} settings on one card, time on the processor shared by {JOBS} cores:")
    for name, script in scripts.items():
        run = measure(program, "tune", script, SETTINGS, JOBS)
        seconds = run["ns"] / 1e9 / int(JOBS)
        events = run["events"] / int(SETTINGS)
        print(
            f"  {name:9} {events:9.0f} events {seconds:6.2f} s, {run['ns'] / run['events']:5.1f} ns an event and setting,"
            f" peak {run['peak_kib'] / 1024:.0f} MiB",
            flush=True,
        )


def run_tool(name, *arguments):
    """Makes a file that is always the same, once."""
    if not os.path.exists(arguments[0]):
        tool = os.path.join(os.path.dirname(__file__), name)
        subprocess.run([sys.executable, tool, *arguments], check=True)


def main():
    program, folder = sys.argv[1:3]
    path = sys.argv[3] if len(sys.argv) > 3 else os.path.join(folder, "generated.pickle")
    if len(sys.argv) > 3 and not os.path.exists(path):
        sys.exit(f"bench: no file {path}")
    run_tool("make_snapshot.py", path, str(EVENTS))
    show_load(program, path)
    show_memory(program, folder)
    show_observers(program, path)
    show_explain(program, folder)
    show_replays(program, folder)
    show_tuning(program, folder)


if __name__ == "__main__":
    main()
