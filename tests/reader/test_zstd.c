#include "reader/input.h"

#include "assemble.h"
#include "available.h"
#include "failing_host.h"
#include "packed.h"
#include "test.h"

#if FL_HAVE_ZSTD

#include <zstd.h>

static size_t pack(const uint8_t *bytes, size_t size, uint8_t *packed, size_t room)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    size_t packed_size = ZSTD_compress2(context, packed, room, bytes, size);
    assert_false(ZSTD_isError(packed_size));
    ZSTD_freeCCtx(context);
    return packed_size;
}

static const codec_packer zstd = {"zstd", pack};

PACKED_TESTS(zstd)

#else

static void without_zstd_the_format_is_named(void **state)
{
    (void)state;
    packed_is_unavailable("\x28\xB5\x2F\xFD", 4, "p: packed with zstd, which this build lacks");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(without_zstd_the_format_is_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
