/* Writing .flt files: the list of sections first, since the header tells of all of them. */
#include "trace/flt.h"

#include "base/checked.h"
#include "trace/columns.h"

#include <string.h>

/* A section whose bytes lie in the trace, or, made for it, in the words. */
struct save_section {
    uint32_t tag, device;
    const void *bytes; /* NULL: in the words */
    size_t first_word;
    uint64_t size;
};

FL_VECTOR(save_sections, struct save_section);

struct saving {
    const fl_trace *trace;
    struct save_sections sections;
    struct fl_u64_vector words;
    bool (*write)(void *user, const char *data, size_t size);
    void *user;
    fl_error *error;
};

/* ---- gathering: true, or false with the error filled ----------------------------------------- */

static bool add_section(struct saving *saving, const struct save_section *section)
{
    if (!fl_vector_reserve(saving->trace->host, &saving->sections, 1, saving->error))
        return false;
    saving->sections.items[saving->sections.count++] = *section;
    return true;
}

static bool add_bytes(struct saving *saving, uint32_t tag, uint32_t device, const void *bytes,
                      uint64_t size)
{
    struct save_section section = {tag, device, bytes, 0, size};
    return size == 0 || add_section(saving, &section);
}

#define add_items(saving, tag, device, vector)                                                     \
    add_bytes(saving, tag, device, (vector)->items, (vector)->count * sizeof *(vector)->items)

/* Begins a section of `count` words; they are put behind each other with put_words. */
static bool begin_words(struct saving *saving, uint32_t tag, uint32_t device, uint64_t count)
{
    struct save_section section = {tag, device, NULL, saving->words.count, 8 * count};
    return count == 0 ||
           (fl_vector_reserve(saving->trace->host, &saving->words, count, saving->error) &&
            add_section(saving, &section));
}

static void put_words(struct saving *saving, const uint64_t *words, size_t count)
{
    memcpy(saving->words.items + saving->words.count, words, count * sizeof *words);
    saving->words.count += count;
}

static bool save_file(struct saving *saving)
{
    const fl_trace *trace = saving->trace;
    const fl_release_range *releases = &trace->releases;
    const uint64_t words[FLT_FILE_WORDS] = {
        [FLT_F_FORMAT] = trace->format,
        [FLT_F_FLAGS] = (trace->lacks_conf ? FLT_LACKS_CONF : 0u) |
                        (releases->known ? FLT_KNOWS_RELEASES : 0u) |
                        (trace->lacks_pools ? FLT_LACKS_POOLS : 0u) |
                        (trace->has_block_sizes ? FLT_HAS_BLOCK_SIZES : 0u) |
                        (trace->has_ops ? FLT_HAS_OPS : 0u) |
                        (trace->is_inferred ? FLT_IS_INFERRED : 0u),
        [FLT_F_CONF] = trace->conf,
        [FLT_F_RELEASE] = trace->release,
        [FLT_F_CAPACITY] = trace->capacity_bytes,
        [FLT_F_FIRST_MAJOR] = releases->first_major,
        [FLT_F_FIRST_MINOR] = releases->first_minor,
        [FLT_F_LAST_MAJOR] = releases->last_major,
        [FLT_F_LAST_MINOR] = releases->last_minor,
        [FLT_F_ANNOTATIONS] = trace->beside.annotations,
        [FLT_F_HOST_SEGMENTS] = trace->beside.host_segments,
        [FLT_F_HOST_BYTES] = trace->beside.host_bytes,
        [FLT_F_HOST_EVENTS] = trace->beside.host_events,
        [FLT_F_DEVICES] = trace->devices.count,
    };
    const char *name = trace->format_name != NULL ? trace->format_name : "";
    if (!begin_words(saving, FLT_FILE, FLT_WHOLE_FILE, FLT_FILE_WORDS))
        return false;
    put_words(saving, words, FLT_FILE_WORDS);
    return add_bytes(saving, FLT_FORMAT, FLT_WHOLE_FILE, name, strlen(name) + 1);
}

