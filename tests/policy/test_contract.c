/* What every registered policy owes, tried with random programs over the bookkeeping card: its own
 * invariants after every op, a heap that is what its changes say, bytes that are what was asked,
 * everything given back in the end, the same answers to the same program, over the card as over the
 * record of it, and nothing leaked when the host runs out of memory. */
#include <fraglab/policy.h>

#include "base/memory.h"
#include "base/units.h"
#include "base/vector.h"
#include "device/recorded.h"
#include "failing_host.h"
#include "heap/mirror.h"
#include "heap/picture.h"
#include "test.h"

#include <inttypes.h>

enum { SEEDS = 12, STEPS = 400, SHORT_STEPS = 40, MOST_IDS = 2 * STEPS, STREAMS = 3, SETTINGS = 3 };

#define CAPACITY (300 * FL_MIB)

FL_VECTOR(changes, fl_change);
FL_VECTOR(recorded, fl_recorded_event);

/* What the program knows of an allocation of its own. */
struct owned {
    uint64_t address, size;
    uint32_t stream;
    bool is_live;
};

struct bench {
    const fl_policy_ops *ops;
    const fl_host *host;
    fl_device *device;
    struct fl_policy_state *state;
    fl_settings settings;
    fl_sink sink;
    fl_oracle oracle;
    uint64_t complete_below; /* events with a smaller number are complete */
    fl_mirror mirror;
    struct changes changes;
    struct recorded recorded; /* what a snapshot would tell of the device */
    size_t told;              /* changes before the current op */
    uint64_t refusals;        /* of the device, before the current op */
    fl_status status;         /* of the first call that failed for want of host memory */
    fl_error error;
    struct owned owned[MOST_IDS];
    uint32_t id_count;
    uint64_t live_bytes;
    uint64_t seed, noise, step, op_count;
};

#define CHECK(bench, claim)                                                                        \
    do {                                                                                           \
        if (!(claim))                                                                              \
            fail_msg("%s, seed %" PRIu64 ", step %" PRIu64 ", line %d: not %s (%s)",               \
                     (bench)->ops->name, (bench)->seed, (bench)->step, __LINE__, #claim,           \
                     (bench)->error.text);                                                         \
    } while (0)

static uint64_t bench_random(struct bench *bench, uint64_t below)
{
    bench->noise ^= bench->noise << 13;
    bench->noise ^= bench->noise >> 7;
    bench->noise ^= bench->noise << 17;
    return (bench->noise >> 11) % below;
}

/* Keeps what a snapshot would record of a change; its event is the number of the op. */
static void bench_record(struct bench *bench, const fl_change *change)
{
    static const struct {
        bool is_told;
        fl_recorded_kind kind;
    } kinds[FL_CHANGE_KIND_COUNT] = {
        [FL_CHANGE_ACQUIRE] = {true, FL_RECORDED_ALLOC},
        [FL_CHANGE_RELEASE] = {true, FL_RECORDED_FREE},
        [FL_CHANGE_MAP] = {true, FL_RECORDED_MAP},
        [FL_CHANGE_UNMAP] = {true, FL_RECORDED_UNMAP},
    };
    if (!kinds[change->kind].is_told)
        return;
    if (!fl_vector_reserve(bench->host, &bench->recorded, 1, &bench->error)) {
        bench->status = FL_ERR_RESOURCE;
        return;
    }
    bench->recorded.items[bench->recorded.count++] = (fl_recorded_event){
        bench->op_count, change->address, change->size, change->stream, kinds[change->kind].kind};
}

static void bench_hear(void *user, const fl_change *change)
{
    struct bench *bench = user;
    if (bench->status != FL_OK)
        return;
    if (fl_vector_reserve(bench->host, &bench->changes, 1, &bench->error))
        bench->changes.items[bench->changes.count++] = *change;
    else
        bench->status = FL_ERR_RESOURCE;
    bench_record(bench, change);
}

static bool bench_is_complete(void *user, uint64_t event)
{
    return event < ((const struct bench *)user)->complete_below;
}

