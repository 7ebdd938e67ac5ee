/* What is wrong, in one word: by arithmetic where that proves it, else by experiment.
 *
 * A replay that leaves one thing out (memory outside, pending frees, private pools, streams) and
 * serves the refused request shows that this thing was the reason; where none of them does, free
 * memory in the wrong pieces is what is left. */
#include "analysis/diagnose_state.h"

#define PHYSICAL_PAGE (UINT64_C(2) << 20)

/* A limit refuses though the card has a segment to give. */
static bool class_is_limit(const fl_diagnosis *result)
{
    const fl_oom *oom = &result->summary.oom;
    const fl_refusal *refusal = &oom->refusal;
    if (oom->outcome == FL_REJECTED)
        return true;
    return oom->has_refusal && refusal->limit_bytes != FL_UNLIMITED &&
           result->points[FL_POINT_OOM].device_free_bytes >= refusal->segment_bytes;
}

/* What is live with the request, against what is reserved and free on the device, which comes in
 * whole physical pages. */
static bool class_exceeds(const fl_diagnosis *result, uint64_t more_room)
{
    const fl_oom *oom = &result->summary.oom;
    const fl_point *point = &result->points[FL_POINT_OOM];
    uint64_t wanted = oom->has_refusal ? oom->refusal.rounded_bytes : oom->refusal.requested_bytes;
    uint64_t room = point->totals.reserved_bytes + point->device_free_bytes + more_room;
    room -= room % PHYSICAL_PAGE;
    return point->totals.allocated_bytes > room || wanted > room - point->totals.allocated_bytes;
}

static fl_status class_serves(const fl_diagnosing *d, uint32_t without, bool *ret_serves,
                              fl_error *error)
{
    fl_replay_options options = fl_diagnose_anew(d);
    fl_replay_summary summary;
    options.without = without;
    fl_status status = fl_diagnose_run(d, &options, &summary, error);
    if (status == FL_OK)
        *ret_serves = !summary.has_oom || summary.oom.event > d->result->summary.oom.event;
    return status;
}

static fl_status class_experiment(fl_diagnosing *d, fl_error *error)
{
    static const struct {
        uint32_t without;
        fl_trouble trouble;
    } experiments[] = {
        {0, FL_TROUBLE_FRAGMENTATION}, /* asked for anew it fits: then its places were the reason */
        {FL_WITHOUT_OUTSIDE, FL_TROUBLE_OUTSIDE},
        {FL_WITHOUT_PENDING, FL_TROUBLE_PENDING_FREES},
        {FL_WITHOUT_POOLS, FL_TROUBLE_PRIVATE_POOLS},
        {FL_WITHOUT_STREAMS, FL_TROUBLE_STREAMS},
    };
    d->result->trouble = FL_TROUBLE_FRAGMENTATION;
    for (size_t i = 0; i < sizeof experiments / sizeof *experiments; i++) {
        bool serves;
        fl_status status = class_serves(d, experiments[i].without, &serves, error);
        if (status != FL_OK)
            return status;
        if (serves) {
            d->result->trouble = experiments[i].trouble;
            break;
        }
    }
    return FL_OK;
}

fl_status fl_diagnose_classify(fl_diagnosing *d, fl_error *error)
{
    fl_diagnosis *result = d->result;
    if (!result->summary.has_oom)
        result->trouble = FL_TROUBLE_FITS;
    else if (result->summary.oom.outcome == FL_FORBIDDEN)
        result->trouble = FL_TROUBLE_UNKNOWN;
    else if (class_is_limit(result))
        result->trouble = FL_TROUBLE_LIMIT;
    else if (class_exceeds(result, result->outside_bytes))
        result->trouble = FL_TROUBLE_FULL;
    else if (class_exceeds(result, 0))
        result->trouble = FL_TROUBLE_OUTSIDE;
    else
        return class_experiment(d, error);
    if (result->trouble != FL_TROUBLE_FULL)
        return FL_OK;
    bool leaks;
    fl_status status = fl_diagnose_find_leak(d, &leaks, error);
    if (status == FL_OK && leaks)
        result->trouble = FL_TROUBLE_LEAK;
    return status;
}
