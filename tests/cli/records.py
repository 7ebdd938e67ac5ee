"""records.py FRAGLAB: the shape of every JSON record, and that CSV and docs/output.md say the same."""

import csv
import io
import json
import os
import re
import subprocess
import sys

COUNT, TEXT, BOOL = int, str, bool


class Maybe:
    """Null, or this shape."""

    def __init__(self, shape):
        self.shape = shape


ENVELOPE = {"schema": TEXT, "schema_version": COUNT, "fraglab_version": TEXT, "config": dict, "warnings": [TEXT]}
TOTALS = {key: COUNT for key in ("requested_bytes", "allocated_bytes", "active_bytes", "reserved_bytes")}
OOM = {
    "event": COUNT,
    "requested_bytes": COUNT,
    "rounded_bytes": Maybe(COUNT),
    "segment_bytes": Maybe(COUNT),
    "device_free_bytes": Maybe(COUNT),
    "free_in_cache_bytes": Maybe(COUNT),
    "largest_usable_bytes": Maybe(COUNT),
    "message": Maybe(TEXT),
}
REPLAY = {
    "events": COUNT,
    "allocs": COUNT,
    "frees": COUNT,
    "peak": TOTALS,
    "peak_allocated_event": COUNT,
    "peak_reserved_event": COUNT,
    "end": TOTALS,
    "driver_calls": {key: COUNT for key in ("malloc", "free", "map", "unmap")},
    "alloc_retries": Maybe(COUNT),
    "ooms": COUNT,
    "oom": Maybe(OOM),
    "inferred": dict,
    "changes": list,
}
TALLY = {key: COUNT for key in ("checked", "equal", "excused", "different")}
VERDICT = {
    "decisions": {key: TALLY for key in ("address", "segment", "final_state")},
    "excused_by_reason": dict,
    "first_difference": Maybe({"device": COUNT, "event": COUNT, "expected": TEXT, "got": TEXT, "because": TEXT}),
    "profiles": [TEXT],
    "complete": BOOL,
}
VERIFY = {**VERDICT, "devices": [{**VERDICT, "device": COUNT, "torch": TEXT, "inferred": dict, "releases_by_cause": dict, "changes": list}]}
FRAME = {"name": TEXT, "file": TEXT, "line": Maybe(COUNT)}
LIVE = {
    "event": COUNT,
    "live_bytes": COUNT,
    "live_blocks": COUNT,
    "stacks": COUNT,
    "by_stack": [{"bytes": COUNT, "blocks": COUNT, "frames": [FRAME]}],
}
INFO = {
    "format": TEXT,
    "sizes": TEXT,
    "conf": Maybe(TEXT),
    "annotations": COUNT,
    "host": {"segments": COUNT, "bytes": Maybe(COUNT), "events": COUNT},
    "capacity_bytes": Maybe(COUNT),
    "releases": Maybe({"first": TEXT, "last": TEXT}),
    "streams": [TEXT],
    "pools": [TEXT],
    "devices": [
        {
            "device": COUNT,
            "events": COUNT,
            "kinds": dict,
            "streams": COUNT,
            "pools": COUNT,
            "complete": BOOL,
            "has_history": BOOL,
            "has_stacks": BOOL,
            "covers": Maybe(TEXT),
    "lacks": [TEXT],
    "next_time": [TEXT],
    "span_s": Maybe((int, float)),
            "final": Maybe({key: COUNT for key in ("segments", "reserved_bytes", "live", "pending", "free")}),
            "peak": LIVE,
            "end": LIVE,
        }
    ],
}
CAPACITY = {
    "smallest_card_bytes": Maybe(COUNT),
    "lowest_fit_bytes": Maybe(COUNT),
    "step_bytes": COUNT,
    "card": {"bytes": Maybe(COUNT), "works": Maybe(BOOL)},
    "curve": [
        {
            "first_bytes": COUNT,
            "end_bytes": Maybe(COUNT),
            "works": BOOL,
            "peak_reserved_bytes": Maybe(COUNT),
            "driver_calls": Maybe(COUNT),
            **{f"driver_{call}": Maybe(COUNT) for call in ("malloc", "free", "map", "unmap")},
            "alloc_retries": Maybe(COUNT),
            "refused_event": Maybe(COUNT),
        }
    ],
}
CALLS = ("malloc", "free", "map", "unmap")
NUMBER = (int, float)
TUNE = {
    "reason": TEXT,
    "sentence": TEXT,
    "card_bytes": COUNT,
    "is_card_given": BOOL,
    "best_card_bytes": Maybe(COUNT),
    "is_sampled": BOOL,
    "was_stopped": BOOL,
    "recommended": Maybe(
        {
            "conf": TEXT,
            "fraction": Maybe(NUMBER),
            "environment": TEXT,
            "fits": BOOL,
            "smallest_card_bytes": COUNT,
            "is_exact": BOOL,
            "peak_reserved_bytes": COUNT,
            "driver_calls": {call: COUNT for call in CALLS},
            "alloc_retries": COUNT,
            "driver_ms": NUMBER,
            "conflicts": [TEXT],
            "releases": [{"first": TEXT, "last": TEXT, "verdict": TEXT, "because": Maybe(TEXT)}],
            "robustness": {key: COUNT for key in ("trials", "fitting", "least_reserved_bytes", "most_reserved_bytes")},
        }
    ),
    "candidates": [
        {
            "conf": TEXT,
            "fraction": Maybe(NUMBER),
            "change": Maybe(TEXT),
            "change_event": Maybe(COUNT),
            "fits": BOOL,
            "smallest_card_bytes": Maybe(COUNT),
            "headroom_bytes": Maybe(COUNT),
            "peak_reserved_bytes": COUNT,
            **{f"driver_{call}": COUNT for call in CALLS},
            "alloc_retries": COUNT,
            "driver_ms": NUMBER,
            "worst_file": COUNT,
            "is_usual": BOOL,
            "is_conflicting": BOOL,
            "is_pareto": BOOL,
        }
    ],
    "intervals": [
        {
            "first_mb": COUNT,
            "last_mb": Maybe(COUNT),
            "fits": BOOL,
            "peak_reserved_bytes": COUNT,
            "driver_calls": COUNT,
            "alloc_retries": COUNT,
            "driver_ms": NUMBER,
        }
    ],
}
RECORDS = {"replay": REPLAY, "verify": VERIFY, "capacity": CAPACITY, "tune": TUNE, "info": INFO}
# Options that change how a result is told or how fast it comes, but not the record; and where in `config`
# others stand that have no key of their own name.
TALK = "format output quiet color help version jobs decisions frames fail-on-oom".split()
PLACES = {"process": "processes", "tries": "most_tries", "context": "gpu.context_bytes"}
LISTS = ("policies", "devices", "formats", "releases", "gpus", "commands")


