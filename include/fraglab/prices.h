/* fraglab/prices.h - what calls of the driver cost, in time.
 *
 * Prices never change what an allocator does: they are multiplied with the counts afterwards. Where
 * the defaults come from, and how far they are off, stands in docs/tuning.md. */
#ifndef FRAGLAB_PRICES_H
#define FRAGLAB_PRICES_H

#include <fraglab/base.h>
#include <fraglab/device.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum fl_price {
    FL_PRICE_MALLOC, /* cudaMalloc */
    FL_PRICE_FREE,   /* cudaFree, the wait for the device included */
    FL_PRICE_MAP,    /* a page made, mapped and made accessible */
    FL_PRICE_UNMAP,  /* a page unmapped and given back */
    FL_PRICE_RETRY,  /* what a retry costs beside its calls: the device is idle until it is done */
    FL_PRICE_COUNT
} fl_price;

typedef struct fl_prices {
    double call_us[FL_PRICE_COUNT];     /* each call */
    double mebibyte_us[FL_PRICE_COUNT]; /* and each MiB of it */
} fl_prices;

/* `malloc` and so on.  Never NULL for a price of the list. */
FL_API const char *fl_price_name(fl_price price);

FL_API fl_prices fl_prices_default(void);

/* Reads lines `NAME CALL_US MEBIBYTE_US` over `prices`; `#` begins a comment.  FL_ERR_INPUT names
 * the line; `prices` is then unchanged. */
FL_API fl_status fl_prices_parse(const char *text, size_t length, fl_prices *prices,
                                 fl_error *error);

/* What the calls of a replay cost.  Calls are known by the power of two that their size lies above,
 * and are taken to be half as large again. */
FL_API double fl_prices_cost_us(const fl_prices *prices, const fl_device_info *info,
                                uint64_t retries);

#ifdef __cplusplus
}
#endif

#endif
