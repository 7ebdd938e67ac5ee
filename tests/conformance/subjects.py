"""The two sides of a comparison: a released allocator, and fraglab's replay of the same script."""

import hashlib
import json
import os
import re
import subprocess

import wheels

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
SOURCES = [HERE + "/driver.cpp", TREE + "/src/interpose/card.h", TREE + "/src/interpose/events.h"]
TIME_LIMIT_S = 60


def releases():
    """Versions with recorded decisions, oldest first."""
    with open(TREE + "/tests/data/conformance/releases.tsv", encoding="utf-8") as file:
        versions = {line.split("\t")[1] for line in file} - {"release"}
    return sorted(versions, key=lambda version: [int(part) for part in version.split(".")])


def shown(library, *options):
    return subprocess.run(
        options + (library,), check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def build_driver(version, build):
    """The driver program of a release, compiled where it is older than its sources."""
    torch = wheels.torch(version)
    folder = f"{build}/conformance/{version}"
    driver = folder + "/driver"
    newest = max(os.path.getmtime(path) for path in SOURCES)
    if os.path.exists(driver) and os.path.getmtime(driver) > newest:
        return driver
    os.makedirs(folder, exist_ok=True)
    interpose = os.path.abspath(f"{build}/src/interpose")
    # The wheel says which runtime it was built for, and which of libstdc++'s two strings it has.
    runtime = re.search(r"libcudart\.so[\w.]*", shown(f"{torch}/lib/libc10_cuda.so", "readelf", "-d"))
    has_new_abi = re.search(
        "torchCheckFail.*cxx11", shown(f"{torch}/lib/libc10.so", "nm", "-D")
    )
    major, minor = version.split(".")[:2]
    command = [os.environ.get("CXX", "g++"), "-std=c++20", "-O2", "-w", SOURCES[0], "-o", driver + ".new"]
    command += [f"-DTORCH={100 * int(major) + int(minor)}"]
    command += [f"-D_GLIBCXX_USE_CXX11_ABI={1 if has_new_abi else 0}"]
    command += [f"-I{TREE}/include", f"-I{TREE}/src", "-isystem", f"{torch}/include"]
    command += [f"-I{folder}" for folder in wheels.cuda_include()]
    command += [f"-L{torch}/lib", "-lc10_cuda", "-lc10", f"-L{interpose}", f"-l:{runtime.group()}"]
    command += ["-Wl,--no-as-needed", "-l:libcuda.so.1", "-l:libnvidia-ml.so.1"]
    # Old-fashioned run paths, which hold for the libraries of the libraries too.
    command += [f"-Wl,-rpath,{interpose}:{torch}/lib", "-Wl,--disable-new-dtags"]
    command += ["-Wl,--allow-shlib-undefined"]
    wheels.say(f"building the driver of {version}")
    subprocess.run(command, check=True)
    os.rename(driver + ".new", driver)
    return driver


class Outcome:
    """What one side made of a script: its decisions, or why there are none, and the first line of its
    first out-of-memory message, if there was one."""

    def __init__(self, text, end=None, message=None):
        self.text, self.end, self.message = text, end, message

    def __eq__(self, other):
        return self.whole() == other.whole()

    def is_refusal(self):
        return self.end is not None and self.end.startswith(REFUSED)

    def whole(self):
        notes = [note for note in (self.end, self.message) if note]
        return self.text + "".join(f"# {note}\n" for note in notes)

    def digest(self):
        return hashlib.sha256(self.text.encode()).hexdigest()[:8]


REFUSED = "settings refused"
NOT_REPLAYED = "not replayed by this build"


def refusal(message):
    """How an outcome ends whose settings are refused; of an assertion only that it failed, and of
    long words only their beginning, which is what fraglab quotes."""
    lines = [line for line in message.split("\n") if not line.startswith("[W")]  # warnings
    first = re.sub(r"(\S{50})\S+", r"\1", lines[0].strip())
    return f"{REFUSED}: " + ("internal assertion" if "assert" in first.lower() else first)



def run(command, script, **how):
    try:
        return subprocess.run(
            command,
            input=script,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=TIME_LIMIT_S,
            **how,
        )
    except subprocess.TimeoutExpired:
        return None


def head(script):
    """Capacity and settings text of a script."""
    return re.match(r"# cap=(\d+)(?: conf=(.*))?", script).groups(default="")


class Released:
    """A released allocator."""

    def __init__(self, version, build):
        self.version, self.driver = version, build_driver(version, build)

    def decide(self, script):
        capacity, conf = head(script)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTORCH_")}
        environment["PYTORCH_CUDA_ALLOC_CONF"] = conf
        done = run([self.driver, capacity], script, env=environment)
        if done is None:
            return Outcome("", "hangs")
        # From 2.10 on the settings are read while the library loads, where nobody can catch.
        thrown = re.search(r"what\(\):\s*(.*)", done.stderr) if done.stdout == "" else None
        if done.returncode == 3 or thrown:
            return Outcome("", refusal(thrown[1] if thrown else done.stderr))
        if done.returncode != 0:
            return Outcome(done.stdout, f"ended with {done.returncode}")
        first = re.search(r"^O \d+ (.*)$", done.stdout, flags=re.MULTILINE)
        message = first[1] if first and first[1].startswith("CUDA out of memory") else None
        text = re.sub(r"^(O \d+) .*$", r"\1", done.stdout, flags=re.MULTILINE)
        return Outcome(text, message=message)


class Replayed:
    """fraglab, as that release."""

    def __init__(self, version, build):
        self.version, self.program = version, f"{build}/src/cli/fraglab"

    def decide(self, script):
        command = [self.program, "replay", "--torch", self.version, "--decisions", "-"]
        done = run(command, script)
        if done is None:
            return Outcome("", "hangs")
        if done.returncode == 3 and f": PyTorch {self.version}: " in done.stderr:
            return Outcome("", refusal(done.stderr.split(f": PyTorch {self.version}: ", 1)[1]))
        if done.returncode == 4:
            return Outcome("", NOT_REPLAYED)
        if done.returncode != 0:
            return Outcome(done.stdout, f"exit {done.returncode}: {done.stderr.strip()}")
        return Outcome(done.stdout)

    def message(self, script):
        """The first line of its first out-of-memory message, up to the NUL byte that 2.3 prints."""
        command = [self.program, "replay", "--torch", self.version, "--format", "json"]
        done = run(command + ["--process", "self", "-"], script)
        oom = json.loads(done.stdout)["oom"] if done and done.returncode == 0 else None
        return re.match(r"[^\n\0]*", oom["message"])[0] if oom else None
