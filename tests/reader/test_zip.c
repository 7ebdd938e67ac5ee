#include "reader/input.h"

#include "assemble.h"
#include "available.h"
#include "packed.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if FL_HAVE_ZLIB
#include <zlib.h>
#endif

typedef struct archive {
    uint8_t bytes[16384];
    size_t size;
} archive;

#define DESCRIBED 8
#define LARGE     0x100 /* sizes in 64 bits; not a flag of the format */

static void put(archive *zip, const void *bytes, size_t size)
{
    assert_true(size <= sizeof zip->bytes - zip->size);
    memcpy(zip->bytes + zip->size, bytes, size);
    zip->size += size;
}

static void put_number(archive *zip, uint64_t number, size_t size)
{
    for (size_t i = 0; i < size; i++)
        put(zip, &(uint8_t){(uint8_t)(number >> (8 * i))}, 1);
}

static void put_header(archive *zip, const char *name, unsigned flags, unsigned method, size_t size)
{
    bool is_described = (flags & DESCRIBED) != 0, is_large = !is_described && (flags & LARGE) != 0;
    put(zip, "PK\x03\x04\x14", 6);
    put_number(zip, flags & 0xFF, 2);
    put_number(zip, method, 2);
    put_number(zip, 0, 8);
    put_number(zip, is_described ? 0 : is_large ? UINT32_MAX : size, 4);
    put_number(zip, is_described ? 0 : is_large ? UINT32_MAX : size, 4);
    put_number(zip, strlen(name), 2);
    put_number(zip, is_large ? 20 : 6, 2);
    put(zip, name, strlen(name));
    put_number(zip, is_large ? 1 : 0x4246, 2);
    put_number(zip, is_large ? 16 : 2, 2);
    put_number(zip, is_large ? size : 0x5A5A, is_large ? 8 : 2);
    if (is_large)
        put_number(zip, size, 8);
}

static void put_descriptor(archive *zip, unsigned flags, size_t size)
{
    if ((flags & DESCRIBED) == 0)
        return;
    put(zip, "PK\x07\x08sums", 8);
    put_number(zip, size, (flags & LARGE) != 0 ? 8 : 4);
    put_number(zip, size, (flags & LARGE) != 0 ? 8 : 4);
}

static void put_stored(archive *zip, const char *name, unsigned flags, const void *bytes,
                       size_t size)
{
    put_header(zip, name, flags, 0, size);
    put(zip, bytes, size);
    put_descriptor(zip, flags, size);
}

static void put_end(archive *zip)
{
    put(zip, "PK\x01\x02", 4);
    put(zip, (uint8_t[42]){0}, 42);
    put(zip, "PK\x05\x06", 4);
    put(zip, (uint8_t[18]){0}, 18);
}

static size_t pack_with(unsigned flags, const uint8_t *bytes, size_t size, uint8_t *packed,
                        size_t room)
{
    archive zip = {.size = 0};
    put_stored(&zip, "x/data.pkl", flags, bytes, size);
    put_stored(&zip, "x/version", flags, "3\n", 2);
    put_end(&zip);
    assert_true(zip.size <= room);
    memcpy(packed, zip.bytes, zip.size);
    return zip.size;
}

static size_t pack_stored(const uint8_t *bytes, size_t size, uint8_t *packed, size_t room)
{
    return pack_with(0, bytes, size, packed, room);
}

static size_t pack_described(const uint8_t *bytes, size_t size, uint8_t *packed, size_t room)
{
    return pack_with(DESCRIBED, bytes, size, packed, room);
}

static const codec_packer packers[] = {{"zip", pack_stored}, {"zip", pack_described}};

static void every_packer(void (*check)(const codec_packer *packer))
{
    for (size_t i = 0; i < COUNT_OF(packers); i++)
        check(&packers[i]);
}

static void a_cut_is_refused_at_every_byte(void **state)
{
    (void)state;
    every_packer(packed_cut_is_refused_at_every_byte);
}

static void a_cut_gives_the_beginning_if_accepted(void **state)
{
    (void)state;
    every_packer(packed_cut_gives_the_beginning_if_accepted);
}

static void failing_requests_do_not_leak(void **state)
{
    (void)state;
    every_packer(packed_failing_requests_do_not_leak);
}

