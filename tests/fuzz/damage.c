/* damage STEP FILE...: each file cut at every byte, and with every byte changed to every other
 * value, or every STEPth of all these.
 *
 * Whatever the damage, the file is refused in words that name the place, or is a trace of which
 * everything holds that examine.h says. */
#include "examine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tally {
    uint64_t cases, refused, different, broken;
};

static void count(struct tally *tally, const char *path, const char *what, size_t at,
                  const examined *result)
{
    tally->cases++;
    tally->refused += result->read != FL_OK;
    tally->different += result->is_different;
    if (result->complaint[0] == '\0')
        return;
    if (tally->broken++ < 10)
        fprintf(stderr, "%s: %s byte %zu: %s\n", path, what, at, result->complaint);
}

/* The bytes lie in a piece of their own size, so that a sanitizer sees a read beyond them. */
static void try_cut(struct tally *tally, const char *path, const uint8_t *bytes, size_t size)
{
    uint8_t *piece = malloc(size + 1);
    memcpy(piece, bytes, size);
    for (int accept = 0; accept < 2; accept++) {
        examined result;
        examine_options options = {.accept_cut = accept};
        examine(piece, size, &options, &result);
        count(tally, path, "cut before", size, &result);
    }
    free(piece);
}

static void try_change(struct tally *tally, const char *path, uint8_t *bytes, size_t size,
                       size_t at, uint8_t change)
{
    examined result;
    examine_options options = {0};
    char what[32];
    snprintf(what, sizeof what, "changed by 0x%02x:", change);
    bytes[at] ^= change;
    examine(bytes, size, &options, &result);
    bytes[at] ^= change;
    count(tally, path, what, at, &result);
}

static struct tally damage(const char *path, uint8_t *bytes, size_t size, uint64_t step)
{
    struct tally tally = {0};
    uint64_t number = 0;
    for (size_t at = 0; at < size; at++, number++)
        if (number % step == 0)
            try_cut(&tally, path, bytes, at);
    for (size_t at = 0; at < size; at++)
        for (unsigned change = 1; change < 256; change++, number++)
            if (number % step == 0)
                try_change(&tally, path, bytes, size, at, (uint8_t)change);
    return tally;
}

static uint8_t *read_whole(const char *path, size_t *ret_size)
{
    static uint8_t buffer[1 << 20];
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    *ret_size = fread(buffer, 1, sizeof buffer, file);
    fclose(file);
    uint8_t *bytes = malloc(*ret_size + 1);
    memcpy(bytes, buffer, *ret_size);
    return bytes;
}

int main(int argc, char **argv)
{
    uint64_t step = argc > 2 ? strtoull(argv[1], NULL, 10) : 0;
    int result = step == 0;
    for (int i = 2; step > 0 && i < argc; i++) {
        size_t size;
        uint8_t *bytes = read_whole(argv[i], &size);
        if (bytes == NULL) {
            fprintf(stderr, "damage: %s: cannot be read\n", argv[i]);
            return 1;
        }
        struct tally tally = damage(argv[i], bytes, size, step);
        printf("%s: %" PRIu64 " cases, %" PRIu64 " refused, %" PRIu64 " different\n", argv[i],
               tally.cases, tally.refused, tally.different);
        result |= tally.broken > 0;
        free(bytes);
    }
    return result;
}
