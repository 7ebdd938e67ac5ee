/* A host whose nth request for memory fails, and which knows what is still held.
 *
 *     failing_host host;
 *     failing_host_init(&host, FAILING_HOST_NEVER);
 *     ... &host.host ...
 *     assert_int_equal(host.held_bytes, 0);
 */
#ifndef FAILING_HOST_H
#define FAILING_HOST_H

#include <fraglab/base.h>

#define FAILING_HOST_NEVER UINT64_MAX

typedef struct failing_host {
    fl_host host;
    uint64_t requests;   /* so far; frees are not counted */
    uint64_t failing;    /* this one fails, counted from 0, and all that follow */
    uint64_t held;       /* pieces not yet freed */
    uint64_t held_bytes; /* their sizes, as the callers tell them */
    uint64_t peak_bytes;
    uint64_t wrong_sizes; /* resizes or frees whose old size was not the piece's size */
    uint64_t clock_ns;    /* what the clock says; goes up by 1 at each look */
} failing_host;

void failing_host_init(failing_host *host, uint64_t failing);

/* Runs `body` with the first request failing, then the second, and so on until it succeeds.  Each
 * failure must be FL_ERR_RESOURCE and leave nothing held; returns how many were tried, or fails the
 * test that is running. */
uint64_t failing_host_sweep(fl_status (*body)(const fl_host *host, void *user, fl_error *error),
                            void *user);

#endif
