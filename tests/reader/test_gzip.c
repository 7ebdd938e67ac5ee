#include "reader/input.h"

#include "assemble.h"
#include "available.h"
#include "failing_host.h"
#include "packed.h"
#include "test.h"

#if FL_HAVE_ZLIB

#include <zlib.h>

static size_t pack(const uint8_t *bytes, size_t size, uint8_t *packed, size_t room)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)size};
    stream.next_out = packed;
    stream.avail_out = (uInt)room;
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    size_t packed_size = room - stream.avail_out;
    deflateEnd(&stream);
    return packed_size;
}

static const codec_packer gzip = {"gzip", pack};

PACKED_TESTS(gzip)

#else

static void without_zlib_the_format_is_named(void **state)
{
    (void)state;
    packed_is_unavailable("\x1F\x8B\x08", 3, "p: packed with gzip, which this build lacks");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(without_zlib_the_format_is_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
