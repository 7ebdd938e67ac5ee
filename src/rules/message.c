/* Out-of-memory messages (15, 21, 22) as templates, one for each wording.
 *
 * `{name}` stands for a value.  `[...]` is left out where a value in it does not apply; `[a|b]` is
 * the first alternative whose values all do. */
#include <fraglab/message.h>

#include "base/units.h"
#include "rules/profile.h"
#include "rules/text.h"

#include <string.h>

enum value {
    /* sizes */
    VALUE_SEGMENT,
    VALUE_TOTAL,
    VALUE_FREE,
    VALUE_ALLOCATED,
    VALUE_RESERVED,
    VALUE_UNALLOCATED,
    VALUE_LIMIT,
    VALUE_USED,   /* allocated, with the free blocks of private pools taken for used ... */
    VALUE_UNUSED, /* ... and the rest of the reserved; wraps around where that is negative */
    VALUE_PRIVATE,
    VALUE_EXCEEDED, /* the reserve that the segment does not fit into */
    VALUE_SIZES,
    /* other */
    VALUE_DEVICE = VALUE_SIZES,
    VALUE_DEVICE_CHARACTER,
    VALUE_PROCESSES,
    VALUE_CLASS,
    VALUE_COUNT
};

static const char *const value_names[VALUE_COUNT] = {
    [VALUE_SEGMENT] = "segment",
    [VALUE_TOTAL] = "total",
    [VALUE_FREE] = "free",
    [VALUE_ALLOCATED] = "allocated",
    [VALUE_RESERVED] = "reserved",
    [VALUE_UNALLOCATED] = "unallocated",
    [VALUE_LIMIT] = "limit",
    [VALUE_USED] = "used",
    [VALUE_UNUSED] = "unused",
    [VALUE_PRIVATE] = "private",
    [VALUE_EXCEEDED] = "exceeded",
    [VALUE_DEVICE] = "device",
    [VALUE_DEVICE_CHARACTER] = "device_character",
    [VALUE_PROCESSES] = "processes",
    [VALUE_CLASS] = "class",
};

/* clang-format off */
#define HEAD "CUDA out of memory. Tried to allocate {segment}"
#define SEE "  See documentation for Memory Management"
#define GPU(device, capacity) HEAD ". GPU {" device "} has a total " capacity " of {total} of which {free} is free. {processes}"
#define PYTORCH_2_1 "Of the allocated memory {allocated} is allocated by PyTorch, and {unallocated} is reserved by PyTorch but unallocated."
#define PYTORCH_2_4 "Of the allocated memory {used} is allocated by PyTorch, [with {private} allocated in private pools (e.g., CUDA Graphs), ]and {unused} is reserved by PyTorch but unallocated."
#define ALLOWED "[{limit} allowed; ]"
#define ADVICE(setting) " If reserved but unallocated memory is large try setting " setting " to avoid fragmentation." SEE
#define LINK_OLD "  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)"
#define LINK_NEW "  (https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)"
#define RESERVE(whose) " This allocation exceeds the expandable-segment reserve of {exceeded} for " whose ", and a single allocation cannot span expandable segments. Raise PYTORCH_CUDA_ALLOC_CONF expandable_segments_reserve or expandable_segments_reserve_by_class (or unset it) so that a segment is at least {segment}."
#define ADDRESSES " expandable_segments is enabled. If instead the process is running out of virtual address space (VSZ), expandable segments may be over-reserving VA (each segment reserves ~9/8 of device memory, times the number of streams); reduce it via PYTORCH_CUDA_ALLOC_CONF expandable_segments_reserve / expandable_segments_reserve_by_class."

/* The last row that applies is printed: from that release on, and with expandable segments on where
 * the row says so. */
