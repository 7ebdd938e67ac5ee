"""excused.py FRAGLAB [--write] [--genuine FOLDER] [--other FOLDER]: what verify has to excuse.

Every snapshot is verified; excused.tsv says how many decisions of which file may be excused and for
which reason, or different, or with which status verify may end.  What is not in it may not be, and no
number may rise.  With --write the rows of the files at hand are written anew; they should only fall.

Without options, the snapshots of this tree.  --genuine: FOLDER/RELEASE/*, --other: FOLDER/*, of which
the table has rows, too; exit 77, a skip, where all folders that are named are empty texts.
"""

import argparse
import glob
import json
import os
import subprocess
import sys

TABLE = "tests/golden/excused.tsv"
SHIPPED = ["traces/*.pickle*", "tests/data/snapshots/*", "tests/data/snapshots/releases/*", "tests/data/statistics/*", "tests/data/rings/*"]
ENDINGS = (".pickle", ".pickle.gz", ".pkl", ".pt", ".html", "fmt.json")
SKIP = 77


def snapshots(arguments):
    """(name in the table, path)"""
    if arguments.genuine is None and arguments.other is None:
        paths = sorted(path for pattern in SHIPPED for path in glob.glob(pattern))
        yield from ((path, path) for path in paths if path.endswith(ENDINGS))
    for folder, name, pattern in (
        (arguments.genuine, "genuine", "/*/*"),
        (arguments.other, "other", "/*"),
    ):
        for path in sorted(glob.glob(folder + pattern)) if folder else []:
            if path.endswith(ENDINGS):
                yield name + path.removeprefix(folder), path


def verify(program, path):
    """{reason: count}, empty where every decision is equal"""
    done = subprocess.run([program, "verify", "--quiet", "--format", "json", path], capture_output=True, check=False)
    if done.returncode not in (0, 1):
        return {f"exit {done.returncode}": 1}
    record = json.loads(done.stdout)
    counts = dict(record["excused_by_reason"])
    different = sum(tally["different"] for tally in record["decisions"].values())
    excused = sum(tally["excused"] for tally in record["decisions"].values())
    assert excused == sum(counts.values()), path
    assert (different > 0) == (done.returncode == 1), path
    if different > 0:
        counts["different"] = different
    return counts


def read_table():
    table = {}
    with open(TABLE, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                name, reason, count = line.rstrip("\n").split("\t")
                table.setdefault(name, {})[reason] = int(count)
    return table


def write_table(table):
    with open(TABLE, encoding="utf-8") as file:
        lines = [line for line in file if line.startswith("#")]
    for name in sorted(table):
        lines += [f"{name}\t{reason}\t{count}\n" for reason, count in sorted(table[name].items())]
    with open(TABLE, "w", encoding="utf-8") as file:
        file.writelines(lines)


def risen(name, allowed, counts):
    for reason, count in sorted(counts.items()):
        if count > allowed.get(reason, 0):
            yield f"{name}: {reason}: {count}, {allowed.get(reason, 0)} are allowed"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--genuine")
    parser.add_argument("--other")
    arguments = parser.parse_args()
    if arguments.genuine == "" and arguments.other == "":
        print("no folder of snapshots was given: meson configure -Dgenuine_snapshots=FOLDER -Dother_snapshots=FOLDER")
        return SKIP
    table = read_table()
    wrong = []
    count = 0
    for name, path in snapshots(arguments):
        counts = verify(arguments.program, path)
        wrong += risen(name, table.get(name, {}), counts)
        table.pop(name, None)
        if counts:
            table[name] = counts
        count += 1
    if arguments.write:
        write_table(table)
        return 0
    print("\n".join(wrong + [f"{count} snapshots"]))
    return 1 if wrong or count == 0 else 0


if __name__ == "__main__":
    os.environ["LC_ALL"] = "C"
    sys.exit(main())
