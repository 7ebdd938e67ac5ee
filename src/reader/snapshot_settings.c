/* What is known of the settings of a snapshot that does not have them: they come behind the events,
 * so a cut takes them, and before 2.3 they were not written at all.  Of what matters to every
 * request the events show one; the others stay unknown, and a warning says so. */
#include "reader/snapshot.h"

fl_status fl_snapshot_infer_settings(snapshot_reader *reader, const char *name, bool is_cut,
                                     fl_error *error)
{
    static const char expandable[] = "expandable_segments:True";
    fl_trace *trace = reader->trace;
    const char *why =
        is_cut ? "the settings lie behind the cut" : "the settings are not in the file";
    if (reader->has_settings || (reader->entry_count == 0 && !is_cut))
        return FL_OK;
    trace->lacks_conf = true;
    if (!reader->shows_expandable)
        return fl_trace_warn(trace, error,
                             "%s: %s; nothing shows expandable segments, others are not known",
                             name, why);
    fl_status status =
        fl_trace_intern_text(trace, expandable, sizeof expandable - 1, &trace->conf, error);
    if (status != FL_OK)
        return status;
    return fl_trace_warn(trace, error, "%s: %s; the events show %s, others are not known", name,
                         why, expandable);
}
