/* What a replay decided, as text: one line for each call of the device, each answer, and each
 * segment, block and counter where the script asks for them.
 *
 * The form is that of the decisions recorded from the released allocators (tests/data/conformance),
 * so that both can be compared line by line.  Everything comes from the changes of an op; only `s`
 * and `t` ask the policy. */
#include "base/checked.h"

#include <fraglab/replay.h>
#include <fraglab/units.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* A physical page counts in whole pages of this size, so a refused one is shown rounded up. */
#define PHYSICAL_PAGE (UINT64_C(2) << 20)

#define LINE_SIZE 160 /* the longest is a counter: a name and four numbers of 20 digits */

/* What a walk over the segments carries: its callbacks return nothing. */
struct listing {
    const fl_decision_log *log;
    const fl_names *names;
    fl_status status;
    fl_error *error;
};

static fl_status decisions_print(const fl_decision_log *log, fl_error *error, const char *format,
                                 ...) FL_PRINTF(3, 4);

static fl_status decisions_print(const fl_decision_log *log, fl_error *error, const char *format,
                                 ...)
{
    char line[LINE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    return log->line(log->user, line, error);
}

/* One line for each page of a call that mapped or unmapped several. */
static fl_status print_pages(const fl_decision_log *log, char letter, const fl_change *change,
                             fl_error *error)
{
    fl_status status = FL_OK;
    uint64_t page = change->requested;
    for (uint64_t at = 0; page > 0 && at < change->size && status == FL_OK; at += page)
        status = decisions_print(log, error, "%c %" PRIx64 " %" PRIu64, letter,
                                 change->address + at, page);
    return status;
}

static fl_status print_change(const fl_decision_log *log, const fl_change *change, fl_error *error)
{
    switch (change->kind) {
    case FL_CHANGE_ACQUIRE:
        return decisions_print(log, error, "m %" PRIx64 " %" PRIu64, change->address, change->size);
    case FL_CHANGE_NO_SEGMENT:
        return decisions_print(log, error, "m! %" PRIu64, change->size);
    case FL_CHANGE_RELEASE:
        return decisions_print(log, error, "f %" PRIx64, change->address);
    case FL_CHANGE_MAP:
        return print_pages(log, 'M', change, error);
    case FL_CHANGE_NO_PAGE:
        return decisions_print(log, error, "C! %" PRIu64, fl_round_up(change->size, PHYSICAL_PAGE));
    case FL_CHANGE_UNMAP:
        return print_pages(log, 'U', change, error);
    default:
        return FL_OK;
    }
}

static void list_segment(void *user, const fl_segment_view *segment)
{
    struct listing *listing = user;
    if (listing->status != FL_OK)
        return;
    uint64_t stream = segment->stream < listing->names->stream_count
                          ? listing->names->streams[segment->stream]
                          : segment->stream;
    listing->status =
        decisions_print(listing->log, listing->error, "S %" PRIx64 " %" PRIu64 " %s %" PRIu64 "%s",
                        segment->address, segment->size, segment->is_small ? "small" : "large",
                        stream, segment->is_expandable ? " exp" : "");
}

static void list_block(void *user, const fl_block_view *block)
{
    static const char *const states[] = {
        [FL_BLOCK_LIVE] = "live", [FL_BLOCK_PENDING] = "pend", [FL_BLOCK_FREE] = "free"};
    struct listing *listing = user;
    if (listing->status == FL_OK)
        listing->status =
            decisions_print(listing->log, listing->error, "B %" PRIu64 " %" PRIu64 " %s",
                            block->size, block->requested, states[block->state]);
}

static fl_status print_segments(const fl_decision_log *log, fl_error *error)
{
    struct listing listing = {log, fl_trace_names(log->trace), FL_OK, error};
    fl_walk walk = {list_segment, list_block, &listing};
    fl_status status = fl_replay_walk(log->replay, &walk, error);
    return status == FL_OK ? listing.status : status;
}

static fl_status print_counters(const fl_decision_log *log, fl_error *error)
{
    static const fl_stat_kind order[] = {
        FL_STAT_ALLOCATION,      FL_STAT_SEGMENT,
        FL_STAT_ACTIVE,          FL_STAT_INACTIVE_SPLIT,
        FL_STAT_ALLOCATED_BYTES, FL_STAT_RESERVED_BYTES,
        FL_STAT_ACTIVE_BYTES,    FL_STAT_INACTIVE_SPLIT_BYTES,
    };
    fl_replay_summary summary;
    fl_replay_get_summary(log->replay, &summary);
    if (!summary.has_stats)
        return fl_fail(error, FL_ERR_UNAVAILABLE, "this policy keeps no statistics");
    const fl_stats *stats = &summary.stats;
    fl_status status = FL_OK;
    for (size_t i = 0; i < sizeof order / sizeof *order && status == FL_OK; i++) {
        const fl_stat *stat = &stats->stat[order[i]][FL_STAT_ALL];
        status = decisions_print(
            log, error, "T %s cur %" PRIu64 " peak %" PRIu64 " sum %" PRIu64 " sub %" PRIu64,
            fl_stat_name(order[i]), stat->current, stat->peak, stat->allocated, stat->freed);
    }
    if (status != FL_OK)
        return status;
    return decisions_print(log, error,
                           "T retries %" PRIu64 " ooms %" PRIu64 " oversize_alloc %" PRIu64
                           " oversize_seg %" PRIu64,
                           stats->alloc_retries, stats->ooms, stats->oversize_allocations.current,
                           stats->oversize_segments.current);
}

static fl_status print_answer(const fl_decision_log *log, const fl_view *view, fl_error *error)
{
    uint64_t id = fl_trace_original_id(log->trace, log->trace_device, view->op->id);
    if (view->result->outcome != FL_DONE)
        return decisions_print(log, error, "O %" PRIu64, id);
    return decisions_print(log, error, "A %" PRIu64 " %" PRIx64, id, view->result->address);
}

fl_status fl_decision_log_view(const fl_decision_log *log, const fl_view *view, fl_error *error)
{
    fl_status status = FL_OK;
    if (view->op->kind == FL_OP_NONE)
        return FL_OK; /* what was there before the first event was decided then */
    for (size_t i = 0; i < view->change_count && status == FL_OK; i++)
        status = print_change(log, &view->changes[i], error);
    if (status != FL_OK)
        return status;
    switch (view->op->kind) {
    case FL_OP_ALLOC:
        return print_answer(log, view, error);
    case FL_OP_TRIM:
        if (view->result->outcome != FL_DONE)
            return decisions_print(log, error, "E empty cache refused");
        return FL_OK;
    case FL_OP_SHOW_SEGMENTS:
        return print_segments(log, error);
    case FL_OP_SHOW_COUNTERS:
        return print_counters(log, error);
    default:
        return FL_OK;
    }
}
