#include "heap_builder.h"

#include "failing_host.h"
#include "test.h"

#include <string.h>

enum { MOST = 4000, PLACES = 48 };

/* Events as a trace has them, and what a replay knows of their allocations. */
struct plan {
    uint8_t kind[MOST], flags[MOST];
    uint16_t stream[MOST];
    uint32_t id[MOST];
    uint64_t size[MOST];
    uint8_t fates[MOST];
    uint64_t count;
};

static struct plan plan;

static void add(fl_op_kind kind, uint32_t id, uint64_t size, uint16_t stream)
{
    plan.kind[plan.count] = (uint8_t)kind;
    plan.flags[plan.count] = 0;
    plan.stream[plan.count] = stream;
    plan.id[plan.count] = id;
    plan.size[plan.count++] = size;
}

static fl_stretch whole_plan(void)
{
    return (fl_stretch){.kind = plan.kind,
                        .flags = plan.flags,
                        .stream = plan.stream,
                        .id = plan.id,
                        .size = plan.size,
                        .fates = plan.fates,
                        .fate_count = MOST,
                        .stop = plan.count};
}

/* What it ended with, one stretch after the other; the number of refusals. */
static uint64_t play(heap *h, fl_stretch *stretch)
{
    uint64_t refusals = 0;
    fl_error error = {0};
    while (stretch->event < stretch->stop) {
        stretch->result = (fl_result){0};
        uint64_t before = stretch->event;
        assert_int_equal(torch_stretch(heap_state(h), stretch, &error), FL_OK);
        assert_true(stretch->event > before);
        assert_int_equal(torch_check(heap_state(h), &error), FL_OK);
        refusals += stretch->result.outcome == FL_REFUSED;
    }
    return refusals;
}

/* One event as an op of its own; where it was placed, or 0. */
static uint64_t ask(heap *h, uint64_t event)
{
    fl_op op = {.kind = plan.kind[event],
                .id = plan.id[event],
                .stream = plan.stream[event],
                .size = plan.size[event]};
    fl_result result;
    if (op.kind == FL_OP_ALLOC)
        assert_int_equal(torch_alloc(heap_state(h), &op, &result, NULL), FL_OK);
    else
        assert_int_equal(torch_free_op(heap_state(h), &op, &result, NULL), FL_OK);
    return result.address;
}

static uint64_t address_of(heap *h, uint32_t id)
{
    return torch_block_at(heap_state(h), torch_block_of(heap_state(h), id))->address;
}

/* Places are filled and emptied at random, over a card that is now and then too small. */
static void fill_plan(heap *h)
{
    uint32_t places[PLACES] = {0}, next = 1;
    uint64_t noise = 0x9E3779B97F4A7C15u;
    plan.count = 0;
    while (plan.count < MOST) {
        noise ^= noise << 13, noise ^= noise >> 7, noise ^= noise << 17;
        uint32_t *place = &places[noise % PLACES];
        bool is_free = *place == 0;
        if (is_free)
            add(FL_OP_ALLOC, next, (noise >> 8) % (UINT64_C(1) << (10 + (noise >> 40) % 16)) + 1,
                (uint16_t)((noise >> 50) % 8 == 0));
        else
            add(FL_OP_FREE, *place, 0, 0);
        bool is_granted = ask(h, plan.count - 1) != 0;
        *place = is_free && is_granted ? next : 0;
        next += is_free;
    }
}

static void a_stretch_does_what_single_ops_do(void **state)
{
    (void)state;
    static const heap_conf confs[] = {
        {.release = "2.0.1", .capacity = MIB(90)},
        {.release = "2.9.1", .capacity = MIB(90), .expandable = true},
        {.release = "2.12.0", .capacity = MIB(90), .split = MIB(24), .collect = 0.5, .fraction = 1},
        {.release = "2.15.0", .capacity = MIB(90), .divisions = 4},
    };
    for (size_t i = 0; i < COUNT_OF(confs); i++) {
        heap *single = heap_open(confs[i]), *many = heap_open(confs[i]);
        fill_plan(single);
        memset(plan.fates, FL_FATE_UNSEEN, sizeof plan.fates);
        fl_stretch stretch = whole_plan();
        uint64_t refusals = play(many, &stretch);
        assert_int_equal(stretch.allocs + stretch.frees, MOST);
        assert_true(refusals > 0);
        fl_facts expected, got;
        torch_facts(heap_state(single), &expected);
        torch_facts(heap_state(many), &got);
        assert_memory_equal(expected.stats, got.stats, sizeof *got.stats);
        assert_int_equal(got.stats->ooms, refusals);
        for (uint32_t id = 0; id < stretch.allocs; id++)
            assert_int_equal(address_of(single, id), address_of(many, id));
        heap_close(single);
        heap_close(many);
    }
}

