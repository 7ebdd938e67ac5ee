#include "failing_host.h"
#include "recording.h"
#include "test.h"

#include <fraglab/read.h>
#include <fraglab/verify.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static fl_verdict verdict_by(fl_trace *trace, const fl_profile *profile)
{
    fl_verdict verdict;
    fl_error error = {0};
    if (fl_verify(trace, 0, profile, NULL, &verdict, &error) != FL_OK)
        fail_msg("%s", error.text);
    for (size_t i = 0; i < FL_DECISION_COUNT; i++) {
        const fl_tally *tally = &verdict.decisions[i];
        assert_int_equal(tally->checked, tally->equal + tally->excused + tally->different);
    }
    return verdict;
}

static fl_verdict verdict_of(fl_trace *trace)
{
    return verdict_by(trace, NULL);
}

static void assert_all_equal(fl_trace *trace, const fl_profile *profile, const char *name)
{
    fl_verdict verdict = verdict_by(trace, profile);
    const fl_difference *first = &verdict.first_difference;
    if (verdict.has_difference)
        fail_msg("%s: event %llu: expected %s, got %s: %s", name, (unsigned long long)first->event,
                 first->expected, first->got, first->because);
    for (size_t i = 0; i < FL_DECISION_COUNT; i++) {
        assert_int_equal(verdict.decisions[i].different, 0);
        assert_int_equal(verdict.decisions[i].excused, 0);
    }
    assert_true(verdict.is_complete);
    assert_int_equal(verdict.profile_count, 1);
}

/* ---- equal ----------------------------------------------------------------------------------- */

static void every_decision_of_genuine_snapshots_is_equal(void **state)
{
    (void)state;
    static const char *const paths[] = {
        "traces/default.pickle",
        "traces/events.pickle",
        "traces/expandable.pickle",
        "traces/expandpress.pickle",
        "traces/gpt.pickle.gz",
        "traces/gpt_oom.pickle.gz",
        "traces/pressure.pickle",
        "traces/split128.pickle",
        "traces/streams.pickle",
        "tests/data/snapshots/conv.pickle",
        "tests/data/snapshots/train.pickle",
        "tests/data/snapshots/fmt.proto2.pickle",
        "tests/data/snapshots/fmt.proto3.pickle",
        "tests/data/snapshots/fmt.proto5.pickle",
        "tests/data/snapshots/fmt.pickle.gz",
    };
    const fl_profile *writer;
    bool is_exact;
    assert_int_equal(fl_profile_find("2.9.1", &writer, &is_exact, NULL), FL_OK);
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        fl_trace *trace = NULL;
        fl_error error = {0};
        fl_status status = fl_read_file(paths[i], NULL, &trace, &error);
        if (status == FL_ERR_UNAVAILABLE)
            continue; /* built without gzip */
        if (status != FL_OK)
            fail_msg("%s", error.text);
        assert_all_equal(trace, writer, paths[i]);
        fl_trace_free(trace);
    }
}

static void assert_recording_equal(const char *name, const char *script, size_t size)
{
    recording run;
    recording_make(&run, name, script, size);
    assert_all_equal(run.trace, NULL, name);
    recording_free(&run);
}

static char *read_whole(const char *path, size_t *ret_size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    char *text = malloc(1 << 20);
    assert_non_null(text);
    *ret_size = fread(text, 1, 1 << 20, file);
    fclose(file);
    return text;
}

static void recordings_of_the_conformance_scripts_are_equal(void **state)
{
    (void)state;
    static const char *const families[] = {
        "tiny",       "mixed",        "ties",     "streams",     "events",     "pressure",
        "split",      "fraction",     "expand",   "expandpress", "train",      "expandsplit",
        "trainsplit", "expandevents", "trainexp", "manystreams", "eventspress"};
    for (size_t i = 0; i < COUNT_OF(families) * 3; i++) {
        char path[128];
        snprintf(path, sizeof path, "tests/data/conformance/scripts/%s-%d.txt", families[i / 3],
                 (int)(i % 3) + 1);
        size_t size = 0;
        char *script = read_whole(path, &size);
        if (script == NULL)
            fail_msg("cannot read %s", path);
        assert_recording_equal(path, script, size);
        free(script);
    }
}

/* ---- random programs ------------------------------------------------------------------------- */

struct program {
    uint64_t random;
    char text[1 << 16];
    size_t used;
    unsigned ids, live[4096];
    size_t live_count;
};

static uint64_t draw(struct program *program, uint64_t below)
{
    program->random = program->random * 6364136223846793005u + 1442695040888963407u;
    return (program->random >> 33) % below;
}

