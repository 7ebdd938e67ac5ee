/* The line is rewritten in place with a carriage return and blanks, which every terminal knows. */
#include "cli/progress.h"

#include <inttypes.h>
#include <string.h>

#define SILENT_NS   UINT64_C(1000000000) /* work that takes no longer shows nothing */
#define INTERVAL_NS UINT64_C(100000000)
#define LINE_MOST   96

void fl_progress_begin(fl_progress *progress, const char *what)
{
    progress->what = what;
    progress->begun_ns = progress->host->now_ns(progress->host->user);
    progress->shown_ns = 0;
}

static void show(fl_progress *progress, const char *line)
{
    size_t width = strlen(line);
    size_t blanks = progress->width > width ? progress->width - width : 0;
    fprintf(progress->out, "\r%s%*s", line, (int)blanks, "");
    if (width == 0)
        fputc('\r', progress->out);
    fflush(progress->out);
    progress->width = width;
}

bool fl_progress_tick(void *user, uint64_t done, uint64_t total)
{
    fl_progress *progress = user;
    if (progress->out == NULL)
        return true;
    uint64_t now = progress->host->now_ns(progress->host->user);
    if (now - progress->begun_ns < SILENT_NS || now - progress->shown_ns < INTERVAL_NS)
        return true;
    progress->shown_ns = now;
    char amount[32], line[LINE_MOST + 1];
    if (total > 0)
        snprintf(amount, sizeof amount, "%3.0f%%", 100.0 * (double)done / (double)total);
    else
        snprintf(amount, sizeof amount, "%" PRIu64 " MB", done / 1000000);
    snprintf(line, sizeof line, "%.60s  %s", progress->what, amount);
    show(progress, line);
    return true;
}

void fl_progress_end(fl_progress *progress)
{
    if (progress->out != NULL && progress->width > 0)
        show(progress, "");
}
