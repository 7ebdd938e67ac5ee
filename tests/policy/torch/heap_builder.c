#include "heap_shown.h"

#include "test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 6, WORD_SIZE = 64 };

struct line {
    char words[MOST_WORDS][WORD_SIZE]; /* empty where there are fewer */
};

/* ---- events ---------------------------------------------------------------------------------- */

static bool oracle_complete(void *user, uint64_t event)
{
    const heap *h = user;
    return event < h->complete_below;
}

static void oracle_hold(void *user, uint64_t recorded)
{
    heap *h = user;
    h->complete_below = recorded;
}

static void oracle_release(void *user)
{
    oracle_hold(user, UINT64_MAX);
}

/* ---- what is asked --------------------------------------------------------------------------- */

static uint64_t read_number(const char *word)
{
    char *end;
    uint64_t value = strtoull(word, &end, 10);
    if (end == word || *end != '\0')
        fail_msg("'%s' in a script is not a number", word);
    return value;
}

/* A size, and behind `+` or `-` a number of bytes. */
static uint64_t read_size(const char *word)
{
    size_t length = strcspn(word, "+-");
    uint64_t size, more = word[length] != '\0' ? read_number(word + length + 1) : 0;
    if (!fl_parse_size(word, length, &size))
        fail_msg("'%s' in a script is not a size", word);
    return word[length] == '-' ? size - more : size + more;
}

static uint32_t dense_stream(heap *h, const char *word)
{
    uint64_t stream = *word != '\0' ? read_number(word) : 0;
    for (size_t i = 0; i < h->names.stream_count; i++)
        if (h->streams[i] == stream)
            return (uint32_t)i;
    assert_true(h->names.stream_count < MOST_STREAMS);
    h->streams[h->names.stream_count] = stream;
    return (uint32_t)h->names.stream_count++;
}

static uint32_t dense_pool(heap *h, const char *word)
{
    uint64_t pool = *word != '\0' ? read_number(word) : 0;
    for (size_t i = 0; i < h->names.pool_count; i++)
        if (h->pools[i].second == pool)
            return (uint32_t)i;
    assert_true(h->names.pool_count < MOST_POOLS);
    h->pools[h->names.pool_count].second = pool;
    return (uint32_t)h->names.pool_count++;
}

static void read_scope(heap *h, const struct line *line, fl_op *op)
{
    static const struct {
        const char *word;
        uint8_t flag;
    } flags[] = {
        {"capture", FL_OP_CAPTURE}, {"nosplit", FL_OP_NO_SPLIT}, {"use_on_oom", FL_OP_USE_ON_OOM}};
    op->stream = FL_NONE;
    for (size_t i = 2; i < MOST_WORDS && line->words[i][0] != '\0'; i++) {
        const char *word = line->words[i];
        bool known = strncmp(word, "stream=", 7) == 0;
        if (known)
            op->stream = dense_stream(h, word + 7);
        for (size_t flag = 0; flag < COUNT_OF(flags); flag++) {
            if (strcmp(word, flags[flag].word) != 0)
                continue;
            op->flags |= flags[flag].flag;
            known = true;
        }
        assert_true(known);
    }
}

static fl_op read_op(heap *h, const struct line *line, fl_op_kind kind)
{
    const char *first = line->words[1], *second = line->words[2];
    fl_op op = {
        .kind = (uint8_t)kind, .id = FL_NONE, .stream = FL_NONE, .pool = FL_NONE, .text = FL_NONE};
    switch (kind) {
    case FL_OP_ALLOC:
        op.stream = dense_stream(h, line->words[3]);
        op.size = read_size(second);
        op.id = (uint32_t)read_number(first);
        break;
    case FL_OP_USE:
        op.stream = dense_stream(h, second);
        op.id = (uint32_t)read_number(first);
        break;
    case FL_OP_FREE:
        op.flags = strcmp(second, "held") == 0 ? FL_OP_HELD : 0;
        op.id = (uint32_t)read_number(first);
        break;
    case FL_OP_FREE_DONE:
        op.id = (uint32_t)read_number(first);
        break;
    case FL_OP_SCOPE_BEGIN:
        op.pool = dense_pool(h, first);
        read_scope(h, line, &op);
        break;
    case FL_OP_SCOPE_END:
    case FL_OP_POOL_RELEASE:
        op.pool = dense_pool(h, first);
        break;
    case FL_OP_TRIM:
        op.pool = *first != '\0' ? dense_pool(h, first) : FL_NONE;
        break;
    case FL_OP_CONFIGURE:
        h->text_asked = first;
        op.text = 0;
        break;
    case FL_OP_LIMIT:
        assert_true(fl_parse_real(first, strlen(first), &op.fraction));
        break;
    default:
        break;
    }
    return op;
}

