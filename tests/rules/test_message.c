#include <fraglab/message.h>

#include "base/units.h"
#include "rules/profile.h"
#include "test.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const fl_profile *release(const char *name)
{
    for (size_t i = 0; fl_profile_at(i) != NULL; i++)
        if (strcmp(fl_profile_release(fl_profile_at(i)), name) == 0)
            return fl_profile_at(i);
    fail_msg("no release '%s'", name);
    return NULL;
}

/* The state in which each recorded scenario failed: a device of 2 GiB, on which a first block of
 * 700 MB is live and a second of 300 MB was given back. */
#define CARD    (2 * FL_GIB)
#define FIRST   UINT64_C(700448768) /* its segment */
#define FIRST_R UINT64_C(700000256) /* its size in an expandable segment */
#define SECOND  UINT64_C(301989888)
#define REQUEST UINT64_C(2000683008)
#define MAPPED  (680 * FL_MIB)

static const struct {
    const char *name;
    uint64_t allocated, reserved, private_free, limit, segment;
    bool expandable;
    uint64_t reserve;
} scenarios[] = {
    {"plain", FIRST, FIRST, 0, FL_UNLIMITED, REQUEST, false, FL_UNLIMITED},
    {"fraction-0.7", FIRST, FIRST, 0, UINT64_C(1503238553), REQUEST, false, FL_UNLIMITED},
    {"fraction-1.0", FIRST, FIRST, 0, CARD, REQUEST, false, FL_UNLIMITED},
    {"expandable", FIRST_R, MAPPED, 0, FL_UNLIMITED, REQUEST, true, FL_UNLIMITED},
    {"expandable-fraction-0.7", FIRST_R, MAPPED, 0, UINT64_C(1503238553), REQUEST, true,
     FL_UNLIMITED},
    {"private-pool", FIRST, FIRST + SECOND, SECOND, FL_UNLIMITED, REQUEST, false, FL_UNLIMITED},
    {"split-pinned", UINT64_C(33000448), UINT64_C(1501560832), 0, FL_UNLIMITED,
     UINT64_C(1480589312), false, FL_UNLIMITED},
    {"tiny-2MiB", CARD, CARD, 0, FL_UNLIMITED, 2 * FL_MIB, false, FL_UNLIMITED},
    {"too-large", 0, 0, 0, FL_UNLIMITED, UINT64_C(1) << 60, false, FL_UNLIMITED},
    {"reserve-0.25", 0, 0, 0, FL_UNLIMITED, REQUEST, true, 512 * FL_MIB},
    {"reserve-unaligned", 0, 0, 0, FL_UNLIMITED, REQUEST, true, 214748},
    {"reserve-3G", FIRST_R, MAPPED, 0, FL_UNLIMITED, REQUEST, true, 3 * FL_GIB},
};

/* The pool scenario ran without its scope where releases had another interface. */
static const char *scenario_of(const fl_profile *profile, const char *name)
{
    return strcmp(name, "private-pool") == 0 && profile->minor < 3 ? "plain" : name;
}

static size_t print_scenario(const fl_profile *profile, const char *name, char *buffer, size_t size)
{
    if (strcmp(name, "rejection") == 0)
        return fl_rejection_message(2000000000, buffer, size);
    size_t i = 0;
    while (i < COUNT_OF(scenarios) && strcmp(scenarios[i].name, scenario_of(profile, name)) != 0)
        i++;
    assert_true(i < COUNT_OF(scenarios));
    /* From 2.10 on a fraction of 1 is no limit (13). */
    bool limited = scenarios[i].limit != CARD || !profile->fraction_one_is_no_limit;
    const fl_process own = {1234, scenarios[i].reserved, true};
    const fl_oom_facts oom = {
        .total = CARD,
        .free = CARD - scenarios[i].reserved,
        .allocated = scenarios[i].allocated,
        .reserved = scenarios[i].reserved,
        .private_free = scenarios[i].private_free,
        .segment = scenarios[i].segment,
        .limit = limited ? scenarios[i].limit : FL_UNLIMITED,
        .expandable = scenarios[i].expandable && profile->minor >= 1,
        .reserve = scenarios[i].reserve,
        .processes = &own,
        .process_count = 1,
    };
    return fl_oom_message(profile, &oom, buffer, size);
}

