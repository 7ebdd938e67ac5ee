/* The state before a cut window, as rebuilt from the rest, beside the true one.
 *
 * Each pair was recorded in one run at equal addresses: NAME.pickle through a ring that lost its
 * start, NAME.start.pickle as it was where that window begins.  Without arguments the pairs in
 * tests/data/rings; with a folder, all FOLDER/RELEASE/ring_*. */
#include "rebuild/start.h"

#include "test.h"

#include <fraglab/read.h>
#include <fraglab/verify.h>

#include <glob.h>
#include <stdio.h>
#include <string.h>

/* Tails that nothing in the window reveals: there the block is larger in truth. */
static const struct {
    const char *name;
    uint64_t bytes;
} known_tails[] = {
    {"default", 59392},
    {"events", 478208},
};

static const char *folder; /* NULL: the shipped ones */

static fl_trace *read_or_skip(const char *path)
{
    fl_trace *trace = NULL;
    fl_error error = {0};
    fl_status status = fl_read_file(path, NULL, &trace, &error);
    if (status != FL_OK && status != FL_ERR_UNAVAILABLE) /* built without gzip */
        fail_msg("%s", error.text);
    return trace;
}

static void assert_same_runs(const char *path, const fl_trace *trace, const fl_trace_start *start,
                             const fl_trace *truth)
{
    size_t count;
    const fl_segment_view *true_runs = fl_trace_final_segments(truth, 0, &count);
    if (start->segments.count != count)
        fail_msg("%s: %zu runs, in truth %zu", path, start->segments.count, count);
    const fl_names *names = fl_trace_names(trace), *true_names = fl_trace_names(truth);
    for (size_t i = 0; i < count; i++) {
        const fl_segment_view *run = &start->segments.items[i], *is = &true_runs[i];
        if (run->address != is->address || run->size != is->size || run->is_small != is->is_small ||
            run->is_expandable != is->is_expandable ||
            names->streams[run->stream] != true_names->streams[is->stream])
            fail_msg("%s: the run at 0x%llx is another in truth", path,
                     (unsigned long long)run->address);
    }
}

/* The tail that a live block has in truth, where the rebuilt one has none. */
static uint64_t missing_tail(const fl_block_view *block, const fl_block_view *is)
{
    bool is_alike = block->address == is->address && block->state == is->state &&
                    block->requested == is->requested;
    return is_alike && is->size > block->size ? is->size - block->size : 0;
}

/* Bytes of tails that were not found. */
static uint64_t compare_blocks(const char *path, const fl_trace_start *start, const fl_trace *truth)
{
    size_t count;
    uint64_t tails = 0, tail = 0;
    const fl_block_view *blocks = fl_trace_final_blocks(truth, 0, &count);
    assert_int_equal(start->blocks.count, count);
    for (size_t i = 0; i < count; i++) {
        const fl_block_view *block = &start->blocks.items[i];
        fl_block_view is = blocks[i];
        is.address -= tail; /* what is free begins behind the tail */
        is.size += tail;
        tail = block->state == FL_BLOCK_FREE ? 0 : missing_tail(block, &is);
        tails += tail;
        is.size -= tail;
        if (block->address != is.address || block->size != is.size || block->state != is.state ||
            (block->state != FL_BLOCK_FREE && block->requested != is.requested))
            fail_msg("%s: the block at 0x%llx of %llu bytes is one at 0x%llx of %llu in truth",
                     path, (unsigned long long)block->address, (unsigned long long)block->size,
                     (unsigned long long)is.address, (unsigned long long)is.size);
    }
    return tails;
}

static uint64_t known_tail(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(known_tails); i++)
        if (strcmp(known_tails[i].name, name) == 0)
            return known_tails[i].bytes;
    return 0;
}

static void assert_start(const char *release, const char *name, const char *cut_path,
                         const char *true_path)
{
    fl_trace *trace = read_or_skip(cut_path), *truth = read_or_skip(true_path);
    const fl_profile *profile;
    bool is_exact;
    fl_error error = {0};
    if (trace != NULL && truth != NULL) {
        assert_int_equal(fl_profile_find(release, &profile, &is_exact, NULL), FL_OK);
        if (fl_rebuild(trace, 0, profile, &error) != FL_OK)
            fail_msg("%s", error.text);
        const fl_trace_start *start = &trace->devices.items[0].start;
        assert_true(start->is_placed);
        assert_same_runs(cut_path, trace, start, truth);
        uint64_t tails = compare_blocks(cut_path, start, truth);
        if (tails != known_tail(name))
            fail_msg("%s: tails of %llu bytes are not found", cut_path, (unsigned long long)tails);
        assert_true(tails == 0 || start->open_tails > 0);
    }
    fl_trace_free(trace);
    fl_trace_free(truth);
}

/* From `.../RELEASE?PREFIXname.start.pickle*`. */
static void compare_pair(const char *true_path, const char *separator)
{
    char cut_path[512], release[16], name[64];
    const char *base = strrchr(true_path, '/');
    const char *begin = strcmp(separator, "-") == 0 ? base + 1 : base;
    while (strcmp(separator, "-") != 0 && begin[-1] != '/')
        begin--;
    const char *end = strstr(begin, separator);
    const char *dot = strstr(true_path, ".start.");
    assert_non_null(end);
    const char *word = end + strlen(separator);
    snprintf(release, sizeof release, "%.*s", (int)(end - begin), begin);
    snprintf(name, sizeof name, "%.*s", (int)(dot - word), word);
    snprintf(cut_path, sizeof cut_path, "%.*s%s", (int)(dot - true_path), true_path,
             dot + strlen(".start"));
    assert_start(release, name, cut_path, true_path);
}

static void every_rebuilt_start_is_the_true_one(void **state)
{
    (void)state;
    char pattern[512];
    glob_t found = {0};
    snprintf(pattern, sizeof pattern, "%s",
             folder == NULL ? "tests/data/rings/*.start.pickle.gz" : folder);
    if (folder != NULL)
        snprintf(pattern, sizeof pattern, "%s/*/ring_*.start.pickle", folder);
    if (glob(pattern, 0, NULL, &found) != 0)
        fail_msg("%s: there are none", pattern);
    for (size_t i = 0; i < found.gl_pathc; i++)
        compare_pair(found.gl_pathv[i], folder == NULL ? "-" : "/ring_");
    globfree(&found);
}

int main(int argc, char **argv)
{
    folder = argc > 1 ? argv[1] : NULL;
    if (folder != NULL && *folder == '\0') {
        puts(
            "no folder of genuine snapshots was given: meson configure -Dgenuine_snapshots=FOLDER");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rebuilt_start_is_the_true_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