static fl_status run_op(heap *h, const fl_op *op, fl_error *error)
{
    fl_result result = {.outcome = FL_FORBIDDEN};
    fl_status status;
    if (op->kind == FL_OP_ALLOC)
        status = fl_policy_torch.alloc(h->state, op, &result, error);
    else if (op->kind == FL_OP_FREE)
        status = fl_policy_torch.free(h->state, op, &result, error);
    else
        status = fl_policy_torch.control(h->state, op, &result, error);
    shown_flush(h);
    if (status != FL_OK)
        return status;
    assert_int_equal(result.why != NULL,
                     result.outcome == FL_FORBIDDEN || result.outcome == FL_REJECTED);
    static const char *const marks[] = {
        [FL_DONE] = "A", [FL_REFUSED] = "O", [FL_REJECTED] = "J", [FL_FORBIDDEN] = "E"};
    bool is_null = op->kind == FL_OP_ALLOC && result.outcome == FL_DONE && result.address == 0;
    if (result.outcome == FL_DONE && !is_null)
        return FL_OK;
    shown_next(h);
    shown_add(h, "%s", marks[result.outcome]);
    if (op->kind == FL_OP_ALLOC)
        shown_add(h, " %u%s", op->id, is_null ? " null" : "");
    return FL_OK;
}

static void change_settings(heap *h, const struct line *line)
{
    fl_settings *settings = &h->state->settings;
    const char *key = line->words[0], *value = line->words[1];
    if (strcmp(key, "expandable") == 0)
        settings->expandable = strcmp(value, "on") == 0;
    else if (strcmp(key, "split") == 0)
        settings->max_split_bytes = read_size(value);
    else if (strcmp(key, "collect") == 0)
        assert_true(fl_parse_real(value, strlen(value), &settings->collect_threshold));
    else
        fail_msg("'%s' is no line of a script", key);
    torch_settle(h->state);
}

static fl_status run_line(heap *h, const struct line *line, fl_error *error)
{
    static const struct {
        const char *word;
        fl_op_kind kind;
    } ops[] = {
        {"a", FL_OP_ALLOC},     {"f", FL_OP_FREE},         {"d", FL_OP_FREE_DONE},
        {"r", FL_OP_USE},       {"p", FL_OP_EVENTS_HOLD},  {"c", FL_OP_EVENTS_COMPLETE},
        {"e", FL_OP_TRIM},      {"b", FL_OP_SCOPE_BEGIN},  {"q", FL_OP_SCOPE_END},
        {"F", FL_OP_LIMIT},     {"x", FL_OP_POOL_RELEASE}, {"m", FL_OP_MARK},
        {"C", FL_OP_CONFIGURE},
    };
    for (size_t i = 0; i < COUNT_OF(ops); i++) {
        if (strcmp(ops[i].word, line->words[0]) != 0)
            continue;
        fl_op op = read_op(h, line, ops[i].kind);
        return run_op(h, &op, error);
    }
    if (strcmp(line->words[0], "s") == 0)
        return shown_heap(h, error);
    if (strcmp(line->words[0], "o") == 0)
        assert_int_equal(fl_device_outside(h->device, read_size(line->words[1])), FL_ANSWER_OK);
    else
        change_settings(h, line);
    return FL_OK;
}

/* The next line of a script, split into words; false at its end. */
static bool next_line(const char **script, struct line *line)
{
    *line = (struct line){0};
    for (*script += strspn(*script, "; \n"); **script != '\0';) {
        size_t word = 0;
        while (**script != '\0' && **script != ';' && **script != '\n') {
            size_t length = strcspn(*script, " ;\n");
            assert_true(word < MOST_WORDS && length < WORD_SIZE);
            memcpy(line->words[word++], *script, length);
            *script += length;
            *script += strspn(*script, " ");
        }
        return true;
    }
    return false;
}

fl_status heap_try(heap *h, const char *script, fl_error *error)
{
    struct line line;
    h->length = 0;
    shown_add(h, "%s", "");
    fl_status status = FL_OK;
    while (status == FL_OK && next_line(&script, &line)) {
        status = run_line(h, &line, error);
        if (status == FL_OK)
            status = fl_policy_torch.check(h->state, error);
    }
    return status;
}

const char *heap_does(heap *h, const char *script)
{
    fl_error error = {0};
    if (heap_try(h, script, &error) != FL_OK)
        fail_msg("%s%s: '%s' shows '%s', then: %s", h->conf.release,
                 h->conf.note != NULL ? h->conf.note : "", script, h->text, error.text);
    return h->text;
}

void heap_compare(heap *h, const char *script, const char *changes, const char *file, int line)
{
    heap_does(h, script);
    if (strcmp(h->text, changes) == 0)
        return;
    print_error("%s, '%s'\nexpected  %s\n     got  %s\n", h->conf.release, script, changes,
                h->text);
    _fail(file, line);
}

void heap_compare_stat(heap *h, fl_stat_kind kind, const char *text, const char *file, int line)
{
    const fl_stat *stat = &heap_stats(h)->stat[kind][FL_STAT_ALL];
    const uint64_t numbers[] = {stat->current, stat->peak, stat->allocated, stat->freed};
    char got[160] = "", number[32];
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i > 0 ? " " : "",
                 shown_size(numbers[i], number, sizeof number));
    if (strcmp(got, text) == 0)
        return;
    print_error("%s, %s\nexpected  %s\n     got  %s\n", h->conf.release, fl_stat_name(kind), text,
                got);
    _fail(file, line);
}

