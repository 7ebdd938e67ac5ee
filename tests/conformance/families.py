"""Random scripts for one release: a card, settings, and what a program asks.

A family says what is asked; card, fraction and settings are drawn for each script from what the
release accepts.  Everything follows from (release, family, seed), so a script can be made again.

What the released allocators leave undetermined is not generated.  docs/conformance.md lists it; the
places below that keep clear of it say "undetermined".
"""

import random

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
STREAMS = (0, 64, 128, 4096, 192, 256, 320, 8192, 640, 704, 1 << 40, 16, 32)


class Writer:
    """Lines of a script, and what is live in it."""

    def __init__(self, rng, sizes, streams):
        self.rng, self.sizes, self.streams = rng, sizes, streams
        self.lines, self.live, self.last_id = [], [], 0

    def say(self, *words):
        self.lines.append(" ".join(map(str, words)))

    def alloc(self, size=None, stream=None):
        self.last_id += 1
        self.say(
            "a",
            self.last_id,
            self.sizes(self.rng) if size is None else size,
            self.rng.choice(self.streams) if stream is None else stream,
        )
        self.live.append(self.last_id)
        return self.last_id

    def free(self, block):
        self.live.remove(block)
        self.say("f", block)

    def free_any(self, order="random"):
        if order == "stack" and self.rng.random() < 0.7:
            block = self.live[-1]
        elif order == "queue" and self.rng.random() < 0.7:
            block = self.live[0]
        else:
            block = self.rng.choice(self.live)
        self.free(block)

    def use(self, block):
        self.say("r", block, self.rng.choice(self.streams))

    def use_and_free(self, block):
        for _ in range(self.rng.randint(1, 2)):
            self.use(block)
        self.free(block)


# What sizes are asked.


def small(rng):
    return rng.choice([rng.randint(1, 2 * KIB), rng.randint(1, MIB), 512 * rng.randint(1, 2048)])


def middle(rng):
    return rng.choice(
        [
            rng.randint(MIB, 10 * MIB),
            rng.randint(MIB + 1, 3 * MIB),
            10 * MIB + rng.randint(-KIB, KIB),
        ]
    )


def large(rng):
    return rng.choice(
        [
            rng.randint(10 * MIB, 200 * MIB),
            2 * MIB * rng.randint(5, 200),
            rng.randint(20, 400) * MIB + rng.choice([0, 1, 512, -512, MIB]),
        ]
    )


def every(rng):
    return rng.choices([small, middle, large], [5, 4, 2])[0](rng)


def edge(rng):
    """Around the sizes at which a rule changes its mind, and now and then nothing or far too much."""
    base = rng.choice([512, MIB, 2 * MIB, 10 * MIB, 20 * MIB, 21 * MIB, 32 * MIB, 64 * MIB, 128 * MIB])
    base *= rng.choice([1, 1, 1, 2, 3])
    step = rng.choice([0, 1, 511, 512, 513, MIB, MIB + 512, 2 * MIB, 20 * MIB])
    if rng.random() < 0.02:
        return rng.choice([0, 1 << 40, 1 << 59])
    return max(0, base + rng.choice([-step, step]))


def few(rng):
    """A handful of sizes again and again: many blocks of one size, so ties decide."""
    choices = [every(rng) for _ in range(rng.randint(2, 8))]
    return lambda inner: inner.choice(choices)


def drawn_sizes(rng):
    kind = rng.choice([small, middle, large, every, every, every, edge, edge, few])
    return few(rng) if kind is few else kind


def drawn_streams(rng):
    count = rng.choice([1, 1, 2, 3, 4, 13])
    return (0,) if count == 1 else tuple(rng.sample(STREAMS, count))


# What is asked.


def churn(writer, count, target=None, empties=None, events=False, limits=False, scope=False):
    """Allocations and frees around a wavering number of live blocks.

    In a scope a block is freed as soon as it is used: what is used in a scope and freed after it is
    undetermined from 2.4 on."""
    rng = writer.rng
    target = target or rng.choice([20, 60, 120, 200])
    empties = rng.choice([0, 0.002, 0.02]) if empties is None else empties
    order = rng.choice(["random", "random", "stack", "queue"])
    for _ in range(count):
        chance = rng.random()
        if chance < empties:
            writer.say("e")
        elif events and chance < empties + 0.05:
            writer.say(rng.choice(["c", "p", "p"]))
        elif events and writer.live and chance < empties + 0.12:
            block = rng.choice(writer.live)
            writer.use_and_free(block) if scope else writer.use(block)
        elif limits and chance < empties + 0.13:
            writer.say("F", rng.choice([0, 0.1, 0.25, 0.333, 0.5, 0.75, 0.9, 1]))
        elif limits and chance < empties + 0.14:
            writer.say("z", rng.choice(["peak", "accumulated"]))
        elif not writer.live or rng.random() < 0.73 - 0.45 * len(writer.live) / target:
            writer.alloc()
        else:
            writer.free_any(order)


