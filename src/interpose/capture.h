/* Stream capture: every stream of the process is being captured while a capture is open. */
#ifndef FL_INTERPOSE_CAPTURE_H
#define FL_INTERPOSE_CAPTURE_H

#include <fraglab/base.h>

#ifdef __cplusplus
extern "C" {
#endif

FL_API void fl_capture_begin(void);
FL_API void fl_capture_end(void); /* as often as it was begun */
FL_API bool fl_capture_is_open(void);

#ifdef __cplusplus
}
#endif

#endif
