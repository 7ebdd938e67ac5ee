/* What a difference puts in question. */
#include "rebuild/ideas.h"

#include "rebuild/card.h"
#include "rules/profile.h"
#include "trace/build.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TEXT 512

struct thinking {
    fl_trace *trace;
    size_t device;
    const fl_profile *profile;
    const fl_guess *guess;
    const fl_attempt *attempt;
    const fl_columns *columns;
    unsigned reach;
    uint64_t begin, op;         /* the event at which the op's outcomes begin, and the op's own */
    struct fl_u32_vector asked; /* places in question */
    uint32_t spare_pool;        /* one that nothing is of; FL_NONE: none is known */
    fl_settings stated, now;    /* what the file says, and what the guess has at `begin` */
    fl_ideas *ideas;
    fl_error *error;
};

void fl_ideas_deinit(const fl_host *host, fl_ideas *ideas)
{
    fl_vector_deinit(host, &ideas->items);
    fl_vector_deinit(host, &ideas->places);
}

static bool add_idea(struct thinking *thinking, const fl_idea *idea)
{
    const fl_host *host = thinking->trace->host;
    if (!fl_vector_reserve(host, &thinking->ideas->items, 1, thinking->error))
        return false;
    thinking->ideas->items.items[thinking->ideas->items.count++] = *idea;
    return true;
}

/* ---- where it happened ----------------------------------------------------------------------- */

static bool is_outcome(const fl_columns *columns, uint64_t event)
{
    bool is_pair = columns->kind[event] == FL_OP_FREE_DONE && event > 0 &&
                   columns->kind[event - 1] == FL_OP_FREE &&
                   columns->id[event - 1] == columns->id[event];
    return fl_kind_is_segment(columns->kind[event]) ||
           (columns->kind[event] == FL_OP_FREE_DONE && !is_pair);
}

static void find_op(struct thinking *thinking)
{
    const fl_columns *columns = thinking->columns;
    uint64_t at = thinking->attempt->reached;
    if (at > columns->count)
        at = columns->count;
    thinking->op = at;
    while (thinking->op < columns->count && is_outcome(columns, thinking->op))
        thinking->op++;
    while (at > 0 && is_outcome(columns, at - 1))
        at--;
    thinking->begin = at;
}

/* ---- whose memory was it? -------------------------------------------------------------------- */

static bool ask_place(struct thinking *thinking, uint32_t place)
{
    if (place == FL_NONE || thinking->guess->places.items.items[place].is_known)
        return true;
    for (size_t i = 0; i < thinking->asked.count; i++)
        if (thinking->asked.items[i] == place)
            return true;
    if (!fl_vector_reserve(thinking->trace->host, &thinking->asked, 1, thinking->error))
        return false;
    thinking->asked.items[thinking->asked.count++] = place;
    return true;
}

/* The places that are there at the op and hold an address. */
static bool ask_address(struct thinking *thinking, uint64_t address)
{
    const struct fl_place_vector *places = &thinking->guess->places.items;
    for (size_t i = 0; i < places->count && address != 0; i++) {
        const fl_place *place = &places->items[i];
        bool is_there = place->same == i && place->first_event <= thinking->op &&
                        place->end_event >= thinking->begin;
        if (is_there && place->address <= address && address < place->end &&
            !ask_place(thinking, (uint32_t)i))
            return false;
    }
    return true;
}

static bool ask_places(struct thinking *thinking)
{
    const fl_miss *miss = &thinking->attempt->miss;
    for (uint64_t i = thinking->begin; i <= thinking->op && i < thinking->columns->count; i++)
        if (!ask_place(thinking, thinking->guess->places.of[i]))
            return false;
    if (!thinking->attempt->has_miss)
        return true;
    return ask_address(thinking, miss->result.address) &&
           ask_address(thinking, miss->has_change ? miss->change.address : 0) &&
           ask_address(thinking, miss->expected_segment.address) &&
           ask_address(thinking, miss->got_segment.address) &&
           ask_address(thinking, miss->expected_block.address) &&
           ask_address(thinking, miss->got_block.address);
}

