/* Where bytes come from: a file, standard input or memory; gzip, zstd, zip and html are unpacked on
 * the way.
 *
 * The unread bytes at hand lie in one piece from `at` to `end`; a reader takes them by moving `at`
 * and asks for more with fl_input_fill.  Memory stays bounded by FL_INPUT_ROOM, whatever the size
 * of the file or the ratio of its compression. */
#ifndef FL_READER_INPUT_H
#define FL_READER_INPUT_H

#include <fraglab/read.h>

#include "reader/codec.h"

#define FL_INPUT_ROOM (256 * 1024)

/* What to try with a file that was cut off. */
#define FL_HINT_CUT "--partial takes the whole events before the cut"

typedef struct fl_input {
    const uint8_t *at, *end;
    bool is_last; /* nothing follows `end` */
    bool was_cut; /* packed data ended too early, and that is accepted */
    bool is_text; /* nothing but packing is looked through */

    const char *name; /* for messages */
    const fl_read_options *options;
    int file;            /* descriptor, or -1 for memory */
    uint64_t offset_end; /* content offset of `end` */
    uint8_t *buffer;     /* FL_INPUT_ROOM bytes of content; NULL while memory is read in place */
    fl_packed packed;    /* bytes as they lie in the file */
    const fl_codec_ops *codec; /* NULL: not packed */
    void *codec_state;
} fl_input;

/* Opens `path` (`-`: standard input), or memory where `path` is only a name.  On failure nothing is
 * left open.  `options` must outlive the input and has no NULL host. */
fl_status fl_input_open_file(fl_input *input, const char *path, const fl_read_options *options,
                             fl_error *error);
/* The same for a text: one that looks like a page or an archive is read as it is. */
fl_status fl_input_open_text(fl_input *input, const char *path, const fl_read_options *options,
                             fl_error *error);
fl_status fl_input_open_memory(fl_input *input, const void *data, size_t size, const char *name,
                               const fl_read_options *options, fl_error *error);
void fl_input_close(fl_input *input);

/* Makes at least `want` (<= FL_INPUT_ROOM) bytes lie at hand, or all that there are.  FL_ERR_INPUT:
 * unreadable or damaged; FL_ERR_UNAVAILABLE: packed in a way this build cannot unpack; FL_ERR_NO:
 * the caller's progress function stopped it. */
fl_status fl_input_fill(fl_input *input, size_t want, fl_error *error);

/* The byte order mark that some editors write in front of UTF-8; no binary form begins so.  Its
 * size, or 0 where there is none, and passing over it at the beginning of the content. */
size_t fl_mark_size(const uint8_t *head, size_t size);
fl_status fl_input_pass_mark(fl_input *input, fl_error *error);

/* Offset of `at` in the content, after unpacking. */
static inline uint64_t fl_input_offset(const fl_input *input)
{
    return input->offset_end - (uint64_t)(input->end - input->at);
}

#endif
