#include <fraglab/read.h>

#include "assemble.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

/* The settings come behind the events; what the events show of them is all that is left. */
static void settings_behind_a_cut_are_what_the_events_show(void **state)
{
    (void)state;
    fl_read_options options = {.accept_cut = true};
    const struct {
        const char *path, *conf;
    } rows[] = {{"traces/expandable.pickle", "expandable_segments:True"},
                {"traces/default.pickle", NULL}};
    for (size_t i = 0; i < 2; i++) {
        size_t size;
        uint8_t *bytes = file_bytes(rows[i].path, &size);
        fl_trace *trace = NULL;
        assert_int_equal(fl_read_memory(bytes, size / 2, "p", &options, &trace, NULL), FL_OK);
        assert_true(fl_trace_lacks_conf(trace));
        assert_false(fl_trace_has_final_state(trace, 0));
        assert_int_equal(fl_trace_warning_count(trace), 2);
        assert_non_null(strstr(fl_trace_warning(trace, 1), "the settings lie behind the cut"));
        if (rows[i].conf != NULL)
            assert_string_equal(fl_trace_conf(trace), rows[i].conf);
        else
            assert_null(fl_trace_conf(trace));
        fl_trace_free(trace);
        trace = NULL;
        assert_int_equal(fl_read_memory(bytes, size, "p", &options, &trace, NULL), FL_OK);
        assert_false(fl_trace_lacks_conf(trace));
        assert_true(fl_trace_has_final_state(trace, 0));
        fl_trace_free(trace);
        free(bytes);
    }
}

static void a_release_that_wrote_none_is_warned_of(void **state)
{
    (void)state;
    fl_trace *trace = NULL;
    assert_int_equal(fl_read_file("tests/data/snapshots/releases/2.1.2.pickle", NULL, &trace, NULL),
                     FL_OK);
    assert_true(fl_trace_lacks_conf(trace));
    assert_null(fl_trace_conf(trace));
    assert_non_null(strstr(fl_trace_warning(trace, 0), "the settings are not in the file"));
    fl_trace_free(trace);
}

static void a_state_without_events_needs_no_settings(void **state)
{
    (void)state;
    fl_trace *trace = NULL;
    assert_int_equal(fl_read_file("tests/data/snapshots/list.pickle", NULL, &trace, NULL), FL_OK);
    assert_false(fl_trace_lacks_conf(trace));
    assert_int_equal(fl_trace_warning_count(trace), 0);
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_behind_a_cut_are_what_the_events_show),
        cmocka_unit_test(a_release_that_wrote_none_is_warned_of),
        cmocka_unit_test(a_state_without_events_needs_no_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
