/* The dictionaries of a snapshot, each made into its part of the trace as it is completed.
 *
 * The final state comes before the events in the file, so its blocks wait for their allocation
 * numbers until all events are read.  A table of the addresses that are live finds the allocation
 * behind each free; its size follows what is live, not what was ever allocated.  Counted, not
 * kept: annotations and host memory.  Left out: compile contexts and user metadata. */
#include "reader/snapshot.h"

#include <stdio.h>

/* Fields. */

static const fl_value *field(const fl_record *record, uint8_t key)
{
    return (record->has >> key & 1) != 0 ? &record->values[key] : NULL;
}

static fl_status field_wrong(const fl_value *value, uint8_t key, const char *expected,
                             fl_error *error)
{
    if (value == NULL)
        return fl_fail(error, FL_ERR_INPUT, "expected '%s' among the keys", fl_snapshot_words[key]);
    return fl_fail(error, FL_ERR_INPUT, "'%s' is %s, expected %s", fl_snapshot_words[key],
                   fl_value_text(value), expected);
}

/* A number from 0 on. */
static fl_status field_count(const fl_record *record, uint8_t key, uint64_t *ret, fl_error *error)
{
    const fl_value *value = field(record, key);
    bool fits = value != NULL && (value->tag == FL_TAG_UINT ||
                                  (value->tag == FL_TAG_INT && (int64_t)value->bits >= 0));
    if (!fits)
        return field_wrong(value, key, "a number from 0 to 2^64 - 1", error);
    *ret = value->bits;
    return FL_OK;
}

/* A stream is a pointer; writers differ in whether it is signed. */
static fl_status field_stream(snapshot_reader *reader, const fl_record *record,
                              uint32_t *ret_stream, fl_error *error)
{
    const fl_value *value = field(record, KEY_STREAM);
    if (value == NULL || (value->tag != FL_TAG_INT && value->tag != FL_TAG_UINT))
        return field_wrong(value, KEY_STREAM, "a number", error);
    if (reader->has_stream && value->bits == reader->last_stream) {
        *ret_stream = reader->last_stream_number;
        return FL_OK;
    }
    fl_status status = fl_trace_intern_stream(reader->trace, value->bits, ret_stream, error);
    reader->has_stream = status == FL_OK;
    reader->last_stream = value->bits;
    reader->last_stream_number = *ret_stream;
    return status;
}

/* FL_NONE where the file does not tell. */
static fl_status field_pool(snapshot_reader *reader, fl_pickle *pickle, const fl_record *record,
                            uint8_t key, uint32_t *ret_pool, fl_error *error)
{
    const fl_value *value = field(record, key);
    *ret_pool = FL_NONE;
    if (value == NULL)
        return FL_OK;
    if (value->tag != FL_TAG_PAIR)
        return field_wrong(value, key, "a pair of numbers", error);
    fl_pool_name name;
    fl_pickle_pair(pickle, value, &name.first, &name.second);
    return fl_trace_intern_pool(reader->trace, name, ret_pool, error);
}

static fl_status field_word(const fl_record *record, uint8_t key, uint8_t *ret_word,
                            fl_error *error)
{
    const fl_value *value = field(record, key);
    if (value == NULL || value->tag != FL_TAG_TEXT)
        return field_wrong(value, key, "a text", error);
    *ret_word = value->word;
    return FL_OK;
}

static uint32_t field_stack(const fl_record *record)
{
    const fl_value *value = field(record, KEY_FRAMES);
    return value != NULL && value->tag == FL_TAG_ITEM ? value->number : FL_NONE;
}

/* The trace's number for a text. */
static fl_status text_number(snapshot_reader *reader, fl_pickle *pickle, const fl_value *text,
                             uint32_t *ret_text, fl_error *error)
{
    uint32_t *number = fl_pickle_text_number(pickle, text);
    if (*number == FL_NONE) {
        size_t length;
        const char *bytes = fl_pickle_text(pickle, text, &length);
        fl_status status = fl_trace_intern_text(reader->trace, bytes, length, number, error);
        if (status != FL_OK)
            return status;
    }
    *ret_text = *number;
    return FL_OK;
}