static bool add_to_set(struct thinking *thinking, fl_idea *idea, uint32_t place)
{
    struct fl_u32_vector *places = &thinking->ideas->places;
    if (!fl_vector_reserve(thinking->trace->host, places, 1, thinking->error))
        return false;
    places->items[places->count++] = place;
    idea->place_count++;
    return true;
}

static bool is_used_pool(const fl_guess *guess, uint32_t pool)
{
    for (size_t i = 0; i < guess->places.items.count; i++)
        if (guess->places.items.items[i].pool == pool)
            return true;
    return pool == 0;
}

/* The set goes to every pool that it is not of already, and to one that the file does not name. */
static bool add_set(struct thinking *thinking, fl_idea *idea)
{
    const uint32_t *set = thinking->ideas->places.items + idea->first_place;
    uint32_t now = thinking->guess->places.items.items[set[0]].pool;
    uint32_t count = (uint32_t)thinking->guess->pools.count;
    for (uint32_t i = 0; i < count; i++) {
        idea->pool = (i + 1) % count; /* the default pool, which is the first guess, comes last */
        if (!thinking->guess->pools.items[idea->pool].is_named &&
            !is_used_pool(thinking->guess, idea->pool))
            continue;
        if (idea->pool != now && idea->pool != thinking->spare_pool && !add_idea(thinking, idea))
            return false;
    }
    idea->pool = thinking->spare_pool;
    return idea->pool == FL_NONE || idea->pool == now || add_idea(thinking, idea);
}

static fl_idea new_set(const struct thinking *thinking)
{
    return (fl_idea){.kind = FL_IDEA_PLACES,
                     .first_place = (uint32_t)thinking->ideas->places.count};
}

/* Everything in question that went back before the op. */
static bool think_of_burst(struct thinking *thinking)
{
    fl_idea idea = new_set(thinking);
    const fl_places *places = &thinking->guess->places;
    for (uint64_t i = thinking->begin; i < thinking->op; i++) {
        uint32_t place = places->of[i];
        bool went = thinking->columns->kind[i] == FL_EVENT_SEGMENT_FREE ||
                    thinking->columns->kind[i] == FL_EVENT_SEGMENT_UNMAP;
        if (went && place != FL_NONE && !places->items.items[place].is_known &&
            !add_to_set(thinking, &idea, place))
            return false;
    }
    return idea.place_count < 2 || add_set(thinking, &idea);
}

static bool is_like(const fl_place *place, const fl_place *other)
{
    return !place->is_known && place->stream == other->stream && place->pool == other->pool;
}

/* Those of a stream that came one after the other, with nothing that is known between. */
static bool think_of_stretch(struct thinking *thinking, uint32_t place)
{
    const struct fl_place_vector *places = &thinking->guess->places.items;
    fl_idea idea = new_set(thinking);
    uint32_t first = place;
    while (first > 0 && is_like(&places->items[first - 1], &places->items[place]))
        first--;
    for (uint32_t i = first; i < places->count && is_like(&places->items[i], &places->items[place]);
         i++)
        if (places->items[i].same == i && !add_to_set(thinking, &idea, i))
            return false;
    return idea.place_count < 2 || add_set(thinking, &idea);
}

static bool think_of_stream(struct thinking *thinking, uint32_t place)
{
    const struct fl_place_vector *places = &thinking->guess->places.items;
    fl_idea idea = new_set(thinking);
    for (uint32_t i = 0; i < places->count; i++)
        if (places->items[i].same == i && is_like(&places->items[i], &places->items[place]) &&
            !add_to_set(thinking, &idea, i))
            return false;
    return idea.place_count < 2 || add_set(thinking, &idea);
}

static bool think_of_places(struct thinking *thinking)
{
    if (!think_of_burst(thinking))
        return false;
    for (size_t i = 0; i < thinking->asked.count; i++) {
        uint32_t place = thinking->asked.items[i];
        fl_idea idea = new_set(thinking);
        if (!add_to_set(thinking, &idea, place) || !add_set(thinking, &idea) ||
            !think_of_stretch(thinking, place) || !think_of_stream(thinking, place))
            return false;
    }
    return true;
}

