"""What is needed of released PyTorch, kept outside the tree: ${XDG_CACHE_HOME:-~/.cache}/fraglab.

A wheel has 0.2 to 0.9 GB, of which the allocator and its headers are 5 MB; the rest is not kept.
"""

import fnmatch
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

CACHE = os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "fraglab"
)
# All releases have wheels for this Python; it need not be the one that runs here.
TARGET = ["--only-binary=:all:", "--no-deps", "--python-version", "3.11", "--implementation", "cp"]
TARGET += ["--abi", "cp311", "--abi", "none"]
TARGET += [f"--platform={name}_x86_64" for name in ("manylinux1", "manylinux2014", "manylinux_2_28")]
KEPT = ["torch/lib/libc10.so", "torch/lib/libc10_cuda.so"]
KEPT += ["torch/include/c10/*", "torch/include/torch/headeronly/*"]
# Headers of the CUDA toolkit, for a machine that has none: what c10's headers include.
CUDA_WHEELS = ["nvidia-cuda-runtime==13.0.*", "nvidia-cuda-crt==13.0.*", "nvidia-cuda-cccl==13.0.*"]


def say(text):
    print(f"conformance: {text}", file=sys.stderr, flush=True)


def unpack_wheel(requirement, kept, folder):
    """Downloads a wheel and unpacks what matches one of the patterns; the wheel is not kept."""
    os.makedirs(CACHE, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="wheel-") as scratch:
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
            + TARGET
            + ["--dest", scratch, requirement],
            check=True,
        )
        (wheel,) = glob.glob(scratch + "/*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if any(fnmatch.fnmatch(name, pattern) for pattern in kept):
                    archive.extract(name, folder)


def into_place(folder, fill):
    """Fills a folder under another name first, so that one that exists is whole."""
    if not os.path.isdir(folder):
        shutil.rmtree(folder + ".part", ignore_errors=True)
        fill(folder + ".part")
        os.rename(folder + ".part", folder)
    return folder


def torch(version):
    """The folder with lib/ and include/ of a release; downloaded where it is not there."""

    def fill(folder):
        say(f"downloading torch {version}")
        unpack_wheel(f"torch=={version}", KEPT, folder + ".whole")
        os.rename(folder + ".whole/torch", folder)
        os.rmdir(folder + ".whole")

    return into_place(f"{CACHE}/torch-{version}", fill)


def has_torch(version):
    return os.path.isdir(f"{CACHE}/torch-{version}")


def cuda_include():
    """Folders to find the headers of the CUDA runtime in: an installed toolkit's, or downloaded."""
    for home in (os.environ.get("CUDA_HOME"), "/usr/local/cuda", "/usr"):
        if home and os.path.exists(home + "/include/cuda_runtime_api.h"):
            return [home + "/include"]

    def fill(folder):
        say("downloading headers of the CUDA runtime")
        for wheel in CUDA_WHEELS:
            unpack_wheel(wheel, ["nvidia/*/include/*"], folder)

    return glob.glob(into_place(f"{CACHE}/cuda-headers", fill) + "/nvidia/*/include")
