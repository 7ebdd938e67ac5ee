/* Each piece carries its size in front, so that callers who tell a wrong old size are caught. */
#include "failing_host.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define HEADER sizeof(max_align_t)

static void *failing_host_resize(void *user, void *piece, size_t old_size, size_t new_size)
{
    failing_host *host = user;
    char *start = piece != NULL ? (char *)piece - HEADER : NULL;
    size_t size = 0;
    if (start != NULL)
        memcpy(&size, start, sizeof size);
    host->wrong_sizes += size != old_size;
    if (new_size > 0 && host->requests++ >= host->failing)
        return NULL;
    if (new_size == 0) {
        free(start);
    } else {
        start = new_size <= SIZE_MAX - HEADER ? realloc(start, new_size + HEADER) : NULL;
        if (start == NULL)
            return NULL;
        memcpy(start, &new_size, sizeof new_size);
    }
    host->held += (uint64_t)(new_size > 0) - (uint64_t)(piece != NULL);
    host->held_bytes += new_size - size;
    if (host->held_bytes > host->peak_bytes)
        host->peak_bytes = host->held_bytes;
    return new_size > 0 ? start + HEADER : NULL;
}

static uint64_t failing_host_now(void *user)
{
    failing_host *host = user;
    return host->clock_ns++;
}

void failing_host_init(failing_host *host, uint64_t failing)
{
    *host = (failing_host){.failing = failing};
    host->host = (fl_host){failing_host_resize, failing_host_now, host};
}

uint64_t failing_host_sweep(fl_status (*body)(const fl_host *host, void *user, fl_error *error),
                            void *user)
{
    for (uint64_t failing = 0;; failing++) {
        failing_host host;
        failing_host_init(&host, failing);
        fl_error error = {0};
        fl_status status = body(&host.host, user, &error);
        if (host.held != 0 || host.wrong_sizes != 0)
            fail_msg("request %llu failing: %llu pieces held, %llu wrong sizes",
                     (unsigned long long)failing, (unsigned long long)host.held,
                     (unsigned long long)host.wrong_sizes);
        if (status == FL_OK && host.requests <= failing)
            return failing;
        if (status != FL_ERR_RESOURCE || error.status != FL_ERR_RESOURCE)
            fail_msg("request %llu failing: status %d, '%s'", (unsigned long long)failing,
                     (int)status, error.text);
    }
}
