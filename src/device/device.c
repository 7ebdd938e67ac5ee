/* Devices by name, and the wrapper around each of them that counts its calls. */
#include <fraglab/device.h>

#include "base/checked.h"
#include "base/memory.h"
#include "registry.h"

#include <string.h>

#define FL_PLUGIN(name) extern const fl_device_ops fl_device_##name;
FL_DEVICE_ROWS
#undef FL_PLUGIN

static const fl_device_ops *const device_rows[] = {
#define FL_PLUGIN(name) &fl_device_##name,
    FL_DEVICE_ROWS
#undef FL_PLUGIN
};

struct fl_device {
    const fl_device_ops *ops;
    struct fl_device_state *state;
    const fl_host *host;
    uint64_t capacity;
    fl_device_info info;
    fl_error error; /* of the last call, if it answered FL_ANSWER_ERROR */
};

const fl_device_ops *fl_device_at(size_t index)
{
    return index < sizeof device_rows / sizeof *device_rows ? device_rows[index] : NULL;
}

const fl_device_ops *fl_device_find(const char *name)
{
    for (size_t i = 0; fl_device_at(i) != NULL; i++)
        if (strcmp(fl_device_at(i)->name, name) == 0)
            return fl_device_at(i);
    return NULL;
}

fl_status fl_device_open(const fl_device_ops *ops, const fl_device_env *env, fl_device **ret_device,
                         fl_error *error)
{
    const fl_host *host = env->host != NULL ? env->host : fl_host_default();
    fl_device *device = fl_new(host, sizeof *device, error);
    if (device == NULL)
        return FL_ERR_RESOURCE;
    device->ops = ops;
    device->host = host;
    device->capacity = env->capacity_bytes;
    device->info.total_bytes = env->total_bytes != 0 ? env->total_bytes : env->capacity_bytes;
    device->info.least_refused_bytes = UINT64_MAX;
    fl_status status = FL_ERR_RESOURCE;
    device->state = fl_new(host, ops->state_size, error);
    if (device->state != NULL) {
        fl_device_env own = *env;
        own.host = host;
        own.error = &device->error;
        status = ops->open(device->state, &own, error);
    }
    if (status != FL_OK) {
        fl_device_close(device);
        return status;
    }
    device->info.used_bytes = ops->used(device->state);
    *ret_device = device;
    return FL_OK;
}

void fl_device_close(fl_device *device)
{
    if (device == NULL)
        return;
    if (device->state != NULL)
        device->ops->close(device->state);
    fl_delete(device->host, device->state, device->ops->state_size);
    fl_delete(device->host, device, sizeof *device);
}

static bool device_call_takes_memory(fl_call call)
{
    return call == FL_CALL_ACQUIRE || call == FL_CALL_PAGE_CREATE;
}

/* A new call: what an earlier one failed with is forgotten. */
static struct fl_device_state *device_enter(fl_device *device)
{
    device->error.status = FL_OK;
    return device->state;
}

/* Keeps the totals of a call that was answered; passes its answer on. */
static fl_answer device_count(fl_device *device, fl_call call, uint64_t size, fl_answer answer)
{
    fl_device_info *info = &device->info;
    if (answer == FL_ANSWER_OK) {
        info->calls[call][fl_log2(size)]++;
        info->used_bytes = device->ops->used(device->state);
        if (device_call_takes_memory(call) && info->used_bytes > info->most_granted_bytes)
            info->most_granted_bytes = info->used_bytes;
    } else if (answer == FL_ANSWER_FULL) {
        info->refusals++;
        uint64_t needed = UINT64_MAX;
        fl_add(info->used_bytes, device->ops->footprint(device->state, size), &needed);
        if (device_call_takes_memory(call) && needed < info->least_refused_bytes)
            info->least_refused_bytes = needed;
    }
    return answer;
}

fl_answer fl_device_acquire(fl_device *device, uint64_t size, uint32_t stream,
                            uint64_t *ret_address)
{
    fl_answer answer = device->ops->acquire(device_enter(device), size, stream, ret_address);
    return device_count(device, FL_CALL_ACQUIRE, size, answer);
}

