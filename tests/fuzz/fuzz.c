#include "fuzz.h"

#include "examine.h"

#include <fraglab/explain.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *reader_of(const char *target)
{
    const char *name, *summary;
    for (size_t i = 0; fl_reader_at(i, &name, &summary); i++)
        if (strcmp(name, target) == 0)
            return name;
    return NULL;
}

/* What was found in a text: how much, and a sum over all of it. */
typedef struct told {
    uint64_t count, sum;
} told;

static fl_status take_explanation(void *user, const fl_explanation *explanation, fl_error *error)
{
    (void)error;
    told *all = user;
    all->count++;
    all->sum = all->sum * 31 + explanation->line;
    for (int i = 0; i < FL_FIGURE_COUNT; i++)
        all->sum = all->sum * 31 + explanation->message.figures[i].bytes;
    for (const char *at = explanation->sentence; *at != '\0'; at++)
        all->sum = all->sum * 31 + (unsigned char)*at;
    return FL_OK;
}

static told explain_pieces(const uint8_t *bytes, size_t size, size_t step)
{
    told all = {0};
    fl_explain *explain = NULL;
    fl_status status = fl_explain_open(NULL, take_explanation, &all, &explain, NULL);
    for (size_t at = 0; status == FL_OK && at < size; at += step)
        status = fl_explain_feed(explain, bytes + at, size - at < step ? size - at : step, NULL);
    if (status != FL_OK || fl_explain_finish(explain, NULL) != FL_OK)
        abort();
    fl_explain_close(explain);
    return all;
}

/* Any text has an end, and it does not matter in which pieces it comes. */
static void fuzz_explain(const uint8_t *bytes, size_t size)
{
    told whole = explain_pieces(bytes, size, size + 1), parts = explain_pieces(bytes, size, 61);
    if (whole.count == parts.count && whole.sum == parts.sum)
        return;
    fprintf(stderr, "fuzz explain: %llu messages in one piece, %llu in many\n",
            (unsigned long long)whole.count, (unsigned long long)parts.count);
    abort();
}

void fuzz_one(const char *target, const uint8_t *bytes, size_t size)
{
    if (strcmp(target, "explain") == 0) {
        fuzz_explain(bytes, size);
        return;
    }
    examine_options options = {.format = reader_of(target)};
    for (int i = 0; i < 2; i++) {
        examined result;
        options.accept_cut = i == 1;
        examine(bytes, size, &options, &result);
        if (result.complaint[0] != '\0') {
            fprintf(stderr, "fuzz %s: %s\n", target, result.complaint);
            abort();
        }
        if (result.read == FL_OK)
            return;
    }
}
