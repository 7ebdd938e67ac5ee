#include "assemble.h"
#include "test.h"

static void releases_are(const char *path, uint32_t first, uint32_t last)
{
    fl_trace *trace = NULL;
    fl_error error = {0};
    if (fl_read_file(path, NULL, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    fl_release_range range = fl_trace_releases(trace);
    assert_true(range.known);
    assert_int_equal(range.first_major, 2);
    assert_int_equal(range.last_major, 2);
    assert_int_equal(range.first_minor, first);
    assert_int_equal(range.last_minor, last);
    assert_int_equal(fl_trace_warning_count(trace), fl_trace_lacks_conf(trace));
    fl_trace_free(trace);
}

static void files_tell_the_releases_that_may_have_written_them(void **state)
{
    (void)state;
    releases_are("tests/data/snapshots/releases/2.0.1.pickle", 0, 0);
    releases_are("tests/data/snapshots/releases/2.1.2.pickle", 1, 1);
    releases_are("tests/data/snapshots/releases/2.4.1.pickle", 3, 4);
    releases_are("tests/data/snapshots/releases/2.7.1.pickle", 5, 8);
    releases_are("tests/data/snapshots/rs_basic.pickle", 9, 9);
    releases_are("tests/data/snapshots/cpp.pickle", 9, 9);
    releases_are("tests/data/snapshots/releases/2.10.0.pickle", 10, 12);
    releases_are("tests/data/snapshots/releases/2.13.0.pickle", 13, 14);
    releases_are("tests/data/snapshots/releases/2.15.0.pickle", 15, 15);
}

/* Segments of before 2.1, and entries of before and after 2.2, in a snapshot without settings. */
static void the_first_releases_differ_in_segments_and_entries(void **state)
{
    (void)state;
    static const struct {
        const char *segment, *entry;
        uint32_t first, last;
    } cases[] = {
        {"", "", 0, 2},
        {"", ENTRY_ALLOC, 0, 1},
        {"", ENTRY_ALLOC "'time_us' #1 s ", 2, 2},
        {SEGMENT, "", 1, 2},
        {SEGMENT, ENTRY_ALLOC, 1, 1},
        {"{ ( 'device' #0 'address' #4096 'total_size' #512 'stream' #0 'segment_type' 'small' "
         "'blocks' ] { ( 'size' #512 'requested_size' #0 'state' 'inactive' u a u ",
         "", 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        pickle_bytes pickle;
        assemble_begin(&pickle);
        assemble(&pickle, "{ ( 'segments' ] ( ");
        assemble(&pickle, cases[i].segment);
        assemble(&pickle, "e 'device_traces' ] ( ] ( ");
        assemble(&pickle, cases[i].entry);
        assemble(&pickle, "e e u .");
        fl_trace *trace = read_valid(&pickle);
        fl_release_range range = fl_trace_releases(trace);
        assert_true(range.known);
        assert_int_equal(range.first_minor, cases[i].first);
        assert_int_equal(range.last_minor, cases[i].last);
        fl_trace_free(trace);
    }
}

static void a_bare_list_tells_no_more_than_its_segments(void **state)
{
    (void)state;
    releases_are("tests/data/snapshots/list.pickle", 1, 15);
}

static void keys_that_no_release_writes_together_are_told(void **state)
{
    (void)state;
    pickle_bytes pickle;
    /* 2.10's user metadata without the annotations of 2.5 */
    assemble_begin(&pickle);
    assemble(&pickle, "{ ( 'segments' ] 'device_traces' ] ( ] ( " ENTRY_SEGMENT
                      "'user_metadata' '' s e e 'allocator_settings' { u .");
    fl_trace *trace = read_valid(&pickle);
    assert_false(fl_trace_releases(trace).known);
    /* The other tells that its segment is gone. */
    assert_int_equal(fl_trace_warning_count(trace), 2);
    assert_string_equal(fl_trace_warning(trace, 0),
                        "the keys of this file belong to no single release");
    fl_trace_free(trace);
}

static void without_events_the_settings_alone_tell(void **state)
{
    (void)state;
    pickle_bytes pickle;
    assemble_begin(&pickle);
    assemble(&pickle, "{ ( 'segments' ] 'device_traces' ] 'allocator_settings' "
                      "{ 'graph_capture_record_stream_reuse' F s 'external_annotations' ] u .");
    fl_trace *trace = read_valid(&pickle);
    fl_release_range range = fl_trace_releases(trace);
    assert_int_equal(range.first_minor, 9);
    assert_int_equal(range.last_minor, 12);
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_tell_the_releases_that_may_have_written_them),
        cmocka_unit_test(the_first_releases_differ_in_segments_and_entries),
        cmocka_unit_test(a_bare_list_tells_no_more_than_its_segments),
        cmocka_unit_test(keys_that_no_release_writes_together_are_told),
        cmocka_unit_test(without_events_the_settings_alone_tell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
