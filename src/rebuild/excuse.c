/* What a file lacks, without which a decision cannot be determined: names and words. */
#include <fraglab/verify.h>

static const struct {
    const char *name, *sentence;
} excuse_words[FL_EXCUSE_COUNT] = {
    [FL_EXCUSE_NONE] = {"none", ""},
    [FL_EXCUSE_CUT_OFF] = {"cut_off", "the file ends before the operation that they belong to"},
    [FL_EXCUSE_UNKNOWN_START] = {"unknown_start", "what was there before the first event does not "
                                                  "follow from the rest"},
    [FL_EXCUSE_NOT_RECORDED] = {"not_recorded", "they follow from events of a kind that was left "
                                                "out while recording"},
    [FL_EXCUSE_OUT_OF_ORDER] = {"out_of_order", "the events are out of order, which could not be "
                                                "restored"},
    [FL_EXCUSE_NO_SETTINGS] = {"no_settings", "the settings are not in the file, and do not follow "
                                              "from the rest"},
    [FL_EXCUSE_OLD_ORDER] = {"old_order", "which of two that are alike came first, before the "
                                          "first event, is not known"},
    [FL_EXCUSE_OPEN_TAIL] = {"open_tail", "the size of a block from before the first event, freed "
                                          "since, is not known"},
    [FL_EXCUSE_NEWER_STATE] = {"newer_state", "the final state is newer than the last event, and "
                                              "what came in between was not recorded"},
    [FL_EXCUSE_OLD_AGE] = {"old_age", "how long a segment had been free before the first event, by "
                                      "which it is collected, is not known"},
};

const char *fl_excuse_name(fl_excuse excuse)
{
    return excuse_words[excuse].name;
}

const char *fl_excuse_sentence(fl_excuse excuse)
{
    return excuse_words[excuse].sentence;
}
