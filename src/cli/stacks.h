/* A stack as it is shown: in one line for people, frame by frame for programs. */
#ifndef FL_CLI_STACKS_H
#define FL_CLI_STACKS_H

#include "emit/emit.h"

#include <fraglab/trace.h>

#define FL_STACK_SIZE 2000 /* of a stack in text */

/* At most `most` frames: the operator, the innermost line of Python and those outside of PyTorch;
 * of a stack without Python the functions, without the allocator's own. */
void fl_stack_describe(const fl_trace *trace, uint32_t stack, uint64_t most, char *buffer,
                       size_t size);

/* All frames, as a table `frames`. */
void fl_stack_emit(fl_emit *emit, const fl_trace *trace, uint32_t stack);

#endif
