"""Random scripts through the released allocators and through fraglab, compared line for line.

Releases take turns, and so do the families of scripts.  A difference is shrunk and kept under
BUILD/conformance/VERSION/; BUILD is a build folder with the program and the target `interpose`.
With --record nothing is compared: what the releases decide about the scripts is written into
tests/data/regressions.  Exit: 0 no difference, 1 differences.  docs/conformance.md has the rest.
"""

import argparse
import csv
import os
import shlex
import sys
import time

import families
import shrink
import subjects
from wheels import say

DATA = subjects.TREE + "/tests/data/conformance"
REGRESSIONS = subjects.TREE + "/tests/data/regressions"
SHOW_EVERY_S = 10
KEPT_MOST = 3  # differences of one family and release that are shrunk; others are counted
RERUNS = 8  # of a released allocator that disagrees, before it counts as determined


class Count:
    """What was run of one release."""

    def __init__(self):
        self.scripts = self.operations = self.messages = self.refused = self.different = 0
        self.undetermined = {}  # reason: scripts

    def add_undetermined(self, reason):
        self.undetermined[reason] = self.undetermined.get(reason, 0) + 1

    def line(self, version):
        text = f"{version:7} {self.scripts:6} scripts {self.operations:9} operations"
        text += f" {self.messages:5} messages {self.different:3} different"
        text += f" {self.refused:5} settings refused by both" if self.refused else ""
        for reason, scripts in sorted(self.undetermined.items()):
            text += f", {scripts} {reason}"
        return text


class Release:
    """The two sides of one release, and what came of comparing them."""

    def __init__(self, version, build):
        self.version, self.folder = version, f"{build}/conformance/{version}"
        self.question = f"{shlex.join([sys.executable, __file__, build, version])} --differs \"$1\""
        self.released = subjects.Released(version, build)
        self.replayed = subjects.Replayed(version, build)
        self.count = Count()
        self.kept = {}  # family: differences shrunk

    def ask(self, script):
        """(expected, got); fraglab is asked for a message only where the decisions agree."""
        expected, got = self.released.decide(script), self.replayed.decide(script)
        if expected.message:
            agree = expected.text == got.text
            got.message = self.replayed.message(script) if agree else expected.message
        return expected, got

    def judge(self, script):
        """(expected, got), the same where both sides agree; or why nothing is expected."""
        expected, got = self.ask(script)
        if expected == got:
            return expected, got
        if got.end == subjects.NOT_REPLAYED:
            return got.end
        if expected.end and not expected.is_refusal():
            return "ended the released program"
        if any(self.released.decide(script) != expected for _ in range(RERUNS)):
            return "decided differently in another run"
        return expected, got

    def differs(self, script):
        """Cheaper than `judge`: what shrinking asks of each of many scripts, through `question`."""
        expected, got = self.ask(script)
        return (
            expected != got
            and (expected.end is None or expected.is_refusal())
            and got.end != subjects.NOT_REPLAYED
        )

    def compare(self, family, seed):
        """Compares one script; a difference is shrunk, kept and shown."""
        script = families.make(self.version, family, seed)
        verdict = self.judge(script)
        self.count.scripts += 1
        self.count.operations += script.count("\n") - 1
        if isinstance(verdict, str):
            self.count.add_undetermined(verdict)
            return
        expected, got = verdict
        self.count.messages += expected.message is not None
        if expected != got:
            self.count.different += 1
            self.kept[family] = self.kept.get(family, 0) + 1
            if self.kept[family] <= KEPT_MOST:
                self.keep(script, f"{family}-{seed}")
        elif expected.is_refusal():
            self.count.refused += 1

    def keep(self, script, name):
        say(f"{self.version} {name}: a difference; shrinking")
        small = shrink.shrink(self.replayed.program, self.version, script, self.question)
        expected, got = self.ask(small)
        path = f"{self.folder}/{name}"
        for ending, text in (
            (".whole.txt", script),
            (".txt", small),
            (".expected", expected.whole()),
            (".got", got.whole()),
        ):
            write(path + ending, text)
        say(f"{self.version} {name}: {small.count(chr(10)) - 1} operations are left in {path}.txt")
        print(small, first_difference(expected, got), sep="", flush=True)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def first_difference(expected, got):
    ours, theirs = got.whole().splitlines(), expected.whole().splitlines()
    for number, (own, other) in enumerate(zip(ours + [""], theirs + [""]), 1):
        if own != other:
            return f"  line {number}: released '{other}', fraglab '{own}'"
    return "  one is longer"