static fl_status read_zip(const archive *zip, fl_trace **ret_trace, fl_error *error)
{
    *ret_trace = NULL;
    *error = (fl_error){0};
    return fl_read_memory(zip->bytes, zip->size, "p", NULL, ret_trace, error);
}

static void holds_three_events(const archive *zip)
{
    fl_trace *trace;
    fl_error error;
    if (read_zip(zip, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    assert_int_equal(fl_trace_event_count(trace, 0), 3);
    fl_trace_free(trace);
}

#define THREE "a 1 512\na 2 512\nf 1\n"

static void the_member_is_found_behind_others(void **state)
{
    (void)state;
    static const unsigned flags[] = {0, LARGE, DESCRIBED, DESCRIBED | LARGE};
    for (size_t i = 0; i < COUNT_OF(flags); i++) {
        archive zip = {.size = 0};
        put_stored(&zip, "x/data/0", flags[i], "a 7 1\nPK", 8);
        put_stored(&zip, "x/empty", flags[i], "", 0);
        put_stored(&zip, "notdata.pkl", flags[i], "a 8 1\n", 6);
        put_stored(&zip, "x/data.pkl.old", flags[i], "a 9 1\n", 6);
        put_stored(&zip, i % 2 == 0 ? "x/data.pkl" : "data.pkl", flags[i], THREE, strlen(THREE));
        put_end(&zip);
        holds_three_events(&zip);
    }
}

/* What looks like a descriptor but has another size is content. */
static void content_may_hold_what_looks_like_its_end(void **state)
{
    (void)state;
    static const char content[] =
        "# PPKPK\x07PK\x07\x08PK\x07\x08sumsPK\x07\x08sums\x01\x01\x01\x01"
        "PK\x07\x08\n" THREE "# PK\x07\n";
    archive zip = {.size = 0};
    put_stored(&zip, "data.pkl", DESCRIBED, content, strlen(content));
    put_end(&zip);
    holds_three_events(&zip);
}

static void content_may_exceed_the_buffer(void **state)
{
    (void)state;
    size_t lines = 300000, size = 0;
    uint8_t *bytes = malloc(2 * lines + 400);
    archive zip = {.size = 0};
    put_header(&zip, "data.pkl", DESCRIBED, 0, 0);
    memcpy(bytes, zip.bytes, zip.size);
    size = zip.size;
    for (size_t i = 0; i < lines; i++)
        memcpy(bytes + size + 2 * i, "p\n", 2);
    size += 2 * lines;
    zip.size = 0;
    put_descriptor(&zip, DESCRIBED, 2 * lines);
    put_end(&zip);
    memcpy(bytes + size, zip.bytes, zip.size);
    fl_trace *trace = NULL;
    fl_error error = {0};
    if (fl_read_memory(bytes, size + zip.size, "p", NULL, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    assert_int_equal(fl_trace_event_count(trace, 0), lines);
    fl_trace_free(trace);
    free(bytes);
}

static void zip_fails(const archive *zip, fl_status status, const char *message)
{
    fl_trace *trace;
    fl_error error;
    assert_int_equal(read_zip(zip, &trace, &error), status);
    assert_string_equal(error.text, message);
}

static void archives_without_the_member_are_refused(void **state)
{
    (void)state;
    archive zip = {.size = 0};
    put_stored(&zip, "x/data", 0, THREE, strlen(THREE));
    put_end(&zip);
    zip_fails(&zip, FL_ERR_INPUT, "p:66: no snapshot in the zip data");
}

static void what_cannot_be_unpacked_is_said(void **state)
{
    (void)state;
    static const struct {
        unsigned flags, method;
    } cases[] = {{1, 0}, {0, 14}, {1, 8}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        archive zip = {.size = 0};
        put_header(&zip, "data.pkl", cases[i].flags, cases[i].method, 9);
        put(&zip, "123456789", 9);
        put_end(&zip);
        zip_fails(&zip, FL_ERR_UNAVAILABLE,
                  "p:44: packed inside the zip data in a way that this build cannot unpack");
    }
}

static void damage_is_told(const codec_packer *packer)
{
    size_t size;
    uint8_t *bytes = file_bytes("tests/data/snapshots/rs_basic.pickle", &size), packed[8192];
    size_t packed_size = packer->pack(bytes, size, packed, sizeof packed);
    for (size_t at = 4; at < packed_size; at++) {
        fl_trace *trace = NULL;
        fl_error error = {0};
        packed[at] ^= 0x55;
        fl_status status = fl_read_memory(packed, packed_size, "p", NULL, &trace, &error);
        bool is_told = status == FL_ERR_INPUT || status == FL_ERR_UNAVAILABLE;
        assert_true(status == FL_OK || (is_told && strncmp(error.text, "p:", 2) == 0));
        fl_trace_free(trace);
        packed[at] ^= 0x55;
    }
    free(bytes);
}

static void damage_gives_a_trace_or_a_sentence(void **state)
{
    (void)state;
    every_packer(damage_is_told);
}

static void what_torch_save_writes_is_read(void **state)
{
    (void)state;
    fl_trace *trace = NULL;
    fl_error error = {0};
    if (fl_read_file("tests/data/snapshots/fmt.torchsave.pt", NULL, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    fl_trace *plain = NULL;
    assert_int_equal(fl_read_file("tests/data/snapshots/fmt.proto2.pickle", NULL, &plain, NULL),
                     FL_OK);
    assert_int_equal(fl_trace_format(trace), FL_FORMAT_SNAPSHOT);
    assert_int_equal(fl_trace_event_count(trace, 0), fl_trace_event_count(plain, 0));
    assert_int_equal(fl_trace_warning_count(trace), 0);
    fl_trace_free(plain);
    fl_trace_free(trace);
}

#if FL_HAVE_ZLIB

static size_t deflate_raw(const void *bytes, size_t size, uint8_t *packed, size_t room)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)size};
    stream.next_out = packed;
    stream.avail_out = (uInt)room;
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    size_t packed_size = room - stream.avail_out;
    deflateEnd(&stream);
    return packed_size;
}

static void put_deflated(archive *zip, const char *name, unsigned flags, const void *bytes,
                         size_t size)
{
    uint8_t packed[8192];
    size_t packed_size = deflate_raw(bytes, size, packed, sizeof packed);
    put_header(zip, name, flags, 8, packed_size);
    put(zip, packed, packed_size);
    put_descriptor(zip, flags, packed_size);
}

static size_t pack_deflated(const uint8_t *bytes, size_t size, uint8_t *packed, size_t room)
{
    archive zip = {.size = 0};
    put_deflated(&zip, "x/data.pkl", DESCRIBED, bytes, size);
    put_end(&zip);
    assert_true(zip.size <= room);
    memcpy(packed, zip.bytes, zip.size);
    return zip.size;
}

static void deflated_members_are_unpacked(void **state)
{
    (void)state;
    static const codec_packer deflated = {"zip", pack_deflated};
    packed_cut_is_refused_at_every_byte(&deflated);
    packed_cut_gives_the_beginning_if_accepted(&deflated);
    damage_is_told(&deflated);
    packed_failing_requests_do_not_leak(&deflated);
    static const unsigned flags[] = {0, LARGE, DESCRIBED, DESCRIBED | LARGE};
    for (size_t i = 0; i < COUNT_OF(flags); i++) {
        archive zip = {.size = 0};
        put_deflated(&zip, "x/data/0", flags[i], "a 7 1\n", 6);
        put_deflated(&zip, "data.pkl", flags[i], THREE, strlen(THREE));
        put_end(&zip);
        holds_three_events(&zip);
    }
}

#else

static void deflated_members_are_unpacked(void **state)
{
    (void)state;
    archive zip = {.size = 0};
    put_header(&zip, "data.pkl", 0, 8, 2);
    put(&zip, "\x03\x00", 2);
    put_end(&zip);
    zip_fails(&zip, FL_ERR_UNAVAILABLE,
              "p:44: packed inside the zip data in a way that this build cannot unpack");
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cut_is_refused_at_every_byte),
        cmocka_unit_test(a_cut_gives_the_beginning_if_accepted),
        cmocka_unit_test(failing_requests_do_not_leak),
        cmocka_unit_test(the_member_is_found_behind_others),
        cmocka_unit_test(content_may_hold_what_looks_like_its_end),
        cmocka_unit_test(content_may_exceed_the_buffer),
        cmocka_unit_test(archives_without_the_member_are_refused),
        cmocka_unit_test(what_cannot_be_unpacked_is_said),
        cmocka_unit_test(damage_gives_a_trace_or_a_sentence),
        cmocka_unit_test(what_torch_save_writes_is_read),
        cmocka_unit_test(deflated_members_are_unpacked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
