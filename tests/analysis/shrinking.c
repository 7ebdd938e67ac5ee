#include "shrinking.h"

#include <fraglab/read.h>
#include <fraglab/write.h>

#include "taker.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *script_of(const fl_trace *trace)
{
    taker to = {.text = calloc(1, 1)};
    fl_write_options options = {.write = taker_take, .user = &to};
    assert_int_equal(fl_write_trace(trace, "script", &options, NULL), FL_OK);
    char *line;
    if (*to.text == '#' && (line = strchr(to.text, '\n')) != NULL)
        memmove(to.text, line + 1, strlen(line + 1) + 1);
    return to.text;
}

static fl_status ask(void *user, const fl_trace *candidate, bool *ret_shows, fl_error *error)
{
    (void)error;
    shrinking *s = user;
    char *script = script_of(candidate);
    s->tries++;
    *ret_shows = s->shows(script);
    free(script);
    return FL_OK;
}

void shrinking_open(shrinking *s, const char *script, bool (*shows)(const char *script))
{
    fl_error error = {0};
    const fl_profile *profile;
    bool is_exact;
    fl_read_options read = {.format = "script"};
    *s = (shrinking){.shows = shows};
    if (fl_read_memory(script, strlen(script), "s", &read, &s->trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    assert_int_equal(fl_profile_find("2.9.1", &profile, &is_exact, NULL), FL_OK);
    s->options = (fl_shrink_options){
        .replay = {.profile = profile,
                   .conf = fl_trace_conf(s->trace),
                   .fraction = -1,
                   .capacity_bytes = fl_trace_capacity(s->trace)},
        .shows = shows != NULL ? ask : NULL,
        .user = s,
        .most_tries = UINT64_MAX,
        .most_operations = UINT64_MAX,
    };
}

void shrinking_close(shrinking *s)
{
    fl_trace_free(s->trace);
}

static void copy_script(const fl_trace *trace, char *buffer, size_t size)
{
    char *script = script_of(trace);
    assert_true(strlen(script) < size);
    snprintf(buffer, size, "%s", script);
    free(script);
}

bool step_leaves(fl_status (*step)(fl_shrink_state *state, bool *ret_any, fl_error *error),
                 const char *script, bool (*shows)(const char *script), char *buffer, size_t size)
{
    shrinking s;
    fl_shrink_state state;
    fl_trace *left = NULL;
    bool is_any = false;
    shrinking_open(&s, script, shows);
    assert_int_equal(fl_shrink_open(&state, s.trace, &s.options, NULL), FL_OK);
    assert_int_equal(step(&state, &is_any, NULL), FL_OK);
    assert_int_equal(fl_program_trace(&state.program, NULL, &left, NULL), FL_OK);
    copy_script(left, buffer, size);
    fl_trace_free(left);
    fl_shrink_close(&state);
    shrinking_close(&s);
    return is_any;
}

fl_status shrink_leaves(shrinking *s, char *buffer, size_t size, fl_shrink_report *ret_report,
                        fl_error *error)
{
    fl_trace *left = NULL;
    fl_status status = fl_shrink(s->trace, &s->options, &left, ret_report, error);
    if (status == FL_OK)
        copy_script(left, buffer, size);
    fl_trace_free(left);
    return status;
}
