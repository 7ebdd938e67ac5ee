/* What the writing and the loading of .flt files share. */
#include "trace/flt.h"

#include <string.h>

const uint32_t fl_flt_column_tags[FL_COLUMN_COUNT] = {
    [FL_COLUMN_KIND] = FLT_KIND,     [FL_COLUMN_FLAGS] = FLT_FLAGS,
    [FL_COLUMN_STREAM] = FLT_STREAM, [FL_COLUMN_ID] = FLT_ID,
    [FL_COLUMN_SIZE] = FLT_SIZE,     [FL_COLUMN_POOL] = FLT_POOL,
    [FL_COLUMN_STACK] = FLT_STACK,   [FL_COLUMN_ADDRESS] = FLT_ADDRESS,
    [FL_COLUMN_TIME] = FLT_TIME,
};

#define LANES      4
#define MULTIPLIER UINT64_C(0x9E3779B97F4A7C15)

static uint64_t lane_step(uint64_t lane, uint64_t word)
{
    lane ^= word;
    return (lane << 29 | lane >> 35) * MULTIPLIER;
}

/* Each step is a bijection of its lane, so no change of a single word goes unseen; four lanes, so
 * that the multiplications of one do not wait for those of another. */
uint64_t fl_flt_checksum(const void *bytes, size_t size)
{
    uint64_t lanes[LANES] = {1, 2, 3, 4}, words[LANES];
    const unsigned char *at = bytes;
    size_t left = size;
    for (; left >= sizeof words; left -= sizeof words, at += sizeof words) {
        memcpy(words, at, sizeof words);
        for (size_t i = 0; i < LANES; i++)
            lanes[i] = lane_step(lanes[i], words[i]);
    }
    if (left > 0) {
        memset(words, 0, sizeof words);
        memcpy(words, at, left);
        for (size_t i = 0; i < LANES; i++)
            lanes[i] = lane_step(lanes[i], words[i]);
    }
    uint64_t sum = lane_step(MULTIPLIER, size);
    for (size_t i = 0; i < LANES; i++)
        sum = lane_step(sum ^ (sum >> 32), lanes[i]);
    return sum ^ (sum >> 32);
}

bool fl_flt_fits_host(void)
{
    const uint16_t word = 1;
    unsigned char low;
    memcpy(&low, &word, sizeof low);
    return low == 1;
}
