/* The wordings of out-of-memory messages as templates: those of PyTorch, by which messages are
 * written (15, 21, 22) and read, and those of other programs, which are only read.
 *
 * `{name}` stands for a value, `{#name}` for one that may lack its unit.  `[...]` is left out where
 * a value in it does not apply; `[a|b]` is the first alternative that does; they do not nest.  What
 * stands before `^` must be there for a text to be this message; what follows may be cut off. */
#ifndef FL_RULES_LAYOUT_H
#define FL_RULES_LAYOUT_H

#include <fraglab/message.h>

typedef enum fl_value {
    /* sizes that are written */
    FL_VALUE_SEGMENT,
    FL_VALUE_TOTAL,
    FL_VALUE_FREE,
    FL_VALUE_ALLOCATED,
    FL_VALUE_RESERVED,
    FL_VALUE_UNALLOCATED,
    FL_VALUE_LIMIT,
    FL_VALUE_USED,   /* allocated, with the free blocks of private pools taken for used ... */
    FL_VALUE_UNUSED, /* ... and the rest of the reserved; wraps around where that is negative */
    FL_VALUE_PRIVATE,
    FL_VALUE_EXCEEDED, /* the reserve that the segment does not fit into */
    FL_VALUE_WRITTEN_SIZES,
    /* sizes that are only read */
    FL_VALUE_REQUESTED = FL_VALUE_WRITTEN_SIZES, /* by the program, not rounded by an allocator */
    FL_VALUE_ACTIVE,
    FL_VALUE_OTHER, /* on the device, and not this allocator's */
    FL_VALUE_OWN,   /* of the process */
    FL_VALUE_PEAK_ALLOCATED,
    FL_VALUE_PEAK_RESERVED,
    FL_VALUE_STUCK, /* free, in segments that cannot be released */
    FL_VALUE_POOL,  /* all that there is, taken at the start: total and reserved at once */
    FL_VALUE_SIZES,
    /* other */
    FL_VALUE_DEVICE = FL_VALUE_SIZES,
    FL_VALUE_DEVICE_CHARACTER,
    FL_VALUE_PROCESSES,
    FL_VALUE_CLASS,
    FL_VALUE_BACKEND,
    FL_VALUE_PID,
    FL_VALUE_PROCESS, /* what a process of others uses */
    FL_VALUE_OOMS,
    FL_VALUE_RETRIES,
    FL_VALUE_NUMBER, /* of no interest, as are words and what is skipped */
    FL_VALUE_WORD,
    FL_VALUE_SKIP,
    FL_VALUE_PLACE, /* a word that names a device in TensorFlow's way */
    FL_VALUE_SHAPE,
    FL_VALUE_TYPE,
    FL_VALUE_NO_FAILURE, /* nothing in the text: what stands before says that it is none */
    FL_VALUE_COUNT
} fl_value;

#define FL_LAYOUT_HEAD "{backend} out of memory. "

typedef enum fl_layout_when {
    FL_LAYOUT_ALWAYS,
    FL_LAYOUT_EXPANDABLE, /* written with expandable segments on */
    FL_LAYOUT_RAISED      /* read behind the name of an exception, else anybody may have said it */
} fl_layout_when;

typedef struct fl_layout {
    const char *name;
    unsigned first, last; /* releases, as for fl_message; 0: not a message of the allocator */
    fl_layout_when when;
    const char *text;
} fl_layout;

/* Later rows win where several of them could be written. */
extern const fl_layout fl_layouts[];
extern const size_t fl_layout_count;

/* The value that a template names at `at` (a `{`); *ret_after is behind its `}`. */
fl_value fl_layout_value(const char *at, const char **ret_after);

#endif
