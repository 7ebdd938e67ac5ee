#include "reader/json.h"

#include "assemble.h"
#include "failing_host.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BASIC        "tests/data/snapshots/rs_basic.json"
#define BASIC_EVENTS 19

/* JSON with ' for quotes. */
static fl_status read_json(const char *text, bool accept_cut, fl_trace **ret_trace, fl_error *error)
{
    static char json[4096];
    size_t size = strlen(text);
    assert_true(size < sizeof json);
    for (size_t i = 0; i < size; i++)
        json[i] = text[i];
    for (size_t i = 0; i < size; i++)
        if (json[i] == '\'')
            json[i] = '"';
    fl_read_options options = {.accept_cut = accept_cut};
    *ret_trace = NULL;
    *error = (fl_error){0};
    return fl_read_memory(json, size, "p", &options, ret_trace, error);
}

static fl_trace *json_valid(const char *text)
{
    fl_trace *trace;
    fl_error error;
    if (read_json(text, false, &trace, &error) != FL_OK)
        fail_msg("%s: %s", text, error.text);
    return trace;
}

static void json_fails(const char *text, const char *message)
{
    fl_trace *trace;
    fl_error error;
    fl_status status = read_json(text, false, &trace, &error);
    if (status != FL_ERR_INPUT || strcmp(error.text, message) != 0)
        fail_msg("%s: status %d, '%s'", text, (int)status, error.text);
}

/* In the place of a value that is passed over. */
#define AROUND(value) "{'external_annotations':" value ",'segments':[],'allocator_settings':{}}"

static void the_same_run_is_read_as_from_a_pickle(void **state)
{
    (void)state;
    fl_trace *json = read_file(BASIC, false);
    fl_trace *pickle = read_file("tests/data/snapshots/rs_basic.pickle", false);
    assert_int_equal(fl_trace_event_count(json, 0), BASIC_EVENTS);
    assert_int_equal(fl_trace_warning_count(json), 0);
    for (uint64_t i = 0; i < BASIC_EVENTS; i++) {
        fl_event a, b;
        fl_trace_event(json, 0, i, &a);
        fl_trace_event(pickle, 0, i, &b);
        assert_int_equal(a.kind, b.kind);
        assert_int_equal(a.id, b.id);
        assert_int_equal(a.address, b.address);
        assert_int_equal(a.size, b.size);
        assert_int_equal(a.stack, b.stack);
        assert_int_equal(a.stream, b.stream);
        assert_true(a.time_us == b.time_us);
    }
    size_t count, other;
    const fl_block_view *blocks = fl_trace_final_blocks(json, 0, &count);
    const fl_block_view *others = fl_trace_final_blocks(pickle, 0, &other);
    assert_int_equal(count, other);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(blocks[i].id, others[i].id);
        assert_int_equal(blocks[i].address, others[i].address);
        assert_int_equal(blocks[i].size, others[i].size);
    }
    assert_string_equal(fl_trace_conf(json), fl_trace_conf(pickle));
    assert_int_equal(fl_trace_releases(json).first_minor, fl_trace_releases(pickle).first_minor);
    assert_true(fl_trace_is_complete(json, 0));
    fl_trace_free(json);
    fl_trace_free(pickle);
}

static void values_of_every_kind_are_passed_over(void **state)
{
    (void)state;
    static const char *const values[] = {
        AROUND("null"),
        AROUND("true"),
        AROUND("false"),
        AROUND("0"),
        AROUND("-0"),
        AROUND("123456789012345678901234567890"),
        AROUND("1.5"),
        AROUND("-0.25e+10"),
        AROUND("1E5"),
        AROUND("''"),
        AROUND("'\\u0000\\ud83d\\ude00\\ud83d\\\\'"),
        AROUND("{}"),
        AROUND("[]"),
        AROUND("[1, 2]"),
        AROUND("[[],{},[[{'segments':[{'blocks':[]}]}]]]"),
        AROUND("[{'name':'frames','frames':[{'name':1}]}]"),
        " \t\r\n{ 'segments' : [ ] } \n ",
        "[]",
        " [ ]\n",
    };
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        fl_trace *trace = json_valid(values[i]);
        assert_int_equal(fl_trace_warning_count(trace), 0);
        fl_trace_free(trace);
    }
}

