"""tuned.py BUILD [VERSION]: what `fraglab tune` recommends for the zoo, run by the released allocator.

For each trace of traces/zoo on a card 5 % larger than the best in smallest_card.tsv: the answer of tune,
and whether the released allocator, with exactly that text, refuses nothing there.  BUILD is a build
folder with the program and the target `interpose`.  Writes a table for docs/tuning.md; exit 1 if
anything that was said to fit is refused.
"""

import csv
import json
import subprocess
import sys

import subjects

ZOO = subjects.TREE + "/traces/zoo/"
NOT_SETTINGS = ("trace", "what", "peak_allocated_mib", "peak_reserved_uncapped_mib")


def cards():
    """(trace, MiB of a card 5 % larger than the best setting needs)"""
    with open(ZOO + "smallest_card.tsv", encoding="ascii", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            best = min(int(row[key]) for key in row if key not in NOT_SETTINGS)
            yield row["trace"], best * 105 // 200 * 2


def tune(build, version, trace, card):
    command = [f"{build}/src/cli/fraglab", "tune", "--quiet", "--format", "json", "--torch", version]
    answer = subprocess.run(
        command + ["--gpu", f"{card}MiB", f"{ZOO}{trace}.txt"], stdout=subprocess.PIPE, text=True
    )
    return json.loads(answer.stdout)


def released_refuses(allocator, trace, card, conf):
    with open(f"{ZOO}{trace}.txt", encoding="ascii") as file:
        body = "".join(line for line in file if not line.startswith(("#", "m ")))
    outcome = allocator.decide(f"# cap={card << 20} conf={conf}\n{body}")
    return outcome.end or ("refused" if "\nO " in "\n" + outcome.text else None)


def main(build, version="2.9.1"):
    allocator = subjects.Released(version, build)
    refused = 0
    print("| trace | card | recommended | needs | the released allocator |\n| --- | --- | --- | --- | --- |")
    for trace, card in cards():
        answer = tune(build, version, trace, card)
        choice = answer["recommended"]
        conf = choice["conf"] if choice else ""
        needs = f"{choice['smallest_card_bytes'] >> 20:,} MiB" if choice else ""
        problem = released_refuses(allocator, trace, card, conf)
        said_to_fit = answer["reason"] != "none fits"
        refused += said_to_fit and problem is not None
        name = f"`{conf}`" if choice else answer["reason"]
        print(f"| {trace} | {card:,} MiB | {name} | {needs} | {problem or 'refuses nothing'} |", flush=True)
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
