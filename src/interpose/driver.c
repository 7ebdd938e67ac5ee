/* libcuda.so.1: the driver calls by which an allocator maps pages, over the card. */
#include "interpose/abi.h"
#include "interpose/card.h"

#include "device/pages.h"

static int driver_result(fl_answer answer)
{
    switch (answer) {
    case FL_ANSWER_OK:
        return FL_CUDA_SUCCESS;
    case FL_ANSWER_FULL:
        return FL_CUDA_OUT_OF_MEMORY;
    case FL_ANSWER_ERROR:
        break;
    }
    return fl_card_is_open() ? FL_CUDA_INVALID_VALUE : FL_CUDA_NO_DEVICE;
}

int cuMemGetAllocationGranularity(size_t *ret_granularity, const void *properties, int option)
{
    (void)properties;
    (void)option;
    *ret_granularity = FL_DEVICE_GRANULE;
    return FL_CUDA_SUCCESS;
}

int cuMemAddressReserve(uint64_t *ret_address, size_t size, size_t alignment, uint64_t hint,
                        unsigned long long flags)
{
    (void)alignment;
    (void)hint;
    (void)flags;
    return driver_result(fl_card_reserve(size, ret_address));
}

int cuMemAddressFree(uint64_t address, size_t size)
{
    return driver_result(fl_card_unreserve(address, size));
}

int cuMemCreate(unsigned long long *ret_page, size_t size, const void *properties,
                unsigned long long flags)
{
    (void)properties;
    (void)flags;
    uint64_t page;
    fl_answer answer = fl_card_page_create(size, &page);
    if (answer == FL_ANSWER_OK)
        *ret_page = page;
    return driver_result(answer);
}

int cuMemRelease(unsigned long long page)
{
    return driver_result(fl_card_page_free(page));
}

/* CUDA demands an offset of 0 as well. */
int cuMemMap(uint64_t address, size_t size, size_t offset, unsigned long long page,
             unsigned long long flags)
{
    (void)flags;
    return offset != 0 ? FL_CUDA_INVALID_VALUE : driver_result(fl_card_map(address, size, page));
}

int cuMemUnmap(uint64_t address, size_t size)
{
    return driver_result(fl_card_unmap(address, size));
}

int cuMemSetAccess(uint64_t address, size_t size, const void *access, size_t count)
{
    (void)address;
    (void)size;
    (void)access;
    (void)count;
    return FL_CUDA_SUCCESS;
}

int cuInit(unsigned flags)
{
    (void)flags;
    return fl_card_is_open() ? FL_CUDA_SUCCESS : FL_CUDA_NO_DEVICE;
}

int cuDriverGetVersion(int *ret_version)
{
    *ret_version = FL_CUDA_VERSION;
    return FL_CUDA_SUCCESS;
}

int cuDeviceGet(int *ret_device, int ordinal)
{
    if (ordinal != 0)
        return FL_CUDA_INVALID_DEVICE;
    *ret_device = 0;
    return FL_CUDA_SUCCESS;
}

/* No attribute: no multicast, no fabric handles, no direct access from elsewhere. */
int cuDeviceGetAttribute(int *ret_value, int attribute, int device)
{
    (void)attribute;
    (void)device;
    *ret_value = 0;
    return FL_CUDA_SUCCESS;
}

int cuDevicePrimaryCtxGetState(int device, unsigned *ret_flags, int *ret_is_active)
{
    (void)device;
    *ret_flags = 0;
    *ret_is_active = fl_card_is_open();
    return FL_CUDA_SUCCESS;
}

/* The one context; only its address means anything. */
static char driver_context;

int cuCtxGetCurrent(void **ret_context)
{
    *ret_context = &driver_context;
    return FL_CUDA_SUCCESS;
}

int cuCtxSetCurrent(void *context)
{
    (void)context;
    return FL_CUDA_SUCCESS;
}

static const struct {
    int error;
    const char *name, *text;
} driver_errors[] = {
    {FL_CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {FL_CUDA_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {FL_CUDA_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {FL_CUDA_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {FL_CUDA_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {FL_CUDA_SYMBOL_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {FL_CUDA_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {FL_CUDA_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
};

#define DRIVER_ERROR_COUNT (sizeof driver_errors / sizeof *driver_errors)

int cuGetErrorString(int error, const char **ret_text)
{
    for (size_t i = 0; i < DRIVER_ERROR_COUNT; i++)
        if (driver_errors[i].error == error) {
            *ret_text = driver_errors[i].text;
            return FL_CUDA_SUCCESS;
        }
    *ret_text = NULL;
    return FL_CUDA_INVALID_VALUE;
}

int cuGetErrorName(int error, const char **ret_name)
{
    for (size_t i = 0; i < DRIVER_ERROR_COUNT; i++)
        if (driver_errors[i].error == error) {
            *ret_name = driver_errors[i].name;
            return FL_CUDA_SUCCESS;
        }
    *ret_name = NULL;
    return FL_CUDA_INVALID_VALUE;
}