def plain(writer, count, release):
    churn(writer, count)


def uses(writer, count, release):
    churn(writer, count, events=True)


def limits(writer, count, release):
    churn(writer, count, events=writer.rng.random() < 0.3, limits=True)


def crowd(writer, count, release):
    """Thousands of live blocks of few sizes: long lists, many ties."""
    churn(writer, 4 * count, target=2 * count, empties=0.0005)


def exact(writer, count, release):
    """Requests for an address, near where the device begins to hand out memory.  Small cards, few
    sizes: so they are often met."""
    rng = writer.rng
    first = rng.choice([0x7F0000000000, 0x700000000000])
    for _ in range(count // 4):
        churn(writer, 3, target=30)
        address = first + 512 * rng.randrange(rng.choice([1 << 12, 1 << 16]))
        address += rng.choice([0] * 19 + [256])
        writer.last_id += 1
        writer.live.append(writer.last_id)
        size = writer.sizes(rng) or 1
        writer.say("a", writer.last_id, size, 0, f"at=0x{address:x}")


def waves(writer, count, release):
    """Grow, let go of most, and again: what an evaluation between two epochs does."""
    rng = writer.rng
    while count > 0:
        size = min(count, rng.randint(10, 200))
        for _ in range(size):
            writer.alloc()
        keep = rng.choice([0, 0.05, 0.3])
        for block in rng.sample(writer.live, int(len(writer.live) * (1 - keep))):
            writer.free(block)
        if rng.random() < 0.2:
            writer.say("e")
        count -= 2 * size


def train(writer, count, release):
    """Steps of a transformer: weights, activations forward, gradients backward, optimizer state."""
    rng = writer.rng
    layers, width = rng.choice([4, 12, 24]), rng.choice([512, 1024, 2048])
    varies = rng.random() < 0.7
    stream = writer.streams[0]
    kept = [writer.alloc(6 * width * width, stream) for _ in range(4 * layers)]
    state = []
    for step in range(max(2, count // (12 * layers))):
        tokens = rng.randint(256, 1024) if varies else 512
        activations = []
        for _ in range(layers):
            inner = [writer.alloc(tokens * width * 2 * part, stream) for part in (1, 3, 1)]
            scores = writer.alloc(32 * tokens * tokens, stream)
            activations += [inner[0], inner[1], writer.alloc(tokens * width * 8, stream)]
            writer.free(scores)
            writer.free(inner[2])
        logits = writer.alloc(tokens * 64000, stream)
        gradients = []
        for _ in range(layers):
            inner = writer.alloc(tokens * width * 8, stream)
            gradients.append(writer.alloc(24 * width * width, stream))
            writer.free(inner)
            for _ in range(3):
                writer.free(activations.pop())
        writer.free(logits)
        if step == 0:
            state = [writer.alloc(96 * width * width, stream) for _ in range(layers)]
        for gradient in gradients:
            writer.free(gradient)
        if step % 7 == 3:
            kept.append(writer.alloc(rng.randint(1, 4000), stream))
    if rng.random() < 0.5:
        for block in state + kept:
            writer.free(block)


# Private pools.  A pool is opened, closed and released as often; the released allocator ends its
# program on anything else.


def pool_name(rng, number):
    """`N` is {0, N}, as graphs name theirs; `N.0` is a pool that the program made."""
    return rng.choice([number, number, f"{number}.0"])


def scope_options(writer, release, captures=0.0):
    """What else may be said where a scope begins."""
    rng, options = writer.rng, []
    if release < (2, 3) or rng.random() < 0.2:
        options.append(f"stream={rng.choice(writer.streams)}")
    elif rng.random() < captures:
        options.append("capture=1")
    if release >= (2, 8) and rng.random() < 0.15:
        options.append("use_on_oom=1")
    if release >= (2, 10) and rng.random() < 0.15:
        options.append("nosplit=1")
    return options


def pooled(writer, pool, count, options=(), **how):
    """A scope with its own blocks; returns those that are still live at its end."""
    outside = set(writer.live)
    writer.say("b", pool, *options)
    churn(writer, count, target=25, scope=True, **how)
    writer.say("q", pool)
    return [block for block in writer.live if block not in outside]


def release_pool(writer, pool, release, times=1):
    for _ in range(times):
        writer.say("x", pool)
    empty(writer, pool, release)


def empty(writer, pool, release):
    """Empty cache, of everything or of one pool, or not."""
    chance = writer.rng.random()
    if chance < 0.3:
        writer.say("e")
    elif chance < 0.5 and release >= (2, 8):
        writer.say("e", pool)


def pools(writer, count, release):
    """Scopes between ordinary work; a pool may be opened again before it is released."""
    rng = writer.rng
    opened = {}
    for part in range(8):
        churn(writer, count // 16, target=40)
        again = opened and rng.random() < 0.4
        pool = rng.choice(list(opened)) if again else pool_name(rng, part + 1)
        opened[pool] = opened.get(pool, 0) + 1
        options = scope_options(writer, release, captures=0.5)
        pooled(writer, pool, count // 16, options, empties=rng.choice([0, 0.01]))
        for old in [old for old in opened if rng.random() < 0.3]:
            release_pool(writer, old, release, opened.pop(old))
    for old, times in opened.items():
        release_pool(writer, old, release, times)
    writer.say("e")


def pools_emptied(writer, count, release):
    """Pools in which everything is freed before their release, so that they can be deleted."""
    rng = writer.rng
    for number in range(1, 9):
        pool = pool_name(rng, number)
        options = ["stream=0"] if release < (2, 3) else []
        for block in pooled(writer, pool, count // 16, options, empties=0):
            if block in writer.live:
                writer.free(block)
        churn(writer, count // 16, target=20)
        release_pool(writer, pool, release)
    writer.say("e")


def pools_nested(writer, count, release):
    """Two scopes open at once, closed in either order."""
    rng = writer.rng
    for number in range(1, 9, 2):
        outer, inner = pool_name(rng, number), pool_name(rng, number + 1)
        writer.say("b", outer, *scope_options(writer, release))
        churn(writer, count // 12, target=25, empties=0)
        writer.say("b", inner, *scope_options(writer, release, captures=0.3))
        churn(writer, count // 12, target=25, empties=0.01)
        first, second = rng.sample([outer, inner], 2)
        writer.say("q", first)
        churn(writer, count // 12, target=25, empties=0)
        writer.say("q", second)
        if rng.random() < 0.5:
            release_pool(writer, outer, release)


def pools_oom(writer, count, release):
    """Pools that serve others when memory runs out, and are kept."""
    rng = writer.rng
    for number in range(1, 5):
        options = scope_options(writer, release)
        if release >= (2, 8) and "use_on_oom=1" not in options:
            options.append("use_on_oom=1")
        pooled(writer, pool_name(rng, number), count // 16, options)
        for block in rng.sample(writer.live, len(writer.live) // 2):
            writer.free(block)
        churn(writer, count // 8, target=rng.choice([20, 60, 120]), empties=0)


def pools_inside(writer, count, release):
    """Pools that are released while their scope is open; from 2.8 on they can be deleted there.  Out of
    memory, the request that deletes its own pool is undetermined from 2.13 on."""
    rng, sizes = writer.rng, writer.sizes
    writer.sizes = lambda rng: min(sizes(rng), GIB)
    for number in range(1, 6):
        pool = pool_name(rng, number)
        writer.say("b", pool, *scope_options(writer, release))
        churn(writer, count // 20, target=15, empties=0)
        if rng.random() < 0.5:
            for block in list(writer.live):
                writer.free(block)
        release_pool(writer, pool, release)
        churn(writer, count // 20, target=15, empties=0.01)
        writer.say("q", pool)
        churn(writer, count // 10, target=40)


def changes(writer, count, release):
    """Settings that change while the program runs."""
    rng = writer.rng
    for _ in range(6):
        churn(writer, count // 6, events=rng.random() < 0.3)
        settings = drawn_settings(rng, release, "changes")
        writer.say("C", ",".join(f"{key}:{value}" for key, value in settings))


def pools_uses(writer, count, release):
    """One block with uses on other streams is freed in each scope: deferred to the end of capture.
    Two would be undetermined on 2.9.1 to 2.12.1."""
    rng = writer.rng
    for pool in range(1, max(2, count // 20)):
        blocks = [writer.alloc() for _ in range(6)]
        freed, kept = rng.sample(blocks, 2)
        if rng.random() < 0.5:
            writer.use(freed)
        options = [("stream=0",)] if release < (2, 3) else [(), ("capture=1",)]
        writer.say("b", pool, *rng.choice(options))
        if rng.random() < 0.7:
            writer.use(freed)
        writer.free(freed)
        writer.say("q", pool)
        writer.say(rng.choice("pcp"))
        writer.free(kept)
        writer.alloc()
        if rng.random() < 0.3:
            writer.say("c")
        if rng.random() < 0.1:
            writer.say("e")


def pools_events(writer, count, release):
    """Scopes in which many blocks with uses are freed.  Undetermined from 2.9.1 on if the scope counts
    as a capture, as every one did up to 2.12.1."""
    for pool in range(1, 6):
        churn(writer, count // 10, target=40, events=True)
        options = scope_options(writer, release, captures=0.5 if release < (2, 9) else 0)
        pooled(writer, pool, count // 10, options, events=True)
    for pool in range(1, 6):
        release_pool(writer, pool, release)


def odd(writer, count, release):
    """A few requests that show what odd settings came to mean."""
    churn(writer, 40, target=20)


FAMILIES = {
    "odd": odd,
    "plain": plain,
    "uses": uses,
    "limits": limits,
    "crowd": crowd,
    "changes": changes,
    "exact": exact,
    "waves": waves,
    "train": train,
    "pools": pools,
    "pools-emptied": pools_emptied,
    "pools-nested": pools_nested,
    "pools-oom": pools_oom,
    "pools-inside": pools_inside,
    "pools-uses": pools_uses,
    "pools-events": pools_events,
}


def families_of(release):
    """In 2.0 scopes come with captures only; in 2.1 and 2.2 each is of one stream, which has no other.
    Exact addresses are new in 2.13."""
    names = list(FAMILIES)
    if release < (2, 1):
        names = [name for name in names if not name.startswith("pools")]
    if release < (2, 3):
        names = [name for name in names if name not in ("pools-nested", "pools-events")]
    if (2, 9) <= release < (2, 13):
        names.remove("pools-events")
    if release < (2, 13):
        names.remove("exact")
    return names


# Settings.


def roundup_list(rng, release):
    """Keys are powers of two in MiB, `>` is what follows; any order."""
    keys = rng.sample([1 << power for power in range(16)], rng.randint(1, 4))
    if rng.random() < 0.6:
        keys.insert(rng.randint(0, len(keys)), ">")
    divisions = [1, 2, 4, 8, 16, 32, 64, 128, 256] + ([0] if release >= (2, 4) else [])
    return "[" + ",".join(f"{key}:{rng.choice(divisions)}" for key in keys) + "]"


def drawn_settings(rng, release, family):
    """Pairs of key and value: each with its own chance, from what the release has."""
    pairs = []

    def draw(chance, since, key, value):
        if release >= since and rng.random() < chance:
            pairs.append((key, value()))

    if rng.random() < 0.2:
        return pairs
    draw(0.15, (2, 11), "large_segment_size_mb", lambda: rng.choice([11, 12, 16, 20, 32, 33, 64, 200]))
    draw(0.35, (2, 0), "max_split_size_mb", lambda: rng.choice([20, 21, 22, 32, 64, 100, 128, 200, 512]))
    draw(0.2, (2, 6), "max_non_split_rounding_mb", lambda: rng.choice([20, 21, 32, 64, 100, 300]))
    draw(0.3, (2, 0), "garbage_collection_threshold", lambda: rng.choice([0.05, 0.3, 0.5, 0.6, 0.8, 0.95]))
    draw(0.2, (2, 0), "roundup_power2_divisions", lambda: rng.choice([1, 2, 4, 8, 16, 64]))
    if "roundup_power2_divisions" not in dict(pairs):
        draw(0.2, (2, 0), "roundup_power2_divisions", lambda: roundup_list(rng, release))
    draw(0.4, (2, 1), "expandable_segments", lambda: True)
    draw(0.2, (2, 15), "expandable_segments_reserve", lambda: rng.choice([0.05, 0.3, 1, 2, "0.2G", "3g"]))
    draw(0.1, (2, 10), "per_process_memory_fraction", lambda: rng.choice([0.1, 0.25, 0.3, 0.5, 0.75, 1.0]))
    draw(0.1, (2, 12), "throw_on_cudamalloc_oom", lambda: True)
    draw(0.05, (2, 2), "release_lock_on_cudamalloc", lambda: True)
    if family.startswith("pools") and "expandable_segments" in dict(pairs):
        pairs = [pair for pair in pairs if is_determined_in_pools(pair[0], release, family)]
    if family in ("changes", "exact"):  # split blocks beyond the limit: undetermined
        pairs = [pair for pair in pairs if pair[0] != "max_split_size_mb"]
    rng.shuffle(pairs)
    return pairs


KEYS = (
    ["max_split_size_mb", "garbage_collection_threshold", "roundup_power2_divisions"] * 2
    + ["expandable_segments", "max_non_split_rounding_mb", "large_segment_size_mb"] * 2
    + ["per_process_memory_fraction", "throw_on_cudamalloc_oom", "expandable_segments_reserve"]
    + ["release_lock_on_cudamalloc", "pinned_use_cuda_host_register", "pinned_num_register_threads"]
    + ["pinned_use_background_threads", "graph_capture_record_stream_reuse", "unknown", ""]
)
VALUES = ["True", "False", "true", "1", "0", "2", "3", "8", "19", "20", "21", "64", "200", "-1", "+64"]
VALUES += ["0.0", "0.3", "0.5", ".5", "1.0", "1.5", "1e-1", "nan", "inf", "128.5", "64mb", "0x40", "abc"]
VALUES += ["", " 64 ", "6 4", "99999999999", "99999999999999999999", "4G", "0.2g"]


def odd_settings(rng, release):
    """A settings text as no one should write it; most are refused, the others mean something."""

    def value():
        return roundup_list(rng, release) if rng.random() < 0.2 else rng.choice(VALUES)

    items = [
        rng.choice(KEYS) + rng.choice(8 * ":" + "=,") + value() for _ in range(rng.choice([1, 1, 2, 3]))
    ]
    pairs = drawn_settings(rng, release, "odd") if rng.random() < 0.5 else []
    items[rng.randrange(len(items)) :] = [f"{key}:{setting}" for key, setting in pairs]
    text = rng.choice([",", ",", ",", ", ", ";", ",,"]).join(items)
    if rng.random() < 0.2:
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice([" ", ",", ":", "[", "]", ">", "-"]) + text[at + rng.randint(0, 1) :]
    return text


def is_determined_in_pools(key, release, family):
    """Undetermined with expandable segments: in 2.3 and 2.4 a split limit can meet split blocks of
    private pools; from 2.5 on a pool can be deleted that has live blocks.  `pools-emptied` leaves
    none; `pools-oom` and `pools-uses` release no pool."""
    if release < (2, 5):
        return key != "max_split_size_mb"
    return key != "expandable_segments" or family in ("pools-emptied", "pools-oom", "pools-uses")


def make(version, family, seed):
    """The text of one script."""
    rng = random.Random(f"{version}/{family}/{seed}")
    release = tuple(int(part) for part in version.split("."))
    writer = Writer(rng, drawn_sizes(rng), drawn_streams(rng))
    settings = drawn_settings(rng, release, family)
    conf = ",".join(f"{key}:{value}" for key, value in settings)
    if family == "odd":
        conf = odd_settings(rng, release).strip()
    capacity = rng.choice([512 * MIB, GIB, 2 * GIB, 3 * GIB, 6 * GIB, 8 * GIB, 20 * GIB, 80 * GIB])
    capacity += rng.choice([0, 0, 0, -MIB, 512 * KIB, 12345])
    if family == "pools-inside":
        capacity = 1 << 50
    elif family == "odd" and "large" in conf:
        pass  # segments of almost 2^64 bytes: a limit's sums would wrap
    elif rng.random() < 0.4 or "garbage_collection_threshold" in conf:
        writer.say("F", rng.choice([0.1, 0.2, 0.4, 0.5, 0.7, 0.75, 0.8, 0.9, 1.0]))
    FAMILIES[family](writer, rng.choice([60, 300, 900, 1500, 2500]), release)
    end = ["s", "t", "e", "s", "t"]
    return "\n".join([f"# cap={capacity} conf={conf}"] + writer.lines + end) + "\n"
