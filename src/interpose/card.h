/* The card that the stand-ins for the CUDA libraries share: one per process, kept by libcuda.so.1.
 *
 * It is the `sim` device behind a lock, so a program that runs on the stand-ins sees the addresses
 * and the refusals of a replay.  Every step that changes memory can be watched.  A process that has
 * opened no card has no CUDA device. */
#ifndef FL_INTERPOSE_CARD_H
#define FL_INTERPOSE_CARD_H

#include <fraglab/device.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum fl_card_step {
    FL_CARD_MALLOC,         /* a segment was handed out: address, size asked for */
    FL_CARD_MALLOC_REFUSED, /* size asked for */
    FL_CARD_FREE,           /* address */
    FL_CARD_MAP,            /* a page was mapped: address, size */
    FL_CARD_UNMAP,          /* pages were unmapped: address, size */
    FL_CARD_PAGE_REFUSED    /* size in whole granules */
} fl_card_step;

typedef struct fl_card_options {
    uint64_t capacity_bytes; /* what this process can get */
    uint64_t context_bytes;  /* taken by its context; the card's size is the sum */
    /* Called after each step, in order, with the card locked; may be NULL. */
    void (*watch)(void *user, fl_card_step step, uint64_t address, uint64_t size);
    void *user;
} fl_card_options;

/* What NVML and cudaMemGetInfo say. */
typedef struct fl_card_use {
    uint64_t total_bytes, free_bytes;
    uint64_t process_bytes; /* handed out, and the context */
    uint64_t mallocs;       /* segments handed out so far */
} fl_card_use;

/* Puts a card into the process, in place of one that is open. */
FL_API fl_status fl_card_open(const fl_card_options *options, fl_error *error);
FL_API void fl_card_close(void); /* no open card: nothing */
FL_API bool fl_card_is_open(void);

/* The calls.  FL_ANSWER_ERROR: no card, or the device says that the call makes no sense. */
FL_API fl_answer fl_card_malloc(uint64_t size, uint64_t *ret_address);
FL_API fl_answer fl_card_free(uint64_t address);
FL_API fl_answer fl_card_reserve(uint64_t size, uint64_t *ret_address);
FL_API fl_answer fl_card_unreserve(uint64_t address, uint64_t size);
FL_API fl_answer fl_card_page_create(uint64_t size, uint64_t *ret_page);
FL_API fl_answer fl_card_page_free(uint64_t page);
FL_API fl_answer fl_card_map(uint64_t address, uint64_t size, uint64_t page);
FL_API fl_answer fl_card_unmap(uint64_t address, uint64_t size);

/* False, with nothing set: no card is open. */
FL_API bool fl_card_get_use(fl_card_use *ret_use);

#ifdef __cplusplus
}
#endif

#endif
