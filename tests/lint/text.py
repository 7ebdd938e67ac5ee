"""Text files are UTF-8, end with one line break, and have no tabs, no blanks at line ends."""

import tree

FREE_TABS = (".tsv",)
FREE_FOLDERS = ("tests/data/", "tests/fuzz/corpus/", "docs/figures/")
TEXTS = tree.files(
    "*.md", "lab", "meson*", ".clang-*", "docs/**/*", "src/**/*.*", "include/**/*.h",
    "tests/**/*.[chp]*", "tests/**/*.build", "tests/**/*.tsv", "traces/*.md", "plots/*",
)


def complaints_of(path):
    text = tree.read(path)
    if text and not text.endswith("\n") or text.endswith("\n\n"):
        yield f"{path}:{text.count(chr(10)) + 1}: does not end with one line break"
    for number, line in enumerate(text.split("\n"), 1):
        if line != line.rstrip("\t " if not path.endswith(FREE_TABS) else " "):
            yield f"{path}:{number}: blanks at the end"
        if "\t" in line and not path.endswith(FREE_TABS):
            yield f"{path}:{number}: a tab"
        if "\r" in line:
            yield f"{path}:{number}: a carriage return"


tree.finish(
    [
        complaint
        for path in TEXTS
        if not path.startswith(FREE_FOLDERS)
        for complaint in complaints_of(path)
    ]
)
