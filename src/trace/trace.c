/* Reading a trace. */
#include "trace/trace.h"

#include <assert.h>

const char *fl_trace_path(const fl_trace *trace)
{
    return trace->path;
}

fl_format fl_trace_format(const fl_trace *trace)
{
    return trace->format;
}

const char *fl_trace_format_name(const fl_trace *trace)
{
    return trace->format_name;
}

size_t fl_trace_device_count(const fl_trace *trace)
{
    return trace->devices.count;
}

uint64_t fl_trace_event_count(const fl_trace *trace, size_t device)
{
    return trace->devices.items[device].columns.count;
}

uint32_t fl_trace_alloc_count(const fl_trace *trace, size_t device)
{
    return trace->devices.items[device].alloc_count;
}

void fl_trace_event(const fl_trace *trace, size_t device, uint64_t index, fl_event *ret_event)
{
    const fl_columns *columns = fl_trace_columns(trace, device);
    assert(index < columns->count);
    fl_op op;
    fl_columns_op(columns, index, &op);
    *ret_event = (fl_event){
        .kind = op.kind,
        .flags = columns->flags[index],
        .id = op.id,
        .stream = op.stream,
        .pool = op.pool,
        .text = op.text,
        .stack = columns->stack != NULL ? columns->stack[index] : FL_NONE,
        .address = columns->address != NULL ? columns->address[index] : 0,
        .size = op.size,
        .time_us = columns->time_us != NULL ? columns->time_us[index] : FL_TIME_UNKNOWN,
    };
}

fl_behind fl_trace_behind(const fl_trace *trace, size_t device)
{
    return trace->devices.items[device].end.behind;
}

const fl_insertion *fl_trace_insertions(const fl_trace *trace, size_t device, size_t *ret_count)
{
    *ret_count = trace->devices.items[device].insertions.count;
    return trace->devices.items[device].insertions.items;
}

const fl_note *fl_trace_notes(const fl_trace *trace, size_t device, size_t *ret_count)
{
    *ret_count = trace->devices.items[device].notes.count;
    return trace->devices.items[device].notes.items;
}

const fl_names *fl_trace_names(const fl_trace *trace)
{
    return &trace->names;
}

uint64_t fl_trace_original_id(const fl_trace *trace, size_t device, uint32_t id)
{
    const struct fl_u64_vector *originals = &trace->devices.items[device].originals;
    return id < originals->count ? originals->items[id] : id;
}

uint32_t fl_trace_category(const fl_trace *trace, size_t device, uint32_t id)
{
    const struct fl_u32_vector *categories = &trace->devices.items[device].categories;
    return id < categories->count ? categories->items[id] : FL_NONE;
}

size_t fl_trace_stack_count(const fl_trace *trace)
{
    return trace->stack_ends.count;
}

static uint64_t stack_start(const fl_trace *trace, uint32_t stack)
{
    return stack > 0 ? trace->stack_ends.items[stack - 1] : 0;
}

size_t fl_trace_stack_depth(const fl_trace *trace, uint32_t stack)
{
    if (stack == FL_NONE)
        return 0;
    return (size_t)(trace->stack_ends.items[stack] - stack_start(trace, stack));
}

fl_frame fl_trace_stack_frame(const fl_trace *trace, uint32_t stack, size_t depth)
{
    assert(depth < fl_trace_stack_depth(trace, stack));
    uint32_t number = trace->stack_frames.items[stack_start(trace, stack) + depth];
    const fl_frame_row *row = &trace->frames.items[number];
    return (fl_frame){trace->texts.items[row->name], trace->texts.items[row->file], row->line};
}

const char *fl_trace_conf(const fl_trace *trace)
{
    return trace->conf != FL_NONE ? trace->texts.items[trace->conf] : NULL;
}

const char *fl_trace_release(const fl_trace *trace)
{
    return trace->release != FL_NONE ? trace->texts.items[trace->release] : NULL;
}

bool fl_trace_lacks_conf(const fl_trace *trace)
{
    return trace->lacks_conf;
}

bool fl_trace_is_inferred(const fl_trace *trace)
{
    bool is_told = trace->format == FL_FORMAT_SCRIPT || trace->has_ops;
    return !is_told || trace->is_inferred;
}

bool fl_trace_has_block_sizes(const fl_trace *trace)
{
    return trace->has_block_sizes;
}

uint64_t fl_trace_capacity(const fl_trace *trace)
{
    return trace->capacity_bytes;
}

void fl_trace_set_limit(fl_trace *trace, double fraction, uint64_t total_bytes)
{
    for (size_t i = 0; i < trace->devices.count; i++)
        trace->devices.items[i].rebuilt.is_settled = false;
    trace->fraction = fraction;
    trace->total_bytes = total_bytes;
}

fl_release_range fl_trace_releases(const fl_trace *trace)
{
    return trace->releases;
}

bool fl_trace_has_final_state(const fl_trace *trace, size_t device)
{
    return trace->devices.items[device].has_final_state;
}

bool fl_trace_is_state_newer(const fl_trace *trace, size_t device)
{
    return trace->devices.items[device].is_newer;
}

fl_beside fl_trace_beside(const fl_trace *trace)
{
    return trace->beside;
}

const fl_segment_view *fl_trace_final_segments(const fl_trace *trace, size_t device,
                                               size_t *ret_count)
{
    *ret_count = trace->devices.items[device].segments.count;
    return trace->devices.items[device].segments.items;
}

const fl_block_view *fl_trace_final_blocks(const fl_trace *trace, size_t device, size_t *ret_count)
{
    *ret_count = trace->devices.items[device].blocks.count;
    return trace->devices.items[device].blocks.items;
}

bool fl_trace_leaves_out(const fl_trace *trace, size_t device, uint8_t kind)
{
    return (trace->devices.items[device].unrecorded >> kind & 1) != 0;
}

fl_order fl_trace_order(const fl_trace *trace, size_t device, uint64_t *ret_left_out)
{
    const fl_trace_device *of = &trace->devices.items[device];
    *ret_left_out = of->left_out;
    if (of->is_disordered)
        return FL_ORDER_WRONG;
    return of->is_reordered ? FL_ORDER_RESTORED : FL_ORDER_AS_RECORDED;
}

const char *fl_trace_impossible(const fl_trace *trace, size_t device, uint64_t *ret_shown,
                                uint64_t *ret_impossible)
{
    const fl_trace_device *of = &trace->devices.items[device];
    *ret_shown = of->shown_parts;
    *ret_impossible = of->impossible_parts;
    return of->impossible_parts > 0 ? trace->texts.items[of->impossible] : NULL;
}

uint32_t fl_trace_final_stack(const fl_trace *trace, size_t device, size_t block)
{
    return trace->devices.items[device].block_stacks.items[block];
}

uint64_t fl_trace_final_free(const fl_trace *trace, size_t device, size_t block)
{
    const struct fl_u64_vector *frees = &trace->devices.items[device].block_frees;
    return block < frees->count ? frees->items[block] : UINT64_MAX;
}

bool fl_trace_is_complete(const fl_trace *trace, size_t device)
{
    const fl_trace_device *of = &trace->devices.items[device];
    return of->is_complete && (!of->starts_late || trace->has_ops); /* a run has what it is told */
}

size_t fl_trace_warning_count(const fl_trace *trace)
{
    return trace->warnings.count;
}

const char *fl_trace_warning(const fl_trace *trace, size_t index)
{
    return trace->texts.items[trace->warnings.items[index]];
}
