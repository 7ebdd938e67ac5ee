#include "heap_builder.h"

#include "policy/torch/block.h"

#include "test.h"

#include <stdlib.h>

/* A lane filled by hand: blocks of chosen sizes and addresses, in an order of insertion. */
enum { MOST = 400 };

struct bench {
    heap *h;
    torch *st;
    struct torch_bins bins;
    uint32_t blocks[MOST];
    size_t count;
};

static void bench_open(struct bench *bench, const char *release)
{
    *bench = (struct bench){.h = heap_open((heap_conf){.release = release})};
    bench->st = heap_state(bench->h);
}

static void bench_close(struct bench *bench)
{
    torch_bins_deinit(fl_host_default(), &bench->bins);
    heap_drop(bench->h);
}

static uint32_t put(struct bench *bench, uint64_t size, uint64_t address)
{
    struct torch_block like = {0};
    uint32_t index = torch_block_new(bench->st, &like, address, size, BLOCK_MAPPED | BLOCK_FREE);
    assert_true(torch_bins_insert(bench->st, &bench->bins, index));
    bench->blocks[bench->count++] = index;
    return index;
}

static void take(struct bench *bench, size_t at)
{
    torch_bins_remove(bench->st, &bench->bins, bench->blocks[at]);
    torch_block_drop(bench->st, bench->blocks[at]);
    bench->blocks[at] = bench->blocks[--bench->count];
}

static const torch *ordering; /* for qsort */

static int by_size_and_tie(const void *a, const void *b)
{
    const struct torch_block *left = torch_block_at(ordering, *(const uint32_t *)a);
    const struct torch_block *right = torch_block_at(ordering, *(const uint32_t *)b);
    if (left->size != right->size)
        return left->size < right->size ? -1 : 1;
    bool by_age = ordering->profile->tie == FL_TIE_BLOCK;
    uint64_t first = by_age ? left->tie : left->address;
    uint64_t second = by_age ? right->tie : right->address;
    return first < second ? -1 : first > second;
}

/* The set in order, both ways, and what a search for some sizes finds. */
static void expect_order(struct bench *bench)
{
    torch *st = bench->st;
    ordering = st;
    qsort(bench->blocks, bench->count, sizeof *bench->blocks, by_size_and_tie);
    uint32_t index = torch_bins_seek(st, &bench->bins, 0);
    for (size_t i = 0; i < bench->count; i++) {
        assert_int_equal(index, bench->blocks[i]);
        assert_int_equal(torch_bins_previous(st, &bench->bins, index),
                         i > 0 ? bench->blocks[i - 1] : NO_BLOCK);
        uint64_t size = torch_block_at(st, index)->size;
        uint32_t found = torch_bins_seek(st, &bench->bins, size);
        assert_int_equal(torch_block_at(st, found)->size, size);
        assert_true(i == 0 || found == index ||
                    torch_block_at(st, bench->blocks[i - 1])->size == size);
        index = torch_bins_next(st, &bench->bins, index);
    }
    assert_int_equal(index, NO_BLOCK);
    assert_int_equal(torch_bins_last(st, &bench->bins),
                     bench->count > 0 ? bench->blocks[bench->count - 1] : NO_BLOCK);
}

static void an_empty_set_holds_nothing(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "2.9.1");
    assert_int_equal(torch_bins_seek(bench.st, &bench.bins, 0), NO_BLOCK);
    assert_int_equal(torch_bins_seek(bench.st, &bench.bins, UINT64_MAX), NO_BLOCK);
    assert_int_equal(torch_bins_last(bench.st, &bench.bins), NO_BLOCK);
    bench_close(&bench);
}

static void the_first_block_of_at_least_a_size_is_found(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "2.9.1");
    uint32_t small = put(&bench, 512, 0), middle = put(&bench, MIB(3), MIB(1));
    uint32_t large = put(&bench, UINT64_C(1) << 62, MIB(8));
    assert_int_equal(torch_bins_seek(bench.st, &bench.bins, 512), small);
    assert_int_equal(torch_bins_seek(bench.st, &bench.bins, 513), middle);
    assert_int_equal(torch_bins_seek(bench.st, &bench.bins, MIB(3)), middle);
    assert_int_equal(torch_bins_seek(bench.st, &bench.bins, MIB(3) + 512), large);
    assert_int_equal(torch_bins_seek(bench.st, &bench.bins, (UINT64_C(1) << 62) + 1), NO_BLOCK);
    expect_order(&bench);
    bench_close(&bench);
}

/* Two bins share a word, a power of two begins one, and a bin above 2 MiB holds many sizes. */
static void sizes_on_both_sides_of_every_boundary_are_in_order(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "2.9.1");
    for (unsigned power = 9; power < 40; power++)
        for (uint64_t step = 0; step < 4; step++)
            put(&bench, (UINT64_C(1) << power) + step * 512 - (power > 10 ? 512 : 0),
                MIB(power) + step * 4096);
    for (uint64_t unit = 4090; unit < 4100; unit++)
        put(&bench, unit * 512, MIB(100) + unit * 4096);
    expect_order(&bench);
    bench_close(&bench);
}

/* A release that does not round sizes puts many of them into one bin. */
static void unrounded_sizes_are_in_order(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "2.0.1");
    for (uint64_t i = 0; i < 100; i++)
        put(&bench, 600 + i * 37 % 400, i * 4096);
    expect_order(&bench);
    bench_close(&bench);
}

static void a_bin_of_many_equal_blocks_stays_in_order(void **state)
{
    (void)state;
    static const char *const releases[] = {"2.9.1", "2.12.0"};
    for (size_t i = 0; i < COUNT_OF(releases); i++) {
        struct bench bench;
        bench_open(&bench, releases[i]);
        for (uint64_t n = 0; n < 200; n++)
            put(&bench, MIB(20), MIB(20) * (n * 89 % 200));
        assert_int_equal(bench.st->bin_sets.count, 1);
        expect_order(&bench);
        while (bench.count > 0) {
            take(&bench, bench.count / 2);
            expect_order(&bench);
        }
        /* A set that has emptied serves the next long bin. */
        for (uint64_t n = 0; n < 120; n++)
            put(&bench, MIB(40), MIB(40) * n);
        assert_int_equal(bench.st->bin_sets.count, 1);
        expect_order(&bench);
        bench_close(&bench);
    }
}

static void random_steps_keep_the_order(void **state)
{
    (void)state;
    static const char *const releases[] = {"2.9.1", "2.12.0"};
    uint64_t noise = 0x9E3779B97F4A7C15u;
    for (size_t i = 0; i < COUNT_OF(releases); i++) {
        struct bench bench;
        bench_open(&bench, releases[i]);
        for (uint64_t step = 0; step < 3000; step++) {
            noise ^= noise << 13, noise ^= noise >> 7, noise ^= noise << 17;
            if (bench.count == MOST || (bench.count > 0 && noise % 5 < 2))
                take(&bench, (noise >> 8) % bench.count);
            else
                put(&bench, (noise >> 8 & 7) == 0 ? 512 * (1 + (noise >> 16) % 9000) : MIB(20),
                    step * MIB(64));
            if (step % 16 == 0)
                expect_order(&bench);
        }
        bench_close(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_set_holds_nothing),
        cmocka_unit_test(the_first_block_of_at_least_a_size_is_found),
        cmocka_unit_test(sizes_on_both_sides_of_every_boundary_are_in_order),
        cmocka_unit_test(unrounded_sizes_are_in_order),
        cmocka_unit_test(a_bin_of_many_equal_blocks_stays_in_order),
        cmocka_unit_test(random_steps_keep_the_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
