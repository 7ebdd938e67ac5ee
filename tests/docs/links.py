"""Links and paths in the documents lead somewhere, and sections that the code cites exist."""

import os
import re
import sys

sys.path.insert(0, "tests/lint")
import tree  # noqa: E402 (found through the line above)

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
PATH = re.compile(r"`((?:src|include|tests|docs|traces|bench)/[\w./*-]*)`")
HEADING = re.compile(r"^#{2,3} (\d+(?:\.\d+)?)\.? ", re.MULTILINE)
CITED = re.compile(r"[Ss]ection (\d+(?:\.\d+)?)|\((\d+\.\d+)(?:, (\d+\.\d+))*\)")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def broken_links(path):
    text = tree.read(path)
    for match in LINK.finditer(text):
        target = match.group(1)
        if "://" not in target and not os.path.exists(os.path.join(os.path.dirname(path), target)):
            yield f"{path}:{line_of(text, match.start())}: no file {target}"
    for match in PATH.finditer(text):
        target = match.group(1)
        is_pattern = "*" in target or "NAME" in target
        is_test_name = "." not in target and not target.endswith("/")
        if not is_pattern and not is_test_name and not os.path.exists(target):
            yield f"{path}:{line_of(text, match.start())}: no file {target}"


def unknown_sections(path, known):
    text = tree.read(path)
    for comment in COMMENT.finditer(text):
        for match in CITED.finditer(comment.group()):
            for section in filter(None, match.groups()):
                if section not in known:
                    line = line_of(text, comment.start() + match.start())
                    yield f"{path}:{line}: docs/allocator-rules.md has no section {section}"


known = set(HEADING.findall(tree.read("docs/allocator-rules.md")))
documents = tree.files("*.md", "docs/**/*.md", "tests/**/*.md", "traces/*.md")
tree.finish(
    [complaint for path in documents for complaint in broken_links(path)]
    + [complaint for path in tree.sources() for complaint in unknown_sections(path, known)]
)
