#include "reader/memo.h"

#include "failing_host.h"
#include "test.h"

#define COUNT (MEMO_HEAD + 9 * MEMO_TAIL + 77)

static memo_entry entry_of(uint32_t number)
{
    return (memo_entry){number / 3, (uint8_t)(1 + number % 3), (uint8_t)(number % 5)};
}

static bool fill(const fl_host *host, fl_memo *memo, uint64_t count, uint32_t colours,
                 fl_error *error)
{
    uint32_t noise = 1;
    while (memo->count < count) {
        if (!fl_memo_reserve(host, memo, error))
            return false;
        noise = noise * 1664525u + 1013904223u;
        memo->open[memo->count++ - memo->first] = entry_of((noise >> 8) % colours);
    }
    return true;
}

static void assert_entry(const fl_memo *memo, uint64_t index, uint32_t number)
{
    memo_entry is = fl_memo_get(memo, index), should = entry_of(number);
    assert_int_equal(is.number, should.number);
    assert_int_equal(is.tag, should.tag);
    assert_int_equal(is.word, should.word);
}

static void assert_filled(const fl_memo *memo, uint64_t count, uint32_t colours)
{
    uint32_t noise = 1;
    assert_int_equal(memo->count, count);
    for (uint64_t i = 0; i < count; i++) {
        noise = noise * 1664525u + 1013904223u;
        assert_entry(memo, i, (noise >> 8) % colours);
    }
}

static void entries_come_back_whatever_number_of_different_ones_a_page_has(void **state)
{
    (void)state;
    const fl_host *host = fl_host_default();
    const uint32_t colours[] = {1, 2, 3, 4, 5, 16, 17, 200, 600, 1u << 24};
    for (size_t i = 0; i < sizeof colours / sizeof *colours; i++) {
        fl_memo memo = {0};
        assert_true(fill(host, &memo, COUNT, colours[i], NULL));
        assert_true(memo.pages.count > 0);
        assert_filled(&memo, COUNT, colours[i]);
        fl_memo_deinit(host, &memo);
    }
}

static void few_different_entries_take_few_bytes(void **state)
{
    (void)state;
    failing_host host;
    failing_host_init(&host, FAILING_HOST_NEVER);
    fl_memo memo = {0};
    const uint64_t packed = 400 * MEMO_TAIL, count = MEMO_HEAD + packed + MEMO_TAIL;
    assert_true(fill(&host.host, &memo, MEMO_HEAD, 100, NULL));
    size_t head = host.held_bytes;
    assert_true(fill(&host.host, &memo, count, 100, NULL));
    assert_true(host.held_bytes - head < 3 * packed + 100 * 1000);
    fl_memo_deinit(&host.host, &memo);
    assert_int_equal(host.held_bytes, 0);
}

/* The same random writes to the memo and to an array. */
static void an_entry_may_be_written_again_at_any_place(void **state)
{
    (void)state;
    enum { COLOURS = 7, WRITES = 20000 };
    const fl_host *host = fl_host_default();
    static uint32_t truth[COUNT];
    uint64_t noise = 0x2545F4914F6CDD1Du;
    fl_memo memo = {0};
    assert_true(fill(host, &memo, COUNT, 1, NULL));
    for (size_t i = 0; i < WRITES; i++) {
        noise ^= noise << 13, noise ^= noise >> 7, noise ^= noise << 17;
        size_t at = i % 2 == 0 ? noise % COUNT : MEMO_HEAD + noise % (3 * MEMO_PAGE);
        truth[at] = (uint32_t)(noise >> 40) % COLOURS;
        assert_true(fl_memo_put(host, &memo, at, entry_of(truth[at]), NULL));
    }
    for (size_t i = 0; i < COUNT; i++)
        assert_entry(&memo, i, truth[i]);
    fl_memo_deinit(host, &memo);
}

static fl_status fill_and_change(const fl_host *host, void *user, fl_error *error)
{
    (void)user;
    fl_memo memo = {0};
    bool fits = fill(host, &memo, MEMO_HEAD + 2 * MEMO_TAIL + 1, 1000, error) &&
                fl_memo_put(host, &memo, MEMO_HEAD, entry_of(1), error) &&
                fill(host, &memo, MEMO_HEAD + 4 * MEMO_TAIL + 1, 10, error) &&
                fl_memo_put(host, &memo, memo.first - 1, entry_of(1), error);
    fl_memo_deinit(host, &memo);
    return fits ? FL_OK : FL_ERR_RESOURCE;
}

static void no_failing_request_for_memory_leaks(void **state)
{
    (void)state;
    assert_true(failing_host_sweep(fill_and_change, NULL) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_come_back_whatever_number_of_different_ones_a_page_has),
        cmocka_unit_test(few_different_entries_take_few_bytes),
        cmocka_unit_test(an_entry_may_be_written_again_at_any_place),
        cmocka_unit_test(no_failing_request_for_memory_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