/* A pool that nothing is of, or a new one with the next number. */
static bool find_spare_pool(struct thinking *thinking)
{
    fl_trace *trace = thinking->trace;
    uint64_t highest = 0;
    thinking->spare_pool = FL_NONE;
    if (thinking->asked.count == 0 || (thinking->reach & FL_REACH_POOLS) == 0)
        return true;
    for (uint32_t i = 0; i < trace->pools.count; i++) {
        if (trace->pools.items[i].second > highest)
            highest = trace->pools.items[i].second;
        if (i < thinking->guess->pools.count && !thinking->guess->pools.items[i].is_named &&
            !is_used_pool(thinking->guess, i))
            thinking->spare_pool = i;
    }
    if (thinking->spare_pool != FL_NONE || highest == UINT64_MAX || trace->pools.count >= FL_NONE16)
        return true;
    return fl_trace_intern_pool(trace, (fl_pool_name){0, highest + 1}, &thinking->spare_pool,
                                thinking->error) == FL_OK;
}

/* A refused request leaves no address. */
static bool think_of_refused(struct thinking *thinking)
{
    const struct fl_refused_vector *refused = &thinking->guess->refused;
    for (uint32_t i = 0; i < refused->count; i++) {
        for (uint32_t pool = 0;
             refused->items[i].event == thinking->op && pool < thinking->guess->pools.count;
             pool++) {
            fl_idea idea = {.kind = FL_IDEA_REFUSED, .index = i, .pool = pool};
            if (pool != refused->items[i].pool && is_used_pool(thinking->guess, pool) &&
                !add_idea(thinking, &idea))
                return false;
        }
    }
    return true;
}

/* ---- under which settings? ------------------------------------------------------------------- */

static bool has_setting(const fl_profile *profile, const char *text)
{
    fl_settings settings;
    fl_settings_default(profile, &settings);
    return fl_settings_parse(profile, text, &settings, NULL) == FL_OK;
}

static int divisions_text(const fl_settings *settings, char *text, size_t size)
{
    int used = snprintf(text, size, ",roundup_power2_divisions:[");
    for (size_t i = 0; i < FL_ROUNDUP_SLOTS; i++)
        used += snprintf(text + used, size - (size_t)used, "%s%u:%" PRIu64, i > 0 ? "," : "",
                         1u << i, settings->divisions[i]);
    return used + snprintf(text + used, size - (size_t)used, "]");
}

/* A text that sets everything that a text can be about here, and forgets the rest. */
static void settings_text(const fl_profile *profile, const fl_settings *settings,
                          char text[MOST_TEXT])
{
    int used = 0;
    text[0] = '\0';
    if (has_setting(profile, "expandable_segments:False"))
        used += snprintf(text, MOST_TEXT, ",expandable_segments:%s",
                         settings->expandable ? "True" : "False");
    if (settings->max_split_bytes != FL_UNLIMITED)
        used += snprintf(text + used, (size_t)(MOST_TEXT - used), ",max_split_size_mb:%" PRIu64,
                         settings->max_split_bytes >> 20);
    if (settings->collect_threshold > 0)
        used += snprintf(text + used, (size_t)(MOST_TEXT - used),
                         ",garbage_collection_threshold:%.17g", settings->collect_threshold);
    bool has_divisions = false;
    for (size_t i = 0; i < FL_ROUNDUP_SLOTS; i++)
        has_divisions |= settings->divisions[i] > 0;
    if (has_divisions)
        used += divisions_text(settings, text + used, (size_t)(MOST_TEXT - used));
    if (used > 0)
        memmove(text, text + 1, (size_t)used);
}

