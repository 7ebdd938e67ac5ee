"""Every src/<layer>/<name>.c has tests/<layer>/test_<name>.c, which its meson.build lists."""

import os
import re

import tree

EXCEPTIONS = tree.exceptions("tests/lint/mirror_exceptions.tsv", "path")


def complaints():
    for path in tree.files("src/**/*.c"):
        folder, name = os.path.split(path[len("src/") : -len(".c")])
        program = f"tests/{folder}/test_{name}.c"
        if not os.path.exists(program) and path not in EXCEPTIONS:
            yield f"{path}:1: no {program}, and no reason in tests/lint/mirror_exceptions.tsv"
        if os.path.exists(program) and path in EXCEPTIONS:
            yield f"{path}:1: has {program}; take it out of tests/lint/mirror_exceptions.tsv"
    for path in EXCEPTIONS:
        if not os.path.exists(path):
            yield f"tests/lint/mirror_exceptions.tsv:1: no file {path}"
    for path in tree.files("tests/**/test_*.c"):
        folder, name = os.path.split(path[: -len(".c")])
        build = f"{folder}/meson.build"
        listed = tree.read(build) if os.path.exists(build) else ""
        if f"subdir('{folder[len('tests/') :]}')" not in tree.read("tests/meson.build"):
            yield f"{path}:1: tests/meson.build has no subdir for it, so it never runs"
        if not re.search(rf"'({name}|{name[len('test_'):]})(\.c)?'", listed):
            yield f"{path}:1: {build} does not list it, so it never runs"


tree.finish(list(complaints()))
