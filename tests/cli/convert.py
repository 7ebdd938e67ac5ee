"""convert.py FRAGLAB: a trace in another format replays as before, whatever it is.

Each trace that ships, each script with recorded decisions and some made at random goes through `convert`
and back.  A .flt answers every command as the file that it was made from, but for its name.
"""

import glob
import json
import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

TRACES = sorted(glob.glob("traces/*.pickle*") + glob.glob("traces/*.txt*"))
SNAPSHOTS = [path for path in sorted(glob.glob("tests/data/snapshots/**/*.p*", recursive=True)) if ".pickle" in path]
SCRIPTS = sorted(glob.glob("tests/data/conformance/scripts/*.txt"))
RANDOM_SCRIPTS = 12
UNAVAILABLE, INVALID = 4, 3


def run(program, *words):
    call = subprocess.run([program, *words], capture_output=True, timeout=60)
    return call.returncode, call.stdout.decode("utf-8", "replace"), call.stderr.decode("utf-8", "replace")


def answer(program, path, origin, *words):
    """What a command says of a file, its name replaced, and that of the file that it comes from: warnings of
    the reader are kept as they are."""
    code, *texts = run(program, *words, path)
    return code, *[text.replace(path, "FILE").replace(origin, "FILE") for text in texts]


def place(folder, path, ending):
    return f"{folder}/{path.replace('/', '_')}{ending}"


def convert(program, path, form, target):
    code, _, err = run(program, "convert", "--to", form, "-o", target, path)
    return code, err


def flt_differences(program, path, folder):
    target = place(folder, path, ".flt")
    code, err = convert(program, path, "flt", target)
    if code != 0:
        return [f"{path}: convert --to flt ends with {code}: {err}"]
    commands = [
        ("info", "--format", "json"),
        ("replay", "--format", "json", "--stats"),
        ("replay", "--decisions"),
        ("verify", "--format", "json"),
    ]
    found = []
    for words in commands:
        if answer(program, path, path, *words) != answer(program, target, path, *words):
            found.append(f"{path}: as .flt `{' '.join(words)}` says something else")
    again = f"{target}.again"
    convert(program, target, "flt", again)
    with open(target, "rb") as first, open(again, "rb") as second:
        if first.read() != second.read():
            found.append(f"{path}: a .flt of its .flt differs")
    return found


def decisions(program, path):
    code, out, _ = run(program, "replay", "-q", "--decisions", path)
    return code, out


def totals(program, path):
    """What a replay comes to; events are counted otherwise in each format."""
    code, out, _ = run(program, "replay", "-q", "--format", "json", "--on-oom", "skip", path)
    if code != 0:
        return code, None
    record = json.loads(out)
    return code, {key: record[key] for key in ("allocs", "frees", "peak", "end", "driver_calls", "ooms")}


def script_differences(program, path, folder):
    target = place(folder, path, ".txt")
    code, err = convert(program, path, "script", target)
    before = decisions(program, path)
    if code in (UNAVAILABLE, INVALID) and before[0] == code:
        return []
    if code != 0:
        return [f"{path}: convert --to script ends with {code}: {err}"]
    found = []
    if decisions(program, target) != before:
        found.append(f"{path}: as a script other decisions")
    if totals(program, target) != totals(program, path):
        found.append(f"{path}: as a script other totals")
    again = f"{target}.again"
    convert(program, target, "script", again)
    with open(target, encoding="utf-8") as first, open(again, encoding="utf-8") as second:
        if first.read() != second.read():
            found.append(f"{path}: a script of its script differs")
    return found


def verdict(program, path):
    code, out, _ = run(program, "verify", "-q", "--format", "json", path)
    if code not in (0, 1):
        return code, None
    record = json.loads(out)
    return code, {key: record[key] for key in ("decisions", "excused_by_reason", "profiles", "complete")}


