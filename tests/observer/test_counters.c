#include "observer/observer.h"

#include "base/memory.h"
#include "test.h"

#include <fraglab/read.h>
#include <fraglab/verify.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An observer at work, and its record as CSV. */
struct bench {
    const fl_observer_ops *ops;
    struct fl_observer_state *state;
    char text[8192];
    size_t used;
};

static void bench_open(struct bench *bench)
{
    *bench = (struct bench){.ops = fl_observer_find("counters")};
    assert_non_null(bench->ops);
    bench->state = fl_new(fl_host_default(), bench->ops->state_size, NULL);
    assert_int_equal(
        bench->ops->open(bench->state, &(fl_observer_env){.host = fl_host_default()}, NULL), FL_OK);
}

static bool keep_text(void *user, const char *data, size_t size)
{
    struct bench *bench = user;
    if (bench->used + size >= sizeof bench->text)
        return false;
    memcpy(bench->text + bench->used, data, size);
    bench->used += size;
    bench->text[bench->used] = '\0';
    return true;
}

static void bench_emit(struct bench *bench)
{
    fl_emit *emit;
    fl_emit_options options = {.host = fl_host_default(), .write = keep_text, .user = bench};
    assert_int_equal(fl_emit_open(fl_emit_find("csv"), &options, &emit, NULL), FL_OK);
    bench->ops->emit(bench->state, emit);
    assert_int_equal(fl_emit_finish(emit, NULL), FL_OK);
    fl_emit_close(emit);
}

static void bench_close(struct bench *bench)
{
    bench->ops->close(bench->state);
    fl_delete(fl_host_default(), bench->state, bench->ops->state_size);
}

static void show(struct bench *bench, const fl_change *changes, size_t count)
{
    fl_op op = {0};
    fl_result result = {0};
    fl_view view = {.op = &op, .result = &result, .changes = changes, .change_count = count};
    assert_int_equal(bench->ops->view(bench->state, &view, NULL), FL_OK);
}

static void assert_row(const struct bench *bench, const char *row)
{
    char line[256];
    snprintf(line, sizeof line, "%s\r\n", row);
    if (strstr(bench->text, line) == NULL) {
        snprintf(line, sizeof line, "%s\n", row);
        if (strstr(bench->text, line) == NULL)
            fail_msg("no row '%s' in:\n%s", row, bench->text);
    }
}

static void each_change_moves_its_counters_in_its_pool(void **state)
{
    (void)state;
    const fl_change changes[] = {
        {.kind = FL_CHANGE_ACQUIRE, .flags = FL_CHANGE_SMALL, .size = 2000},
        {.kind = FL_CHANGE_PLACE, .flags = FL_CHANGE_SMALL, .size = 512, .requested = 100},
        {.kind = FL_CHANGE_MAP, .size = 9000, .requested = 3000},
        {.kind = FL_CHANGE_PLACE, .size = 1024, .requested = 1000},
        {.kind = FL_CHANGE_FREE_ASKED, .size = 1024, .requested = 1000},
        {.kind = FL_CHANGE_UNMAP, .size = 3000, .requested = 3000},
    };
    struct bench bench;
    bench_open(&bench);
    show(&bench, changes, 2);
    show(&bench, changes + 2, COUNT_OF(changes) - 2);
    bench_emit(&bench);
    assert_row(&bench, "name,pool,current,peak,allocated,freed");
    assert_row(&bench, "allocation,all,1,2,2,1");
    assert_row(&bench, "allocation,large_pool,0,1,1,1");
    assert_row(&bench, "segment,all,1,1,1,0");
    assert_row(&bench, "active,all,2,2,2,0");
    assert_row(&bench, "allocated_bytes,all,512,1536,1536,1024");
    assert_row(&bench, "reserved_bytes,all,8000,11000,11000,3000");
    assert_row(&bench, "reserved_bytes,small_pool,2000,2000,2000,0");
    assert_row(&bench, "active_bytes,large_pool,1024,1024,1024,0");
    assert_row(&bench, "requested_bytes,all,1100,1100,1100,0");
    bench_close(&bench);
}

static void a_completed_free_ends_what_was_active(void **state)
{
    (void)state;
    const fl_change changes[] = {
        {.kind = FL_CHANGE_PLACE, .size = 512, .requested = 100},
        {.kind = FL_CHANGE_FREE_ASKED, .size = 512, .requested = 100},
        {.kind = FL_CHANGE_FREE_DONE, .size = 512, .requested = 100},
        {.kind = FL_CHANGE_RELEASE, .size = 0},
        {.kind = FL_CHANGE_NO_SEGMENT, .size = 77},
    };
    struct bench bench;
    bench_open(&bench);
    show(&bench, changes, COUNT_OF(changes));
    bench_emit(&bench);
    assert_row(&bench, "active,all,0,1,1,1");
    assert_row(&bench, "active_bytes,all,0,512,512,512");
    assert_row(&bench, "requested_bytes,all,0,100,100,100");
    assert_row(&bench, "reserved_bytes,all,0,0,0,0");
    bench_close(&bench);
}