/* What the guess has in force at an event. */
static void settings_at(const struct thinking *thinking, uint64_t event, fl_settings *ret_settings)
{
    const struct fl_plan *others = &thinking->guess->others;
    *ret_settings = thinking->stated;
    for (size_t i = 0; i < others->count && others->items[i].event <= event; i++)
        if (others->items[i].op.kind == FL_OP_CONFIGURE)
            fl_settings_parse(thinking->profile,
                              thinking->trace->texts.items[others->items[i].op.text], ret_settings,
                              NULL);
}

static bool is_same_settings(const fl_settings *a, const fl_settings *b)
{
    return a->expandable == b->expandable && a->max_split_bytes == b->max_split_bytes &&
           a->collect_threshold == b->collect_threshold &&
           memcmp(a->divisions, b->divisions, sizeof a->divisions) == 0;
}

static bool add_settings(struct thinking *thinking, uint64_t event, const fl_settings *settings)
{
    char text[MOST_TEXT];
    fl_settings read = thinking->now;
    fl_idea idea = {.kind = FL_IDEA_SETTINGS, .event = event};
    if (is_same_settings(settings, &thinking->now))
        return true;
    settings_text(thinking->profile, settings, text);
    if (fl_settings_parse(thinking->profile, text, &read, NULL) != FL_OK ||
        !is_same_settings(&read, settings))
        return true; /* this release cannot have been told so */
    return fl_trace_intern_text(thinking->trace, text, strlen(text), &idea.text, thinking->error) ==
               FL_OK &&
           add_idea(thinking, &idea);
}

static bool think_of_numbers(struct thinking *thinking, uint64_t event, const fl_settings *plain)
{
    static const uint16_t limits[] = {128, 64,   256, 512, 32,  100, 200,  50,   1024, 24,   48,
                                      80,  96,   150, 160, 192, 300, 384,  400,  500,  640,  768,
                                      800, 1000, 40,  20,  21,  22,  1500, 2000, 2048, 4096, 8192};
    static const uint8_t divisions[] = {2, 4, 8, 16, 32, 64, 1};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        fl_settings limited = *plain;
        limited.max_split_bytes = (uint64_t)limits[i] << 20;
        if (!add_settings(thinking, event, &limited))
            return false;
    }
    for (size_t i = 0; i < sizeof divisions; i++) {
        fl_settings divided = *plain;
        for (size_t k = 0; k < FL_ROUNDUP_SLOTS; k++)
            divided.divisions[k] = divisions[i];
        if (!add_settings(thinking, event, &divided))
            return false;
    }
    return true;
}

/* Texts name one setting as a rule, and forget the others but for expandable segments. */
static bool think_of_settings_at(struct thinking *thinking, uint64_t event)
{
    settings_at(thinking, event, &thinking->now);
    fl_settings plain;
    fl_settings_default(thinking->profile, &plain);
    plain.expandable = thinking->now.expandable;
    fl_settings flipped = plain;
    flipped.expandable = !plain.expandable;
    if (!add_settings(thinking, event, &thinking->stated) ||
        !add_settings(thinking, event, &plain) || !add_settings(thinking, event, &flipped))
        return false;
    return (thinking->reach & FL_REACH_NUMBERS) == 0 ||
           (think_of_numbers(thinking, event, &plain) &&
            think_of_numbers(thinking, event, &flipped));
}

/* Does the guess say what the settings were at the start? */
static bool has_first_settings(const fl_guess *guess)
{
    const struct fl_plan *others = &guess->others;
    for (size_t i = 0; i < others->count && others->items[i].event == 0; i++)
        if (others->items[i].op.kind == FL_OP_CONFIGURE)
            return true;
    return false;
}

static bool think_of_settings(struct thinking *thinking)
{
    bool has_first = thinking->begin == 0 || has_first_settings(thinking->guess);
    return think_of_settings_at(thinking, thinking->begin) &&
           (has_first || think_of_settings_at(thinking, 0));
}

/* ---- under which limit? ---------------------------------------------------------------------- */

