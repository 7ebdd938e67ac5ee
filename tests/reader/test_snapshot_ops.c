#include "reader/snapshot.h"

#include "taker.h"
#include "test.h"

#include <fraglab/read.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALLOC "{\"action\": \"alloc\", \"addr\": 4096, \"size\": 100, \"stream\": 0, \"id\": 7}"
#define FREE                                                                                       \
    "{\"action\": \"free_requested\", \"addr\": 4096, \"size\": 100, \"stream\": 0, "              \
    "\"is_held\": true}"
#define DONE "{\"action\": \"free_completed\", \"addr\": 4096, \"size\": 100, \"stream\": 0}"
#define OP(text)                                                                                   \
    "{\"action\": \"operation\", \"addr\": 0, \"size\": 0, \"stream\": 0, \"op\": \"" text "\"}"

static fl_status read_entries(const char *entries, fl_trace **ret_trace, fl_error *error)
{
    char json[2048];
    *error = (fl_error){0};
    snprintf(json, sizeof json,
             "{\"segments\": [], \"device_traces\": [[%s]], \"fraglab\": {\"has_operations\": "
             "true, \"capacity\": 1048576, \"release\": \"2.6.0\"}}",
             entries);
    return fl_read_memory(json, strlen(json), "j", NULL, ret_trace, error);
}

