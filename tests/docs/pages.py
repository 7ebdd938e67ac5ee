"""Every plugin that a meson.build registers has its page, and every page its plugin."""

import os
import re
import sys

sys.path.insert(0, "tests/lint")
import tree  # noqa: E402 (found through the line above)

HEADING = re.compile(r"^(?:##|\.SS) (\w+)", re.MULTILINE)
NAMES = re.compile(r"^\w+_names\s*\+?=\s*\[(.*?)\]", re.MULTILINE | re.DOTALL)
PAGES = {row["folder"]: row["pages"] for row in tree.table("tests/docs/pages.tsv")}


def registered(build):
    return [name for words in NAMES.findall(tree.read(build)) for name in re.findall(r"'(\w+)'", words)]


def complaints():
    for build in tree.files("src/*/meson.build"):
        folder = build.split("/")[1]
        names = registered(build)
        if not names:
            continue
        if folder not in PAGES:
            yield f"{build}:1: no place for pages of {folder} in tests/docs/pages.tsv"
        elif os.path.isfile(PAGES[folder]):
            headings = HEADING.findall(tree.read(PAGES[folder]))
            for name in names:
                if name not in headings:
                    yield f"{PAGES[folder]}:1: no heading for {name}"
        else:
            for name in names:
                if not os.path.exists(f"{PAGES[folder]}/{name}.md"):
                    yield f"{build}:1: {name} has no page {PAGES[folder]}/{name}.md"
            for page in tree.files(PAGES[folder] + "/*.md"):
                if os.path.basename(page)[: -len(".md")] not in names:
                    yield f"{page}:1: {build} registers nothing of this name"


tree.finish(list(complaints()))