/* Texts lie all over the arena; here they lie behind each other. */
static bool save_texts(struct saving *saving)
{
    const struct fl_text_vector *texts = &saving->trace->texts;
    uint64_t size = 0;
    for (size_t i = 0; i < texts->count; i++)
        size += strlen(texts->items[i]) + 1;
    size_t words = (size_t)(size / 8 + 1);
    struct save_section section = {FLT_TEXTS, FLT_WHOLE_FILE, NULL, saving->words.count, size};
    if (size == 0)
        return true;
    if (!fl_vector_reserve(saving->trace->host, &saving->words, words, saving->error) ||
        !add_section(saving, &section))
        return false;
    saving->words.items[saving->words.count + words - 1] = 0;
    char *to = (char *)(saving->words.items + saving->words.count);
    for (size_t i = 0; i < texts->count; i++) {
        size_t length = strlen(texts->items[i]) + 1;
        memcpy(to, texts->items[i], length);
        to += length;
    }
    saving->words.count += words;
    return true;
}

static bool save_tables(struct saving *saving)
{
    const fl_trace *trace = saving->trace;
    return save_texts(saving) && add_items(saving, FLT_STREAMS, FLT_WHOLE_FILE, &trace->streams) &&
           add_items(saving, FLT_POOLS, FLT_WHOLE_FILE, &trace->pools) &&
           add_items(saving, FLT_FRAMES, FLT_WHOLE_FILE, &trace->frames) &&
           add_items(saving, FLT_STACK_ENDS, FLT_WHOLE_FILE, &trace->stack_ends) &&
           add_items(saving, FLT_STACK_ITEMS, FLT_WHOLE_FILE, &trace->stack_frames) &&
           add_items(saving, FLT_WARNINGS, FLT_WHOLE_FILE, &trace->warnings);
}

static bool save_segments(struct saving *saving, uint32_t tag, uint32_t device,
                          const struct fl_segment_vector *segments)
{
    if (!begin_words(saving, tag, device, segments->count * FLT_SEGMENT_WORDS))
        return false;
    for (size_t i = 0; i < segments->count; i++) {
        const fl_segment_view *segment = &segments->items[i];
        const uint64_t words[FLT_SEGMENT_WORDS] = {
            [FLT_S_SEGMENT] = segment->segment,
            [FLT_S_STREAM] = segment->stream,
            [FLT_S_POOL] = segment->pool,
            [FLT_S_FLAGS] = (segment->is_small ? FLT_IS_SMALL : 0u) |
                            (segment->is_expandable ? FLT_IS_EXPANDABLE : 0u),
            [FLT_S_ADDRESS] = segment->address,
            [FLT_S_SIZE] = segment->size,
        };
        put_words(saving, words, FLT_SEGMENT_WORDS);
    }
    return true;
}

/* `stacks` NULL: they have none. */
static bool save_blocks(struct saving *saving, uint32_t tag, uint32_t device,
                        const struct fl_block_vector *blocks, const uint32_t *stacks)
{
    if (!begin_words(saving, tag, device, blocks->count * FLT_BLOCK_WORDS))
        return false;
    for (size_t i = 0; i < blocks->count; i++) {
        const fl_block_view *block = &blocks->items[i];
        const uint64_t words[FLT_BLOCK_WORDS] = {
            [FLT_B_STATE] = block->state,         [FLT_B_ID] = block->id,
            [FLT_B_ADDRESS] = block->address,     [FLT_B_SIZE] = block->size,
            [FLT_B_REQUESTED] = block->requested, [FLT_B_STACK] = stacks ? stacks[i] : FL_NONE,
        };
        put_words(saving, words, FLT_BLOCK_WORDS);
    }
    return true;
}

static bool save_insertions(struct saving *saving, uint32_t device,
                            const struct fl_insertion_vector *insertions)
{
    if (!begin_words(saving, FLT_INSERTIONS, device, insertions->count * FLT_INSERTION_WORDS))
        return false;
    for (size_t i = 0; i < insertions->count; i++) {
        const fl_op *op = &insertions->items[i].op;
        const uint64_t words[FLT_INSERTION_WORDS] = {
            [FLT_I_EVENT] = insertions->items[i].event,
            [FLT_I_KIND] = op->kind,
            [FLT_I_FLAGS] = op->flags,
            [FLT_I_ID] = op->id,
            [FLT_I_STREAM] = op->stream,
            [FLT_I_POOL] = op->pool,
            [FLT_I_TEXT] = op->text,
            [FLT_I_SIZE] = op->size,
            [FLT_I_ADDRESS] = op->address,
        };
        put_words(saving, words, FLT_INSERTION_WORDS);
    }
    return true;
}