/* What was reserved before an event. */
static uint64_t reserved_at(const struct thinking *thinking, uint64_t event)
{
    const fl_columns *columns = thinking->columns;
    const fl_trace_device *device = &thinking->trace->devices.items[thinking->device];
    uint64_t reserved = fl_start_reserved(&device->start);
    for (uint64_t i = 0; i < event && i < columns->count; i++)
        reserved = fl_reserved_after(columns, i, reserved);
    return reserved;
}

/* `text`: settings that come with it, or FL_NONE. */
static bool add_limit(struct thinking *thinking, uint64_t event, double threshold, uint64_t bytes,
                      uint32_t text)
{
    fl_idea idea = {.kind = FL_IDEA_LIMIT, .event = event, .text = text};
    double limit = ceil((double)bytes / threshold);
    if (!(limit >= 1 && limit < 0x1p62))
        return true;
    idea.bytes = (uint64_t)limit;
    return add_idea(thinking, &idea);
}

/* Where nothing says the settings, a threshold of which part is as good as another: the limit goes
 * with it. */
#define ANY_THRESHOLD 0.5

static bool think_of_any_threshold(struct thinking *thinking, uint64_t reserved)
{
    char text[MOST_TEXT];
    uint32_t number;
    fl_settings settings;
    settings_at(thinking, 0, &settings);
    settings.collect_threshold = ANY_THRESHOLD;
    settings_text(thinking->profile, &settings, text);
    return fl_trace_intern_text(thinking->trace, text, strlen(text), &number, thinking->error) ==
               FL_OK &&
           add_limit(thinking, 0, ANY_THRESHOLD, reserved, number);
}

/* The first segment that went back before the op and not as recorded, or the first of all; their
 * number where none did. */
static uint64_t find_release(const struct thinking *thinking)
{
    const fl_columns *columns = thinking->columns;
    uint64_t recorded = thinking->attempt->miss.recorded;
    if (recorded < columns->count && columns->kind[recorded] == FL_EVENT_SEGMENT_FREE)
        return recorded;
    for (uint64_t i = thinking->begin; i < thinking->op; i++)
        if (columns->kind[i] == FL_EVENT_SEGMENT_FREE)
            return i;
    return columns->count;
}

/* The last one that went back before the op: collection may have had to come so far. */
static uint64_t last_release(const struct thinking *thinking, uint64_t first)
{
    uint64_t last = first;
    for (uint64_t i = first; i < thinking->op; i++)
        if (thinking->columns->kind[i] == FL_EVENT_SEGMENT_FREE)
            last = i;
    return last;
}

/* A limit such that what was reserved before a release is too much, from the start or from here. */
static bool think_of_release(struct thinking *thinking, double threshold, uint64_t release)
{
    uint64_t reserved = reserved_at(thinking, release);
    return reserved == 0 ||
           (add_limit(thinking, 0, threshold, reserved - 1, FL_NONE) &&
            add_limit(thinking, thinking->begin, threshold, reserved - 1, FL_NONE));
}

/* Collection begins above a part of the limit (10.1): where it was recorded and did not come, that
 * part is below what was reserved; where it came and was not recorded, it is not. */
