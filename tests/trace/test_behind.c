#include "failing_host.h"
#include "test.h"
#include "trace/build.h"

#include <fraglab/read.h>

#include <string.h>

#define DATA "tests/data/"

static const char *const paths[] = {
    DATA "snapshots/conv.pickle",
    DATA "snapshots/cpp.pickle",
    DATA "snapshots/rs_basic.pickle",
    DATA "snapshots/twodev.pickle",
    DATA "snapshots/releases/2.0.1.pickle",
    DATA "rings/2.0.1-default.pickle.gz",
    DATA "rings/2.4.1-expand.pickle.gz",
    DATA "rings/2.9.1-events.pickle.gz",
    DATA "rings/2.9.1-expandpress.pickle.gz",
    DATA "rings/2.9.1-late_expand.pickle.gz",
    DATA "rings/2.9.1-pressure.pickle.gz",
};

static fl_trace *read_up_to(const char *path, uint64_t event)
{
    fl_read_options options = {.end = {.is_given = event > 0, .event = event}};
    fl_trace *trace = NULL;
    fl_error error = {0};
    if (fl_read_file(path, &options, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    return trace;
}

static fl_trace *read_text(const char *text, const fl_read_options *options)
{
    fl_trace *trace = NULL;
    fl_error error = {0};
    if (fl_read_memory(text, strlen(text), "s.txt", options, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    return trace;
}

/* ---- against the whole ----------------------------------------------------------------------- */

/* Numbers from before the window begin behind those of the window. */
static uint32_t plain_id(const fl_trace *trace, size_t device, uint32_t id)
{
    uint32_t first = trace->devices.items[device].start.first_id;
    bool is_before = !fl_trace_is_complete(trace, device) && id != FL_NONE && id >= first;
    return is_before ? 0x80000000u + (id - first) : id;
}

static void assert_same_events(const fl_trace *part, const fl_trace *whole, size_t device)
{
    for (uint64_t i = 0; i < fl_trace_event_count(part, device); i++) {
        fl_event is, should;
        fl_trace_event(part, device, i, &is);
        fl_trace_event(whole, device, i, &should);
        assert_int_equal(is.kind, should.kind);
        assert_int_equal(is.flags, should.flags);
        assert_int_equal(is.address, should.address);
        assert_int_equal(is.size, should.size);
        assert_int_equal(is.stream, should.stream);
        assert_int_equal(is.time_us, should.time_us);
        assert_int_equal(plain_id(part, device, is.id), plain_id(whole, device, should.id));
    }
}

static void assert_same_start(fl_trace *part, fl_trace *whole, size_t device)
{
    fl_trace_start *is = &part->devices.items[device].start;
    fl_trace_start *should = &whole->devices.items[device].start;
    assert_int_equal(fl_trace_find_start(part, device, NULL), FL_OK);
    assert_int_equal(fl_trace_find_start(whole, device, NULL), FL_OK);
    assert_int_equal(is->is_known, should->is_known);
    assert_int_equal(is->segments.count, should->segments.count);
    assert_int_equal(is->in_use.count, should->in_use.count);
    for (size_t i = 0; i < is->segments.count; i++) {
        assert_int_equal(is->segments.items[i].address, should->segments.items[i].address);
        assert_int_equal(is->segments.items[i].size, should->segments.items[i].size);
        assert_int_equal(is->segments.items[i].is_small, should->segments.items[i].is_small);
        assert_int_equal(is->segments.items[i].pool, should->segments.items[i].pool);
    }
    for (size_t i = 0; i < is->in_use.count; i++) {
        assert_int_equal(is->in_use.items[i].address, should->in_use.items[i].address);
        assert_int_equal(is->in_use.items[i].size, should->in_use.items[i].size);
        assert_int_equal(is->in_use.items[i].requested, should->in_use.items[i].requested);
        assert_int_equal(is->in_use.items[i].state, should->in_use.items[i].state);
    }
    fl_trace_drop_start(whole->host, should);
}

/* The event that frees a block first from `event` on, or UINT64_MAX. */
static uint64_t find_free(const fl_trace *whole, size_t device, uint64_t event, uint64_t address)
{
    for (uint64_t i = event; i < fl_trace_event_count(whole, device); i++) {
        fl_event at;
        fl_trace_event(whole, device, i, &at);
        if (at.kind == FL_OP_FREE && at.address == address)
            return i;
    }
    return UINT64_MAX;
}

static void assert_same_frees(const fl_trace *part, const fl_trace *whole, size_t device)
{
    size_t count;
    const fl_block_view *blocks = fl_trace_final_blocks(part, device, &count);
    uint64_t end = fl_trace_event_count(part, device);
    if (fl_trace_behind(part, device).events == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        uint64_t freed = find_free(whole, device, end, blocks[i].address);
        assert_int_not_equal(blocks[i].state, FL_BLOCK_FREE);
        if (blocks[i].state == FL_BLOCK_LIVE)
            assert_int_equal(fl_trace_final_free(part, device, i), freed);
    }
}

static void compare_device(fl_trace *part, fl_trace *whole, size_t device)
{
    uint64_t events = fl_trace_event_count(part, device);
    uint64_t behind = fl_trace_behind(part, device).events;
    assert_int_equal(events + behind, fl_trace_event_count(whole, device));
    assert_int_equal(fl_trace_is_complete(part, device), fl_trace_is_complete(whole, device));
    assert_int_equal(part->devices.items[device].unrecorded,
                     whole->devices.items[device].unrecorded);
    assert_same_events(part, whole, device);
    assert_same_frees(part, whole, device);
    if (!fl_trace_is_complete(part, device) && fl_trace_has_final_state(whole, device))
        assert_same_start(part, whole, device);
}

static void a_part_begins_as_the_whole_does_wherever_it_ends(void **state)
{
    (void)state;
    size_t cut = 0;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        fl_trace *whole = read_up_to(paths[i], 0);
        uint64_t events = fl_trace_event_count(whole, 0);
        for (uint64_t end = 1; end <= events; end += 1 + events / 23) {
            fl_trace *part = read_up_to(paths[i], end);
            assert_true(fl_trace_event_count(part, 0) >= end);
            cut += fl_trace_behind(part, 0).events > 0;
            for (size_t device = 0; device < fl_trace_device_count(part); device++)
                compare_device(part, whole, device);
            fl_trace_free(part);
        }
        fl_trace_free(whole);
    }
    assert_true(cut > 100);
}

/* ---- where it ends --------------------------------------------------------------------------- */

static void a_script_ends_at_the_event(void **state)
{
    (void)state;
    const char *text = "a 1 1MiB\na 2 2MiB x=1\nf 1\na 3 3MiB x=2\nf 2\nf 3\n";
    for (uint64_t end = 1; end <= 6; end++) {
        fl_read_options options = {.end = {.is_given = true, .event = end}};
        fl_trace *trace = read_text(text, &options);
        assert_int_equal(fl_trace_event_count(trace, 0), end);
        assert_int_equal(fl_trace_behind(trace, 0).events, 6 - end);
        assert_int_equal(fl_trace_alloc_count(trace, 0), end < 2 ? 1 : end < 4 ? 2 : 3);
        size_t notes;
        fl_trace_notes(trace, 0, &notes);
        assert_int_equal(notes, end < 2 ? 0 : end < 4 ? 1 : 2);
        fl_trace_free(trace);
    }
}

/* A completion tells of the free before it that it was held, wherever the end lies. */
static void late_completions_mean_the_same_free(void **state)
{
    (void)state;
    const char *texts[] = {
        "a 1 1MiB\nf 1\na 2 1MiB\nf 2\nd 1\nd 2\n",
        "a 1 1MiB\nf 1\na 1 2MiB\nf 1\nd 1\na 2 1MiB\n",
        "a 2 1MiB\nf 2\nd 2\na 1 1MiB\nf 1\na 1 2MiB\nf 1\nd 1\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        fl_trace *whole = read_text(texts[i], NULL);
        for (uint64_t end = 1; end <= fl_trace_event_count(whole, 0); end++) {
            fl_read_options options = {.end = {.is_given = true, .event = end}};
            fl_trace *part = read_text(texts[i], &options);
            compare_device(part, whole, 0);
            fl_trace_free(part);
        }
        fl_trace_free(whole);
    }
}

static void what_is_wrong_behind_the_end_is_still_refused(void **state)
{
    (void)state;
    const char *text = "a 1 1MiB\nf 1\nf 1\n";
    fl_read_options options = {.end = {.is_given = true, .event = 1}};
    fl_trace *trace = NULL;
    fl_error error = {0};
    assert_int_equal(fl_read_memory(text, strlen(text), "s.txt", &options, &trace, &error),
                     FL_ERR_INPUT);
    assert_non_null(strstr(error.text, "s.txt:3:"));
}

static void a_time_ends_a_part_where_it_ends_a_range(void **state)
{
    (void)state;
    fl_trace *whole = read_up_to(DATA "snapshots/conv.pickle", 0);
    fl_event first, at;
    fl_trace_event(whole, 0, 0, &first);
    fl_trace_event(whole, 0, 400, &at);
    double seconds = (double)(at.time_us - first.time_us) / 1e6;
    fl_read_options options = {.end = {.is_given = true, .is_time = true, .seconds = seconds}};
    fl_trace *part = NULL;
    assert_int_equal(fl_read_file(DATA "snapshots/conv.pickle", &options, &part, NULL), FL_OK);
    assert_true(fl_trace_behind(part, 0).events > 0);
    fl_trace_event(whole, 0, fl_trace_event_count(part, 0), &at);
    assert_true((double)(at.time_us - first.time_us) / 1e6 >= seconds);
    compare_device(part, whole, 0);
    fl_trace_free(part);
    fl_trace_free(whole);
}

/* ---- building one ---------------------------------------------------------------------------- */

static fl_status add(fl_trace *trace, uint8_t kind, uint32_t id, uint64_t address, uint64_t size)
{
    fl_event event = {
        .kind = kind,
        .id = id,
        .pool = FL_NONE,
        .stack = FL_NONE,
        .address = address,
        .size = size,
        .time_us = FL_TIME_UNKNOWN,
    };
    return fl_trace_append(trace, 0, &event, NULL);
}

static fl_status add_refusal(fl_trace *trace, uint64_t size, uint64_t free_bytes)
{
    fl_event event = {
        .kind = FL_OP_ALLOC,
        .flags = FL_EVENT_OOM,
        .pool = FL_NONE,
        .stack = FL_NONE,
        .address = free_bytes,
        .size = size,
        .time_us = FL_TIME_UNKNOWN,
    };
    assert_int_equal(fl_trace_new_id(trace, 0, fl_trace_alloc_count(trace, 0), &event.id, NULL),
                     FL_OK);
    return fl_trace_append(trace, 0, &event, NULL);
}

/* A block comes and goes `count` times behind the end, as a training loop does it. */
static fl_status read_loop(fl_trace *trace, uint32_t count)
{
    const uint64_t place = UINT64_C(1) << 30, size = 4096;
    fl_range_end end = {.is_given = true, .event = 3};
    fl_status status = FL_OK;
    fl_trace_end_at(trace, &end);
    trace->format = FL_FORMAT_SNAPSHOT;
    add(trace, FL_EVENT_SEGMENT_ALLOC, FL_NONE, place, 1 << 21);
    for (uint32_t i = 0; i < count && status == FL_OK; i++) {
        uint32_t id;
        status = fl_trace_new_id(trace, 0, i, &id, NULL);
        if (status == FL_OK)
            status = add(trace, FL_OP_ALLOC, id, place, size);
        if (status == FL_OK)
            status = add(trace, FL_OP_FREE, id, place, size);
        if (status == FL_OK)
            status = add(trace, FL_OP_FREE_DONE, id, place, size);
    }
    return status;
}

static void what_comes_and_goes_behind_the_end_takes_no_memory(void **state)
{
    (void)state;
    uint64_t peak[2];
    for (int i = 0; i < 2; i++) {
        failing_host host;
        failing_host_init(&host, FAILING_HOST_NEVER);
        fl_trace *trace = fl_trace_new(&host.host, "p", NULL);
        assert_int_equal(read_loop(trace, i == 0 ? 10000 : 200000), FL_OK);
        peak[i] = host.peak_bytes;
        fl_trace_free(trace);
    }
    assert_int_equal(peak[0], peak[1]);
}

static void refusals_behind_the_end_still_tell_of_the_card(void **state)
{
    (void)state;
    fl_trace *trace = fl_trace_new(fl_host_default(), "p", NULL);
    fl_range_end end = {.is_given = true, .event = 1};
    fl_trace_end_at(trace, &end);
    trace->format = FL_FORMAT_SNAPSHOT;
    uint32_t id;
    fl_trace_new_id(trace, 0, 0, &id, NULL);
    add(trace, FL_OP_ALLOC, id, 4096, 512);
    add(trace, FL_OP_FREE, id, 4096, 512);
    add(trace, FL_EVENT_SEGMENT_ALLOC, FL_NONE, 1 << 20, 700);
    add(trace, FL_EVENT_SEGMENT_FREE, FL_NONE, 1 << 20, 200);
    add_refusal(trace, 100, 90);
    add(trace, FL_EVENT_SEGMENT_ALLOC, FL_NONE, 1 << 20, 1);
    add_refusal(trace, 100, 5000);
    fl_behind behind = fl_trace_behind(trace, 0);
    assert_int_equal(behind.events, 6);
    assert_true(behind.has_refusal);
    assert_true(behind.gives_back);
    assert_int_equal(behind.refused_bytes, 100);
    assert_int_equal(behind.free_bytes, 90);
    assert_int_equal(behind.added_bytes, 700);
    assert_int_equal(behind.returned_bytes, 200);
    assert_int_equal(behind.grown_bytes, 700);
    fl_trace_free(trace);
}

/* What cannot be undone is told, so that the file can be read again. */
static void contradictions_behind_the_end_need_the_whole(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        fl_trace *trace = fl_trace_new(fl_host_default(), "p", NULL);
        uint32_t id;
        assert_int_equal(read_loop(trace, 10), FL_OK);
        trace->devices.items[0].has_final_state = true;
        fl_segment_view segment = {.address = UINT64_C(1) << 30, .size = 1 << 21, .is_small = true};
        assert_int_equal(fl_trace_add_segment(trace, 0, &segment, NULL), FL_OK);
        if (i == 1) {
            fl_trace_new_id(trace, 0, 10, &id, NULL); /* and is not in the final state */
            assert_int_equal(add(trace, FL_OP_ALLOC, id, UINT64_C(1) << 30, 512), FL_OK);
        }
        assert_int_equal(fl_trace_finish(trace, NULL), FL_OK);
        assert_int_equal(trace->needs_whole, i == 1);
        fl_trace_free(trace);
    }
}

static fl_status read_part(const fl_host *host, void *user, fl_error *error)
{
    fl_read_options options = {.host = host, .end = {.is_given = true, .event = 300}};
    fl_trace *trace = NULL;
    fl_status status = fl_read_file(user, &options, &trace, error);
    if (status == FL_OK)
        fl_trace_free(trace);
    return status;
}

static void no_failing_request_for_memory_leaks(void **state)
{
    (void)state;
    char path[] = DATA "snapshots/conv.pickle";
    assert_true(failing_host_sweep(read_part, path) > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_begins_as_the_whole_does_wherever_it_ends),
        cmocka_unit_test(a_script_ends_at_the_event),
        cmocka_unit_test(late_completions_mean_the_same_free),
        cmocka_unit_test(what_is_wrong_behind_the_end_is_still_refused),
        cmocka_unit_test(a_time_ends_a_part_where_it_ends_a_range),
        cmocka_unit_test(what_comes_and_goes_behind_the_end_takes_no_memory),
        cmocka_unit_test(refusals_behind_the_end_still_tell_of_the_card),
        cmocka_unit_test(contradictions_behind_the_end_need_the_whole),
        cmocka_unit_test(no_failing_request_for_memory_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
