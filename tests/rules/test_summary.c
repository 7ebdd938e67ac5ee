#include "stats_file.h"
#include "test.h"

static void genuine_statistics_give_the_table_that_pytorch_printed(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(stats_files); i++) {
        static stats_file file;
        static char expected[4 * FL_SUMMARY_SIZE], printed[4 * FL_SUMMARY_SIZE];
        char path[256];
        snprintf(path, sizeof path, "%s.stats.json", stats_files[i]);
        stats_file_read(path, &file);
        size_t length = 0;
        for (unsigned d = 0; d < file.device_count; d++) {
            length +=
                fl_stats_summary(&file.devices[d].stats, d, printed + length, FL_SUMMARY_SIZE);
            printed[length++] = '\n'; /* whoever wrote the file printed it with one more */
        }
        snprintf(path, sizeof path, "%s.summary.txt", stats_files[i]);
        FILE *table = fopen(path, "r");
        assert_non_null(table);
        size_t expected_length = fread(expected, 1, sizeof expected - 1, table);
        expected[expected_length] = '\0';
        fclose(table);
        printed[length] = '\0';
        assert_string_equal(printed, expected);
    }
}

static fl_stats same_everywhere(uint64_t value)
{
    fl_stat stat = {value, value, value, value};
    fl_stats stats = {.ooms = value, .alloc_retries = value};
    for (size_t kind = 0; kind < FL_STAT_COUNT; kind++)
        for (size_t group = 0; group < FL_STAT_GROUPS; group++)
            stats.stat[kind][group] = stat;
    stats.oversize_allocations = stats.oversize_segments = stat;
    return stats;
}

static void units_step_up_at_three_quarters_of_the_next(void **state)
{
    (void)state;
    static const struct {
        uint64_t value;
        const char *bytes, *count;
    } rows[] = {
        {0, "|      0 B   |", "|       0    |"},
        {749999, "| 749999 B   |", "|  749999    |"},
        {750000, "| 750000 B   |", "|     750 K  |"},
        {786431, "| 786431 B   |", "|     786 K  |"},
        {786432, "|    768 KiB |", "|     786 K  |"},
        {749999999, "| 732421 KiB |", "|  749999 K  |"},
        {750000000, "| 732421 KiB |", "|     750 M  |"},
        {805306367, "| 786431 KiB |", "|     805 M  |"},
        {805306368, "|    768 MiB |", "|     805 M  |"},
        {UINT64_C(844424930131968), "|    768 TiB |", "| 844424930 M  |"},
        {UINT64_C(864691128455135232), "|    768 PiB |", "| 864691128455 M  |"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        fl_stats stats = same_everywhere(rows[i].value);
        char table[FL_SUMMARY_SIZE];
        assert_true(fl_stats_summary(&stats, 0, table, sizeof table) < sizeof table);
        assert_non_null(strstr(table, rows[i].bytes));
        assert_non_null(strstr(table, rows[i].count));
    }
}

static void a_pool_is_shown_in_the_unit_of_its_total(void **state)
{
    (void)state;
    fl_stats stats = {0};
    stats.stat[FL_STAT_RESERVED_BYTES][FL_STAT_ALL].current = UINT64_C(20) << 30;
    stats.stat[FL_STAT_RESERVED_BYTES][FL_STAT_SMALL].current = 2 << 20;
    char table[FL_SUMMARY_SIZE];
    fl_stats_summary(&stats, 3, table, sizeof table);
    assert_non_null(strstr(table, "| GPU reserved memory   |  20480 MiB |"));
    assert_non_null(strstr(table, "|       from small pool |      2 MiB |"));
    assert_non_null(strstr(table, "memory summary, device ID 3                 |"));
}

static void the_largest_numbers_fit_and_a_small_buffer_is_cut(void **state)
{
    (void)state;
    fl_stats stats = same_everywhere(UINT64_MAX);
    char table[FL_SUMMARY_SIZE], part[100];
    size_t length = fl_stats_summary(&stats, 4294967295u, table, sizeof table);
    assert_true(length < FL_SUMMARY_SIZE);
    assert_int_equal(strlen(table), length);
    assert_int_equal(fl_stats_summary(&stats, 4294967295u, part, sizeof part), length);
    assert_memory_equal(part, table, sizeof part - 1);
    assert_int_equal(part[sizeof part - 1], '\0');
    assert_int_equal(fl_stats_summary(&stats, 4294967295u, NULL, 0), length);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(genuine_statistics_give_the_table_that_pytorch_printed),
        cmocka_unit_test(units_step_up_at_three_quarters_of_the_next),
        cmocka_unit_test(a_pool_is_shown_in_the_unit_of_its_total),
        cmocka_unit_test(the_largest_numbers_fit_and_a_small_buffer_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
