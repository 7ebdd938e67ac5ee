/* Our own binary form of a trace: the columns as they lie in memory, so that a file is usable as
 * soon as it is mapped.
 *
 * A header, a list of sections, then the sections, each on a multiple of FLT_ALIGN; everything is
 * little-endian.  docs/formats/flt.md describes it.  Columns are used where they lie; the tables
 * beside them are copied, being small.  Nothing in a file is believed: every number that is used as
 * an index is checked when the file is loaded, and each section has a check sum, against damage. */
#ifndef FL_TRACE_FLT_H
#define FL_TRACE_FLT_H

#include "trace/build.h"

#define FLT_VERSION 1
#define FLT_MAGIC                                                                                  \
    "\x8F"                                                                                         \
    "FLT\r\n\x1A\n"
#define FLT_MAGIC_SIZE  8
#define FLT_HEADER_SIZE 32 /* magic, version, number of sections, size of the file, check sum */
#define FLT_ENTRY_SIZE  32 /* tag, device, offset, size, check sum */
#define FLT_ALIGN       64
#define FLT_WHOLE_FILE  UINT32_MAX /* device of a section that belongs to none */

#define FLT_TAG(a, b, c, d)                                                                        \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

/* The sections in their order; those of a device follow FLT_DEVICE once for each device.  What has
 * nothing in it is left out. */
enum {
    FLT_FILE = FLT_TAG('f', 'i', 'l', 'e'),        /* FLT_FILE_WORDS */
    FLT_FORMAT = FLT_TAG('f', 'r', 'o', 'm'),      /* name of the format it was read from, NUL */
    FLT_TEXTS = FLT_TAG('t', 'e', 'x', 't'),       /* each with a NUL behind it */
    FLT_STREAMS = FLT_TAG('s', 't', 'r', 'm'),     /* u64: values */
    FLT_POOLS = FLT_TAG('p', 'o', 'o', 'l'),       /* u64 twice: values */
    FLT_FRAMES = FLT_TAG('f', 'r', 'a', 'm'),      /* u32 three times: name, file, line */
    FLT_STACK_ENDS = FLT_TAG('s', 'e', 'n', 'd'),  /* u64: where each stack ends in the next */
    FLT_STACK_ITEMS = FLT_TAG('s', 't', 'a', 'k'), /* u32: frames of all stacks */
    FLT_WARNINGS = FLT_TAG('w', 'a', 'r', 'n'),    /* u32: texts */

    FLT_DEVICE = FLT_TAG('d', 'e', 'v', ' '), /* FLT_DEVICE_WORDS */
    FLT_KIND = FLT_TAG('k', 'i', 'n', 'd'),   /* the columns */
    FLT_FLAGS = FLT_TAG('f', 'l', 'a', 'g'),
    FLT_STREAM = FLT_TAG('s', 't', 'r', 'e'),
    FLT_ID = FLT_TAG('i', 'd', ' ', ' '),
    FLT_SIZE = FLT_TAG('s', 'i', 'z', 'e'),
    FLT_POOL = FLT_TAG('p', 'l', 'i', 'd'),
    FLT_STACK = FLT_TAG('s', 't', 'c', 'k'),
    FLT_ADDRESS = FLT_TAG('a', 'd', 'd', 'r'),
    FLT_TIME = FLT_TAG('t', 'i', 'm', 'e'),
    FLT_ORIGINALS = FLT_TAG('o', 'r', 'i', 'g'),      /* u64: the file's own numbers */
    FLT_CATEGORIES = FLT_TAG('c', 'a', 't', 'e'),     /* u32: texts */
    FLT_INSERTIONS = FLT_TAG('i', 'n', 's', 'e'),     /* FLT_INSERTION_WORDS each */
    FLT_NOTES = FLT_TAG('n', 'o', 't', 'e'),          /* FLT_NOTE_WORDS each */
    FLT_SEGMENTS = FLT_TAG('s', 'e', 'g', 's'),       /* final state: FLT_SEGMENT_WORDS each */
    FLT_BLOCKS = FLT_TAG('b', 'l', 'k', 's'),         /* FLT_BLOCK_WORDS each */
    FLT_START_SEGMENTS = FLT_TAG('s', 's', 'e', 'g'), /* a start state that was told: the same */
    FLT_START_BLOCKS = FLT_TAG('s', 'b', 'l', 'k'),
    FLT_START_RANGES = FLT_TAG('s', 'r', 'n', 'g') /* FLT_RANGE_WORDS each */
};

