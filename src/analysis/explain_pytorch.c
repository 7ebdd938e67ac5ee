/* The class of a message of the caching allocator, by comparing what it prints.
 *
 * It is printed after the allocator has given back every segment that it could (9, 15.1), so what
 * it still holds unused lies beside live blocks, or in pools of its own.  What the numbers do not
 * tell is why: pieces, streams and pools look the same. */
#include "analysis/explain.h"

#include <stdio.h>

static fl_number exactly(uint64_t bytes)
{
    return (fl_number){true, false, bytes, bytes, bytes};
}

/* ---- what was asked -------------------------------------------------------------------------- */

/* The segment sizes of section 4: 2 MiB for up to 1 MiB, 20 MiB for up to 10 MiB, else the request
 * rounded up to 2 MiB.  Before 1.4 there were others. */
void fl_explain_request(fl_judge *judge)
{
    const fl_number *asked = fl_get(judge, FL_FIGURE_REQUESTED);
    fl_explanation *out = judge->out;
    if (!asked->is_given || asked->bytes == 0)
        return;
    out->asked_to = asked->high;
    if (!judge->message->is_segment)
        out->asked_from = asked->low;
    else if (judge->message->first != 0 && judge->message->first < 104)
        out->asked_from = 1;
    else if (asked->bytes == 2 * FL_MIB)
        out->asked_from = 1, out->asked_to = FL_MIB;
    else if (asked->bytes == 20 * FL_MIB)
        out->asked_from = FL_MIB + 1, out->asked_to = 20 * FL_MIB;
    else
        out->asked_from = asked->low > 2 * FL_MIB ? asked->low - 2 * FL_MIB + 1 : 1;
}

/* ---- who holds the card ---------------------------------------------------------------------- */

/* In a container this process is listed under a number that it does not know itself by: it is the
 * only one listed, and holds what is reserved and not much more. */
static const fl_read_process *find_self(const fl_judge *judge)
{
    const fl_message *message = judge->message;
    const fl_number *reserved = fl_get(judge, FL_FIGURE_RESERVED);
    const fl_number *own = fl_get(judge, FL_FIGURE_THIS_PROCESS);
    const fl_number *used = &message->processes[0].used;
    if (message->process_count != 1 || own->is_given || own->is_wrapped || !used->is_given ||
        !reserved->is_given)
        return NULL;
    bool is_like = used->high >= reserved->low && used->low / 2 <= reserved->high / 2 + FL_GIB;
    return is_like ? &message->processes[0] : NULL;
}

void fl_explain_outside(fl_judge *judge)
{
    fl_outside *outside = &judge->outside;
    fl_number used =
        fl_number_subtract(*fl_get(judge, FL_FIGURE_TOTAL), *fl_get(judge, FL_FIGURE_FREE));
    fl_number own = *fl_get(judge, FL_FIGURE_THIS_PROCESS);
    const fl_read_process *self = find_self(judge);
    if (self != NULL) {
        own = self->used;
        outside->process = self->pid;
    }
    outside->all = fl_number_subtract(used, *fl_get(judge, FL_FIGURE_RESERVED));
    outside->of_others = fl_number_subtract(used, own);
    outside->of_process = fl_number_subtract(own, *fl_get(judge, FL_FIGURE_RESERVED));
}

/* What of it is more than a process usually takes. */
static fl_number surplus(fl_judge *judge)
{
    const fl_number *total = fl_get(judge, FL_FIGURE_TOTAL);
    const fl_outside *outside = &judge->outside;
    uint64_t usual = total->bytes / 4 < FL_USUAL_CONTEXT ? total->bytes / 4 : FL_USUAL_CONTEXT;
    fl_number context = exactly(usual);
    if (outside->of_others.is_given)
        return fl_number_add(outside->of_others, fl_number_subtract(outside->of_process, context));
    return fl_number_subtract(outside->all, context);
}

