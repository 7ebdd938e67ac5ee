#include "fuzz.h"

#include "examine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *reader_of(const char *target)
{
    const char *name, *summary;
    for (size_t i = 0; fl_reader_at(i, &name, &summary); i++)
        if (strcmp(name, target) == 0)
            return name;
    return NULL;
}

void fuzz_one(const char *target, const uint8_t *bytes, size_t size)
{
    examine_options options = {.format = reader_of(target)};
    for (int i = 0; i < 2; i++) {
        examined result;
        options.accept_cut = i == 1;
        examine(bytes, size, &options, &result);
        if (result.complaint[0] != '\0') {
            fprintf(stderr, "fuzz %s: %s\n", target, result.complaint);
            abort();
        }
        if (result.read == FL_OK)
            return;
    }
}
