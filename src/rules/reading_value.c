/* The values of a message: each is read as it is printed, and put where it belongs. */
#include "rules/reading_value.h"

#include "base/checked.h"
#include "rules/quantity.h"

#include <string.h>

static const struct {
    fl_value value;
    fl_figure figure;
} figure_of_value[] = {
    {FL_VALUE_SEGMENT, FL_FIGURE_REQUESTED},
    {FL_VALUE_REQUESTED, FL_FIGURE_REQUESTED},
    {FL_VALUE_TOTAL, FL_FIGURE_TOTAL},
    {FL_VALUE_FREE, FL_FIGURE_FREE},
    {FL_VALUE_ALLOCATED, FL_FIGURE_ALLOCATED},
    {FL_VALUE_USED, FL_FIGURE_ALLOCATED},
    {FL_VALUE_RESERVED, FL_FIGURE_RESERVED},
    {FL_VALUE_UNALLOCATED, FL_FIGURE_UNALLOCATED},
    {FL_VALUE_UNUSED, FL_FIGURE_UNALLOCATED},
    {FL_VALUE_LIMIT, FL_FIGURE_ALLOWED},
    {FL_VALUE_PRIVATE, FL_FIGURE_PRIVATE},
    {FL_VALUE_OWN, FL_FIGURE_THIS_PROCESS},
    {FL_VALUE_OTHER, FL_FIGURE_OTHER},
    {FL_VALUE_ACTIVE, FL_FIGURE_ACTIVE},
    {FL_VALUE_PEAK_ALLOCATED, FL_FIGURE_PEAK_ALLOCATED},
    {FL_VALUE_PEAK_RESERVED, FL_FIGURE_PEAK_RESERVED},
    {FL_VALUE_STUCK, FL_FIGURE_STUCK},
    {FL_VALUE_POOL, FL_FIGURE_TOTAL},
    {FL_VALUE_POOL, FL_FIGURE_RESERVED},
    {FL_VALUE_EXCEEDED, FL_FIGURE_EXCEEDED},
};

static const char *const figure_keys[FL_FIGURE_COUNT] = {
    [FL_FIGURE_REQUESTED] = "requested_bytes",
    [FL_FIGURE_TOTAL] = "total_bytes",
    [FL_FIGURE_FREE] = "free_bytes",
    [FL_FIGURE_ALLOCATED] = "allocated_bytes",
    [FL_FIGURE_RESERVED] = "reserved_bytes",
    [FL_FIGURE_UNALLOCATED] = "reserved_unallocated_bytes",
    [FL_FIGURE_ALLOWED] = "allowed_bytes",
    [FL_FIGURE_PRIVATE] = "private_pools_bytes",
    [FL_FIGURE_THIS_PROCESS] = "this_process_bytes",
    [FL_FIGURE_OTHER] = "other_allocations_bytes",
    [FL_FIGURE_ACTIVE] = "active_bytes",
    [FL_FIGURE_PEAK_ALLOCATED] = "peak_allocated_bytes",
    [FL_FIGURE_PEAK_RESERVED] = "peak_reserved_bytes",
    [FL_FIGURE_STUCK] = "non_releasable_bytes",
    [FL_FIGURE_EXCEEDED] = "segment_reserve_bytes",
};

const char *fl_figure_key(fl_figure figure)
{
    return figure_keys[figure];
}

static bool read_size(fl_reader *r, fl_value value, bool needs_unit)
{
    fl_number number;
    if (!fl_quantity_read(r->text, &r->at, needs_unit, &number))
        return false;
    for (size_t i = 0; i < sizeof figure_of_value / sizeof *figure_of_value; i++)
        if (figure_of_value[i].value == value)
            r->message->figures[figure_of_value[i].figure] = number;
    r->message->is_segment = r->message->is_segment || value == FL_VALUE_SEGMENT;
    return true;
}

static bool read_device(fl_reader *r)
{
    uint64_t device;
    if (!fl_whole_read(r->text, &r->at, &device) || device > 4095)
        return false;
    r->message->has_device = true;
    r->message->device = (unsigned)device;
    return true;
}

/* 2.3 prints the number as a character, which few copies preserve (21). */
static bool read_device_character(fl_reader *r)
{
    int c = fl_reader_look(r, 0);
    if (c < 0 || fl_is_digit(c) || c > 127)
        return false;
    if (fl_is_word(c) && fl_is_word(fl_reader_look(r, 1)))
        return true; /* nothing is left of it: this is the next word */
    r->message->has_device = true;
    r->message->device = (unsigned)c;
    r->at++;
    return true;
}

/* What PyTorch is built for; any other word before "out of memory" is somebody's prose.  A line may
 * end inside it. */
static const char *backend_at(fl_clean *text, size_t at, size_t *ret_end)
{
    static const char *const names[] = {"CUDA", "HIP",  "XPU", "NPU",  "MUSA",
                                        "MLU",  "MACA", "GCU", "ROCm", "SYCL"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *letter = names[i];
        size_t here = at;
        for (; *letter != '\0'; letter++, here++) {
            here += here > at && fl_clean_at(text, here) == '\n';
            if (fl_lower(fl_clean_at(text, here)) != fl_lower((unsigned char)*letter))
                break;
        }
        int after = fl_clean_at(text, here);
        if (*letter == '\0' && !fl_is_letter(after) && !fl_is_digit(after)) {
            *ret_end = here;
            return names[i];
        }
    }
    return NULL;
}

bool fl_reading_is_backend(fl_clean *text, size_t at)
{
    size_t end;
    return backend_at(text, at, &end) != NULL;
}