/* Stacks. */

fl_status fl_snapshot_frame(void *user, fl_closing *closing, fl_error *error)
{
    snapshot_reader *reader = user;
    const fl_record *record = closing->record;
    fl_frame_row row;
    uint64_t line = 0;
    const fl_value *name = field(record, KEY_NAME), *file = field(record, KEY_FILENAME);
    if (name == NULL || name->tag != FL_TAG_TEXT)
        return field_wrong(name, KEY_NAME, "a text", error);
    if (file == NULL || file->tag != FL_TAG_TEXT)
        return field_wrong(file, KEY_FILENAME, "a text", error);
    fl_status status = field_count(record, KEY_LINE, &line, error);
    if (status == FL_OK)
        status = text_number(reader, closing->pickle, name, &row.name, error);
    if (status == FL_OK)
        status = text_number(reader, closing->pickle, file, &row.file, error);
    if (status != FL_OK)
        return status;
    row.line = line <= UINT32_MAX ? (uint32_t)line : 0;
    return fl_trace_intern_frame(reader->trace, row, &closing->number, error);
}

fl_status fl_snapshot_stack(void *user, fl_closing *closing, fl_error *error)
{
    snapshot_reader *reader = user;
    closing->number = FL_NONE;
    if (closing->item_count == 0)
        return FL_OK;
    return fl_trace_intern_stack(reader->trace, closing->items, closing->item_count,
                                 &closing->number, error);
}

/* The final state. */

/* Release 2.0 keeps with a block the allocations that its memory served, the last one first. */
fl_status fl_snapshot_past(void *user, fl_closing *closing, fl_error *error)
{
    (void)error;
    snapshot_reader *reader = user;
    if (reader->history_count++ == 0)
        reader->history_stack = field_stack(closing->record);
    return FL_OK;
}

fl_status fl_snapshot_block_begin(void *user, fl_error *error)
{
    (void)error;
    snapshot_reader *reader = user;
    reader->history_count = 0;
    reader->history_stack = FL_NONE;
    return FL_OK;
}

fl_status fl_snapshot_block(void *user, fl_closing *closing, fl_error *error)
{
    snapshot_reader *reader = user;
    const fl_record *record = closing->record;
    pending_block pending = {.view.id = FL_NONE, .stack = field_stack(record)};
    uint8_t word = 0;
    fl_status status = FL_OK;
    reader->block_keys |= record->has;
    pending.has_address = field(record, KEY_ADDRESS) != NULL;
    if (pending.stack == FL_NONE)
        pending.stack = reader->history_stack;
    if (pending.has_address)
        status = field_count(record, KEY_ADDRESS, &pending.view.address, error);
    if (status == FL_OK)
        status = field_count(record, KEY_SIZE, &pending.view.size, error);
    if (status == FL_OK)
        status = field_count(record, KEY_REQUESTED_SIZE, &pending.view.requested, error);
    if (status == FL_OK)
        status = field_word(record, KEY_STATE, &word, error);
    if (status != FL_OK)
        return status;
    if (word == WORD_ACTIVE_ALLOCATED)
        pending.view.state = FL_BLOCK_LIVE;
    else if (word == WORD_ACTIVE_PENDING_FREE || word == WORD_ACTIVE_AWAITING_FREE)
        pending.view.state = FL_BLOCK_PENDING;
    else if (word == WORD_INACTIVE)
        pending.view.state = FL_BLOCK_FREE;
    else
        return fl_fail(error, FL_ERR_INPUT, "a block in a state that is not known");
    if (!fl_vector_reserve(reader->host, &reader->blocks, 1, error))
        return FL_ERR_RESOURCE;
    reader->blocks.items[reader->blocks.count++] = pending;
    return FL_OK;
}

