#include "diagnosing.h"

#include "test.h"

#include <fraglab/read.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

fl_trace *script_read(const char *script)
{
    fl_trace *trace = NULL;
    fl_error error = {0};
    if (fl_read_memory(script, strlen(script), "s.txt", NULL, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    return trace;
}

fl_replay_options options_on(uint64_t card)
{
    const fl_profile *profile;
    bool is_exact;
    assert_int_equal(fl_profile_find("2.9.1", &profile, &is_exact, NULL), FL_OK);
    return (fl_replay_options){.profile = profile, .fraction = -1, .capacity_bytes = card};
}

diagnosing diagnose_with(const char *script, const fl_replay_options *options)
{
    diagnosing d = {.trace = script_read(script), .options = *options};
    size_t size = strlen(script) + 1;
    fl_diagnose_options asked = {.replay = *options, .jobs = 1};
    fl_error error = {0};
    d.text = malloc(size);
    assert_non_null(d.text);
    memcpy(d.text, script, size);
    if (fl_diagnose(d.trace, &asked, &d.diagnosis, &error) != FL_OK)
        fail_msg("%s", error.text);
    return d;
}

diagnosing diagnose_script(const char *script, uint64_t card)
{
    fl_replay_options options = options_on(card);
    return diagnose_with(script, &options);
}

diagnosing diagnose_file(const char *path, uint64_t card)
{
    static char text[1 << 18];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return diagnose_script(text, card);
}

void diagnosing_close(diagnosing *d)
{
    fl_diagnosis_deinit(&d->diagnosis);
    fl_trace_free(d->trace);
    free(d->text);
}

/* Where the line of an event begins; comments are none. */
static char *line_of(char *script, uint64_t event)
{
    char *at = script;
    while (*at == '#' || event > 0) {
        event -= *at != '#';
        at = strchr(at, '\n') + 1;
    }
    return at;
}

/* The script with lines put in front of one of its events, and without what comes after that. */
static char *script_with(char *script, uint64_t event, const char *lines)
{
    size_t size = strlen(script) + strlen(lines) + 1;
    char *changed = malloc(size);
    assert_non_null(changed);
    const char *at = line_of(script, event);
    snprintf(changed, size, "%.*s%s%.*s", (int)(at - script), script, lines,
             (int)(strcspn(at, "\n") + 1), at);
    return changed;
}

bool pins_let_it_succeed(const diagnosing *d)
{
    const fl_diagnosis *diagnosis = &d->diagnosis;
    size_t count = diagnosis->pins.count, size = count * 32 + 1, used = 0;
    uint64_t event = diagnosis->points[FL_POINT_OOM].event;
    char *lines = malloc(size);
    assert_non_null(lines);
    *lines = '\0';
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(lines + used, size - used, "f %" PRIu64 "\n",
                                 fl_trace_original_id(d->trace, 0, diagnosis->pins.items[i].id));
    char *changed = script_with(d->text, event, lines);
    fl_trace *trace = script_read(changed);
    fl_replay *replay;
    fl_replay_summary summary;
    assert_int_equal(fl_replay_open(trace, &d->options, &replay, NULL), FL_OK);
    assert_int_equal(fl_replay_run(replay, NULL), FL_OK);
    fl_replay_get_summary(replay, &summary);
    fl_replay_close(replay);
    fl_trace_free(trace);
    free(changed);
    free(lines);
    return !summary.has_oom;
}
