/* What was expected, what came, and the most telling fact about the replay's heap: usually the
 * state of the place where the record put the block. */
#include "rebuild/explain.h"

#include "rules/sizes.h"

#include <fraglab/units.h>

#include <inttypes.h>
#include <stdio.h>

struct amount {
    char text[24];
};

static struct amount amount_of(uint64_t bytes)
{
    struct amount amount;
    fl_format_bytes(bytes, amount.text, sizeof amount.text);
    return amount;
}

static uint64_t stream_name(const fl_trace *trace, uint32_t stream)
{
    const fl_names *names = fl_trace_names(trace);
    return stream < names->stream_count ? names->streams[stream] : 0;
}

/* ---- what covers an address ------------------------------------------------------------------ */

struct cover {
    uint64_t address;
    bool found;
    fl_segment_view walked, segment;
    fl_block_view block;
    uint64_t live_in_walked, live; /* live or pending blocks of the segment */
};

static void cover_segment(void *user, const fl_segment_view *segment)
{
    struct cover *cover = user;
    cover->walked = *segment;
    cover->live_in_walked = 0;
}

static void cover_block(void *user, const fl_block_view *block)
{
    struct cover *cover = user;
    cover->live_in_walked += block->state != FL_BLOCK_FREE;
    if (block->address <= cover->address && cover->address - block->address < block->size) {
        cover->found = true;
        cover->block = *block;
        cover->segment = cover->walked;
    }
    if (cover->found && cover->segment.address == cover->walked.address)
        cover->live = cover->live_in_walked;
}

static fl_status find_cover(const fl_replay *replay, uint64_t address, struct cover *ret_cover,
                            fl_error *error)
{
    *ret_cover = (struct cover){.address = address};
    fl_walk walk = {cover_segment, cover_block, ret_cover};
    return fl_replay_walk(replay, &walk, error);
}

/* ---- addresses ------------------------------------------------------------------------------- */

static void say_free_block(const struct cover *cover, const fl_miss *miss, uint64_t rounded,
                           fl_difference *ret)
{
    const fl_block_view *block = &cover->block;
    struct amount size = amount_of(block->size), asked = amount_of(rounded);
    const char *format =
        "the block at 0x%" PRIx64 " of %s was free; for %s the replay took another";
    if (cover->segment.stream != miss->op.stream)
        format = "the block at 0x%" PRIx64 " of %s was free, but belongs to another stream "
                 "(asked: %s)";
    else if (cover->segment.is_small != (rounded <= FL_SMALL_SIZE))
        format = "the block at 0x%" PRIx64 " of %s was free, but in the other pool (asked: %s)";
    else if (block->size < rounded)
        format = "the block at 0x%" PRIx64 " of %s was free and smaller than the %s asked for";
    else if (miss->result.outcome == FL_DONE && block->size > miss->result.size)
        format = "the block at 0x%" PRIx64 " of %s was free and larger; for %s the smallest that "
                 "fits is taken";
    snprintf(ret->because, sizeof ret->because, format, block->address, size.text, asked.text);
}

static void say_cover(const struct cover *cover, const fl_miss *miss, uint64_t rounded,
                      fl_difference *ret)
{
    const fl_block_view *block = &cover->block;
    struct amount size = amount_of(block->size);
    if (!cover->found)
        snprintf(ret->because, sizeof ret->because, "the replay has no memory at 0x%" PRIx64,
                 cover->address);
    else if (block->state == FL_BLOCK_LIVE && block->id != miss->op.id)
        snprintf(ret->because, sizeof ret->because,
                 "the block at 0x%" PRIx64 " of %s was still in use by allocation %" PRIu32,
                 block->address, size.text, block->id);
    else if (block->state == FL_BLOCK_PENDING)
        snprintf(ret->because, sizeof ret->because,
                 "the block at 0x%" PRIx64 " of %s was freed, but waited for another stream",
                 block->address, size.text);
    else if (block->state == FL_BLOCK_LIVE)
        snprintf(ret->because, sizeof ret->because,
                 "0x%" PRIx64 " lies inside of the block at 0x%" PRIx64
                 " of %s that the replay took",
                 cover->address, block->address, size.text);
    else if (block->address != cover->address)
        snprintf(ret->because, sizeof ret->because,
                 "0x%" PRIx64 " lies inside of the free block at 0x%" PRIx64 " of %s",
                 cover->address, block->address, size.text);
    else
        say_free_block(cover, miss, rounded, ret);
}