/* ---- what PyTorch said of itself ------------------------------------------------------------- */

static char *read_whole(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("cannot open %s", path);
    char *text = calloc(1, 1 << 16);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
    fclose(file);
    return text;
}

/* The number behind `"KEY": ` in the file. */
static unsigned long long stated(const char *json, const char *key)
{
    char quoted[96];
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    const char *at = strstr(json, quoted);
    if (at == NULL)
        fail_msg("no %s", key);
    return strtoull(at + strlen(quoted), NULL, 10);
}

/* Every row of the record against the number that PyTorch gives it. */
static void compare_rows(const char *name, const char *csv, const char *json)
{
    static const char *const parts[] = {"current", "peak", "allocated", "freed"};
    size_t rows = 0;
    for (const char *line = strchr(csv, '\n') + 1; *line != '\0'; line = strchr(line, '\n') + 1) {
        char statistic[32], pool[16], key[80];
        unsigned long long counted[4];
        assert_int_equal(sscanf(line, "%31[^,],%15[^,],%llu,%llu,%llu,%llu", statistic, pool,
                                &counted[0], &counted[1], &counted[2], &counted[3]),
                         6);
        for (size_t i = 0; i < COUNT_OF(parts); i++) {
            snprintf(key, sizeof key, "%s.%s.%s", statistic, pool, parts[i]);
            if (stated(json, key) != counted[i])
                fail_msg("%s: %s: PyTorch says %llu, counted %llu", name, key, stated(json, key),
                         counted[i]);
        }
        rows++;
    }
    assert_int_equal(rows, 21);
}

static fl_status watch(void *user, const fl_view *view, fl_error *error)
{
    struct bench *bench = user;
    return bench->ops->view(bench->state, view, error);
}

/* Replays a snapshot on a card of the size that PyTorch was told. */
static fl_status observe(struct bench *bench, fl_trace *trace, uint64_t capacity, fl_error *error)
{
    fl_replay_options options = {
        .conf = fl_trace_conf(trace),
        .fraction = -1,
        .capacity_bytes = capacity,
        .on_oom = FL_ON_OOM_SKIP,
        .watch = watch,
        .user = bench,
    };
    fl_replay *replay = NULL;
    fl_status status = fl_rebuild(trace, 0, NULL, error);
    if (status == FL_OK)
        status = fl_replay_open(trace, &options, &replay, error);
    if (status == FL_OK)
        status = fl_replay_run(replay, error);
    fl_replay_close(replay);
    return status;
}

static void compare_with_pytorch(const char *snapshot, const char *stats, uint64_t capacity)
{
    fl_trace *trace = NULL;
    fl_error error = {0};
    fl_status status = fl_read_file(snapshot, NULL, &trace, &error);
    if (status == FL_ERR_UNAVAILABLE)
        return; /* built without gzip */
    struct bench bench;
    bench_open(&bench);
    if (status == FL_OK)
        status = observe(&bench, trace, capacity, &error);
    if (status != FL_OK)
        fail_msg("%s", error.text);
    bench_emit(&bench);
    char *json = read_whole(stats);
    compare_rows(snapshot, bench.text, json);
    free(json);
    bench_close(&bench);
    fl_trace_free(trace);
}

static void counters_of_a_replay_are_what_pytorch_said_of_itself(void **state)
{
    (void)state;
    static const struct {
        const char *snapshot, *stats;
        uint64_t card; /* less what the context takes */
    } rows[] = {
        {"traces/default.pickle", "default", UINT64_C(80) << 30},
        {"traces/events.pickle", "events", UINT64_C(80) << 30},
        {"traces/expandable.pickle", "expandable", UINT64_C(80) << 30},
        {"traces/expandpress.pickle", "expandpress", UINT64_C(3) << 30},
        {"traces/gpt.pickle.gz", "gpt", UINT64_C(80) << 30},
        {"traces/gpt_oom.pickle.gz", "gpt_oom", UINT64_C(3) << 30},
        {"traces/pressure.pickle", "pressure", UINT64_C(3) << 30},
        {"traces/split128.pickle", "split128", UINT64_C(6) << 30},
        {"traces/streams.pickle", "streams", UINT64_C(80) << 30},
        {"tests/data/snapshots/conv.pickle", "conv", UINT64_C(80) << 30},
        {"tests/data/snapshots/train.pickle", "train", UINT64_C(40) << 30},
        {"tests/data/snapshots/fmt.proto2.pickle", "fmt", UINT64_C(80) << 30},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char stats[128];
        snprintf(stats, sizeof stats, "tests/data/snapshots/%s.stats.json", rows[i].stats);
        compare_with_pytorch(rows[i].snapshot, stats, rows[i].card - (UINT64_C(450) << 20));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_change_moves_its_counters_in_its_pool),
        cmocka_unit_test(a_completed_free_ends_what_was_active),
        cmocka_unit_test(counters_of_a_replay_are_what_pytorch_said_of_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
