"""memory.py BENCH-PROGRAM FOLDER MEGABYTES: does loading stay within its memory?

A trace has at most 40 bytes an event, and reading 8 more for each entry of the pickle's memo.  Beside
those, a gigabyte may cost 200 MB, and less may cost its share.
"""

import os
import subprocess
import sys

COLUMN_BYTES = 40
MEMO_BYTES = 8
MEMO_ENTRIES = 3  # of each event in what make_large.py writes: itself, its frames, a text
PROCESS_BYTES = 6_000_000  # the program itself, and its two buffers
SHARE = 0.2


def main():
    program, folder, megabytes = sys.argv[1], sys.argv[2], int(sys.argv[3])
    path = os.path.join(folder, f"memory-{megabytes}.pickle")
    tool = os.path.join(os.path.dirname(__file__), "make_large.py")
    subprocess.run([sys.executable, tool, path, str(megabytes)], check=True)
    size = os.path.getsize(path)
    words = subprocess.run([program, "load", path], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    os.remove(path)
    events, peak = int(words[words.index("events") + 1]), int(words[words.index("peak_kib") + 1]) << 10
    most = (COLUMN_BYTES + MEMO_BYTES * MEMO_ENTRIES) * events + int(SHARE * size) + PROCESS_BYTES
    print(f"{events} events, {size} bytes: peak {peak} bytes, at most {most}")
    sys.exit(peak > most)


if __name__ == "__main__":
    main()
