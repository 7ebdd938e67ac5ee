/* Settings (18): defaults, and the text as each release reads it. */
#include "rules/sizes.h"

void fl_settings_default(const fl_profile *profile, fl_settings *ret_settings)
{
    (void)profile;
    *ret_settings = (fl_settings){
        .max_split_bytes = FL_UNLIMITED,
        .non_split_rounding_bytes = FL_FIXED_NON_SPLIT_ROUNDING,
        .large_segment_bytes = FL_LARGE_SEGMENT,
        .process_fraction = 1,
    };
}
