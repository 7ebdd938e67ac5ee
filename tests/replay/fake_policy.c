#include "fake_policy.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

char fake_log[4096];
uint64_t fake_good_checks;

enum { MOST_IDS = 64 };

struct fl_policy_state {
    fl_policy_env env;
    fl_change blocks[MOST_IDS];
};

static void note(const char *format, ...) FL_PRINTF(1, 2);

static void note(const char *format, ...)
{
    size_t used = strlen(fake_log);
    if (used > 0 && used + 1 < sizeof fake_log)
        fake_log[used++] = ' ';
    va_list args;
    va_start(args, format);
    vsnprintf(fake_log + used, sizeof fake_log - used, format, args);
    va_end(args);
}

static fl_status fake_open(struct fl_policy_state *state, const fl_policy_env *env, fl_error *error)
{
    (void)error;
    state->env = *env;
    return FL_OK;
}

static void tell(struct fl_policy_state *state, uint32_t id, fl_change_kind kind)
{
    fl_change change = state->blocks[id];
    change.kind = (uint8_t)kind;
    state->env.sink->change(state->env.sink->user, &change);
}

static fl_status fake_alloc(struct fl_policy_state *state, const fl_op *op, fl_result *ret_result,
                            fl_error *error)
{
    (void)error;
    note(op->stream == 0 ? "a%" PRIu32 ":%" PRIu64 : "a%" PRIu32 ":%" PRIu64 "@%" PRIu32, op->id,
         op->size, op->stream);
    *ret_result = (fl_result){0};
    if (op->size >= (1 << 20)) {
        ret_result->outcome = FL_REFUSED;
        return FL_OK;
    }
    uint64_t address = 0x1000 * ((uint64_t)op->id + 1);
    uint64_t size = (op->size + 511) / 512 * 512;
    state->blocks[op->id] = (fl_change){.id = op->id,
                                        .stream = op->stream,
                                        .address = address,
                                        .size = size,
                                        .requested = op->size};
    fl_change segment = {.kind = FL_CHANGE_ACQUIRE, .address = address, .size = 0x1000};
    state->env.sink->change(state->env.sink->user, &segment);
    tell(state, op->id, FL_CHANGE_PLACE);
    *ret_result = (fl_result){.address = address, .size = size};
    return FL_OK;
}

static fl_status fake_free(struct fl_policy_state *state, const fl_op *op, fl_result *ret_result,
                           fl_error *error)
{
    (void)error;
    bool is_held = (op->flags & FL_OP_HELD) != 0;
    note("%c%" PRIu32, is_held ? 'h' : 'f', op->id);
    *ret_result = (fl_result){0};
    tell(state, op->id, FL_CHANGE_FREE_ASKED);
    if (!is_held)
        tell(state, op->id, FL_CHANGE_FREE_DONE);
    return FL_OK;
}

static fl_status fake_control(struct fl_policy_state *state, const fl_op *op, fl_result *ret_result,
                              fl_error *error)
{
    static const char *const names[FL_OP_KIND_COUNT] = {
        [FL_OP_USE] = "use",
        [FL_OP_SCOPE_BEGIN] = "scope",
        [FL_OP_TRIM] = "trim",
        [FL_OP_LIMIT] = "limit",
        [FL_OP_CONFIGURE] = "configure",
        [FL_OP_EVENTS_HOLD] = "hold",
        [FL_OP_EVENTS_COMPLETE] = "complete",
        [FL_OP_FREE_DONE] = "d",
    };
    if (names[op->kind] == NULL)
        return fl_fail(error, FL_ERR_UNAVAILABLE, "the fake knows no op %d", op->kind);
    if (op->id != FL_NONE)
        note("%s%" PRIu32, names[op->kind], op->id);
    else
        note("%s", names[op->kind]);
    *ret_result = (fl_result){0};
    if (op->kind == FL_OP_FREE_DONE)
        tell(state, op->id, FL_CHANGE_FREE_DONE);
    return FL_OK;
}

static fl_status fake_check(const struct fl_policy_state *state, fl_error *error)
{
    (void)state;
    if (fake_good_checks > 0) {
        fake_good_checks--;
        return FL_OK;
    }
    return fl_fail(error, FL_ERR_INTERNAL, "the fake is broken");
}

static void fake_close(struct fl_policy_state *state)
{
    (void)state;
}

const fl_policy_ops *fake_policy(uint32_t capabilities)
{
    static fl_policy_ops ops = {
        .name = "fake",
        .summary = "notes what it is asked",
        .state_size = sizeof(struct fl_policy_state),
        .open = fake_open,
        .alloc = fake_alloc,
        .free = fake_free,
        .control = fake_control,
        .check = fake_check,
        .close = fake_close,
    };
    ops.capabilities = capabilities;
    fake_log[0] = '\0';
    fake_good_checks = UINT64_MAX;
    return &ops;
}
