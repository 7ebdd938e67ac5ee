/* Loading .flt files: the sections are walked in their order, once.
 *
 * What is copied is bounded by the size of the file.  Numbers are taken over first and checked as a
 * whole at the end, before anybody can use them. */
#include "trace/flt.h"

#include "base/checked.h"
#include "base/memory.h"
#include "trace/columns.h"
#include "trace/utf8.h"

#include <inttypes.h>

struct loading {
    fl_trace *trace;
    const char *name;
    uint8_t *bytes;
    uint64_t size;
    uint32_t section_count;
    uint32_t next; /* section */
    fl_error *error;
};

struct load_section {
    uint32_t tag, device;
    uint64_t offset, size, checksum;
};

static uint64_t get_little(const uint8_t *at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

static fl_status load_fail(struct loading *loading, uint64_t offset, const char *what)
{
    return fl_fail(loading->error, FL_ERR_INPUT, "%s:%" PRIu64 ": %s", loading->name, offset, what);
}

/* ---- header and list ------------------------------------------------------------------------- */

static fl_status load_head(struct loading *loading)
{
    const uint8_t *bytes = loading->bytes;
    if (loading->size < FLT_HEADER_SIZE)
        return load_fail(loading, loading->size, "the file ends here, inside its header");
    if (memcmp(bytes, FLT_MAGIC, FLT_MAGIC_SIZE) != 0)
        return load_fail(loading, 0, "expected the mark of a .flt file");
    uint64_t version = get_little(bytes + 8, 4), size = get_little(bytes + 16, 8);
    if (version != FLT_VERSION)
        return fl_fail(loading->error, FL_ERR_UNAVAILABLE,
                       "%s:8: version %" PRIu64 " of .flt, this build reads %d", loading->name,
                       version, FLT_VERSION);
    if (size > loading->size)
        return fl_fail(loading->error, FL_ERR_INPUT,
                       "%s:%" PRIu64 ": the file ends here, %" PRIu64 " bytes are missing",
                       loading->name, loading->size, size - loading->size);
    if (size < loading->size)
        return load_fail(loading, size, "expected the end of the file");
    loading->section_count = (uint32_t)get_little(bytes + 12, 4);
    uint64_t list = loading->section_count * UINT64_C(32);
    if (list > size - FLT_HEADER_SIZE)
        return load_fail(loading, 12, "more sections than fit the file");
    if (fl_flt_checksum(bytes + FLT_HEADER_SIZE, (size_t)list) != get_little(bytes + 24, 8))
        return load_fail(loading, 24, "the check sum of the list of sections does not fit");
    return FL_OK;
}

static void load_entry(const struct loading *loading, struct load_section *ret_section)
{
    const uint8_t *entry =
        loading->bytes + FLT_HEADER_SIZE + (size_t)loading->next * FLT_ENTRY_SIZE;
    *ret_section = (struct load_section){
        .tag = (uint32_t)get_little(entry, 4),
        .device = (uint32_t)get_little(entry + 4, 4),
        .offset = get_little(entry + 8, 8),
        .size = get_little(entry + 16, 8),
        .checksum = get_little(entry + 24, 8),
    };
}

/* The next section if it has this tag, whole and undamaged, of items of `item` bytes; else size
 * 0. */
static fl_status load_section(struct loading *loading, uint32_t tag, uint32_t device, size_t item,
                              struct load_section *ret_section)
{
    struct load_section section;
    *ret_section = (struct load_section){0};
    if (loading->next == loading->section_count)
        return FL_OK;
    load_entry(loading, &section);
    if (section.tag != tag || section.device != device)
        return FL_OK;
    uint64_t entry = FLT_HEADER_SIZE + (uint64_t)loading->next * FLT_ENTRY_SIZE, end;
    if (section.offset % FLT_ALIGN != 0 || !fl_add(section.offset, section.size, &end) ||
        end > loading->size)
        return load_fail(loading, entry, "a section that does not lie in the file");
    if (section.size == 0 || section.size % item != 0)
        return load_fail(loading, entry, "a section of no whole number of items");
    if (fl_flt_checksum(loading->bytes + section.offset, (size_t)section.size) != section.checksum)
        return load_fail(loading, section.offset, "the check sum of the section here does not fit");
    loading->next++;
    *ret_section = section;
    return FL_OK;
}

/* A section that must be there, of `count` words. */
static fl_status load_record(struct loading *loading, uint32_t tag, uint32_t device, size_t count,
                             uint64_t *ret_words)
{
    struct load_section section;
    fl_status status = load_section(loading, tag, device, 8 * count, &section);
    if (status != FL_OK)
        return status;
    if (section.size != 8 * count)
        return load_fail(loading, FLT_HEADER_SIZE + (uint64_t)loading->next * FLT_ENTRY_SIZE,
                         "a section is missing here");
    memcpy(ret_words, loading->bytes + section.offset, 8 * count);
    return FL_OK;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

/* Copies a section into an empty vector, whose typed pointer is written as bytes. */
static fl_status load_items(struct loading *loading, uint32_t tag, uint32_t device, size_t item,
                            void *items, size_t *count, size_t *capacity)
{
    struct load_section section;
    fl_status status = load_section(loading, tag, device, item, &section);
    if (status != FL_OK || section.size == 0)
        return status;
    size_t wanted = (size_t)(section.size / item);
    if (!fl_vector_grow(loading->trace->host, items, capacity, 0, wanted, item, loading->error))
        return FL_ERR_RESOURCE;
    void *piece;
    memcpy(&piece, items, sizeof piece);
    memcpy(piece, loading->bytes + section.offset, (size_t)section.size);
    *count = wanted;
    return FL_OK;
}

#define load_array(loading, tag, device, vector)                                                   \
    load_items(loading, tag, device, sizeof *(vector)->items, &(vector)->items, &(vector)->count,  \
               &(vector)->capacity)

/* The words of a section of records of `width` words, and how many records. */
static fl_status load_words(struct loading *loading, uint32_t tag, uint32_t device, size_t width,
                            struct fl_u64_vector *words, size_t *ret_count)
{
    words->count = 0;
    struct load_section section;
    fl_status status = load_section(loading, tag, device, 8 * width, &section);
    *ret_count = 0;
    if (status != FL_OK || section.size == 0)
        return status;
    size_t count = (size_t)(section.size / 8);
    if (!fl_vector_reserve(loading->trace->host, words, count, loading->error))
        return FL_ERR_RESOURCE;
    memcpy(words->items, loading->bytes + section.offset, (size_t)section.size);
    *ret_count = count / width;
    return FL_OK;
}

/* ---- what belongs to the whole file ---------------------------------------------------------- */

static fl_status load_facts(struct loading *loading, size_t *ret_devices)
{
    fl_trace *trace = loading->trace;
    uint64_t words[FLT_FILE_WORDS];
    uint64_t entry = FLT_HEADER_SIZE;
    fl_status status = load_record(loading, FLT_FILE, FLT_WHOLE_FILE, FLT_FILE_WORDS, words);
    if (status != FL_OK)
        return status;
    if (words[FLT_F_FORMAT] > FL_FORMAT_SNAPSHOT || words[FLT_F_CONF] > FL_NONE ||
        words[FLT_F_RELEASE] > FL_NONE || words[FLT_F_DEVICES] > FL_TRACE_MAX_DEVICE + UINT64_C(1))
        return load_fail(loading, entry, "facts of the file that cannot be");
    trace->format = (fl_format)words[FLT_F_FORMAT];
    trace->lacks_conf = (words[FLT_F_FLAGS] & FLT_LACKS_CONF) != 0;
    trace->has_block_sizes = (words[FLT_F_FLAGS] & FLT_HAS_BLOCK_SIZES) != 0;
    trace->has_ops = (words[FLT_F_FLAGS] & FLT_HAS_OPS) != 0;
    trace->is_inferred = (words[FLT_F_FLAGS] & FLT_IS_INFERRED) != 0;
    trace->lacks_pools = (words[FLT_F_FLAGS] & FLT_LACKS_POOLS) != 0;
    trace->conf = (uint32_t)words[FLT_F_CONF];
    trace->release = (uint32_t)words[FLT_F_RELEASE];
    trace->capacity_bytes = words[FLT_F_CAPACITY];
    trace->releases = (fl_release_range){
        .first_major = (uint32_t)words[FLT_F_FIRST_MAJOR],
        .first_minor = (uint32_t)words[FLT_F_FIRST_MINOR],
        .last_major = (uint32_t)words[FLT_F_LAST_MAJOR],
        .last_minor = (uint32_t)words[FLT_F_LAST_MINOR],
        .known = (words[FLT_F_FLAGS] & FLT_KNOWS_RELEASES) != 0,
    };
    trace->beside = (fl_beside){
        .annotations = words[FLT_F_ANNOTATIONS],
        .host_segments = words[FLT_F_HOST_SEGMENTS],
        .host_bytes = words[FLT_F_HOST_BYTES],
        .host_events = words[FLT_F_HOST_EVENTS],
    };
    *ret_devices = (size_t)words[FLT_F_DEVICES];
    return FL_OK;
}

/* Copies texts, each with a NUL behind it, into one chunk of the arena. */
static fl_status load_strings(struct loading *loading, const struct load_section *section,
                              struct fl_text_vector *texts)
{
    fl_trace *trace = loading->trace;
    const char *from = (const char *)loading->bytes + section->offset;
    size_t size = (size_t)section->size, count = 0;
    if (from[size - 1] != '\0')
        return load_fail(loading, section->offset, "a text without an end");
    for (size_t i = 0; i < size; i++)
        count += from[i] == '\0';
    const char *copy = fl_arena_copy(trace->host, &trace->arena, from, size, loading->error);
    if (copy == NULL || !fl_vector_reserve(trace->host, texts, count, loading->error))
        return FL_ERR_RESOURCE;
    for (const char *at = copy; at < copy + size;) {
        size_t length = strlen(at);
        if (!fl_utf8_is_clean(at, length))
            return load_fail(loading, section->offset + (uint64_t)(at - copy),
                             "a text that is not UTF-8");
        texts->items[texts->count++] = at;
        at += length + 1;
    }
    return FL_OK;
}

static fl_status load_format(struct loading *loading)
{
    struct load_section section;
    struct fl_text_vector name = {0};
    fl_status status = load_section(loading, FLT_FORMAT, FLT_WHOLE_FILE, 1, &section);
    if (status != FL_OK || section.size == 0)
        return status;
    status = load_strings(loading, &section, &name);
    if (status == FL_OK)
        loading->trace->format_name = *name.items[0] != '\0' ? name.items[0] : NULL;
    fl_vector_deinit(loading->trace->host, &name);
    return status;
}

static fl_status load_texts(struct loading *loading)
{
    struct load_section section;
    fl_status status = load_section(loading, FLT_TEXTS, FLT_WHOLE_FILE, 1, &section);
    if (status != FL_OK || section.size == 0)
        return status;
    return load_strings(loading, &section, &loading->trace->texts);
}

static fl_status load_tables(struct loading *loading)
{
    fl_trace *trace = loading->trace;
    trace->pools.count = 0; /* a new trace has the default pool already */
    fl_status status = load_format(loading);
    if (status == FL_OK)
        status = load_texts(loading);
    if (status == FL_OK)
        status = load_array(loading, FLT_STREAMS, FLT_WHOLE_FILE, &trace->streams);
    if (status == FL_OK)
        status = load_array(loading, FLT_POOLS, FLT_WHOLE_FILE, &trace->pools);
    if (status == FL_OK)
        status = load_array(loading, FLT_FRAMES, FLT_WHOLE_FILE, &trace->frames);
    if (status == FL_OK)
        status = load_array(loading, FLT_STACK_ENDS, FLT_WHOLE_FILE, &trace->stack_ends);
    if (status == FL_OK)
        status = load_array(loading, FLT_STACK_ITEMS, FLT_WHOLE_FILE, &trace->stack_frames);
    if (status == FL_OK)
        status = load_array(loading, FLT_WARNINGS, FLT_WHOLE_FILE, &trace->warnings);
    if (status != FL_OK)
        return status;
    trace->names = (fl_names){
        trace->streams.items, trace->streams.count, trace->pools.items,
        trace->pools.count,   trace->texts.items,   trace->texts.count,
    };
    const char *wrong = fl_flt_check_tables(trace);
    return wrong == NULL ? FL_OK : load_fail(loading, FLT_HEADER_SIZE, wrong);
}

/* ---- a device -------------------------------------------------------------------------------- */

static fl_status load_columns(struct loading *loading, uint32_t number, fl_columns *columns)
{
    for (int column = 0; column < FL_COLUMN_COUNT; column++) {
        size_t width;
        fl_columns_bytes(columns, (fl_column)column, &width);
        struct load_section section;
        fl_status status =
            load_section(loading, fl_flt_column_tags[column], number, width, &section);
        if (status != FL_OK)
            return status;
        bool is_needed = column < FL_COLUMN_POOL && columns->count > 0;
        if (section.size == 0 && !is_needed)
            continue;
        if (section.size / width != columns->count)
            return load_fail(loading, FLT_HEADER_SIZE + (uint64_t)loading->next * FLT_ENTRY_SIZE,
                             "a column that has not one entry for each event");
        fl_columns_lend(columns, (fl_column)column, loading->bytes + section.offset);
    }
    return FL_OK;
}

static uint32_t narrow(uint64_t word)
{
    return word < FL_NONE ? (uint32_t)word : FL_NONE;
}

static fl_status load_segments(struct loading *loading, uint32_t tag, uint32_t number,
                               struct fl_u64_vector *words, struct fl_segment_vector *segments)
{
    size_t count;
    fl_status status = load_words(loading, tag, number, FLT_SEGMENT_WORDS, words, &count);
    if (status == FL_OK &&
        !fl_vector_reserve(loading->trace->host, segments, count, loading->error))
        status = FL_ERR_RESOURCE;
    for (size_t i = 0; status == FL_OK && i < count; i++) {
        const uint64_t *word = words->items + i * FLT_SEGMENT_WORDS;
        segments->items[segments->count++] = (fl_segment_view){
            .segment = narrow(word[FLT_S_SEGMENT]),
            .stream = narrow(word[FLT_S_STREAM]),
            .pool = narrow(word[FLT_S_POOL]),
            .is_small = (word[FLT_S_FLAGS] & FLT_IS_SMALL) != 0,
            .is_expandable = (word[FLT_S_FLAGS] & FLT_IS_EXPANDABLE) != 0,
            .address = word[FLT_S_ADDRESS],
            .size = word[FLT_S_SIZE],
        };
    }
    return status;
}

/* `stacks` NULL: not kept. */
static fl_status load_blocks(struct loading *loading, uint32_t tag, uint32_t number,
                             struct fl_u64_vector *words, struct fl_block_vector *blocks,
                             struct fl_u32_vector *stacks)
{
    const fl_host *host = loading->trace->host;
    size_t count;
    fl_status status = load_words(loading, tag, number, FLT_BLOCK_WORDS, words, &count);
    if (status == FL_OK &&
        (!fl_vector_reserve(host, blocks, count, loading->error) ||
         (stacks != NULL && !fl_vector_reserve(host, stacks, count, loading->error))))
        status = FL_ERR_RESOURCE;
    for (size_t i = 0; status == FL_OK && i < count; i++) {
        const uint64_t *word = words->items + i * FLT_BLOCK_WORDS;
        if (word[FLT_B_STATE] > FL_BLOCK_FREE)
            return load_fail(loading, FLT_HEADER_SIZE, "a block in a state that is not known");
        blocks->items[blocks->count++] = (fl_block_view){
            .state = (fl_block_state)word[FLT_B_STATE],
            .id = narrow(word[FLT_B_ID]),
            .address = word[FLT_B_ADDRESS],
            .size = word[FLT_B_SIZE],
            .requested = word[FLT_B_REQUESTED],
        };
        if (stacks != NULL)
            stacks->items[stacks->count++] = narrow(word[FLT_B_STACK]);
    }
    return status;
}

static fl_status load_insertions(struct loading *loading, uint32_t number,
                                 struct fl_u64_vector *words,
                                 struct fl_insertion_vector *insertions)
{
    size_t count;
    fl_status status =
        load_words(loading, FLT_INSERTIONS, number, FLT_INSERTION_WORDS, words, &count);
    if (status == FL_OK &&
        !fl_vector_reserve(loading->trace->host, insertions, count, loading->error))
        status = FL_ERR_RESOURCE;
    for (size_t i = 0; status == FL_OK && i < count; i++) {
        const uint64_t *word = words->items + i * FLT_INSERTION_WORDS;
        if (word[FLT_I_KIND] > UINT8_MAX || word[FLT_I_FLAGS] > UINT8_MAX)
            return load_fail(loading, FLT_HEADER_SIZE, "an inferred operation that is not known");
        insertions->items[insertions->count++] = (fl_insertion){
            .event = word[FLT_I_EVENT],
            .op = {.kind = (uint8_t)word[FLT_I_KIND],
                   .flags = (uint8_t)word[FLT_I_FLAGS],
                   .id = narrow(word[FLT_I_ID]),
                   .stream = narrow(word[FLT_I_STREAM]),
                   .pool = narrow(word[FLT_I_POOL]),
                   .text = narrow(word[FLT_I_TEXT]),
                   .size = word[FLT_I_SIZE],
                   .address = word[FLT_I_ADDRESS]},
        };
    }
    return status;
}

static fl_status load_notes(struct loading *loading, uint32_t number, struct fl_u64_vector *words,
                            struct fl_note_vector *notes)
{
    size_t count;
    fl_status status = load_words(loading, FLT_NOTES, number, FLT_NOTE_WORDS, words, &count);
    if (status == FL_OK && !fl_vector_reserve(loading->trace->host, notes, count, loading->error))
        status = FL_ERR_RESOURCE;
    for (size_t i = 0; status == FL_OK && i < count; i++) {
        const uint64_t *word = words->items + i * FLT_NOTE_WORDS;
        notes->items[notes->count++] = (fl_note){word[FLT_N_EVENT], narrow(word[FLT_N_TEXT])};
    }
    return status;
}

static fl_status load_ranges(struct loading *loading, uint32_t number, struct fl_u64_vector *words,
                             struct fl_range_vector *ranges)
{
    size_t count;
    fl_status status =
        load_words(loading, FLT_START_RANGES, number, FLT_RANGE_WORDS, words, &count);
    if (status == FL_OK && !fl_vector_reserve(loading->trace->host, ranges, count, loading->error))
        status = FL_ERR_RESOURCE;
    for (size_t i = 0; status == FL_OK && i < count; i++) {
        const uint64_t *word = words->items + i * FLT_RANGE_WORDS;
        ranges->items[ranges->count++] =
            (fl_start_range){word[FLT_R_ADDRESS], word[FLT_R_ROOM], word[FLT_R_PAGE]};
    }
    return status;
}

/* The tables beside the columns, in the order of the sections. */
static fl_status load_beside(struct loading *loading, uint32_t number, fl_trace_device *device,
                             struct fl_u64_vector *words)
{
    fl_trace_start *start = &device->start;
    fl_status status = load_array(loading, FLT_ORIGINALS, number, &device->originals);
    if (status == FL_OK)
        status = load_array(loading, FLT_CATEGORIES, number, &device->categories);
    if (status == FL_OK)
        status = load_insertions(loading, number, words, &device->insertions);
    if (status == FL_OK)
        status = load_notes(loading, number, words, &device->notes);
    if (status == FL_OK)
        status = load_segments(loading, FLT_SEGMENTS, number, words, &device->segments);
    if (status == FL_OK)
        status =
            load_blocks(loading, FLT_BLOCKS, number, words, &device->blocks, &device->block_stacks);
    if (status == FL_OK)
        status = load_segments(loading, FLT_START_SEGMENTS, number, words, &start->segments);
    if (status == FL_OK)
        status = load_blocks(loading, FLT_START_BLOCKS, number, words, &start->blocks, NULL);
    if (status == FL_OK)
        status = load_ranges(loading, number, words, &start->ranges);
    return status;
}

/* The blocks in use among those of a start state, which is told as a whole. */
static fl_status find_in_use(struct loading *loading, fl_trace_start *start)
{
    for (size_t i = 0; i < start->blocks.count; i++) {
        if (start->blocks.items[i].state == FL_BLOCK_FREE)
            continue;
        if (!fl_vector_reserve(loading->trace->host, &start->in_use, 1, loading->error))
            return FL_ERR_RESOURCE;
        start->in_use.items[start->in_use.count++] = start->blocks.items[i];
    }
    return FL_OK;
}

static fl_status check_device(struct loading *loading, uint64_t entry, uint64_t before,
                              const fl_trace_device *device)
{
    uint64_t event;
    const char *wrong = fl_flt_check_lists(loading->trace, device);
    if (wrong == NULL)
        wrong = fl_flt_check_final(loading->trace, device);
    if (wrong == NULL)
        wrong = fl_flt_check_start(loading->trace, device, before);
    if (wrong != NULL)
        return load_fail(loading, entry, wrong);
    wrong = fl_flt_check_events(loading->trace, device, before, &event);
    if (wrong == NULL)
        return FL_OK;
    return fl_fail(loading->error, FL_ERR_INPUT, "%s:%" PRIu64 ": event %" PRIu64 ": %s",
                   loading->name, entry, event, wrong);
}

static void take_facts(fl_trace_device *device, const uint64_t facts[FLT_DEVICE_WORDS])
{
    uint64_t flags = facts[FLT_D_FLAGS];
    device->columns.count = facts[FLT_D_EVENTS];
    device->alloc_count = (uint32_t)facts[FLT_D_ALLOCS];
    device->has_final_state = (flags & FLT_HAS_FINAL) != 0;
    device->is_complete = (flags & FLT_IS_COMPLETE) != 0;
    device->is_reordered = (flags & FLT_IS_REORDERED) != 0;
    device->starts_late = (flags & FLT_STARTS_LATE) != 0;
    device->is_newer = (flags & FLT_IS_NEWER) != 0;
    device->is_disordered = (flags & FLT_IS_DISORDERED) != 0;
    device->start.is_known = device->start.is_placed = (flags & FLT_TELLS_START) != 0;
    device->start.first_id = (uint32_t)facts[FLT_D_FIRST_ID];
    device->shown_parts = facts[FLT_D_SHOWN];
    device->impossible_parts = facts[FLT_D_IMPOSSIBLE];
    device->impossible = narrow(facts[FLT_D_IMPOSSIBLE_TEXT]);
    device->unrecorded = facts[FLT_D_UNRECORDED];
    device->left_out = facts[FLT_D_LEFT_OUT];
}

static fl_status load_device(struct loading *loading, uint32_t number, struct fl_u64_vector *words)
{
    uint64_t facts[FLT_DEVICE_WORDS];
    uint64_t entry = FLT_HEADER_SIZE + (uint64_t)loading->next * FLT_ENTRY_SIZE;
    fl_status status = fl_trace_add_device(loading->trace, number, loading->error);
    if (status == FL_OK)
        status = load_record(loading, FLT_DEVICE, number, FLT_DEVICE_WORDS, facts);
    if (status != FL_OK)
        return status;
    if (facts[FLT_D_EVENTS] > FL_TRACE_MAX_EVENTS || facts[FLT_D_ALLOCS] > FL_TRACE_MAX_EVENTS ||
        facts[FLT_D_FIRST_ID] > facts[FLT_D_ALLOCS] ||
        facts[FLT_D_BEFORE] > facts[FLT_D_ALLOCS] - facts[FLT_D_FIRST_ID])
        return load_fail(loading, entry, "facts of a device that cannot be");
    fl_trace_device *device = &loading->trace->devices.items[number];
    take_facts(device, facts);
    if (device->impossible_parts > 0 && device->impossible >= loading->trace->texts.count)
        return load_fail(loading, entry, "a state that cannot be, without a text");
    status = load_columns(loading, number, &device->columns);
    if (status == FL_OK)
        status = load_beside(loading, number, device, words);
    if (status == FL_OK)
        status = find_in_use(loading, &device->start);
    return status == FL_OK ? check_device(loading, entry, facts[FLT_D_BEFORE], device) : status;
}

static fl_status load_all(struct loading *loading, struct fl_u64_vector *words)
{
    size_t devices = 0;
    fl_status status = load_head(loading);
    if (status == FL_OK)
        status = load_facts(loading, &devices);
    if (status == FL_OK)
        status = load_tables(loading);
    for (size_t i = 0; status == FL_OK && i < devices; i++)
        status = load_device(loading, (uint32_t)i, words);
    if (status == FL_OK && loading->next != loading->section_count)
        status = load_fail(loading, FLT_HEADER_SIZE + (uint64_t)loading->next * FLT_ENTRY_SIZE,
                           "a section that does not belong here");
    return status;
}

fl_status fl_flt_load(fl_trace *trace, const char *name, fl_error *error)
{
    if (!fl_flt_fits_host())
        return fl_fail(error, FL_ERR_UNAVAILABLE, "flt needs a little-endian machine");
    bool is_mapped = trace->mapping.bytes != NULL;
    struct loading loading = {
        .trace = trace,
        .name = name,
        .bytes = is_mapped ? trace->mapping.bytes : trace->image.items,
        .size = is_mapped ? trace->mapping.size : trace->image.count,
        .error = error,
    };
    struct fl_u64_vector words = {0};
    fl_status status = load_all(&loading, &words);
    fl_vector_deinit(trace->host, &words);
    trace->is_judged = status == FL_OK;
    return status;
}