/* Fates, and the events that somebody else has to look at. */
static void a_stretch_ends_before_what_is_not_plain(void **state)
{
    (void)state;
    static const struct {
        fl_op_kind kind;
        uint32_t id;
        uint64_t size;
        uint8_t flags;
    } ends[] = {
        {FL_OP_ALLOC, 1, 512, 0},          /* asked for twice */
        {FL_OP_ALLOC, 2, 0, 0},            /* 0 bytes */
        {FL_OP_ALLOC, 2, 512, FL_OP_HELD}, /* it has flags */
        {FL_OP_ALLOC, MOST, 512, 0},       /* a number that there is not */
        {FL_OP_FREE, 2, 0, 0},             /* never asked for */
        {FL_OP_FREE, 0, 0, 0},             /* freed already */
        {FL_OP_TRIM, 1, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        heap *h = heap_open((heap_conf){.release = "2.9.1"});
        plan.count = 0;
        memset(plan.fates, FL_FATE_UNSEEN, sizeof plan.fates);
        add(FL_OP_ALLOC, 0, 100, 0);
        add(FL_OP_ALLOC, 1, 100, 0);
        add(FL_OP_FREE, 0, 0, 0);
        add(ends[i].kind, ends[i].id, ends[i].size, 0);
        plan.flags[3] = ends[i].flags;
        fl_stretch stretch = whole_plan();
        assert_int_equal(torch_stretch(heap_state(h), &stretch, NULL), FL_OK);
        assert_int_equal(stretch.event, 3);
        assert_int_equal(stretch.allocs, 2);
        assert_int_equal(stretch.frees, 1);
        assert_int_equal(stretch.result.outcome, FL_DONE);
        assert_int_equal(plan.fates[0], FL_FATE_PENDING);
        assert_int_equal(plan.fates[1], FL_FATE_LIVE);
        assert_int_equal(plan.fates[2], FL_FATE_UNSEEN);
        heap_close(h);
    }
}

static void a_request_that_is_refused_ends_a_stretch_behind_it(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(10)});
    plan.count = 0;
    memset(plan.fates, FL_FATE_UNSEEN, sizeof plan.fates);
    add(FL_OP_ALLOC, 0, MIB(20), 0);
    add(FL_OP_ALLOC, 1, 100, 0);
    fl_stretch stretch = whole_plan();
    assert_int_equal(torch_stretch(heap_state(h), &stretch, NULL), FL_OK);
    assert_int_equal(stretch.event, 1);
    assert_int_equal(stretch.allocs, 1);
    assert_int_equal(stretch.result.outcome, FL_REFUSED);
    assert_int_equal(plan.fates[0], FL_FATE_NOTHING);
    heap_close(h);
}

static fl_status run_plan(const fl_host *host, void *user, fl_error *error)
{
    (void)user;
    heap *h = NULL;
    memset(plan.fates, FL_FATE_UNSEEN, sizeof plan.fates);
    fl_status status = heap_try_open((heap_conf){.release = "2.9.1"}, host, &h, error);
    if (status != FL_OK)
        return status;
    fl_stretch stretch = whole_plan();
    status = torch_stretch(heap_state(h), &stretch, error);
    assert_true(status == FL_OK ? stretch.event == plan.count : stretch.event < plan.count);
    heap_drop(h);
    return status;
}

static void a_host_without_memory_ends_a_stretch_at_the_op_that_failed(void **state)
{
    (void)state;
    plan.count = 0;
    for (uint32_t id = 0; id < 200; id++)
        add(FL_OP_ALLOC, id, 512 + MIB(id % 3), 0);
    assert_true(failing_host_sweep(run_plan, NULL) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stretch_does_what_single_ops_do),
        cmocka_unit_test(a_stretch_ends_before_what_is_not_plain),
        cmocka_unit_test(a_request_that_is_refused_ends_a_stretch_behind_it),
        cmocka_unit_test(a_host_without_memory_ends_a_stretch_at_the_op_that_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