static fl_status explain_address(const fl_miss *miss, const fl_columns *columns,
                                 const fl_replay *replay, uint64_t rounded, fl_difference *ret,
                                 fl_error *error)
{
    bool was_refused = (columns->flags[miss->event] & FL_EVENT_OOM) != 0;
    uint64_t recorded = columns->address != NULL ? columns->address[miss->event] : 0;
    struct amount asked = amount_of(columns->size[miss->event]);
    if (was_refused)
        snprintf(ret->expected, sizeof ret->expected, "%s refused", asked.text);
    else
        snprintf(ret->expected, sizeof ret->expected, "%s at 0x%" PRIx64, asked.text, recorded);
    if (miss->op.kind == FL_OP_NONE)
        snprintf(ret->got, sizeof ret->got, "nothing: the replay ended before");
    else if (miss->result.outcome == FL_DONE)
        snprintf(ret->got, sizeof ret->got, "0x%" PRIx64, miss->result.address);
    else
        snprintf(ret->got, sizeof ret->got, "refused%s%s", miss->result.why != NULL ? ": " : "",
                 miss->result.why != NULL ? miss->result.why : "");
    struct cover cover;
    uint64_t address = was_refused ? miss->result.address : recorded;
    fl_status status = find_cover(replay, address, &cover, error);
    if (status != FL_OK)
        return status;
    struct amount size = amount_of(cover.block.size);
    if (was_refused)
        snprintf(ret->because, sizeof ret->because,
                 "the replay had a place for it: the block at 0x%" PRIx64 ", now %s",
                 cover.block.address, size.text);
    else
        say_cover(&cover, miss, rounded, ret);
    return FL_OK;
}

/* ---- segments -------------------------------------------------------------------------------- */

static const char *const step_names[] = {
    [FL_CHANGE_ACQUIRE] = "segment_alloc",
    [FL_CHANGE_RELEASE] = "segment_free",
    [FL_CHANGE_MAP] = "segment_map",
    [FL_CHANGE_UNMAP] = "segment_unmap",
};

static const char *event_name(uint8_t kind)
{
    static const char *const names[] = {"segment_alloc", "segment_free", "segment_map",
                                        "segment_unmap"};
    return names[kind - FL_EVENT_SEGMENT_ALLOC];
}

static void say_step(char *text, size_t room, const char *name, uint64_t size, uint64_t address,
                     uint64_t stream)
{
    struct amount amount = amount_of(size);
    snprintf(text, room, "%s of %s at 0x%" PRIx64 " on stream %" PRIu64, name, amount.text, address,
             stream);
}

/* Why a step that was recorded did not come. */
static void say_missing_step(const fl_miss *miss, uint8_t kind, const struct cover *cover,
                             fl_difference *ret)
{
    bool gives_back = kind == FL_EVENT_SEGMENT_FREE || kind == FL_EVENT_SEGMENT_UNMAP;
    if (gives_back && !cover->found)
        snprintf(ret->because, sizeof ret->because, "the replay has no memory at 0x%" PRIx64,
                 cover->address);
    else if (gives_back && cover->live > 0)
        snprintf(ret->because, sizeof ret->because,
                 "in the replay %" PRIu64 " blocks of that segment were in use or waiting",
                 cover->live);
    else if (gives_back)
        snprintf(ret->because, sizeof ret->because,
                 "nothing before event %" PRIu64 " made the replay give memory back", miss->event);
    else if (miss->op.kind == FL_OP_ALLOC && miss->result.outcome == FL_DONE)
        snprintf(ret->because, sizeof ret->because,
                 "the replay served the request from its cache, at 0x%" PRIx64,
                 miss->result.address);
    else
        snprintf(ret->because, sizeof ret->because,
                 "no request of the replay needed memory from the device there");
}

