/* What a format brings: one const table in its own file, and its name in meson.build. */
#ifndef FL_READER_READER_H
#define FL_READER_READER_H

#include <fraglab/read.h>
#include <fraglab/write.h>

#include "reader/input.h"
#include "trace/build.h"

/* A probe sees at least this many bytes, or all there are. */
#define FL_PROBE_SIZE 512

typedef struct fl_reader_ops {
    const char *name;    /* as typed: --from script */
    const char *summary; /* one line for `fraglab list formats` */
    /* Is this the beginning of such a file?  At most one reader says so of any bytes. */
    bool (*probe)(const uint8_t *head, size_t size);
    /* Fills a new trace, all but the last step fl_trace_finish.  `options` has no NULL host. */
    fl_status (*read)(fl_input *input, const fl_read_options *options, fl_trace *trace,
                      fl_error *error);
    /* Writes a trace in this format; NULL: it is only read. */
    fl_status (*write)(const fl_trace *trace, const fl_write_options *options, fl_error *error);
} fl_reader_ops;

/* Is the word somewhere in these bytes?  For probes. */
bool fl_bytes_hold(const uint8_t *bytes, size_t size, const char *word);

#endif