fl_answer fl_device_release(fl_device *device, uint64_t address, uint64_t size)
{
    fl_answer answer = device->ops->release(device_enter(device), address, size);
    return device_count(device, FL_CALL_RELEASE, size, answer);
}

fl_answer fl_device_reserve(fl_device *device, uint64_t size, uint64_t page_size, uint32_t stream,
                            uint64_t *ret_address)
{
    fl_answer answer =
        device->ops->reserve(device_enter(device), size, page_size, stream, ret_address);
    return device_count(device, FL_CALL_RESERVE, size, answer);
}

fl_answer fl_device_unreserve(fl_device *device, uint64_t address, uint64_t size)
{
    fl_answer answer = device->ops->unreserve(device_enter(device), address, size);
    return device_count(device, FL_CALL_UNRESERVE, size, answer);
}

fl_answer fl_device_page_create(fl_device *device, uint64_t size, uint64_t *ret_page)
{
    fl_answer answer = device->ops->page_create(device_enter(device), size, ret_page);
    return device_count(device, FL_CALL_PAGE_CREATE, size, answer);
}

fl_answer fl_device_page_free(fl_device *device, uint64_t page)
{
    fl_answer answer = device->ops->page_free(device_enter(device), page);
    return device_count(device, FL_CALL_PAGE_FREE, 0, answer);
}

fl_answer fl_device_map(fl_device *device, uint64_t address, uint64_t size, uint64_t page)
{
    fl_answer answer = device->ops->map(device_enter(device), address, size, page);
    return device_count(device, FL_CALL_MAP, size, answer);
}

fl_answer fl_device_unmap(fl_device *device, uint64_t address, uint64_t size)
{
    fl_answer answer = device->ops->unmap(device_enter(device), address, size);
    return device_count(device, FL_CALL_UNMAP, size, answer);
}

/* Places memory that is there before the first op; `place` NULL: this device cannot. */
static fl_answer device_place(fl_device *device, uint64_t size, uint64_t address,
                              fl_answer (*place)(struct fl_device_state *, uint64_t, uint64_t))
{
    device_enter(device);
    if (place == NULL) {
        fl_fail(&device->error, FL_ERR_UNAVAILABLE, "device %s chooses its addresses itself",
                device->ops->name);
        return FL_ANSWER_ERROR;
    }
    fl_answer answer = place(device->state, size, address);
    device->info.used_bytes = device->ops->used(device->state);
    return answer;
}

fl_answer fl_device_acquire_at(fl_device *device, uint64_t size, uint64_t address)
{
    return device_place(device, size, address, device->ops->acquire_at);
}

fl_answer fl_device_reserve_at(fl_device *device, uint64_t size, uint64_t address)
{
    return device_place(device, size, address, device->ops->reserve_at);
}

void fl_device_begin(fl_device *device)
{
    fl_device_info *info = &device->info;
    memset(info->calls, 0, sizeof info->calls);
    info->refusals = 0;
    info->least_refused_bytes = UINT64_MAX;
    info->most_granted_bytes = info->used_bytes;
}

fl_answer fl_device_outside(fl_device *device, uint64_t bytes)
{
    device_enter(device);
    if (device->ops->outside == NULL) {
        fl_fail(&device->error, FL_ERR_UNAVAILABLE,
                "device %s does not know of memory taken outside", device->ops->name);
        return FL_ANSWER_ERROR;
    }
    fl_answer answer = device->ops->outside(device->state, bytes);
    device->info.used_bytes = device->ops->used(device->state);
    return answer;
}

fl_status fl_device_failure(const fl_device *device, fl_error *error)
{
    if (device->error.status == FL_OK)
        return fl_fail(error, FL_ERR_INTERNAL, "device %s failed without saying why",
                       device->ops->name);
    return fl_fail(error, device->error.status, "%s", device->error.text);
}

uint64_t fl_device_free_bytes(const fl_device *device)
{
    uint64_t used = device->info.used_bytes;
    return used < device->capacity ? device->capacity - used : 0;
}

const fl_device_info *fl_device_get_info(const fl_device *device)
{
    return &device->info;
}

const fl_device_ops *fl_device_get_ops(const fl_device *device)
{
    return device->ops;
}

struct fl_device_state *fl_device_get_state(fl_device *device)
{
    return device->state;
}