/* `\x00` in a data file stands for that byte. */
static size_t unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; to++) {
        unsigned byte;
        if (from[0] == '\\' && sscanf(from + 1, "x%2x", &byte) == 1) {
            *to = (char)byte;
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
    return (size_t)(to - text);
}

static size_t compare_file(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail_msg("%s: not there", path);
    char line[4096], printed[4096];
    size_t count = 0;
    assert_non_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *scenario = strchr(line, '\t');
        *scenario++ = '\0';
        char *message = strchr(scenario, '\t');
        *message++ = '\0';
        size_t expected = unescape(message);
        size_t length = print_scenario(release(line), scenario, printed, sizeof printed);
        /* A recorder that takes texts for C strings stops where 2.3 prints device 0. */
        if (strlen(printed) < length && strlen(message) == expected)
            length = strlen(printed);
        if (length != expected || memcmp(printed, message, length) != 0)
            fail_msg("%s %s:\n%s\nexpected\n%s", line, scenario, printed, message);
        count++;
    }
    fclose(file);
    return count;
}

static void every_release_says_what_its_binary_said(void **state)
{
    (void)state;
    assert_int_equal(compare_file("tests/data/conformance/oom_messages.tsv"), 151);
}

static void reserves_rejections_and_the_character_of_2_3_are_printed_in_full(void **state)
{
    (void)state;
    assert_int_equal(compare_file("tests/data/rules/oom_messages.tsv"), 14);
}

static void processes_are_listed_in_their_order(void **state)
{
    (void)state;
    static const fl_process processes[] = {
        {77, 700 * FL_MIB, false}, {4711, FL_GIB, true}, {UINT64_MAX, 1, false}};
    fl_oom_facts oom = {.limit = FL_UNLIMITED, .processes = processes, .process_count = 3};
    char text[2048];
    fl_oom_message(release("2.9.1"), &oom, text, sizeof text);
    assert_non_null(strstr(text,
                           " is free. Process 77 has 700.00 MiB memory in use. Including "
                           "non-PyTorch memory, this process has 1024.00 MiB memory in use. "
                           "Process 18446744073709551615 has 1 bytes memory in use. Of the "));
    oom.process_count = 0;
    fl_oom_message(release("2.9.1"), &oom, text, sizeof text);
    assert_non_null(strstr(text, " is free. Of the allocated memory "));
}

static void a_device_is_a_number_but_for_2_3(void **state)
{
    (void)state;
    fl_oom_facts oom = {.device = 65, .limit = FL_UNLIMITED};
    char text[2048];
    fl_oom_message(release("2.0.1"), &oom, text, sizeof text);
    assert_non_null(strstr(text, "(GPU 65; "));
    fl_oom_message(release("2.3.1"), &oom, text, sizeof text);
    assert_non_null(strstr(text, "GPU A has"));
    fl_oom_message(release("2.4.1"), &oom, text, sizeof text);
    assert_non_null(strstr(text, "GPU 65 has"));
}

static void private_pools_make_the_unused_part_wrap_around(void **state)
{
    (void)state;
    const fl_oom_facts oom = {.allocated = 6 * FL_MIB,
                              .reserved = 10 * FL_MIB,
                              .private_free = 5 * FL_MIB,
                              .limit = FL_UNLIMITED};
    char text[2048];
    fl_oom_message(release("2.9.1"), &oom, text, sizeof text);
    assert_non_null(strstr(text, "Of the allocated memory 11.00 MiB is allocated by PyTorch, with "
                                 "5.00 MiB allocated in private pools (e.g., CUDA Graphs), and "
                                 "17179869184.00 GiB is reserved by PyTorch but unallocated."));
}

