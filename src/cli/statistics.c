#include "cli/statistics.h"

#include <inttypes.h>
#include <string.h>

static bool is_left_out(const fl_statistics *statistics, const char *key)
{
    for (const char *const *left_out = statistics->left_out; *left_out != NULL; left_out++)
        if (strcmp(*left_out, key) == 0)
            return true;
    return false;
}

struct emitting {
    fl_emit *emit;
    const fl_statistics *statistics;
};

static void emit_one(void *user, const char *key, int64_t value)
{
    const struct emitting *emitting = user;
    if (is_left_out(emitting->statistics, key))
        return;
    /* Only "no limit" is below zero. */
    fl_emit_pair(emitting->emit, key, NULL,
                 value < 0 ? fl_emit_real((double)value) : fl_emit_count((uint64_t)value));
}

void fl_statistics_emit(fl_session *session, const fl_statistics *statistics)
{
    fl_emit *emit = session->emit;
    struct emitting emitting = {emit, statistics};
    if (session->options.wants_stats) {
        fl_emit_object_begin(emit, "memory_stats", NULL);
        fl_stats_list(statistics->profile, statistics->stats, statistics->pools,
                      statistics->pool_count, emit_one, &emitting);
        fl_emit_object_end(emit);
        fl_emit_list_begin(emit, "memory_stats_left_out", NULL);
        for (const char *const *key = statistics->left_out; *key != NULL; key++)
            fl_emit_item(emit, fl_emit_text(*key));
        fl_emit_list_end(emit);
    }
    if (session->options.wants_summary) {
        char table[FL_SUMMARY_SIZE];
        fl_stats_summary(statistics->stats, statistics->device, table, sizeof table);
        fl_emit_pair(emit, "memory_summary", NULL, fl_emit_text(table));
    }
}

struct printing {
    fl_output *output;
    const fl_statistics *statistics;
    bool is_good;
};

static void print_one(void *user, const char *key, int64_t value)
{
    struct printing *printing = user;
    char line[256];
    if (is_left_out(printing->statistics, key))
        return;
    snprintf(line, sizeof line, "%s %" PRId64 "\n", key, value);
    printing->is_good = printing->is_good && fl_output_write(printing->output, line, strlen(line));
}

fl_status fl_statistics_print(fl_session *session, const fl_statistics *statistics, fl_error *error)
{
    struct printing printing = {&session->output, statistics, true};
    if (session->options.wants_stats)
        fl_stats_list(statistics->profile, statistics->stats, statistics->pools,
                      statistics->pool_count, print_one, &printing);
    if (session->options.wants_summary && printing.is_good) {
        char table[FL_SUMMARY_SIZE];
        fl_stats_summary(statistics->stats, statistics->device, table, sizeof table);
        printing.is_good = fl_output_write(&session->output, table, strlen(table)) &&
                           fl_output_write(&session->output, "\n", 1); /* as print() ends it */
    }
    return printing.is_good ? FL_OK : fl_output_fail(&session->output, error);
}
