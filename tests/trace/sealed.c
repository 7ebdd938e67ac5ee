#include "sealed.h"

#include "test.h"

#include <fraglab/read.h>

#include <string.h>

taker sealed_trace(const fl_trace *trace)
{
    taker to = {0};
    fl_error error = {0};
    if (fl_flt_save(trace, taker_take, &to, &error) != FL_OK)
        fail_msg("%s", error.text);
    return to;
}

taker sealed_script(const char *script)
{
    fl_trace *trace = NULL;
    fl_error error = {0};
    fl_read_options options = {.format = "script"};
    if (fl_read_memory(script, strlen(script), "s", &options, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    taker flt = sealed_trace(trace);
    fl_trace_free(trace);
    return flt;
}

static uint64_t get(const uint8_t *at, size_t size)
{
    uint64_t value = 0;
    memcpy(&value, at, size);
    return value;
}

static size_t section_count(const taker *flt)
{
    size_t told = (size_t)get((const uint8_t *)flt->text + 12, 4);
    size_t fits = (flt->length - FLT_HEADER_SIZE) / FLT_ENTRY_SIZE;
    return told < fits ? told : fits;
}

static uint8_t *entry_at(const taker *flt, size_t i)
{
    return (uint8_t *)flt->text + FLT_HEADER_SIZE + i * FLT_ENTRY_SIZE;
}

uint8_t *sealed_section(const taker *flt, uint32_t tag, uint32_t device, size_t *ret_size)
{
    for (size_t i = 0; i < section_count(flt); i++) {
        const uint8_t *entry = entry_at(flt, i);
        if (get(entry, 4) != tag || get(entry + 4, 4) != device)
            continue;
        *ret_size = (size_t)get(entry + 16, 8);
        return (uint8_t *)flt->text + get(entry + 8, 8);
    }
    fail_msg("no such section");
    return NULL;
}

void sealed_set_word(const taker *flt, uint32_t tag, size_t word, uint64_t value)
{
    size_t size;
    uint32_t device = tag == FLT_FILE ? FLT_WHOLE_FILE : 0;
    uint8_t *section = sealed_section(flt, tag, device, &size);
    assert_true(8 * (word + 1) <= size);
    memcpy(section + 8 * word, &value, sizeof value);
}

void sealed_again(const taker *flt)
{
    uint8_t *head = (uint8_t *)flt->text;
    for (size_t i = 0; i < section_count(flt); i++) {
        uint8_t *entry = entry_at(flt, i);
        uint64_t offset = get(entry + 8, 8), size = get(entry + 16, 8);
        if (offset > flt->length || size > flt->length - offset)
            continue;
        uint64_t sum = fl_flt_checksum(head + offset, (size_t)size);
        memcpy(entry + 24, &sum, sizeof sum);
    }
    uint64_t sum = fl_flt_checksum(head + FLT_HEADER_SIZE, section_count(flt) * FLT_ENTRY_SIZE);
    memcpy(head + 24, &sum, sizeof sum);
}

fl_trace *sealed_load(const taker *flt, fl_error *error)
{
    fl_trace *trace = NULL;
    fl_read_options options = {.format = "flt"};
    return fl_read_memory(flt->text, flt->length, "f", &options, &trace, error) == FL_OK ? trace
                                                                                         : NULL;
}
