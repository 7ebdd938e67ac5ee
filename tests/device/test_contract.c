/* What every registered device owes: ranges that never overlap, whole granules, totals that add up,
 * refusals that change nothing.  A device that needs a record gets the one that the same program
 * left on `sim`, and must answer alike. */
#include <fraglab/device.h>

#include "base/extents.h"
#include "base/vector.h"
#include "device/pages.h"
#include "device/recorded.h"
#include "failing_host.h"
#include "test.h"

#include <inttypes.h>
#include <string.h>

enum { SEEDS = 20, STEPS = 1500, SLOTS = 64, STREAMS = 6, MOST_PAGES = 200 };

#define CAPACITY  (600 * FL_MIB)
#define RANGE     (1000 * FL_MIB)
#define PAGE(s)   ((s) % 2 == 0 ? 20 * FL_MIB : 2 * FL_MIB)
#define MOST_CALL 4

FL_VECTOR(answers, uint64_t);
FL_VECTOR(recorded, fl_recorded_event);

/* A range of one stream, filled from its base, and given up with its last page. */
struct range {
    uint64_t base;
    uint64_t pages[MOST_PAGES];
    size_t count;
    bool is_reserved;
};

struct program {
    fl_device *device;
    uint64_t seed, noise, step;
    fl_extent segments[SLOTS];
    struct range ranges[STREAMS];
    fl_extents held; /* everything handed out */
    uint64_t held_bytes;
    struct answers answers;   /* every address given, 0 for a refusal */
    struct recorded recorded; /* what a snapshot would tell of it */
};

static uint64_t program_random(struct program *program, uint64_t below)
{
    program->noise ^= program->noise << 13;
    program->noise ^= program->noise >> 7;
    program->noise ^= program->noise << 17;
    return (program->noise >> 11) % below;
}