static bool think_of_limit(struct thinking *thinking)
{
    const fl_attempt *attempt = thinking->attempt;
    settings_at(thinking, thinking->begin, &thinking->now);
    double threshold = thinking->now.collect_threshold;
    if (!attempt->has_miss)
        return true;
    if (attempt->miss.has_change && attempt->miss.change.cause == FL_CAUSE_COLLECT)
        return add_limit(thinking, 0, threshold, reserved_at(thinking, thinking->begin), FL_NONE);
    uint64_t release = find_release(thinking), reserved = reserved_at(thinking, release);
    if (release == thinking->columns->count || reserved == 0)
        return true;
    if (threshold > 0) {
        uint64_t last = last_release(thinking, release);
        return think_of_release(thinking, threshold, release) &&
               (last == release || think_of_release(thinking, threshold, last));
    }
    return !fl_trace_lacks_conf(thinking->trace) || think_of_any_threshold(thinking, reserved - 1);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool think(struct thinking *thinking)
{
    find_op(thinking);
    return ask_places(thinking) && find_spare_pool(thinking) && think_of_limit(thinking) &&
           think_of_refused(thinking) && think_of_places(thinking) && think_of_settings(thinking);
}

fl_status fl_ideas_find(fl_trace *trace, size_t device, const fl_profile *profile,
                        const fl_guess *guess, const fl_attempt *attempt, unsigned reach,
                        fl_ideas *ideas, fl_error *error)
{
    struct thinking thinking = {
        .trace = trace,
        .device = device,
        .profile = profile,
        .guess = guess,
        .attempt = attempt,
        .columns = fl_trace_columns(trace, device),
        .reach = reach,
        .ideas = ideas,
        .error = error,
    };
    ideas->items.count = ideas->places.count = 0;
    fl_status status = fl_record_conf(trace, profile, &thinking.stated, error);
    if (status == FL_OK && !think(&thinking))
        status = FL_ERR_RESOURCE;
    fl_vector_deinit(trace->host, &thinking.asked);
    return status;
}

static int limits_descend(const void *a, const void *b)
{
    const fl_idea *left = a, *right = b;
    return left->bytes > right->bytes ? -1 : left->bytes < right->bytes;
}

static bool list_limits(struct thinking *thinking, uint64_t limit)
{
    const fl_columns *columns = thinking->columns;
    uint64_t reserved = fl_start_reserved(&thinking->trace->devices.items[thinking->device].start);
    double threshold = thinking->now.collect_threshold;
    for (uint64_t i = 0; i < columns->count; i++) {
        bool is_release = columns->kind[i] == FL_EVENT_SEGMENT_FREE && reserved > 0;
        if (is_release && (double)(reserved - 1) / threshold < (double)limit &&
            !add_limit(thinking, 0, threshold, reserved - 1, FL_NONE))
            return false;
        reserved = fl_reserved_after(columns, i, reserved);
    }
    return true;
}

fl_status fl_ideas_lower_limits(fl_trace *trace, size_t device, const fl_profile *profile,
                                const fl_guess *guess, uint64_t limit, fl_ideas *ideas,
                                fl_error *error)
{
    struct thinking thinking = {
        .trace = trace,
        .device = device,
        .profile = profile,
        .guess = guess,
        .columns = fl_trace_columns(trace, device),
        .ideas = ideas,
        .error = error,
    };
    ideas->items.count = ideas->places.count = 0;
    fl_status status = fl_record_conf(trace, profile, &thinking.stated, error);
    if (status != FL_OK)
        return status;
    settings_at(&thinking, 0, &thinking.now);
    if (thinking.now.collect_threshold > 0 && !list_limits(&thinking, limit))
        return FL_ERR_RESOURCE;
    if (ideas->items.count > 1)
        qsort(ideas->items.items, ideas->items.count, sizeof *ideas->items.items, limits_descend);
    return FL_OK;
}

fl_status fl_idea_apply(const fl_trace *trace, size_t device, const fl_ideas *ideas,
                        const fl_idea *idea, fl_guess *guess, fl_error *error)
{
    fl_status status = FL_OK;
    switch (idea->kind) {
    case FL_IDEA_PLACES:
        status = fl_guess_add_pool(trace, guess, idea->pool, error);
        for (uint32_t i = 0; i < idea->place_count && status == FL_OK; i++) {
            uint32_t place = ideas->places.items[idea->first_place + i];
            guess->places.items.items[place].pool = idea->pool;
        }
        break;
    case FL_IDEA_REFUSED:
        guess->refused.items[idea->index].pool = idea->pool;
        break;
    case FL_IDEA_SETTINGS:
        status = fl_guess_add_settings(trace, guess, idea->event, idea->text, error);
        break;
    case FL_IDEA_LIMIT:
        if (idea->text != FL_NONE)
            status = fl_guess_add_settings(trace, guess, idea->event, idea->text, error);
        if (status == FL_OK)
            status = fl_guess_add_limit(trace, guess, idea->event, idea->bytes, error);
        break;
    }
    return status == FL_OK ? fl_guess_plan(trace, device, guess, error) : status;
}
