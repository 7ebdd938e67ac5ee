/* Files of which only a part is kept, up to the end of --range. */
#ifndef FL_CLI_PART_H
#define FL_CLI_PART_H

#include "cli/session.h"

/* Does what was kept lead to the same as the whole file?  Of a file that was read whole it does.
 * FL_ERR_RESOURCE. */
fl_status fl_part_suffices(const fl_session *session, fl_trace *trace, bool *ret_suffices,
                           fl_error *error);

#endif
