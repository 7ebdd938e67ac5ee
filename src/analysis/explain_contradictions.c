/* Numbers that cannot all be true, beyond what rounding explains, and how that comes about. */
#include "analysis/explain.h"

#include <stdarg.h>
#include <stdio.h>

#define LENDS                                                                                      \
    "the driver lends system memory to the card (Windows and WSL do): what is beyond the card "    \
    "works, slowly, until that is used up too"
#define SHARES                                                                                     \
    "the card shares memory with the processor (Jetson, Grace Hopper, an APU), and the total "     \
    "printed is not all that there is"
#define MIXED                                                                                      \
    "the text was put together from two messages (ranks that write at the same time), retyped or " \
    "edited"

/* A card of a desktop, where the system lends; one of a data centre, where it does not. */
static const char *const desktop_causes[] = {LENDS, SHARES, MIXED, NULL};
static const char *const centre_causes[] = {MIXED, SHARES, LENDS, NULL};
static const char *const mixed_causes[] = {
    MIXED, "the numbers were read one after the other while another thread or process went on",
    NULL};
/* The first stands only where a message does not tell a limit. */
static const char *const free_causes[] = {
    "the program set a memory fraction (torch.cuda.set_per_process_memory_fraction), which the "
    "messages of PyTorch 2.1 to 2.4 do not tell",
    "the free memory was read after the failure: another thread or process gave some back in "
    "between",
    "the driver cannot use what is free: its own pieces are too small, or the pages are taken",
    "the system stands behind the card's memory and refused (Windows and WSL: page file; "
    "containers: a memory limit)",
    MIXED,
    NULL};

/* In the releases from 2.1 to 2.4 the limit is not in the text. */
static bool hides_limit(const fl_message *message)
{
    return message->first >= 201 && message->first <= 204;
}
static const char *const process_causes[] = {
    "the driver's library counts processes in its own way (containers, MIG, memory shared "
    "between processes)",
    MIXED, NULL};

/* Releases of cards for data centres begin there. */
#define CENTRE_SIZE (UINT64_C(40) << 30)

static void contradict(fl_judge *judge, const char *const *causes, const char *format, ...)
    FL_PRINTF(3, 4);

static void contradict(fl_judge *judge, const char *const *causes, const char *format, ...)
{
    fl_explanation *out = judge->out;
    if (out->contradiction_count == FL_CONTRADICTIONS_MOST)
        return;
    fl_contradiction *one = &out->contradictions[out->contradiction_count++];
    one->causes = causes;
    va_list args;
    va_start(args, format);
    vsnprintf(one->sentence, sizeof one->sentence, format, args);
    va_end(args);
}

/* Processes whose use is "not available" are Windows' or WSL's. */
static bool has_unavailable_process(const fl_message *message)
{
    for (size_t i = 0; i < message->process_count; i++)
        if (message->processes[i].used.is_wrapped)
            return true;
    return message->figures[FL_FIGURE_THIS_PROCESS].is_wrapped;
}

static const char *const *causes_of_beyond(const fl_judge *judge)
{
    bool is_centre = fl_get(judge, FL_FIGURE_TOTAL)->bytes >= CENTRE_SIZE;
    return is_centre && !has_unavailable_process(judge->message) ? centre_causes : desktop_causes;
}

static void check_card(fl_judge *judge)
{
    const fl_number *total = fl_get(judge, FL_FIGURE_TOTAL), *free = fl_get(judge, FL_FIGURE_FREE);
    const fl_number *allocated = fl_get(judge, FL_FIGURE_ALLOCATED);
    const fl_number *reserved = fl_get(judge, FL_FIGURE_RESERVED);
    fl_number known = fl_number_add(*free, *reserved);
    if (fl_is_beyond(allocated, total))
        contradict(judge, causes_of_beyond(judge),
                   "Allocated (%s) exceeds the card (%s) by %s, more than rounding explains.",
                   fl_say_size(allocated->bytes).text, fl_say_size(total->bytes).text,
                   fl_say_size(allocated->bytes - total->bytes).text);
    else if (fl_is_beyond(reserved, total))
        contradict(judge, causes_of_beyond(judge),
                   "Reserved (%s) exceeds the card (%s) by %s, more than rounding explains.",
                   fl_say_size(reserved->bytes).text, fl_say_size(total->bytes).text,
                   fl_say_size(reserved->bytes - total->bytes).text);
    else if (fl_is_beyond(free, total))
        contradict(judge, mixed_causes, "Free (%s) exceeds the card (%s).",
                   fl_say_size(free->bytes).text, fl_say_size(total->bytes).text);
    else if (fl_is_beyond(&known, total))
        contradict(judge, causes_of_beyond(judge),
                   "Free (%s) and reserved (%s) together exceed the card (%s) by %s.",
                   fl_say_size(free->bytes).text, fl_say_size(reserved->bytes).text,
                   fl_say_size(total->bytes).text, fl_say_size(known.bytes - total->bytes).text);
}

static void check_free(fl_judge *judge)
{
    const fl_number *asked = fl_get(judge, FL_FIGURE_REQUESTED);
    const fl_number *free = fl_get(judge, FL_FIGURE_FREE);
    if (!asked->is_given || !free->is_given || free->low < asked->high || fl_is_limited(judge))
        return;
    contradict(judge, hides_limit(judge->message) ? free_causes : free_causes + 1,
               "%s were free, at least the %s asked for, and yet the driver refused.",
               fl_say_size(free->bytes).text, fl_say_size(asked->bytes).text);
}

static void check_process(fl_judge *judge)
{
    const fl_number *own = fl_get(judge, FL_FIGURE_THIS_PROCESS);
    const fl_number *total = fl_get(judge, FL_FIGURE_TOTAL);
    if (fl_is_beyond(own, total))
        contradict(judge, process_causes, "This process (%s) uses more than the card has (%s).",
                   fl_say_size(own->bytes).text, fl_say_size(total->bytes).text);
}

void fl_explain_contradictions(fl_judge *judge)
{
    const fl_number *allocated = fl_get(judge, FL_FIGURE_ALLOCATED);
    const fl_number *reserved = fl_get(judge, FL_FIGURE_RESERVED);
    check_card(judge);
    check_free(judge);
    if (fl_is_beyond(allocated, reserved))
        contradict(judge, mixed_causes,
                   "Allocated (%s) exceeds reserved (%s), of which it is a part.",
                   fl_say_size(allocated->bytes).text, fl_say_size(reserved->bytes).text);
    check_process(judge);
}
