"""Includes point one way: each file uses only the layers that layers.tsv names for its folder."""

import os
import re

import tree

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
GENERATED = ("registry.h", "available.h", "cli/commands.h", "render/scripts.h")

LAYERS = {row["layer"]: set((row["may_use"] or "").split()) for row in tree.table("tests/lint/layers.tsv")}
OWNER = {
    header: row["layer"]
    for row in tree.table("tests/lint/layers.tsv")
    for header in (row["public_headers"] or "").split()
}


def layer_of(path):
    """The layer of a file, or None for one that belongs to none."""
    parts = path.split("/")
    if parts[0] == "include":
        return OWNER.get(os.path.splitext(parts[2])[0])
    return parts[1] if parts[1] in LAYERS else None


def target_of(quote, name):
    """(layer that an include reaches, whether it is a public header), or a complaint."""
    if name.startswith("fraglab/"):
        owner = OWNER.get(name[len("fraglab/") : -len(".h")])
        return (owner, True) if owner else f"public header <{name}> is in no layer of layers.tsv"
    if quote == "<" or name in GENERATED:
        return None, False
    if not os.path.exists("src/" + name):
        return f'"{name}" is not a path from src/'
    return name.split("/")[0], False


def complaints_of(path):
    layer = layer_of(path)
    if layer is None:
        yield f"{path}:1: belongs to no layer of layers.tsv"
        return
    text = tree.bare(tree.read(path), keep_strings=True)
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start(1)) + 1
        target = target_of(*match.groups())
        if isinstance(target, str):
            yield f"{path}:{line}: {target}"
            continue
        reached, is_public = target
        allowed = LAYERS[layer] | {layer} | ({"base"} if is_public else set())
        if reached is None or reached in allowed or (is_public and "public" in allowed):
            continue
        yield f"{path}:{line}: {layer} may not use {reached} ({match.group(2)})"


tree.finish([complaint for path in tree.sources() for complaint in complaints_of(path)])
