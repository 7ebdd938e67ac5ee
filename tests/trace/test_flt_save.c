#include "trace/flt.h"

#include "failing_host.h"
#include "sealed.h"
#include "test.h"

#include <fraglab/read.h>

#include <stdlib.h>
#include <string.h>

#define SCRIPT                                                                                     \
    "# cap=1GiB conf=expandable_segments:True\n# torch: 2.9.1\n"                                   \
    "a 7 512 64 t=5 stack=3 odd=1\n# cat: 7 weights\nb 2.3\na 8 1024\nq 2.3\nF 0.5\nm half\nf 7\n" \
    "S 0x7f0000000000 2097152 0 small=1 dev=2\nB 1 0x7f0000000200 512 500 dev=2\nf 1 dev=2\n"

static void the_head_says_where_everything_is(void **state)
{
    (void)state;
    taker flt = sealed_script("a 1 512\n");
    assert_memory_equal(flt.text,
                        "\x8F"
                        "FLT\r\n\x1A\n\1\0\0\0",
                        12);
    uint64_t size;
    memcpy(&size, flt.text + 16, sizeof size);
    assert_int_equal(size, flt.length);
    size_t bytes;
    uint8_t *kinds = sealed_section(&flt, FLT_KIND, 0, &bytes);
    assert_int_equal(bytes, 1);
    assert_int_equal(kinds[0], FL_OP_ALLOC);
    assert_int_equal((size_t)((char *)kinds - flt.text) % FLT_ALIGN, 0);
    free(flt.text);
}

static void the_same_trace_gives_the_same_bytes(void **state)
{
    (void)state;
    taker first = sealed_script(SCRIPT), second = sealed_script(SCRIPT);
    assert_int_equal(first.length, second.length);
    assert_memory_equal(first.text, second.text, first.length);
    free(first.text);
    free(second.text);
}

static void where_the_trace_was_read_from_is_not_in_it(void **state)
{
    (void)state;
    fl_trace *trace = NULL;
    assert_int_equal(fl_read_memory("a 1 2\n", 6, "secret-place", NULL, &trace, NULL), FL_OK);
    taker flt = sealed_trace(trace);
    for (size_t i = 0; i + 12 <= flt.length; i++)
        assert_true(memcmp(flt.text + i, "secret-place", 12) != 0);
    free(flt.text);
    fl_trace_free(trace);
}

static void a_place_that_takes_no_more_is_an_output_error(void **state)
{
    (void)state;
    fl_trace *trace = NULL;
    assert_int_equal(fl_read_memory(SCRIPT, strlen(SCRIPT), "s", NULL, &trace, NULL), FL_OK);
    taker whole = sealed_trace(trace);
    for (size_t most = 1; most < whole.length; most += 7) {
        taker to = {.most = most};
        fl_error error = {0};
        assert_int_equal(fl_flt_save(trace, taker_take, &to, &error), FL_ERR_OUTPUT);
        free(to.text);
    }
    free(whole.text);
    fl_trace_free(trace);
}

static fl_status save_with(const fl_host *host, void *user, fl_error *error)
{
    (void)user;
    fl_trace *trace = NULL;
    fl_read_options options = {.host = host};
    fl_status status = fl_read_memory(SCRIPT, strlen(SCRIPT), "s", &options, &trace, error);
    if (status != FL_OK)
        return status;
    taker to = {0};
    status = fl_flt_save(trace, taker_take, &to, error);
    free(to.text);
    fl_trace_free(trace);
    return status;
}

static void no_memory_is_told(void **state)
{
    (void)state;
    assert_true(failing_host_sweep(save_with, NULL) > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_head_says_where_everything_is),
        cmocka_unit_test(the_same_trace_gives_the_same_bytes),
        cmocka_unit_test(where_the_trace_was_read_from_is_not_in_it),
        cmocka_unit_test(a_place_that_takes_no_more_is_an_output_error),
        cmocka_unit_test(no_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
