"""memory.py BENCH-PROGRAM FOLDER MEGABYTES: does loading stay within its memory?

A trace of these files has 36 bytes an event.  Beside those, a gigabyte may cost 200 MB, and less may
cost its share.
"""

import os
import subprocess
import sys

COLUMN_BYTES = 36
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
    most = COLUMN_BYTES * events + int(SHARE * size) + PROCESS_BYTES
    print(f"{events} events, {size} bytes: peak {peak} bytes, at most {most}")
    sys.exit(peak > most)


if __name__ == "__main__":
    main()
