/* Unpacking: a codec turns the packed bytes of a file into content, piece by piece. */
#ifndef FL_READER_CODEC_H
#define FL_READER_CODEC_H

#include <fraglab/base.h>

/* Packed bytes at hand, from `at` to `end`. */
typedef struct fl_packed {
    const uint8_t *at, *end;
    uint8_t *buffer;
    bool is_last;        /* nothing follows `end` */
    uint64_t offset_end; /* file offset of `end` */
    uint64_t size;       /* of the file; 0: unknown */
} fl_packed;

typedef enum fl_decoded {
    FL_DECODED_SOME,    /* went on; needs packed bytes where none are left */
    FL_DECODED_END,     /* the content ended with the packed bytes */
    FL_DECODED_CUT,     /* the packed bytes ended in the middle */
    FL_DECODED_DAMAGED, /* they are not what they should be */
    FL_DECODED_NOTHING, /* no content is in them */
    FL_DECODED_UNKNOWN, /* packed in a way that this build cannot unpack */
    FL_DECODED_NO_MEMORY
} fl_decoded;

typedef struct fl_codec_ops {
    const char *name;
    bool (*probe)(const uint8_t *head, size_t size);
    /* NULL where this build lacks the library. */
    void *(*open)(const fl_host *host); /* NULL: no memory */
    /* Takes from `packed`, writes at most `room` bytes and tells how many. */
    fl_decoded (*decode)(void *state, fl_packed *packed, uint8_t *bytes, size_t room,
                         size_t *ret_size);
    void (*close)(void *state);
} fl_codec_ops;

extern const fl_codec_ops fl_codec_gzip, fl_codec_zstd, fl_codec_zip, fl_codec_html;

#endif
