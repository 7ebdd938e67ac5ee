/* The arithmetic behind the class, and what the printed numbers mean. */
#include "analysis/explain.h"

static void say_segment(fl_judge *judge)
{
    const fl_explanation *out = judge->out;
    const fl_number *asked = fl_get(judge, FL_FIGURE_REQUESTED);
    if (!judge->message->is_segment || !asked->is_given || asked->bytes >= FL_GARBAGE_SIZE)
        return;
    if (out->asked_from == 1 && out->asked_to == FL_MIB)
        fl_say(&judge->out->evidence,
               "2.00 MiB is the segment that the allocator wanted, not the tensor: the request "
               "was of at most 1 MiB and found no room in the pool of small blocks.");
    else if (out->asked_from == FL_MIB + 1)
        fl_say(&judge->out->evidence,
               "20.00 MiB is the segment that the allocator wanted: the request was between 1 MiB "
               "and 10 MiB (or, rounded up, between 18 MiB and 20 MiB).");
    else if (out->asked_from > 1)
        fl_say(&judge->out->evidence,
               "%s is the segment that the allocator wanted: the request, rounded up to 2 MiB.",
               fl_say_size(asked->bytes).text);
}

static void say_unused(fl_judge *judge)
{
    const fl_number *reserved = fl_get(judge, FL_FIGURE_RESERVED);
    const fl_number *allocated = fl_get(judge, FL_FIGURE_ALLOCATED);
    const fl_number *unused = fl_get(judge, FL_FIGURE_UNALLOCATED);
    if (unused->is_wrapped)
        fl_say(&judge->out->evidence,
               "\"Reserved but unallocated\" is negative, printed as 2^64 bytes: free blocks of "
               "private pools are counted as allocated, and more of them than are unused.");
    if (!reserved->is_given || !allocated->is_given || !unused->is_given)
        return;
    const fl_number *asked = fl_get(judge, FL_FIGURE_REQUESTED);
    const char *relation = !asked->is_given                ? ""
                           : unused->low >= asked->high    ? ", enough for the request in bytes"
                           : unused->high < asked->low     ? ", less than the request"
                           : unused->bytes >= asked->bytes ? ", as printed enough for the request"
                                                           : ", as printed less than the request";
    fl_say(&judge->out->evidence, "reserved %s - allocated %s = %s unused in PyTorch%s.",
           fl_say_size(reserved->bytes).text, fl_say_size(allocated->bytes).text,
           fl_say_size(unused->bytes).text, relation);
}

static void say_outside(fl_judge *judge)
{
    const fl_outside *outside = &judge->outside;
    if (outside->all.is_given && outside->all.bytes > 0)
        fl_say(&judge->out->evidence,
               "card %s - free %s - reserved %s = %s outside of PyTorch's allocator.",
               fl_say_size(fl_get(judge, FL_FIGURE_TOTAL)->bytes).text,
               fl_say_size(fl_get(judge, FL_FIGURE_FREE)->bytes).text,
               fl_say_size(fl_get(judge, FL_FIGURE_RESERVED)->bytes).text,
               fl_say_size(outside->all.bytes).text);
    if (outside->process != 0)
        fl_say(&judge->out->evidence,
               "Process %llu is this one: it is the only one listed and holds what PyTorch has "
               "reserved; a container hides its number.",
               (unsigned long long)outside->process);
    if (outside->of_others.is_given && outside->of_others.bytes >= 64 * FL_MIB)
        fl_say(&judge->out->evidence, "%s of it are of other processes.",
               fl_say_size(outside->of_others.bytes).text);
    if (outside->of_process.is_given && outside->of_process.bytes > FL_USUAL_CONTEXT)
        fl_say(&judge->out->evidence,
               "%s of this process are outside of the allocator; a context usually takes less "
               "than 1 GiB, so another library in it holds memory of its own.",
               fl_say_size(outside->of_process.bytes).text);
}

static void say_private(fl_judge *judge)
{
    const fl_number *pools = fl_get(judge, FL_FIGURE_PRIVATE);
    if (pools->is_given)
        fl_say(&judge->out->evidence,
               "%s of what is called allocated are free blocks in private pools: CUDA graphs run "
               "in them, and no other request may use them.",
               fl_say_size(pools->bytes).text);
}

static void say_unavailable(fl_judge *judge)
{
    const fl_message *message = judge->message;
    bool is_wrapped = message->figures[FL_FIGURE_THIS_PROCESS].is_wrapped;
    for (size_t i = 0; i < message->process_count; i++)
        is_wrapped = is_wrapped || message->processes[i].used.is_wrapped;
    if (is_wrapped)
        fl_say(&judge->out->evidence,
               "17179869184.00 GiB of a process is 2^64 bytes: the driver could not tell (Windows "
               "and WSL never do).");
}

void fl_explain_evidence(fl_judge *judge)
{
    say_segment(judge);
    say_unused(judge);
    say_outside(judge);
    say_private(judge);
    say_unavailable(judge);
}
