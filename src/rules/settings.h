/* Reading settings as a release does, without asking whether this build can replay them. */
#ifndef FL_RULES_SETTINGS_H
#define FL_RULES_SETTINGS_H

#include <fraglab/settings.h>

/* As fl_settings_parse, but FL_ERR_UNAVAILABLE only for another backend than the native one. */
fl_status fl_settings_read(const fl_profile *profile, const char *text, fl_settings *settings,
                           fl_error *error);

#endif
