/* What else people have of a run and hand over: JSON, as many snapshots are, but of sums.
 *
 * None of it tells where anything lay or which free belongs to which request, so that there is
 * nothing to replay.  The forms are those that releases 2.1 to 2.15 write. */
#include "reader/foreign.h"

#include "reader/reader.h"

typedef struct foreign {
    bool (*probe)(const uint8_t *head, size_t size);
    const char *what;
    const char *hint;
} foreign;

/* Passes over blanks and then `byte`, which may be behind them; the end where it is not. */
static size_t foreign_pass(const uint8_t *head, size_t size, size_t at, uint8_t byte)
{
    while (at < size &&
           (head[at] == ' ' || head[at] == '\t' || head[at] == '\r' || head[at] == '\n'))
        at++;
    return at < size && head[at] == byte ? at + 1 : size;
}

/* export_memory_timeline: lists in a list, of numbers; those of a snapshot hold dictionaries. */
static bool is_timeline(const uint8_t *head, size_t size)
{
    size_t at = foreign_pass(head, size, foreign_pass(head, size, 0, '['), '[');
    return at < size &&
           (head[at] == '-' || head[at] == ']' || (head[at] >= '0' && head[at] <= '9'));
}

/* What an out-of-memory observer is given: three sums of one request. */
static bool is_observed(const uint8_t *head, size_t size)
{
    return foreign_pass(head, size, 0, '{') < size &&
           fl_bytes_hold(head, size, "\"device_alloc\"") &&
           fl_bytes_hold(head, size, "\"device_free\"") && !fl_bytes_hold(head, size, "[");
}

static const foreign foreigners[] = {
    {
        .probe = is_timeline,
        .what = "a memory timeline of the profiler: sizes by category without addresses, nothing "
                "to replay",
        .hint = "record with torch.cuda.memory._record_memory_history() and _dump_snapshot(), or "
                "export_chrome_trace() of a profile with profile_memory=True",
    },
    {
        .probe = is_observed,
        .what = "the sums that an out-of-memory observer is given, nothing to replay",
        .hint = "call torch.cuda.memory._dump_snapshot() in the observer, with "
                "_record_memory_history() called before the run",
    },
};

fl_status fl_foreign_refuse(const char *name, const uint8_t *head, size_t size, fl_error *error)
{
    for (size_t i = 0; i < sizeof foreigners / sizeof *foreigners; i++) {
        if (!foreigners[i].probe(head, size))
            continue;
        fl_fail(error, FL_ERR_INPUT, "%s:0: this is %s", name, foreigners[i].what);
        return fl_hint(error, "%s", foreigners[i].hint);
    }
    return FL_OK;
}
