#include "rebuild/rebuild.h"
#include "recording.h"
#include "test.h"

#include <string.h>

static void the_newest_release_stands_for_none(void **state)
{
    (void)state;
    assert_ptr_equal(fl_record_profile(NULL), fl_profile_newest());
    assert_ptr_equal(fl_record_profile(fl_profile_at(3)), fl_profile_at(3));
}

static void the_settings_of_the_file_are_read_as_the_release_reads_them(void **state)
{
    (void)state;
    static const char script[] = "# cap=1GiB conf=max_split_size_mb:64\na 1 3MiB\n";
    recording run;
    fl_settings settings;
    fl_error error = {0};
    recording_make(&run, "recording", script, strlen(script));
    assert_int_equal(fl_record_conf(run.trace, fl_profile_newest(), &settings, &error), FL_OK);
    assert_int_equal(settings.max_split_bytes, 64 << 20);
    const char *text = "max_split_size_mb:20"; /* refused up to 2.9 */
    assert_int_equal(fl_trace_intern_text(run.trace, text, strlen(text), &run.trace->conf, &error),
                     FL_OK);
    assert_int_equal(fl_record_conf(run.trace, fl_profile_at(0), &settings, &error), FL_ERR_INPUT);
    assert_non_null(strstr(error.text, "recording: PyTorch 2.0.1: "));
    run.trace->conf = FL_NONE;
    assert_int_equal(fl_record_conf(run.trace, fl_profile_at(0), &settings, &error), FL_OK);
    assert_true(settings.max_split_bytes == FL_UNLIMITED);
    recording_free(&run);
}

static void a_record_is_played_back_without_an_end_of_its_own(void **state)
{
    (void)state;
    static const char script[] = "# cap=1GiB conf=\na 1 3MiB\n";
    recording run;
    fl_replay_options options;
    recording_make(&run, "recording", script, strlen(script));
    fl_trace_set_limit(run.trace, 0.5, 1 << 30);
    assert_int_equal(fl_record_options(run.trace, 0, NULL, NULL, &options, NULL), FL_OK);
    assert_string_equal(options.device->name, "recorded");
    assert_true(options.capacity_bytes == FL_UNLIMITED && options.total_bytes == 1 << 30);
    assert_true(options.fraction == 0.5 && options.on_oom == FL_ON_OOM_SKIP);
    recording_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_release_stands_for_none),
        cmocka_unit_test(the_settings_of_the_file_are_read_as_the_release_reads_them),
        cmocka_unit_test(a_record_is_played_back_without_an_end_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
