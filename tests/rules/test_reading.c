#include "rules/reading.h"

#include <fraglab/stats.h>

#include "base/units.h"
#include "rules/profile.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static fl_clean *clean;

/* Reads the first message of a text; false where there is none. */
static bool read(const char *text, size_t length, fl_message *message)
{
    size_t end;
    fl_clean_start(clean, text, length);
    for (size_t at = 0; fl_clean_at(clean, at) >= 0; at++)
        if (fl_message_may_begin(clean, at) && fl_message_take(clean, at, message, &end))
            return true;
    return false;
}

static uint64_t next(uint64_t *seed, uint64_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*seed >> 20) % below;
}

static void draw_facts(uint64_t *seed, fl_oom_facts *oom)
{
    static fl_process processes[3];
    *oom = (fl_oom_facts){.device = (unsigned)next(seed, 8),
                          .total = FL_GIB + next(seed, 80 * FL_GIB)};
    oom->free = next(seed, oom->total);
    oom->reserved = next(seed, oom->total);
    oom->allocated = next(seed, oom->reserved + 1);
    oom->private_free = next(seed, 2) ? (oom->reserved - oom->allocated) / 2 : 0;
    oom->segment = 2 * FL_MIB * (1 + next(seed, 10000));
    oom->limit = next(seed, 2) ? next(seed, oom->total) : FL_UNLIMITED;
    oom->expandable = next(seed, 2);
    oom->reserve = next(seed, 2) ? next(seed, oom->total) : FL_UNLIMITED;
    oom->processes = processes;
    oom->process_count = (size_t)next(seed, 4);
    for (size_t i = 0; i < oom->process_count; i++)
        processes[i] = (fl_process){1 + next(seed, 99999), next(seed, oom->total), i == 1};
}

static void expect(const fl_message *message, fl_figure figure, uint64_t truth, const char *text)
{
    const fl_number *number = &message->figures[figure];
    if (number->is_given && (truth < number->low || truth > number->high))
        fail_msg("%s is %llu, not %llu, in:\n%s", fl_figure_key(figure),
                 (unsigned long long)number->bytes, (unsigned long long)truth, text);
    if (!number->is_given)
        fail_msg("%s is not read in:\n%s", fl_figure_key(figure), text);
}

static void check_message(const fl_profile *profile, const fl_oom_facts *oom, const char *text,
                          size_t length)
{
    fl_message message;
    if (!read(text, length, &message))
        fail_msg("no message in:\n%s", text);
    unsigned release = 100 * profile->major + profile->minor;
    uint64_t counted = profile->minor >= 4 ? oom->private_free : 0;
    if (message.first > release || message.last < release)
        fail_msg("%s is not in %u to %u for:\n%s", profile->release, message.first, message.last,
                 text);
    expect(&message, FL_FIGURE_REQUESTED, oom->segment, text);
    expect(&message, FL_FIGURE_TOTAL, oom->total, text);
    expect(&message, FL_FIGURE_FREE, oom->free, text);
    expect(&message, FL_FIGURE_ALLOCATED, oom->allocated + counted, text);
    expect(&message, FL_FIGURE_RESERVED, oom->reserved, text);
    expect(&message, FL_FIGURE_UNALLOCATED, oom->reserved - oom->allocated - counted, text);
    bool has_limit = oom->limit != FL_UNLIMITED && (profile->minor == 0 || profile->minor >= 5);
    assert_int_equal(message.figures[FL_FIGURE_ALLOWED].is_given, has_limit);
    assert_true(message.has_device);
    assert_int_equal(message.device, oom->device);
    if (profile->minor > 0)
        assert_int_equal(message.process_count, oom->process_count - (oom->process_count > 1));
}

/* Breaks lines like a terminal: at blanks (or anywhere), with `lead` in front of each. */
static size_t wrap(const char *text, size_t length, size_t width, bool at_blanks, const char *lead,
                   char *ret)
{
    size_t to = 0, column = 0;
    for (size_t i = 0; i < length; i++) {
        size_t word = at_blanks ? strcspn(text + i, " ") : 0;
        bool breaks =
            at_blanks ? i > 0 && text[i - 1] == ' ' && column + word > width : column == width;
        if (breaks) {
            ret[to++] = '\n';
            to += (size_t)sprintf(ret + to, "%s", lead);
            column = 0;
        }
        ret[to++] = text[i];
        column++;
    }
    ret[to] = '\0';
    return to;
}