static void write_op(struct program *program, const char *format, ...) FL_PRINTF(2, 3);

static void write_op(struct program *program, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    program->used += (size_t)vsnprintf(program->text + program->used,
                                       sizeof program->text - program->used, format, args);
    va_end(args);
    assert_true(program->used < sizeof program->text);
}

static void write_request(struct program *program)
{
    static const uint64_t sizes[] = {2000, 1 << 20, 3 << 20, 12 << 20, 40 << 20, 150 << 20};
    uint64_t size = 1 + draw(program, sizes[draw(program, COUNT_OF(sizes))]);
    if (draw(program, 4) == 0)
        size = (size + (2 << 20) - 1) >> 21 << 21;
    write_op(program, "a %u %llu %d\n", ++program->ids, (unsigned long long)size,
             (int)draw(program, 3) * 64);
    program->live[program->live_count++] = program->ids;
}

static void write_free(struct program *program)
{
    size_t at = draw(program, program->live_count);
    write_op(program, "f %u\n", program->live[at]);
    program->live[at] = program->live[--program->live_count];
}

static void write_program(struct program *program, uint64_t seed)
{
    static const char *const settings[] = {"", "expandable_segments:True", "max_split_size_mb:32",
                                           "expandable_segments:True,max_split_size_mb:64"};
    *program = (struct program){.random = seed * 77 + 5};
    write_op(program, "# cap=%lluMiB conf=%s\n", 200 + (unsigned long long)draw(program, 900),
             settings[seed % COUNT_OF(settings)]);
    for (int i = 0; i < 400; i++) {
        uint64_t what = draw(program, 100);
        if (what < 2)
            write_op(program, "e\n");
        else if (what < 7)
            write_op(program, draw(program, 3) == 0 ? "c\n" : "p\n");
        else if (what < 17 && program->live_count > 0)
            write_op(program, "r %u %d\n", program->live[draw(program, program->live_count)],
                     (int)draw(program, 3) * 64);
        else if (what < 55 || program->live_count == 0)
            write_request(program);
        else
            write_free(program);
    }
}

static void recordings_of_random_programs_are_equal(void **state)
{
    (void)state;
    static struct program program;
    for (uint64_t seed = 0; seed < 120; seed++) {
        char name[32];
        snprintf(name, sizeof name, "random program %d", (int)seed);
        write_program(&program, seed);
        assert_recording_equal(name, program.text, program.used);
    }
}

/* ---- different ------------------------------------------------------------------------------- */

/* Every kind of event: segments of both pools, streams, completions, refusals, empty_cache. */
static const char rich[] = "# cap=60MiB conf=\n"
                           "a 1 20MiB\na 2 1\na 3 5MiB 64\nr 1 64\np\nf 1\na 4 600\na 5 30MiB\n"
                           "f 2\na 6 100MiB\nf 5\nf 4\ne\na 7 2MiB 64\nc\na 8 1MiB\na 9 700\n";

static fl_columns *record_rich(recording *run, const char *script)
{
    recording_make(run, "rich", script, strlen(script));
    return &run->trace->devices.items[0].columns;
}

static uint64_t next_op(const fl_columns *columns, uint64_t event)
{
    while (event < columns->count && columns->kind[event] >= FL_EVENT_OUTCOMES)
        event++;
    return event;
}

static void assert_differs_between(fl_trace *trace, uint64_t first, uint64_t last)
{
    fl_verdict verdict = verdict_of(trace);
    assert_true(verdict.has_difference);
    assert_int_equal(verdict.profile_count, 0);
    assert_in_range(verdict.first_difference.event, first, last);
    assert_true(verdict.first_difference.expected[0] != '\0');
    assert_true(verdict.first_difference.got[0] != '\0');
    assert_true(verdict.first_difference.because[0] != '\0');
}

static bool has_address(uint8_t kind)
{
    return kind == FL_OP_ALLOC || fl_kind_is_segment(kind);
}

static void a_wrong_address_is_found_at_its_event(void **state)
{
    (void)state;
    recording run;
    const fl_columns *columns = record_rich(&run, rich);
    for (uint64_t i = 0; i < columns->count; i++) {
        if (!has_address(columns->kind[i]) || (columns->flags[i] & FL_EVENT_OOM))
            continue;
        columns->address[i] += 512;
        assert_differs_between(run.trace, i, next_op(columns, i));
        columns->address[i] -= 512;
    }
    assert_all_equal(run.trace, NULL, "put right again");
    recording_free(&run);
}