static void bench_hold(void *user, uint64_t recorded)
{
    ((struct bench *)user)->complete_below = recorded;
}

static void bench_complete(void *user)
{
    ((struct bench *)user)->complete_below = UINT64_MAX;
}

static fl_status bench_open(struct bench *bench, const fl_policy_ops *ops, const fl_host *host,
                            uint64_t seed, const fl_device_record *record)
{
    static const uint64_t streams[STREAMS] = {0, 64, 128};
    static const fl_pool_name pools[] = {{0, 0}};
    static const fl_names names = {streams, STREAMS, pools, 1, NULL, 0};
    *bench = (struct bench){.ops = ops,
                            .host = host,
                            .seed = seed,
                            .noise = seed * 0x9E3779B97F4A7C15u,
                            .complete_below = UINT64_MAX};
    bench->sink = (fl_sink){bench_hear, bench};
    bench->oracle = (fl_oracle){bench_is_complete, bench_hold, bench_complete, bench};
    fl_settings_default(fl_profile_newest(), &bench->settings);
    bench->settings.expandable = seed % SETTINGS == 1;
    if (seed % SETTINGS == 2)
        bench->settings.max_split_bytes = 24 * FL_MIB;
    fl_mirror_init(&bench->mirror, host);
    fl_device_env card = {.host = host, .capacity_bytes = CAPACITY, .record = record};
    fl_status status = fl_device_open(fl_device_find(record != NULL ? "recorded" : "sim"), &card,
                                      &bench->device, &bench->error);
    if (status == FL_OK)
        bench->state = fl_new(host, ops->state_size, &bench->error);
    if (bench->state == NULL)
        return FL_ERR_RESOURCE;
    fl_policy_env env = {.host = host,
                         .device = bench->device,
                         .sink = &bench->sink,
                         .oracle = &bench->oracle,
                         .names = &names,
                         .profile = fl_profile_newest(),
                         .settings = &bench->settings,
                         .fraction = -1};
    return ops->open(bench->state, &env, &bench->error);
}

static void bench_close(struct bench *bench)
{
    if (bench->state != NULL)
        bench->ops->close(bench->state);
    fl_delete(bench->host, bench->state, bench->ops->state_size);
    fl_device_close(bench->device);
    fl_mirror_deinit(&bench->mirror);
    fl_vector_deinit(bench->host, &bench->changes);
    fl_vector_deinit(bench->host, &bench->recorded);
}

/* To be called before each op. */
static void bench_next_op(struct bench *bench)
{
    bench->told = bench->changes.count;
    bench->refusals = fl_device_get_info(bench->device)->refusals;
    bench->op_count++;
    if (fl_device_get_ops(bench->device)->needs_record)
        fl_device_recorded_seek(bench->device, bench->op_count, bench->op_count + 1);
}

/* ---- after every op -------------------------------------------------------------------------- */

static void bench_compare_pictures(struct bench *bench)
{
    fl_picture own, mirrored;
    fl_picture_init(&own, bench->host);
    fl_picture_init(&mirrored, bench->host);
    fl_walk own_walk = fl_picture_walk(&own), mirrored_walk = fl_picture_walk(&mirrored);
    bench->status = bench->ops->walk(bench->state, &own_walk, &bench->error);
    if (bench->status == FL_OK)
        bench->status = fl_mirror_walk(&bench->mirror, &mirrored_walk, &bench->error);
    if (bench->status == FL_OK)
        bench->status = fl_picture_compare(&own, "policy", &mirrored, "changes", &bench->error);
    fl_picture_deinit(&own);
    fl_picture_deinit(&mirrored);
}

