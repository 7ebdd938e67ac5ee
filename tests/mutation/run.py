"""run.py SCRATCH-FOLDER [RULE...]: every wrong change of mutants.tsv is noticed by the test beside it.

The tree is copied and built once; then each change is made, built and taken back.  A change is killed
if the program named beside it fails.  One that survives shows a missing example, even where the
recorded decisions of the released allocators would notice it (that is said).  With RULEs, only the
changes of those sections.
"""

import filecmp
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, "tests/mutation")
import mutants as table  # noqa: E402 (found through the line above)
import tree  # noqa: E402 (likewise)

COPIED = ["meson.build", "meson_options.txt", "include", "src", "plots", "docs", "tests"]
NOT_COPIED = ("tests/data/", "tests/cli/cases/")
RECORDED = "golden/releases"  # what every release decided
MOST_SECONDS = 60
FAILED = re.compile(r"\[  FAILED  \] (?!\d+ test)(\w+)")


class Scratch:
    """A copy of the tree and a build of it; files are written only where they differ."""

    def __init__(self, folder):
        self.tree = os.path.join(folder, "tree")
        self.build = os.path.join(folder, "build")
        self.meson, self.ninja = tree.need("meson"), tree.need("ninja")
        self.update()
        if not os.path.exists(os.path.join(self.build, "build.ninja")):
            self.call(self.meson, "setup", self.build, self.tree, "--buildtype=plain", "-Dtests=enabled")
        tests = json.loads(self.call(self.meson, "introspect", self.build, "--tests"))
        self.programs = {test["name"]: test["cmd"][0] for test in tests}

    def update(self):
        wanted = set()
        for name in COPIED:
            for path in tree.files(name, name + "/**/*"):
                if path.startswith(NOT_COPIED):
                    continue
                copy = os.path.join(self.tree, path)
                wanted.add(copy)
                if not os.path.exists(copy) or not filecmp.cmp(path, copy, shallow=False):
                    os.makedirs(os.path.dirname(copy), exist_ok=True)
                    shutil.copyfile(path, copy)
        for path in tree.files(self.tree + "/**/*"):
            if path not in wanted:
                os.remove(path)

    def call(self, *command):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
        return done.stdout

    def compiles(self, test):
        target = os.path.relpath(self.programs[test], self.build)
        done = subprocess.run([self.ninja, "-C", self.build, "-j1", target], capture_output=True, text=True)
        self.output = done.stdout + done.stderr
        return done.returncode == 0

    def failure(self, test):
        """How a program fails; None if it passes."""
        try:
            done = subprocess.run(
                [self.programs[test]], capture_output=True, text=True, errors="replace", timeout=MOST_SECONDS
            )
        except subprocess.TimeoutExpired:
            return "does not end"
        if done.returncode == 0:
            return None
        failed = FAILED.search(done.stdout + done.stderr)
        if done.returncode < 0 or failed is None:
            return f"ends with {done.returncode}"
        return failed.group(1)

    def write(self, path, text):
        with open(os.path.join(self.tree, path), "w", encoding="utf-8") as file:
            file.write(text)


def check_unchanged(scratch, tests):
    for test in sorted(tests):
        if not scratch.compiles(test):
            sys.exit(f"{test} does not compile\n{scratch.output}")
        how = scratch.failure(test)
        if how is not None:
            sys.exit(f"{test} fails without any change: {how}")


def verdict(scratch, mutant):
    """Whether it was killed, and the words for it."""
    if not scratch.compiles(mutant.test):
        return False, f"does not compile\n{scratch.output}"
    how = scratch.failure(mutant.test)
    if how is not None:
        return True, f"{mutant.test}: {how}"
    if scratch.compiles(RECORDED) and scratch.failure(RECORDED) is not None:
        return False, f"{mutant.test} passes; only {RECORDED} fails"
    return False, f"{mutant.test} passes, and {RECORDED} too"


def kill(scratch, mutant):
    text = tree.read(mutant.file)
    changed, count = table.pattern(mutant).subn(lambda _: mutant.replacement, text)
    if count != 1:
        return False, f"'{mutant.original}' occurs {count} times in {mutant.file}"
    try:
        scratch.write(mutant.file, changed)
        return verdict(scratch, mutant)
    finally:
        scratch.write(mutant.file, text)


def main(folder, rules):
    mutants = [mutant for mutant in table.load() if not rules or mutant.rule in rules]
    scratch = Scratch(os.path.abspath(folder))
    check_unchanged(scratch, {mutant.test for mutant in mutants} | {RECORDED})
    killed = 0
    for mutant in mutants:
        is_killed, words = kill(scratch, mutant)
        killed += is_killed
        mark = "killed  " if is_killed else "SURVIVES"
        print(f"{mark} {mutant.rule:<6} {mutant.name} ({words})", flush=True)
    print(f"{len(mutants)} mutants, {killed} killed")
    sys.exit(1 if killed < len(mutants) else 0)


main(sys.argv[1], sys.argv[2:])