fl_status fl_snapshot_segment_begin(void *user, fl_error *error)
{
    (void)error;
    snapshot_reader *reader = user;
    reader->blocks.count = 0;
    return FL_OK;
}

/* What is wrong with a segment whose blocks do not lie one behind the other and fill it. */
static fl_status blocks_check(snapshot_reader *reader, const fl_segment_view *segment,
                              fl_error *error)
{
    uint64_t at = segment->address;
    for (size_t i = 0; i < reader->blocks.count; i++) {
        fl_block_view *block = &reader->blocks.items[i].view;
        if (!reader->blocks.items[i].has_address)
            block->address = at;
        if (block->address != at || !fl_add(at, block->size, &at))
            return fl_fail(error, FL_ERR_INPUT,
                           "a block at 0x%llx, expected one at 0x%llx, where the one before ends",
                           (unsigned long long)block->address, (unsigned long long)at);
        if (block->state != FL_BLOCK_FREE && block->requested > block->size)
            return fl_fail(error, FL_ERR_INPUT, "%llu bytes asked for in a block of %llu bytes",
                           (unsigned long long)block->requested, (unsigned long long)block->size);
    }
    if (at - segment->address != segment->size)
        return fl_fail(error, FL_ERR_INPUT, "blocks of %llu bytes in a segment of %llu bytes",
                       (unsigned long long)(at - segment->address),
                       (unsigned long long)segment->size);
    return FL_OK;
}

static fl_status segment_check(snapshot_reader *reader, size_t device,
                               const fl_segment_view *segment, fl_error *error)
{
    const struct fl_segment_vector *known = &reader->trace->devices.items[device].segments;
    const fl_segment_view *last = known->count > 0 ? &known->items[known->count - 1] : NULL;
    if (last != NULL && last->address >= segment->address)
        return fl_fail(error, FL_ERR_INPUT, "segments that do not ascend by address");
    if (last != NULL && segment->address - last->address < last->size)
        return fl_fail(error, FL_ERR_INPUT, "segments that overlap");
    return blocks_check(reader, segment, error);
}

