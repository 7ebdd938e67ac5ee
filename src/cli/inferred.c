#include "cli/inferred.h"

#include <fraglab/units.h>

#include <inttypes.h>
#include <stdio.h>

void fl_inferred_add(fl_inferred *sum, const fl_inferred *one)
{
    sum->trims += one->trims;
    sum->completions += one->completions;
    sum->scopes += one->scopes;
    sum->pool_releases += one->pool_releases;
    sum->pools += one->pools;
    sum->settings += one->settings;
    sum->limits += one->limits;
    sum->start_blocks += one->start_blocks;
    sum->hidden_tails += one->hidden_tails;
    sum->hidden_tail_bytes += one->hidden_tail_bytes;
    sum->open_tails += one->open_tails;
    sum->ages += one->ages;
}

void fl_inferred_words(const fl_inferred *inferred, char *buffer, size_t size)
{
    char pools[64] = "";
    if (inferred->scopes > 0)
        snprintf(pools, sizeof pools, ", %" PRIu64 " scopes of private pools", inferred->scopes);
    snprintf(buffer, size, "%" PRIu64 " empty_cache, %" PRIu64 " completions%s", inferred->trims,
             inferred->completions, pools);
}

void fl_inferred_emit(fl_emit *emit, const fl_inferred *inferred)
{
    fl_emit_object_begin(emit, "inferred", NULL);
    fl_emit_pair(emit, "empty_cache", NULL, fl_emit_count(inferred->trims));
    fl_emit_pair(emit, "completions", NULL, fl_emit_count(inferred->completions));
    fl_emit_pair(emit, "scopes", NULL, fl_emit_count(inferred->scopes));
    fl_emit_pair(emit, "pool_releases", NULL, fl_emit_count(inferred->pool_releases));
    fl_emit_pair(emit, "pools", NULL, fl_emit_count(inferred->pools));
    fl_emit_pair(emit, "settings", NULL, fl_emit_count(inferred->settings));
    fl_emit_pair(emit, "limits", NULL, fl_emit_count(inferred->limits));
    fl_emit_pair(emit, "start_blocks", NULL, fl_emit_count(inferred->start_blocks));
    fl_emit_pair(emit, "hidden_tails", NULL, fl_emit_count(inferred->hidden_tails));
    fl_emit_pair(emit, "hidden_tail_bytes", NULL, fl_emit_bytes(inferred->hidden_tail_bytes));
    fl_emit_pair(emit, "open_tails", NULL, fl_emit_count(inferred->open_tails));
    fl_emit_pair(emit, "ages", NULL, fl_emit_count(inferred->ages));
    fl_emit_object_end(emit);
}

static bool is_shown(const fl_op *op, unsigned which)
{
    return (op->kind == FL_OP_CONFIGURE && (which & FL_CHANGES_SETTINGS)) ||
           (op->kind == FL_OP_LIMIT && (which & FL_CHANGES_LIMIT));
}

void fl_inferred_emit_changes(fl_emit *emit, const fl_trace *trace, size_t device, unsigned which)
{
    size_t count;
    const fl_insertion *list = fl_trace_insertions(trace, device, &count);
    fl_emit_list_begin(emit, "changes", NULL);
    for (size_t i = 0; i < count; i++) {
        const fl_op *op = &list[i].op;
        if (!is_shown(op, which))
            continue;
        bool is_limit = op->kind == FL_OP_LIMIT;
        const char *text = is_limit ? NULL : fl_trace_names(trace)->texts[op->text];
        fl_emit_object_begin(emit, NULL, NULL);
        fl_emit_pair(emit, "event", NULL, fl_emit_count(list[i].event));
        fl_emit_pair(emit, "settings", NULL, is_limit ? fl_emit_null() : fl_emit_text(text));
        fl_emit_pair(emit, "limit_bytes", NULL,
                     is_limit ? fl_emit_count(op->size) : fl_emit_null());
        fl_emit_object_end(emit);
    }
    fl_emit_list_end(emit);
}

void fl_inferred_text_changes(fl_emit *emit, const fl_trace *trace, size_t device, unsigned which)
{
    size_t count;
    const fl_insertion *list = fl_trace_insertions(trace, device, &count);
    for (size_t i = 0; i < count; i++) {
        const fl_op *op = &list[i].op;
        char event[27], bytes[24], text[400];
        if (!is_shown(op, which))
            continue;
        fl_format_count(list[i].event, event, sizeof event);
        fl_format_bytes(op->size, bytes, sizeof bytes);
        if (op->kind == FL_OP_LIMIT)
            snprintf(text, sizeof text, "a memory fraction of about %s from event %s on", bytes,
                     event);
        else
            snprintf(text, sizeof text, "%s from event %s on",
                     fl_trace_names(trace)->texts[op->text], event);
        fl_emit_pair(emit, "changes", "inferred", fl_emit_text(text));
    }
}

void fl_inferred_text_window(fl_emit *emit, const fl_inferred *inferred)
{
    char text[240], size[24], tails[160] = "";
    fl_format_bytes(inferred->hidden_tail_bytes, size, sizeof size);
    if (inferred->hidden_tails + inferred->open_tails > 0)
        snprintf(tails, sizeof tails,
                 "; inferred: %" PRIu64 " hold %s more than was asked for, %" PRIu64
                 " maybe more, which nothing shows",
                 inferred->hidden_tails, size, inferred->open_tails);
    snprintf(text, sizeof text, "cut: %" PRIu64 " blocks from before%s", inferred->start_blocks,
             tails);
    fl_emit_pair(emit, "window", "window", fl_emit_text(text));
}
