/* fraglab/write.h - from a trace to a file. */
#ifndef FRAGLAB_WRITE_H
#define FRAGLAB_WRITE_H

#include <fraglab/base.h>
#include <fraglab/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fl_write_options {
    const char *comment; /* a line for people, where the format has room for one; NULL: none */
    /* What the trace does not state itself, but is known: the PyTorch release by which it is
     * understood (NULL: none), and the card's memory (0: not known). */
    const char *release;
    uint64_t capacity_bytes;
    /* Takes what is written, in pieces; false: it could not, which ends the writing. */
    bool (*write)(void *user, const char *data, size_t size);
    void *user;
    /* Told once for each thing in the trace that the format cannot hold, before anything is
     * written.  May be NULL. */
    void (*lost)(void *lost_user, const char *what);
    void *lost_user;
} fl_write_options;

/* Writes a trace, all its devices, in a format that fl_format_is_written knows.
 *
 * FL_ERR_OUTPUT: `write` could not.  FL_ERR_USAGE: there is no such format, or it is only read.
 * FL_ERR_UNAVAILABLE: the format cannot hold this trace at all, or only a part of it was read
 * (fl_trace_behind); the text says why.
 * FL_ERR_RESOURCE. */
FL_API fl_status fl_write_trace(const fl_trace *trace, const char *format,
                                const fl_write_options *options, fl_error *error);

/* Is this a format of fl_reader_at that is also written? */
FL_API bool fl_format_is_written(const char *format);

#ifdef __cplusplus
}
#endif

#endif
