#include "rules/sizes.h"

#include "test.h"

#include <inttypes.h>

static const fl_profile *release_2(unsigned minor)
{
    size_t i = 0;
    while (fl_profile_at(i)->minor != minor)
        i++;
    return fl_profile_at(i);
}

static fl_settings settings_with(uint64_t divisions)
{
    fl_settings settings;
    fl_settings_default(release_2(9), &settings);
    for (size_t i = 0; i < FL_ROUNDUP_SLOTS; i++)
        settings.divisions[i] = divisions;
    return settings;
}

/* Section 4.1 word by word, without a bit trick, for sizes and divisions within reason. */
static uint64_t slow_round(const fl_profile *profile, const fl_settings *settings, uint64_t size)
{
    if (size < 512)
        return 512;
    size_t slot = 0;
    for (uint64_t limit = UINT64_C(1) << 21; slot < 15 && size >= limit; limit *= 2)
        slot++;
    uint64_t divisions = settings->divisions[slot];
    if (divisions == 1 && profile->minor < 4)
        return size;
    if (divisions <= 1 || size <= 512 * divisions)
        return (size + 511) / 512 * 512;
    uint64_t power = 1;
    while (power * 2 <= size)
        power *= 2;
    if (power == size)
        return size;
    uint64_t step = power / divisions;
    return (size + step - 1) / step * step;
}

static void assert_rounds(const fl_profile *profile, const fl_settings *settings, uint64_t size)
{
    uint64_t fast = fl_round_size(profile, settings, size);
    uint64_t slow = slow_round(profile, settings, size);
    if (fast != slow)
        fail_msg("%" PRIu64 " with %" PRIu64 " divisions: %" PRIu64 ", expected %" PRIu64, size,
                 settings->divisions[0], fast, slow);
}

static void requests_round_up_to_512_bytes(void **state)
{
    (void)state;
    fl_settings plain = settings_with(0);
    static const uint64_t sizes[][2] = {
        {1, 512},
        {511, 512},
        {512, 512},
        {513, 1024},
        {1024, 1024},
        {1025, 1536},
        {1048575, 1048576},
        {1048576, 1048576},
        {1048577, 1049088},
        {UINT64_C(1) << 60, UINT64_C(1) << 60},
        {UINT64_MAX, UINT64_MAX},
    };
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        assert_int_equal(fl_round_size(release_2(9), &plain, sizes[i][0]), sizes[i][1]);
}

static void the_examples_of_the_rules_hold(void **state)
{
    (void)state;
    fl_settings four = settings_with(4), eight = settings_with(8);
    assert_int_equal(fl_round_size(release_2(9), &four, 1200), 1536);
    assert_int_equal(fl_round_size(release_2(9), &four, 3000), 3072);
    assert_int_equal(fl_round_size(release_2(9), &eight, 5242881), 5767168);
    assert_int_equal(fl_round_size(release_2(9), &eight, 1 << 22), 1 << 22);
    assert_int_equal(fl_round_size(release_2(9), &eight, 9 * FL_MIB), 9 * FL_MIB);
    assert_int_equal(fl_round_size(release_2(9), &four, 9 * FL_MIB), 10 * FL_MIB);
}

static void every_power_and_every_division_round_as_the_slow_formula_says(void **state)
{
    (void)state;
    for (unsigned minor = 3; minor <= 15; minor += 6) {
        for (uint64_t divisions = 1; divisions <= 65536; divisions *= 2) {
            fl_settings settings = settings_with(divisions);
            for (unsigned power = 8; power < 45; power++) {
                uint64_t base = UINT64_C(1) << power, step = base / divisions;
                for (uint64_t part = 0; part < 64; part++) {
                    uint64_t size = base + part * (step > 0 ? step : 1);
                    assert_rounds(release_2(minor), &settings, size - 1);
                    assert_rounds(release_2(minor), &settings, size);
                    assert_rounds(release_2(minor), &settings, size + 1);
                }
            }
        }
    }
}

static void the_guard_is_strict(void **state)
{
    (void)state;
    for (uint64_t divisions = 2; divisions <= 1024; divisions *= 2) {
        fl_settings settings = settings_with(divisions);
        uint64_t guard = 512 * divisions;
        assert_int_equal(fl_round_size(release_2(9), &settings, guard), guard);
        assert_int_equal(fl_round_size(release_2(9), &settings, guard + 1), guard + 512);
        assert_int_equal(fl_round_size(release_2(9), &settings, 2 * guard + 1), 2 * guard + 1024);
    }
}