static void a_wrong_segment_size_is_found_at_its_event(void **state)
{
    (void)state;
    recording run;
    const fl_columns *columns = record_rich(&run, rich);
    for (uint64_t i = 0; i < columns->count; i++) {
        if (!fl_kind_is_segment(columns->kind[i]))
            continue;
        columns->size[i] += 2 << 20;
        assert_differs_between(run.trace, i, next_op(columns, i));
        columns->size[i] -= 2 << 20;
    }
    recording_free(&run);
}

/* A release that is missing shows at the latest when the replay, which still has the segment, gives
 * it back. */
static void a_missing_segment_event_is_found_there_or_later(void **state)
{
    (void)state;
    recording run;
    const fl_columns *columns = record_rich(&run, rich);
    for (uint64_t i = 0; i < columns->count; i++) {
        if (!fl_kind_is_segment(columns->kind[i]))
            continue;
        uint8_t kind = columns->kind[i];
        bool is_taken = kind == FL_EVENT_SEGMENT_ALLOC;
        columns->kind[i] = FL_EVENT_OTHER;
        assert_differs_between(run.trace, i, is_taken ? next_op(columns, i) : columns->count);
        columns->kind[i] = kind;
    }
    recording_free(&run);
}

static void a_wrong_stream_is_found_at_its_event(void **state)
{
    (void)state;
    recording run;
    const fl_columns *columns = record_rich(&run, rich);
    for (uint64_t i = 0; i < columns->count; i++) {
        if (!fl_kind_is_segment(columns->kind[i]))
            continue;
        columns->stream[i] ^= 1;
        assert_differs_between(run.trace, i, next_op(columns, i));
        columns->stream[i] ^= 1;
    }
    recording_free(&run);
}

static void refused_or_not_is_found_at_its_event(void **state)
{
    (void)state;
    recording run;
    const fl_columns *columns = record_rich(&run, rich);
    for (uint64_t i = 0; i < columns->count; i++) {
        if (columns->kind[i] != FL_OP_ALLOC)
            continue;
        columns->flags[i] ^= FL_EVENT_OOM;
        assert_differs_between(run.trace, i > 0 ? i - 1 : 0, i);
        columns->flags[i] ^= FL_EVENT_OOM;
    }
    recording_free(&run);
}

static void swap_events(const fl_columns *columns, uint64_t a, uint64_t b)
{
    uint64_t address = columns->address[a], size = columns->size[a];
    uint16_t stream = columns->stream[a];
    columns->address[a] = columns->address[b];
    columns->size[a] = columns->size[b];
    columns->stream[a] = columns->stream[b];
    columns->address[b] = address;
    columns->size[b] = size;
    columns->stream[b] = stream;
}

static void a_wrong_order_is_found_at_the_first_of_the_two(void **state)
{
    (void)state;
    static const char script[] = "# cap=1GiB conf=\n"
                                 "a 1 20MiB\na 2 40MiB\na 3 1\nf 1\nf 2\nf 3\ne\n";
    recording run;
    const fl_columns *columns = record_rich(&run, script);
    uint64_t first = columns->count - 3;
    swap_events(columns, first, first + 1);
    assert_differs_between(run.trace, first, first);
    swap_events(columns, first, first + 1);
    assert_all_equal(run.trace, NULL, "put right again");
    recording_free(&run);
}

static void a_completion_at_another_place_is_found(void **state)
{
    (void)state;
    static const char script[] = "# cap=1GiB conf=\n"
                                 "a 1 5MiB\na 2 5MiB\nr 1 64\np\nf 1\na 3 5MiB\nc\na 4 5MiB\n";
    recording run;
    const fl_columns *columns = record_rich(&run, script);
    /* ... free+ alloc free- alloc: now it completes ahead of the first of them */
    uint64_t at = columns->count - 3;
    assert_int_equal(columns->kind[at], FL_OP_ALLOC);
    assert_int_equal(columns->kind[at + 1], FL_OP_FREE_DONE);
    uint32_t id = columns->id[at];
    swap_events(columns, at, at + 1);
    columns->kind[at] = FL_OP_FREE_DONE;
    columns->kind[at + 1] = FL_OP_ALLOC;
    columns->id[at] = columns->id[at + 1];
    columns->id[at + 1] = id;
    assert_differs_between(run.trace, at + 1, at + 1);
    recording_free(&run);
}

