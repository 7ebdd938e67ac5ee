/* capacity FILE: on which cards does it run? */
#include "cli/cards.h"
#include "cli/envelope.h"
#include "cli/memory.h"
#include "cli/setup.h"

#include <fraglab/capacity.h>
#include <fraglab/units.h>
#include <fraglab/verify.h>

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define STRETCHES_SHOWN 12 /* in text: what alternates more often is cut in the middle */

/* What is shown, and of what. */
struct finding {
    const fl_trace *trace;
    const fl_setup *setup;
    fl_capacity capacity;
};

static uint64_t calls_of(const fl_capacity_interval *interval)
{
    return interval->driver_malloc + interval->driver_free + interval->driver_map +
           interval->driver_unmap;
}

/* The interval in which a card lies. */
static const fl_capacity_interval *find_card(const fl_capacity *capacity, uint64_t card_bytes)
{
    const fl_capacity_interval *found = &capacity->items[0];
    for (size_t i = 0; i < capacity->count && capacity->items[i].first_bytes <= card_bytes; i++)
        found = &capacity->items[i];
    return found;
}

/* ---- for programs ---------------------------------------------------------------------------- */

static fl_emit_value bytes_or_null(uint64_t bytes)
{
    return bytes != FL_UNLIMITED ? fl_emit_bytes(bytes) : fl_emit_null();
}

static fl_emit_value count_or_null(bool is_known, uint64_t count)
{
    return is_known && count != FL_UNLIMITED ? fl_emit_count(count) : fl_emit_null();
}

static const fl_emit_column curve_columns[] = {
    {"first_bytes", "from", FL_EMIT_BYTES},
    {"end_bytes", "below", FL_EMIT_BYTES},
    {"works", "works", FL_EMIT_BOOL},
    {"peak_reserved_bytes", "reserved", FL_EMIT_BYTES},
    {"driver_calls", "driver calls", FL_EMIT_COUNT},
    {"driver_malloc", "malloc", FL_EMIT_COUNT},
    {"driver_free", "free", FL_EMIT_COUNT},
    {"driver_map", "map", FL_EMIT_COUNT},
    {"driver_unmap", "unmap", FL_EMIT_COUNT},
    {"alloc_retries", "retries", FL_EMIT_COUNT},
    {"refused_event", "refused at", FL_EMIT_COUNT},
};
#define CURVE_COLUMNS (sizeof curve_columns / sizeof *curve_columns)

static void emit_interval(fl_emit *emit, const fl_capacity_interval *interval)
{
    bool is_known = interval->is_replayed;
    fl_emit_value cells[CURVE_COLUMNS] = {
        fl_emit_bytes(interval->first_bytes),
        bytes_or_null(interval->end_bytes),
        fl_emit_bool(interval->works),
        is_known ? fl_emit_bytes(interval->peak_reserved_bytes) : fl_emit_null(),
        count_or_null(is_known, calls_of(interval)),
        count_or_null(is_known, interval->driver_malloc),
        count_or_null(is_known, interval->driver_free),
        count_or_null(is_known, interval->driver_map),
        count_or_null(is_known, interval->driver_unmap),
        count_or_null(is_known, interval->alloc_retries),
        count_or_null(is_known, interval->refused_event),
    };
    fl_emit_row(emit, cells);
}

static void emit_card(fl_emit *emit, const struct finding *finding)
{
    const fl_setup *setup = finding->setup;
    bool has_card = setup->gpu_from != FL_FROM_NOWHERE;
    fl_emit_object_begin(emit, "card", NULL);
    fl_emit_pair(emit, "bytes", NULL,
                 has_card ? fl_emit_bytes(setup->capacity_bytes) : fl_emit_null());
    fl_emit_pair(emit, "works", NULL,
                 has_card
                     ? fl_emit_bool(find_card(&finding->capacity, setup->capacity_bytes)->works)
                     : fl_emit_null());
    fl_emit_object_end(emit);
}