/* ---- open and close -------------------------------------------------------------------------- */

const fl_profile *heap_profile(const char *release)
{
    for (size_t i = 0; fl_profile_at(i) != NULL; i++)
        if (strcmp(fl_profile_release(fl_profile_at(i)), release) == 0)
            return fl_profile_at(i);
    fail_msg("no release %s", release);
    return NULL;
}

static fl_settings settings_of(const heap_conf *conf, const fl_profile *profile)
{
    fl_settings settings;
    fl_settings_default(profile, &settings);
    if (conf->split > 0)
        settings.max_split_bytes = conf->split;
    if (conf->large_segment > 0)
        settings.large_segment_bytes = settings.non_split_rounding_bytes = conf->large_segment;
    if (conf->non_split_rounding > 0)
        settings.non_split_rounding_bytes = conf->non_split_rounding;
    if (conf->process_fraction > 0)
        settings.process_fraction = conf->process_fraction;
    for (size_t i = 0; i < FL_ROUNDUP_SLOTS; i++)
        settings.divisions[i] = conf->divisions;
    settings.collect_threshold = conf->collect;
    settings.expandable = conf->expandable;
    settings.reject_on_oom = conf->rejects;
    return settings;
}

void heap_drop(heap *h)
{
    if (h->state != NULL)
        fl_policy_torch.close(h->state);
    fl_device_close(h->device);
    free(h->state);
    free(h->bases.items);
    free(h->text);
    free(h);
}

static fl_status open_policy(heap *h, const fl_host *host, fl_error *error)
{
    const fl_profile *profile = heap_profile(h->conf.release);
    fl_settings settings = settings_of(&h->conf, profile);
    h->sink = (fl_sink){shown_change, h};
    h->oracle = (fl_oracle){oracle_complete, oracle_hold, oracle_release, h};
    h->names = (fl_names){.streams = h->streams,
                          .pools = h->pools,
                          .pool_count = 1,
                          .texts = &h->text_asked,
                          .text_count = 1};
    h->state = calloc(1, fl_policy_torch.state_size);
    assert_non_null(h->state);
    fl_policy_env env = {.host = host,
                         .device = h->device,
                         .sink = &h->sink,
                         .oracle = &h->oracle,
                         .names = &h->names,
                         .profile = profile,
                         .settings = &settings,
                         .fraction = h->conf.fraction > 0 ? h->conf.fraction : -1};
    return fl_policy_torch.open(h->state, &env, error);
}

fl_status heap_try_open(heap_conf conf, const fl_host *host, heap **ret_heap, fl_error *error)
{
    heap *h = calloc(1, sizeof *h);
    assert_non_null(h);
    h->conf = conf;
    h->conf.release = conf.release != NULL ? conf.release : "2.9.1";
    h->complete_below = UINT64_MAX;
    h->asked = FL_NONE;
    fl_device_env card = {.host = host,
                          .capacity_bytes = conf.capacity > 0 ? conf.capacity : UINT64_MAX,
                          .total_bytes = conf.total};
    fl_status status = fl_device_open(fl_device_find("sim"), &card, &h->device, error);
    if (status == FL_OK)
        status = open_policy(h, host, error);
    if (status != FL_OK)
        heap_drop(h);
    else
        *ret_heap = h;
    return status;
}

heap *heap_open(heap_conf conf)
{
    heap *h = NULL;
    fl_error error = {0};
    if (heap_try_open(conf, fl_host_default(), &h, &error) != FL_OK)
        fail_msg("%s", error.text);
    return h;
}

void heap_close(heap *h)
{
    heap_does(h, "");
    assert_int_equal(fl_policy_torch.check(h->state, NULL), FL_OK);
    heap_drop(h);
}

void heap_compare_once(heap_conf conf, const char *script, const char *changes, const char *file,
                       int line)
{
    heap *h = heap_open(conf);
    heap_compare(h, script, changes, file, line);
    heap_close(h);
}

fl_probe heap_probe(heap *h, uint64_t size, uint64_t stream)
{
    char word[WORD_SIZE];
    snprintf(word, sizeof word, "%" PRIu64, stream);
    fl_op op = {.kind = FL_OP_ALLOC, .id = FL_NONE, .stream = dense_stream(h, word), .size = size};
    fl_probe probe = {0};
    assert_int_equal(fl_policy_torch.probe(h->state, &op, &probe, NULL), FL_OK);
    return probe;
}

const fl_stats *heap_stats(const heap *h)
{
    fl_facts facts;
    fl_policy_torch.facts(h->state, &facts);
    return facts.stats;
}

const fl_refusal *heap_refusal(const heap *h)
{
    fl_facts facts;
    fl_policy_torch.facts(h->state, &facts);
    return facts.refusal;
}

const fl_device_info *heap_device(const heap *h)
{
    return fl_device_get_info(h->device);
}

torch *heap_state(heap *h)
{
    return h->state;
}

const heap_conf *heap_conf_of(const heap *h)
{
    return &h->conf;
}

const char *heap_text(const heap *h)
{
    return h->text;
}
