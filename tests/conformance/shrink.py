"""The shortest script that still shows a difference: delta debugging (Zeller and Hildebrandt, 2002)
over whole lives of blocks and pools, then over the card, the settings and the sizes."""

import re

MIB = 1 << 20
SIZES = [512, MIB, 2 * MIB, 10 * MIB, 20 * MIB, 64 * MIB]


def units_of(lines):
    """Numbers of lines that only make sense together: all of a block, all of a pool, or one."""
    units = {}
    for number, line in enumerate(lines):
        words = line.split()
        kind = "block" if words[0] in "afr" else "pool" if words[0] in "bqx" else "line"
        units.setdefault((kind, number if kind == "line" else words[1]), []).append(number)
    return list(units.values())


def minimise(items, fails):
    """ddmin, complements only: drops as many items as it can while `fails` of the rest holds."""
    parts = 2
    while len(items) >= 2:
        size = -(-len(items) // parts)
        for start in range(0, len(items), size):
            rest = items[:start] + items[start + size :]
            if fails(rest):
                items, parts = rest, max(parts - 1, 2)
                break
        else:
            if size == 1:
                break
            parts = min(2 * parts, len(items))
    return items


def drop_units(script, fails):
    first, *lines = script.splitlines()

    def joined(units):
        kept = sorted(number for unit in units for number in unit)
        return "\n".join([first] + [lines[number] for number in kept]) + "\n"

    return joined(minimise(units_of(lines), lambda units: fails(joined(units))))


def try_each(script, fails, candidates):
    """Takes each rewriting of the script that still fails, one after the other."""
    for candidate in candidates:
        rewritten = candidate(script)
        if rewritten != script and fails(rewritten):
            script = rewritten
    return script


def drop_settings(script, fails):
    capacity, conf = re.match(r"# cap=(\d+) conf=(.*)", script).groups()
    pairs = re.findall(r"[^,\[]+(?:\[[^\]]*\])?", conf)
    for pair in list(pairs):
        rest = [other for other in pairs if other != pair]
        rewritten = script.replace(f"conf={conf}\n", f"conf={','.join(rest)}\n", 1)
        if fails(rewritten):
            script, conf, pairs = rewritten, ",".join(rest), rest
    return script


def round_sizes(script, fails):
    """Sizes that a reader recognises: the next of SIZES, or whole MiB, or whole 512 bytes."""
    for number, line in enumerate(script.splitlines()):
        words = line.split()
        if words[0] != "a":
            continue
        size = int(words[2])
        for better in [known for known in SIZES if known <= size] + [
            size // MIB * MIB,
            size // 512 * 512,
        ]:
            lines = script.splitlines()
            lines[number] = " ".join(words[:2] + [str(better)] + words[3:])
            rewritten = "\n".join(lines) + "\n"
            if 0 < better < size and fails(rewritten):
                script = rewritten
                break
    return script


def renumber(script, fails):
    """Ids of blocks from 1 on."""
    numbers = {}

    def renamed(match):
        return match[1] + str(numbers.setdefault(match[2], len(numbers) + 1))

    rewritten = re.sub(r"(?m)^([afr] )(\d+)", renamed, script)
    return rewritten if fails(rewritten) else script


def shrink(script, fails):
    """`fails` takes a script and says whether it still shows what is looked for."""
    while True:
        before = script
        script = drop_units(script, fails)
        script = drop_settings(script, fails)
        script = try_each(script, fails, [lambda text: re.sub(r"(?m)^(a .*) \d+$", r"\1 0", text)])
        script = round_sizes(script, fails)
        if script == before:
            return renumber(script, fails)
