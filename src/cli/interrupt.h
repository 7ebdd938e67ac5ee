/* Work that can be broken off and still give what it has: Ctrl-C asks for that once. */
#ifndef FL_CLI_INTERRUPT_H
#define FL_CLI_INTERRUPT_H

#include <stdbool.h>

/* From now on the first SIGINT is only noted; a second one ends the process as before. */
void fl_interrupt_catch(void);

/* Has one come? */
bool fl_interrupt_came(void);

/* SIGINT again does what it did before fl_interrupt_catch. */
void fl_interrupt_release(void);

#endif