static void what_any_release_writes_is_read(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int i = 0; i < 400; i++) {
        const fl_profile *profile;
        for (size_t k = 0; (profile = fl_profile_at(k)) != NULL; k++) {
            fl_oom_facts oom;
            char text[4096];
            draw_facts(&seed, &oom);
            size_t length = fl_oom_message(profile, &oom, text, sizeof text);
            check_message(profile, &oom, text, length);
        }
    }
}

static void lines_may_be_broken_anywhere(void **state)
{
    (void)state;
    static const char *const leads[] = {
        "", "# ", "> ", "[rank3]: ", "app-1  | ", "2024-05-01 12:13:14,567 - INFO: "};
    uint64_t seed = 5;
    for (size_t width = 20; width < 140; width++) {
        const fl_profile *profile = fl_profile_at(width % 17);
        fl_oom_facts oom;
        char text[4096], wrapped[16384];
        draw_facts(&seed, &oom);
        if (profile->minor == 3) /* whose number of a device is lost where lines break */
            continue;
        size_t length = fl_oom_message(profile, &oom, text, sizeof text);
        for (size_t i = 0; i < COUNT_OF(leads); i++)
            check_message(profile, &oom, wrapped,
                          wrap(text, length, width, true, leads[i], wrapped));
        check_message(profile, &oom, wrapped, wrap(text, length, width, false, "", wrapped));
    }
}

static void a_message_may_be_cut_off_anywhere(void **state)
{
    (void)state;
    const char *text = "CUDA out of memory. Tried to allocate 1.70 GiB. GPU 0 has a total capacity "
                       "of 6.00 GiB of which 0 bytes is free. Of the allocated memory 2.93 GiB is "
                       "allocated by PyTorch, and 2.30 GiB is reserved by PyTorch but unallocated.";
    fl_message message;
    for (size_t length = strlen("CUDA out of memory. Tried to allocate 1.70 GiB"); text[length];
         length++) {
        assert_true(read(text, length, &message));
        expect(&message, FL_FIGURE_REQUESTED, UINT64_C(1825361101), text);
    }
    assert_false(read(text, strlen("CUDA out of memory. Tried to allocate 1.70"), &message));
}

