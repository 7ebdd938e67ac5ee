/* Reading JSON of a known shape, in the way that reader/pickle.h reads pickles. */
#ifndef FL_READER_JSON_H
#define FL_READER_JSON_H

#include "reader/pickle.h"

/* Like fl_pickle_read, for one value of JSON and the blanks around it. */
fl_status fl_json_read(fl_input *input, const fl_schema *schema, void *user, bool *ret_cut,
                       fl_error *error);

#endif
