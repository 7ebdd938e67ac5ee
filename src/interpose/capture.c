#include "interpose/capture.h"

#include <stdatomic.h>

static atomic_uint capture_depth;

void fl_capture_begin(void)
{
    atomic_fetch_add(&capture_depth, 1);
}

void fl_capture_end(void)
{
    atomic_fetch_sub(&capture_depth, 1);
}

bool fl_capture_is_open(void)
{
    return atomic_load(&capture_depth) > 0;
}