#define CHECK(program, claim)                                                                      \
    do {                                                                                           \
        if (!(claim))                                                                              \
            fail_msg("%s, seed %" PRIu64 ", step %" PRIu64 ", line %d: not %s",                    \
                     fl_device_get_ops((program)->device)->name, (program)->seed, (program)->step, \
                     __LINE__, #claim);                                                            \
    } while (0)

static void program_note(struct program *program, fl_recorded_kind kind, uint64_t address,
                         uint64_t size, uint32_t stream)
{
    fl_recorded_event event = {program->step, address, size, stream, kind};
    assert_true(fl_vector_reserve(fl_host_default(), &program->recorded, 1, NULL));
    program->recorded.items[program->recorded.count++] = event;
}

static void program_answer(struct program *program, uint64_t address)
{
    assert_true(fl_vector_reserve(fl_host_default(), &program->answers, 1, NULL));
    program->answers.items[program->answers.count++] = address;
}

static void program_hold(struct program *program, uint64_t address, uint64_t size)
{
    CHECK(program, address % FL_DEVICE_GRANULE == 0);
    CHECK(program, !fl_extents_overlap(&program->held, address, size));
    fl_extent extent = {.address = address, .size = size};
    assert_true(fl_extents_insert(fl_host_default(), &program->held, extent, NULL));
    program->held_bytes += fl_pages_footprint(size);
}

static void program_drop(struct program *program, uint64_t address, uint64_t size)
{
    assert_true(fl_extents_remove(&program->held, address, NULL));
    program->held_bytes -= fl_pages_footprint(size);
}

/* A refusal must have left everything as it was; the info must tell of it. */
static void program_refused(struct program *program, const fl_device_info *before)
{
    const fl_device_info *info = fl_device_get_info(program->device);
    CHECK(program, info->refusals == before->refusals + 1);
    CHECK(program, info->used_bytes == before->used_bytes);
    CHECK(program, info->most_granted_bytes == before->most_granted_bytes);
    CHECK(program, info->least_refused_bytes <= before->least_refused_bytes);
    CHECK(program, memcmp(info->calls, before->calls, sizeof info->calls) == 0);
}

static void program_acquire(struct program *program, fl_extent *segment, uint32_t stream)
{
    fl_device_info before = *fl_device_get_info(program->device);
    uint64_t size = 1 + program_random(program, 60 * FL_MIB), address = 0;
    fl_answer answer = fl_device_acquire(program->device, size, stream, &address);
    CHECK(program, answer != FL_ANSWER_ERROR);
    program_answer(program, answer == FL_ANSWER_OK ? address : 0);
    if (answer == FL_ANSWER_FULL) {
        CHECK(program, address == 0);
        program_refused(program, &before);
        return;
    }
    *segment = (fl_extent){.address = address, .size = size};
    program_hold(program, address, size);
    program_note(program, FL_RECORDED_ALLOC, address, size, stream);
}

static void program_release(struct program *program, fl_extent *segment, uint32_t stream)
{
    CHECK(program,
          fl_device_release(program->device, segment->address, segment->size) == FL_ANSWER_OK);
    program_drop(program, segment->address, segment->size);
    program_note(program, FL_RECORDED_FREE, segment->address, segment->size, stream);
    segment->size = 0;
}

static void program_reserve(struct program *program, struct range *range, uint32_t stream)
{
    uint64_t used = fl_device_get_info(program->device)->used_bytes;
    CHECK(program, fl_device_reserve(program->device, RANGE, PAGE(stream), stream, &range->base) ==
                       FL_ANSWER_OK);
    CHECK(program, fl_device_get_info(program->device)->used_bytes == used);
    range->is_reserved = true;
}

/* Makes all pages or none. */
static bool program_create(struct program *program, uint64_t size, size_t count, uint64_t *pages)
{
    for (size_t i = 0; i < count; i++) {
        fl_device_info before = *fl_device_get_info(program->device);
        fl_answer answer = fl_device_page_create(program->device, size, &pages[i]);
        CHECK(program, answer != FL_ANSWER_ERROR);
        if (answer == FL_ANSWER_OK)
            continue;
        program_refused(program, &before);
        while (i-- > 0)
            CHECK(program, fl_device_page_free(program->device, pages[i]) == FL_ANSWER_OK);
        return false;
    }
    return true;
}

static void program_grow(struct program *program, struct range *range, uint32_t stream)
{
    uint64_t size = PAGE(stream);
    size_t count = 1 + program_random(program, MOST_CALL);
    if (range->count + count > MOST_PAGES || (range->count + count) * size > RANGE)
        return;
    if (!range->is_reserved)
        program_reserve(program, range, stream);
    bool is_granted = program_create(program, size, count, &range->pages[range->count]);
    uint64_t start = range->base + range->count * size;
    program_answer(program, is_granted ? start : 0);
    for (size_t i = 0; is_granted && i < count; i++, range->count++) {
        uint64_t address = range->base + range->count * size, page = range->pages[range->count];
        CHECK(program, fl_device_map(program->device, address, size, page) == FL_ANSWER_OK);
        program_hold(program, address, size);
    }
    if (is_granted)
        program_note(program, FL_RECORDED_MAP, start, count * size, stream);
}

static void program_shrink(struct program *program, struct range *range, uint32_t stream)
{
    uint64_t size = PAGE(stream);
    size_t left = program_random(program, range->count), count = range->count - left;
    uint64_t start = range->base + left * size;
    CHECK(program, fl_device_unmap(program->device, start, count * size) == FL_ANSWER_OK);
    while (range->count > left) {
        range->count--;
        CHECK(program,
              fl_device_page_free(program->device, range->pages[range->count]) == FL_ANSWER_OK);
        program_drop(program, range->base + range->count * size, size);
    }
    program_note(program, FL_RECORDED_UNMAP, start, count * size, stream);
    if (left == 0) {
        CHECK(program, fl_device_unreserve(program->device, range->base, RANGE) == FL_ANSWER_OK);
        range->is_reserved = false;
    }
}

static void program_check(struct program *program)
{
    const fl_device_info *info = fl_device_get_info(program->device);
    const fl_device_ops *ops = fl_device_get_ops(program->device);
    CHECK(program, info->used_bytes == program->held_bytes);
    CHECK(program, ops->used(fl_device_get_state(program->device)) == info->used_bytes);
    CHECK(program, info->used_bytes <= info->most_granted_bytes);
    CHECK(program, ops->needs_record || info->most_granted_bytes < info->least_refused_bytes);
}

static void program_step(struct program *program)
{
    uint32_t stream = (uint32_t)program_random(program, STREAMS);
    fl_extent *segment = &program->segments[program_random(program, SLOTS)];
    struct range *range = &program->ranges[stream];
    bool is_segment = program_random(program, 2) == 0, is_growing = program_random(program, 3) > 0;
    if (fl_device_get_ops(program->device)->needs_record)
        fl_device_recorded_seek(program->device, program->step, program->step + 1);
    if (is_segment && segment->size == 0)
        program_acquire(program, segment, stream);
    else if (is_segment)
        program_release(program, segment, stream);
    else if (range->count == 0 || is_growing)
        program_grow(program, range, stream);
    else
        program_shrink(program, range, stream);
    program_check(program);
}

static void program_finish(struct program *program)
{
    for (size_t i = 0; i < SLOTS; i++)
        if (program->segments[i].size > 0)
            program_release(program, &program->segments[i], 0);
    for (uint32_t stream = 0; stream < STREAMS; stream++)
        while (program->ranges[stream].count > 0)
            program_shrink(program, &program->ranges[stream], stream);
    program_check(program);
    CHECK(program, fl_device_get_info(program->device)->used_bytes == 0);
}

static void program_run(struct program *program, const fl_device_ops *ops, uint64_t seed,
                        const fl_device_record *record)
{
    *program = (struct program){.seed = seed, .noise = seed * 0x9E3779B97F4A7C15u};
    fl_device_env env = {.capacity_bytes = CAPACITY, .record = record};
    assert_int_equal(fl_device_open(ops, &env, &program->device, NULL), FL_OK);
    for (program->step = 0; program->step < STEPS; program->step++)
        program_step(program);
    program_finish(program);
    fl_device_close(program->device);
    program->device = NULL;
    fl_extents_deinit(fl_host_default(), &program->held);
}

static void program_end(struct program *program)
{
    fl_vector_deinit(fl_host_default(), &program->answers);
    fl_vector_deinit(fl_host_default(), &program->recorded);
}

static void random_programs_find_every_promise_kept(void **state)
{
    static struct program model, tried;
    const fl_device_ops *ops = *state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        program_run(&model, fl_device_find("sim"), seed, NULL);
        fl_device_record record = {.events = model.recorded.items, .count = model.recorded.count};
        program_run(&tried, ops, seed, &record);
        if (ops->needs_record) {
            assert_int_equal(tried.answers.count, model.answers.count);
            assert_memory_equal(tried.answers.items, model.answers.items,
                                model.answers.count * sizeof *model.answers.items);
        }
        program_end(&model);
        program_end(&tried);
    }
}

