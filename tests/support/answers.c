#include "answers.h"

#include "test.h"

#include <stdio.h>
#include <string.h>

size_t release_index(const char *release, size_t length)
{
    for (size_t i = 0; fl_profile_at(i) != NULL; i++) {
        const char *name = fl_profile_release(fl_profile_at(i));
        if (strlen(name) == length && memcmp(name, release, length) == 0)
            return i;
    }
    fail_msg("no release '%.*s'", (int)length, release);
    return 0;
}

/* `\x0b` in a data file stands for that byte. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; to++) {
        unsigned byte;
        if (from[0] == '\\' && from[1] == 'x' && sscanf(from + 2, "%2x", &byte) == 1) {
            *to = (char)byte;
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

size_t each_answer(const char *path, void (*check)(const answer_row *row))
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail_msg("%s: not there", path);
    char line[2048];
    size_t count = 0;
    assert_non_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *releases = strchr(line, '\t'), *answer = strrchr(line, '\t');
        assert_non_null(releases);
        *releases++ = '\0';
        *answer++ = '\0';
        unescape(line);
        unescape(answer);
        const char *last = strstr(releases, "..");
        size_t length = strcspn(releases, ".\t");
        answer_row r = {.text = line, .answer = answer};
        length = last != NULL ? (size_t)(last - releases) : strcspn(releases, "\t");
        r.first = release_index(releases, length);
        r.last = last != NULL ? release_index(last + 2, strcspn(last + 2, "\t")) : r.first;
        check(&r);
        count++;
    }
    fclose(file);
    return count;
}