static void a_reserve_matters_only_if_the_segment_does_not_fit_into_it(void **state)
{
    (void)state;
    fl_oom_facts oom = {.total = FL_GIB,
                        .segment = 20 * FL_MIB,
                        .limit = FL_UNLIMITED,
                        .expandable = true,
                        .reserve = 20 * FL_MIB - 1,
                        .reserve_class = "decode"};
    char text[4096];
    fl_oom_message(release("2.15.0"), &oom, text, sizeof text);
    assert_non_null(
        strstr(text, " reserve of 20.00 MiB for stream reserve class 'decode', and a "));
    assert_null(strstr(text, "(VSZ)"));
    oom.reserve = 20 * FL_MIB;
    fl_oom_message(release("2.15.0"), &oom, text, sizeof text);
    assert_non_null(strstr(text, "(VSZ)"));
    assert_null(strstr(text, "decode"));
    oom.reserve = 1;
    oom.total = 20 * FL_MIB - 1;
    fl_oom_message(release("2.15.0"), &oom, text, sizeof text);
    assert_non_null(strstr(text, "(VSZ)"));
}

static void a_small_buffer_gets_the_beginning(void **state)
{
    (void)state;
    fl_oom_facts oom = {.limit = FL_UNLIMITED};
    char whole[2048], part[32];
    size_t length = fl_oom_message(release("2.9.1"), &oom, whole, sizeof whole);
    assert_int_equal(strlen(whole), length);
    assert_int_equal(fl_oom_message(release("2.9.1"), &oom, part, sizeof part), length);
    assert_int_equal(strlen(part), sizeof part - 1);
    assert_memory_equal(part, whole, sizeof part - 1);
    assert_int_equal(fl_oom_message(release("2.9.1"), &oom, NULL, 0), length);
}

static void sizes_change_their_unit_after_a_full_one(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes;
        const char *text;
    } rows[] = {
        {0, "0 bytes"},
        {1024, "1024 bytes"},
        {1025, "1.00 KiB"},
        {1536, "1.50 KiB"},
        {FL_MIB, "1024.00 KiB"},
        {FL_MIB + 1, "1.00 MiB"},
        {20 * FL_MIB, "20.00 MiB"},
        {FL_GIB, "1024.00 MiB"},
        {FL_GIB + 1, "1.00 GiB"},
        {UINT64_C(1) << 60, "1073741824.00 GiB"},
        {UINT64_MAX, "17179869184.00 GiB"},
        {1024 + 128, "1.12 KiB"}, /* .125 and .375: halves go to the even digit */
        {1024 + 384, "1.38 KiB"},
        {FL_MIB + FL_MIB / 8, "1.12 MiB"},
        {2 * FL_MIB - 1, "2.00 MiB"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[FL_FORMAT_SIZE];
        fl_format_size(rows[i].bytes, text);
        assert_string_equal(text, rows[i].text);
    }
}

static void sizes_round_as_printf_does(void **state)
{
    (void)state;
    setlocale(LC_ALL, "C");
    uint64_t seed = 0x2545f4914f6cdd1d;
    for (int i = 0; i < 200000; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        uint64_t bytes = seed >> (seed % 61);
        if (i % 4 == 0)
            bytes &= ~UINT64_C(0x7f); /* more ties */
        char text[FL_FORMAT_SIZE], expected[64];
        fl_format_size(bytes, text);
        double value = (double)bytes;
        if (bytes <= 1024)
            snprintf(expected, sizeof expected, "%u bytes", (unsigned)bytes);
        else if (bytes <= FL_MIB)
            snprintf(expected, sizeof expected, "%.2f KiB", value / 1024);
        else if (bytes <= FL_GIB)
            snprintf(expected, sizeof expected, "%.2f MiB", value / 1048576);
        else
            snprintf(expected, sizeof expected, "%.2f GiB", value / 1073741824);
        assert_string_equal(text, expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_release_says_what_its_binary_said),
        cmocka_unit_test(reserves_rejections_and_the_character_of_2_3_are_printed_in_full),
        cmocka_unit_test(processes_are_listed_in_their_order),
        cmocka_unit_test(a_device_is_a_number_but_for_2_3),
        cmocka_unit_test(private_pools_make_the_unused_part_wrap_around),
        cmocka_unit_test(a_reserve_matters_only_if_the_segment_does_not_fit_into_it),
        cmocka_unit_test(a_small_buffer_gets_the_beginning),
        cmocka_unit_test(sizes_change_their_unit_after_a_full_one),
        cmocka_unit_test(sizes_round_as_printf_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