static fl_status explain_segment(const fl_miss *miss, const fl_trace *trace,
                                 const fl_columns *columns, const fl_replay *replay,
                                 fl_difference *ret, fl_error *error)
{
    const fl_change *change = &miss->change;
    snprintf(ret->expected, sizeof ret->expected, "no step with the device");
    snprintf(ret->got, sizeof ret->got, "no step with the device");
    if (miss->has_change)
        say_step(ret->got, sizeof ret->got, step_names[change->kind], change->size, change->address,
                 stream_name(trace, change->stream));
    if (miss->recorded == UINT64_MAX) {
        snprintf(ret->because, sizeof ret->because,
                 "the record shows no such step before event %" PRIu64, miss->event);
        return FL_OK;
    }
    uint64_t address = columns->address != NULL ? columns->address[miss->recorded] : 0;
    uint8_t kind = columns->kind[miss->recorded];
    say_step(ret->expected, sizeof ret->expected, event_name(kind), columns->size[miss->recorded],
             address, stream_name(trace, columns->stream[miss->recorded]));
    if (miss->has_change) {
        snprintf(ret->because, sizeof ret->because,
                 "the replay took another step at this point of the same operation");
        return FL_OK;
    }
    struct cover cover;
    fl_status status = find_cover(replay, address, &cover, error);
    if (status == FL_OK)
        say_missing_step(miss, kind, &cover, ret);
    return status;
}

/* ---- the final state ------------------------------------------------------------------------- */

static void say_segment(const fl_trace *trace, const fl_segment_view *segment, char *text,
                        size_t room)
{
    struct amount size = amount_of(segment->size);
    snprintf(text, room, "%s%s segment at 0x%" PRIx64 " of %s on stream %" PRIu64,
             segment->is_small ? "small" : "large", segment->is_expandable ? " expandable" : "",
             segment->address, size.text, stream_name(trace, segment->stream));
}

static void say_block(const fl_block_view *block, char *text, size_t room)
{
    static const char *const states[] = {
        [FL_BLOCK_LIVE] = "live", [FL_BLOCK_PENDING] = "pending", [FL_BLOCK_FREE] = "free"};
    struct amount size = amount_of(block->size);
    int used = snprintf(text, room, "%s block at 0x%" PRIx64 " of %s", states[block->state],
                        block->address, size.text);
    if (block->state != FL_BLOCK_FREE && used > 0 && (size_t)used < room)
        snprintf(text + used, room - (size_t)used, ", %" PRIu64 " bytes asked for",
                 block->requested);
}

static void explain_final_state(const fl_miss *miss, const fl_trace *trace, fl_difference *ret)
{
    snprintf(ret->expected, sizeof ret->expected, "nothing there");
    snprintf(ret->got, sizeof ret->got, "nothing there");
    if (miss->expected_segment.size > 0)
        say_segment(trace, &miss->expected_segment, ret->expected, sizeof ret->expected);
    if (miss->got_segment.size > 0)
        say_segment(trace, &miss->got_segment, ret->got, sizeof ret->got);
    if (miss->expected_block.size > 0)
        say_block(&miss->expected_block, ret->expected, sizeof ret->expected);
    if (miss->got_block.size > 0)
        say_block(&miss->got_block, ret->got, sizeof ret->got);
    snprintf(
        ret->because, sizeof ret->because,
        "every recorded step before was the same, so the snapshot shows more than its history");
}

fl_status fl_explain_miss(const fl_miss *miss, const fl_trace *trace, size_t device,
                          const fl_replay *replay, const fl_profile *profile,
                          const fl_settings *settings, fl_difference *ret_difference,
                          fl_error *error)
{
    const fl_columns *columns = fl_trace_columns(trace, device);
    fl_difference difference = {.event = miss->event};
    fl_status status = FL_OK;
    switch (miss->decision) {
    case FL_DECISION_ADDRESS: {
        uint64_t rounded = fl_round_size(profile, settings, columns->size[miss->event]);
        status = explain_address(miss, columns, replay, rounded, &difference, error);
        break;
    }
    case FL_DECISION_SEGMENT:
        status = explain_segment(miss, trace, columns, replay, &difference, error);
        break;
    default:
        explain_final_state(miss, trace, &difference);
        break;
    }
    if (status == FL_OK)
        *ret_difference = difference;
    return status;
}
