/* The life of every segment: when it came and went, how full it was, and what pins it now.
 *
 * Occupancy is the share of its bytes that were allocated, at its most and on average over the
 * events of its life.  Of an expandable segment the bytes are those mapped at most. */
#include "base/vector.h"
#include "observer/observer.h"

struct life {
    uint64_t address, size, most_size;
    uint64_t born, died; /* events; died UINT64_MAX: it is there */
    uint64_t live, most_live;
    uint64_t since; /* the event up to which `sum` counts */
    double sum;     /* live bytes times events */
    uint64_t placed;
    uint32_t pins; /* live blocks now */
    uint32_t stream, pool;
    bool is_known, is_small, is_expandable;
};

FL_VECTOR(lives, struct life);

struct fl_observer_state {
    const fl_host *host;
    const fl_names *names;
    struct lives lives; /* by segment number */
    uint64_t last_event;
};

static fl_status segments_open(struct fl_observer_state *state, const fl_observer_env *env,
                               fl_error *error)
{
    (void)error;
    state->host = env->host;
    state->names = env->names;
    return FL_OK;
}

static struct life *segments_at(struct fl_observer_state *state, const fl_change *change,
                                fl_error *error)
{
    struct lives *lives = &state->lives;
    if (change->segment >= lives->count) {
        size_t missing = change->segment + (size_t)1 - lives->count;
        if (!fl_vector_reserve(state->host, lives, missing, error))
            return NULL;
        while (lives->count <= change->segment)
            lives->items[lives->count++] = (struct life){.died = UINT64_MAX};
    }
    return &lives->items[change->segment];
}

static void segments_begin(struct life *life, const fl_change *change, uint64_t event)
{
    *life = (struct life){
        .address = change->address,
        .born = event,
        .died = UINT64_MAX,
        .since = event,
        .stream = change->stream,
        .pool = change->pool,
        .is_known = true,
        .is_small = (change->flags & FL_CHANGE_SMALL) != 0,
        .is_expandable = (change->flags & FL_CHANGE_EXPANDABLE) != 0,
    };
}

static void segments_grow(struct life *life, uint64_t bytes)
{
    life->size += bytes;
    if (life->size > life->most_size)
        life->most_size = life->size;
}

static inline void segments_hold(struct life *life, uint64_t event)
{
    life->sum += (double)life->live * (double)(event - life->since);
    life->since = event;
}

static void segments_take(struct life *life, const fl_change *change, uint64_t event)
{
    if (!life->is_known)
        segments_begin(life, change, event);
    switch (change->kind) {
    case FL_CHANGE_PLACE:
        segments_hold(life, event);
        life->live += change->size;
        if (life->live > life->most_live)
            life->most_live = life->live;
        life->placed++;
        life->pins++;
        break;
    case FL_CHANGE_FREE_ASKED:
        segments_hold(life, event);
        life->live -= change->size;
        life->pins--;
        break;
    case FL_CHANGE_ACQUIRE:
    case FL_CHANGE_MAP:
        segments_grow(life, change->size);
        break;
    case FL_CHANGE_UNMAP:
        life->size -= change->size;
        break;
    case FL_CHANGE_RELEASE:
    case FL_CHANGE_UNRESERVE:
        life->died = event;
        break;
    default:
        break;
    }
}

static fl_status segments_view(struct fl_observer_state *state, const fl_view *view,
                               fl_error *error)
{
    for (size_t i = 0; i < view->change_count; i++) {
        const fl_change *change = &view->changes[i];
        if (change->segment == FL_NONE)
            continue; /* refused by the device */
        struct life *life = segments_at(state, change, error);
        if (life == NULL)
            return FL_ERR_RESOURCE;
        segments_take(life, change, view->event);
    }
    state->last_event = view->event;
    return FL_OK;
}

/* Live bytes on average over its life, to the last event. */
static fl_emit_value segments_mean(const struct fl_observer_state *state, const struct life *life)
{
    uint64_t end = life->died != UINT64_MAX ? life->died : state->last_event;
    double sum = life->sum + (double)life->live * (double)(end - life->since);
    double span = (double)(end - life->born) * (double)life->most_size;
    return span > 0 ? fl_emit_real(sum / span) : fl_emit_null();
}

static void segments_emit(const struct fl_observer_state *state, fl_emit *emit)
{
    static const fl_emit_column columns[] = {
        {"segment", "segment", FL_EMIT_COUNT},
        {"address", "address", FL_EMIT_ADDRESS},
        {"size_bytes", "size", FL_EMIT_BYTES},
        {"side", "side", FL_EMIT_TEXT},
        {"expandable", "expandable", FL_EMIT_BOOL},
        {"stream", "stream", FL_EMIT_ADDRESS},
        {"pool", "pool", FL_EMIT_COUNT},
        {"born_event", "born at", FL_EMIT_COUNT},
        {"died_event", "died at", FL_EMIT_COUNT},
        {"blocks_placed", "blocks placed", FL_EMIT_COUNT},
        {"peak_occupancy", "fullest", FL_EMIT_REAL},
        {"mean_occupancy", "on average", FL_EMIT_REAL},
        {"pins", "pins", FL_EMIT_COUNT},
        {"pinned_bytes", "pinned by", FL_EMIT_BYTES},
    };
    fl_emit_table_begin(emit, "segments", "the life of segments", columns,
                        sizeof columns / sizeof *columns);
    for (size_t i = 0; i < state->lives.count; i++) {
        const struct life *life = &state->lives.items[i];
        if (!life->is_known)
            continue;
        double most = life->most_size > 0 ? (double)life->most_live / (double)life->most_size : 0;
        const fl_emit_value cells[] = {
            fl_emit_count(i),
            fl_emit_address(life->address),
            fl_emit_bytes(life->most_size),
            fl_emit_text(life->is_small ? "small" : "large"),
            fl_emit_bool(life->is_expandable),
            fl_emit_address(state->names->streams[life->stream]),
            fl_emit_count(life->pool),
            fl_emit_count(life->born),
            life->died != UINT64_MAX ? fl_emit_count(life->died) : fl_emit_null(),
            fl_emit_count(life->placed),
            fl_emit_real(most),
            segments_mean(state, life),
            fl_emit_count(life->pins),
            fl_emit_bytes(life->live),
        };
        fl_emit_row(emit, cells);
    }
    fl_emit_table_end(emit);
}

static void segments_close(struct fl_observer_state *state)
{
    if (state->host != NULL)
        fl_vector_deinit(state->host, &state->lives);
}

const fl_observer_ops fl_observer_segments = {
    .name = "segments",
    .summary = "the life of every segment, how full it was, and what pins it",
    .state_size = sizeof(struct fl_observer_state),
    .open = segments_open,
    .view = segments_view,
    .emit = segments_emit,
    .close = segments_close,
};
