#include "packed.h"

#include "assemble.h"
#include "failing_host.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BASIC        "tests/data/snapshots/rs_basic.pickle"
#define BASIC_EVENTS 19

/* The small snapshot, packed; freed with free. */
static uint8_t *pack_basic(const codec_packer *packer, size_t *ret_size)
{
    size_t size;
    uint8_t *bytes = file_bytes(BASIC, &size);
    uint8_t *packed = malloc(2 * size);
    *ret_size = packer->pack(bytes, size, packed, 2 * size);
    free(bytes);
    return packed;
}

static fl_status read_packed(const void *bytes, size_t size, bool accept_cut, fl_trace **ret_trace,
                             fl_error *error)
{
    fl_read_options options = {.accept_cut = accept_cut};
    *ret_trace = NULL;
    *error = (fl_error){0};
    return fl_read_memory(bytes, size, "p", &options, ret_trace, error);
}

void packed_pieces_follow_each_other(const codec_packer *packer)
{
    static const char first[] = "a 1 512\na 2 5", second[] = "12\nf 1\n";
    uint8_t packed[400];
    size_t size = packer->pack((const uint8_t *)first, strlen(first), packed, 200);
    size += packer->pack((const uint8_t *)second, strlen(second), packed + size, 200);
    fl_trace *trace;
    fl_error error;
    if (read_packed(packed, size, false, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    assert_int_equal(fl_trace_event_count(trace, 0), 3);
    fl_trace_free(trace);
}

void packed_content_may_exceed_the_buffer(const codec_packer *packer)
{
    size_t lines = 300000, size = 0;
    char *text = malloc(lines * 8);
    for (size_t i = 0; i < lines; i++)
        size += (size_t)sprintf(text + size, "%s\n", i % 3 == 0 ? "p" : "e");
    uint8_t *packed = malloc(size);
    size_t packed_size = packer->pack((const uint8_t *)text, size, packed, size);
    fl_trace *trace;
    fl_error error;
    if (read_packed(packed, packed_size, false, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    assert_int_equal(fl_trace_event_count(trace, 0), lines);
    fl_trace_free(trace);
    free(packed);
    free(text);
}

void packed_cut_is_refused_at_every_byte(const codec_packer *packer)
{
    size_t size;
    uint8_t *packed = pack_basic(packer, &size);
    for (size_t cut = 0; cut < size; cut++) {
        fl_trace *trace;
        fl_error error;
        if (read_packed(packed, cut, false, &trace, &error) != FL_ERR_INPUT)
            fail_msg("cut at %zu is taken", cut);
        char place[100];
        snprintf(place, sizeof place, "p:%zu: the %s data is cut off (", cut, packer->name);
        if (cut >= 4 && strncmp(error.text, place, strlen(place)) != 0)
            fail_msg("cut at %zu: '%s'", cut, error.text);
    }
    free(packed);
}

void packed_cut_gives_the_beginning_if_accepted(const codec_packer *packer)
{
    size_t size;
    uint8_t *packed = pack_basic(packer, &size);
    uint64_t most = 0;
    for (size_t cut = 4; cut < size; cut++) {
        fl_trace *trace;
        fl_error error;
        fl_status status = read_packed(packed, cut, true, &trace, &error);
        /* Before any content comes out there is nothing to know a format by. */
        if (status != FL_OK && strcmp(error.text, "p:0: the file is empty") != 0)
            fail_msg("cut at %zu: '%s'", cut, error.text);
        if (status != FL_OK)
            continue;
        assert_true(fl_trace_event_count(trace, 0) >= most);
        most = fl_trace_event_count(trace, 0);
        assert_true(fl_trace_warning_count(trace) > 0);
        fl_trace_free(trace);
    }
    assert_int_equal(most, BASIC_EVENTS);
    free(packed);
}

void packed_damage_is_refused_or_harmless(const codec_packer *packer)
{
    size_t size;
    uint8_t *packed = pack_basic(packer, &size);
    for (size_t at = 4; at < size; at++) {
        packed[at] ^= 0x55;
        fl_trace *trace;
        fl_error error;
        fl_status status = read_packed(packed, size, false, &trace, &error);
        if (status == FL_OK)
            assert_int_equal(fl_trace_event_count(trace, 0), BASIC_EVENTS);
        else
            assert_true(status == FL_ERR_INPUT && strncmp(error.text, "p:", 2) == 0);
        fl_trace_free(trace);
        packed[at] ^= 0x55;
    }
    free(packed);
}

typedef struct packed_bytes {
    const uint8_t *bytes;
    size_t size;
} packed_bytes;

static fl_status read_with(const fl_host *host, void *user, fl_error *error)
{
    const packed_bytes *packed = user;
    fl_read_options options = {.host = host};
    fl_trace *trace = NULL;
    fl_status status = fl_read_memory(packed->bytes, packed->size, "p", &options, &trace, error);
    fl_trace_free(trace);
    return status;
}

void packed_failing_requests_do_not_leak(const codec_packer *packer)
{
    packed_bytes packed;
    uint8_t *bytes = pack_basic(packer, &packed.size);
    packed.bytes = bytes;
    assert_true(failing_host_sweep(read_with, &packed) > 20);
    free(bytes);
}

void packed_is_unavailable(const char *bytes, size_t size, const char *message)
{
    fl_trace *trace;
    fl_error error;
    assert_int_equal(read_packed(bytes, size, false, &trace, &error), FL_ERR_UNAVAILABLE);
    assert_string_equal(error.text, message);
}
