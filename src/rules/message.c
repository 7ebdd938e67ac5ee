/* Out-of-memory messages (15, 21, 22), written by the templates of layout.c. */
#include <fraglab/message.h>

#include "base/units.h"
#include "rules/layout.h"
#include "rules/profile.h"
#include "rules/text.h"

#include <string.h>

typedef struct message {
    const fl_oom_facts *oom;
    uint64_t sizes[FL_VALUE_WRITTEN_SIZES];
    fl_text text;
} message;

static bool value_applies(const message *m, fl_value value)
{
    const fl_oom_facts *oom = m->oom;
    switch (value) {
    case FL_VALUE_LIMIT:
        return oom->limit != FL_UNLIMITED;
    case FL_VALUE_PRIVATE:
        return oom->private_free > 0;
    case FL_VALUE_EXCEEDED:
        return oom->segment <= oom->total && oom->reserve < oom->segment;
    case FL_VALUE_CLASS:
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

static void value_add(message *m, fl_value value)
{
    char size[FL_FORMAT_SIZE], character = (char)m->oom->device;
    if (value < FL_VALUE_WRITTEN_SIZES) {
        fl_format_size(m->sizes[value], size);
        fl_text_add(&m->text, size, strlen(size));
    } else if (value == FL_VALUE_DEVICE) {
        fl_text_print(&m->text, "%u", m->oom->device);
    } else if (value == FL_VALUE_DEVICE_CHARACTER) {
        fl_text_add(&m->text, &character, 1);
    } else if (value == FL_VALUE_BACKEND) {
        fl_text_add(&m->text, "CUDA", 4);
    } else if (value == FL_VALUE_PROCESSES) {
        value_add_processes(m);
    } else {
        fl_text_add(&m->text, m->oom->reserve_class, strlen(m->oom->reserve_class));
    }
}

/* Whether every value between `at` and `end` applies. */
static bool template_applies(const message *m, const char *at, const char *end)
{
    while (at < end) {
        if (*at != '{')
            at++;
        else if (!value_applies(m, fl_layout_value(at, &at)))
            return false;
    }
    return true;
}

static void template_expand(message *m, const char *at, const char *end)
{
    while (at < end) {
        size_t plain = strcspn(at, "{[^");
        if (plain > (size_t)(end - at))
            plain = (size_t)(end - at);
        fl_text_add(&m->text, at, plain);
        at += plain;
        if (at < end && *at == '^') {
            at++;
        } else if (at < end && *at == '{') {
            value_add(m, fl_layout_value(at, &at));
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
    unsigned release = 100 * profile->major + profile->minor;
    for (size_t i = 0; i < fl_layout_count; i++) {
        const fl_layout *layout = &fl_layouts[i];
        if (layout->first <= release && release <= layout->last &&
            (expandable || layout->when != FL_LAYOUT_EXPANDABLE))
            text = layout->text;
    }
    return text;
}

size_t fl_oom_message(const fl_profile *profile, const fl_oom_facts *oom, char *buffer, size_t size)
{
    uint64_t used = oom->allocated + oom->private_free;
    message m = {.oom = oom, .text = fl_text_open(buffer, size)};
    const uint64_t sizes[FL_VALUE_WRITTEN_SIZES] = {
        [FL_VALUE_SEGMENT] = oom->segment,
        [FL_VALUE_TOTAL] = oom->total,
        [FL_VALUE_FREE] = oom->free,
        [FL_VALUE_ALLOCATED] = oom->allocated,
        [FL_VALUE_RESERVED] = oom->reserved,
        [FL_VALUE_UNALLOCATED] = oom->reserved - oom->allocated,
        [FL_VALUE_LIMIT] = oom->limit,
        [FL_VALUE_USED] = used,
        [FL_VALUE_UNUSED] = oom->reserved - used,
        [FL_VALUE_PRIVATE] = oom->private_free,
        [FL_VALUE_EXCEEDED] = oom->reserve,
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