static void emit_record(fl_session *session, const struct finding *finding)
{
    const fl_capacity *capacity = &finding->capacity;
    fl_emit *emit = session->emit;
    fl_envelope_begin(session);
    fl_setup_emit_config(session, finding->setup);
    fl_envelope_end(session);
    fl_emit_for(emit, FL_EMIT_FOR_PROGRAMS);
    fl_emit_pair(emit, "smallest_card_bytes", NULL, bytes_or_null(capacity->smallest_card_bytes));
    fl_emit_pair(emit, "lowest_fit_bytes", NULL, bytes_or_null(capacity->lowest_fit_bytes));
    fl_emit_pair(emit, "step_bytes", NULL, fl_emit_bytes(capacity->step_bytes));
    emit_card(emit, finding);
    fl_emit_for(emit, FL_EMIT_FOR_PROGRAMS | FL_EMIT_FOR_TABLES);
    fl_emit_table_begin(emit, "curve", NULL, curve_columns, CURVE_COLUMNS);
    for (size_t i = 0; i < capacity->count; i++)
        emit_interval(emit, &capacity->items[i]);
    fl_emit_table_end(emit);
}

/* ---- for people ------------------------------------------------------------------------------ */

/* Neighbouring intervals that all work, or all fail. */
struct stretch {
    const fl_capacity_interval *first, *last;
    uint64_t least_calls, most_calls, least_retries, most_retries;
};

static void widen(uint64_t *least, uint64_t *most, uint64_t value)
{
    if (value < *least)
        *least = value;
    if (value > *most)
        *most = value;
}

static struct stretch stretch_from(const fl_capacity *capacity, size_t *at)
{
    const fl_capacity_interval *first = &capacity->items[*at];
    struct stretch stretch = {first, first, UINT64_MAX, 0, UINT64_MAX, 0};
    for (; *at < capacity->count && capacity->items[*at].works == first->works; ++*at) {
        stretch.last = &capacity->items[*at];
        if (!stretch.last->is_replayed)
            continue;
        widen(&stretch.least_calls, &stretch.most_calls, calls_of(stretch.last));
        widen(&stretch.least_retries, &stretch.most_retries, stretch.last->alloc_retries);
    }
    return stretch;
}

static void range_words(uint64_t least, uint64_t most, char *buffer, size_t size)
{
    char low[27], high[27];
    fl_format_count(least, low, sizeof low);
    fl_format_count(most, high, sizeof high);
    if (least == most)
        snprintf(buffer, size, "%s", low);
    else
        snprintf(buffer, size, "%s to %s", low, high);
}

static const fl_emit_column stretch_columns[] = {
    {"first_bytes", "from", FL_EMIT_TEXT},
    {"end_bytes", "below", FL_EMIT_TEXT},
    {"outcome", "it", FL_EMIT_TEXT},
    {"driver_calls", "driver calls", FL_EMIT_TEXT},
    {"alloc_retries", "retries", FL_EMIT_TEXT},
};
#define STRETCH_COLUMNS (sizeof stretch_columns / sizeof *stretch_columns)

/* What fails is told without its calls: they end at the refusal. */
static void emit_stretch(fl_emit *emit, const struct stretch *stretch)
{
    char first[40], end[40], calls[60], retries[60];
    bool works = stretch->first->works, has_retries = stretch->most_retries != FL_UNLIMITED;
    range_words(stretch->least_calls, stretch->most_calls, calls, sizeof calls);
    range_words(stretch->least_retries, stretch->most_retries, retries, sizeof retries);
    fl_card_words(stretch->first->first_bytes, first, sizeof first);
    fl_card_words(stretch->last->end_bytes, end, sizeof end);
    fl_emit_value cells[STRETCH_COLUMNS] = {
        fl_emit_text(first),
        fl_emit_text(end),
        fl_emit_text(works ? "runs" : "fails"),
        fl_emit_text(works ? calls : NULL),
        fl_emit_text(works && has_retries ? retries : NULL),
    };
    fl_emit_row(emit, cells);
}

static size_t count_stretches(const fl_capacity *capacity)
{
    size_t count = 0;
    for (size_t at = 0; at < capacity->count; count++)
        stretch_from(capacity, &at);
    return count;
}

static void emit_curve_text(fl_emit *emit, const fl_capacity *capacity)
{
    size_t count = count_stretches(capacity), number = 0;
    fl_emit_table_begin(emit, "curve", "on cards", stretch_columns, STRETCH_COLUMNS);
    for (size_t at = 0; at < capacity->count; number++) {
        struct stretch stretch = stretch_from(capacity, &at);
        bool is_shown = number < STRETCHES_SHOWN / 2 || count - number <= STRETCHES_SHOWN / 2;
        if (is_shown)
            emit_stretch(emit, &stretch);
    }
    fl_emit_table_end(emit);
    if (count > STRETCHES_SHOWN)
        fl_emit_line(emit, FL_EMIT_PLAIN, "and %zu stretches between those; --format csv has all",
                     count - STRETCHES_SHOWN);
}

