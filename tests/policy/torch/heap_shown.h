/* Between the files of the heap builder: what is heard, as text. */
#ifndef HEAP_SHOWN_H
#define HEAP_SHOWN_H

#include "heap_builder.h"

enum { MOST_STREAMS = 128, MOST_POOLS = 64 };

extern const fl_policy_ops fl_policy_torch;

struct heap {
    heap_conf conf;
    fl_device *device;
    torch *state;
    fl_sink sink;
    fl_oracle oracle;
    uint64_t complete_below; /* events with a lower number are complete */
    uint64_t streams[MOST_STREAMS];
    fl_pool_name pools[MOST_POOLS];
    const char *text_asked; /* of the line under way */
    fl_names names;
    struct {
        uint64_t *items;
        size_t count;
    } bases; /* of segments and ranges, by number */
    char *text;
    size_t length, capacity;
    uint32_t asked; /* the free that the last change asked for, or FL_NONE */
};

/* `12MiB`, `10MiB+512`, `2MiB-512`, `96KiB`, `1536`. */
const char *shown_size(uint64_t size, char *buffer, size_t capacity);

/* Adds to the text; begins an entry of it; ends the op under way. */
void shown_add(heap *h, const char *format, ...) FL_PRINTF(2, 3);
void shown_next(heap *h);
void shown_flush(heap *h);

/* The sink of changes; segments and blocks as they are now. */
void shown_change(void *user, const fl_change *change);
fl_status shown_heap(heap *h, fl_error *error);

#endif
