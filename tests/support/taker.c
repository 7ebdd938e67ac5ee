#include "taker.h"

#include "test.h"

#include <stdlib.h>
#include <string.h>

bool taker_take(void *user, const char *data, size_t size)
{
    taker *to = user;
    if (to->most != 0 && to->length + size > to->most)
        return false;
    to->text = realloc(to->text, to->length + size + 1);
    assert_non_null(to->text);
    memcpy(to->text + to->length, data, size);
    to->length += size;
    to->text[to->length] = '\0';
    return true;
}
