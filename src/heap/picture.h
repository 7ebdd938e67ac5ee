/* A heap as somebody walked it, kept so that two of them can be compared: what a policy says of
 * itself, what the changes say, what a snapshot recorded. */
#ifndef FL_HEAP_PICTURE_H
#define FL_HEAP_PICTURE_H

#include <fraglab/heap.h>

#include "base/vector.h"

struct fl_picture_segment {
    fl_segment_view view;
    size_t first_block, block_count;
};

FL_VECTOR(fl_picture_segments, struct fl_picture_segment);
FL_VECTOR(fl_picture_blocks, fl_block_view);

typedef struct fl_picture {
    const fl_host *host;
    struct fl_picture_segments segments;
    struct fl_picture_blocks blocks;
    fl_error error; /* the host had no memory for it */
} fl_picture;

/* An empty picture.  Free it with fl_picture_deinit. */
void fl_picture_init(fl_picture *picture, const fl_host *host);
void fl_picture_deinit(fl_picture *picture);

/* A walk that draws into the picture.  Free blocks that touch become one, so that a policy that
 * keeps them apart (buddies) draws the same as one that does not. */
fl_walk fl_picture_walk(fl_picture *picture);

/* FL_OK: they agree; what a free block requested is not looked at.  FL_ERR_NO: `error` says where
 * they differ first.  FL_ERR_RESOURCE: one of them could not be drawn.  `left_name` and
 * `right_name` stand for them in the text. */
fl_status fl_picture_compare(const fl_picture *left, const char *left_name, const fl_picture *right,
                             const char *right_name, fl_error *error);

#endif
