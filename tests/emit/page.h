/* An emitter that writes into memory, for tests. */
#ifndef PAGE_H
#define PAGE_H

#include "emit/emit.h"

typedef struct fl_page {
    char text[16384]; /* what was written so far, NUL at its end */
    size_t length;
    size_t room; /* a sink that is full after so many bytes */
    fl_error error;
} fl_page;

/* Opens an emitter of the format onto an empty page. */
fl_emit *page_open(fl_page *page, const char *format, const fl_host *host, bool has_color);

/* Finishes and closes. */
fl_status page_close(fl_page *page, fl_emit *emit);

#endif