static const struct {
    unsigned minor; /* of PyTorch 2 */
    bool only_expandable;
    const char *text;
} templates[] = {
    {0, false, HEAD " (GPU {device}; {total} total capacity; {allocated} already allocated; {free} free; " ALLOWED "{reserved} reserved in total by PyTorch)"
               " If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation." SEE " and PYTORCH_CUDA_ALLOC_CONF"},
    {1, false, GPU("device", "capacty") PYTORCH_2_1 ADVICE("max_split_size_mb") " and PYTORCH_CUDA_ALLOC_CONF"},
    {2, false, GPU("device", "capacity") PYTORCH_2_1 ADVICE("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True") LINK_OLD},
    {3, false, GPU("device_character", "capacity") PYTORCH_2_1 ADVICE("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True") LINK_OLD},
    {4, false, GPU("device", "capacity") PYTORCH_2_4 ADVICE("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True") LINK_OLD},
    {5, false, GPU("device", "capacity") ALLOWED PYTORCH_2_4 ADVICE("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True") LINK_OLD},
    {10, false, GPU("device", "capacity") ALLOWED PYTORCH_2_4 ADVICE("PYTORCH_ALLOC_CONF=expandable_segments:True") LINK_OLD},
    {11, false, GPU("device", "capacity") ALLOWED PYTORCH_2_4 ADVICE("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True") LINK_NEW},
    {14, true, GPU("device", "capacity") ALLOWED PYTORCH_2_4},
    {15, true, GPU("device", "capacity") ALLOWED PYTORCH_2_4 "[" RESERVE("stream reserve class '{class}'") "|" RESERVE("this stream") "|" ADDRESSES "]"},
};
/* clang-format on */

typedef struct message {
    const fl_oom_facts *oom;
    uint64_t sizes[VALUE_SIZES];
    fl_text text;
} message;

static bool value_applies(const message *m, enum value value)
{
    const fl_oom_facts *oom = m->oom;
    switch (value) {
    case VALUE_LIMIT:
        return oom->limit != FL_UNLIMITED;
    case VALUE_PRIVATE:
        return oom->private_free > 0;
    case VALUE_EXCEEDED:
        return oom->segment <= oom->total && oom->reserve < oom->segment;
    case VALUE_CLASS:
        return oom->reserve_class != NULL;
    default:
        return true;
    }
}

static void value_add_processes(message *m)
{
    for (size_t i = 0; i < m->oom->process_count; i++) {
        const fl_process *process = &m->oom->processes[i];
        char size[FL_FORMAT_SIZE];
        fl_format_size(process->bytes, size);
        if (process->is_own)
            fl_text_print(&m->text,
                          "Including non-PyTorch memory, this process has %s memory in use. ",
                          size);
        else
            fl_text_print(&m->text, "Process %llu has %s memory in use. ",
                          (unsigned long long)process->pid, size);
    }
}

static void value_add(message *m, enum value value)
{
    char size[FL_FORMAT_SIZE], character = (char)m->oom->device;
    if (value < VALUE_SIZES) {
        fl_format_size(m->sizes[value], size);
        fl_text_add(&m->text, size, strlen(size));
    } else if (value == VALUE_DEVICE) {
        fl_text_print(&m->text, "%u", m->oom->device);
    } else if (value == VALUE_DEVICE_CHARACTER) {
        fl_text_add(&m->text, &character, 1);
    } else if (value == VALUE_PROCESSES) {
        value_add_processes(m);
    } else {
        fl_text_add(&m->text, m->oom->reserve_class, strlen(m->oom->reserve_class));
    }
}

/* The value that a template names at `at` (a `{`); *ret_after is behind its `}`. */
static enum value template_value(const char *at, const char **ret_after)
{
    size_t length = strcspn(++at, "}");
    *ret_after = at + length + 1;
    int value = 0;
    while (strncmp(value_names[value], at, length) != 0 || value_names[value][length] != '\0')
        value++;
    return (enum value)value;
}

/* Whether every value between `at` and `end` applies. */
static bool template_applies(const message *m, const char *at, const char *end)
{
    while (at < end) {
        if (*at != '{')
            at++;
        else if (!value_applies(m, template_value(at, &at)))
            return false;
    }
    return true;
}