static void bench_compare_facts(struct bench *bench)
{
    fl_facts facts = {0};
    if (bench->ops->facts != NULL)
        bench->ops->facts(bench->state, &facts);
    if (facts.stats == NULL)
        return;
    const fl_totals *totals = &bench->mirror.totals;
    CHECK(bench, facts.stats->stat[FL_STAT_REQUESTED_BYTES][FL_STAT_ALL].current ==
                     totals->requested_bytes);
    CHECK(bench, facts.stats->stat[FL_STAT_ALLOCATED_BYTES][FL_STAT_ALL].current ==
                     totals->allocated_bytes);
    CHECK(bench,
          facts.stats->stat[FL_STAT_ACTIVE_BYTES][FL_STAT_ALL].current == totals->active_bytes);
    CHECK(bench,
          facts.stats->stat[FL_STAT_RESERVED_BYTES][FL_STAT_ALL].current == totals->reserved_bytes);
}

/* Live blocks are where the program was told that they are. */
static void bench_compare_owned(struct bench *bench)
{
    uint64_t live_bytes = 0;
    for (size_t i = 0; i < bench->mirror.blocks.count; i++) {
        const struct fl_mirror_block *block = &bench->mirror.blocks.items[i];
        CHECK(bench, block->id < bench->id_count);
        const struct owned *owned = &bench->owned[block->id];
        CHECK(bench, owned->address == block->address && owned->size == block->requested);
        CHECK(bench, owned->is_live != block->is_pending);
        CHECK(bench, block->size >= block->requested);
        live_bytes += owned->is_live ? owned->size : 0;
    }
    CHECK(bench, live_bytes == bench->live_bytes);
}

/* Each time that the device refused is told. */
static void bench_compare_refusals(struct bench *bench)
{
    uint64_t told = 0;
    for (size_t i = bench->told; i < bench->changes.count; i++)
        told += bench->changes.items[i].kind == FL_CHANGE_NO_SEGMENT ||
                bench->changes.items[i].kind == FL_CHANGE_NO_PAGE;
    CHECK(bench, told == fl_device_get_info(bench->device)->refusals - bench->refusals);
}

/* Takes the op's changes into the mirror and looks at everything.  Without host memory the program
 * ends; any other failure fails the test. */
static bool bench_look(struct bench *bench, fl_status status)
{
    if (bench->status == FL_OK)
        bench->status = status;
    for (size_t i = bench->told; i < bench->changes.count && bench->status == FL_OK; i++)
        bench->status = fl_mirror_apply(&bench->mirror, &bench->changes.items[i], &bench->error);
    if (bench->status == FL_OK)
        bench->status = bench->ops->check(bench->state, &bench->error);
    if (bench->status == FL_OK)
        bench->status = fl_mirror_check(&bench->mirror, &bench->error);
    if (bench->status == FL_OK && bench->ops->walk != NULL)
        bench_compare_pictures(bench);
    CHECK(bench, bench->status == FL_OK || bench->status == FL_ERR_RESOURCE);
    if (bench->status != FL_OK)
        return false;
    bench_compare_owned(bench);
    bench_compare_refusals(bench);
    bench_compare_facts(bench);
    CHECK(bench,
          bench->mirror.totals.reserved_bytes <= fl_device_get_info(bench->device)->used_bytes);
    return true;
}

/* ---- ops ------------------------------------------------------------------------------------- */

/* Has the op a change of a kind from `first` to `last`? */
static bool bench_changed(const struct bench *bench, fl_change_kind first, fl_change_kind last)
{
    for (size_t i = bench->told; i < bench->changes.count; i++)
        if (bench->changes.items[i].kind >= first && bench->changes.items[i].kind <= last)
            return true;
    return false;
}

/* What a probe said just before an alloc, against what it did. */
static void bench_compare_probe(struct bench *bench, const fl_probe *probe, const fl_result *result)
{
    if (bench->ops->probe == NULL)
        return;
    bool is_served =
        result->outcome == FL_DONE && !bench_changed(bench, FL_CHANGE_ACQUIRE, FL_CHANGE_NO_PAGE);
    CHECK(bench, probe->usable == is_served);
}

