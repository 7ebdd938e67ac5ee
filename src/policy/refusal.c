/* From what a policy tells of a refusal to what PyTorch would have printed. */
#include <fraglab/policy.h>

size_t fl_refusal_message(const fl_profile *profile, const fl_refusal *refusal, unsigned device,
                          const fl_process *processes, size_t process_count, char *buffer,
                          size_t size)
{
    if (refusal->is_rejected)
        return fl_rejection_message(refusal->requested_bytes, buffer, size);
    const fl_oom_facts facts = {
        .device = device,
        .total = refusal->total_bytes,
        .free = refusal->device_free_bytes,
        .allocated = refusal->allocated_bytes,
        .reserved = refusal->reserved_bytes,
        .private_free = refusal->private_free_bytes,
        .segment = refusal->segment_bytes,
        .limit = refusal->limit_bytes,
        .expandable = refusal->is_expandable,
        .reserve = refusal->reserve_bytes,
        .processes = processes,
        .process_count = process_count,
    };
    return fl_oom_message(profile, &facts, buffer, size);
}