def check(value, shape, place):
    """Fails where a value has not exactly this shape."""
    if isinstance(shape, Maybe):
        if value is not None:
            check(value, shape.shape, place)
    elif isinstance(shape, dict):
        assert isinstance(value, dict), f"{place} is no object"
        assert value.keys() == shape.keys(), f"{place} has {sorted(value)}, expected {sorted(shape)}"
        for key in shape:
            check(value[key], shape[key], f"{place}.{key}")
    elif isinstance(shape, list):
        assert isinstance(value, list), f"{place} is no list"
        for i, item in enumerate(value):
            check(item, shape[0], f"{place}[{i}]")
    else:
        assert isinstance(value, shape), f"{place} is {value!r}"
        assert shape is not COUNT or not isinstance(value, bool), f"{place} is {value!r}"


def keys_of(shape):
    """Every key in a shape."""
    if isinstance(shape, Maybe):
        yield from keys_of(shape.shape)
    elif isinstance(shape, list):
        yield from keys_of(shape[0])
    elif isinstance(shape, dict):
        for key, inner in shape.items():
            yield key
            yield from keys_of(inner)


def check_documented(command):
    """The section on a command's record names its keys."""
    with open("docs/output.md", encoding="utf-8") as file:
        section = file.read().split(f"\n### {command}\n")[1].split("\n### ")[0]
    missing = sorted({key for key in keys_of(RECORDS[command]) if f"`{key}`" not in section})
    assert not missing, f"docs/output.md does not tell of {missing}"


