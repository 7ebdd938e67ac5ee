/* Everything random comes from a hash of the seed and of what it is for, so one size becomes the
 * same other size wherever it is asked for, as it does when a batch is a little larger. */
#include "analysis/perturb.h"

#include "analysis/program.h"
#include "base/checked.h"

static uint64_t scramble(uint64_t seed, uint64_t value)
{
    uint64_t x = seed * UINT64_C(0x9E3779B97F4A7C15) + value;
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* From -1 to 1, in steps that every machine has alike. */
static double noise(uint64_t seed, uint64_t value)
{
    return (double)(scramble(seed, value) >> 44) / (1 << 19) - 1;
}

static uint64_t another_size(uint64_t size, double spread, uint64_t seed)
{
    uint64_t change = fl_truncate((double)size * spread * (noise(seed, size) + 1));
    uint64_t least = size - fl_truncate((double)size * spread);
    uint64_t sum = size;
    fl_add(least, change, &sum);
    return sum > 0 ? sum : size;
}

static bool is_request(const fl_op *op)
{
    return op->kind == FL_OP_ALLOC || op->kind == FL_OP_FREE;
}

/* On different streams and about different allocations nothing tells which came first. */
static bool may_swap(const fl_op *a, const fl_op *b)
{
    return is_request(a) && is_request(b) && a->id != b->id && a->stream != FL_NONE &&
           b->stream != FL_NONE && a->stream != b->stream;
}

static void change_program(fl_program *program, double spread, uint64_t seed)
{
    struct fl_op_vector *ops = &program->ops;
    for (size_t i = 0; i < ops->count; i++) {
        fl_op *op = &ops->items[i];
        if (op->kind == FL_OP_ALLOC && op->size > 0)
            op->size = another_size(op->size, spread, seed);
        if (i == 0 || !may_swap(op - 1, op) || scramble(seed, ~(uint64_t)i) % 2 == 0)
            continue;
        fl_op before = op[-1];
        op[-1] = *op;
        *op = before;
    }
}

fl_status fl_perturb(const fl_trace *trace, const fl_perturbation *how, const fl_host *host,
                     fl_trace **ret_trace, fl_error *error)
{
    fl_program program;
    fl_status status = fl_program_init(&program, host, trace, how->device, how->first_event,
                                       how->end_event, -1, error);
    if (status != FL_OK)
        return status;
    change_program(&program, how->spread, how->seed);
    status = fl_program_trace(&program, NULL, ret_trace, error);
    fl_program_deinit(&program);
    return status;
}