static void emit_verdict(fl_emit *emit, const struct finding *finding)
{
    const fl_capacity *capacity = &finding->capacity;
    char smallest[40], lowest[40];
    fl_card_words(capacity->smallest_card_bytes, smallest, sizeof smallest);
    fl_card_words(capacity->lowest_fit_bytes, lowest, sizeof lowest);
    if (capacity->smallest_card_bytes == FL_UNLIMITED)
        fl_emit_line(emit, FL_EMIT_BAD, "it runs on no card, however large");
    else if (capacity->lowest_fit_bytes < capacity->smallest_card_bytes)
        fl_emit_line(emit, FL_EMIT_STRONG,
                     "it runs on %s and on every larger card; on some smaller ones too, from %s "
                     "on, but not on all",
                     smallest, lowest);
    else
        fl_emit_line(emit, FL_EMIT_STRONG,
                     "it runs on %s and on every larger card, on none that is "
                     "smaller",
                     smallest);
    const fl_setup *setup = finding->setup;
    char card[40];
    fl_card_words(setup->capacity_bytes, card, sizeof card);
    if (setup->gpu_from == FL_FROM_NOWHERE)
        return;
    bool works = find_card(capacity, setup->capacity_bytes)->works;
    fl_emit_line(emit, works ? FL_EMIT_GOOD : FL_EMIT_BAD, "on the card of %s it %s", card,
                 works ? "runs" : "fails");
}

static void emit_text(fl_session *session, const struct finding *finding)
{
    const fl_capacity *capacity = &finding->capacity;
    fl_emit *emit = session->emit;
    char words[120], step[24], count[27];
    fl_emit_for(emit, FL_EMIT_FOR_PEOPLE);
    emit_verdict(emit, finding);
    emit_curve_text(emit, capacity);
    fl_format_count(capacity->count, count, sizeof count);
    fl_format_bytes(capacity->step_bytes, step, sizeof step);
    if (capacity->step_bytes == 0)
        snprintf(words, sizeof words, "exact: %s stretches of cards on which it does the same",
                 count);
    else
        snprintf(words, sizeof words,
                 "in steps of %s: settings look at the size of the card itself", step);
    fl_emit_object_begin(emit, "search", "searched");
    fl_setup_emit_text(session, finding->trace, finding->setup);
    fl_emit_pair(emit, "exactness", "curve", fl_emit_text(words));
    fl_emit_object_end(emit);
    fl_emit_for(emit, FL_EMIT_FOR_ALL);
}

/* ---- the run --------------------------------------------------------------------------------- */

static fl_status search_trace(fl_session *session, struct finding *finding, fl_error *error)
{
    fl_capacity_options options = {
        .replay = fl_setup_replay_options(session, finding->setup),
        .jobs = fl_session_jobs(session),
        .progress = fl_progress_tick,
        .user = &session->progress,
    };
    fl_progress_begin(&session->progress, "searching cards");
    fl_status status = fl_capacity_find(finding->trace, &options, &finding->capacity, error);
    fl_progress_end(&session->progress);
    return status;
}

static fl_status capacity_file(fl_session *session, fl_setup *setup, fl_trace *trace,
                               fl_error *error)
{
    struct finding finding = {.trace = trace, .setup = setup};
    fl_status status = fl_setup_from_trace(session, trace, setup, error);
    if (status == FL_OK)
        status = fl_setup_rebuild(session, trace, setup, error);
    if (status == FL_OK)
        status = search_trace(session, &finding, error);
    if (status != FL_OK)
        return status;
    emit_record(session, &finding);
    emit_text(session, &finding);
    fl_capacity_deinit(&finding.capacity);
    return FL_OK;
}

static fl_status capacity_run(fl_session *session, fl_error *error)
{
    return fl_setup_run_file(session, capacity_file, error);
}

static const fl_option_group *const groups[] = {&fl_options_allocator, &fl_options_input,
                                                &fl_options_common, NULL};

const fl_command fl_command_capacity = {
    .name = "capacity",
    .summary = "the smallest card on which a trace runs",
    .synopsis = "capacity [options] FILE",
    .help = "Finds the smallest card from which on FILE runs on every larger one, the smallest on\n"
            "which it runs at all, and what happens on the cards between: \"it fits\" is not\n"
            "monotonic.  The search is exact where decisions depend on the card only through what\n"
            "it refuses; where a memory fraction ties them to its size, it tries every 2 MiB.",
    .groups = groups,
    .word = "FILE",
    .word_key = "file",
    .run = capacity_run,
};
