#include "page.h"

#include <string.h>

static bool page_write(void *user, const char *data, size_t size)
{
    fl_page *page = user;
    if (page->length + size > page->room || page->length + size >= sizeof page->text)
        return false;
    memcpy(page->text + page->length, data, size);
    page->length += size;
    page->text[page->length] = '\0';
    return true;
}

fl_emit *page_open(fl_page *page, const char *format, const fl_host *host, bool has_color)
{
    memset(page, 0, sizeof *page);
    page->room = sizeof page->text;
    fl_emit_options options = {host, has_color, page_write, page};
    fl_emit *emit = NULL;
    fl_emit_open(fl_emit_find(format), &options, &emit, &page->error);
    return emit;
}

fl_status page_close(fl_page *page, fl_emit *emit)
{
    fl_status status = fl_emit_finish(emit, &page->error);
    fl_emit_close(emit);
    return status;
}
