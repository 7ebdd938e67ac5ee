/* Edit distance that knows exchanged neighbours (optimal string alignment), over short words. */
#include <fraglab/suggest.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define WORD_MOST 40

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static int lower(char letter)
{
    return tolower((unsigned char)letter);
}

static unsigned distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    unsigned cost[WORD_MOST + 1][WORD_MOST + 1];
    for (size_t i = 0; i <= a_length; i++)
        cost[i][0] = (unsigned)i;
    for (size_t j = 0; j <= b_length; j++)
        cost[0][j] = (unsigned)j;
    for (size_t i = 1; i <= a_length; i++) {
        for (size_t j = 1; j <= b_length; j++) {
            bool is_same = lower(a[i - 1]) == lower(b[j - 1]);
            unsigned best = least(cost[i - 1][j], cost[i][j - 1]) + 1;
            best = least(best, cost[i - 1][j - 1] + !is_same);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]))
                best = least(best, cost[i - 2][j - 2] + 1);
            cost[i][j] = best;
        }
    }
    return cost[a_length][b_length];
}

static bool begins_with(const char *word, const char *beginning, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (lower(word[i]) != lower(beginning[i]))
            return false;
    }
    return true;
}

const char *fl_nearest(const char *const *words, const char *typed)
{
    size_t typed_length = strlen(typed);
    if (typed_length == 0 || typed_length > WORD_MOST)
        return NULL;
    const char *nearest = NULL;
    unsigned nearest_distance = (unsigned)(typed_length + 2) / 3 + 1; /* must be less than this */
    for (size_t i = 0; words[i] != NULL; i++) {
        size_t length = strlen(words[i]);
        if (length > WORD_MOST)
            continue;
        unsigned far = distance(typed, typed_length, words[i], length);
        if (length >= typed_length && begins_with(words[i], typed, typed_length))
            far = least(far, 1);
        if (far < nearest_distance) {
            nearest = words[i];
            nearest_distance = far;
        }
    }
    return nearest;
}

/* "'A100-40GB' or 'A100-80GB'": the words that begin as typed, as far as there is room. */
static size_t list_beginnings(const char *const *words, const char *typed, const char *lead,
                              char *buffer, size_t size)
{
    size_t count = 0, used = 0, length = strlen(typed);
    for (size_t i = 0; length > 0 && words[i] != NULL; i++) {
        if (strlen(words[i]) < length || !begins_with(words[i], typed, length))
            continue;
        int written = snprintf(buffer + used, size - used, "%s'%s%s'", count > 0 ? " or " : "",
                               lead, words[i]);
        if (written < 0 || (size_t)written >= size - used) {
            buffer[used] = '\0';
            break;
        }
        used += (size_t)written;
        count++;
    }
    return count;
}

fl_status fl_suggest(const char *const *words, const char *typed, const char *lead, fl_error *error)
{
    char several[200];
    const char *nearest = fl_nearest(words, typed);
    if (list_beginnings(words, typed, lead, several, sizeof several) > 1)
        fl_hint(error, "did you mean %s?", several);
    else if (nearest != NULL)
        fl_hint(error, "did you mean '%s%s'?", lead, nearest);
    return error != NULL ? error->status : FL_ERR_USAGE;
}
