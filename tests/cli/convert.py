"""convert.py FRAGLAB [--all [FOLDER]]: a trace in another format replays as before, whatever it is.

Traces that ship, scripts with recorded decisions and some made at random go through `convert` and back, by
several ways.  A .flt answers every command as the file that it was made from, but for its name.  With --all
it is all that ships, and the snapshots of FOLDER/RELEASE.
"""

import glob
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor


def found(*patterns):
    return [path for pattern in patterns for path in sorted(glob.glob(pattern, recursive=True))]


TRACES = found("traces/*.pickle*", "traces/*.txt*")
SNAPSHOTS = [path for path in found("tests/data/snapshots/**/*.p*") if ".pickle" in path]
SCRIPTS = found("tests/data/conformance/scripts/*.txt")
OTHERS = found("tests/data/kineto/*.gz", "tests/fuzz/corpus/rmm/small.csv", "tests/cli/cases/*/*.txt")
RINGS = [path for path in found("tests/data/rings/*.gz") if ".start." not in path]
STATISTICS = found("tests/data/statistics/*.gz")
ZOO = found("traces/zoo/*.txt")
WORKLOADS = found("traces/workloads/*.txt.gz")
LARGE = ["traces/lora-gen.txt.gz"]  # for the slow suite
# Each way, and whatever is on it.
WAYS = [("script", "flt", "json"), ("json", "script", "flt"), ("flt", "json", "script")]
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


def totals(program, path, *words):
    """What a replay comes to, statistics included; events are counted otherwise in each format."""
    words = ("-q", "--format", "json", "--on-oom", "skip", "--stats", "--summary", *words)
    code, out, _ = run(program, "replay", *words, path)
    if code != 0:
        return code, None
    record = json.loads(out)
    kept = ("allocs", "frees", "peak", "end", "driver_calls", "alloc_retries", "ooms")
    kept += ("memory_stats", "memory_stats_left_out", "memory_summary")
    return code, {key: record[key] for key in kept}


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
    again = f"{target}.script"
    convert(program, target, "script", again)
    if decisions(program, again) != decisions(program, path):
        return [f"{path}: as JSON and then as a script other decisions"]
    return []


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


def is_history(program, path):
    return run(program, "verify", "-q", path)[0] in (0, 1)


def info(program, path):
    """What info says of a history; None where its conversion has to leave out events."""
    code, out, _ = run(program, "info", "-q", "--format", "json", path)
    record = json.loads(out)
    return code, {key: record[key] for key in record if key not in ("config", "warnings", "path", "format")}


def lines_of(path):
    """A script, but for the release, which JSON names always, and with stacks numbered as they come."""
    numbers = {}
    with open(path, encoding="utf-8") as file:
        text = "".join(line for line in file if not line.startswith("# torch: "))
    return re.sub(r"(?<= stack=)\d+", lambda match: str(numbers.setdefault(match.group(), len(numbers))), text)


def answers(program, path, forms, has_history):
    """{question: answer} after a way through these formats; of a script no history is asked."""
    given = {"comes to": totals(program, path)}
    if len(forms) == len(WAYS[0]) or not forms:
        given["comes under other settings to"] = totals(program, path, "--conf", "max_split_size_mb:128")
    if has_history and "script" not in forms:
        given["is verified as"] = verdict(program, path)
        given["is told of as"] = info(program, path)
    return given


def way_differences(program, path, folder):
    """Whatever way a trace takes, it stays what it is; and a script the same text."""
    has_history = is_history(program, path)
    expected = answers(program, path, (), has_history)
    first = place(folder, path, ".first")
    convert(program, path, "script", first)
    different = []
    for way in WAYS:
        at = path
        for step, form in enumerate(way):
            forms = way[: step + 1]
            target = place(folder, path, f".{'.'.join(forms)}")
            code, err = convert(program, at, form, target)
            if code != 0:
                if (code, expected["comes to"][1]) not in ((UNAVAILABLE, None), (INVALID, None)):
                    different.append(f"{path}: {' '.join(forms)}: convert ends with {code}: {err}")
                break
            for question, answer in answers(program, target, forms, has_history).items():
                is_cut = question == "is told of as" and "before a gap" in err
                if answer != expected[question] and not is_cut:
                    different.append(f"{path}: by way of {' '.join(forms)} it {question} something else")
            if form == "script" and lines_of(target) != lines_of(first):
                different.append(f"{path}: by way of {' '.join(forms)} another script")
            at = target
    return different


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


def start_script(seed):
    """A random script that finds memory there already."""
    lines = [f"S 0x7f00{seed:02x}000000 2097152 0 small=1", f"B 2000 0x7f00{seed:02x}000000 512 100"]
    lines += ["# cat: 2000 what was there", f"B 2001 0x7f00{seed:02x}000400 1024 1000 pending=1"]
    lines += [f"S 0x7f10{seed:02x}000000 62914560 64 base=0x7f10{seed:02x}000000 page=20971520"]
    lines += [f"B 2002 0x7f10{seed:02x}a00000 20971520 20971520"]
    script = random_script(seed).splitlines()
    header = [line for line in script if line.startswith(("# cap", "# torch"))]
    rest = script[len(header) :]
    return "\n".join(header + lines + rest[:40] + ["f 2000 odd=3", "d 2001"] + rest[40:]) + "\n"


def made_scripts(folder):
    for make in (random_script, start_script):
        for seed in range(RANDOM_SCRIPTS):
            path = f"{folder}/{make.__name__}-{seed}.txt"
            with open(path, "w", encoding="utf-8") as file:
                file.write(make(seed))
            yield path


def genuine(folder):
    """Snapshots by release, and what carries them."""
    names = found(f"{folder}/*/*.pickle*", f"{folder}/*/*.pt", f"{folder}/*/*.html", f"{folder}/*/*.json")
    return [path for path in names if not path.endswith((".stats.json", ".timeline.json"))]


def all_checks(made, folder):
    everything = TRACES + SNAPSHOTS + SCRIPTS + OTHERS + RINGS + STATISTICS + ZOO + WORKLOADS + made
    return [(way_differences, path) for path in everything + (genuine(folder) if folder else [])]


def some_checks(made):
    paths = [path for path in TRACES if path not in LARGE] + SNAPSHOTS + SCRIPTS[::4] + made
    ways = TRACES + SNAPSHOTS[::3] + SCRIPTS[::12] + OTHERS[::3] + RINGS[::4] + STATISTICS[::3] + ZOO[::6]
    ways = [path for path in ways if path not in LARGE]
    return [(check, path) for path in paths for check in (flt_differences, script_differences, json_differences)] + [
        (way_differences, path) for path in ways + made[::3]
    ]


def main(program, is_all=None, folder=""):
    with tempfile.TemporaryDirectory() as scratch:
        made = list(made_scripts(scratch))
        checks = all_checks(made, folder) if is_all else some_checks(made)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            answered = pool.map(lambda row: row[0](program, row[1], scratch), checks)
            different = [line for lines in answered for line in lines]
    print(*different, sep="\n", end="\n" if different else "")
    print(f"{len({path for _, path in checks})} traces, {len(checks)} checks, {len(different)} differences")
    return 1 if different or len(checks) < 200 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