static void each_size_class_has_its_own_divisions(void **state)
{
    (void)state;
    fl_settings settings = settings_with(0);
    for (unsigned slot = 0; slot < FL_ROUNDUP_SLOTS; slot++) {
        settings.divisions[slot] = 2;
        uint64_t least = UINT64_C(1) << (20 + slot), odd = least + 512;
        if (slot == 0)
            assert_int_equal(fl_round_size(release_2(9), &settings, 2561), 3072);
        assert_int_equal(fl_round_size(release_2(9), &settings, odd), least + least / 2);
        if (slot > 0)
            assert_int_equal(fl_round_size(release_2(9), &settings, odd / 2), odd / 2 + 256);
        if (slot + 1 < FL_ROUNDUP_SLOTS)
            assert_int_equal(fl_round_size(release_2(9), &settings, 2 * least + 512),
                             2 * least + 512);
        else
            assert_int_equal(fl_round_size(release_2(9), &settings, 4 * least + 512), 6 * least);
        settings.divisions[slot] = 0;
    }
}

static void one_division_left_sizes_as_they_were_until_2_3(void **state)
{
    (void)state;
    fl_settings one = settings_with(1);
    assert_int_equal(fl_round_size(release_2(3), &one, 513), 513);
    assert_int_equal(fl_round_size(release_2(3), &one, 512), 512);
    assert_int_equal(fl_round_size(release_2(3), &one, 1), 512);
    assert_int_equal(fl_round_size(release_2(3), &one, 1000001), 1000001);
    assert_int_equal(fl_round_size(release_2(4), &one, 513), 1024);
}

/* As PyTorch 2.10 was seen to round: 512 x 2^55 is 0 in 64 bits, so the guard lets all pass, and
 * the step is 0. */
static void divisions_beyond_reason_wrap_around(void **state)
{
    (void)state;
    fl_settings huge = settings_with(UINT64_C(1) << 55), large = settings_with(UINT64_C(1) << 54);
    assert_int_equal(fl_round_size(release_2(10), &huge, 100), 512);
    assert_int_equal(fl_round_size(release_2(10), &huge, 1000), 1024);
    assert_int_equal(fl_round_size(release_2(10), &huge, 3000000), 4194304);
    assert_int_equal(fl_round_size(release_2(10), &large, 3000000), 3000320);
    assert_int_equal(fl_round_size(release_2(10), &huge, (UINT64_C(1) << 54) + 1), UINT64_C(1)
                                                                                       << 55);
    assert_int_equal(fl_round_size(release_2(10), &huge, UINT64_MAX), UINT64_MAX);
}

static void segments_follow_the_rounded_size(void **state)
{
    (void)state;
    fl_settings settings = settings_with(0);
    static const uint64_t sizes[][2] = {
        {512, 2 * FL_MIB},
        {FL_MIB - 512, 2 * FL_MIB},
        {FL_MIB, 2 * FL_MIB},
        {FL_MIB + 1, 20 * FL_MIB},
        {FL_MIB + 512, 20 * FL_MIB},
        {10 * FL_MIB - 1, 20 * FL_MIB},
        {10 * FL_MIB, 10 * FL_MIB},
        {10 * FL_MIB + 1, 12 * FL_MIB},
        {12 * FL_MIB, 12 * FL_MIB},
        {12 * FL_MIB + 1, 14 * FL_MIB},
        {UINT64_MAX - 1, UINT64_MAX},
    };
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        assert_int_equal(fl_segment_size(&settings, sizes[i][0]), sizes[i][1]);
    settings.large_segment_bytes = 64 * FL_MIB;
    assert_int_equal(fl_segment_size(&settings, FL_MIB + 512), 64 * FL_MIB);
    assert_int_equal(fl_segment_size(&settings, 10 * FL_MIB), 10 * FL_MIB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_round_up_to_512_bytes),
        cmocka_unit_test(the_examples_of_the_rules_hold),
        cmocka_unit_test(every_power_and_every_division_round_as_the_slow_formula_says),
        cmocka_unit_test(the_guard_is_strict),
        cmocka_unit_test(each_size_class_has_its_own_divisions),
        cmocka_unit_test(one_division_left_sizes_as_they_were_until_2_3),
        cmocka_unit_test(divisions_beyond_reason_wrap_around),
        cmocka_unit_test(segments_follow_the_rounded_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
