/* A diagnosis for people: the sentence, the evidence, what to do. */
#include "cli/diagnosed.h"

#include "cli/stacks.h"

#include <fraglab/units.h>

#include <inttypes.h>

/* "event 1,234", "before the first event", "never". */
static void event_words(uint64_t event, const char *none, char *buffer, size_t size)
{
    char count[27];
    fl_format_count(event, count, sizeof count);
    if (event == FL_NO_EVENT)
        snprintf(buffer, size, "%s", none);
    else
        snprintf(buffer, size, "event %s", count);
}

static const char *text_at(const fl_trace *trace, uint32_t text)
{
    const fl_names *names = fl_trace_names(trace);
    return text < names->text_count ? names->texts[text] : NULL;
}

static void text_blank(fl_emit *emit)
{
    fl_emit_line(emit, FL_EMIT_PLAIN, "%s", "");
}

/* ---- the points ------------------------------------------------------------------------------ */

static const char *const point_words[FL_POINT_COUNT] = {
    [FL_POINT_FIRST_GROWTH] = "first growth in spite of room",
    [FL_POINT_PEAK_GROWTH] = "growth to the peak",
    [FL_POINT_OOM] = "out of memory",
};

static void text_points(fl_emit *emit, const fl_diagnosis *d)
{
    static const fl_emit_column columns[] = {
        {"point", "where", FL_EMIT_TEXT},
        {"event", "event", FL_EMIT_COUNT},
        {"asked", "asked", FL_EMIT_BYTES},
        {"allocated", "live", FL_EMIT_BYTES},
        {"reserved", "reserved", FL_EMIT_BYTES},
        {"free", "free in cache", FL_EMIT_BYTES},
        {"largest", "largest piece", FL_EMIT_BYTES},
    };
    bool has_any = false;
    for (int kind = 0; kind < FL_POINT_COUNT; kind++)
        has_any = has_any || d->points[kind].event != FL_NO_EVENT;
    if (!has_any)
        return;
    fl_emit_table_begin(emit, "points", "the points", columns, 7);
    for (int kind = 0; kind < FL_POINT_COUNT; kind++) {
        const fl_point *point = &d->points[kind];
        if (point->event == FL_NO_EVENT)
            continue;
        const fl_emit_value cells[] = {
            fl_emit_text(point_words[kind]),
            fl_emit_count(point->event),
            fl_emit_bytes(point->requested_bytes),
            fl_emit_bytes(point->totals.allocated_bytes),
            fl_emit_bytes(point->totals.reserved_bytes),
            fl_emit_bytes(point->totals.reserved_bytes - point->totals.allocated_bytes),
            point->has_probe ? fl_emit_bytes(point->probe.largest_usable_bytes) : fl_emit_null(),
        };
        fl_emit_row(emit, cells);
    }
    fl_emit_table_end(emit);
}

/* What the request was to the allocator: few know that a message tells of segments. */
static void text_request(fl_emit *emit, const fl_diagnosed *file, const fl_point *point)
{
    const fl_probe *probe = &point->probe;
    const fl_names *names = fl_trace_names(file->trace);
    const char *kind = probe->is_small ? "small" : "large";
    char rounded[24], segment[24], left[24], pool[64];
    fl_format_bytes(probe->rounded_bytes, rounded, sizeof rounded);
    fl_format_bytes(probe->segment_bytes, segment, sizeof segment);
    fl_format_bytes(point->device_free_bytes, left, sizeof left);
    if (probe->pool == FL_NONE)
        return;
    if (probe->pool == 0)
        snprintf(pool, sizeof pool, "the %s pool", kind);
    else
        snprintf(pool, sizeof pool, "the %s side of private pool %" PRIu64 ".%" PRIu64, kind,
                 names->pools[probe->pool].first, names->pools[probe->pool].second);
    text_blank(emit);
    fl_emit_line(emit, FL_EMIT_PLAIN,
                 "the request is %s in %s of stream %" PRIu64
                 "; no piece of it there, so the card was asked for a segment of %s, and had %s",
                 rounded, pool, names->streams[probe->stream], segment, left);
}

