/* Who wrote a snapshot: each release added keys, so the keys that are there and those that are not
 * bound the release from both sides.  Between two releases that were seen, the bound is the wider
 * one. */
#include "reader/snapshot.h"

typedef struct release {
    uint32_t major, minor;
} release;

/* The releases that this reader was checked against. */
static const release oldest = {2, 0}, newest = {2, 15};

typedef enum evidence_place {
    IN_TOP,
    IN_SETTINGS,
    IN_ENTRIES,
    IN_SEGMENTS,
    IN_BLOCKS
} evidence_place;

typedef struct evidence_row {
    evidence_place place;
    uint8_t key;
    release with;    /* the first release that may write it */
    release without; /* the last one that may not */
} evidence_row;

static const evidence_row evidence_rows[] = {
    {IN_SEGMENTS, KEY_IS_EXPANDABLE, {2, 1}, {2, 0}},
    {IN_BLOCKS, KEY_ADDRESS, {2, 1}, {2, 0}},
    {IN_ENTRIES, KEY_TIME_US, {2, 2}, {2, 1}},
    {IN_TOP, KEY_ALLOCATOR_SETTINGS, {2, 3}, {2, 2}},
    {IN_TOP, KEY_EXTERNAL_ANNOTATIONS, {2, 5}, {2, 4}},
    {IN_ENTRIES, KEY_COMPILE_CONTEXT, {2, 8}, {2, 8}},
    {IN_SETTINGS, KEY_GRAPH_CAPTURE_RECORD_STREAM_REUSE, {2, 9}, {2, 8}},
    {IN_ENTRIES, KEY_USER_METADATA, {2, 10}, {2, 9}},
    {IN_ENTRIES, KEY_POOL_ID, {2, 12}, {2, 12}},
    {IN_SETTINGS, KEY_MAX_ROUND_THRESHOLD, {2, 13}, {2, 12}},
    {IN_TOP, KEY_HOST_SEGMENTS, {2, 14}, {2, 14}},
    {IN_ENTRIES, KEY_INTERNAL_METADATA, {2, 14}, {2, 15}},
};

static bool is_below(release a, release b)
{
    return a.major != b.major ? a.major < b.major : a.minor < b.minor;
}

/* `MAJOR.MINOR` of a text; false where it is none. */
static bool read_release(const fl_closing *closing, uint8_t key, release *ret_release)
{
    const fl_record *record = closing->record;
    if ((record->has >> key & 1) == 0 || record->values[key].tag != FL_TAG_TEXT)
        return false;
    size_t length;
    const char *text = fl_pickle_text(closing->pickle, &record->values[key], &length);
    uint32_t numbers[2] = {0};
    size_t part = 0;
    for (size_t i = 0; i < length && length < 8; i++) {
        if (text[i] == '.' && part == 0 && i > 0)
            part = 1;
        else if (text[i] >= '0' && text[i] <= '9')
            numbers[part] = numbers[part] * 10 + (uint32_t)(text[i] - '0');
        else
            return false;
    }
    *ret_release = (release){numbers[0], numbers[1]};
    return part == 1;
}

fl_status fl_snapshot_own(void *user, fl_closing *closing, fl_error *error)
{
    snapshot_reader *reader = user;
    const fl_record *record = closing->record;
    release first, last;
    fl_snapshot_take_world(reader, record);
    if ((record->has >> KEY_RELEASE & 1) != 0 && record->values[KEY_RELEASE].tag == FL_TAG_TEXT) {
        size_t length;
        const char *text = fl_pickle_text(closing->pickle, &record->values[KEY_RELEASE], &length);
        reader->tells_release = true;
        return fl_trace_intern_text(reader->trace, text, length, &reader->trace->release, error);
    }
    if ((record->has & (UINT64_C(1) << KEY_FIRST_RELEASE | UINT64_C(1) << KEY_LAST_RELEASE)) == 0) {
        reader->tells_release = true; /* that nothing tells it */
        return FL_OK;
    }
    if (!read_release(closing, KEY_FIRST_RELEASE, &first) ||
        !read_release(closing, KEY_LAST_RELEASE, &last) || is_below(last, first))
        return fl_fail(error, FL_ERR_INPUT,
                       "expected 'release', or 'first_release' and 'last_release' behind it");
    reader->tells_release = true;
    reader->trace->releases =
        (fl_release_range){first.major, first.minor, last.major, last.minor, true};
    return FL_OK;
}

fl_status fl_snapshot_judge_release(const snapshot_reader *reader, fl_error *error)
{
    if (reader->tells_release)
        return FL_OK;
    const uint64_t keys[] = {
        [IN_TOP] = reader->top_keys,       [IN_SETTINGS] = reader->settings_keys,
        [IN_ENTRIES] = reader->entry_keys, [IN_SEGMENTS] = reader->segment_keys,
        [IN_BLOCKS] = reader->block_keys,
    };
    /* What is missing tells something only where all of it was read. */
    const bool is_read[] = {
        [IN_TOP] = reader->is_whole && !reader->is_list, [IN_SETTINGS] = reader->has_settings,
        [IN_ENTRIES] = reader->entry_count > 0,          [IN_SEGMENTS] = reader->segment_keys != 0,
        [IN_BLOCKS] = reader->block_keys != 0,
    };
    release first = oldest, last = newest;
    for (size_t i = 0; i < sizeof evidence_rows / sizeof *evidence_rows; i++) {
        const evidence_row *row = &evidence_rows[i];
        bool is_there = (keys[row->place] >> row->key & 1) != 0;
        if (is_there && is_below(first, row->with))
            first = row->with;
        if (!is_there && is_read[row->place] && is_below(row->without, last))
            last = row->without;
    }
    if (reader->has_annotate)
        first = newest;
    if (is_below(last, first))
        return fl_trace_warn(reader->trace, error,
                             "the keys of this file belong to no single release");
    reader->trace->releases =
        (fl_release_range){first.major, first.minor, last.major, last.minor, true};
    return FL_OK;
}