/* ---- the class ------------------------------------------------------------------------------- */

static void decide(fl_judge *judge, fl_trouble trouble)
{
    fl_explanation *out = judge->out;
    out->trouble = trouble;
    out->certainty = trouble == FL_TROUBLE_UNKNOWN            ? FL_CERTAINTY_NONE
                     : judge->is_close || judge->is_estimated ? FL_CERTAINTY_LIKELY
                                                              : FL_CERTAINTY_PROVED;
}

static bool decide_size(fl_judge *judge)
{
    fl_number asked = *fl_get(judge, FL_FIGURE_REQUESTED);
    fl_number total = *fl_get(judge, FL_FIGURE_TOTAL);
    if (asked.is_wrapped || (asked.is_given && asked.bytes >= FL_GARBAGE_SIZE)) {
        fl_say_sentence(
            judge->out,
            "No card has the %s that were asked for: the size itself is wrong, computed "
            "from a bad shape, index or length.",
            asked.is_wrapped ? "16 EiB" : fl_say_size(asked.bytes).text);
        decide(judge, FL_TROUBLE_INCONSISTENT);
        return true;
    }
    if (!asked.is_given || !total.is_given || asked.bytes <= total.bytes)
        return false;
    judge->is_close = asked.low <= total.high;
    fl_say_sentence(judge->out,
                    "The %s asked for are more than the whole card of %s: no setting can serve "
                    "this request.",
                    fl_say_size(asked.bytes).text, fl_say_size(total.bytes).text);
    decide(judge, FL_TROUBLE_FULL);
    return true;
}

bool fl_is_limited(const fl_judge *judge)
{
    const fl_number *limit = fl_get(judge, FL_FIGURE_ALLOWED);
    const fl_number *total = fl_get(judge, FL_FIGURE_TOTAL);
    fl_number after =
        fl_number_add(*fl_get(judge, FL_FIGURE_RESERVED), *fl_get(judge, FL_FIGURE_REQUESTED));
    return limit->is_given && after.is_given && after.high > limit->low &&
           (!total->is_given || limit->bytes < total->bytes);
}

static bool decide_limit(fl_judge *judge)
{
    if (!fl_is_limited(judge))
        return false;
    fl_number limit = *fl_get(judge, FL_FIGURE_ALLOWED), free = *fl_get(judge, FL_FIGURE_FREE);
    fl_number asked = *fl_get(judge, FL_FIGURE_REQUESTED);
    fl_number after = fl_number_add(*fl_get(judge, FL_FIGURE_RESERVED), asked);
    judge->is_close = after.low <= limit.high;
    fl_number unused = *fl_get(judge, FL_FIGURE_UNALLOCATED);
    bool has_pieces = unused.is_given && unused.bytes >= asked.bytes;
    fl_say_sentence(judge->out,
                    "A cap of %s that the program set stopped it, not the card%s%s%s%s.",
                    fl_say_size(limit.bytes).text, free.is_given ? ", which had " : "",
                    free.is_given ? fl_say_size(free.bytes).text : "", free.is_given ? " free" : "",
                    has_pieces ? "; inside the cap enough is unused, but in pieces" : "");
    decide(judge, FL_TROUBLE_LIMIT);
    return true;
}

/* Numbers that exclude each other: the first contradiction is the sentence. */
static bool decide_inconsistent(fl_judge *judge)
{
    fl_explanation *out = judge->out;
    if (out->contradiction_count == 0)
        return false;
    snprintf(out->sentence, sizeof out->sentence, "%s", out->contradictions[0].sentence);
    decide(judge, FL_TROUBLE_INCONSISTENT);
    return true;
}

