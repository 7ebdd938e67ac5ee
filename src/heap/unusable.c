/* Names of the causes for which free bytes cannot serve a request. */
#include <fraglab/observe.h>

const char *fl_unusable_name(fl_unusable cause)
{
    static const char *const names[FL_UNUSABLE_COUNT] = {
        [FL_UNUSABLE_POOL] = "pool",         [FL_UNUSABLE_STREAM] = "stream",
        [FL_UNUSABLE_PENDING] = "pending",   [FL_UNUSABLE_PINNED] = "pinned",
        [FL_UNUSABLE_SPLIT] = "split_limit", [FL_UNUSABLE_DEVICE] = "device",
    };
    return cause < FL_UNUSABLE_COUNT ? names[cause] : NULL;
}
