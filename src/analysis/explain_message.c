#include "analysis/explain.h"

#include <string.h>

const char *fl_certainty_name(fl_certainty certainty)
{
    static const char *const names[] = {"proved", "likely", "guessed", "none"};
    return names[certainty];
}

void fl_explain_message(const fl_message *message, fl_explanation *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->message = *message;
    fl_judge judge = {.message = &ret->message, .out = ret};
    fl_explain_request(&judge);
    fl_explain_outside(&judge);
    fl_explain_contradictions(&judge);
    if (!fl_explain_others(&judge)) {
        fl_explain_pytorch(&judge);
        fl_explain_evidence(&judge);
        fl_explain_advice(&judge);
    }
    fl_explain_printed_advice(&judge);
}
