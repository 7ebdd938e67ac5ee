#include "explaining.h"

#include "test.h"

#include <stdio.h>
#include <string.h>

static fl_explanation last;
static size_t count;

static fl_status keep(void *user, const fl_explanation *explanation, fl_error *error)
{
    (void)user;
    (void)error;
    last = *explanation;
    count++;
    return FL_OK;
}

const fl_explanation *explain_text(const char *text)
{
    fl_explain *explain = NULL;
    count = 0;
    assert_int_equal(fl_explain_open(NULL, keep, NULL, &explain, NULL), FL_OK);
    assert_int_equal(fl_explain_feed(explain, text, strlen(text), NULL), FL_OK);
    assert_int_equal(fl_explain_finish(explain, NULL), FL_OK);
    fl_explain_close(explain);
    if (count != 1)
        fail_msg("%zu messages in:\n%s", count, text);
    return &last;
}

bool says(const fl_sentences *sentences, const char *words)
{
    for (size_t i = 0; i < sentences->count; i++)
        if (strstr(sentences->items[i], words) != NULL)
            return true;
    return false;
}

const fl_explanation *explain_sizes(const char *asked, const char *free, const char *process,
                                    const char *allocated, const char *unused)
{
    char text[2048];
    snprintf(text, sizeof text,
             "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate %s. GPU 0 has a total "
             "capacity of 8.00 GiB of which %s is free. %sOf the allocated memory %s is allocated "
             "by PyTorch, and %s is reserved by PyTorch but unallocated. If reserved but "
             "unallocated memory is large try setting "
             "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.",
             asked, free, process != NULL ? process : "", allocated, unused);
    return explain_text(text);
}
