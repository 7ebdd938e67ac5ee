"""edit.py EDIT SNAPSHOT: writes a genuine snapshot, changed in one way, to standard output."""

import copy
import pickle
import sys


def cut(snapshot):
    """The window begins in the middle, as after an overflow of the ring."""
    for trace in snapshot["device_traces"]:
        del trace[: len(trace) // 2]


def exchange(trace):
    """Two neighbouring requests of one size that live to the end change places: valid, but not what
    the allocator does."""
    freed = {entry["addr"] for entry in trace if entry["action"] == "free_requested"}
    for left, right in zip(trace, trace[1:]):
        kept = left["action"] == right["action"] == "alloc" and not {left["addr"], right["addr"]} & freed
        if kept and left["size"] == right["size"]:
            left["addr"], right["addr"] = right["addr"], left["addr"]
            return


def exchanged(snapshot):
    """Two requests of device 0 changed places."""
    exchange(snapshot["device_traces"][0])


def two_devices(snapshot):
    """Device 1 did the first half of what device 0 did."""
    trace = snapshot["device_traces"][0]
    snapshot["device_traces"].append(copy.deepcopy(trace[: len(trace) // 2]))


def second_exchanged(snapshot):
    """Device 1 did the same as device 0, but that two requests changed places."""
    snapshot["device_traces"].append(copy.deepcopy(snapshot["device_traces"][0]))
    segments = copy.deepcopy(snapshot["segments"])
    for segment in segments:
        segment["device"] = 1
    snapshot["segments"] += segments
    exchange(snapshot["device_traces"][1])


def older(snapshot):
    """Without the keys that newer releases write."""
    snapshot.pop("external_annotations", None)
    snapshot["allocator_settings"].pop("graph_capture_record_stream_reuse", None)
    for trace in snapshot["device_traces"]:
        for entry in trace:
            entry.pop("compile_context", None)


def silent(snapshot):
    """No history was recorded."""
    for trace in snapshot["device_traces"]:
        trace.clear()


def limited(snapshot):
    """At the first refusal the card had plenty left: the process had a limit."""
    refusals = [entry for entry in snapshot["device_traces"][0] if entry["action"] == "oom"]
    refusals[0]["device_free"] += 5 << 30


def refused_settings(snapshot):
    """Settings that the release would not have accepted."""
    snapshot["allocator_settings"]["PYTORCH_CUDA_ALLOC_CONF"] = "max_split_size_mb:1"


def private_pools(snapshot):
    """A segment of the final state belongs to a CUDA graph."""
    snapshot["segments"][0]["segment_pool_id"] = (1, 0)


def control_characters(snapshot):
    """A stack that would clear the terminal."""
    for entry in snapshot["device_traces"][0]:
        for frame in entry.get("frames", []):
            frame["name"] = "\033[2J"


def main(edit, path):
    with open(path, "rb") as file:
        snapshot = pickle.load(file)
    globals()[edit](snapshot)
    sys.stdout.buffer.write(pickle.dumps(snapshot))


main(*sys.argv[1:])
