#include "heap_builder.h"

#include "failing_host.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

/* ---- the limit by era (13, 22.12) ------------------------------------------------------------ */

static void the_limit_is_truncated_and_from_2_13_on_rounded(void **state)
{
    (void)state;
    /* Half of the card is half a byte less than 20 MiB. */
    heap_conf conf = {.capacity = MIB(100), .total = MIB(40) - 1, .fraction = 0.5};
    static const struct {
        const char *release, *changes;
    } eras[] = {{"2.0.1", "O 1"},
                {"2.9.1", "O 1"},
                {"2.12.1", "O 1"},
                {"2.13.0", "+ 0 20MiB; A 1 0:0 20MiB"},
                {"2.15.0", "+ 0 20MiB; A 1 0:0 20MiB"}};
    for (size_t i = 0; i < COUNT_OF(eras); i++) {
        conf.release = eras[i].release;
        heap *h = heap_open(conf);
        heap_shows(h, "a 1 20MiB", eras[i].changes);
        heap_close(h);
    }
}

/* A card as large as 64 bits can say rounds up to 2^64 as a real number. */
static void a_fraction_of_the_largest_card_does_not_overflow(void **state)
{
    (void)state;
    heap_conf conf = {.release = "2.9.1", .capacity = UINT64_MAX - 1, .fraction = 1};
    heap *h = heap_open(conf);
    heap_shows(h, "a 1 2MiB", "+ 0 20MiB; A 1 0:0 2MiB");
    heap_close(h);
}

static void a_fraction_of_1_is_a_limit_up_to_2_9(void **state)
{
    (void)state;
    /* A card that grants more than it says. */
    heap_conf conf = {.release = "2.9.1", .capacity = MIB(100), .total = MIB(40), .fraction = 1};
    heap *h = heap_open(conf);
    heap_shows(h, "a 1 42MiB; F 0.5; a 2 22MiB; F 1; a 3 40MiB",
               "O 1; O 2; + 0 40MiB; A 3 0:0 40MiB");
    heap_close(h);
    conf.release = "2.10.0";
    h = heap_open(conf);
    heap_shows(h, "a 1 42MiB; F 0.5; a 2 22MiB; F 1; a 3 42MiB",
               "+ 0 42MiB; A 1 0:0 42MiB; O 2; + 1 42MiB; A 3 1:0 42MiB");
    heap_close(h);
}

static void the_setting_is_read_at_the_start_and_the_call_wins(void **state)
{
    (void)state;
    heap_conf conf = {.release = "2.10.0", .capacity = MIB(80), .process_fraction = 0.25};
    heap *h = heap_open(conf);
    heap_shows(h, "a 1 22MiB", "O 1");
    heap_does(h, "C per_process_memory_fraction:0.5");
    heap_shows(h, "a 1 22MiB", "O 1");
    heap_shows(h, "F 0.5; a 1 22MiB", "+ 0 22MiB; A 1 0:0 22MiB");
    heap_close(h);
    conf.fraction = 0.75;
    h = heap_open(conf);
    heap_shows(h, "a 1 60MiB; a 2 1", "+ 0 60MiB; A 1 0:0 60MiB; O 2");
    heap_close(h);
}

static void fractions_without_sense_are_usage_errors(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.capacity = MIB(80)});
    fl_error error = {0};
    assert_int_equal(heap_try(h, "F 1.5", &error), FL_ERR_USAGE);
    assert_string_equal(error.text, "a memory fraction lies between 0 and 1, got 1.5");
    heap_close(h);
    h = NULL;
    error = (fl_error){0};
    assert_int_equal(heap_try_open((heap_conf){.fraction = 0.5}, fl_host_default(), &h, &error),
                     FL_ERR_USAGE);
    assert_null(h);
    assert_string_equal(error.text, "a memory fraction needs the size of the card");
}

/* ---- ops that ask for nothing ---------------------------------------------------------------- */

static void frees_and_uses_of_what_is_not_live_are_ignored(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.capacity = MIB(20)});
    heap_shows(h, "f 1; d 2; r 3 16; a 4 30MiB; f 4; a 5 1; f 5; f 5; d 5",
               "! 30MiB; ! 30MiB; O 4; + 0 2MiB; A 5 0:0 512; F 5");
    heap_close(h);
}

