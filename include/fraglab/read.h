/* fraglab/read.h - from a file to a trace. */
#ifndef FRAGLAB_READ_H
#define FRAGLAB_READ_H

#include <fraglab/base.h>
#include <fraglab/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fl_read_options {
    const fl_host *host; /* NULL: the default host */
    const char *format;  /* a reader's name, or NULL: found from the content */
    bool accept_cut;     /* a file cut off gives the whole events before the cut, and a warning */
    fl_range_end end;    /* of each device, the events from here on are not kept: fl_trace_behind */
    /* Called now and then with bytes read so far and in all (0: unknown); false stops the reading
     * with FL_ERR_NO.  May be NULL. */
    bool (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
} fl_read_options;

/* Reads a file (`-`: standard input; gzip and zstd are unpacked on the way).  On success the
 * caller owns *ret_trace.  On failure it is untouched and `error` names file, place and what was
 * expected: FL_ERR_INPUT, FL_ERR_UNAVAILABLE (packed, or of a version, that this build cannot
 * read), FL_ERR_RESOURCE.  A file whose events behind `end` turn out to be needed, as where they
 * are out of order, is read again and kept whole; standard input cannot be: FL_ERR_UNAVAILABLE. */
FL_API fl_status fl_read_file(const char *path, const fl_read_options *options,
                              fl_trace **ret_trace, fl_error *error);

/* The same from memory; `name` stands for the path in messages. */
FL_API fl_status fl_read_memory(const void *data, size_t size, const char *name,
                                const fl_read_options *options, fl_trace **ret_trace,
                                fl_error *error);

/* Names and summaries of the formats this build reads; false beyond the last. */
FL_API bool fl_reader_at(size_t index, const char **ret_name, const char **ret_summary);

#ifdef __cplusplus
}
#endif

#endif
