"""make_snapshot.py FILE EVENTS: a snapshot as large as a long training run leaves, for timing.

Layout, depth of stacks and sharing of frames are those of a snapshot that PyTorch 2.9 wrote after a
GPT training: frames are shared, the list of an alloc is its own, the two entries of a free share
one.  The history is made up: it begins with nothing and undoing it ends with nothing, but no
allocator would have decided so.
"""

import pickle
import random
import sys

SEGMENT = 20 << 20
SLOTS = 16  # of a segment: each at most 1.25 MiB, and more than 1 MiB, so all are of the large pool
SLOT = SEGMENT // SLOTS
BASE = 0x7F0000000000
SETTINGS = {
    "PYTORCH_CUDA_ALLOC_CONF": "",
    "max_split_size": -1,
    "garbage_collection_threshold": 0.0,
    "expandable_segments": False,
    "pinned_num_register_threads": 1,
    "release_lock_on_cudamalloc": False,
    "pinned_use_cuda_host_register": False,
    "graph_capture_record_stream_reuse": False,
    "roundup_power2_divisions": {str(1 << bit): 0 for bit in range(16)},
}


def make_stacks(rng, frames=64, stacks=2000):
    pool = [
        {"name": f"forward_{i}", "filename": f"/work/model/part_{i % 7}.py", "line": 10 + i}
        for i in range(frames)
    ]
    return [[rng.choice(pool) for _ in range(rng.randint(2, 8))] for _ in range(stacks)]


def entry(action, address, size, time_us, frames):
    return {
        "action": action,
        "addr": address,
        "size": size,
        "stream": 0,
        "time_us": time_us,
        "compile_context": "N/A",
        "frames": frames,
    }


def make_history(rng, events, stacks):
    """Places are filled and emptied at random; returns entries and the blocks left, by place."""
    places = 16 * SLOTS
    live, history = {}, []
    for segment in range(places // SLOTS):
        address = BASE + segment * SEGMENT
        history.append(entry("segment_alloc", address, SEGMENT, segment, list(stacks[0])))
    while len(history) < events:
        place = rng.randrange(places)
        address, time_us = BASE + place * SLOT, 1_700_000_000_000_000 + len(history)
        if place in live:
            size, stack = live.pop(place)
            frames = list(stack)
            history.append(entry("free_requested", address, size, time_us, frames))
            history.append(entry("free_completed", address, size, time_us, frames))
        else:
            size, stack = rng.randrange(SLOT - 511, SLOT + 1), rng.choice(stacks)
            live[place] = size, stack
            history.append(entry("alloc", address, size, time_us, list(stack)))
    return history, live


def make_segments(live):
    for segment in range(16):
        blocks = []
        for place in range(segment * SLOTS, (segment + 1) * SLOTS):
            size, frames = live.get(place, (0, []))
            state = "active_allocated" if place in live else "inactive"
            blocks.append(
                {
                    "address": BASE + place * SLOT,
                    "size": SLOT,
                    "requested_size": size,
                    "state": state,
                    "frames": frames,
                }
            )
        used = sum(SLOT for block in blocks if block["state"] != "inactive")
        yield {
            "device": 0,
            "address": BASE + segment * SEGMENT,
            "total_size": SEGMENT,
            "allocated_size": used,
            "active_size": used,
            "requested_size": sum(block["requested_size"] for block in blocks),
            "stream": 0,
            "segment_type": "large",
            "segment_pool_id": (0, 0),
            "is_expandable": False,
            "frames": [],
            "blocks": blocks,
        }


def main():
    path, events = sys.argv[1], int(sys.argv[2])
    rng = random.Random(1)
    history, live = make_history(rng, events, make_stacks(rng))
    snapshot = {
        "segments": list(make_segments(live)),
        "device_traces": [history],
        "allocator_settings": SETTINGS,
        "external_annotations": [],
    }
    with open(path, "wb") as file:
        pickle.dump(snapshot, file, protocol=4)


if __name__ == "__main__":
    main()