static void marks_and_memory_outside_change_no_block(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.capacity = MIB(40)});
    heap_shows(h, "a 1 20MiB; f 1; m; o 10MiB", "+ 0 20MiB; A 1 0:0 20MiB; F 1");
    heap_shows(h, "a 2 12MiB 16", "! 12MiB; - 0 20MiB all; + 1 12MiB stream 16; A 2 1:0 12MiB");
    heap_close(h);
}

static void settings_change_at_run_time(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.capacity = MIB(400)});
    heap_does(h, "a 1 70MiB; f 1; C max_split_size_mb:64");
    assert_int_equal(heap_stats(h)->max_split_bytes, FL_UNLIMITED); /* as it was at the start */
    heap_shows(h, "a 2 30MiB", "+ 1 30MiB; A 2 1:0 30MiB");
    heap_shows(h, "C expandable_segments:True; a 3 30MiB", "A 3 0:0 30MiB");
    fl_error error = {0};
    assert_int_equal(heap_try(h, "C max_split_size_mb:1", &error), FL_ERR_USAGE);
    heap_close(h);
}

/* ---- properties: random scripts -------------------------------------------------------------- */

enum { SCRIPT_OPS = 160, SEEDS = 3, POOLS = 3, LINE_SIZE = 64 };

static const struct variant {
    const char *name;
    heap_conf conf;
} variants[] = {
    {"default", {.capacity = MIB(300)}},
    {"split", {.capacity = MIB(300), .split = MIB(30)}},
    {"expandable", {.capacity = MIB(300), .expandable = true}},
    {"expandable split", {.capacity = MIB(300), .expandable = true, .split = MIB(30)}},
    {"collecting", {.capacity = MIB(300), .collect = 0.5, .fraction = 0.7}},
    {"expandable collecting",
     {.capacity = MIB(300), .expandable = true, .collect = 0.4, .fraction = 0.9}},
    {"roundup", {.capacity = MIB(300), .divisions = 4}},
    {"one division", {.capacity = MIB(300), .divisions = 1}},
};

struct random_script {
    uint64_t noise;
    char lines[SCRIPT_OPS * 2 + 64][LINE_SIZE];
    size_t count;
    uint32_t ids; /* given out so far */
    bool open[POOLS + 1];
    int openings[POOLS + 1];
};

static uint64_t draw(struct random_script *script, uint64_t below)
{
    script->noise ^= script->noise << 13;
    script->noise ^= script->noise >> 7;
    script->noise ^= script->noise << 17;
    return (script->noise >> 11) % below;
}

static void add_line(struct random_script *script, const char *format, ...) FL_PRINTF(2, 3);
static void add_line(struct random_script *script, const char *format, ...)
{
    assert_true(script->count < COUNT_OF(script->lines));
    va_list args;
    va_start(args, format);
    vsnprintf(script->lines[script->count++], LINE_SIZE, format, args);
    va_end(args);
}

static uint64_t draw_size(struct random_script *script)
{
    static const uint64_t most[] = {4 * FL_KIB, FL_MIB, MIB(2), MIB(11), MIB(40), MIB(90)};
    uint64_t size = 1 + draw(script, most[draw(script, COUNT_OF(most))]);
    return draw(script, 3) == 0 ? fl_round_up(size, FL_MIB) : size;
}

static uint64_t draw_stream(struct random_script *script)
{
    static const uint64_t streams[] = {0, 0, 0, 16, 64, 128};
    return streams[draw(script, COUNT_OF(streams))];
}

static void draw_scope(struct random_script *script)
{
    uint64_t pool = 1 + draw(script, POOLS);
    if (script->open[pool]) {
        add_line(script, "q %u", (unsigned)pool);
    } else {
        add_line(script, "b %u", (unsigned)pool);
        script->openings[pool]++;
    }
    script->open[pool] = !script->open[pool];
}

