/* One lock around every call: programs use CUDA from many threads, and a watcher is to see the
 * steps in the order in which the books took them. */
#include "interpose/card.h"

#include "base/checked.h"
#include "base/extents.h"
#include "device/pages.h"

#include <pthread.h>

/* A CUDA library is one per process by its nature, so its state is too. */
static struct {
    pthread_mutex_t lock;
    fl_card_options options;
    fl_device *device; /* NULL: no card */
    fl_extents given;  /* segments by address: cudaFree does not tell the size */
    uint64_t mallocs;
} card = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Callers hold the lock. */
static void card_discard(void)
{
    fl_device_close(card.device);
    fl_extents_deinit(fl_host_default(), &card.given);
    card.device = NULL;
    card.given = (fl_extents){.count = 0};
    card.mallocs = 0;
}

static void card_tell(fl_card_step step, uint64_t address, uint64_t size)
{
    if (card.options.watch != NULL)
        card.options.watch(card.options.user, step, address, size);
}

fl_status fl_card_open(const fl_card_options *options, fl_error *error)
{
    fl_device_env env = {.capacity_bytes = options->capacity_bytes};
    if (!fl_add(options->capacity_bytes, options->context_bytes, &env.total_bytes))
        return fl_fail(error, FL_ERR_USAGE, "card: capacity and context are too large together");
    fl_device *device;
    fl_status status = fl_device_open(fl_device_find("sim"), &env, &device, error);
    if (status != FL_OK)
        return status;
    pthread_mutex_lock(&card.lock);
    card_discard();
    card.device = device;
    card.options = *options;
    pthread_mutex_unlock(&card.lock);
    return FL_OK;
}

void fl_card_close(void)
{
    pthread_mutex_lock(&card.lock);
    card_discard();
    pthread_mutex_unlock(&card.lock);
}

bool fl_card_is_open(void)
{
    pthread_mutex_lock(&card.lock);
    bool is_open = card.device != NULL;
    pthread_mutex_unlock(&card.lock);
    return is_open;
}

static fl_answer card_malloc(uint64_t size, uint64_t *ret_address)
{
    if (card.device == NULL)
        return FL_ANSWER_ERROR;
    uint64_t address;
    fl_answer answer = fl_device_acquire(card.device, size, 0, &address);
    if (answer == FL_ANSWER_FULL)
        card_tell(FL_CARD_MALLOC_REFUSED, 0, size);
    if (answer != FL_ANSWER_OK)
        return answer;
    fl_extent extent = {.address = address, .size = size};
    if (!fl_extents_insert(fl_host_default(), &card.given, extent, NULL)) {
        fl_device_release(card.device, address, size);
        return FL_ANSWER_ERROR;
    }
    card.mallocs++;
    card_tell(FL_CARD_MALLOC, address, size);
    *ret_address = address;
    return FL_ANSWER_OK;
}

fl_answer fl_card_malloc(uint64_t size, uint64_t *ret_address)
{
    pthread_mutex_lock(&card.lock);
    fl_answer answer = card_malloc(size, ret_address);
    pthread_mutex_unlock(&card.lock);
    return answer;
}

fl_answer fl_card_free(uint64_t address)
{
    fl_extent extent;
    fl_answer answer = FL_ANSWER_ERROR;
    pthread_mutex_lock(&card.lock);
    if (fl_extents_remove(&card.given, address, &extent)) {
        answer = fl_device_release(card.device, address, extent.size);
        card_tell(FL_CARD_FREE, address, extent.size);
    }
    pthread_mutex_unlock(&card.lock);
    return answer;
}

fl_answer fl_card_reserve(uint64_t size, uint64_t *ret_address)
{
    pthread_mutex_lock(&card.lock);
    fl_answer answer = FL_ANSWER_ERROR;
    if (card.device != NULL)
        answer = fl_device_reserve(card.device, size, FL_DEVICE_GRANULE, 0, ret_address);
    pthread_mutex_unlock(&card.lock);
    return answer;
}

fl_answer fl_card_unreserve(uint64_t address, uint64_t size)
{
    pthread_mutex_lock(&card.lock);
    fl_answer answer = FL_ANSWER_ERROR;
    if (card.device != NULL)
        answer = fl_device_unreserve(card.device, address, size);
    pthread_mutex_unlock(&card.lock);
    return answer;
}

fl_answer fl_card_page_create(uint64_t size, uint64_t *ret_page)
{
    pthread_mutex_lock(&card.lock);
    fl_answer answer = FL_ANSWER_ERROR;
    if (card.device != NULL)
        answer = fl_device_page_create(card.device, size, ret_page);
    if (answer == FL_ANSWER_FULL)
        card_tell(FL_CARD_PAGE_REFUSED, 0, fl_pages_footprint(size));
    pthread_mutex_unlock(&card.lock);
    return answer;
}

fl_answer fl_card_page_free(uint64_t page)
{
    pthread_mutex_lock(&card.lock);
    fl_answer answer = FL_ANSWER_ERROR;
    if (card.device != NULL)
        answer = fl_device_page_free(card.device, page);
    pthread_mutex_unlock(&card.lock);
    return answer;
}

fl_answer fl_card_map(uint64_t address, uint64_t size, uint64_t page)
{
    pthread_mutex_lock(&card.lock);
    fl_answer answer = FL_ANSWER_ERROR;
    if (card.device != NULL)
        answer = fl_device_map(card.device, address, size, page);
    if (answer == FL_ANSWER_OK)
        card_tell(FL_CARD_MAP, address, size);
    pthread_mutex_unlock(&card.lock);
    return answer;
}

fl_answer fl_card_unmap(uint64_t address, uint64_t size)
{
    pthread_mutex_lock(&card.lock);
    fl_answer answer = FL_ANSWER_ERROR;
    if (card.device != NULL)
        answer = fl_device_unmap(card.device, address, size);
    if (answer == FL_ANSWER_OK)
        card_tell(FL_CARD_UNMAP, address, size);
    pthread_mutex_unlock(&card.lock);
    return answer;
}

bool fl_card_get_use(fl_card_use *ret_use)
{
    pthread_mutex_lock(&card.lock);
    bool is_open = card.device != NULL;
    if (is_open) {
        const fl_device_info *info = fl_device_get_info(card.device);
        *ret_use = (fl_card_use){
            .total_bytes = info->total_bytes,
            .free_bytes = fl_device_free_bytes(card.device),
            .process_bytes = info->used_bytes + card.options.context_bytes,
            .mallocs = card.mallocs,
        };
    }
    pthread_mutex_unlock(&card.lock);
    return is_open;
}
