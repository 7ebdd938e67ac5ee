#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *file_read(const char *path, size_t *ret_size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("%s: not there", path);
    size_t size = 0, room = 1 << 16;
    char *text = malloc(room);
    assert_non_null(text);
    for (size_t got; (got = fread(text + size, 1, room - size - 1, file)) > 0;) {
        size += got;
        if (size + 1 == room) {
            text = realloc(text, room *= 2);
            assert_non_null(text);
        }
    }
    fclose(file);
    text[size] = '\0';
    *ret_size = size;
    return text;
}

table table_open(const char *path)
{
    size_t size;
    table t = {.text = file_read(path, &size)};
    t.at = strchr(t.text, '\n');
    assert_non_null(t.at);
    t.at++;
    return t;
}

bool table_next(table *t, char *ret_cells[3])
{
    char *end = strchr(t->at, '\n');
    if (end == NULL)
        return false;
    *end = '\0';
    ret_cells[0] = t->at;
    for (size_t i = 1; i < 3; i++) {
        char *tab = strchr(ret_cells[i - 1], '\t');
        assert_non_null(tab);
        *tab = '\0';
        ret_cells[i] = tab + 1;
    }
    t->at = end + 1;
    return true;
}

void table_close(table *t)
{
    free(t->text);
}

const fl_profile *release_named(const char *name)
{
    const fl_profile *profile;
    for (size_t i = 0; (profile = fl_profile_at(i)) != NULL; i++)
        if (strcmp(fl_profile_release(profile), name) == 0)
            return profile;
    fail_msg("no release '%s'", name);
    return NULL;
}