static void a_wrong_final_state_is_found_after_the_last_event(void **state)
{
    (void)state;
    recording run;
    uint64_t end = record_rich(&run, rich)->count;
    fl_trace_device *device = &run.trace->devices.items[0];
    assert_true(device->segments.count > 1 && device->blocks.count > 3);
    device->segments.items[0].size += 512;
    assert_differs_between(run.trace, end, end);
    device->segments.items[0].size -= 512;
    device->segments.items[1].is_small ^= true;
    assert_differs_between(run.trace, end, end);
    device->segments.items[1].is_small ^= true;
    for (size_t i = 0; i < device->blocks.count; i++) {
        fl_block_view *block = &device->blocks.items[i], kept = *block;
        block->size -= 512;
        assert_differs_between(run.trace, end, end);
        *block = kept;
        block->state = block->state == FL_BLOCK_FREE ? FL_BLOCK_LIVE : FL_BLOCK_FREE;
        assert_differs_between(run.trace, end, end);
        *block = kept;
        block->requested++;
        if (block->state == FL_BLOCK_FREE)
            assert_all_equal(run.trace, NULL, "what a free block was used for is stale");
        else
            assert_differs_between(run.trace, end, end);
        *block = kept;
    }
    device->blocks.count--;
    assert_differs_between(run.trace, end, end);
    device->blocks.count++;
    recording_free(&run);
}

/* ---- harm ------------------------------------------------------------------------------------ */

/* One thing of one event becomes something else: another event's, or nonsense. */
static void spoil(struct program *dice, const fl_trace *trace)
{
    static const uint8_t kinds[] = {FL_OP_ALLOC,
                                    FL_OP_FREE,
                                    FL_OP_FREE_DONE,
                                    FL_OP_TRIM,
                                    FL_EVENT_SEGMENT_ALLOC,
                                    FL_EVENT_SEGMENT_FREE,
                                    FL_EVENT_SEGMENT_MAP,
                                    FL_EVENT_SEGMENT_UNMAP,
                                    FL_EVENT_OTHER};
    static const uint64_t nonsense[] = {
        0, 1, 511, 1 << 21, UINT64_C(1) << 47, UINT64_MAX - 511, UINT64_MAX};
    const fl_columns *columns = fl_trace_columns(trace, 0);
    uint64_t event = draw(dice, columns->count), other = draw(dice, columns->count);
    uint64_t number = nonsense[draw(dice, COUNT_OF(nonsense))];
    switch (draw(dice, 7)) {
    case 0:
        columns->kind[event] = kinds[draw(dice, COUNT_OF(kinds))];
        break;
    case 1:
        columns->id[event] = columns->id[other];
        break;
    case 2:
        columns->address[event] = columns->address[other];
        break;
    case 3:
        columns->address[event] = number;
        break;
    case 4:
        columns->size[event] = columns->size[other];
        break;
    case 5:
        columns->size[event] = number;
        break;
    default:
        columns->flags[event] ^= FL_EVENT_OOM;
        break;
    }
}

static void no_history_does_harm_however_spoilt(void **state)
{
    (void)state;
    static struct program program;
    for (uint64_t seed = 0; seed < 300; seed++) {
        recording run;
        write_program(&program, seed % 40);
        recording_make(&run, "spoilt", program.text, program.used);
        program.random = seed;
        for (uint64_t i = draw(&program, 4); i <= 4; i++)
            spoil(&program, run.trace);
        fl_verdict verdict;
        fl_error error = {0};
        fl_status status = fl_verify(run.trace, 0, NULL, NULL, &verdict, &error);
        assert_true(status == FL_OK ? error.status == FL_OK : error.text[0] != '\0');
        assert_int_not_equal(status, FL_ERR_INTERNAL);
        recording_free(&run);
    }
}

static void other_settings_do_not_explain_a_history(void **state)
{
    (void)state;
    static const char script[] = "# cap=1GiB conf=max_split_size_mb:32\n"
                                 "a 1 60MiB\na 2 1\nf 1\na 3 1\na 4 5MiB\n";
    recording run;
    record_rich(&run, script);
    assert_all_equal(run.trace, NULL, "its own settings");
    run.trace->conf = FL_NONE;
    assert_differs_between(run.trace, 7, 7);
    recording_free(&run);
}

/* ---- the rest of the verdict ----------------------------------------------------------------- */

static void a_verdict_counts_what_was_inferred_and_why_memory_came_back(void **state)
{
    (void)state;
    static const char script[] = "# cap=130MiB conf=max_split_size_mb:32\n"
                                 "a 1 40MiB\na 2 60MiB\na 3 22MiB\nf 1\nf 2\na 4 90MiB\n"
                                 "r 3 64\np\nf 3\na 5 1\ne\nf 4\nf 5\ne\n";
    recording run;
    record_rich(&run, script);
    fl_verdict verdict = verdict_of(run.trace);
    assert_false(verdict.has_difference);
    assert_int_equal(verdict.inferred.trims, 2);
    assert_int_equal(verdict.inferred.completions, 1);
    assert_int_equal(verdict.releases_by_cause[FL_CAUSE_RELEASE_AVAILABLE], 2);
    assert_int_equal(verdict.releases_by_cause[FL_CAUSE_TRIM], 3);
    assert_string_equal(fl_profile_release(verdict.profiles[0]),
                        fl_profile_release(fl_profile_newest()));
    recording_free(&run);
}

