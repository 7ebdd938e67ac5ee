#include "reader/json_write.h"

#include "assemble.h"
#include "taker.h"
#include "test.h"

#include <fraglab/read.h>

#include <stdlib.h>
#include <string.h>

static taker written(const fl_trace *trace)
{
    taker to = {0};
    fl_error error = {0};
    fl_write_options options = {.write = taker_take, .user = &to};
    if (fl_write_trace(trace, "json", &options, &error) != FL_OK)
        fail_msg("%s", error.text);
    return to;
}

static fl_trace *read_again(const taker *json)
{
    fl_trace *trace = NULL;
    fl_error error = {0};
    fl_read_options options = {.format = "json"};
    if (fl_read_memory(json->text, json->length, "j", &options, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    return trace;
}

static void a_snapshot_is_written_key_by_key(void **state)
{
    (void)state;
    pickle_bytes pickle;
    assemble_snapshot(&pickle, SEGMENT, ENTRY_SEGMENT ENTRY_ALLOC);
    fl_trace *trace = read_valid(&pickle);
    taker json = written(trace);
    assert_string_equal(
        json.text,
        "{\"fraglab\": {},\n"
        " \"segments\": [\n"
        "  {\"device\": 0, \"address\": 4096, \"total_size\": 2097152, \"allocated_size\": 512, "
        "\"active_size\": 512, \"requested_size\": 100, \"stream\": 0, \"segment_type\": "
        "\"small\", \"segment_pool_id\": [0, 0], \"is_expandable\": false, \"frames\": [], "
        "\"blocks\": [{\"address\": 4096, \"size\": 512, \"requested_size\": 100, \"state\": "
        "\"active_allocated\", \"frames\": []}, {\"address\": 4608, \"size\": 2096640, "
        "\"requested_size\": 0, \"state\": \"inactive\", \"frames\": []}]}],\n"
        " \"device_traces\": [\n"
        "  [\n"
        "    {\"action\": \"segment_alloc\", \"addr\": 4096, \"size\": 2097152, \"stream\": 0},\n"
        "    {\"action\": \"alloc\", \"addr\": 4096, \"size\": 100, \"stream\": 0}]],\n"
        " \"allocator_settings\": {\"PYTORCH_CUDA_ALLOC_CONF\": \"a:b\"}}\n");
    free(json.text);
    fl_trace_free(trace);
}

static void what_is_read_back_is_written_alike(void **state)
{
    (void)state;
    static const char *const paths[] = {
        "tests/fuzz/corpus/snapshot/basic.pickle",
        "tests/fuzz/corpus/snapshot/pending-cut.pickle",
        "tests/fuzz/corpus/snapshot/graph-proto2.pickle",
        "tests/fuzz/corpus/snapshot/release-2.0.1.pickle",
        "tests/fuzz/corpus/json/features.json",
    };
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        fl_trace *trace = read_file(paths[i], false);
        taker first = written(trace);
        fl_trace *again = read_again(&first);
        taker second = written(again);
        assert_string_equal(first.text, second.text);
        assert_int_equal(fl_trace_event_count(trace, 0), fl_trace_event_count(again, 0));
        fl_release_range a = fl_trace_releases(trace), b = fl_trace_releases(again);
        assert_int_equal(a.first_minor, b.first_minor);
        assert_int_equal(a.last_minor, b.last_minor);
        free(first.text);
        free(second.text);
        fl_trace_free(trace);
        fl_trace_free(again);
    }
}

#define WORLD                                                                                      \
    "{\"fraglab\": {\"has_operations\": true, \"is_inferred\": true, \"capacity\": 1048576, "      \
    "\"start\": [\n"                                                                               \
    "  {\"op\": \"S 0x200000 2097152 0 small=1\"},\n"                                              \
    "  {\"op\": \"B 7 0x200000 512 500\", \"category\": \"a \\u0022b\\u0022\"},\n"                 \
    "  {\"op\": \"B 8 0x200400 512 512 pending=1\"},\n"                                            \
    "  {\"op\": \"S 0x200000 2097152 0 small=1 dev=1\"}], \"external_annotations\": 3, "           \
    "\"host_segments\": 2, \"host_bytes\": 4096, \"host_traces\": 5, \"release\": \"2.6.0\"},\n"
#define ENTRIES                                                                                    \
    "    {\"action\": \"alloc\", \"addr\": 2099200, \"size\": 100, \"stream\": 0, \"id\": 9, "     \
    "\"category\": \"weights\", \"parts\": \"odd=1 more=\\u005c\"},\n"                             \
    "    {\"action\": \"operation\", \"addr\": 0, \"size\": 0, \"stream\": 0, \"op\": \"f 8 "      \
    "held=1\", \"parts\": \"odd=2\"}"

static void what_a_snapshot_has_no_key_for_is_written_alike(void **state)
{
    (void)state;
    static const char json[] = WORLD " \"segments\": [],\n \"device_traces\": [\n  [\n" ENTRIES
                                     "],\n  []],\n \"allocator_settings\": {}}\n";
    taker from = {.text = (char[sizeof json]){0}, .length = sizeof json - 1};
    memcpy(from.text, json, sizeof json);
    fl_trace *trace = read_again(&from);
    taker to = written(trace);
    assert_string_equal(to.text, json);
    free(to.text);
    fl_trace_free(trace);
}

/* No block lies at 0, and only a forged file frees one. */
static void a_free_of_nothing_known_stays_an_entry(void **state)
{
    (void)state;
    static const char json[] =
        "{\"fraglab\": {\"has_operations\": true},\n \"segments\": [],\n \"device_traces\": [\n  "
        "[\n"
        "    {\"action\": \"free_requested\", \"addr\": 0, \"size\": 5, \"stream\": 0},\n"
        "    {\"action\": \"free_completed\", \"addr\": 0, \"size\": 5, \"stream\": 0}]],\n"
        " \"allocator_settings\": {}}\n";
    taker from = {.text = (char[sizeof json]){0}, .length = sizeof json - 1};
    memcpy(from.text, json, sizeof json);
    fl_trace *trace = read_again(&from);
    taker to = written(trace);
    assert_string_equal(to.text, json);
    free(to.text);
    fl_trace_free(trace);
}

static void what_has_no_history_or_no_end_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *path, *end;
    } rows[] = {
        {"tests/fuzz/corpus/script/all.txt",
         ": a script has no history, which a snapshot in JSON needs"},
        {NULL, ": device 0 has no final state, without which there is no snapshot"},
    };
    size_t size;
    uint8_t *bytes = file_bytes("tests/fuzz/corpus/snapshot/basic.pickle", &size);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        fl_trace *trace = NULL;
        fl_error error = {0};
        fl_read_options options = {.accept_cut = true};
        fl_status status = rows[i].path != NULL
                               ? fl_read_file(rows[i].path, NULL, &trace, &error)
                               : fl_read_memory(bytes, size / 2, "cut", &options, &trace, &error);
        assert_int_equal(status, FL_OK);
        taker to = {0};
        fl_write_options writing = {.write = taker_take, .user = &to};
        assert_int_equal(fl_write_trace(trace, "json", &writing, &error), FL_ERR_UNAVAILABLE);
        assert_non_null(strstr(error.text, rows[i].end));
        assert_int_equal(to.length, 0);
        fl_trace_free(trace);
    }
    free(bytes);
}

static void a_place_that_takes_no_more_is_an_output_error(void **state)
{
    (void)state;
    fl_trace *trace = read_file("tests/fuzz/corpus/snapshot/basic.pickle", false);
    taker whole = written(trace);
    for (size_t most = 1; most < whole.length; most += 11) {
        taker to = {.most = most};
        fl_error error = {0};
        fl_write_options options = {.write = taker_take, .user = &to};
        assert_int_equal(fl_write_trace(trace, "json", &options, &error), FL_ERR_OUTPUT);
        free(to.text);
    }
    free(whole.text);
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_snapshot_is_written_key_by_key),
        cmocka_unit_test(what_is_read_back_is_written_alike),
        cmocka_unit_test(what_a_snapshot_has_no_key_for_is_written_alike),
        cmocka_unit_test(a_free_of_nothing_known_stays_an_entry),
        cmocka_unit_test(what_has_no_history_or_no_end_is_refused),
        cmocka_unit_test(a_place_that_takes_no_more_is_an_output_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
