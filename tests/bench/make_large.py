"""make_large.py FILE MEGABYTES: a snapshot of any size, written piece by piece.

One stretch of a training run, in which everything that is allocated is freed again, follows itself
until the file is large enough: so this program needs no memory, and the history begins and ends
with nothing.  As in snapshots that PyTorch wrote, texts and frames are fetched from the memo, and
each entry has a list of frames of its own.
"""

import random
import struct
import sys

PAIRS = 4096  # blocks that come and go in a stretch
STACKS = 64
FRAMES = 24
BLOCK = 1 << 21
BASE = 0x7F0000000000


class Pickle:
    """Writes pickle instructions and knows how far the memo is."""

    def __init__(self):
        self.parts = []
        self.memo = 0
        self.texts = {}

    def put(self, *parts):
        self.parts.extend(parts)

    def memoize(self):
        self.put(b"\x94")
        self.memo += 1
        return self.memo - 1

    def get(self, number):
        self.put(b"h" + bytes([number]) if number < 256 else b"j" + struct.pack("<I", number))

    def text(self, text):
        """Fetched where it is known, as an interned text is."""
        if text in self.texts:
            self.get(self.texts[text])
            return
        data = text.encode()
        self.put(b"\x8c" + bytes([len(data)]) + data)
        self.texts[text] = self.memoize()

    def fresh_text(self, text):
        """A text object of its own each time."""
        data = text.encode()
        self.put(b"\x8c" + bytes([len(data)]) + data)
        self.memoize()

    def number(self, number):
        if 0 <= number < 1 << 8:
            self.put(b"K" + bytes([number]))
        elif 0 <= number < 1 << 31:
            self.put(b"J" + struct.pack("<i", number))
        else:
            self.put(b"\x8a\x08" + struct.pack("<q", number))

    def begin(self, instruction):
        self.put(instruction)
        self.memoize()
        self.put(b"(")

    def take(self):
        data = b"".join(self.parts)
        self.parts.clear()
        return data


def write_frames(pickle):
    """Defines the frames, as those of the first entry's stack; returns their memo numbers."""
    frames = []
    pickle.begin(b"]")
    for i in range(FRAMES):
        frames.append(pickle.memo)
        pickle.begin(b"}")
        for key, value in (("name", f"forward_{i}"), ("filename", f"/work/model/part_{i % 7}.py")):
            pickle.text(key)
            pickle.text(value)
        pickle.text("line")
        pickle.number(10 + i)
        pickle.put(b"u")
    pickle.put(b"e")
    return frames


def begin_entry(pickle, action, address, size):
    pickle.begin(b"}")
    for key, value in (("action", action), ("addr", address), ("size", size), ("stream", 0)):
        pickle.text(key)
        if isinstance(value, str):
            pickle.text(value)
        else:
            pickle.number(value)
    pickle.text("time_us")
    pickle.number(1_700_000_000_000_000)
    pickle.text("compile_context")
    pickle.fresh_text("N/A")
    pickle.text("frames")


def write_stack(pickle, frames):
    pickle.begin(b"]")
    for frame in frames:
        pickle.get(frame)
    pickle.put(b"eu")


def write_head(pickle):
    """Up to the first entry of the only trace; returns the frames."""
    pickle.put(b"\x80\x04")
    pickle.begin(b"}")
    pickle.text("segments")
    pickle.put(b"]")
    pickle.memoize()
    pickle.text("device_traces")
    pickle.begin(b"]")
    pickle.begin(b"]")
    begin_entry(pickle, "segment_alloc", BASE, PAIRS * BLOCK)
    frames = write_frames(pickle)
    pickle.put(b"u")
    return frames


def write_stretch(pickle, rng, frames):
    stacks = [[rng.choice(frames) for _ in range(rng.randint(2, 9))] for _ in range(STACKS)]
    pairs = [(place, BLOCK - rng.randrange(512), rng.choice(stacks)) for place in range(PAIRS)]
    for place, size, stack in rng.sample(pairs, PAIRS):
        begin_entry(pickle, "alloc", BASE + place * BLOCK, size)
        write_stack(pickle, stack)
    for place, size, stack in rng.sample(pairs, PAIRS):
        for action in ("free_requested", "free_completed"):
            begin_entry(pickle, action, BASE + place * BLOCK, size)
            write_stack(pickle, stack)


def write_tail(pickle):
    begin_entry(pickle, "segment_free", BASE, PAIRS * BLOCK)
    pickle.put(b"]")
    pickle.memoize()
    pickle.put(b"uee")  # of the entry, of the trace, of the traces
    pickle.text("allocator_settings")
    pickle.begin(b"}")
    pickle.text("PYTORCH_CUDA_ALLOC_CONF")
    pickle.text("")
    pickle.put(b"uu.")


def main():
    path, size = sys.argv[1], int(sys.argv[2]) * 1_000_000
    pickle, rng = Pickle(), random.Random(1)
    with open(path, "wb") as file:
        frames = write_head(pickle)
        write_stretch(pickle, rng, frames)  # brings every text into the memo
        file.write(pickle.take())
        write_stretch(pickle, rng, frames)
        stretch = pickle.take()
        while file.tell() < size:
            file.write(stretch)
        write_tail(pickle)
        file.write(pickle.take())


if __name__ == "__main__":
    main()