def check_recorded(release):
    """Does this machine's build of the released side decide what was recorded?"""
    with open(DATA + "/releases.tsv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    wrong = checked = 0
    for row in rows:
        if row["release"] != release.version:
            continue
        with open(f"{DATA}/scripts/{row['script']}.txt", encoding="utf-8") as file:
            outcome = release.released.decide(file.read())
        wanted = row["decisions"]
        checked += 1
        if wanted == "-" and outcome.is_refusal():
            continue
        if outcome.end is None and outcome.digest() == wanted:
            continue
        wrong += 1
        say(f"{release.version} {row['script']}: recorded {wanted}, now {outcome.digest()}")
    say(f"{release.version}: {checked - wrong} of {checked} recorded outcomes come out again")
    return wrong


def record(releases, path):
    """Writes a script and what each release decides about it into the regressions."""
    name = os.path.splitext(os.path.basename(path))[0]
    with open(path, encoding="utf-8") as file:
        script = file.read()
    os.makedirs(REGRESSIONS + "/scripts", exist_ok=True)
    os.makedirs(REGRESSIONS + "/decisions", exist_ok=True)
    write(f"{REGRESSIONS}/scripts/{name}.txt", script)
    rows = {}
    for release in releases:
        outcome = release.released.decide(script)
        if any(release.released.decide(script) != outcome for _ in range(RERUNS)):
            sys.exit(f"conformance: {release.version} decides differently in another run")
        rows[release.version] = "-" if outcome.is_refusal() else outcome.digest()
        if outcome.end is None:
            write(f"{REGRESSIONS}/decisions/{name}.{outcome.digest()}.txt", outcome.text)
        elif not outcome.is_refusal():
            sys.exit(f"conformance: {release.version} {outcome.end}")
    table = REGRESSIONS + "/releases.tsv"
    lines = ["script\trelease\tdecisions\n"]
    if os.path.exists(table):
        with open(table, encoding="utf-8") as file:
            lines = [line for line in file if not line.startswith(name + "\t")]
    lines += [f"{name}\t{version}\t{decisions}\n" for version, decisions in rows.items()]
    write(table, "".join(lines))


def run(releases, minutes, seed):
    """Releases take turns script by script until the time is over."""
    end = time.monotonic() + 60 * minutes
    shown = time.monotonic()
    while time.monotonic() < end:
        for release in releases:
            numbers = tuple(int(part) for part in release.version.split("."))
            for family in families.families_of(numbers):
                release.compare(family, seed)
                if time.monotonic() >= end:
                    return
            if time.monotonic() - shown > SHOW_EVERY_S:
                shown = time.monotonic()
                total = sum(other.count.scripts for other in releases)
                different = sum(other.count.different for other in releases)
                say(f"seed {seed}: {total} scripts, {different} different, {end - shown:.0f} s left")
        seed += 1


def main():
    parser = argparse.ArgumentParser(prog="lab conformance", description=__doc__)
    parser.add_argument("build", help=argparse.SUPPRESS)
    parser.add_argument("versions", nargs="*", metavar="VERSION", help="default: all releases")
    parser.add_argument("--minutes", type=float, default=10, help="for all releases together (10)")
    parser.add_argument("--seed", type=int, default=1, help="of the first round of scripts (1)")
    parser.add_argument("--record", action="append", default=[], metavar="SCRIPT")
    parser.add_argument("--differs", metavar="SCRIPT", help="exit 0 if VERSION decides otherwise than fraglab")
    options = parser.parse_intermixed_args()
    known = subjects.releases()
    for version in options.versions:
        if version not in known:
            parser.error(f"'{version}' is not one of {' '.join(known)}")
    if options.differs:
        with open(options.differs, encoding="utf-8") as file:
            script = file.read()
        sys.exit(0 if any(Release(version, options.build).differs(script) for version in options.versions) else 1)
    releases = [Release(version, options.build) for version in options.versions or known]
    for path in options.record:
        record(releases, path)
    if options.record:
        return
    wrong = sum(check_recorded(release) for release in releases)
    if wrong:
        sys.exit("conformance: the released side is not as recorded; nothing was compared")
    try:
        run(releases, options.minutes, options.seed)
    except KeyboardInterrupt:
        say("stopped; this far:")
    for release in releases:
        print(release.count.line(release.version))
    different = sum(release.count.different for release in releases)
    print(f"{sum(r.count.scripts for r in releases)} scripts, {different} different")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
