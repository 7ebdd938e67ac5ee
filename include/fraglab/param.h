/* fraglab/param.h - the options that a plugin (policy, device, observer) brings along, as rows.
 *
 * A table's rows end with a row whose key is NULL.  `NAME:key=value,key=value` on the command line
 * is parsed, checked and documented from them. */
#ifndef FRAGLAB_PARAM_H
#define FRAGLAB_PARAM_H

#include <fraglab/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum fl_param_type {
    FL_PARAM_SIZE, /* bytes, with or without a unit */
    FL_PARAM_COUNT,
    FL_PARAM_BOOL,
    FL_PARAM_REAL
} fl_param_type;

typedef struct fl_param {
    const char *key;
    fl_param_type type;
    const char *fallback; /* the default, as one would type it */
    double least, most;   /* inclusive range; both 0: any */
    const char *help;
} fl_param;

typedef union fl_param_value {
    uint64_t count; /* SIZE, COUNT */
    bool on;
    double real;
} fl_param_value;

/* Number of rows before the NULL key; 0 for NULL. */
FL_API size_t fl_param_count(const fl_param *rows);

/* Reads `key=value,key=value` (NULL or empty: all defaults) into `ret_values`, one per row.
 * FL_ERR_USAGE names the key, what was expected and the keys there are. */
FL_API fl_status fl_param_parse(const fl_param *rows, const char *text, fl_param_value *ret_values,
                                fl_error *error);

#ifdef __cplusplus
}
#endif

#endif