/* Records are words of 64 bits; these are the words' places. */
enum {
    FLT_F_FORMAT,
    FLT_F_FLAGS,
    FLT_F_CONF,
    FLT_F_RELEASE,
    FLT_F_CAPACITY,
    FLT_F_FIRST_MAJOR,
    FLT_F_FIRST_MINOR,
    FLT_F_LAST_MAJOR,
    FLT_F_LAST_MINOR,
    FLT_F_ANNOTATIONS,
    FLT_F_HOST_SEGMENTS,
    FLT_F_HOST_BYTES,
    FLT_F_HOST_EVENTS,
    FLT_F_DEVICES,
    FLT_FILE_WORDS
};
enum {
    FLT_LACKS_CONF = 1,
    FLT_KNOWS_RELEASES = 2,
    FLT_LACKS_POOLS = 4,
    FLT_HAS_BLOCK_SIZES = 8,
    FLT_HAS_OPS = 16,
    FLT_IS_INFERRED = 32
};

enum {
    FLT_D_EVENTS,
    FLT_D_ALLOCS,
    FLT_D_FLAGS,
    FLT_D_FIRST_ID, /* of what was there before the first event */
    FLT_D_BEFORE,   /* and how much that was */
    FLT_D_SHOWN,
    FLT_D_IMPOSSIBLE,
    FLT_D_IMPOSSIBLE_TEXT,
    FLT_D_UNRECORDED,
    FLT_D_LEFT_OUT,
    FLT_DEVICE_WORDS
};
enum {
    FLT_HAS_FINAL = 1,
    FLT_IS_COMPLETE = 2,
    FLT_TELLS_START = 4,
    FLT_IS_REORDERED = 8,
    FLT_IS_DISORDERED = 16,
    FLT_STARTS_LATE = 32,
    FLT_IS_NEWER = 64
};

enum {
    FLT_S_SEGMENT,
    FLT_S_STREAM,
    FLT_S_POOL,
    FLT_S_FLAGS,
    FLT_S_ADDRESS,
    FLT_S_SIZE,
    FLT_SEGMENT_WORDS
};
enum { FLT_IS_SMALL = 1, FLT_IS_EXPANDABLE = 2 };

enum {
    FLT_B_STATE,
    FLT_B_ID,
    FLT_B_ADDRESS,
    FLT_B_SIZE,
    FLT_B_REQUESTED,
    FLT_B_STACK,
    FLT_BLOCK_WORDS
};

enum {
    FLT_I_EVENT,
    FLT_I_KIND,
    FLT_I_FLAGS,
    FLT_I_ID,
    FLT_I_STREAM,
    FLT_I_POOL,
    FLT_I_TEXT,
    FLT_I_SIZE,
    FLT_I_ADDRESS,
    FLT_INSERTION_WORDS
};

enum { FLT_N_EVENT, FLT_N_TEXT, FLT_NOTE_WORDS };
enum { FLT_R_ADDRESS, FLT_R_ROOM, FLT_R_PAGE, FLT_RANGE_WORDS };

/* The columns' sections, by column. */
extern const uint32_t fl_flt_column_tags[FL_COLUMN_COUNT];

uint64_t fl_flt_checksum(const void *bytes, size_t size);

/* Is this a host on which the columns can be used as they lie? */
bool fl_flt_fits_host(void);

/* Hands a trace over piece by piece.  FL_ERR_OUTPUT: `write` could not; FL_ERR_RESOURCE;
 * FL_ERR_UNAVAILABLE: not on this host. */
fl_status fl_flt_save(const fl_trace *trace,
                      bool (*write)(void *user, const char *data, size_t size), void *user,
                      fl_error *error);

/* Fills a new trace from the bytes in its image or mapping, which are on a multiple of 8, and
 * judges nothing anew: fl_trace_finish has nothing left to do.  `name` stands for the file in
 * messages.  FL_ERR_INPUT: `NAME:OFFSET: what is wrong`; FL_ERR_UNAVAILABLE: another version, or
 * not on this host. */
fl_status fl_flt_load(fl_trace *trace, const char *name, fl_error *error);

/* Parts of the latter, in flt_check.c: is every number in a device's columns, its final and its
 * start state one that a reader of another format could have put there?  NULL, or what is wrong;
 * *ret_index is then the first event that cannot be.  `before`: how many numbers are those of
 * allocations from before the first event. */
const char *fl_flt_check_events(const fl_trace *trace, const fl_trace_device *device,
                                uint64_t before, uint64_t *ret_index);
const char *fl_flt_check_final(const fl_trace *trace, const fl_trace_device *device);
const char *fl_flt_check_start(const fl_trace *trace, const fl_trace_device *device,
                               uint64_t before);
const char *fl_flt_check_tables(const fl_trace *trace);
const char *fl_flt_check_lists(const fl_trace *trace, const fl_trace_device *device);

#endif