/* What the op is about, by its share of 100. */
static void draw_op(struct random_script *script, bool with_pools)
{
    uint64_t kind = draw(script, 100);
    unsigned id = script->ids > 0 ? (unsigned)draw(script, script->ids) : 0;
    if (kind < 46)
        add_line(script, "a %u %llu %u", script->ids++, (unsigned long long)draw_size(script),
                 (unsigned)draw_stream(script));
    else if (kind < 84)
        add_line(script, "f %u%s", id, draw(script, 12) == 0 ? " held" : "");
    else if (kind < 90)
        add_line(script, "r %u %u", id, (unsigned)draw_stream(script));
    else if (kind < 93)
        add_line(script, draw(script, 2) == 0 ? "p" : "c");
    else if (kind < 95)
        add_line(script, "e");
    else if (kind < 97)
        add_line(script, "d %u", id);
    else if (with_pools)
        draw_scope(script);
}

static void draw_script(struct random_script *script, uint64_t seed, bool with_pools)
{
    *script = (struct random_script){.noise = seed * 0x9E3779B97F4A7C15u + 1};
    for (size_t i = 0; i < SCRIPT_OPS; i++)
        draw_op(script, with_pools);
}

/* Everything is let go of: scopes, blocks, events, pools. */
static void end_script(struct random_script *script)
{
    for (unsigned pool = 1; pool <= POOLS; pool++)
        if (script->open[pool])
            add_line(script, "q %u", pool);
    add_line(script, "c");
    for (uint32_t id = 0; id < script->ids; id++)
        add_line(script, "f %u", id);
    for (unsigned pool = 1; pool <= POOLS; pool++)
        for (int i = 0; i < script->openings[pool]; i++)
            add_line(script, "x %u", pool);
    add_line(script, "e");
}

/* Private pools of expandable segments are left out of what must end empty: their count is not a
 * true one (11.5). */
typedef void (*property)(const char *what, heap *h, struct random_script *script);

static void for_all_scripts(property holds)
{
    static struct random_script script;
    for (size_t release = 0; fl_profile_at(release) != NULL; release++) {
        for (size_t i = 0; i < COUNT_OF(variants); i++) {
            for (uint64_t seed = 1; seed <= SEEDS; seed++) {
                heap_conf conf = variants[i].conf;
                char what[96];
                conf.release = fl_profile_release(fl_profile_at(release));
                conf.note = what;
                snprintf(what, sizeof what, " %s seed %u", variants[i].name, (unsigned)seed);
                draw_script(&script, seed, !conf.expandable);
                heap *h = heap_open(conf);
                holds(what, h, &script);
                heap_drop(h);
            }
        }
    }
}

static void ends_with_nothing(const char *what, heap *h, struct random_script *script)
{
    end_script(script);
    for (size_t i = 0; i < script->count; i++)
        heap_does(h, script->lines[i]);
    const fl_stats *stats = heap_stats(h);
    static const fl_stat_kind kinds[] = {FL_STAT_RESERVED_BYTES, FL_STAT_ALLOCATION,
                                         FL_STAT_ACTIVE_BYTES,   FL_STAT_REQUESTED_BYTES,
                                         FL_STAT_INACTIVE_SPLIT, FL_STAT_INACTIVE_SPLIT_BYTES,
                                         FL_STAT_SEGMENT};
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (stats->stat[kinds[i]][FL_STAT_ALL].current != 0)
            fail_msg("%s: %s is left", what, fl_stat_name(kinds[i]));
    assert_int_equal(heap_device(h)->used_bytes, 0);
    assert_string_equal(heap_does(h, "s"), "");
}

static void everything_freed_and_trimmed_leaves_nothing(void **state)
{
    (void)state;
    for_all_scripts(ends_with_nothing);
}

static uint64_t device_calls(const heap *h)
{
    const fl_device_info *info = heap_device(h);
    uint64_t sum = info->refusals;
    for (size_t call = 0; call < FL_CALL_COUNT; call++)
        for (size_t size = 0; size < 64; size++)
            sum += info->calls[call][size];
    return sum;
}

static void is_foretold(const char *what, heap *h, struct random_script *script)
{
    for (size_t i = 0; i < script->count; i++) {
        const char *line = script->lines[i];
        unsigned long long id, size, stream;
        if (sscanf(line, "a %llu %llu %llu", &id, &size, &stream) != 3) {
            heap_does(h, line);
            continue;
        }
        uint64_t calls = device_calls(h);
        fl_probe probe = heap_probe(h, size, stream);
        const char *shown = heap_does(h, line), *last = strrchr(shown, ';');
        bool served =
            strncmp(last != NULL ? last + 2 : shown, "A ", 2) == 0 && device_calls(h) == calls;
        if (served != probe.usable || (served && probe.largest_usable_bytes < size))
            fail_msg("%s %s: line %zu, '%s': foretold %d, then '%s'", heap_conf_of(h)->release,
                     what, i, line, probe.usable, heap_text(h));
    }
}