static bool decide_pieces(fl_judge *judge)
{
    fl_number asked = *fl_get(judge, FL_FIGURE_REQUESTED), free = *fl_get(judge, FL_FIGURE_FREE);
    fl_number unused = *fl_get(judge, FL_FIGURE_UNALLOCATED);
    fl_number both = fl_number_add(unused, free);
    bool is_small = asked.bytes == 2 * FL_MIB && judge->out->asked_to == FL_MIB;
    if (fl_at_least(judge, unused, asked)) {
        fl_say_sentence(judge->out,
                        "PyTorch holds %s that no tensor uses, and the %s asked for are not to be "
                        "had from them: they lie in pieces between live blocks%s.",
                        fl_say_size(unused.bytes).text, fl_say_size(asked.bytes).text,
                        is_small ? ", or in the pool of large blocks, which a request of at most "
                                   "1 MiB may not use"
                                 : "");
        decide(judge, FL_TROUBLE_FRAGMENTATION);
        return true;
    }
    if (!fl_at_least(judge, both, asked))
        return false;
    fl_say_sentence(judge->out,
                    "%s free on the card and %s unused in PyTorch would together cover the %s "
                    "asked for; neither alone does.",
                    fl_say_size(free.bytes).text, fl_say_size(unused.bytes).text,
                    fl_say_size(asked.bytes).text);
    decide(judge, FL_TROUBLE_FRAGMENTATION);
    return true;
}

static void decide_full(fl_judge *judge, fl_number lacking)
{
    fl_number asked = *fl_get(judge, FL_FIGURE_REQUESTED), total = *fl_get(judge, FL_FIGURE_TOTAL);
    fl_number used = *fl_get(judge, FL_FIGURE_ALLOCATED);
    fl_number needed = fl_number_add(used, asked);
    if (needed.low > total.high) {
        judge->is_close = judge->is_estimated = false;
        fl_say_sentence(judge->out,
                        "The card is full: what PyTorch has allocated (%s) and the request (%s) "
                        "exceed its %s, however they are arranged.",
                        fl_say_size(used.bytes).text, fl_say_size(asked.bytes).text,
                        fl_say_size(total.bytes).text);
    } else {
        judge->is_estimated = true;
        fl_say_sentence(judge->out,
                        "The card is full: even with everything that PyTorch holds unused, %s are "
                        "missing.",
                        fl_say_size(lacking.bytes).text);
    }
    decide(judge, FL_TROUBLE_FULL);
}

/* Not even all that is free and unused together suffices: whose is the rest? */
static bool decide_holder(fl_judge *judge)
{
    fl_number asked = *fl_get(judge, FL_FIGURE_REQUESTED), free = *fl_get(judge, FL_FIGURE_FREE);
    fl_number unused = *fl_get(judge, FL_FIGURE_UNALLOCATED);
    fl_number lacking = fl_number_subtract(asked, fl_number_add(free, unused));
    if (!lacking.is_given || !fl_get(judge, FL_FIGURE_TOTAL)->is_given)
        return false;
    fl_number others = surplus(judge);
    bool are_known =
        judge->outside.of_others.is_given && judge->outside.of_others.low >= lacking.high;
    if (!fl_at_least(judge, others, lacking)) {
        decide_full(judge, lacking);
        return true;
    }
    judge->is_estimated = !are_known;
    fl_say_sentence(
        judge->out,
        "%s of the card are held outside of PyTorch%s: more than the %s that are "
        "missing.",
        fl_say_size(are_known ? judge->outside.of_others.bytes : judge->outside.all.bytes).text,
        are_known ? ", by other processes" : "", fl_say_size(lacking.bytes).text);
    decide(judge, FL_TROUBLE_OUTSIDE);
    return true;
}

void fl_explain_pytorch(fl_judge *judge)
{
    if (decide_size(judge) || decide_limit(judge) || decide_inconsistent(judge) ||
        decide_pieces(judge) || decide_holder(judge))
        return;
    fl_say_sentence(judge->out, "The message is cut short before the numbers that would tell why.");
    decide(judge, FL_TROUBLE_UNKNOWN);
}
