/* Files that hold memory figures but no history: known by their first bytes, told what they are. */
#ifndef FL_READER_FOREIGN_H
#define FL_READER_FOREIGN_H

#include <fraglab/base.h>

#include <stddef.h>
#include <stdint.h>

/* FL_ERR_INPUT with a hint where these are the first bytes of such a file, else FL_OK. */
fl_status fl_foreign_refuse(const char *name, const uint8_t *head, size_t size, fl_error *error);

#endif
