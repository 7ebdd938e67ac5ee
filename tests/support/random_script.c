#include "random_script.h"

#include <stdio.h>

#define LIVE_MOST 64

struct noise {
    uint64_t state;
};

static uint64_t below(struct noise *noise, uint64_t limit)
{
    noise->state = noise->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (noise->state >> 33) % limit;
}

static uint64_t size_of(struct noise *noise)
{
    static const uint64_t most[] = {4 << 10, 1 << 20, 8 << 20, 30 << 20, 60 << 20, 120 << 20};
    return 1 + below(noise, most[below(noise, sizeof most / sizeof *most)]);
}

void random_script(uint64_t seed, size_t operations, unsigned streams, char *buffer, size_t size)
{
    struct noise noise = {seed * UINT64_C(0x9E3779B97F4A7C15) + 1};
    unsigned live[LIVE_MOST];
    unsigned live_count = 0, next = 0;
    size_t length = 0;
    for (size_t i = 0; i < operations; i++) {
        size_t room = size - length;
        int written;
        if (live_count == LIVE_MOST || (live_count > 0 && below(&noise, 100) < 45)) {
            unsigned at = (unsigned)below(&noise, live_count);
            written = snprintf(buffer + length, room, "f %u\n", live[at]);
            live[at] = live[--live_count];
        } else {
            unsigned long long bytes = size_of(&noise);
            unsigned stream = (unsigned)below(&noise, streams);
            written = snprintf(buffer + length, room, "a %u %llu %u\n", next, bytes, stream);
            live[live_count++] = next++;
        }
        length += (size_t)written;
    }
}
