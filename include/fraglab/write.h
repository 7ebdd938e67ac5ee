/* fraglab/write.h - from a trace to a file. */
#ifndef FRAGLAB_WRITE_H
#define FRAGLAB_WRITE_H

#include <fraglab/base.h>
#include <fraglab/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fl_write_options {
    size_t trace_device; /* whose events */
    const char *comment; /* a line for people, behind the first one; NULL: none */
    /* Takes what is written, in pieces; false: it could not, which ends the writing. */
    bool (*write)(void *user, const char *data, size_t size);
    void *user;
} fl_write_options;

/* Writes one device's events as a script: everything that a replay asks for, under the card and the
 * settings that the trace states.  What was inferred stands in its place; what the allocator
 * answered, times, stacks and categories are left out.  Reading it gives the same ops, those left
 * out that do nothing (a completion that follows from other ops, a use of an unknown id); a free
 * that stays pending to the end completes there.
 *
 * FL_ERR_OUTPUT: `write` could not.  FL_ERR_UNAVAILABLE: the window is cut, an allocation from
 * before it is freed.  FL_ERR_RESOURCE. */
FL_API fl_status fl_write_script(const fl_trace *trace, const fl_write_options *options,
                                 fl_error *error);

#ifdef __cplusplus
}
#endif

#endif
