"""tuning.py FRAGLAB [--all]: what tune recommends is as good as the best that was measured.

For traces of the zoo on a card 5 % larger than the best setting of smallest_card.tsv needs: a setting
that needs no more than that one does and fits in a replay of its own, or the answer that none is
needed, or that none fits, where a replay says so.  With --all also real workloads, against the best row of
tuning.tsv, and every split limit from 21 to 512 by brute force, which must give the stretches that the
search finds.
"""

import csv
import json
import subprocess
import sys

MIB = 1 << 20
NOT_SETTINGS = ("trace", "what", "peak_allocated_mib", "peak_reserved_uncapped_mib")
QUICK = ("T01", "T03ab", "T03ba", "T13", "T15", "T15e", "T16", "T17")
BRUTE = (("T02", 1616), ("T08", 8870), ("T10", 1638), ("T12", 946))
SAME = ("fits", "peak_reserved_bytes", "driver_calls", "alloc_retries")


def rows(path):
    with open(path, encoding="ascii", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def call(program, command, path, card, *options):
    words = [program, command, "--quiet", "--format", "json", "--torch", "2.9.1", "--gpu", f"{card}MiB"]
    return json.loads(subprocess.run([*words, *options, path], stdout=subprocess.PIPE, text=True).stdout)


def fits(program, path, card, conf, fraction=None):
    limit = ["--fraction", str(fraction)] if fraction is not None else []
    return call(program, "replay", path, card, "--conf", conf, *limit)["ooms"] == 0


def complaints_of(program, path, best):
    """What is wrong with the answer on a card of 5 % more than `best` MiB."""
    card = best * 105 // 200 * 2
    answer = call(program, "tune", path, card)
    choice, reason = answer["recommended"], answer["reason"]
    if choice is None:
        if (reason == "none needed") != fits(program, path, card, ""):
            yield f"{path} on {card} MiB: {reason}"
        if reason == "none fits":
            yield f"{path} on {card} MiB: none fits, but a card of {best} is enough"
        return
    if choice["smallest_card_bytes"] > best * MIB or not choice["fits"]:
        yield f"{path}: {choice['conf']} needs {choice['smallest_card_bytes'] / MIB:g} MiB, not {best}"
    if not fits(program, path, card, choice["conf"], choice["fraction"]):
        yield f"{path}: {choice['conf']} does not fit {card} MiB"


def zoo(program, is_all):
    for row in rows("traces/zoo/smallest_card.tsv"):
        best = min(int(row[key]) for key in row if key not in NOT_SETTINGS)
        if is_all or row["trace"] in QUICK:
            yield from complaints_of(program, f"traces/zoo/{row['trace']}.txt", best)


def workloads(program):
    best = {}
    for row in rows("traces/workloads/tuning.tsv"):
        best[row["trace"]] = min(int(row["smallest_MiB"]), best.get(row["trace"], 1 << 60))
    for trace, card in best.items():
        folder = "traces" if trace == "lora-gen" else "traces/workloads"
        yield from complaints_of(program, f"{folder}/{trace}.txt.gz", card)


def by_brute_force(program, path, card):
    """Stretches of limits with the same numbers, from a replay for each."""
    stretches = []
    for limit in range(21, 513):
        record = call(program, "replay", path, card, "--conf", f"max_split_size_mb:{limit}")
        calls = sum(record["driver_calls"].values())
        numbers = [record["ooms"] == 0, record["peak"]["reserved_bytes"], calls, record["alloc_retries"]]
        if stretches and stretches[-1][1] == numbers:
            continue
        stretches.append((limit, numbers))
    return stretches


def brute(program):
    for trace, card in BRUTE:
        path = f"traces/zoo/{trace}.txt"
        found = call(program, "tune", path, card)["intervals"]
        searched = [(one["first_mb"], [one[key] for key in SAME]) for one in found if one["first_mb"] <= 512]
        if searched != by_brute_force(program, path, card):
            yield f"{path}: brute force finds other stretches"


def main(program, *words):
    is_all = "--all" in words
    wrong = list(zoo(program, is_all))
    if is_all:
        wrong += list(workloads(program)) + list(brute(program))
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