static fl_trace *read_valid_entries(const char *entries)
{
    fl_trace *trace = NULL;
    fl_error error;
    if (read_entries(entries, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    return trace;
}

static fl_event event_at(const fl_trace *trace, uint64_t index)
{
    fl_event event;
    fl_trace_event(trace, 0, index, &event);
    return event;
}

static void operations_are_events_in_their_place(void **state)
{
    (void)state;
    fl_trace *trace = read_valid_entries(ALLOC ", " OP("r 7 64") ", " FREE ", " OP(
        "b 2 capture=1") ", " DONE ", " OP("d 7") ", " OP("m \\\"so\\\"") ", " OP("a 9 0 0"));
    assert_true(trace->has_ops);
    assert_int_equal(fl_trace_capacity(trace), 1048576);
    assert_int_equal(fl_trace_event_count(trace, 0), 8);
    assert_int_equal(fl_trace_original_id(trace, 0, event_at(trace, 0).id), 7);
    assert_int_equal(event_at(trace, 1).kind, FL_OP_USE);
    assert_int_equal(event_at(trace, 1).id, event_at(trace, 0).id);
    assert_int_equal(event_at(trace, 2).flags & FL_OP_HELD, FL_OP_HELD);
    assert_int_equal(event_at(trace, 3).flags & FL_OP_CAPTURE, FL_OP_CAPTURE);
    assert_int_equal(event_at(trace, 4).flags & FL_EVENT_SILENT, FL_EVENT_SILENT);
    assert_int_equal(event_at(trace, 5).kind, FL_OP_FREE_DONE);
    assert_int_equal(event_at(trace, 5).flags & FL_EVENT_SILENT, 0);
    assert_string_equal(fl_trace_names(trace)->texts[event_at(trace, 6).text], "\"so\"");
    assert_int_equal(fl_trace_original_id(trace, 0, event_at(trace, 7).id), 9);
    fl_trace_free(trace);
}

static void an_exact_address_is_kept_where_it_was_refused_too(void **state)
{
    (void)state;
    fl_trace *trace =
        read_valid_entries("{\"action\": \"oom\", \"device_free\": 0, \"size\": 100, \"stream\": "
                           "0, \"id\": 1, \"at\": 8192}");
    fl_event event = event_at(trace, 0);
    assert_int_equal(event.flags, FL_EVENT_OOM | FL_OP_AT);
    assert_int_equal(event.address, 8192);
    fl_trace_free(trace);
}

static void operations_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *entries, *text;
    } rows[] = {
        {OP("r 7 64"), "an operation on id 7, which was not requested"},
        {OP("a 7 512 0"), "'op': an operation that has an entry of its own kind"},
        {OP("f 7"), "an operation on id 7, which was not requested"},
        {OP("S 0x1000 4096 0"), "'op': an operation that has an entry of its own kind"},
        {OP("y"), "'op': unknown operation 'y'"},
        {OP(""), "'op': unknown operation ''"},
        {"{\"action\": \"operation\"}", "expected 'op', a text, of an operation"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        fl_trace *trace = NULL;
        fl_error error;
        assert_int_equal(read_entries(rows[i].entries, &trace, &error), FL_ERR_INPUT);
        assert_null(trace);
        if (strstr(error.text, rows[i].text) == NULL)
            fail_msg("%s", error.text);
    }
}

#define START                                                                                      \
    "{\"op\": \"S 0x200000 2097152 0 small=1\"}, "                                                 \
    "{\"op\": \"B 7 0x200000 512 500\", \"category\": \"weights\"}, "                              \
    "{\"op\": \"B 8 0x200400 512 512 pending=1\"}"

/* `fraglab`: what stands under this key, which comes first. */
static fl_status read_whole(const char *fraglab, const char *entries, fl_trace **ret_trace,
                            fl_error *error)
{
    char json[2048];
    *error = (fl_error){0};
    snprintf(json, sizeof json, "{\"fraglab\": {%s}, \"segments\": [], \"device_traces\": [[%s]]}",
             fraglab, entries);
    return fl_read_memory(json, strlen(json), "j", NULL, ret_trace, error);
}

static void what_was_there_before_is_told(void **state)
{
    (void)state;
    fl_trace *trace = NULL;
    fl_error error;
    static const char entries[] =
        "{\"action\": \"free_requested\", \"addr\": 2097152, \"size\": 500, \"stream\": 0}, " OP(
            "d 8");
    if (read_whole("\"has_operations\": true, \"start\": [" START "]", entries, &trace, &error) !=
        FL_OK)
        fail_msg("%s", error.text);
    const fl_trace_start *start = &trace->devices.items[0].start;
    assert_true(start->is_known && start->is_placed);
    assert_int_equal(start->in_use.count, 2);
    assert_int_equal(start->blocks.count, 4);
    assert_int_equal(event_at(trace, 0).id, 0);
    assert_int_equal(event_at(trace, 1).id, 1);
    assert_int_equal(fl_trace_alloc_count(trace, 0), 2);
    assert_int_equal(fl_trace_original_id(trace, 0, 0), 7);
    assert_string_equal(fl_trace_names(trace)->texts[fl_trace_category(trace, 0, 0)], "weights");
    assert_false(fl_trace_is_complete(trace, 0));
    fl_trace_free(trace);
}

static void what_was_there_before_must_be_possible(void **state)
{
    (void)state;
    static const struct {
        const char *fraglab, *text;
    } rows[] = {
        {"\"start\": [" START "]", "j:200: 'start' in a file without all operations"},
        {"\"has_operations\": true, \"start\": [{\"op\": \"B 7 0x200000 512 500\"}]",
         "a block before its segment"},
        {"\"has_operations\": true, \"start\": [" START ", {\"op\": \"B 7 0x200800 512 5\"}]",
         "id 7 is live already"},
        {"\"has_operations\": true, \"start\": [" START ", {\"op\": \"B 9 0x200200 512 5\"}]",
         "a block at 0x200200 does not lie behind the one before"},
        {"\"has_operations\": true, \"start\": [" START ", {\"op\": \"S 0x200000 512 0\"}]",
         "a segment at 0x200000 does not lie behind the one before"},
        {"\"has_operations\": true, \"start\": [{\"op\": \"S 0xFFFFFFFFFFFFF000 8192 0\"}]",
         "a segment of no bytes, or beyond 2^64"},
        {"\"has_operations\": true, \"start\": [{\"op\": \"a 1 0\"}]",
         "'op': expected a segment or block, S or B"},
        {"\"has_operations\": true, \"start\": [{}]", "expected 'op', a text, of an operation"},
        {"\"has_operations\": true, \"start\": [{\"op\": \"S 1 512 0 dev=300\"}]",
         "a device number up to 255"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        fl_trace *trace = NULL;
        fl_error error;
        assert_int_equal(read_whole(rows[i].fraglab, "", &trace, &error), FL_ERR_INPUT);
        assert_null(trace);
        if (strstr(error.text, rows[i].text) == NULL)
            fail_msg("%s", error.text);
    }
}

static void what_was_there_before_comes_before_the_events(void **state)
{
    (void)state;
    static const char json[] =
        "{\"segments\": [], \"device_traces\": [[" ALLOC
        "]], \"fraglab\": {\"has_operations\": true, \"start\": [" START "]}}";
    fl_trace *trace = NULL;
    fl_error error = {0};
    assert_int_equal(fl_read_memory(json, strlen(json), "j", NULL, &trace, &error), FL_ERR_INPUT);
    assert_non_null(strstr(error.text, "what was there before the first operation"));
}

#define KEPT(kept)                                                                                 \
    "{\"action\": \"alloc\", \"addr\": 4096, \"size\": 100, \"stream\": 0, \"id\": 7, " kept "}"

static void categories_and_unknown_parts_are_kept(void **state)
{
    (void)state;
    fl_trace *trace = read_valid_entries(KEPT("\"category\": \"weights\", \"parts\": \"odd=1 "
                                              "more=\\u0022\"") ", {\"action\": \"operation\", "
                                                                "\"op\": \"e\", \"parts\": "
                                                                "\"odd=2\", \"category\": \"no\"}");
    size_t count;
    const fl_note *notes = fl_trace_notes(trace, 0, &count);
    const char *const *texts = fl_trace_names(trace)->texts;
    assert_int_equal(count, 3);
    assert_string_equal(texts[notes[1].text], "more=\"");
    assert_int_equal(notes[2].event, 1);
    assert_string_equal(texts[notes[2].text], "odd=2");
    assert_string_equal(texts[fl_trace_category(trace, 0, 0)], "weights");
    fl_trace_free(trace);
}

static void parts_that_an_operation_knows_are_refused(void **state)
{
    (void)state;
    static const char *const entries[] = {
        KEPT("\"parts\": \"at=0x200\""),
        KEPT("\"parts\": \"odd\""),
        KEPT("\"parts\": \"odd=1\\nf=7\""),
        "{\"action\": \"operation\", \"op\": \"m x\", \"parts\": \"odd=2\"}",
    };
    for (size_t i = 0; i < COUNT_OF(entries); i++) {
        fl_trace *trace = NULL;
        fl_error error;
        assert_int_equal(read_entries(entries[i], &trace, &error), FL_ERR_INPUT);
        assert_non_null(strstr(error.text, "'parts': expected key=value"));
    }
}

static void counts_of_what_is_not_kept_are_told(void **state)
{
    (void)state;
    fl_trace *trace = NULL;
    fl_error error;
    static const char counts[] = "\"external_annotations\": 3, \"host_segments\": 4, "
                                 "\"host_bytes\": 18446744073709551615, \"host_traces\": -1";
    assert_int_equal(read_whole(counts, "", &trace, &error), FL_OK);
    fl_beside beside = fl_trace_beside(trace);
    assert_int_equal(beside.annotations, 3);
    assert_int_equal(beside.host_segments, 4);
    assert_true(beside.host_bytes == UINT64_MAX);
    assert_int_equal(beside.host_events, 0);
    fl_trace_free(trace);
    static const char json[] =
        "{\"fraglab\": {\"external_annotations\": 18446744073709551615}, \"segments\": [], "
        "\"device_traces\": [], \"external_annotations\": [{}, {}]}";
    assert_int_equal(fl_read_memory(json, strlen(json), "j", NULL, &trace, &error), FL_OK);
    assert_true(fl_trace_beside(trace).annotations == UINT64_MAX);
    fl_trace_free(trace);
}

static void what_is_read_is_written_alike(void **state)
{
    (void)state;
    fl_trace *trace = read_valid_entries(OP("F 0.5") ", " OP(
        "m a \\\"b\\\" \\\\ c") ", {\"action\": \"oom\", \"device_free\": 0, "
                                "\"size\": 100, \"stream\": 0, \"id\": 1, \"at\": 8192}");
    taker to = {0};
    fl_error error = {0};
    fl_write_options options = {.write = taker_take, .user = &to};
    assert_int_equal(fl_write_trace(trace, "json", &options, &error), FL_OK);
    assert_non_null(strstr(to.text, OP("F 0.5")));
    assert_non_null(strstr(to.text, OP("m a \\\"b\\\" \\\\ c")));
    assert_non_null(strstr(to.text, "\"id\": 1, \"at\": 8192}"));
    assert_non_null(strstr(to.text, "\"fraglab\": {\"has_operations\": true, \"capacity\": "
                                    "1048576, \"release\": \"2.6.0\"}"));
    free(to.text);
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_are_events_in_their_place),
        cmocka_unit_test(an_exact_address_is_kept_where_it_was_refused_too),
        cmocka_unit_test(operations_that_make_no_sense_are_refused),
        cmocka_unit_test(what_was_there_before_is_told),
        cmocka_unit_test(what_was_there_before_must_be_possible),
        cmocka_unit_test(what_was_there_before_comes_before_the_events),
        cmocka_unit_test(categories_and_unknown_parts_are_kept),
        cmocka_unit_test(parts_that_an_operation_knows_are_refused),
        cmocka_unit_test(counts_of_what_is_not_kept_are_told),
        cmocka_unit_test(what_is_read_is_written_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