static bool read_backend(fl_reader *r)
{
    const char *name = backend_at(r->text, r->at, &r->at);
    if (name != NULL && r->message->backend[0] == '\0')
        memcpy(r->message->backend, name, strlen(name) + 1);
    return name != NULL;
}

static bool read_word(fl_reader *r)
{
    size_t length = 0;
    while (fl_reader_look(r, length) >= 0 && !fl_is_blank(fl_reader_look(r, length)))
        length++;
    /* What closes a bracket or a sentence around the word is not part of it. */
    while (length > 1 && strchr("),:;'", fl_reader_look(r, length - 1)) != NULL)
        length--;
    r->at += length;
    return length > 0;
}

/* `/job:localhost/.../device:GPU:0` and `GPU_0_bfc`. */
static bool read_place(fl_reader *r)
{
    size_t start = r->at;
    if (!read_word(r))
        return false;
    for (size_t i = start; i + 4 < r->at + 1; i++) {
        fl_reader inside = *r;
        inside.at = i + 4;
        int mark = fl_clean_at(r->text, i + 3);
        if (fl_lower(fl_clean_at(r->text, i)) != 'g' ||
            fl_lower(fl_clean_at(r->text, i + 1)) != 'p' ||
            fl_lower(fl_clean_at(r->text, i + 2)) != 'u' || (mark != ':' && mark != '_'))
            continue;
        if (read_device(&inside))
            return true;
    }
    return true;
}

/* `[64,2016,9,9]`: a request of that many elements, of four bytes until a type says otherwise. */
static bool read_shape(fl_reader *r)
{
    uint64_t elements = 4, extent;
    size_t count = 0;
    int close = fl_reader_look(r, 0) == '[' ? ']' : ')';
    if (fl_reader_look(r, 0) != '[' && fl_reader_look(r, 0) != '(')
        return false;
    r->at++;
    while (fl_reader_look(r, 0) != close) {
        if (fl_is_blank(fl_reader_look(r, 0)) || (count > 0 && fl_reader_look(r, 0) == ','))
            r->at++;
        else if (!fl_whole_read(r->text, &r->at, &extent) || !fl_mul(elements, extent, &elements))
            return false;
        else
            count++;
    }
    r->at++;
    r->message->is_size_assumed = true;
    r->message->figures[FL_FIGURE_REQUESTED] =
        (fl_number){true, false, elements, elements, elements};
    return count > 0;
}

static bool read_type(fl_reader *r)
{
    static const struct {
        const char *name;
        unsigned bytes;
    } types[] = {{"float", 4},     {"half", 2},   {"bfloat16", 2},   {"double", 8}, {"int32", 4},
                 {"int64", 8},     {"int16", 2},  {"int8", 1},       {"uint8", 1},  {"bool", 1},
                 {"complex64", 8}, {"uint16", 2}, {"complex128", 16}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        size_t length = strlen(types[i].name), same = 0;
        while (same < length && fl_reader_look(r, same) == types[i].name[same])
            same++;
        if (same < length || fl_is_word(fl_reader_look(r, length)))
            continue;
        fl_number *requested = &r->message->figures[FL_FIGURE_REQUESTED];
        uint64_t bytes;
        if (!fl_mul(requested->bytes / 4, types[i].bytes, &bytes))
            return false;
        *requested = (fl_number){true, false, bytes, bytes, bytes};
        r->message->is_size_assumed = false;
        r->at += length;
        return true;
    }
    return false;
}

/* A line may end inside it. */
static bool read_pid_number(fl_reader *r, uint64_t *ret_pid)
{
    uint64_t head, rest;
    if (!fl_whole_read(r->text, &r->at, &head))
        return false;
    size_t next = r->at + 1, after = next;
    if (fl_reader_look(r, 0) == '\n' && fl_whole_read(r->text, &after, &rest) &&
        fl_is_blank(fl_clean_at(r->text, after)) && head < 100000000) {
        for (; next < after; next++)
            head = 10 * head + (uint64_t)(fl_clean_at(r->text, next) - '0');
        r->at = after;
    }
    *ret_pid = head;
    return true;
}

static bool read_pid(fl_reader *r, fl_value value)
{
    fl_read_process *process = &r->message->processes[r->message->process_count];
    if (value == FL_VALUE_PID)
        return read_pid_number(r, &process->pid);
    return fl_quantity_read(r->text, &r->at, true, &process->used);
}

static bool read_count(fl_reader *r, fl_value value)
{
    uint64_t count;
    if (!fl_whole_read(r->text, &r->at, &count))
        return false;
    r->message->has_counts = true;
    *(value == FL_VALUE_OOMS ? &r->message->ooms : &r->message->retries) = count;
    return true;
}

bool fl_reading_value(fl_reader *r, fl_value value, bool needs_unit)
{
    fl_number ignored;
    if (value < FL_VALUE_SIZES)
        return read_size(r, value, needs_unit);
    switch (value) {
    case FL_VALUE_DEVICE:
        return read_device(r);
    case FL_VALUE_DEVICE_CHARACTER:
        return read_device_character(r);
    case FL_VALUE_BACKEND:
        return read_backend(r);
    case FL_VALUE_PID:
    case FL_VALUE_PROCESS:
        return read_pid(r, value);
    case FL_VALUE_OOMS:
    case FL_VALUE_RETRIES:
        return read_count(r, value);
    case FL_VALUE_NUMBER:
        return fl_quantity_read(r->text, &r->at, needs_unit, &ignored);
    case FL_VALUE_PLACE:
        return read_place(r);
    case FL_VALUE_SHAPE:
        return read_shape(r);
    case FL_VALUE_TYPE:
        return read_type(r);
    case FL_VALUE_NO_FAILURE:
        r->message->is_no_failure = true;
        return true;
    default:
        return read_word(r);
    }
}
