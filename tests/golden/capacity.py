"""capacity.py FRAGLAB [--all]: the smallest cards of the zoo and of real workloads, as the released
allocator has them.

smallest_card.tsv was measured in steps of 2 MiB, exact_card.tsv by a walk over all cards.  Without
--all only what takes no more than a moment.
"""

import csv
import json
import subprocess
import sys

MIB = 1 << 20
STEP = 2 * MIB
CONF = {
    "default": "",
    "split21": "max_split_size_mb:21",
    "split128": "max_split_size_mb:128",
    "split512": "max_split_size_mb:512",
    "roundup4": "roundup_power2_divisions:4",
    "gc0.8": "garbage_collection_threshold:0.8",
    "expandable": "expandable_segments:True",
    "expandable+split128": "expandable_segments:True,max_split_size_mb:128",
}
QUICK = {"T01", "T03ab", "T03ba", "T15", "T16", "T17", "gpt2-compiled"}


def rows(path, is_all):
    with open(path, encoding="ascii", newline="") as file:
        return [row for row in csv.DictReader(file, delimiter="\t") if is_all or row["trace"] in QUICK]


def capacity(program, path, setting):
    command = [program, "capacity", "--quiet", "--format", "json", "--torch", "2.9.1", "--conf", CONF[setting]]
    if setting == "gc0.8":
        command += ["--fraction", "0.999"]
    answer = subprocess.run(command + [path], check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(answer.stdout)


def stepped_complaints(program, is_all):
    for row in rows("traces/zoo/smallest_card.tsv", is_all):
        for setting in CONF:
            answer = capacity(program, f"traces/zoo/{row['trace']}.txt", setting)
            smallest, step = answer["smallest_card_bytes"], answer["step_bytes"]
            if -(-smallest // STEP) * STEP != int(row[setting]) * MIB:
                yield f"{row['trace']} {setting}: {smallest / MIB:g} MiB, not {row[setting]}"
            if setting == "gc0.8" and step != STEP:
                yield f"{row['trace']} {setting}: steps of {step}"


def exact_complaints(program, folder, suffix, is_all):
    keys = ("smallest_card", "lowest_fit")
    for row in rows(f"{folder}/exact_card.tsv", is_all):
        answer = capacity(program, f"{folder}/{row['trace']}{suffix}", row["setting"])
        got = [answer[key + "_bytes"] for key in keys]
        if got != [int(row[key + "_mib"]) * MIB for key in keys] or answer["step_bytes"] != 0:
            yield f"{folder}/{row['trace']} {row['setting']}: {got}, not {dict(row)}"


def main(program, *words):
    is_all = "--all" in words
    wrong = list(stepped_complaints(program, is_all))
    wrong += exact_complaints(program, "traces/zoo", ".txt", is_all)
    wrong += exact_complaints(program, "traces/workloads", ".txt.gz", is_all)
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
