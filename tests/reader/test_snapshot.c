#include "reader/memo.h"

#include "assemble.h"
#include "available.h"
#include "failing_host.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DATA "tests/data/snapshots/"

static void writers_of_one_run_agree(void **state)
{
    (void)state;
    static const char *const paths[] = {
        DATA "fmt.proto0.pickle",
        DATA "fmt.proto2.pickle",
        DATA "fmt.proto3.pickle",
        DATA "fmt.proto5.pickle",
#if FL_HAVE_ZLIB
        DATA "fmt.pickle.gz",
#endif
    };
    fl_trace *first = read_file(paths[0], false);
    for (size_t i = 1; i < COUNT_OF(paths); i++) {
        fl_trace *other = read_file(paths[i], false);
        assert_int_equal(fl_trace_event_count(other, 0), fl_trace_event_count(first, 0));
        assert_int_equal(fl_trace_stack_count(other), fl_trace_stack_count(first));
        for (uint64_t event = 0; event < fl_trace_event_count(first, 0); event++) {
            fl_event a, b;
            fl_trace_event(first, 0, event, &a);
            fl_trace_event(other, 0, event, &b);
            assert_int_equal(a.kind, b.kind);
            assert_int_equal(a.id, b.id);
            assert_int_equal(a.address, b.address);
            assert_int_equal(a.size, b.size);
            assert_int_equal(a.stack, b.stack);
        }
        fl_trace_free(other);
    }
    fl_trace_free(first);
}

static void the_writer_in_cpp_is_read(void **state)
{
    (void)state;
    fl_trace *trace = read_file(DATA "cpp.pickle", false);
    assert_int_equal(fl_trace_event_count(trace, 0), 580);
    assert_int_equal(fl_trace_alloc_count(trace, 0), 244);
    assert_true(fl_trace_is_complete(trace, 0));
    assert_int_equal(fl_trace_warning_count(trace), 0);
    fl_event event;
    fl_trace_event(trace, 0, 0, &event);
    assert_true(fl_trace_stack_depth(trace, event.stack) > 3);
    fl_trace_free(trace);
}

static void each_device_has_its_own_events(void **state)
{
    (void)state;
    fl_trace *trace = read_file(DATA "twodev.pickle", false);
    assert_int_equal(fl_trace_device_count(trace), 2);
    assert_int_equal(fl_trace_event_count(trace, 0), 130);
    assert_int_equal(fl_trace_event_count(trace, 1), 100);
    assert_int_equal(fl_trace_alloc_count(trace, 1), 62);
    size_t count;
    fl_trace_final_segments(trace, 1, &count);
    assert_int_equal(count, 16);
    assert_true(fl_trace_is_complete(trace, 0));
    assert_true(fl_trace_is_complete(trace, 1));
    fl_trace_free(trace);
}

/* Reads a piece of a file; fails the test unless it is refused as cut off. */
static void cut_is_refused(const uint8_t *bytes, size_t size)
{
    fl_trace *trace = NULL;
    fl_error error = {0};
    fl_status status = fl_read_memory(bytes, size, "p", NULL, &trace, &error);
    char place[40];
    snprintf(place, sizeof place, "p:%zu: the file ", size);
    if (status != FL_ERR_INPUT || strncmp(error.text, place, strlen(place)) != 0)
        fail_msg("cut at %zu: status %d, '%s'", size, (int)status, error.text);
}

static void a_file_cut_at_any_byte_is_refused_with_the_offset(void **state)
{
    (void)state;
    static const char *const paths[] = {DATA "rs_basic.pickle", DATA "list.pickle",
                                        DATA "releases/2.0.1.pickle"};
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        size_t size;
        uint8_t *bytes = file_bytes(paths[i], &size);
        for (size_t cut = 0; cut < size; cut++)
            cut_is_refused(bytes, cut);
        free(bytes);
    }
}

/* The events of a cut file are the first ones of the whole. */
static uint64_t cut_is_a_beginning(const fl_trace *whole, const uint8_t *bytes, size_t size)
{
    fl_trace *trace = NULL;
    fl_error error = {0};
    fl_read_options options = {.accept_cut = true, .format = "snapshot"};
    if (fl_read_memory(bytes, size, "p", &options, &trace, &error) != FL_OK)
        fail_msg("cut at %zu: %s", size, error.text);
    assert_int_equal(fl_trace_warning_count(trace), 1 + fl_trace_lacks_conf(trace));
    uint64_t count = fl_trace_event_count(trace, 0);
    assert_true(count <= fl_trace_event_count(whole, 0));
    for (uint64_t i = 0; i < count; i++) {
        fl_event a, b;
        fl_trace_event(whole, 0, i, &a);
        fl_trace_event(trace, 0, i, &b);
        assert_int_equal(a.kind, b.kind);
        assert_int_equal(a.address, b.address);
        assert_int_equal(fl_trace_stack_depth(whole, a.stack),
                         fl_trace_stack_depth(trace, b.stack));
    }
    fl_trace_free(trace);
    return count;
}

static void a_file_cut_at_any_byte_gives_its_beginning_where_that_is_accepted(void **state)
{
    (void)state;
    static const char *const paths[] = {DATA "rs_basic.pickle", DATA "releases/2.15.0.pickle",
                                        DATA "releases/2.0.1.pickle"};
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        fl_trace *whole = read_file(paths[i], false);
        size_t size;
        uint8_t *bytes = file_bytes(paths[i], &size);
        uint64_t before = 0;
        for (size_t cut = 0; cut < size; cut++) {
            uint64_t count = cut_is_a_beginning(whole, bytes, cut);
            assert_true(count == before || count == before + 1);
            before = count;
        }
        assert_int_equal(before, fl_trace_event_count(whole, 0));
        free(bytes);
        fl_trace_free(whole);
    }
}