static void template_expand(message *m, const char *at, const char *end)
{
    while (at < end) {
        size_t plain = strcspn(at, "{[");
        if (plain > (size_t)(end - at))
            plain = (size_t)(end - at);
        fl_text_add(&m->text, at, plain);
        at += plain;
        if (at < end && *at == '{') {
            value_add(m, template_value(at, &at));
        } else if (at < end) {
            const char *close = strchr(at, ']'), *option = at + 1;
            const char *option_end = option + strcspn(option, "|]");
            while (!template_applies(m, option, option_end) && option_end < close) {
                option = option_end + 1;
                option_end = option + strcspn(option, "|]");
            }
            if (template_applies(m, option, option_end))
                template_expand(m, option, option_end);
            at = close + 1;
        }
    }
}

static const char *template_of(const fl_profile *profile, bool expandable)
{
    const char *text = NULL;
    for (size_t i = 0; i < sizeof templates / sizeof *templates; i++)
        if (profile->minor >= templates[i].minor && (expandable || !templates[i].only_expandable))
            text = templates[i].text;
    return text;
}

size_t fl_oom_message(const fl_profile *profile, const fl_oom_facts *oom, char *buffer, size_t size)
{
    uint64_t used = oom->allocated + oom->private_free;
    message m = {.oom = oom, .text = fl_text_open(buffer, size)};
    const uint64_t sizes[VALUE_SIZES] = {
        [VALUE_SEGMENT] = oom->segment,
        [VALUE_TOTAL] = oom->total,
        [VALUE_FREE] = oom->free,
        [VALUE_ALLOCATED] = oom->allocated,
        [VALUE_RESERVED] = oom->reserved,
        [VALUE_UNALLOCATED] = oom->reserved - oom->allocated,
        [VALUE_LIMIT] = oom->limit,
        [VALUE_USED] = used,
        [VALUE_UNUSED] = oom->reserved - used,
        [VALUE_PRIVATE] = oom->private_free,
        [VALUE_EXCEEDED] = oom->reserve,
    };
    memcpy(m.sizes, sizes, sizeof sizes);
    const char *text = template_of(profile, oom->expandable);
    template_expand(&m, text, text + strlen(text));
    return m.text.length;
}

size_t fl_rejection_message(uint64_t requested, char *buffer, size_t size)
{
    char requested_text[FL_FORMAT_SIZE];
    fl_format_size(requested, requested_text);
    fl_text text = fl_text_open(buffer, size);
    fl_text_print(
        &text,
        "CUDA out of memory. Allocation was preemptively rejected because it would exceed "
        "per_process_memory_fraction limit. Requested size: %s",
        requested_text);
    return text.length;
}

/* PyTorch prints a double with %.2f.  The hundredths are found in integers here, because printf
 * follows the locale; only beyond 2^53 does the double lose anything, and that is kept. */
void fl_format_size(uint64_t bytes, char buffer[FL_FORMAT_SIZE])
{
    static const char *const units[] = {"KiB", "MiB", "GiB"};
    fl_text text = fl_text_open(buffer, FL_FORMAT_SIZE);
    if (bytes <= FL_KIB) {
        fl_text_print(&text, "%u bytes", (unsigned)bytes);
        return;
    }
    unsigned unit = bytes <= FL_MIB ? 0 : bytes <= FL_GIB ? 1 : 2;
    double scale = (double)(UINT64_C(1) << 10 * (unit + 1)), value = (double)bytes / scale;
    uint64_t whole = (uint64_t)value;
    uint64_t hundredfold = (uint64_t)((value - (double)whole) * scale) * 100;
    uint64_t hundredths = hundredfold >> 10 * (unit + 1), half = (uint64_t)scale / 2;
    uint64_t rest = hundredfold - (hundredths << 10 * (unit + 1));
    hundredths += rest > half || (rest == half && hundredths % 2 == 1);
    whole += hundredths / 100;
    fl_text_print(&text, "%llu.%02u %s", (unsigned long long)whole, (unsigned)(hundredths % 100),
                  units[unit]);
}