def history_differences(program, path, target):
    """The JSON of a script is the history of a run of it, with all that it asked for."""
    code, record = verdict(program, target)
    if code != 0 or any(row["equal"] != row["checked"] for row in record["decisions"].values()):
        return [f"{path}: as JSON a history that a replay does not repeat: {code} {record}"]
    found = []
    for form in ("script", "flt"):
        again = f"{target}.{form}"
        convert(program, target, form, again)
        if decisions(program, again) != decisions(program, path):
            found.append(f"{path}: as JSON and then as {form} other decisions")
        if totals(program, again) != totals(program, path):
            found.append(f"{path}: as JSON and then as {form} other totals")
    return found


def json_differences(program, path, folder):
    target = place(folder, path, ".json")
    code, err = convert(program, path, "json", target)
    if code == UNAVAILABLE:
        return []
    if code != 0:
        return [f"{path}: convert --to json ends with {code}: {err}"]
    found = []
    with open(target, encoding="utf-8") as file:
        json.load(file)
    if decisions(program, target) != decisions(program, path):
        found.append(f"{path}: as JSON other decisions")
    if totals(program, target) != totals(program, path):
        found.append(f"{path}: as JSON other totals")
    if ".txt" in path:
        found += history_differences(program, path, target)
    elif verdict(program, target) != verdict(program, path):
        found.append(f"{path}: as JSON another verdict")
    again = f"{target}.again"
    convert(program, target, "json", again)
    with open(target, encoding="utf-8") as first, open(again, encoding="utf-8") as second:
        if first.read() != second.read():
            found.append(f"{path}: JSON of its JSON differs")
    return found


def random_script(seed):
    """Operations of every kind, with times, stacks, devices and parts that nobody knows."""
    rng = random.Random(seed)
    lines = [f"# cap={rng.choice([64, 200, 1000]) << 20} conf={rng.choice(['', 'expandable_segments:True'])}"]
    if rng.random() < 0.5:
        lines.append("# torch: " + rng.choice(["2.1.2", "2.6.0", "2.12.0", "2.15.0"]))
    live, freed = [], []
    for number in range(300):
        tail = rng.choice(["", "", f" t={1000 + number}", f" stack={rng.randrange(9)}", " odd=1"])
        kind = rng.random()
        if kind < 0.5 or not live:
            size = rng.choice([1, 512, 4096, 1 << 20, 3 << 20, 12 << 20]) + rng.randrange(2000)
            lines.append(f"a {number} {size} {rng.choice([0, 0, 64])}{tail}")
            live.append(number)
            if rng.random() < 0.1:
                lines.append(f"# cat: {number} {rng.choice(['weights', 'gradients of it'])}")
        elif kind < 0.8:
            victim = live.pop(rng.randrange(len(live)))
            lines.append(f"f {victim}{' held=1' if rng.random() < 0.05 else ''}{tail}")
            freed.append(victim)
        elif kind < 0.9:
            lines.append(f"r {rng.choice(live)} {rng.choice([0, 64, 128])}{tail}")
        else:
            lines.append(rng.choice(["p", "c", "e", "F 0.5", "F 1.0", "m half way", "s", "t", "z peak", "b 2", "q 2"]) + tail)
    if "b 2" in lines:
        lines += ["a 1000 4096 0 dev=1 t=5", "f 1000 dev=1"]
    return balanced(lines)


def balanced(lines):
    """Scopes that end were begun."""
    depth, kept = 0, []
    for line in lines:
        if line.startswith("q") and depth == 0:
            continue
        depth += line.startswith("b") - line.startswith("q")
        kept.append(line)
    return "\n".join(kept) + "\n"


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        made = []
        for seed in range(RANDOM_SCRIPTS):
            made.append(f"{folder}/random-{seed}.txt")
            with open(made[-1], "w", encoding="utf-8") as file:
                file.write(random_script(seed))
        paths = TRACES + SNAPSHOTS + SCRIPTS[::4] + made
        checks = [(check, path) for path in paths for check in (flt_differences, script_differences, json_differences)]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = [line for lines in pool.map(lambda row: row[0](program, row[1], folder), checks) for line in lines]
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{len(paths)} traces, {len(checks)} round trips, {len(found)} differences")
    return 1 if found or len(paths) < 60 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