static bool save_notes(struct saving *saving, uint32_t device, const struct fl_note_vector *notes)
{
    if (!begin_words(saving, FLT_NOTES, device, notes->count * FLT_NOTE_WORDS))
        return false;
    for (size_t i = 0; i < notes->count; i++) {
        const uint64_t words[FLT_NOTE_WORDS] = {
            [FLT_N_EVENT] = notes->items[i].event, [FLT_N_TEXT] = notes->items[i].text};
        put_words(saving, words, FLT_NOTE_WORDS);
    }
    return true;
}

static bool save_ranges(struct saving *saving, uint32_t device,
                        const struct fl_range_vector *ranges)
{
    if (!begin_words(saving, FLT_START_RANGES, device, ranges->count * FLT_RANGE_WORDS))
        return false;
    for (size_t i = 0; i < ranges->count; i++) {
        const uint64_t words[FLT_RANGE_WORDS] = {[FLT_R_ADDRESS] = ranges->items[i].address,
                                                 [FLT_R_ROOM] = ranges->items[i].room,
                                                 [FLT_R_PAGE] = ranges->items[i].page};
        put_words(saving, words, FLT_RANGE_WORDS);
    }
    return true;
}

static bool save_columns(struct saving *saving, uint32_t device, const fl_columns *columns)
{
    for (int column = 0; column < FL_COLUMN_COUNT; column++) {
        size_t width;
        const void *bytes = fl_columns_bytes(columns, (fl_column)column, &width);
        if (bytes != NULL &&
            !add_bytes(saving, fl_flt_column_tags[column], device, bytes, columns->count * width))
            return false;
    }
    return true;
}

/* Where the file told of it; else it follows from the rest. */
static bool tells_start(const fl_trace *trace, const fl_trace_start *start)
{
    return (trace->format == FL_FORMAT_SCRIPT || trace->has_ops) && start->is_placed;
}

static bool save_start(struct saving *saving, uint32_t device, const fl_trace_start *start)
{
    if (!tells_start(saving->trace, start))
        return true;
    return save_segments(saving, FLT_START_SEGMENTS, device, &start->segments) &&
           save_blocks(saving, FLT_START_BLOCKS, device, &start->blocks, NULL) &&
           save_ranges(saving, device, &start->ranges);
}

static bool save_device(struct saving *saving, uint32_t number, const fl_trace_device *device)
{
    const fl_trace_start *start = &device->start;
    bool is_told = tells_start(saving->trace, start);
    uint64_t before = is_told               ? start->in_use.count
                      : device->is_complete ? 0
                                            : device->alloc_count - start->first_id;
    const uint64_t words[FLT_DEVICE_WORDS] = {
        [FLT_D_EVENTS] = device->columns.count,
        [FLT_D_ALLOCS] = device->alloc_count,
        [FLT_D_FLAGS] =
            (device->has_final_state ? FLT_HAS_FINAL : 0u) |
            (device->is_complete ? FLT_IS_COMPLETE : 0u) | (is_told ? FLT_TELLS_START : 0u) |
            (device->is_reordered ? FLT_IS_REORDERED : 0u) |
            (device->is_disordered ? FLT_IS_DISORDERED : 0u) |
            (device->starts_late ? FLT_STARTS_LATE : 0u) | (device->is_newer ? FLT_IS_NEWER : 0u),
        [FLT_D_FIRST_ID] = start->first_id,
        [FLT_D_BEFORE] = before,
        [FLT_D_SHOWN] = device->shown_parts,
        [FLT_D_IMPOSSIBLE] = device->impossible_parts,
        [FLT_D_IMPOSSIBLE_TEXT] = device->impossible,
        [FLT_D_UNRECORDED] = device->unrecorded,
        [FLT_D_LEFT_OUT] = device->left_out,
    };
    if (!begin_words(saving, FLT_DEVICE, number, FLT_DEVICE_WORDS))
        return false;
    put_words(saving, words, FLT_DEVICE_WORDS);
    return save_columns(saving, number, &device->columns) &&
           add_items(saving, FLT_ORIGINALS, number, &device->originals) &&
           add_items(saving, FLT_CATEGORIES, number, &device->categories) &&
           save_insertions(saving, number, &device->insertions) &&
           save_notes(saving, number, &device->notes) &&
           save_segments(saving, FLT_SEGMENTS, number, &device->segments) &&
           save_blocks(saving, FLT_BLOCKS, number, &device->blocks, device->block_stacks.items) &&
           save_start(saving, number, start);
}