static bool bench_alloc(struct bench *bench, uint64_t size, uint32_t stream)
{
    uint32_t id = bench->id_count++;
    fl_op op = {.kind = FL_OP_ALLOC, .id = id, .stream = stream, .text = FL_NONE, .size = size};
    fl_result result = {0};
    fl_probe probe = {0};
    fl_status status = FL_OK;
    if (bench->ops->probe != NULL)
        status = bench->ops->probe(bench->state, &op, &probe, &bench->error);
    if (status == FL_OK)
        status = bench->ops->alloc(bench->state, &op, &result, &bench->error);
    if (status == FL_OK && bench->status == FL_OK) {
        bool is_placed = result.outcome == FL_DONE && size > 0;
        bench->owned[id] = (struct owned){result.address, size, stream, is_placed};
        bench->live_bytes += is_placed ? size : 0;
        CHECK(bench, is_placed == (result.address != 0));
        CHECK(bench, !is_placed || result.size >= size);
        CHECK(bench, result.outcome == FL_DONE || result.outcome == FL_REFUSED);
        bench_compare_probe(bench, &probe, &result);
    }
    return bench_look(bench, status);
}

static bool bench_control(struct bench *bench, fl_op op)
{
    fl_result result = {0};
    fl_status status = bench->ops->control(bench->state, &op, &result, &bench->error);
    CHECK(bench, status != FL_OK || result.outcome == FL_DONE);
    return bench_look(bench, status);
}

static bool bench_free(struct bench *bench, uint32_t id)
{
    fl_op op = {.kind = FL_OP_FREE, .id = id, .stream = bench->owned[id].stream, .text = FL_NONE};
    fl_result result = {0};
    fl_status status = bench->ops->free(bench->state, &op, &result, &bench->error);
    bench->live_bytes -= bench->owned[id].is_live ? bench->owned[id].size : 0;
    bench->owned[id].is_live = false;
    return bench_look(bench, status);
}

/* Small, middling and large, and now and then what no card can hold. */
static uint64_t bench_size(struct bench *bench)
{
    switch (bench_random(bench, 8)) {
    case 0:
    case 1:
    case 2:
        return bench_random(bench, 4096);
    case 3:
    case 4:
        return bench_random(bench, 3 * FL_MIB);
    case 5:
    case 6:
        return bench_random(bench, 40 * FL_MIB);
    default:
        return bench_random(bench, 400 * FL_MIB);
    }
}

/* A live allocation picked by chance, or FL_NONE. */
static uint32_t bench_pick(struct bench *bench)
{
    if (bench->id_count == 0)
        return FL_NONE;
    uint32_t start = (uint32_t)bench_random(bench, bench->id_count);
    for (uint32_t i = 0; i < bench->id_count; i++) {
        uint32_t id = (start + i) % bench->id_count;
        if (bench->owned[id].is_live)
            return id;
    }
    return FL_NONE;
}

static bool bench_step(struct bench *bench)
{
    bool has_streams = (bench->ops->capabilities & FL_CAN_STREAMS) != 0;
    uint32_t stream = has_streams ? (uint32_t)bench_random(bench, STREAMS) : 0;
    uint64_t choice = bench_random(bench, 100);
    uint32_t id = choice < 50 ? FL_NONE : bench_pick(bench);
    bench_next_op(bench);
    if (choice < 50 || id == FL_NONE)
        return bench_alloc(bench, bench_size(bench), stream);
    if (choice < 85)
        return bench_free(bench, id);
    fl_op op = {.id = id, .stream = stream, .pool = FL_NONE, .text = FL_NONE};
    static const uint8_t kinds[] = {
        FL_OP_USE,  FL_OP_USE, FL_OP_USE, FL_OP_EVENTS_HOLD, FL_OP_EVENTS_COMPLETE,
        FL_OP_TRIM, FL_OP_MARK};
    op.kind = kinds[bench_random(bench, COUNT_OF(kinds))];
    return bench_control(bench, op);
}