static void a_probe_foretells_whether_a_request_needs_the_device(void **state)
{
    (void)state;
    for_all_scripts(is_foretold);
}

static void is_the_same_twice(const char *what, heap *h, struct random_script *script)
{
    heap *again = heap_open(*heap_conf_of(h));
    for (size_t i = 0; i < script->count; i++) {
        heap_does(again, script->lines[i]);
        if (strcmp(heap_does(h, script->lines[i]), heap_text(again)) != 0)
            fail_msg("%s: '%s' differs", what, script->lines[i]);
    }
    heap_drop(again);
}

static void the_same_script_gives_the_same_changes(void **state)
{
    (void)state;
    for_all_scripts(is_the_same_twice);
}

/* Pools of expandable segments too: nothing is promised but to go on. */
static void nothing_breaks_where_the_released_allocators_do(void **state)
{
    (void)state;
    static struct random_script script;
    for (size_t release = 0; fl_profile_at(release) != NULL; release++) {
        for (uint64_t seed = 1; seed <= 4 * SEEDS; seed++) {
            heap *h = heap_open((heap_conf){.release = fl_profile_release(fl_profile_at(release)),
                                            .capacity = MIB(300),
                                            .expandable = seed % 2 == 0,
                                            .split = seed % 3 == 0 ? MIB(30) : 0});
            draw_script(&script, seed, true);
            end_script(&script);
            for (size_t i = 0; i < script.count; i++) {
                if (i % 40 == 39)
                    heap_does(h, i % 80 == 39 ? "expandable on; x 1; x 2" : "expandable off; x 3");
                heap_does(h, script.lines[i]);
            }
            heap_drop(h);
        }
    }
}

/* ---- a host without memory ------------------------------------------------------------------- */

struct failing_run {
    heap_conf conf;
    const struct random_script *script;
};

static fl_status run_on(const fl_host *host, void *user, fl_error *error)
{
    const struct failing_run *run = user;
    heap *h;
    fl_status status = heap_try_open(run->conf, host, &h, error);
    if (status != FL_OK)
        return status;
    for (size_t i = 0; i < run->script->count && status == FL_OK; i++)
        status = heap_try(h, run->script->lines[i], error);
    if (status == FL_OK)
        status = heap_try(h, "s", error);
    heap_drop(h);
    return status;
}

static void a_host_without_memory_is_an_error_and_leaves_nothing(void **state)
{
    (void)state;
    static struct random_script script;
    static const char *const releases[] = {"2.3.1", "2.9.1", "2.12.1", "2.15.0"};
    for (size_t release = 0; release < COUNT_OF(releases); release++) {
        for (size_t i = 0; i < COUNT_OF(variants); i += 2) {
            struct failing_run run = {.conf = variants[i].conf, .script = &script};
            run.conf.release = releases[release];
            draw_script(&script, 100 + i, true);
            end_script(&script);
            assert_true(failing_host_sweep(run_on, &run) > 20);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_limit_is_truncated_and_from_2_13_on_rounded),
        cmocka_unit_test(a_fraction_of_the_largest_card_does_not_overflow),
        cmocka_unit_test(a_fraction_of_1_is_a_limit_up_to_2_9),
        cmocka_unit_test(the_setting_is_read_at_the_start_and_the_call_wins),
        cmocka_unit_test(fractions_without_sense_are_usage_errors),
        cmocka_unit_test(frees_and_uses_of_what_is_not_live_are_ignored),
        cmocka_unit_test(marks_and_memory_outside_change_no_block),
        cmocka_unit_test(settings_change_at_run_time),
        cmocka_unit_test(everything_freed_and_trimmed_leaves_nothing),
        cmocka_unit_test(a_probe_foretells_whether_a_request_needs_the_device),
        cmocka_unit_test(the_same_script_gives_the_same_changes),
        cmocka_unit_test(nothing_breaks_where_the_released_allocators_do),
        cmocka_unit_test(a_host_without_memory_is_an_error_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