def call(program, *words):
    run = subprocess.run([program, *words], capture_output=True)
    assert run.returncode in (0, 1), f"{words} ends with {run.returncode}: {run.stderr.decode()}"
    return run.stdout.decode()


def flat(value, path=""):
    """{dotted key: text} of an object, as CSV has it."""
    cells = {}
    for key, item in value.items():
        if isinstance(item, dict):
            cells.update(flat(item, f"{path}{key}."))
        elif isinstance(item, list):
            cells[path + key] = " ".join(str(part) for part in item)
        else:
            cells[path + key] = "" if item is None else json.dumps(item) if isinstance(item, bool) else str(item)
    return cells


def check_csv(text, rows, place):
    """Every cell of the table is what JSON says."""
    table = list(csv.DictReader(io.StringIO(text)))
    assert len(table) == len(rows), f"{place}: {len(table)} rows, JSON has {len(rows)}"
    for line, row in zip(table, rows):
        told = flat(row)
        for key, cell in line.items():
            assert cell == told.get(key, ""), f"{place}: {key} is {cell!r}, JSON says {told.get(key)!r}"


def check_config(program, command, config, words):
    """Every option of --help that changes the record stands in `config`, with what was typed."""
    options = set(re.findall(r"(?m)^ +(?:-\w, )?--([a-z-]+)", call(program, command, "--help")))
    assert options >= set(TALK[:6]), f"{command} --help shows no options"
    for option in sorted(options - set(TALK)):
        place = config
        for key in PLACES.get(option, option.replace("-", "_")).split("."):
            assert key in place, f"config lacks --{option}"
            place = place[key]
        assert f"--{option}" not in words or place is not None, f"config does not tell what --{option} was"


def check_command(program, command, *words):
    place = " ".join((command, *words))
    record = json.loads(call(program, command, "--format", "json", *words))
    assert list(record)[:5] == list(ENVELOPE), f"{place}: begins with {list(record)[:5]}"
    head = {key: record.pop(key) for key in ENVELOPE}
    for key, shape in ENVELOPE.items():
        if shape is not dict:
            check(head[key], shape, key)
    assert head["schema"] == f"fraglab.{command}" and head["schema_version"] == 1, head
    assert head["config"]["command"] == command, head
    check_config(program, command, head["config"], words)
    rows = next(iter(record.values())) if command == "list" else record.get("devices", record.get("curve", record.get("candidates", [record])))
    if command in RECORDS:
        check(record, RECORDS[command], place)
    if command != "settings":  # whose table has a row for each remark
        check_csv(call(program, command, "--format", "csv", *words), rows, place)


def tests(program):
    """What is checked: a name, a function, its arguments."""
    traces = sorted(f"traces/{name}" for name in os.listdir("traces") if ".pickle" in name or ".txt" in name)
    calls = [("list", what) for what in LISTS]
    calls += [("settings", "--torch", "2.9", "expandable_segments:True"), ("shrink", "--gpu", "23GiB", "traces/pinned.txt")]
    calls += [("capacity", "--gpu", "24GiB", "--fraction", "0.9", "traces/pinned.txt"), ("capacity", "traces/gpt_oom.pickle.gz")]
    calls += [("tune", "--gpu", "14000MiB", "traces/zoo/T01.txt"), ("tune", "--gpu", "1GiB", "traces/zoo/T03ab.txt")]
    calls += [("verify", "--gpu", "8GiB", "--fraction", "1", "--trace-device", "0", "traces/gpt_oom.pickle.gz")]
    calls += [(command, trace) for trace in traces for command in ("info", "replay")]
    calls += [("verify", trace) for trace in traces if ".pickle" in trace]
    calls += [("replay", "--policy", "passthrough", "--gpu", "8GiB", "traces/pinned.txt")]
    for words in calls:
        yield "_".join(words), check_command, (program, *words)
    for command in RECORDS:
        yield f"documented_{command}", check_documented, (command,)


def main(program):
    failed = 0
    for name, check_one, words in tests(program):
        print(f"[ RUN      ] {name}")
        try:
            check_one(*words)
            print(f"[       OK ] {name}")
        except (AssertionError, json.JSONDecodeError) as problem:
            print(problem)
            print(f"[  FAILED  ] {name}")
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
