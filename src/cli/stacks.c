/* A stack in one line.  Recorded ones are long and mostly plumbing: the recorder's own frames, the
 * allocator's, layers that call layers.  Where Python called, its lines tell stacks apart, and the
 * operator between it and the allocator says what was made; the rest of the C++ is left out. */
#include "cli/stacks.h"

#include <stdio.h>
#include <string.h>

#define BETWEEN " < "

struct line {
    char *buffer;
    size_t used, size; /* `size` is room for text and its end */
    uint64_t left;     /* frames that may still be shown */
};

static bool line_is_full(const struct line *line)
{
    return line->left == 0 || line->used + 8 >= line->size;
}

static void line_add(struct line *line, const char *text, size_t length)
{
    size_t room = line->size - line->used - 1;
    if (length > room)
        length = room;
    memcpy(line->buffer + line->used, text, length);
    line->used += length;
    line->buffer[line->used] = '\0';
}

static void line_begin_frame(struct line *line)
{
    if (line->used > 0)
        line_add(line, BETWEEN, strlen(BETWEEN));
    line->left--;
}

/* ---- what a frame is ------------------------------------------------------------------------- */

static bool text_begins(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* "<stdin>" and the cells of notebooks are Python's, too. */
static bool frame_is_python(const fl_frame *frame)
{
    size_t length = strlen(frame->file);
    return *frame->file == '<' || (length > 3 && strcmp(frame->file + length - 3, ".py") == 0);
}

/* Layers call layers inside PyTorch; who called them is what tells stacks apart. */
static bool frame_is_outside(const fl_frame *frame)
{
    return strstr(frame->file, "-packages/torch/") == NULL;
}

/* C++ that is below every allocation, or that only passes calls on. */
static bool frame_is_plumbing(const fl_frame *frame)
{
    static const char *const names[] = {
        "at::detail::", "c10::", "torch::CapturedTraceback", "torch::cuda::", "torch::unwind",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text_begins(frame->name, names[i]))
            return true;
    return strstr(frame->name, "at::detail::") != NULL || *frame->name == '\0';
}

/* ---- a frame in words ------------------------------------------------------------------------ */

/* "linear.py:125 forward": the last part of the path is enough to know it again. */
static void add_python(struct line *line, const fl_frame *frame)
{
    char place[32] = " ";
    const char *slash = strrchr(frame->file, '/');
    const char *file = slash != NULL ? slash + 1 : frame->file;
    if (frame->line > 0)
        snprintf(place, sizeof place, ":%u ", frame->line);
    line_begin_frame(line);
    line_add(line, file, strlen(file));
    line_add(line, place, strlen(place));
    line_add(line, frame->name, strlen(frame->name));
}

/* `at` behind the pair of brackets that opens there, or the end of the text. */
static const char *skip_brackets(const char *at, char open, char close)
{
    size_t depth = 0;
    for (; *at != '\0'; at++) {
        depth += *at == open;
        depth -= *at == close;
        if (depth == 0)
            return at + 1;
    }
    return at;
}

/* "at::native::addmm_out": without what it returns, arguments, and those of templates. */
static void add_native(struct line *line, const char *name)
{
    static const char unnamed[] = "(anonymous namespace)::";
    char plain[160];
    size_t used = 0;
    for (const char *at = name; *at != '\0' && used + 1 < sizeof plain;) {
        if (text_begins(at, unnamed))
            at += sizeof unnamed - 1;
        else if (*at == '<' && used > 0)
            at = skip_brackets(at, '<', '>');
        else if (*at == '(' && used > 0)
            break;
        else if (*at == ' ') {
            used = 0;
            at++;
        } else
            plain[used++] = *at++;
    }
    line_begin_frame(line);
    line_add(line, used > 0 ? plain : name, used > 0 ? used : strlen(name));
}

/* "addmm" of "at::_ops::addmm::call(...)": what Python calls by that name. */
static void add_operator(struct line *line, const fl_trace *trace, uint32_t stack, size_t depth)
{
    static const char ops[] = "at::_ops::";
    for (size_t i = 0; i < depth; i++) {
        fl_frame frame = fl_trace_stack_frame(trace, stack, i);
        if (!text_begins(frame.name, ops))
            continue;
        const char *name = frame.name + sizeof ops - 1;
        line_begin_frame(line);
        line_add(line, name, strcspn(name, ":("));
        return;
    }
}

/* ---- a stack in words ------------------------------------------------------------------------ */

static bool stack_has(const fl_trace *trace, uint32_t stack, size_t depth,
                      bool (*is)(const fl_frame *frame))
{
    for (size_t i = 0; i < depth; i++) {
        fl_frame frame = fl_trace_stack_frame(trace, stack, i);
        if (is(&frame))
            return true;
    }
    return false;
}

static void describe_python(struct line *line, const fl_trace *trace, uint32_t stack, size_t depth)
{
    add_operator(line, trace, stack, depth);
    bool is_innermost = true;
    for (size_t i = 0; i < depth && !line_is_full(line); i++) {
        fl_frame frame = fl_trace_stack_frame(trace, stack, i);
        if (!frame_is_python(&frame) || (!is_innermost && !frame_is_outside(&frame)))
            continue;
        is_innermost = false;
        add_python(line, &frame);
    }
}

static void describe_native(struct line *line, const fl_trace *trace, uint32_t stack, size_t depth)
{
    for (size_t i = 0; i < depth && !line_is_full(line); i++) {
        fl_frame frame = fl_trace_stack_frame(trace, stack, i);
        if (!frame_is_plumbing(&frame))
            add_native(line, frame.name);
    }
    if (line->used > 0 || depth == 0)
        return;
    fl_frame frame = fl_trace_stack_frame(trace, stack, depth - 1);
    add_native(line, frame.name);
}

void fl_stack_describe(const fl_trace *trace, uint32_t stack, uint64_t most, char *buffer,
                       size_t size)
{
    struct line line = {.buffer = buffer, .size = size, .left = most};
    size_t depth = stack != FL_NONE ? fl_trace_stack_depth(trace, stack) : 0;
    snprintf(buffer, size, "(no stack recorded)");
    if (depth == 0 || most == 0)
        return;
    *buffer = '\0';
    if (stack_has(trace, stack, depth, frame_is_python))
        describe_python(&line, trace, stack, depth);
    else
        describe_native(&line, trace, stack, depth);
}

/* ---- for programs ---------------------------------------------------------------------------- */

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
