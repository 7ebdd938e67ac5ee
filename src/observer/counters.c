/* PyTorch's main statistics for any policy: counted from changes alone, so an allocator that keeps
 * no statistics has them too, and one that does can be checked.
 *
 * Names and meaning are those of torch.cuda.memory_stats (section 14 of docs/allocator-rules.md).
 * What only PyTorch's own bookkeeping knows (split blocks, retries) is left to the policy. */
#include "observer/observer.h"

enum { GROUP_ALL, GROUP_SMALL, GROUP_LARGE, GROUP_COUNT };

typedef enum counter {
    COUNTER_ALLOCATION,
    COUNTER_SEGMENT,
    COUNTER_ACTIVE,
    COUNTER_ALLOCATED_BYTES,
    COUNTER_RESERVED_BYTES,
    COUNTER_ACTIVE_BYTES,
    COUNTER_REQUESTED_BYTES,
    COUNTER_COUNT
} counter;

static const char *const counter_names[COUNTER_COUNT] = {
    [COUNTER_ALLOCATION] = "allocation",
    [COUNTER_SEGMENT] = "segment",
    [COUNTER_ACTIVE] = "active",
    [COUNTER_ALLOCATED_BYTES] = "allocated_bytes",
    [COUNTER_RESERVED_BYTES] = "reserved_bytes",
    [COUNTER_ACTIVE_BYTES] = "active_bytes",
    [COUNTER_REQUESTED_BYTES] = "requested_bytes",
};

/* By how much a change moves a counter. */
typedef enum measure { MEASURE_NONE, MEASURE_ONE, MEASURE_SIZE, MEASURE_REQUESTED } measure;

/* What each kind of change raises or lowers. */
static const struct effect {
    bool raises;
    uint8_t measures[COUNTER_COUNT]; /* measure */
} effects[FL_CHANGE_KIND_COUNT] = {
    [FL_CHANGE_ACQUIRE] =
        {true, {[COUNTER_SEGMENT] = MEASURE_ONE, [COUNTER_RESERVED_BYTES] = MEASURE_SIZE}},
    [FL_CHANGE_RELEASE] =
        {false, {[COUNTER_SEGMENT] = MEASURE_ONE, [COUNTER_RESERVED_BYTES] = MEASURE_SIZE}},
    [FL_CHANGE_MAP] = {true, {[COUNTER_RESERVED_BYTES] = MEASURE_SIZE}},
    [FL_CHANGE_UNMAP] = {false, {[COUNTER_RESERVED_BYTES] = MEASURE_SIZE}},
    [FL_CHANGE_PLACE] = {true,
                         {[COUNTER_ALLOCATION] = MEASURE_ONE,
                          [COUNTER_ACTIVE] = MEASURE_ONE,
                          [COUNTER_ALLOCATED_BYTES] = MEASURE_SIZE,
                          [COUNTER_ACTIVE_BYTES] = MEASURE_SIZE,
                          [COUNTER_REQUESTED_BYTES] = MEASURE_REQUESTED}},
    [FL_CHANGE_FREE_ASKED] =
        {false, {[COUNTER_ALLOCATION] = MEASURE_ONE, [COUNTER_ALLOCATED_BYTES] = MEASURE_SIZE}},
    [FL_CHANGE_FREE_DONE] = {false,
                             {[COUNTER_ACTIVE] = MEASURE_ONE,
                              [COUNTER_ACTIVE_BYTES] = MEASURE_SIZE,
                              [COUNTER_REQUESTED_BYTES] = MEASURE_REQUESTED}},
};

struct count {
    uint64_t current, peak, allocated, freed;
};

struct fl_observer_state {
    struct count counts[COUNTER_COUNT][GROUP_COUNT];
};

static fl_status counters_open(struct fl_observer_state *state, const fl_observer_env *env,
                               fl_error *error)
{
    (void)state, (void)env, (void)error;
    return FL_OK;
}

static void move_count(struct count *count, bool raises, uint64_t amount)
{
    if (!raises) {
        count->current -= amount;
        count->freed += amount;
        return;
    }
    count->current += amount;
    count->allocated += amount;
    if (count->current > count->peak)
        count->peak = count->current;
}

static void take_change(struct fl_observer_state *state, const fl_change *change)
{
    const struct effect *effect = &effects[change->kind];
    const uint64_t amounts[] = {
        [MEASURE_NONE] = 0,
        [MEASURE_ONE] = 1,
        [MEASURE_SIZE] = change->size,
        [MEASURE_REQUESTED] = change->requested,
    };
    int group = change->flags & FL_CHANGE_SMALL ? GROUP_SMALL : GROUP_LARGE;
    for (size_t i = 0; i < COUNTER_COUNT; i++) {
        if (effect->measures[i] == MEASURE_NONE)
            continue;
        uint64_t amount = amounts[effect->measures[i]];
        move_count(&state->counts[i][GROUP_ALL], effect->raises, amount);
        move_count(&state->counts[i][group], effect->raises, amount);
    }
}

static fl_status counters_view(struct fl_observer_state *state, const fl_view *view,
                               fl_error *error)
{
    (void)error;
    for (size_t i = 0; i < view->change_count; i++)
        take_change(state, &view->changes[i]);
    return FL_OK;
}

static void counters_emit(const struct fl_observer_state *state, fl_emit *emit)
{
    static const char *const groups[GROUP_COUNT] = {"all", "small_pool", "large_pool"};
    static const fl_emit_column columns[] = {
        {"name", "statistic", FL_EMIT_TEXT},    {"pool", "pool", FL_EMIT_TEXT},
        {"current", "current", FL_EMIT_COUNT},  {"peak", "peak", FL_EMIT_COUNT},
        {"allocated", "raised", FL_EMIT_COUNT}, {"freed", "lowered", FL_EMIT_COUNT},
    };
    fl_emit_table_begin(emit, "counters", "counters", columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < COUNTER_COUNT; i++) {
        for (size_t group = 0; group < GROUP_COUNT; group++) {
            const struct count *count = &state->counts[i][group];
            const fl_emit_value cells[] = {
                fl_emit_text(counter_names[i]),  fl_emit_text(groups[group]),
                fl_emit_count(count->current),   fl_emit_count(count->peak),
                fl_emit_count(count->allocated), fl_emit_count(count->freed),
            };
            fl_emit_row(emit, cells);
        }
    }
    fl_emit_table_end(emit);
}

static void counters_close(struct fl_observer_state *state)
{
    (void)state;
}

const fl_observer_ops fl_observer_counters = {
    .name = "counters",
    .summary = "PyTorch's main statistics, counted from what any policy did",
    .state_size = sizeof(struct fl_observer_state),
    .open = counters_open,
    .view = counters_view,
    .emit = counters_emit,
    .close = counters_close,
};
