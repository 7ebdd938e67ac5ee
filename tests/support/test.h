/* cmocka and the headers that it wants before it, in the order it wants them; include this instead
 * of <cmocka.h>.  The blank line keeps clang-format from sorting it to the front. */
#ifndef TEST_H
#define TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

#endif