static void older_and_other_wordings_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text, *layout;
        fl_figure figure;
        uint64_t bytes;
    } rows[] = {
        {"CUDA out of memory. Tried to allocate 4.00 MiB (GPU 1; 8.00 GiB total capacity; 1.00 GiB "
         "already allocated; 2.00 MiB free; 512.00 MiB cached)",
         "pt-cached", FL_FIGURE_RESERVED, FL_GIB + 512 * FL_MIB},
        {"CUDA out of memory. Tried to allocate 4.00 MiB (GPU 1; 8.00 GiB total capacity; 1.00 GiB "
         "already allocated; 2.00 MiB free; 3.00 GiB allowed; 2.00 GiB reserved in total by "
         "PyTorch)",
         "pt-reserved", FL_FIGURE_ALLOWED, 3 * FL_GIB},
        {"Tried to allocate 4.00 MiB (GPU 1; 8.00 GiB total capacity; 1.00 GiB already allocated)",
         "pt-cached", FL_FIGURE_TOTAL, 8 * FL_GIB},
        {"HIP out of memory. Tried to allocate 4.00 MiB. GPU 0 has a total capacity of 8.00 GiB of "
         "which 1.00 GiB is free. Of the allocated memory 5.00 GiB is allocated by PyTorch, and "
         "1.00 GiB is reserved by PyTorch but unallocated.",
         "pt-2.2+", FL_FIGURE_UNALLOCATED, FL_GIB},
        {"NPU out of memory. Tried to allocate 4.00 MiB (NPU 0; 8.00 GiB total capacity; 1.00 GiB "
         "already allocated; 1.00 GiB current active; 2.00 MiB free; 2.00 GiB reserved in total by "
         "PyTorch).If reserved memory is >> allocated memory try setting max_split_size_mb",
         "npu", FL_FIGURE_RESERVED, 2 * FL_GIB},
        {"MPS backend out of memory (MPS allocated: 5.00 GB, other allocations: 1.00 GB, max "
         "allowed: 6.00 GB). Tried to allocate 768.00 MB on private pool.",
         "mps", FL_FIGURE_REQUESTED, 768 * FL_MIB},
        {"Allocation on device 0 would exceed allowed memory. (out of memory)\nCurrently allocated "
         "    : 6.00 GiB\nRequested               : 320.00 MiB\nDevice limit            : 23.00 "
         "GiB\nFree (according to CUDA): 2.94 MiB",
         "cudaMallocAsync", FL_FIGURE_TOTAL, 23 * FL_GIB},
        {"RESOURCE_EXHAUSTED: Out of memory while trying to allocate 285212672 bytes.", "jax",
         FL_FIGURE_REQUESTED, 285212672},
        {"W tensorflow/core/common_runtime/bfc_allocator.cc:462] Allocator (GPU_0_bfc) ran out of "
         "memory trying to allocate 4.50MiB (rounded to 4718592)requested by op AddV2",
         "tensorflow", FL_FIGURE_REQUESTED, 4718592},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        fl_message message;
        assert_true(read(rows[i].text, strlen(rows[i].text), &message));
        assert_string_equal(message.layout, rows[i].layout);
        expect(&message, rows[i].figure, rows[i].bytes, rows[i].text);
    }
}

static void a_memory_summary_is_read(void **state)
{
    (void)state;
    char text[8192];
    fl_stats stats = {.ooms = 2, .alloc_retries = 3};
    stats.stat[FL_STAT_ALLOCATED_BYTES][FL_STAT_ALL] = (fl_stat){5 * FL_GIB, 6 * FL_GIB, 0, 0};
    stats.stat[FL_STAT_RESERVED_BYTES][FL_STAT_ALL] = (fl_stat){7 * FL_GIB, 8 * FL_GIB, 0, 0};
    stats.stat[FL_STAT_INACTIVE_SPLIT_BYTES][FL_STAT_ALL] = (fl_stat){2 * FL_GIB, 0, 0, 0};
    size_t length = fl_stats_summary(&stats, 1, text, sizeof text);
    fl_message message;
    assert_true(read(text, length, &message));
    assert_string_equal(message.layout, "pt-memory-summary");
    assert_int_equal(message.device, 1);
    assert_int_equal(message.ooms, 2);
    assert_int_equal(message.retries, 3);
    expect(&message, FL_FIGURE_ALLOCATED, 5 * FL_GIB, text);
    expect(&message, FL_FIGURE_PEAK_RESERVED, 8 * FL_GIB, text);
    expect(&message, FL_FIGURE_STUCK, 2 * FL_GIB, text);
}

static void prose_is_no_message(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "If you see CUDA out of memory, reduce the batch size and try again.",
        "The kernel tried to allocate 12 GiB. That failed.",
        "Out of memory: Killed process 4711 (python) total-vm:81234kB",
        "the fox is out of memory. Tried to allocate 2.00 MiB.",
        "except torch.cuda.OutOfMemoryError: pass  # out of memory",
        "GPU memory allocated: 12.5 GiB, reserved: 14.0 GiB",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        fl_message message;
        if (read(texts[i], strlen(texts[i]), &message))
            fail_msg("'%s' is read as %s", texts[i], message.layout);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_any_release_writes_is_read),
        cmocka_unit_test(lines_may_be_broken_anywhere),
        cmocka_unit_test(a_message_may_be_cut_off_anywhere),
        cmocka_unit_test(older_and_other_wordings_are_read),
        cmocka_unit_test(a_memory_summary_is_read),
        cmocka_unit_test(prose_is_no_message),
    };
    clean = malloc(sizeof *clean);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(clean);
    return failed;
}
