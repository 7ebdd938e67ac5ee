#include "seal.h"

#include "trace/flt.h"

#include <string.h>

enum { COUNT_AT = 12, SIZE_AT = 16, CHECK_AT = 24, OFFSET_AT = 8, LENGTH_AT = 16 };

static uint64_t get(const uint8_t *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;)
        value = value << 8 | bytes[i];
    return value;
}

static void put(uint8_t *bytes, uint64_t value)
{
    for (size_t i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

bool seal_flt(uint8_t *bytes, size_t size)
{
    if (size < FLT_HEADER_SIZE || memcmp(bytes, FLT_MAGIC, FLT_MAGIC_SIZE) != 0)
        return false;
    uint64_t count = get(bytes + COUNT_AT, 4);
    if (count > (size - FLT_HEADER_SIZE) / FLT_ENTRY_SIZE)
        return false;
    for (uint64_t i = 0; i < count; i++) {
        uint8_t *entry = bytes + FLT_HEADER_SIZE + (size_t)i * FLT_ENTRY_SIZE;
        uint64_t offset = get(entry + OFFSET_AT, 8), length = get(entry + LENGTH_AT, 8);
        if (offset <= size && length <= size - offset && offset % 8 == 0)
            put(entry + CHECK_AT, fl_flt_checksum(bytes + offset, (size_t)length));
    }
    put(bytes + SIZE_AT, size);
    put(bytes + CHECK_AT, fl_flt_checksum(bytes + FLT_HEADER_SIZE, (size_t)count * FLT_ENTRY_SIZE));
    return true;
}