static void a_cut_behind_the_events_keeps_the_final_state(void **state)
{
    (void)state;
    size_t size, count;
    uint8_t *bytes = file_bytes(DATA "rs_basic.pickle", &size);
    fl_read_options options = {.accept_cut = true};
    fl_trace *trace = NULL;
    assert_int_equal(fl_read_memory(bytes, size - 60, "p", &options, &trace, NULL), FL_OK);
    fl_trace_final_segments(trace, 0, &count);
    assert_int_equal(count, 3);
    fl_trace_free(trace);
    assert_int_equal(fl_read_memory(bytes, 2000, "p", &options, &trace, NULL), FL_OK);
    fl_trace_final_segments(trace, 0, &count);
    assert_int_equal(count, 0);
    assert_true(fl_trace_is_complete(trace, 0));
    fl_trace_free(trace);
    free(bytes);
}

/* Whatever a byte is changed to, the answer is a trace or a sentence. */
static void change_every_byte(const char *path)
{
    static const uint8_t changes[] = {0x00, 0x01, 0x80, 0xFF, '.', '(', 'u', '}', ']', 0x94, 'h'};
    size_t size;
    uint8_t *bytes = file_bytes(path, &size);
    for (size_t at = 0; at < size; at++) {
        uint8_t before = bytes[at];
        for (size_t i = 0; i < COUNT_OF(changes); i++) {
            bytes[at] = i < 4 ? before ^ changes[i] : changes[i];
            read_gives_a_trace_or_a_sentence(bytes, size, at, i % 2 == 0);
        }
        bytes[at] = before;
    }
    free(bytes);
}

static void any_byte_may_be_wrong(void **state)
{
    (void)state;
    change_every_byte(DATA "rs_basic.pickle");
    change_every_byte(DATA "list.pickle");
    change_every_byte(DATA "releases/2.0.1.pickle");
}

static void no_failing_request_for_memory_leaks(void **state)
{
    (void)state;
    char basic[] = DATA "rs_basic.pickle", protocol_0[] = DATA "fmt.proto0.pickle";
    assert_true(failing_host_sweep(read_file_with, basic) > 20);
    assert_true(failing_host_sweep(read_file_with, protocol_0) > 20);
    char history[] = DATA "releases/2.0.1.pickle", list[] = DATA "list.pickle";
    assert_true(failing_host_sweep(read_file_with, history) > 20);
    assert_true(failing_host_sweep(read_file_with, list) > 10);
}

/* A snapshot of `count` equal entries, each with two memo entries; freed with free. */
static uint8_t *many_entries(size_t count, size_t *ret_size)
{
    pickle_bytes whole, entry = {.size = 0};
    assemble_snapshot(&whole, "", "");
    assemble(&entry, "{ m ( 'action' 'free_requested' 'addr' #4096 'size' #512 'stream' #0 "
                     "'time_us' #5 'compile_context' 'N/A' m u ");
    uint8_t *bytes = malloc(whole.size + count * entry.size);
    size_t head = 2;
    while (memcmp(whole.bytes + head, "](ee", 4) != 0)
        head++;
    head += 2;
    memcpy(bytes, whole.bytes, head);
    for (size_t i = 0; i < count; i++)
        memcpy(bytes + head + i * entry.size, entry.bytes, entry.size);
    memcpy(bytes + head + count * entry.size, whole.bytes + head, whole.size - head);
    *ret_size = whole.size + count * entry.size;
    return bytes;
}

static void a_memo_of_few_different_entries_takes_little_beside_the_columns(void **state)
{
    (void)state;
    const size_t count = 524288; /* fills the room of columns exactly */
    size_t size;
    uint8_t *bytes = many_entries(count, &size);
    failing_host host;
    failing_host_init(&host, FAILING_HOST_NEVER);
    fl_read_options options = {.host = &host.host};
    fl_trace *trace = NULL;
    assert_int_equal(fl_read_memory(bytes, size, "p", &options, &trace, NULL), FL_OK);
    assert_int_equal(fl_trace_event_count(trace, 0), count);
    /* Its beginning lies plainly, and may have room for half as much again. */
    const size_t head = 12 * MEMO_HEAD;
    assert_true(host.peak_bytes <= 40 * count + head + 2 * count + 200 * 1000);
    assert_true(host.held_bytes <= 40 * count + 100 * 1000);
    fl_trace_free(trace);
    assert_int_equal(host.held_bytes, 0);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writers_of_one_run_agree),
        cmocka_unit_test(the_writer_in_cpp_is_read),
        cmocka_unit_test(each_device_has_its_own_events),
        cmocka_unit_test(a_file_cut_at_any_byte_is_refused_with_the_offset),
        cmocka_unit_test(a_file_cut_at_any_byte_gives_its_beginning_where_that_is_accepted),
        cmocka_unit_test(a_cut_behind_the_events_keeps_the_final_state),
        cmocka_unit_test(any_byte_may_be_wrong),
        cmocka_unit_test(no_failing_request_for_memory_leaks),
        cmocka_unit_test(a_memo_of_few_different_entries_takes_little_beside_the_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