/* Why what is free did not serve, at the last of the points. */
static void text_causes(fl_emit *emit, const fl_diagnosed *file)
{
    static const char *const words[FL_UNUSABLE_COUNT] = {
        [FL_UNUSABLE_POOL] = "in another pool",
        [FL_UNUSABLE_STREAM] = "on another stream",
        [FL_UNUSABLE_PENDING] = "freed, but another stream may still use it",
        [FL_UNUSABLE_PINNED] = "too small a piece, between live blocks",
        [FL_UNUSABLE_SPLIT] = "kept whole by the split limit",
        [FL_UNUSABLE_DEVICE] = "left on the card, less than a segment",
    };
    static const fl_emit_column columns[] = {
        {"bytes", "free", FL_EMIT_BYTES},
        {"cause", "but", FL_EMIT_TEXT},
    };
    const fl_point *point = &file->diagnosis.points[FL_POINT_OOM];
    if (point->event == FL_NO_EVENT || !point->has_probe)
        return;
    text_request(emit, file, point);
    fl_emit_table_begin(emit, "causes", "why nothing of it served", columns, 2);
    for (int cause = 0; cause < FL_UNUSABLE_COUNT; cause++) {
        uint64_t bytes = point->probe.unusable_bytes[cause];
        const fl_emit_value cells[] = {fl_emit_bytes(bytes), fl_emit_text(words[cause])};
        if (bytes > 0)
            fl_emit_row(emit, cells);
    }
    fl_emit_table_end(emit);
}

/* ---- the pins -------------------------------------------------------------------------------- */

static void text_pin(fl_session *session, const fl_diagnosed *file, const fl_pin *pin)
{
    char made[48], freed[48], stack[FL_STACK_SIZE];
    const char *phase = text_at(file->trace, pin->owner.phase);
    event_words(pin->owner.made, "before the first event", made, sizeof made);
    event_words(pin->owner.freed, "never", freed, sizeof freed);
    if (pin->owner.stack != FL_NONE)
        fl_stack_describe(file->trace, pin->owner.stack, session->options.frames, stack,
                          sizeof stack);
    else
        snprintf(stack, sizeof stack, "id %" PRIu64,
                 fl_trace_original_id(file->trace, file->setup.trace_device, pin->id));
    const fl_emit_value cells[] = {
        fl_emit_bytes(pin->size), fl_emit_text(made),  fl_emit_text(freed),
        fl_emit_text(phase),      fl_emit_text(stack),
    };
    fl_emit_row(session->emit, cells);
}

static void text_pins(fl_session *session, const fl_diagnosed *file)
{
    static const fl_emit_column columns[] = {
        {"size", "size", FL_EMIT_BYTES},         {"made", "made at", FL_EMIT_TEXT},
        {"freed", "freed at", FL_EMIT_TEXT},     {"phase", "phase", FL_EMIT_TEXT},
        {"stack", "allocated by", FL_EMIT_TEXT},
    };
    fl_emit *emit = session->emit;
    const fl_diagnosis *d = &file->diagnosis;
    char words[FL_SENTENCE_SIZE];
    if (d->pins.count == 0)
        return;
    fl_diagnosis_counterfactual(d, words, sizeof words);
    text_blank(emit);
    fl_emit_line(emit, FL_EMIT_STRONG, "%s", words);
    fl_emit_table_begin(emit, "pins", NULL, columns, 5);
    for (size_t i = 0; i < d->pins.count && i < session->options.top; i++)
        text_pin(session, file, &d->pins.items[i]);
    fl_emit_table_end(emit);
    if (d->pins.count > session->options.top)
        fl_emit_line(emit, FL_EMIT_PLAIN, "and %zu more; --top N shows N",
                     d->pins.count - (size_t)session->options.top);
}

/* ---- who is live ----------------------------------------------------------------------------- */

static void text_group_name(const fl_session *session, const fl_trace *trace, fl_grouping by,
                            uint32_t key, char *buffer, size_t size)
{
    if (by == FL_BY_STACK)
        fl_stack_describe(trace, key, session->options.frames, buffer, size);
    else
        snprintf(buffer, size, "%s", key != FL_NONE ? text_at(trace, key) : "(none)");
}

static void text_groups(fl_session *session, const fl_diagnosed *file, fl_grouping by,
                        const char *label)
{
    const fl_emit_column columns[] = {
        {"bytes", "size", FL_EMIT_BYTES},
        {"blocks", "blocks", FL_EMIT_COUNT},
        {"by", label, FL_EMIT_TEXT},
    };
    fl_emit *emit = session->emit;
    const struct fl_groups *groups = &file->diagnosis.live[by];
    bool is_told = groups->count > 1 || (groups->count == 1 && groups->items[0].key != FL_NONE);
    if (!is_told || session->options.top == 0)
        return;
    fl_emit_table_begin(emit, "live",
                        file->diagnosis.has_events ? "who is live at the peak"
                                                   : "who is live in the recorded state",
                        columns, 3);
    for (size_t i = 0; i < groups->count && i < session->options.top; i++) {
        char name[FL_STACK_SIZE];
        text_group_name(session, file->trace, by, groups->items[i].key, name, sizeof name);
        const fl_emit_value cells[] = {fl_emit_bytes(groups->items[i].bytes),
                                       fl_emit_count(groups->items[i].blocks), fl_emit_text(name)};
        fl_emit_row(emit, cells);
    }
    fl_emit_table_end(emit);
}