/* What is wrong with the sums of a segment, which are of its blocks. */
static fl_status sums_check(snapshot_reader *reader, const fl_record *record, fl_error *error)
{
    static const struct {
        uint8_t key;
        bool with_pending, of_requested;
    } rows[] = {
        {KEY_ALLOCATED_SIZE, false, false},
        {KEY_ACTIVE_SIZE, true, false},
        {KEY_REQUESTED_SIZE, true, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t sum = 0, told;
        for (size_t k = 0; k < reader->blocks.count; k++) {
            const fl_block_view *block = &reader->blocks.items[k].view;
            bool counts = block->state == FL_BLOCK_LIVE ||
                          (block->state == FL_BLOCK_PENDING && rows[i].with_pending);
            if (counts && !fl_add(sum, rows[i].of_requested ? block->requested : block->size, &sum))
                return fl_fail(error, FL_ERR_INPUT, "blocks of more than 2^64 bytes");
        }
        if (field(record, rows[i].key) == NULL)
            continue;
        fl_status status = field_count(record, rows[i].key, &told, error);
        if (status == FL_OK && told != sum)
            status = fl_fail(error, FL_ERR_INPUT, "'%s' of %llu bytes, where its blocks have %llu",
                             fl_snapshot_words[rows[i].key], (unsigned long long)told,
                             (unsigned long long)sum);
        if (status != FL_OK)
            return status;
    }
    return FL_OK;
}

/* A state that cannot be is told of, once, and left out; the events may be right all the same. */
static fl_status state_leave_out(snapshot_reader *reader, size_t device, const fl_error *reason,
                                 fl_error *error)
{
    if (reader->is_impossible[device])
        return FL_OK;
    reader->is_impossible[device] = true;
    return fl_trace_warn(reader->trace, error,
                         "the final state of device %zu is impossible and left out: %s", device,
                         reason->text);
}

static fl_status segment_keep(snapshot_reader *reader, const fl_record *record, uint64_t device,
                              fl_segment_view *segment, fl_error *error)
{
    fl_error reason = {0};
    char words[sizeof reason.text + 40];
    fl_status status = fl_trace_add_device(reader->trace, device, error);
    if (status != FL_OK)
        return status;
    bool fits = segment_check(reader, (size_t)device, segment, &reason) == FL_OK;
    bool is_possible = fits && sums_check(reader, record, &reason) == FL_OK;
    snprintf(words, sizeof words, "the segment at 0x%llx: %s", (unsigned long long)segment->address,
             reason.text);
    status = fl_trace_show_segment(reader->trace, (size_t)device, reader->blocks.count,
                                   is_possible ? NULL : words, error);
    if (status == FL_OK && !fits)
        status = state_leave_out(reader, (size_t)device, &reason, error);
    if (status != FL_OK || !fits)
        return status;
    segment->segment = (uint32_t)reader->trace->devices.items[device].segments.count;
    status = fl_trace_add_segment(reader->trace, (size_t)device, segment, error);
    for (size_t i = 0; status == FL_OK && i < reader->blocks.count; i++)
        status = fl_trace_add_block(reader->trace, (size_t)device, &reader->blocks.items[i].view,
                                    reader->blocks.items[i].stack, error);
    return status;
}

fl_status fl_snapshot_segment(void *user, fl_closing *closing, fl_error *error)
{
    snapshot_reader *reader = user;
    const fl_record *record = closing->record;
    fl_segment_view segment = {0};
    uint64_t device = 0;
    uint8_t type = 0;
    reader->segment_keys |= record->has;
    fl_status status = field_count(record, KEY_DEVICE, &device, error);
    if (status == FL_OK)
        status = field_count(record, KEY_ADDRESS, &segment.address, error);
    if (status == FL_OK)
        status = field_count(record, KEY_TOTAL_SIZE, &segment.size, error);
    if (status == FL_OK)
        status = field_stream(reader, record, &segment.stream, error);
    if (status == FL_OK)
        status =
            field_pool(reader, closing->pickle, record, KEY_SEGMENT_POOL_ID, &segment.pool, error);
    if (status == FL_OK)
        status = field_word(record, KEY_SEGMENT_TYPE, &type, error);
    if (status != FL_OK)
        return status;
    if (type != WORD_SMALL && type != WORD_LARGE)
        return fl_fail(error, FL_ERR_INPUT, "a segment that is neither 'small' nor 'large'");
    const fl_value *expandable = field(record, KEY_IS_EXPANDABLE);
    if (expandable != NULL && expandable->tag != FL_TAG_BOOL)
        return field_wrong(expandable, KEY_IS_EXPANDABLE, "true or false", error);
    segment.is_small = type == WORD_SMALL;
    segment.is_expandable = expandable != NULL && expandable->bits != 0;
    reader->shows_expandable |= segment.is_expandable;
    if (segment.pool == FL_NONE) {
        segment.pool = 0;
        reader->trace->lacks_pools = true;
    }
    return segment_keep(reader, record, device, &segment, error);
}

/* Events. */

typedef struct action_row {
    uint8_t word, kind, flags;
    bool has_address;
} action_row;

static const action_row action_rows[] = {
    {WORD_ALLOC, FL_OP_ALLOC, 0, true},
    {WORD_FREE_REQUESTED, FL_OP_FREE, 0, true},
    {WORD_FREE_COMPLETED, FL_OP_FREE_DONE, 0, true},
    {WORD_SEGMENT_ALLOC, FL_EVENT_SEGMENT_ALLOC, 0, true},
    {WORD_SEGMENT_FREE, FL_EVENT_SEGMENT_FREE, 0, true},
    {WORD_SEGMENT_MAP, FL_EVENT_SEGMENT_MAP, 0, true},
    {WORD_SEGMENT_UNMAP, FL_EVENT_SEGMENT_UNMAP, 0, true},
    {WORD_OOM, FL_OP_ALLOC, FL_EVENT_OOM, false},
    {WORD_SNAPSHOT, FL_EVENT_SNAPSHOT, 0, false},
};

static action_row action_find(uint8_t word)
{
    for (size_t i = 0; i < sizeof action_rows / sizeof *action_rows; i++)
        if (action_rows[i].word == word)
            return action_rows[i];
    return (action_row){word, FL_EVENT_OTHER, 0, false};
}

/* What an action of a later release tells is kept as far as it can be read. */
static void entry_read_other(const fl_record *record, fl_event *event)
{
    if (field_count(record, KEY_ADDR, &event->address, NULL) != FL_OK)
        event->address = 0;
    if (field_count(record, KEY_SIZE, &event->size, NULL) != FL_OK)
        event->size = 0;
}

static fl_status entry_read(const fl_record *record, const action_row *action, fl_event *event,
                            fl_error *error)
{
    if (action->kind == FL_EVENT_OTHER) {
        entry_read_other(record, event);
        return FL_OK;
    }
    uint8_t address_key = (action->flags & FL_EVENT_OOM) != 0 ? KEY_DEVICE_FREE : KEY_ADDR;
    fl_status status = field_count(record, KEY_SIZE, &event->size, error);
    if (status == FL_OK && (action->has_address || field(record, address_key) != NULL))
        status = field_count(record, address_key, &event->address, error);
    uint64_t end;
    if (status == FL_OK && action->has_address && !fl_add(event->address, event->size, &end))
        return fl_fail(error, FL_ERR_INPUT, "an address range beyond 2^64");
    return status;
}

/* Keeps the name of the first action that no release so far has. */
static fl_status entry_note_unknown(snapshot_reader *reader, fl_pickle *pickle,
                                    const fl_record *record, fl_error *error)
{
    if (reader->unknown_count++ > 0)
        return FL_OK;
    return text_number(reader, pickle, field(record, KEY_ACTION), &reader->unknown_action, error);
}

static fl_status entry_operation(snapshot_reader *reader, fl_closing *closing, fl_event *event,
                                 fl_error *error)
{
    fl_status status = fl_snapshot_operation(reader, closing, event, error);
    if (status == FL_OK)
        status = fl_trace_append(reader->trace, reader->device, event, error);
    if (status == FL_OK && fl_snapshot_has_kept(closing->record))
        status = fl_snapshot_keep(reader, closing, event, error);
    reader->entry_count++;
    return status;
}

fl_status fl_snapshot_entry(void *user, fl_closing *closing, fl_error *error)
{
    snapshot_reader *reader = user;
    const fl_record *record = closing->record;
    uint8_t word = 0;
    fl_status status = field_word(record, KEY_ACTION, &word, error);
    if (status != FL_OK)
        return status;
    action_row action = action_find(word);
    fl_event event = {
        .kind = action.kind,
        .flags = action.flags,
        .id = FL_NONE,
        .stream = FL_NONE,
        .stack = field_stack(record),
        .time_us = FL_TIME_UNKNOWN,
    };
    const fl_value *time = field(record, KEY_TIME_US);
    if (time != NULL && time->tag != FL_TAG_INT)
        return field_wrong(time, KEY_TIME_US, "a number below 2^63", error);
    if (time != NULL)
        event.time_us = (int64_t)time->bits;
    if (word == WORD_OPERATION)
        return entry_operation(reader, closing, &event, error);
    status = entry_read(record, &action, &event, error);
    if (status == FL_OK && (action.kind != FL_EVENT_OTHER || field(record, KEY_STREAM) != NULL))
        status = field_stream(reader, record, &event.stream, error);
    if (status == FL_OK)
        status = field_pool(reader, closing->pickle, record, KEY_POOL_ID, &event.pool, error);
    if (status == FL_OK)
        status = fl_snapshot_identify(reader, record, &event, error);
    if (status == FL_OK)
        status = fl_trace_append(reader->trace, reader->device, &event, error);
    if (status == FL_OK && fl_snapshot_has_kept(record))
        status = fl_snapshot_keep(reader, closing, &event, error);
    if (status == FL_OK && action.kind == FL_EVENT_OTHER && word != WORD_ANNOTATE &&
        word != WORD_OTHER)
        status = entry_note_unknown(reader, closing->pickle, record, error);
    reader->entry_count++;
    reader->entry_keys |= record->has;
    reader->has_annotate |= word == WORD_ANNOTATE;
    reader->shows_expandable |=
        action.kind == FL_EVENT_SEGMENT_MAP || action.kind == FL_EVENT_SEGMENT_UNMAP;
    return status;
}

fl_status fl_snapshot_trace_begin(void *user, fl_error *error)
{
    snapshot_reader *reader = user;
    fl_status status = fl_trace_add_device(reader->trace, reader->trace_count, error);
    reader->device = reader->trace_count++;
    return status;
}

/* All events of a device are there. */
fl_status fl_snapshot_trace(void *user, fl_closing *closing, fl_error *error)
{
    (void)error;
    (void)closing;
    snapshot_reader *reader = user;
    reader->whole_traces = reader->trace_count;
    return FL_OK;
}

/* The rest. */

fl_status fl_snapshot_settings(void *user, fl_closing *closing, fl_error *error)
{
    snapshot_reader *reader = user;
    const fl_record *record = closing->record;
    reader->settings_keys = record->has;
    reader->has_settings = true;
    const fl_value *conf = field(record, KEY_CONF);
    if (conf == NULL)
        return FL_OK;
    if (conf->tag != FL_TAG_TEXT)
        return field_wrong(conf, KEY_CONF, "a text", error);
    return text_number(reader, closing->pickle, conf, &reader->trace->conf, error);
}

/* What is beside the device's memory: counted, so that it can be told of. */

fl_status fl_snapshot_annotation(void *user, fl_closing *closing, fl_error *error)
{
    (void)closing;
    (void)error;
    snapshot_reader *reader = user;
    reader->trace->beside.annotations++;
    return FL_OK;
}

fl_status fl_snapshot_host_segment(void *user, fl_closing *closing, fl_error *error)
{
    (void)error;
    snapshot_reader *reader = user;
    fl_beside *beside = &reader->trace->beside;
    uint64_t size = 0;
    beside->host_segments++;
    if (field_count(closing->record, KEY_TOTAL_SIZE, &size, NULL) != FL_OK ||
        !fl_add(beside->host_bytes, size, &beside->host_bytes))
        beside->host_bytes = UINT64_MAX; /* not told */
    return FL_OK;
}

fl_status fl_snapshot_host_entry(void *user, fl_closing *closing, fl_error *error)
{
    (void)closing;
    (void)error;
    snapshot_reader *reader = user;
    reader->trace->beside.host_events++;
    return FL_OK;
}

fl_status fl_snapshot_top(void *user, fl_closing *closing, fl_error *error)
{
    snapshot_reader *reader = user;
    const fl_record *record = closing->record;
    reader->top_keys = record->has;
    reader->is_whole = true;
    if (field(record, KEY_SEGMENTS) == NULL)
        return field_wrong(NULL, KEY_SEGMENTS, "", error);
    return FL_OK;
}

/* What torch.cuda.memory_snapshot() returns: the segments and nothing else. */
fl_status fl_snapshot_list(void *user, fl_closing *closing, fl_error *error)
{
    (void)closing;
    (void)error;
    snapshot_reader *reader = user;
    reader->is_list = reader->is_whole = true;
    return FL_OK;
}

fl_status fl_snapshot_unknown_key(void *user, const char *key, size_t length, const char *what,
                                  fl_error *error)
{
    snapshot_reader *reader = user;
    return fl_trace_warn(reader->trace, error,
                         "%s has a key '%.*s' that this build does not know: it is left out", what,
                         length < 40 ? (int)length : 40, key);
}