static void without_a_final_state_there_is_none_to_compare(void **state)
{
    (void)state;
    recording run;
    record_rich(&run, rich);
    run.trace->devices.items[0].has_final_state = false;
    fl_verdict verdict = verdict_of(run.trace);
    assert_false(verdict.has_difference);
    assert_int_equal(verdict.decisions[FL_DECISION_FINAL_STATE].checked, 0);
    recording_free(&run);
}

static void a_script_has_nothing_to_verify(void **state)
{
    (void)state;
    fl_trace *trace = NULL;
    assert_int_equal(fl_read_memory("a 1 1\n", 6, "s", NULL, &trace, NULL), FL_OK);
    fl_verdict verdict;
    fl_error error = {0};
    assert_int_equal(fl_verify(trace, 0, NULL, NULL, &verdict, &error), FL_ERR_USAGE);
    assert_string_equal(error.text, "s: a script records no decisions to compare with");
    fl_trace_free(trace);
}

static void settings_that_the_release_refuses_are_said(void **state)
{
    (void)state;
    recording run;
    record_rich(&run, rich);
    fl_trace_intern_text(run.trace, "max_split_size_mb:1", 19, &run.trace->conf, NULL);
    fl_verdict verdict;
    fl_error error = {0};
    assert_int_equal(fl_verify(run.trace, 0, NULL, NULL, &verdict, &error), FL_ERR_INPUT);
    assert_string_equal(error.text, "rich: PyTorch 2.15.0: CachingAllocator option "
                                    "max_split_size_mb too small, must be >= 20");
    recording_free(&run);
}

static void a_free_of_another_size_than_was_asked_for_is_different(void **state)
{
    (void)state;
    recording run;
    const fl_columns *columns = record_rich(&run, rich);
    for (uint64_t i = 0; i < columns->count; i++) {
        if (columns->kind[i] != FL_OP_FREE && columns->kind[i] != FL_OP_FREE_DONE)
            continue;
        columns->size[i]++;
        fl_verdict verdict = verdict_of(run.trace);
        assert_true(verdict.has_difference);
        assert_int_equal(verdict.first_difference.event, i);
        assert_non_null(strstr(verdict.first_difference.because, "were asked for"));
        assert_int_equal(verdict.decisions[FL_DECISION_ADDRESS].different, 1);
        columns->size[i]--;
    }
    assert_all_equal(run.trace, NULL, "rich");
    recording_free(&run);
}

static fl_status verify_on(const fl_host *host, void *user, fl_error *error)
{
    fl_verdict verdict;
    return fl_verify(user, 0, NULL, host, &verdict, error);
}

static void every_failure_of_the_host_ends_the_verification(void **state)
{
    (void)state;
    recording run;
    record_rich(&run, rich);
    assert_true(failing_host_sweep(verify_on, run.trace) > 10);
    recording_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_decision_of_genuine_snapshots_is_equal),
        cmocka_unit_test(recordings_of_the_conformance_scripts_are_equal),
        cmocka_unit_test(recordings_of_random_programs_are_equal),
        cmocka_unit_test(a_wrong_address_is_found_at_its_event),
        cmocka_unit_test(a_wrong_segment_size_is_found_at_its_event),
        cmocka_unit_test(a_missing_segment_event_is_found_there_or_later),
        cmocka_unit_test(a_wrong_stream_is_found_at_its_event),
        cmocka_unit_test(refused_or_not_is_found_at_its_event),
        cmocka_unit_test(a_wrong_order_is_found_at_the_first_of_the_two),
        cmocka_unit_test(a_completion_at_another_place_is_found),
        cmocka_unit_test(a_wrong_final_state_is_found_after_the_last_event),
        cmocka_unit_test(no_history_does_harm_however_spoilt),
        cmocka_unit_test(other_settings_do_not_explain_a_history),
        cmocka_unit_test(a_verdict_counts_what_was_inferred_and_why_memory_came_back),
        cmocka_unit_test(without_a_final_state_there_is_none_to_compare),
        cmocka_unit_test(a_script_has_nothing_to_verify),
        cmocka_unit_test(settings_that_the_release_refuses_are_said),
        cmocka_unit_test(a_free_of_another_size_than_was_asked_for_is_different),
        cmocka_unit_test(every_failure_of_the_host_ends_the_verification),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