/* Frees everything, and gives everything back. */
static bool bench_finish(struct bench *bench)
{
    for (uint32_t id = 0; id < bench->id_count; id++) {
        bench_next_op(bench);
        if (bench->owned[id].is_live && !bench_free(bench, id))
            return false;
    }
    static const uint8_t kinds[] = {FL_OP_EVENTS_COMPLETE, FL_OP_TRIM};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        fl_op op = {.kind = kinds[i], .id = FL_NONE, .pool = FL_NONE, .text = FL_NONE};
        bench_next_op(bench);
        if (!bench_control(bench, op))
            return false;
    }
    CHECK(bench, bench->mirror.blocks.count == 0);
    CHECK(bench, bench->mirror.totals.reserved_bytes == 0);
    CHECK(bench, fl_device_get_info(bench->device)->used_bytes == 0);
    return true;
}

static bool bench_run(struct bench *bench, uint64_t steps)
{
    for (bench->step = 0; bench->step < steps; bench->step++)
        if (!bench_step(bench))
            return false;
    return bench_finish(bench);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static bool is_same_change(const fl_change *a, const fl_change *b)
{
    return a->kind == b->kind && a->cause == b->cause && a->flags == b->flags && a->id == b->id &&
           a->segment == b->segment && a->stream == b->stream && a->pool == b->pool &&
           a->address == b->address && a->size == b->size && a->requested == b->requested;
}

static void random_programs_find_every_promise_kept(void **state)
{
    static struct bench first, second;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        assert_int_equal(bench_open(&first, *state, fl_host_default(), seed, NULL), FL_OK);
        assert_int_equal(bench_open(&second, *state, fl_host_default(), seed, NULL), FL_OK);
        assert_true(bench_run(&first, STEPS));
        assert_true(bench_run(&second, STEPS));
        CHECK(&first, first.changes.count == second.changes.count);
        for (size_t i = 0; i < first.changes.count; i++)
            CHECK(&first, is_same_change(&first.changes.items[i], &second.changes.items[i]));
        bench_close(&first);
        bench_close(&second);
    }
}

/* Ranges leave no mark, so that those never mapped may lie elsewhere. */
static bool is_same_but_for_ranges(const fl_change *a, const fl_change *b)
{
    bool is_range = a->kind == FL_CHANGE_RESERVE || a->kind == FL_CHANGE_UNRESERVE;
    return is_range ? a->kind == b->kind && a->segment == b->segment : is_same_change(a, b);
}

static void the_record_of_a_run_plays_it_back(void **state)
{
    static struct bench over_card, over_record;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        assert_int_equal(bench_open(&over_card, *state, fl_host_default(), seed, NULL), FL_OK);
        assert_true(bench_run(&over_card, STEPS));
        fl_device_record record = {.events = over_card.recorded.items,
                                   .count = over_card.recorded.count};
        assert_int_equal(bench_open(&over_record, *state, fl_host_default(), seed, &record), FL_OK);
        assert_true(bench_run(&over_record, STEPS));
        CHECK(&over_record, over_card.changes.count == over_record.changes.count);
        for (size_t i = 0; i < over_card.changes.count; i++)
            CHECK(&over_record, is_same_but_for_ranges(&over_card.changes.items[i],
                                                       &over_record.changes.items[i]));
        bench_close(&over_card);
        bench_close(&over_record);
    }
}

struct sweep {
    const fl_policy_ops *ops;
    uint64_t seed;
};

static fl_status run_short(const fl_host *host, void *user, fl_error *error)
{
    static struct bench bench;
    const struct sweep *sweep = user;
    bench.status = bench_open(&bench, sweep->ops, host, sweep->seed, NULL);
    if (bench.status == FL_OK)
        bench_run(&bench, SHORT_STEPS);
    fl_status status = bench.status;
    *error = bench.error;
    bench_close(&bench);
    return status;
}

static void a_host_without_memory_leaves_no_leak(void **state)
{
    for (uint64_t seed = 1; seed <= SETTINGS; seed++) {
        struct sweep sweep = {*state, seed};
        assert_true(failing_host_sweep(run_short, &sweep) > 0);
    }
}

