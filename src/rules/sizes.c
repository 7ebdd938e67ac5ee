/* Rounding by divisions (4.1). */
#include "rules/sizes.h"

uint64_t fl_round_to_divisions(uint64_t size, uint64_t divisions)
{
    if ((size & (size - 1)) == 0)
        return size;
    uint64_t power = UINT64_C(1) << fl_log2(size);
    uint64_t step = power >> fl_log2(divisions);
    if (step == 0)
        return 2 * power;
    return fl_round_up(size, step);
}
