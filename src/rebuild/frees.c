/* A completion right behind its free is part of it; every other free waits for its completion.
 *
 * Where one of the two kinds was not recorded, each free is taken for whole, at the event that
 * there is of it: when the other half came is not known.  Those that still wait at the end show in
 * the final state. */
#include "rebuild/frees.h"

#include "trace/build.h"

void fl_frees_mark(fl_trace *trace, size_t device)
{
    const fl_columns *columns = fl_trace_columns(trace, device);
    bool all_whole = fl_trace_has_whole_frees(&trace->devices.items[device]);
    for (uint64_t i = 0; i < columns->count; i++) {
        if (columns->kind[i] == FL_OP_FREE_DONE)
            fl_trace_clear_flags(trace, device, i, FL_EVENT_SILENT);
        if (columns->kind[i] != FL_OP_FREE)
            continue;
        fl_trace_clear_flags(trace, device, i, FL_OP_HELD);
        bool is_whole = i + 1 < columns->count && columns->kind[i + 1] == FL_OP_FREE_DONE &&
                        columns->id[i + 1] == columns->id[i];
        if (!is_whole) {
            if (!all_whole)
                fl_trace_set_flags(trace, device, i, FL_OP_HELD);
            continue;
        }
        fl_trace_set_flags(trace, device, i + 1, FL_EVENT_SILENT);
        i++;
    }
}

/* The free of a block that waits at the end, if there is an event of it; else UINT64_MAX. */
static uint64_t find_free(const fl_columns *columns, uint32_t id)
{
    for (uint64_t i = columns->count; i-- > 0;)
        if (columns->id[i] == id && columns->kind[i] == FL_OP_FREE)
            return i;
    return UINT64_MAX;
}

fl_status fl_frees_finish(fl_trace *trace, size_t device, fl_error *error)
{
    const fl_trace_device *of = &trace->devices.items[device];
    fl_status status = FL_OK;
    for (size_t i = 0; i < of->blocks.count && status == FL_OK; i++) {
        const fl_block_view *block = &of->blocks.items[i];
        if (!fl_trace_has_whole_frees(of) || block->state != FL_BLOCK_PENDING ||
            block->id == FL_NONE)
            continue;
        uint64_t event = find_free(&of->columns, block->id);
        if (event != UINT64_MAX) {
            fl_trace_set_flags(trace, device, event, FL_OP_HELD);
            continue;
        }
        fl_op op = {.kind = FL_OP_FREE,
                    .flags = FL_OP_HELD,
                    .id = block->id,
                    .stream = FL_NONE,
                    .pool = FL_NONE,
                    .text = FL_NONE};
        status = fl_trace_insert(trace, device, of->columns.count, &op, error);
    }
    return status;
}
