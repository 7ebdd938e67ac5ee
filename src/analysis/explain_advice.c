/* What to do, by class: the most certain first; and whether what the message itself recommends can
 * help. */
#include "analysis/explain.h"

#include <stdio.h>
#include <string.h>

static bool is_windows(const fl_message *message)
{
    bool is_wrapped = message->figures[FL_FIGURE_THIS_PROCESS].is_wrapped;
    for (size_t i = 0; i < message->process_count; i++)
        is_wrapped = is_wrapped || message->processes[i].used.is_wrapped;
    return is_wrapped;
}

static const char *variable_of(const fl_message *message)
{
    if (strcmp(message->backend, "HIP") == 0)
        return "PYTORCH_HIP_ALLOC_CONF";
    return strcmp(message->backend, "NPU") == 0 ? "PYTORCH_NPU_ALLOC_CONF"
                                                : "PYTORCH_CUDA_ALLOC_CONF";
}

static bool is_small(const fl_explanation *out)
{
    return out->message.is_segment && out->asked_to == FL_MIB;
}

static void advise_snapshot(fl_sentences *advice)
{
    fl_say(advice, "To see which blocks pin the memory, record a snapshot "
                   "(torch.cuda.memory._record_memory_history, _dump_snapshot) and give it to "
                   "`fraglab diagnose`; `fraglab replay --conf` tries a setting without the GPU.");
}

static void advise_fragmentation(fl_judge *judge)
{
    const fl_message *message = judge->message;
    fl_sentences *advice = &judge->out->advice;
    bool is_old = message->first != 0 && message->last < 201;
    if (is_old)
        fl_say(advice, "PyTorch 2.1 and later have expandable_segments:True, which removes most of "
                       "this; this message is of an older release.");
    else if (is_windows(message))
        fl_say(advice, "expandable_segments:True removes most of this, but not on Windows, where "
                       "this message seems to come from.");
    else
        fl_say(advice, "Try %s=expandable_segments:True.", variable_of(message));
    if (is_small(judge->out))
        fl_say(advice, "max_split_size_mb does nothing for a request of at most 1 MiB itself; it "
                       "may keep large blocks whole, so that segments can be given back.");
    else if (!(message->first != 0 && message->last < 110))
        fl_say(advice, "If that is not possible, max_split_size_mb:N with N below the size asked "
                       "for keeps larger blocks whole.");
    fl_say(advice, "torch.cuda.empty_cache() after the failure gives nothing: PyTorch had returned "
                   "what it could before it printed this.  Called before the peak it may help.");
    advise_snapshot(advice);
}

static void advise_full(fl_judge *judge)
{
    fl_sentences *advice = &judge->out->advice;
    const fl_number *asked = fl_get(judge, FL_FIGURE_REQUESTED);
    if (fl_is_beyond(asked, fl_get(judge, FL_FIGURE_TOTAL))) {
        fl_say(advice, "Look at the shapes in the line that failed: an intermediate result is "
                       "larger than meant, or must be computed in parts.");
        return;
    }
    fl_say(advice, "Make less live at the same time: a smaller batch or sequence, half precision, "
                   "activation checkpointing, offloading, or a larger card.");
    if (fl_get(judge, FL_FIGURE_PRIVATE)->is_given)
        fl_say(advice, "Capture fewer or smaller CUDA graphs: their pools hold %s for replays.",
               fl_say_size(fl_get(judge, FL_FIGURE_PRIVATE)->bytes).text);
    fl_say(advice, "If it used to fit or grows step by step, look for what is kept: losses summed "
                   "with their graph, lists of outputs, a second model.");
    advise_snapshot(advice);
}

static void advise_outside(fl_judge *judge)
{
    fl_sentences *advice = &judge->out->advice;
    fl_say(advice, "Look with nvidia-smi (rocm-smi, npu-smi) at who else is on the card, and end "
                   "or move it: old runs of your own are the usual find.");
    if (judge->message->process_count > 1)
        fl_say(advice,
               "%zu other processes are listed: if they are ranks of the same job, each "
               "opened a context on this card; set the device before the first CUDA call.",
               judge->message->process_count);
    if (judge->outside.of_process.is_given && judge->outside.of_process.bytes > FL_USUAL_CONTEXT)
        fl_say(advice, "Another library of this very process holds memory of its own: NCCL "
                       "buffers, workspaces, TensorFlow, JAX, CTranslate2; give it a limit.");
    fl_say(advice, "No setting of PyTorch's allocator gives this memory back.");
}

static void advise_limit(fl_judge *judge)
{
    fl_sentences *advice = &judge->out->advice;
    fl_say(advice, "Raise or remove the cap: torch.cuda.set_per_process_memory_fraction, or "
                   "per_process_memory_fraction in the settings (2.10 and later).");
    const fl_number *unused = fl_get(judge, FL_FIGURE_UNALLOCATED);
    const fl_number *asked = fl_get(judge, FL_FIGURE_REQUESTED);
    if (unused->is_given && unused->bytes >= asked->bytes)
        fl_say(advice,
               "Inside the cap the unused memory is in pieces: "
               "%s=expandable_segments:True may do without a higher cap.",
               variable_of(judge->message));
}

