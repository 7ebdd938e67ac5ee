"""plots.py FRAGLAB: gnuplot draws every figure of traces with and without phases and refusals, says
nothing, and draws the same again.  Skipped (77) where there is no gnuplot."""

import os
import shutil
import subprocess
import sys
import tempfile

CALLS = [
    ("traces/gpt_oom.pickle.gz",),
    ("--gpu", "80996MiB", "traces/two-mebibytes.txt"),
    ("--torch", "2.9.1", "traces/streams.pickle"),
    ("--policy", "passthrough", "traces/pinned.txt"),
]


def draw(program, folder, call, image):
    command = [program, "plot", "-q", "--rows", "50", "--image", image, "--output-dir", folder, *call]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0 or run.stderr:
        sys.exit(f"{' '.join(command)}: ended with {run.returncode}: {run.stderr}")
    images = sorted(name for name in os.listdir(folder) if name.endswith("." + image))
    return {name: open(os.path.join(folder, name), "rb").read() for name in images}


def main(program):
    if shutil.which("gnuplot") is None:
        sys.exit(77)
    for call in CALLS:
        with tempfile.TemporaryDirectory() as folder:
            first = draw(program, folder, call, "svg")
            if sorted(first) != ["memory.svg", "unusable.svg"]:
                sys.exit(f"{call}: {sorted(first)}")
            if any(b"<path" not in image for image in first.values()):
                sys.exit(f"{call}: an empty figure")
            if draw(program, folder, call, "svg") != first:
                sys.exit(f"{call}: drawn twice, it differs")
            if any(image[:4] != b"\x89PNG" for image in draw(program, folder, call, "png").values()):
                sys.exit(f"{call}: no PNG")


if __name__ == "__main__":
    main(sys.argv[1])
