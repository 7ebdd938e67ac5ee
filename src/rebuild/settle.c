/* The rebuild as the rest of the program sees it: what was there before a cut window, then what the
 * history does not say, and what nothing states only where the history is not explained without. */
#include "rebuild/rebuild.h"
#include "rebuild/repair.h"
#include "trace/build.h"

#include <fraglab/verify.h>

static fl_status fail_unknown_start(const fl_trace *trace, size_t device, fl_error *error)
{
    if (!trace->devices.items[device].has_final_state)
        fl_fail(error, FL_ERR_UNAVAILABLE,
                "%s: the window is cut at both ends: device %zu had memory before its first "
                "event, and the final state, from which that follows, is missing",
                fl_trace_path(trace), device);
    else
        fl_fail(error, FL_ERR_UNAVAILABLE,
                "%s: the window is cut, and what device %zu had before its first event does not "
                "follow from the rest: the events contradict the final state, as they do when "
                "they are out of order or some kinds were not recorded",
                fl_trace_path(trace), device);
    fl_hint(error, "record from the start of the program and leave max_entries unset; `fraglab "
                   "info` shows what is there");
    return FL_ERR_UNAVAILABLE;
}

static fl_status find_start(fl_trace *trace, size_t device, fl_error *error)
{
    const fl_trace_device *of = &trace->devices.items[device];
    fl_status status = FL_OK;
    if (of->has_final_state && !of->start.is_known)
        status = fl_trace_find_start(trace, device, error);
    if (status != FL_OK || of->start.is_known)
        return status;
    return fail_unknown_start(trace, device, error);
}

fl_status fl_rebuild_anew(fl_trace *trace, size_t device, const fl_profile *profile,
                          bool is_seeking, fl_attempt *ret_attempt, fl_error *error)
{
    *ret_attempt = (fl_attempt){0};
    if (device >= fl_trace_device_count(trace))
        return fl_fail(error, FL_ERR_USAGE, "%s: there is no trace of device %zu",
                       fl_trace_path(trace), device);
    if (fl_trace_format(trace) == FL_FORMAT_SCRIPT)
        return FL_OK;
    bool is_cut = !fl_trace_is_complete(trace, device);
    if (trace->has_ops)
        return is_cut && !trace->devices.items[device].start.is_known
                   ? fail_unknown_start(trace, device, error)
                   : FL_OK;
    if (is_cut) {
        fl_status status = find_start(trace, device, error);
        if (status != FL_OK)
            return status;
    }
    fl_attempt attempt;
    fl_trace_rebuilt *rebuilt = &trace->devices.items[device].rebuilt;
    *rebuilt = (fl_trace_rebuilt){0};
    fl_status status =
        fl_repair(trace, device, fl_record_profile(profile), is_seeking, &attempt, error);
    if (status != FL_OK)
        return status;
    bool is_known = attempt.is_explained || attempt.excuse != FL_EXCUSE_NONE;
    *rebuilt = (fl_trace_rebuilt){fl_record_profile(profile), is_seeking || is_known};
    *ret_attempt = attempt;
    return FL_OK;
}

/* What is there is not inferred again: that of a search may have cost much. */
fl_status fl_rebuild(fl_trace *trace, size_t device, const fl_profile *profile, fl_error *error)
{
    fl_attempt attempt;
    const fl_trace_rebuilt *rebuilt =
        device < trace->devices.count ? &trace->devices.items[device].rebuilt : NULL;
    if (rebuilt != NULL && rebuilt->is_settled && rebuilt->profile == fl_record_profile(profile))
        return FL_OK;
    return fl_rebuild_anew(trace, device, profile, true, &attempt, error);
}

fl_status fl_rebuild_stated(fl_trace *trace, size_t device, const fl_profile *profile,
                            bool *ret_is_explained, fl_error *error)
{
    fl_attempt attempt;
    fl_status status = fl_rebuild_anew(trace, device, profile, false, &attempt, error);
    if (status == FL_OK)
        *ret_is_explained = attempt.is_explained && attempt.excuse == FL_EXCUSE_NONE;
    return status;
}

/* ---- what it came to ------------------------------------------------------------------------- */

static bool is_first_scope(const fl_insertion *list, size_t index)
{
    if (list[index].op.kind != FL_OP_SCOPE_BEGIN)
        return false;
    for (size_t i = 0; i < index; i++)
        if (list[i].op.kind == FL_OP_SCOPE_BEGIN && list[i].op.pool == list[index].op.pool)
            return false;
    return true;
}

/* Does an entry or the final state say that there is such a pool? */
static bool is_named_pool(const fl_trace_device *device, uint32_t pool)
{
    for (size_t i = 0; i < device->segments.count; i++)
        if (device->segments.items[i].pool == pool)
            return true;
    for (uint64_t i = 0; device->columns.pool != NULL && i < device->columns.count; i++)
        if (device->columns.pool[i] == pool)
            return true;
    return false;
}

fl_inferred fl_rebuild_inferred(const fl_trace *trace, size_t device)
{
    const fl_trace_device *of = &trace->devices.items[device];
    const fl_trace_start *start = &of->start;
    fl_inferred inferred = {
        .start_blocks = start->in_use.count,
        .hidden_tails = start->hidden_tails,
        .hidden_tail_bytes = start->hidden_tail_bytes,
        .open_tails = start->open_tails,
        .ages = start->ages.count / 2,
    };
    size_t count;
    const fl_insertion *list = fl_trace_insertions(trace, device, &count);
    for (size_t i = 0; i < count; i++) {
        inferred.trims += list[i].op.kind == FL_OP_TRIM;
        inferred.completions += list[i].op.kind == FL_OP_FREE_DONE;
        inferred.scopes += list[i].op.kind == FL_OP_SCOPE_BEGIN;
        inferred.pool_releases += list[i].op.kind == FL_OP_POOL_RELEASE;
        inferred.settings += list[i].op.kind == FL_OP_CONFIGURE;
        inferred.limits += list[i].op.kind == FL_OP_LIMIT;
        inferred.pools += is_first_scope(list, i) && !is_named_pool(of, list[i].op.pool);
    }
    return inferred;
}
