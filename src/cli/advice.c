/* Rows of what may be missing, each with the words for it and with the remedy. */
#include "cli/advice.h"

#include "emit/emit.h"

#include <fraglab/units.h>

#include <stdio.h>

static bool has_impossible_end(const fl_trace *trace, size_t device, const fl_survey *survey)
{
    (void)survey;
    uint64_t shown, impossible;
    return fl_trace_impossible(trace, device, &shown, &impossible) != NULL;
}

static bool lacks_history(const fl_trace *trace, size_t device, const fl_survey *survey)
{
    (void)trace, (void)device;
    return survey->events == 0 && survey->segment_count > 0;
}

static bool is_cut(const fl_trace *trace, size_t device, const fl_survey *survey)
{
    (void)trace, (void)device;
    return survey->events > 0 && !survey->is_complete;
}

static bool lacks_end(const fl_trace *trace, size_t device, const fl_survey *survey)
{
    return survey->events > 0 && !survey->has_final_state &&
           !has_impossible_end(trace, device, survey);
}

static bool was_stopped(const fl_trace *trace, size_t device, const fl_survey *survey)
{
    (void)trace, (void)device;
    return survey->is_state_newer;
}

static bool lacks_stacks(const fl_trace *trace, size_t device, const fl_survey *survey)
{
    (void)trace, (void)device;
    return survey->events > 0 && !survey->has_stacks;
}

static bool lacks_times(const fl_trace *trace, size_t device, const fl_survey *survey)
{
    (void)trace, (void)device;
    return survey->events > 0 && !survey->has_times;
}

static bool lacks_settings(const fl_trace *trace, size_t device, const fl_survey *survey)
{
    (void)device, (void)survey;
    return fl_trace_lacks_conf(trace);
}

static bool leaves_out_frees(const fl_trace *trace, size_t device, const fl_survey *survey)
{
    (void)survey;
    return fl_trace_leaves_out(trace, device, FL_OP_FREE);
}

static bool leaves_out_completions(const fl_trace *trace, size_t device, const fl_survey *survey)
{
    (void)survey;
    return fl_trace_leaves_out(trace, device, FL_OP_FREE_DONE);
}

static bool leaves_out_allocs(const fl_trace *trace, size_t device, const fl_survey *survey)
{
    (void)survey;
    return fl_trace_leaves_out(trace, device, FL_OP_ALLOC);
}

static bool was_reordered(const fl_trace *trace, size_t device, const fl_survey *survey)
{
    (void)survey;
    uint64_t left_out;
    return fl_trace_order(trace, device, &left_out) != FL_ORDER_AS_RECORDED;
}

#define NO_SKIPS "torch.cuda.memory._record_memory_history() without skip_actions"

static const struct {
    bool (*applies)(const fl_trace *trace, size_t device, const fl_survey *survey);
    const char *lacks, *next_time;
} rows[] = {
    {has_impossible_end, "the final state contradicts itself: `fraglab verify` says where", NULL},
    {lacks_history, "no history: what led to the final state is not known",
     "torch.cuda.memory._record_memory_history() before the model is built"},
    {is_cut, "peaks, sums and counters from before the first event are not known",
     "torch.cuda.memory._record_memory_history() before the model is built, max_entries left out "
     "or "
     "well above what this file holds"},
    {was_reordered, "what lies in the gaps of a ring whose size was changed is not known",
     "one call of _record_memory_history, without changing max_entries while it records"},
    {lacks_end,
     "the final state lies behind the cut: sizes of blocks that are live at the end are "
     "not known",
     "the whole file"},
    {was_stopped, "what came between the last event and the final state is not known",
     "torch.cuda.memory._snapshot() while history is still being recorded"},
    {leaves_out_allocs, "'alloc' was left out while recording: requests are not known", NO_SKIPS},
    {leaves_out_frees,
     "'free_requested' was left out while recording: how long frees waited is not "
     "known",
     NO_SKIPS},
    {leaves_out_completions,
     "'free_completed' was left out while recording: how long frees waited "
     "is not known",
     NO_SKIPS},
    {lacks_stacks, "who allocated is not known",
     "_record_memory_history(context=\"all\", stacks=\"python\")"},
    {lacks_times, "times are not recorded", "PyTorch 2.2 or later"},
    {lacks_settings,
     "the settings are not in the file; `fraglab verify` looks for such that "
     "explain it",
     "PyTorch 2.3 or later, and the whole file"},
};

static void say_before(const fl_survey *survey, char *text, size_t room)
{
    char bytes[24], blocks[27], kept[24];
    fl_format_bytes(survey->before_bytes, bytes, sizeof bytes);
    fl_format_count(survey->before_blocks, blocks, sizeof blocks);
    fl_format_bytes(survey->kept_bytes, kept, sizeof kept);
    snprintf(text, room, "; before them %s in %s allocations, %s of it to the end", bytes, blocks,
             kept);
}

static void say_covers(const fl_survey *survey, char *text, size_t room)
{
    char events[27], span[40] = "", before[160] = "";
    if (survey->events == 0) {
        snprintf(text, room, "%s",
                 survey->segment_count > 0 ? "nothing of the run, only its end" : "nothing");
        return;
    }
    if (survey->has_times)
        snprintf(span, sizeof span, " in %.3f s",
                 ((double)survey->last_us - (double)survey->first_us) / 1e6);
    if (!survey->is_complete && survey->has_final_state)
        say_before(survey, before, sizeof before);
    bool has_end = survey->has_final_state && !survey->is_state_newer;
    const char *part = survey->is_complete && has_end ? "the whole run: "
                       : survey->is_complete          ? "its beginning: "
                       : survey->has_final_state      ? "the last "
                                                      : "a part: ";
    fl_format_count(survey->events, events, sizeof events);
    snprintf(text, room, "%s%s events%s%s", part, events, span, before);
}

void fl_advice_give(const fl_trace *trace, size_t device, const fl_survey *survey,
                    fl_advice *ret_advice)
{
    fl_advice advice = {.count = 0};
    say_covers(survey, advice.covers, sizeof advice.covers);
    for (size_t i = 0; i < sizeof rows / sizeof *rows && advice.count < FL_ADVICE_MOST; i++) {
        if (!rows[i].applies(trace, device, survey))
            continue;
        advice.lacks[advice.count] = rows[i].lacks;
        advice.next_time[advice.count++] = rows[i].next_time;
    }
    *ret_advice = advice;
}
