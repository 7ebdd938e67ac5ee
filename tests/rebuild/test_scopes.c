#include "rebuild/scopes.h"

#include "recording.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

#define MOST 64

/* Requests by a letter for the pool (`.`: the default one) and a digit for the stream; `-A` gives
 * memory of pool A back. */
static void assert_planned(const char *words, uint8_t flags, const char *wanted)
{
    fl_trace *trace = history_make("");
    uint16_t asked[MOST] = {0};
    uint32_t number, of[MOST];
    fl_pool_guess pools[4] = {{.flags = flags}, {.flags = flags}, {.flags = flags}};
    fl_place place[3] = {{.pool = 0}, {.pool = 1}, {.pool = 2}};
    size_t count = 0;
    for (uint64_t i = 1; i <= 2; i++) {
        assert_int_equal(fl_trace_intern_pool(trace, (fl_pool_name){0, i}, &number, NULL), FL_OK);
    }
    for (const char *at = words; *at != '\0'; at += 2, count++) {
        bool is_release = at[0] == '-';
        char letter = is_release ? at[1] : at[0];
        uint16_t pool = letter == '.' ? 0 : (uint16_t)(letter - 'A' + 1);
        fl_event event = {
            .kind = is_release ? FL_EVENT_SEGMENT_FREE : FL_OP_ALLOC,
            .id = FL_NONE,
            .stream = is_release ? 0 : (uint32_t)(at[1] - '0'),
            .pool = FL_NONE,
            .text = FL_NONE,
            .stack = FL_NONE,
            .time_us = FL_TIME_UNKNOWN,
        };
        assert_int_equal(fl_trace_append(trace, 0, &event, NULL), FL_OK);
        asked[count] = pool;
        of[count] = pool;
    }
    fl_places places = {.items = {.items = place, .count = 3}, .of = of, .event_count = count};
    struct fl_plan plan = {0};
    char text[512] = "";
    assert_int_equal(fl_scopes_plan(trace, 0, &places, asked, pools, &plan, NULL), FL_OK);
    for (size_t i = 0; i < plan.count; i++) {
        const fl_op *op = &plan.items[i].op;
        size_t used = strlen(text);
        const char *kind = op->kind == FL_OP_SCOPE_BEGIN ? "b"
                           : op->kind == FL_OP_SCOPE_END ? "x"
                                                         : "q";
        snprintf(text + used, sizeof text - used, "%s%s%c%s@%d", used > 0 ? " " : "", kind,
                 'A' + (int)op->pool - 1,
                 op->kind != FL_OP_SCOPE_BEGIN || op->stream == FL_NONE ? ""
                 : op->stream == 0                                      ? "0"
                                                                        : "1",
                 (int)plan.items[i].event);
    }
    assert_string_equal(text, wanted);
    fl_vector_deinit(trace->host, &plan);
    fl_trace_free(trace);
}

static void a_scope_holds_a_run_of_requests(void **state)
{
    (void)state;
    assert_planned(".0.0A0A0.0", 0, "bA@2 xA@4");
    assert_planned("A0A1", 0, "bA@0 xA@2");
}

static void a_later_scope_lets_go_of_the_pool_at_once(void **state)
{
    (void)state;
    assert_planned("A0.0A0.0A0", 0, "bA@0 xA@1 bA@2 xA@3 qA@3 bA@4 xA@5 qA@5");
}

static void scopes_of_two_pools_do_not_overlap(void **state)
{
    (void)state;
    assert_planned("A0B0A0", 0, "bA@0 xA@1 bB@1 xB@2 bA@2 xA@3 qA@3");
}

static void other_streams_go_their_own_way_past_a_scope_of_one_stream(void **state)
{
    (void)state;
    assert_planned("A0.1A0.1A0", 0, "bA0@0 xA@5");
    assert_planned("A0B1A0B1", 0, "bA0@0 bB1@1 xA@3 xB@4");
}

static void a_capture_names_its_stream(void **state)
{
    (void)state;
    assert_planned("A1A1", FL_OP_CAPTURE, "bA1@0 xA@2");
    assert_planned("A1A0", FL_OP_CAPTURE, "bA@0 xA@2");
}

static void memory_of_others_goes_back_outside_of_a_scope(void **state)
{
    (void)state;
    assert_planned("A0-.A0", 0, "bA@0 xA@1 bA@2 xA@3 qA@3");
    assert_planned("A0A0-A", 0, "bA@0 xA@2 qA@2");
}

static void the_owner_lets_go_where_memory_goes_back_after_the_last_request(void **state)
{
    (void)state;
    assert_planned("A0-AA0.0-A-A", 0, "bA@0 xA@3 qA@4");
    assert_planned("-A", 0, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scope_holds_a_run_of_requests),
        cmocka_unit_test(a_later_scope_lets_go_of_the_pool_at_once),
        cmocka_unit_test(scopes_of_two_pools_do_not_overlap),
        cmocka_unit_test(other_streams_go_their_own_way_past_a_scope_of_one_stream),
        cmocka_unit_test(a_capture_names_its_stream),
        cmocka_unit_test(memory_of_others_goes_back_outside_of_a_scope),
        cmocka_unit_test(the_owner_lets_go_where_memory_goes_back_after_the_last_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