static void texts_lose_their_escapes(void **state)
{
    (void)state;
    static const struct {
        const char *json, *text;
    } cases[] = {
        {"plain", "plain"},
        {"\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t"},
        {"\\u0041\\u00e9\\u20AC", "A\xC3\xA9\xE2\x82\xAC"},
        {"\\ud83d\\ude00", "\xF0\x9F\x98\x80"},
        {"a\\ud83db", "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
                      "b"},
        {"\\ud83d\\u0041", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
                           "A"},
        {"\xFF", "\xEF\xBF\xBD"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char json[200];
        snprintf(json, sizeof json,
                 "{'segments':[],'allocator_settings':{'PYTORCH_CUDA_ALLOC_CONF':'%s'}}",
                 cases[i].json);
        fl_trace *trace = json_valid(json);
        assert_string_equal(fl_trace_conf(trace), cases[i].text);
        fl_trace_free(trace);
    }
}

static void what_is_no_json_is_refused_with_its_place(void **state)
{
    (void)state;
    json_fails("{,}", "p:1: expected a key");
    json_fails("{'a' 1}", "p:5: expected ':'");
    json_fails("{'segments':[],}", "p:15: expected a key");
    json_fails("{'segments':[,]}", "p:13: expected a value");
    json_fails("{'segments':[] 'a':1}", "p:15: expected ',' or '}'");
    json_fails(AROUND("[1:2]"), "p:26: expected ',' or ']'");
    json_fails(AROUND("[1,]"), "p:27: expected a value");
    json_fails(AROUND("[1}"), "p:26: expected ',' or ']'");
    static const char *const wrong[] = {"01", "+1",  ".5",  "1.",   "1.e5", "1e", "1e+",
                                        "-",  "--1", "nul", "True", "NaN",  "1a", "$"};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        char json[100];
        snprintf(json, sizeof json, "{'external_annotations':%s,'segments':[]}", wrong[i]);
        json_fails(json, "p:24: expected a value");
    }
    json_fails(AROUND("'a\\x'"), "p:26: expected a known escape behind \\");
    json_fails(AROUND("'\\u12G4'"), "p:25: expected four digits of base 16 behind \\u");
    json_fails(AROUND("'a\tb'"), "p:26: expected no control character in a text");
    json_fails("{'segments':{}}", "p:12: the list of segments is a dictionary, expected a list");
    json_fails("{'segments':[1]}", "p:13: the list of segments holds a number, expected a segment");
    json_fails("{'segments':[],'segments':[]}", "p:27: a snapshot has 'segments' twice");
    json_fails("{'device_traces':[]}", "p:19: expected 'segments' among the keys");
}

static void nesting_has_a_limit(void **state)
{
    (void)state;
    char json[2200] = "{'external_annotations':";
    memset(json + strlen(json), '[', 1100);
    json_fails(json, "p:1023: nested deeper than 1000 levels");
}

static void what_lies_behind_is_told(void **state)
{
    (void)state;
    fl_trace *trace = json_valid("{'segments':[]} x");
    assert_int_equal(fl_trace_warning_count(trace), 1);
    assert_string_equal(fl_trace_warning(trace, 0), "p: 1 bytes behind the snapshot are left out");
    fl_trace_free(trace);
}

/* A text may be longer than the buffer; no key that matters is. */
static void long_texts_are_passed_over(void **state)
{
    (void)state;
    size_t length = 3 * FL_INPUT_ROOM;
    char *json = malloc(length + 200);
    size_t size = (size_t)sprintf(json, "{\"external_annotations\":\"");
    for (size_t i = 0; i < length; i++)
        json[size++] = i % 7 == 0 ? ' ' : 'a';
    size += (size_t)sprintf(json + size, "\",\"segments\":[]}");
    fl_trace *trace = NULL;
    fl_error error = {0};
    if (fl_read_memory(json, size, "p", NULL, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    fl_trace_free(trace);
    free(json);
}

static void a_cut_is_refused_at_every_byte_or_gives_the_beginning(void **state)
{
    (void)state;
    size_t size;
    uint8_t *bytes = file_bytes(BASIC, &size);
    uint64_t before = 0;
    for (size_t cut = 1; cut < size; cut++) {
        fl_trace *trace = NULL;
        fl_error error = {0};
        char place[60];
        snprintf(place, sizeof place, "p:%zu: the file ends here, inside ", cut);
        fl_status status = fl_read_memory(bytes, cut, "p", NULL, &trace, &error);
        if (status != FL_ERR_INPUT || strncmp(error.text, place, strlen(place)) != 0)
            fail_msg("cut at %zu: status %d, '%s'", cut, (int)status, error.text);
        fl_read_options options = {.accept_cut = true};
        if (fl_read_memory(bytes, cut, "p", &options, &trace, &error) != FL_OK)
            fail_msg("cut at %zu: %s", cut, error.text);
        assert_true(fl_trace_warning_count(trace) > 0);
        uint64_t count = fl_trace_event_count(trace, 0);
        assert_true(count == before || count == before + 1);
        before = count;
        fl_trace_free(trace);
    }
    assert_int_equal(before, BASIC_EVENTS);
    free(bytes);
}

static void any_byte_may_be_wrong(void **state)
{
    (void)state;
    static const uint8_t changes[] = {'{', '}', '[', ']', '"', ',', ':', '\\', '0', 'e', 0xFF, 0};
    size_t size;
    uint8_t *bytes = file_bytes(BASIC, &size);
    for (size_t at = 0; at < size; at++) {
        uint8_t before = bytes[at];
        for (size_t i = at % 4; i < COUNT_OF(changes); i += 4) {
            bytes[at] = changes[i];
            read_gives_a_trace_or_a_sentence(bytes, size, at, i % 2 == 0);
        }
        bytes[at] = before;
    }
    free(bytes);
}

static void no_failing_request_for_memory_leaks(void **state)
{
    (void)state;
    char path[] = BASIC;
    assert_true(failing_host_sweep(read_file_with, path) > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_run_is_read_as_from_a_pickle),
        cmocka_unit_test(values_of_every_kind_are_passed_over),
        cmocka_unit_test(texts_lose_their_escapes),
        cmocka_unit_test(what_is_no_json_is_refused_with_its_place),
        cmocka_unit_test(nesting_has_a_limit),
        cmocka_unit_test(what_lies_behind_is_told),
        cmocka_unit_test(long_texts_are_passed_over),
        cmocka_unit_test(a_cut_is_refused_at_every_byte_or_gives_the_beginning),
        cmocka_unit_test(any_byte_may_be_wrong),
        cmocka_unit_test(no_failing_request_for_memory_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
