#include "test.h"
#include "trace/build.h"
#include "tuning.h"

#include <string.h>

static bool has(const fl_tune_state *state, const char *part)
{
    for (size_t i = 0; i < state->candidates.count; i++)
        if (strstr(state->candidates.items[i].conf, part) != NULL)
            return true;
    return false;
}

/* Everything there is to try for a script. */
static fl_tune_state list_of(const fl_trace *const *trace, const fl_tune_options *options)
{
    fl_tune_state state = tuning_open(trace, 1, options);
    assert_int_equal(fl_tune_add_usual(&state, NULL), FL_OK);
    assert_int_equal(fl_tune_add_further(&state, NULL), FL_OK);
    return state;
}

static void the_settings_in_force_come_first(void **state)
{
    (void)state;
    fl_trace *own = tuning_read("a 1 300MiB\n");
    const fl_trace *trace = own;
    fl_tune_options options = tuning_options(NULL, 100);
    options.replay.conf = "max_split_size_mb:99";
    fl_tune_state list = list_of(&trace, &options);
    assert_string_equal(list.candidates.items[0].conf, "max_split_size_mb:99");
    assert_true(list.candidates.items[0].flags & FL_TUNE_BASE);
    assert_string_equal(list.candidates.items[1].conf, "");
    tuning_close(&list);
    fl_trace_free(own);
}

static void a_release_is_asked_only_what_it_knows(void **state)
{
    (void)state;
    static const struct {
        const char *release, *part;
        bool is_there;
    } rows[] = {
        {"2.0", "expandable_segments", false},
        {"2.1", "expandable_segments", true},
        {"2.5", "max_non_split_rounding_mb", false},
        {"2.6", "max_non_split_rounding_mb", true},
        {"2.9.1", "per_process_memory_fraction", false},
        {"2.10", "per_process_memory_fraction", true},
        {"2.10", "large_segment_size_mb", false},
        {"2.11", "large_segment_size_mb", true},
    };
    fl_trace *own = tuning_read("a 1 3MiB\na 2 30MiB\n");
    const fl_trace *trace = own;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        fl_tune_options options = tuning_options(rows[i].release, 100);
        fl_tune_state list = list_of(&trace, &options);
        assert_int_equal(has(&list, rows[i].part), rows[i].is_there);
        tuning_close(&list);
    }
    fl_trace_free(own);
}

static void what_the_trace_never_looks_at_is_left_out(void **state)
{
    (void)state;
    /* Sizes that no division rounds, and none that shares a large segment. */
    fl_trace *own = tuning_read("a 1 32MiB\na 2 64MiB\n");
    const fl_trace *trace = own;
    fl_tune_options options = tuning_options("2.11", 100);
    fl_tune_state list = list_of(&trace, &options);
    assert_false(has(&list, "roundup_power2_divisions"));
    for (size_t i = 0; i < list.candidates.count; i++) {
        const char *conf = list.candidates.items[i].conf;
        assert_true(strstr(conf, "large_segment_size_mb") == NULL ||
                    strstr(conf, "expandable") != NULL);
    }
    tuning_close(&list);
    fl_trace_free(own);
}

static void collection_brings_a_limit_along(void **state)
{
    (void)state;
    fl_trace *own = tuning_read("a 1 32MiB\n");
    const fl_trace *trace = own;
    fl_tune_options options = tuning_options("2.9.1", 100);
    fl_tune_state list = list_of(&trace, &options);
    assert_true(tuning_find(&list, "garbage_collection_threshold:0.8")->fraction == 0.999);
    tuning_close(&list);
    options.replay.fraction = 0.5;
    list = list_of(&trace, &options);
    assert_true(tuning_find(&list, "garbage_collection_threshold:0.8")->fraction == 0.5);
    tuning_close(&list);
    options = tuning_options("2.10", 100);
    list = list_of(&trace, &options);
    assert_true(tuning_find(&list, "garbage_collection_threshold:0.8,per_process_memory_fraction:"
                                   "0.999")
                    ->fraction < 0);
    tuning_close(&list);
    fl_trace_free(own);
}

static void what_was_found_is_surveyed_as_if_told(void **state)
{
    (void)state;
    static const uint8_t kinds[] = {FL_OP_TRIM, FL_OP_LIMIT, FL_OP_CONFIGURE};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        fl_trace *own = tuning_read("a 1 32MiB\n");
        const fl_trace *trace = own;
        fl_op op = {.kind = kinds[i], .id = FL_NONE, .stream = FL_NONE, .pool = FL_NONE, .text = 0};
        assert_int_equal(fl_trace_insert(own, 0, 0, &op, NULL), FL_OK);
        fl_tune_options options = tuning_options("2.9.1", 100);
        fl_tune_state list = tuning_open(&trace, 1, &options);
        assert_int_equal(list.has_limit, kinds[i] == FL_OP_LIMIT);
        assert_int_equal(list.is_configured, kinds[i] == FL_OP_CONFIGURE);
        tuning_close(&list);
        fl_trace_free(own);
    }
}

static void a_split_limit_with_expandable_segments_is_marked(void **state)
{
    (void)state;
    fl_trace *own = tuning_read("a 1 32MiB\n");
    const fl_trace *trace = own;
    fl_tune_options options = tuning_options(NULL, 100);
    fl_tune_state list = list_of(&trace, &options);
    const char *both = "expandable_segments:True,max_split_size_mb:128";
    assert_true(tuning_find(&list, both)->flags & FL_TUNE_CONFLICTING);
    assert_false(tuning_find(&list, "expandable_segments:True")->flags & FL_TUNE_CONFLICTING);
    tuning_close(&list);
    fl_trace_free(own);
}

static void every_mark_is_a_place_for_empty_cache(void **state)
{
    (void)state;
    fl_trace *own = tuning_read("a 1 5MiB\nm one\nf 1\nm two\na 2 6MiB\n");
    const fl_trace *trace = own;
    fl_tune_options options = tuning_options(NULL, 100);
    fl_tune_state list = tuning_open(&trace, 1, &options);
    assert_int_equal(fl_tune_add_changes(&list, NULL), FL_OK);
    assert_int_equal(list.candidates.count, 3);
    assert_int_equal(list.candidates.items[0].change, FL_TUNE_LARGEST_FIRST);
    assert_int_equal(list.candidates.items[1].change_event, 1);
    assert_int_equal(list.candidates.items[2].change_event, 3);
    tuning_close(&list);
    fl_trace_free(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_settings_in_force_come_first),
        cmocka_unit_test(a_release_is_asked_only_what_it_knows),
        cmocka_unit_test(what_the_trace_never_looks_at_is_left_out),
        cmocka_unit_test(collection_brings_a_limit_along),
        cmocka_unit_test(what_was_found_is_surveyed_as_if_told),
        cmocka_unit_test(a_split_limit_with_expandable_segments_is_marked),
        cmocka_unit_test(every_mark_is_a_place_for_empty_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