/* ---- what to do ------------------------------------------------------------------------------ */

static void text_remedy(fl_emit *emit, const fl_remedy *remedy)
{
    const char *conf = *remedy->conf != '\0' ? remedy->conf : "the default settings";
    char spare[48] = "";
    if (remedy->spare_percent > 0)
        snprintf(spare, sizeof spare, ", and also on one %u %% smaller", remedy->spare_percent);
    fl_emit_line(emit, FL_EMIT_GOOD, "- %s: replayed on this card, everything fits%s", conf, spare);
}

/* What no setting does. */
static const char *const advice[FL_TROUBLE_COUNT] = {
    [FL_TROUBLE_FULL] = "what is live must become less: a smaller batch, activation checkpointing, "
                        "offloading, or a larger card",
    [FL_TROUBLE_OUTSIDE] = "end, or move, what else holds memory of this card: nvidia-smi lists it",
    [FL_TROUBLE_LIMIT] = "raise the fraction or cap, or take it away",
    [FL_TROUBLE_FRAGMENTATION] = "make what lives long before what comes and goes, or free the "
                                 "blocks above before this request",
    [FL_TROUBLE_STREAMS] =
        "use fewer streams, and the same ones again: what is freed on one is not "
        "reused on another",
    [FL_TROUBLE_PRIVATE_POOLS] = "share one pool between the graphs (pool=), or let go of graphs "
                                 "that are no longer replayed: what is free in their pools serves "
                                 "nobody else",
    [FL_TROUBLE_PENDING_FREES] = "let the other streams catch up before this request: what they "
                                 "used (record_stream) returns only after their work",
    [FL_TROUBLE_LEAK] = "find what keeps these blocks: a list that grows, a loss added up without "
                        "item() or detach(), a graph kept by retain_graph",
};

static void text_advice(fl_emit *emit, const fl_diagnosis *d)
{
    if (d->trouble == FL_TROUBLE_FITS || d->trouble == FL_TROUBLE_INCONSISTENT ||
        d->trouble == FL_TROUBLE_UNKNOWN)
        return;
    text_blank(emit);
    fl_emit_line(emit, FL_EMIT_PLAIN, "what to do");
    bool is_settings_matter = d->trouble == FL_TROUBLE_FRAGMENTATION;
    for (size_t i = 0; i < d->remedies.count && i < 3; i++)
        text_remedy(emit, &d->remedies.items[i]);
    if (d->remedies.count == 0 && d->remedies_tried > 0 && !is_settings_matter)
        fl_emit_line(emit, FL_EMIT_PLAIN, "- no setting helps: %zu were replayed on this card",
                     d->remedies_tried);
    else if (d->remedies.count == 0 && d->remedies_tried > 0)
        fl_emit_line(emit, FL_EMIT_PLAIN,
                     "- no setting alone helps: %zu were replayed on this card, and none fits",
                     d->remedies_tried);
    if (advice[d->trouble] != NULL)
        fl_emit_line(emit, FL_EMIT_PLAIN, "- %s", advice[d->trouble]);
}

/* ---- the whole ------------------------------------------------------------------------------- */

void fl_diagnosed_emit_text(fl_session *session, const fl_diagnosed *file)
{
    fl_emit *emit = session->emit;
    const fl_diagnosis *d = &file->diagnosis;
    fl_emit_line(emit, d->trouble == FL_TROUBLE_FITS ? FL_EMIT_GOOD : FL_EMIT_BAD, "%s",
                 file->row.sentence);
    text_points(emit, d);
    text_causes(emit, file);
    text_pins(session, file);
    text_groups(session, file, FL_BY_STACK, "allocated by");
    text_groups(session, file, FL_BY_PHASE, "phase");
    text_groups(session, file, FL_BY_CATEGORY, "category");
    text_advice(emit, d);
    text_blank(emit);
    fl_setup_emit_text(session, file->trace, &file->setup);
    if (d->smallest_card_bytes != FL_UNLIMITED)
        fl_emit_pair(emit, "smallest_card_bytes", "smallest card",
                     fl_emit_bytes(d->smallest_card_bytes));
}
