#include "tuning.h"

#include "test.h"

#include <fraglab/read.h>

#include <string.h>

static const size_t first_device[8];

fl_trace *tuning_read(const char *script)
{
    fl_trace *trace = NULL;
    fl_error error = {0};
    if (fl_read_memory(script, strlen(script), "s.txt", NULL, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    return trace;
}

fl_tune_options tuning_options(const char *release, uint64_t card_mebibytes)
{
    fl_tune_options options = {
        .replay = {.fraction = -1, .start = FL_START_FRESH},
        .trace_devices = first_device,
        .card_bytes = card_mebibytes << 20,
        .jobs = 1,
    };
    bool is_exact;
    assert_int_equal(fl_profile_find(release != NULL ? release : "2.9.1", &options.replay.profile,
                                     &is_exact, NULL),
                     FL_OK);
    return options;
}

fl_tuning tuning_run(const fl_trace *trace, const fl_tune_options *options)
{
    fl_tuning tuning = {0};
    fl_error error = {0};
    if (fl_tune(&trace, 1, options, &tuning, &error) != FL_OK)
        fail_msg("%s", error.text);
    return tuning;
}

fl_tune_state tuning_open(const fl_trace *const *traces, size_t count,
                          const fl_tune_options *options)
{
    fl_tune_state state = {
        .host = fl_host_default(),
        .traces = traces,
        .trace_count = count,
        .options = options,
        .prices = fl_prices_default(),
        .card_bytes = options->card_bytes,
        .most_events = UINT64_MAX,
    };
    assert_int_equal(fl_tune_survey(&state, NULL), FL_OK);
    return state;
}

void tuning_close(fl_tune_state *state)
{
    fl_vector_deinit(state->host, &state->sizes);
    fl_vector_deinit(state->host, &state->signatures);
    fl_vector_deinit(state->host, &state->candidates);
    fl_vector_deinit(state->host, &state->intervals);
}

const fl_tune_candidate *tuning_find(const fl_tune_state *state, const char *conf)
{
    for (size_t i = 0; i < state->candidates.count; i++)
        if (strcmp(state->candidates.items[i].conf, conf) == 0)
            return &state->candidates.items[i];
    fail_msg("no candidate '%s'", conf);
    return NULL;
}