/* Sizes that overflow when they are rounded, or when they are added to an address. */
static void what_no_card_can_hold_is_refused(void **state)
{
    static struct bench bench;
    static const uint64_t sizes[] = {UINT64_MAX,          UINT64_MAX - 511,
                                     UINT64_MAX - FL_MIB, (UINT64_MAX >> 1) + 1,
                                     UINT64_MAX >> 1,     UINT64_C(1) << 48};
    for (uint64_t seed = 0; seed < SETTINGS; seed++) {
        assert_int_equal(bench_open(&bench, *state, fl_host_default(), seed, NULL), FL_OK);
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            bench.step = i;
            uint32_t id = bench.id_count++;
            fl_op op = {.kind = FL_OP_ALLOC, .id = id, .text = FL_NONE, .size = sizes[i]};
            fl_result result = {0};
            bench_next_op(&bench);
            fl_status status = bench.ops->alloc(bench.state, &op, &result, &bench.error);
            CHECK(&bench, status == FL_OK && result.outcome != FL_DONE && result.address == 0);
            CHECK(&bench, bench_look(&bench, status));
        }
        CHECK(&bench, bench_finish(&bench));
        bench_close(&bench);
    }
}

static void facts_tell_the_last_refusal(void **state)
{
    static struct bench bench;
    static const uint64_t sizes[] = {2 * CAPACITY, 3 * CAPACITY};
    assert_int_equal(bench_open(&bench, *state, fl_host_default(), 3, NULL), FL_OK);
    for (size_t i = 0; i < COUNT_OF(sizes) && bench.ops->facts != NULL; i++) {
        bench_next_op(&bench);
        CHECK(&bench, bench_alloc(&bench, sizes[i], 0));
        fl_facts facts = {0};
        bench.ops->facts(bench.state, &facts);
        CHECK(&bench, facts.refusal != NULL && facts.refusal->requested_bytes == sizes[i]);
    }
    bench_close(&bench);
}

/* The replay keeps them away; a policy may say so too, or do nothing. */
static void unknown_numbers_change_nothing(void **state)
{
    static struct bench bench;
    const fl_policy_ops *ops = *state;
    assert_int_equal(bench_open(&bench, ops, fl_host_default(), 1, NULL), FL_OK);
    static const uint32_t ids[] = {0, 7, FL_NONE};
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        fl_op op = {.kind = FL_OP_FREE, .id = ids[i], .text = FL_NONE};
        fl_result result = {.address = 5};
        fl_error error = {0};
        fl_status status = ops->free(bench.state, &op, &result, &error);
        assert_int_equal(error.text[0] != '\0', status != FL_OK);
        assert_int_equal(result.address, status != FL_OK ? 5 : 0);
        assert_int_equal(bench.changes.count, 0);
    }
    assert_int_equal(ops->check(bench.state, NULL), FL_OK);
    bench_close(&bench);
}

static void a_state_that_never_opened_can_be_closed(void **state)
{
    const fl_policy_ops *ops = *state;
    struct fl_policy_state *policy = fl_new(fl_host_default(), ops->state_size, NULL);
    ops->close(policy);
    fl_delete(fl_host_default(), policy, ops->state_size);
}

int main(void)
{
    int failed = 0;
    for (size_t i = 0; fl_policy_at(i) != NULL; i++) {
        union {
            const fl_policy_ops *ops;
            void *user;
        } policy = {.ops = fl_policy_at(i)};
        const struct CMUnitTest tests[] = {
            cmocka_unit_test_prestate(random_programs_find_every_promise_kept, policy.user),
            cmocka_unit_test_prestate(the_record_of_a_run_plays_it_back, policy.user),
            cmocka_unit_test_prestate(a_host_without_memory_leaves_no_leak, policy.user),
            cmocka_unit_test_prestate(what_no_card_can_hold_is_refused, policy.user),
            cmocka_unit_test_prestate(facts_tell_the_last_refusal, policy.user),
            cmocka_unit_test_prestate(unknown_numbers_change_nothing, policy.user),
            cmocka_unit_test_prestate(a_state_that_never_opened_can_be_closed, policy.user),
        };
        failed += cmocka_run_group_tests_name(policy.ops->name, tests, NULL, NULL);
    }
    return failed;
}
