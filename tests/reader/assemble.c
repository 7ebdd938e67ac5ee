#include "assemble.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(pickle_bytes *pickle, const void *bytes, size_t size)
{
    assert_true(size <= sizeof pickle->bytes - pickle->size);
    memcpy(pickle->bytes + pickle->size, bytes, size);
    pickle->size += size;
}

static void put_byte(pickle_bytes *pickle, unsigned byte)
{
    uint8_t one = (uint8_t)byte;
    put(pickle, &one, 1);
}

static void put_number(pickle_bytes *pickle, unsigned instruction, uint64_t number, size_t size)
{
    put_byte(pickle, instruction);
    for (size_t i = 0; i < size; i++)
        put_byte(pickle, i < sizeof number ? (unsigned)(number >> (8 * i)) & 0xFF : 0);
}

void assemble_begin(pickle_bytes *pickle)
{
    pickle->size = 0;
    put(pickle, "\x80\x04", 2);
}

static const char *put_text(pickle_bytes *pickle, const char *at)
{
    const char *end = strchr(at, '\'');
    assert_non_null(end);
    put_number(pickle, 0x8C, (uint64_t)(end - at), 1);
    put(pickle, at, (size_t)(end - at));
    return end + 1;
}

/* A number in as few bytes as a pickler takes. */
static void put_int(pickle_bytes *pickle, int64_t value)
{
    if (value >= 0 && value < 256)
        put_number(pickle, 'K', (uint64_t)value, 1);
    else if (value >= INT32_MIN && value <= INT32_MAX)
        put_number(pickle, 'J', (uint64_t)value, 4);
    else
        put_number(pickle, 0x8A, (uint64_t)value << 8 | 8, 9);
    if (value < INT32_MIN || value > INT32_MAX)
        pickle->bytes[pickle->size - 1] = (uint8_t)((uint64_t)value >> 56);
}

void assemble(pickle_bytes *pickle, const char *notation)
{
    static const struct {
        char letter;
        uint8_t byte;
    } others[] = {{'{', '}'},  {'T', 0x88}, {'F', 0x89}, {'1', 0x85},
                  {'2', 0x86}, {'3', 0x87}, {'m', 0x94}};
    for (const char *at = notation; *at != '\0';) {
        char letter = *at++;
        char *end;
        size_t i = 0;
        while (i < COUNT_OF(others) && others[i].letter != letter)
            i++;
        if (letter == '\'')
            at = put_text(pickle, at);
        else if (i < COUNT_OF(others))
            put_byte(pickle, others[i].byte);
        else if (letter == '#')
            put_int(pickle, strtoll(at, &end, 10)), at = end;
        else if (letter == 'x')
            put_byte(pickle, (unsigned)strtoul(at, &end, 16)), at = end;
        else if (letter == 'q' || letter == 'h')
            put_number(pickle, (unsigned)letter, strtoul(at, &end, 10), 1), at = end;
        else if (letter == 'p' || letter == 'g')
            put_number(pickle, letter == 'p' ? 'r' : 'j', strtoul(at, &end, 10), 4), at = end;
        else if (letter != ' ')
            put_byte(pickle, (unsigned)letter);
    }
}

void assemble_snapshot(pickle_bytes *pickle, const char *segments, const char *entries)
{
    assemble_begin(pickle);
    assemble(pickle, "{ ( 'segments' ] ( ");
    assemble(pickle, segments);
    assemble(pickle, "e 'device_traces' ] ( ] ( ");
    assemble(pickle, entries);
    assemble(pickle, "e e 'allocator_settings' { ( 'PYTORCH_CUDA_ALLOC_CONF' 'a:b' "
                     "'expandable_segments' F u 'external_annotations' ] u .");
}

fl_status assemble_read(const pickle_bytes *pickle, fl_trace **ret_trace, fl_error *error)
{
    *ret_trace = NULL;
    return fl_read_memory(pickle->bytes, pickle->size, "p", NULL, ret_trace, error);
}

fl_trace *read_valid(const pickle_bytes *pickle)
{
    fl_trace *trace;
    fl_error error = {0};
    if (assemble_read(pickle, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    return trace;
}

void read_fails(const pickle_bytes *pickle, fl_status status, const char *end)
{
    fl_trace *trace;
    fl_error error = {0};
    fl_status got = assemble_read(pickle, &trace, &error);
    size_t length = strlen(error.text), end_length = strlen(end);
    bool ends_so = length >= end_length && strcmp(error.text + length - end_length, end) == 0;
    if (got != status || trace != NULL || !ends_so || strncmp(error.text, "p:", 2) != 0)
        fail_msg("status %d, '%s'; expected %d, '%s'", (int)got, error.text, (int)status, end);
}

fl_trace *read_file(const char *path, bool accept_cut)
{
    fl_trace *trace = NULL;
    fl_error error = {0};
    fl_read_options options = {.accept_cut = accept_cut};
    if (fl_read_file(path, &options, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    return trace;
}

uint8_t *file_bytes(const char *path, size_t *ret_size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("%s: cannot be opened", path);
    size_t room = 1 << 20, size = 0, got;
    uint8_t *bytes = malloc(room);
    while ((got = fread(bytes + size, 1, room - size, file)) > 0) {
        size += got;
        if (size == room)
            bytes = realloc(bytes, room *= 2);
    }
    fclose(file);
    *ret_size = size;
    return bytes;
}

fl_status read_file_with(const fl_host *host, void *path, fl_error *error)
{
    fl_read_options options = {.host = host};
    fl_trace *trace = NULL;
    fl_status status = fl_read_file(path, &options, &trace, error);
    fl_trace_free(trace);
    return status;
}

void read_gives_a_trace_or_a_sentence(const uint8_t *bytes, size_t size, size_t at, bool accept_cut)
{
    fl_trace *trace = NULL;
    fl_error error = {0};
    fl_read_options options = {.format = "snapshot", .accept_cut = accept_cut};
    fl_status status = fl_read_memory(bytes, size, "p", &options, &trace, &error);
    bool is_told = status == FL_ERR_INPUT || status == FL_ERR_UNAVAILABLE;
    if (status == FL_OK ? trace == NULL : !is_told || error.text[0] == '\0')
        fail_msg("byte %zu as 0x%02x: status %d", at, bytes[at], (int)status);
    fl_trace_free(trace);
}