static bool gather(struct saving *saving)
{
    bool fits = save_file(saving) && save_tables(saving);
    for (size_t i = 0; fits && i < saving->trace->devices.count; i++)
        fits = save_device(saving, (uint32_t)i, &saving->trace->devices.items[i]);
    return fits;
}

/* ---- writing --------------------------------------------------------------------------------- */

static const void *section_bytes(const struct saving *saving, const struct save_section *section)
{
    return section->bytes != NULL ? section->bytes : saving->words.items + section->first_word;
}

static fl_status put(struct saving *saving, const void *data, size_t size)
{
    if (size == 0 || saving->write(saving->user, data, size))
        return FL_OK;
    return fl_fail(saving->error, FL_ERR_OUTPUT, "a trace could not be written");
}

static void put_little(uint8_t *to, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

/* Header and list of sections as bytes. */
static void fill_head(const struct saving *saving, uint8_t *head, size_t head_size)
{
    uint64_t offset = fl_round_up(head_size, FLT_ALIGN), end = head_size;
    for (size_t i = 0; i < saving->sections.count; i++) {
        const struct save_section *section = &saving->sections.items[i];
        uint8_t *entry = head + FLT_HEADER_SIZE + i * FLT_ENTRY_SIZE;
        put_little(entry, section->tag, 4);
        put_little(entry + 4, section->device, 4);
        put_little(entry + 8, offset, 8);
        put_little(entry + 16, section->size, 8);
        put_little(entry + 24,
                   fl_flt_checksum(section_bytes(saving, section), (size_t)section->size), 8);
        end = offset + section->size;
        offset = fl_round_up(end, FLT_ALIGN);
    }
    for (size_t i = 0; i < FLT_MAGIC_SIZE; i++)
        head[i] = (uint8_t)FLT_MAGIC[i];
    put_little(head + 8, FLT_VERSION, 4);
    put_little(head + 12, saving->sections.count, 4);
    put_little(head + 16, end, 8);
    put_little(head + 24, fl_flt_checksum(head + FLT_HEADER_SIZE, head_size - FLT_HEADER_SIZE), 8);
}

static fl_status write_sections(struct saving *saving, size_t head_size)
{
    static const char nothing[FLT_ALIGN];
    uint64_t at = head_size;
    fl_status status = FL_OK;
    for (size_t i = 0; i < saving->sections.count && status == FL_OK; i++) {
        const struct save_section *section = &saving->sections.items[i];
        uint64_t gap = fl_round_up(at, FLT_ALIGN) - at;
        status = put(saving, nothing, (size_t)gap);
        if (status == FL_OK)
            status = put(saving, section_bytes(saving, section), (size_t)section->size);
        at += gap + section->size;
    }
    return status;
}

static fl_status write_all(struct saving *saving)
{
    const fl_host *host = saving->trace->host;
    size_t size = FLT_HEADER_SIZE + saving->sections.count * FLT_ENTRY_SIZE;
    struct fl_byte_vector head = {0};
    if (!fl_vector_reserve(host, &head, size, saving->error))
        return FL_ERR_RESOURCE;
    fill_head(saving, head.items, size);
    fl_status status = put(saving, head.items, size);
    fl_vector_deinit(host, &head);
    return status == FL_OK ? write_sections(saving, size) : status;
}

fl_status fl_flt_save(const fl_trace *trace,
                      bool (*write)(void *user, const char *data, size_t size), void *user,
                      fl_error *error)
{
    if (!fl_flt_fits_host())
        return fl_fail(error, FL_ERR_UNAVAILABLE, "flt needs a little-endian machine");
    struct saving saving = {.trace = trace, .write = write, .user = user, .error = error};
    fl_status status = gather(&saving) ? write_all(&saving) : FL_ERR_RESOURCE;
    fl_vector_deinit(trace->host, &saving.sections);
    fl_vector_deinit(trace->host, &saving.words);
    return status;
}
