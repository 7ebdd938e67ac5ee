/* Which release wrote a history, where the marks in the file leave several.
 *
 * First each release is tried by what the file states alone.  Only where none explains the history
 * so, the rest is sought: with enough changes of settings, more than one release may explain it. */
#include "rebuild/rebuild.h"

#include <fraglab/verify.h>

static uint64_t count_different(const fl_verdict *verdict)
{
    uint64_t count = 0;
    for (size_t i = 0; i < FL_DECISION_COUNT; i++)
        count += verdict->decisions[i].different;
    return count;
}

/* What is inferred, and not stated in the file. */
static uint64_t count_unstated(const fl_verdict *verdict)
{
    return verdict->inferred.settings + verdict->inferred.limits + verdict->inferred.pools;
}

static uint64_t count_excused(const fl_verdict *verdict)
{
    uint64_t count = 0;
    for (size_t i = 0; i < FL_DECISION_COUNT; i++)
        count += verdict->decisions[i].excused;
    return count;
}

struct choice {
    const fl_profile *profile; /* NULL: none so far */
    fl_verdict verdict;
    const fl_profile *as_good[sizeof((fl_verdict *)0)->profiles / sizeof(fl_profile *)];
    size_t as_good_count; /* newest first; 0: none explains it */
    fl_error why;         /* the first failure */
};

/* Nothing different is more than something different; then less excused is; then less inferred. */
static int compare_verdicts(const fl_verdict *one, const fl_verdict *other)
{
    bool explains = count_different(one) == 0, other_explains = count_different(other) == 0;
    if (explains != other_explains || !explains)
        return explains - other_explains;
    uint64_t excused = count_excused(one), other_excused = count_excused(other);
    if (excused != other_excused)
        return excused < other_excused ? 1 : -1;
    uint64_t unstated = count_unstated(one), other_unstated = count_unstated(other);
    return unstated < other_unstated ? 1 : unstated == other_unstated ? 0 : -1;
}

static void consider(struct choice *choice, const fl_profile *profile, const fl_verdict *verdict)
{
    int order = choice->profile != NULL ? compare_verdicts(verdict, &choice->verdict) : 1;
    if (order < 0)
        return;
    if (order > 0) {
        choice->profile = profile;
        choice->verdict = *verdict;
        choice->as_good_count = 0;
    }
    if (count_different(verdict) == 0 &&
        choice->as_good_count < sizeof choice->as_good / sizeof *choice->as_good)
        choice->as_good[choice->as_good_count++] = profile;
}

/* A release that refuses the recorded settings did not write the file. */
static fl_status try_all(fl_trace *trace, size_t device, const fl_profile *const *profiles,
                         size_t count, const fl_host *host, bool is_searching,
                         struct choice *choice, fl_error *error)
{
    for (size_t i = count; i-- > 0;) {
        fl_verdict verdict;
        fl_error failure = {0};
        fl_status status =
            is_searching ? fl_verify_sought(trace, device, profiles[i], host, &verdict, &failure)
                         : fl_verify(trace, device, profiles[i], host, &verdict, &failure);
        if (choice->why.status == FL_OK)
            choice->why = failure;
        if (status == FL_OK)
            consider(choice, profiles[i], &verdict);
        else if (status != FL_ERR_INPUT)
            return fl_pass_on(&failure, error);
    }
    return FL_OK;
}

/* Is there anything to be sought?  What settings may be behind is. */
static bool is_open(const struct choice *choice)
{
    return choice->as_good_count == 0 || choice->verdict.excused[FL_EXCUSE_NO_SETTINGS] > 0;
}

/* What was found for the best release is left in the trace. */
static fl_status find_best(fl_trace *trace, size_t device, const fl_profile *const *profiles,
                           size_t count, bool is_seeking, const fl_host *host,
                           struct choice *choice, fl_error *error)
{
    fl_status status = try_all(trace, device, profiles, count, host, false, choice, error);
    if (status != FL_OK || !is_open(choice) || !is_seeking)
        return status;
    status = try_all(trace, device, profiles, count, host, true, choice, error);
    if (status == FL_OK && !is_open(choice) && choice->profile != profiles[0])
        status = fl_verify_sought(trace, device, choice->profile, host, &choice->verdict, error);
    return status;
}

fl_status fl_verify_best(fl_trace *trace, size_t device, const fl_profile *const *profiles,
                         size_t count, const fl_host *host, const fl_profile **ret_profile,
                         fl_verdict *ret_verdict, fl_error *error)
{
    struct choice choice = {0};
    fl_status status = find_best(trace, device, profiles, count, true, host, &choice, error);
    if (status != FL_OK)
        return status;
    if (choice.profile == NULL)
        return fl_pass_on(&choice.why, error);
    choice.verdict.profile_count = 0;
    while (choice.as_good_count > 0)
        choice.verdict.profiles[choice.verdict.profile_count++] =
            choice.as_good[--choice.as_good_count];
    *ret_profile = choice.profile;
    *ret_verdict = choice.verdict;
    return FL_OK;
}

/* Does the newest explain every decision by what the file states?  No other could do better, and a
 * verification would say the same. */
static fl_status try_newest(fl_trace *trace, size_t device, const fl_profile *profile,
                            fl_verify_choice *ret_choice, fl_error *error)
{
    fl_attempt attempt;
    fl_error why = {0};
    fl_status status = fl_rebuild_anew(trace, device, profile, false, &attempt, &why);
    if (status == FL_ERR_RESOURCE)
        return fl_pass_on(&why, error);
    if (status == FL_OK && attempt.is_explained)
        *ret_choice =
            (fl_verify_choice){profile, attempt.most_granted_bytes, attempt.least_refused_bytes};
    return FL_OK;
}

fl_status fl_verify_choose(fl_trace *trace, size_t device, const fl_profile *const *profiles,
                           size_t count, bool is_seeking, const fl_host *host,
                           fl_verify_choice *ret_choice, fl_error *error)
{
    struct choice choice = {0};
    fl_error why = {0};
    ret_choice->profile = NULL;
    if (count > 0 && try_newest(trace, device, profiles[count - 1], ret_choice, error) != FL_OK)
        return FL_ERR_RESOURCE;
    if (ret_choice->profile != NULL)
        return FL_OK;
    fl_status status = find_best(trace, device, profiles, count, is_seeking, host, &choice, &why);
    if (status == FL_ERR_RESOURCE)
        return fl_fail(error, status, "%s", why.text);
    if (status == FL_OK && choice.as_good_count > 0)
        *ret_choice = (fl_verify_choice){choice.profile, choice.verdict.most_granted_bytes,
                                         choice.verdict.least_refused_bytes};
    return FL_OK;
}
