#include "trace/build.h"

#include "failing_host.h"
#include "test.h"

#include <string.h>

#define MIB(n) ((uint64_t)(n) << 20)

struct step {
    uint8_t kind;
    uint32_t id;
    uint64_t address, size;
};

struct part { /* of the final state: a block of a segment of 2 MiB at 10 MiB */
    uint64_t address, size;
    fl_block_state state;
};

struct window {
    const struct step *steps;
    size_t step_count;
    uint64_t segment; /* 0: there is none */
    const struct part *parts;
    size_t part_count;
};

static fl_status add_steps(fl_trace *trace, const struct window *window, fl_error *error)
{
    fl_status status = FL_OK;
    uint32_t id;
    for (uint32_t i = 0; i < 4 && status == FL_OK; i++)
        status = fl_trace_new_id(trace, 0, i, &id, error);
    for (size_t i = 0; i < window->step_count && status == FL_OK; i++) {
        fl_event event = {
            .kind = window->steps[i].kind,
            .id = window->steps[i].id,
            .stream = 0,
            .pool = FL_NONE,
            .stack = FL_NONE,
            .address = window->steps[i].address,
            .size = window->steps[i].size,
            .time_us = FL_TIME_UNKNOWN,
        };
        status = fl_trace_append(trace, 0, &event, error);
    }
    return status;
}

static fl_status make(const fl_host *host, const struct window *window, fl_trace **ret_trace,
                      fl_error *error)
{
    fl_trace *trace = fl_trace_new(host, "p", error);
    if (trace == NULL)
        return FL_ERR_RESOURCE;
    trace->format = FL_FORMAT_SNAPSHOT;
    trace->devices.items[0].has_final_state = true;
    fl_status status = add_steps(trace, window, error);
    fl_segment_view segment = {.address = window->segment, .size = MIB(2), .is_small = true};
    if (status == FL_OK && window->segment != 0)
        status = fl_trace_add_segment(trace, 0, &segment, error);
    for (size_t i = 0; i < window->part_count && status == FL_OK; i++) {
        const struct part *part = &window->parts[i];
        fl_block_view block = {part->state, FL_NONE, part->address, part->size, part->size, 0, 0};
        status = fl_trace_add_block(trace, 0, &block, FL_NONE, error);
    }
    if (status == FL_OK)
        status = fl_trace_finish(trace, error);
    if (status == FL_OK)
        *ret_trace = trace;
    else
        fl_trace_free(trace);
    return status;
}

static bool is_newer(const struct window *window)
{
    fl_trace *trace = NULL;
    assert_int_equal(make(fl_host_default(), window, &trace, NULL), FL_OK);
    bool found = fl_trace_is_state_newer(trace, 0);
    assert_true(!found || fl_trace_is_complete(trace, 0));
    assert_int_equal(found, fl_trace_warning_count(trace));
    fl_trace_free(trace);
    return found;
}

static const struct step run[] = {
    {FL_EVENT_SEGMENT_ALLOC, FL_NONE, MIB(10), MIB(2)},
    {FL_OP_ALLOC, 0, MIB(10), 512},
    {FL_OP_ALLOC, 1, MIB(10) + 512, 1024},
    {FL_OP_FREE, 0, MIB(10), 512},
    {FL_OP_FREE_DONE, 0, MIB(10), 512},
};
#define RUN run, COUNT_OF(run), MIB(10)

static void what_has_gone_or_come_since_shows_it(void **state)
{
    (void)state;
    assert_true(is_newer(&(struct window){RUN, NULL, 0})); /* the second block is gone */
    static const struct part come[] = {{MIB(10), 700, FL_BLOCK_LIVE},
                                       {MIB(10) + 512, 1024, FL_BLOCK_LIVE}};
    assert_true(is_newer(&(struct window){RUN, come, 2}));
    static const struct part freed[] = {{MIB(10) + 512, 1024, FL_BLOCK_PENDING}};
    assert_true(is_newer(&(struct window){RUN, freed, 1}));
    assert_true(is_newer(&(struct window){run, COUNT_OF(run), 0, NULL, 0}));
    assert_true(is_newer(&(struct window){run, 1, MIB(50), NULL, 0})); /* the segment is gone */
}

/* It may be a wrong byte as well. */
static void one_block_of_another_size_does_not(void **state)
{
    (void)state;
    static const struct part other[] = {{MIB(10) + 512, 1023, FL_BLOCK_LIVE}};
    assert_false(is_newer(&(struct window){RUN, other, 1}));
}

/* What was there before recording began may be anywhere else. */
static void a_window_that_begins_late_is_not_stopped_early(void **state)
{
    (void)state;
    static const struct part before[] = {{MIB(10) + 512, 1024, FL_BLOCK_LIVE},
                                         {MIB(50), 512, FL_BLOCK_LIVE}};
    assert_false(is_newer(&(struct window){RUN, before, 2}));
}

/* Each of these in front of the end contradicts what was before. */
static void events_that_contradict_each_other_are_another_matter(void **state)
{
    (void)state;
    static const struct step wrong[] = {
        {FL_OP_ALLOC, 2, MIB(10) + 600, 512},
        {FL_OP_ALLOC, 2, MIB(50), 512},
        {FL_OP_FREE, 1, MIB(10) + 512, 1000},
        {FL_OP_FREE, 1, MIB(10), 1024},
        {FL_OP_FREE, 0, MIB(10), 512},
        {FL_OP_FREE_DONE, 1, MIB(10) + 512, 1024},
        {FL_EVENT_SEGMENT_ALLOC, FL_NONE, MIB(11), MIB(2)},
        {FL_EVENT_SEGMENT_FREE, FL_NONE, MIB(10), MIB(2)},
        {FL_EVENT_SEGMENT_FREE, FL_NONE, MIB(50), MIB(2)},
        {FL_OP_FREE, FL_NONE, MIB(10) + 4096, 512},
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct step steps[COUNT_OF(run) + 1];
        memcpy(steps, run, sizeof run);
        steps[COUNT_OF(run)] = wrong[i];
        assert_false(is_newer(&(struct window){steps, COUNT_OF(steps), MIB(10), NULL, 0}));
    }
}

static fl_status make_and_free(const fl_host *host, void *user, fl_error *error)
{
    fl_trace *trace = NULL;
    fl_status status = make(host, user, &trace, error);
    fl_trace_free(trace);
    return status;
}

static void every_failure_of_the_host_is_passed_on(void **state)
{
    (void)state;
    struct window window = {RUN, NULL, 0};
    assert_true(failing_host_sweep(make_and_free, &window) > 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_gone_or_come_since_shows_it),
        cmocka_unit_test(one_block_of_another_size_does_not),
        cmocka_unit_test(a_window_that_begins_late_is_not_stopped_early),
        cmocka_unit_test(events_that_contradict_each_other_are_another_matter),
        cmocka_unit_test(every_failure_of_the_host_is_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
