/* Pasted text without what pasting does to it: colours, HTML, the escapes of JSON and Python,
 * frames of tables, runs of blanks.  What remains is plain: words with one blank between them, or
 * one line feed where a line ended there.
 *
 * Cleaning happens as far as somebody looks, so that most text is never touched. */
#ifndef FL_RULES_CLEAN_H
#define FL_RULES_CLEAN_H

#include <fraglab/base.h>

#define FL_CLEAN_MOST 32768 /* raw bytes that are looked at */

typedef struct fl_clean {
    const char *raw;
    size_t raw_size, raw_at;
    size_t count;
    char bytes[FL_CLEAN_MOST];
    uint32_t origin[FL_CLEAN_MOST]; /* where each byte comes from */
} fl_clean;

/* Starts on `raw[0..size)`, which must stay; what is beyond FL_CLEAN_MOST does not exist. */
void fl_clean_start(fl_clean *clean, const char *raw, size_t size);

/* Cleans one more piece; false at the end. */
bool fl_clean_more(fl_clean *clean);

/* The byte at `at`, or -1 beyond the end. */
static inline int fl_clean_at(fl_clean *clean, size_t at)
{
    while (at >= clean->count)
        if (!fl_clean_more(clean))
            return -1;
    return at < FL_CLEAN_MOST ? (unsigned char)clean->bytes[at] : -1;
}

/* Where the byte at `at` comes from; beyond the last, the end of what was cleaned. */
size_t fl_clean_origin(const fl_clean *clean, size_t at);

#endif