static void advise_inconsistent(fl_judge *judge)
{
    fl_sentences *advice = &judge->out->advice;
    const fl_number *asked = fl_get(judge, FL_FIGURE_REQUESTED);
    const fl_number *free = fl_get(judge, FL_FIGURE_FREE);
    if (asked->is_wrapped || asked->bytes >= FL_GARBAGE_SIZE) {
        fl_say(advice, "Print the shapes and indices in front of the line that failed; a corrupted "
                       "input or an overflow of an integer is usual.");
        return;
    }
    if (free->is_given && asked->is_given && free->bytes >= asked->bytes) {
        fl_say(advice, "Run it again and watch nvidia-smi from outside: memory that comes and goes "
                       "belongs to another thread or process.");
        fl_say(advice, "On Windows, enlarge the page file; in WSL and containers look at their "
                       "memory limits and at the kernel log.");
    } else {
        fl_say(advice, "Take the numbers as unreliable.  On Windows, the driver's setting for "
                       "system memory fallback shows at once whether memory was lent.");
        fl_say(advice, "Compare with the whole log, unedited: were lines of two processes mixed?");
    }
    advise_snapshot(advice);
}

void fl_explain_advice(fl_judge *judge)
{
    switch (judge->out->trouble) {
    case FL_TROUBLE_FRAGMENTATION:
        advise_fragmentation(judge);
        return;
    case FL_TROUBLE_FULL:
        advise_full(judge);
        return;
    case FL_TROUBLE_OUTSIDE:
        advise_outside(judge);
        return;
    case FL_TROUBLE_LIMIT:
        advise_limit(judge);
        return;
    case FL_TROUBLE_INCONSISTENT:
        advise_inconsistent(judge);
        return;
    default:
        fl_say(&judge->out->advice, "Paste the message whole, up to its last sentence.");
    }
}

/* ---- the message's own advice ---------------------------------------------------------------- */

static void say_printed(fl_judge *judge, fl_helps helps, const char *text)
{
    judge->out->printed_advice_helps = helps;
    snprintf(judge->out->printed_advice, sizeof judge->out->printed_advice, "%s", text);
}

/* Even if all that is unused could be used, the request would not fit. */
static bool is_packing_useless(const fl_judge *judge)
{
    fl_number all =
        fl_number_add(*fl_get(judge, FL_FIGURE_UNALLOCATED), *fl_get(judge, FL_FIGURE_FREE));
    const fl_number *asked = fl_get(judge, FL_FIGURE_REQUESTED);
    return all.is_given && asked->is_given && all.high < asked->low;
}

static void judge_packing(fl_judge *judge, const char *name)
{
    char text[FL_SENTENCE_SIZE];
    bool is_wrong = judge->out->trouble == FL_TROUBLE_INCONSISTENT;
    if (is_packing_useless(judge))
        snprintf(text, sizeof text,
                 "%s cannot help: even if all unused memory came together, the request would not "
                 "fit.",
                 name);
    else if (is_wrong)
        snprintf(text, sizeof text, "These numbers give no reason to expect that %s helps.", name);
    else
        snprintf(text, sizeof text, "%s can help: enough is unused, if it came together.", name);
    say_printed(judge, is_wrong || is_packing_useless(judge) ? FL_HELPS_NO : FL_HELPS_MAYBE, text);
}

void fl_explain_printed_advice(fl_judge *judge)
{
    const fl_message *message = judge->message;
    switch (message->advice) {
    case FL_ADVICE_SPLIT:
        if (is_small(judge->out) && !is_packing_useless(judge))
            say_printed(judge, FL_HELPS_MAYBE,
                        "max_split_size_mb acts on large blocks only: it cannot serve this small "
                        "request itself, at best it lets whole segments be given back.");
        else
            judge_packing(judge, "max_split_size_mb");
        return;
    case FL_ADVICE_EXPANDABLE:
        if (is_windows(message))
            say_printed(judge, FL_HELPS_NO,
                        "expandable_segments does nothing on Windows, where this message seems to "
                        "come from.");
        else
            judge_packing(judge, "expandable_segments");
        return;
    case FL_ADVICE_EMPTY:
        say_printed(judge, FL_HELPS_NO,
                    "empty_cache cannot help: the allocator had given back what it could before "
                    "it printed this.");
        return;
    case FL_ADVICE_WATERMARK:
        say_printed(judge, FL_HELPS_MAYBE,
                    "A ratio of 0.0 lifts the limit, and the whole system may run out of memory "
                    "instead.");
        return;
    case FL_ADVICE_NONE:
        return;
    }
}
