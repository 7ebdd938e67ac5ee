#include "cli/stacks.h"

#include <stdio.h>
#include <string.h>

/* "linear.py:125 forward": the last part of the path is enough to know it again. */
static size_t describe_frame(const fl_frame *frame, char *buffer, size_t size)
{
    const char *slash = strrchr(frame->file, '/');
    const char *file = slash != NULL ? slash + 1 : frame->file;
    int length = *file == '\0' ? snprintf(buffer, size, "%s", frame->name)
                 : frame->line > 0
                     ? snprintf(buffer, size, "%s:%u %s", file, frame->line, frame->name)
                     : snprintf(buffer, size, "%s %s", file, frame->name);
    return length > 0 && (size_t)length < size ? (size_t)length : size - 1;
}

/* C++ frames without debug information name no file. */
static bool frame_is_named(const fl_frame *frame)
{
    return *frame->file != '\0' && strcmp(frame->file, "??") != 0;
}

static bool stack_is_named(const fl_trace *trace, uint32_t stack, size_t depth)
{
    for (size_t i = 0; i < depth; i++) {
        fl_frame frame = fl_trace_stack_frame(trace, stack, i);
        if (frame_is_named(&frame))
            return true;
    }
    return false;
}

/* Layers call layers inside PyTorch; who called them is what tells stacks apart. */
static bool frame_is_outside(const fl_frame *frame)
{
    return strstr(frame->file, "-packages/torch/") == NULL;
}

void fl_stack_describe(const fl_trace *trace, uint32_t stack, uint64_t most, char *buffer,
                       size_t size)
{
    size_t used = 0;
    uint64_t shown = 0;
    snprintf(buffer, size, "(no stack recorded)");
    size_t depth = stack != FL_NONE ? fl_trace_stack_depth(trace, stack) : 0;
    bool skips_nameless = stack_is_named(trace, stack, depth);
    for (size_t i = 0; i < depth && shown < most && used + 8 < size; i++) {
        fl_frame frame = fl_trace_stack_frame(trace, stack, i);
        if (skips_nameless && !frame_is_named(&frame))
            continue;
        if (shown > 0 && !frame_is_outside(&frame))
            continue;
        if (shown++ > 0)
            used += (size_t)snprintf(buffer + used, size - used, " < ");
        used += describe_frame(&frame, buffer + used, size - used);
    }
}

void fl_stack_emit(fl_emit *emit, const fl_trace *trace, uint32_t stack)
{
    static const fl_emit_column columns[] = {
        {"name", NULL, FL_EMIT_TEXT}, {"file", NULL, FL_EMIT_TEXT}, {"line", NULL, FL_EMIT_COUNT}};
    fl_emit_table_begin(emit, "frames", NULL, columns, 3);
    size_t depth = stack != FL_NONE ? fl_trace_stack_depth(trace, stack) : 0;
    for (size_t i = 0; i < depth; i++) {
        fl_frame frame = fl_trace_stack_frame(trace, stack, i);
        const fl_emit_value cells[] = {fl_emit_text(frame.name), fl_emit_text(frame.file),
                                       frame.line > 0 ? fl_emit_count(frame.line) : fl_emit_null()};
        fl_emit_row(emit, cells);
    }
    fl_emit_table_end(emit);
}