static void every_table_has_what_is_required(void **state)
{
    const fl_device_ops *ops = *state;
    assert_true(ops->name != NULL && ops->summary != NULL && ops->state_size > 0);
    assert_true(ops->open != NULL && ops->close != NULL);
    assert_true(ops->acquire != NULL && ops->release != NULL);
    assert_true(ops->reserve != NULL && ops->unreserve != NULL);
    assert_true(ops->page_create != NULL && ops->page_free != NULL);
    assert_true(ops->map != NULL && ops->unmap != NULL);
    assert_true(ops->used != NULL && ops->footprint != NULL);
}

static fl_status open_and_acquire(const fl_host *host, void *user, fl_error *error)
{
    static const fl_recorded_event events[] = {{0, 16 * FL_MIB, 1, 0, FL_RECORDED_ALLOC}};
    fl_device_record record = {.events = events, .count = COUNT_OF(events)};
    fl_device_env env = {.host = host, .capacity_bytes = CAPACITY, .record = &record};
    fl_device *device;
    fl_status status = fl_device_open(user, &env, &device, error);
    if (status != FL_OK)
        return status;
    if (((const fl_device_ops *)user)->needs_record)
        fl_device_recorded_seek(device, 0, 1);
    uint64_t address;
    if (fl_device_acquire(device, 1, 0, &address) != FL_ANSWER_OK)
        status = fl_device_failure(device, error);
    assert_int_equal(fl_device_get_info(device)->used_bytes, status == FL_OK ? 2 * FL_MIB : 0);
    fl_device_close(device);
    return status;
}

static void a_host_without_memory_leaves_no_leak(void **state)
{
    assert_true(failing_host_sweep(open_and_acquire, *state) > 0);
}

int main(void)
{
    int failed = 0;
    for (size_t i = 0; fl_device_at(i) != NULL; i++) {
        union {
            const fl_device_ops *ops;
            void *user;
        } device = {.ops = fl_device_at(i)};
        const struct CMUnitTest tests[] = {
            cmocka_unit_test_prestate(every_table_has_what_is_required, device.user),
            cmocka_unit_test_prestate(random_programs_find_every_promise_kept, device.user),
            cmocka_unit_test_prestate(a_host_without_memory_leaves_no_leak, device.user),
        };
        failed += cmocka_run_group_tests_name(device.ops->name, tests, NULL, NULL);
    }
    return failed;
}
