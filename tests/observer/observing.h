/* What an observer saw of a script, as CSV. */
#ifndef OBSERVING_H
#define OBSERVING_H

#include "observer/watch.h"

/* Replays a script (PyTorch 2.9.1, on the card that it states; refused requests are passed over)
 * with all observers on, and gives the table of one of them; lasts until the next call. */
const char *observed(const char *script, const char *observer, size_t rows);

/* Fails the test unless the table is this. */
#define assert_observed(script, observer, rows, expected)                                          \
    assert_string_equal(observed(script, observer, rows), expected)

#endif
