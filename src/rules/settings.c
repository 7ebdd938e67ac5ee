/* Settings (18): defaults, and the text as each release reads it.
 *
 * Two parsers.  The old one (to 2.9) walks over the text once and insists on its separators.  The
 * new one takes any token for a separator and walks four times: for the shape of the text up to
 * `backend`, for the keys of the device, for the size of large segments, for the common keys; so
 * which of two mistakes is reported depends on whose keys they are in.  What they know, and how
 * they say no, is in keys.c. */
#include "rules/keys.h"
#include "rules/sizes.h"

#include <fraglab/suggest.h>

#include <math.h>
#include <string.h>

/* How integers are read: the C++ function that a failure is named after, and the largest value. */
typedef struct integer_rule {
    const char *function;
    uint64_t most;
} integer_rule;

typedef struct dialect {
    const char *blanks;
    bool checks_separators;
    integer_rule value, list_key;
    unsigned rest_starts; /* `>` in a list fills from the last slot named on, plus this */
    unsigned walks[4];    /* whose keys are read in each */
    size_t walk_count;
} dialect;

#define ALL_OWNERS (FL_OWNER_DEVICE | FL_OWNER_SEGMENT | FL_OWNER_COMMON)

static const dialect dialects[] = {
    [FL_PARSER_OLD] = {.blanks = " ",
                       .checks_separators = true,
                       .value = {"stoi", INT32_MAX},
                       .list_key = {"stoul", UINT64_MAX},
                       .rest_starts = 0,
                       .walks = {ALL_OWNERS},
                       .walk_count = 1},
    [FL_PARSER_NEW] = {.blanks = " \t\n\v\f\r",
                       .checks_separators = false,
                       .value = {"stoull", UINT64_MAX},
                       .list_key = {"stoull", UINT64_MAX},
                       .rest_starts = 1,
                       .walks = {0, FL_OWNER_DEVICE, FL_OWNER_SEGMENT, FL_OWNER_COMMON},
                       .walk_count = 4},
};

typedef struct parse {
    const fl_profile *profile;
    const dialect *dialect;
    fl_tokens tokens;
    fl_token item; /* the name of the setting being read */
    fl_settings settings;
    const char *backend; /* the first one named, NULL: none */
    fl_error *error;
} parse;

static const char backend_native[] = "native";
static const char backend_async[] = "cudaMallocAsync";

void fl_settings_default(const fl_profile *profile, fl_settings *ret_settings)
{
    (void)profile;
    *ret_settings = (fl_settings){
        .max_split_bytes = FL_UNLIMITED,
        .non_split_rounding_bytes = FL_FIXED_NON_SPLIT_ROUNDING,
        .large_segment_bytes = FL_LARGE_SEGMENT,
        .process_fraction = 1,
    };
}

static fl_status parse_refuse(parse *p, const char *text)
{
    return fl_fail(p->error, FL_ERR_USAGE, "%s", text);
}

/* What was meant by a name that is not known: `expandable_segment`, `expandable_segments=True`. */
static void parse_hint_at_name(parse *p)
{
    const char *names[FL_KEYS_MOST + 1];
    char typed[FL_TOKEN_QUOTE];
    fl_key_names(p->profile, names);
    fl_token_quote(&p->item, typed);
    char *equals = strchr(typed, '=');
    if (equals == NULL) {
        fl_suggest(names, typed, "", p->error);
        return;
    }
    *equals = '\0';
    const char *nearest = fl_nearest(names, typed);
    if (nearest != NULL)
        fl_hint(p->error, "did you mean '%s:%s'?", nearest, equals + 1);
}

/* The new parser does not say where it was when the tokens ran out. */
static fl_status parse_refuse_end(parse *p, const char *assertion)
{
    char item[FL_TOKEN_QUOTE];
    fl_token_quote(&p->item, item);
    fl_fail(p->error, FL_ERR_USAGE, "internal assertion: %s", assertion);
    if (fl_key_find(p->profile, &p->item) == NULL)
        parse_hint_at_name(p);
    fl_hint(p->error, "the text ends before the value of '%s' does", item);
    return FL_ERR_USAGE;
}

static const char out_of_tokens[] = "Index out of bounds in ConfigTokenizer";

static fl_status parse_refuse_number(parse *p, const fl_token *token, const char *function)
{
    char item[FL_TOKEN_QUOTE], value[FL_TOKEN_QUOTE];
    fl_token_quote(&p->item, item);
    fl_token_quote(token, value);
    fl_fail(p->error, FL_ERR_USAGE, "%s", function);
    fl_hint(p->error, "'%s' in '%s' is not a number, or too large a one", value, item);
    return FL_ERR_USAGE;
}

static fl_status parse_separator(parse *p, char separator)
{
    fl_token token;
    const char expected[2] = {separator, '\0'};
    bool is_there = fl_tokens_next(&p->tokens, &token);
    if (!p->dialect->checks_separators)
        return is_there ? FL_OK : parse_refuse_end(p, out_of_tokens);
    if (!is_there || !fl_token_is(&token, expected))
        return fl_fail(p->error, FL_ERR_USAGE,
                       "Error parsing CachingAllocator settings, expected %c", separator);
    return FL_OK;
}

static fl_status parse_value(parse *p, const fl_key *key, fl_token *ret_token)
{
    fl_status status = parse_separator(p, ':');
    if (status != FL_OK || fl_tokens_next(&p->tokens, ret_token))
        return status;
    if (!p->dialect->checks_separators)
        return parse_refuse_end(p, out_of_tokens);
    if (key->missing != NULL)
        return parse_refuse(p, key->missing);
    return fl_fail(p->error, FL_ERR_USAGE, "Error, expecting %s value",
                   key->alias != NULL ? key->alias : key->name);
}

/* Negative numbers become huge ones, as in C++. */
static fl_status parse_integer(parse *p, const fl_token *token, const integer_rule *rule,
                               uint64_t *ret_value)
{
    bool is_negative;
    uint64_t absolute;
    if (!fl_token_integer(token, &is_negative, &absolute) ||
        absolute - (is_negative && absolute > 0) > rule->most)
        return parse_refuse_number(p, token, rule->function);
    *ret_value = is_negative ? 0 - absolute : absolute;
    return FL_OK;
}

static bool is_power_of_two(uint64_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

static void parse_store(parse *p, const fl_key *key, const void *value, size_t size)
{
    if (key->field != FL_KEY_NO_FIELD)
        memcpy((char *)&p->settings + key->field, value, size);
}

static fl_status read_megabytes(parse *p, const fl_key *key)
{
    fl_token token;
    uint64_t value;
    fl_status status = parse_value(p, key, &token);
    if (status == FL_OK)
        status = parse_integer(p, &token, &p->dialect->value, &value);
    if (status != FL_OK)
        return status;
    uint64_t large = p->settings.large_segment_bytes / FL_MIB;
    if (key->least == FL_LEAST_LARGE && value < large)
        return fl_fail(p->error, FL_ERR_USAGE, "%s %llu", key->refusal, (unsigned long long)large);
    if (key->least != FL_LEAST_LARGE && value < key->least)
        return parse_refuse(p, key->refusal);
    uint64_t bytes = value < UINT64_MAX / FL_MIB ? value * FL_MIB : UINT64_MAX / FL_MIB * FL_MIB;
    parse_store(p, key, &bytes, sizeof bytes);
    return FL_OK;
}

static fl_status read_real(parse *p, const fl_key *key)
{
    fl_token token;
    double value;
    fl_status status = parse_value(p, key, &token);
    if (status != FL_OK)
        return status;
    if (!fl_token_real(&token, &value, NULL))
        return parse_refuse_number(p, &token, "stod");
    if (!(value > 0 || (key->is_closed && value == 0)))
        return parse_refuse(p, key->refusal);
    if (!(value < 1 || (key->is_closed && value == 1)))
        return parse_refuse(p, key->refusal2 != NULL ? key->refusal2 : key->refusal);
    parse_store(p, key, &value, sizeof value);
    return FL_OK;
}

static fl_status read_flag(parse *p, const fl_key *key)
{
    fl_token token;
    fl_status status = parse_value(p, key, &token);
    if (status != FL_OK)
        return status;
    bool is_true = fl_token_is(&token, "True");
    if (is_true || fl_token_is(&token, "False")) {
        parse_store(p, key, &is_true, sizeof is_true);
        return FL_OK;
    }
    char value[FL_TOKEN_QUOTE];
    fl_token_quote(&token, value);
    if (p->dialect->checks_separators)
        fl_fail(p->error, FL_ERR_USAGE, "Expected a single True/False argument for %s",
                key->alias != NULL ? key->alias : key->name);
    else
        fl_fail(p->error, FL_ERR_USAGE,
                "Expected 'True' or 'False' at index %zu in ConfigTokenizer but got '%s'",
                token.index, value);
    if (fl_token_is(&token, "true") || fl_token_is(&token, "false"))
        fl_hint(p->error, "did you mean '%s:%s'?", key->name, *value == 't' ? "True" : "False");
    return FL_ERR_USAGE;
}

static fl_status read_threads(parse *p, const fl_key *key)
{
    fl_token token;
    uint64_t value;
    fl_status status = parse_value(p, key, &token);
    if (status == FL_OK)
        status = parse_integer(p, &token, &p->dialect->value, &value);
    if (status != FL_OK)
        return status;
    const char *refusal = !is_power_of_two(value) ? key->refusal : key->refusal2;
    if (is_power_of_two(value) && value <= 128)
        return FL_OK;
    if (!key->names_value)
        return parse_refuse(p, refusal);
    return fl_fail(p->error, FL_ERR_USAGE, "%s, got %llu", refusal, (unsigned long long)value);
}

/* A list of divisions as it is read. */
typedef struct division_list {
    unsigned last_slot; /* the one named last */
    bool has_slot;
} division_list;

static void divisions_fill(parse *p, unsigned from, unsigned to, uint64_t value)
{
    for (unsigned slot = from; slot < to; slot++)
        p->settings.divisions[slot] = value;
}

/* `KEY:VALUE` with KEY a power of two in MiB, or `>`.  The first number also fills the slots below
 * it, whatever a `>` before it put there (18.5, 22.1). */
static fl_status read_division(parse *p, const fl_key *key, const fl_token *name,
                               division_list *list)
{
    fl_token token;
    uint64_t value, megabytes;
    fl_status status = parse_separator(p, ':');
    if (status != FL_OK)
        return status;
    if (!fl_tokens_next(&p->tokens, &token))
        return p->dialect->checks_separators
                   ? parse_refuse(p, "Error parsing roundup_power2_divisions value")
                   : parse_refuse_end(p, out_of_tokens);
    status = parse_integer(p, &token, &p->dialect->value, &value);
    if (status != FL_OK)
        return status;
    if (!is_power_of_two(value) && !(value == 0 && p->profile->zero_division_accepted))
        return parse_refuse(p, key->refusal2 != NULL ? key->refusal2 : key->refusal);
    if (fl_token_is(name, ">")) {
        divisions_fill(p, list->last_slot + p->dialect->rest_starts, FL_ROUNDUP_SLOTS, value);
        return FL_OK;
    }
    status = parse_integer(p, name, &p->dialect->list_key, &megabytes);
    if (status != FL_OK)
        return status;
    if (!is_power_of_two(megabytes))
        return parse_refuse(p, "For roundups, the intervals have to be power of 2");
    unsigned slot = fl_log2(megabytes);
    if (slot >= FL_ROUNDUP_SLOTS)
        slot = FL_ROUNDUP_SLOTS - 1;
    divisions_fill(p, list->has_slot ? slot : 0, slot + 1, value);
    *list = (division_list){slot, true};
    return FL_OK;
}

/* The old parser takes the end of the text for `]`, except after a value. */
static fl_status read_division_list(parse *p, const fl_key *key)
{
    division_list list = {0};
    fl_token name;
    while (fl_tokens_next(&p->tokens, &name) && !fl_token_is(&name, "]")) {
        fl_status status = read_division(p, key, &name, &list);
        if (status != FL_OK)
            return status;
        fl_tokens ahead = p->tokens;
        fl_token next;
        if (fl_tokens_next(&ahead, &next) && fl_token_is(&next, "]"))
            continue;
        status = parse_separator(p, ',');
        if (status != FL_OK)
            return status;
    }
    return FL_OK;
}

static fl_status read_divisions(parse *p, const fl_key *key)
{
    fl_token token;
    uint64_t value;
    fl_status status = parse_value(p, key, &token);
    if (status != FL_OK)
        return status;
    if (fl_token_is(&token, "["))
        return read_division_list(p, key);
    status = parse_integer(p, &token, &p->dialect->value, &value);
    if (status != FL_OK)
        return status;
    if (!is_power_of_two(value))
        return parse_refuse(p, key->refusal);
    divisions_fill(p, 0, FL_ROUNDUP_SLOTS, value);
    return FL_OK;
}

static fl_status read_backend(parse *p, const fl_key *key)
{
    fl_token token;
    fl_status status = parse_value(p, key, &token);
    if (status != FL_OK)
        return status;
    const char *backend = fl_token_is(&token, backend_native)  ? backend_native
                          : fl_token_is(&token, backend_async) ? backend_async
                                                               : NULL;
    if (backend == NULL)
        return parse_refuse(p, key->refusal);
    if (p->backend != NULL && p->backend != backend) {
        parse_refuse(p, "internal assertion: Allocator backend parsed at runtime != allocator "
                        "backend parsed at load time");
        fl_hint(p->error, "a text can name one backend only");
        return FL_ERR_USAGE;
    }
    p->backend = backend;
    return FL_OK;
}

/* Unlike elsewhere, the number must be decimal and nothing may follow it; what is not one is passed
 * over with a warning. */
static fl_status read_reserve(parse *p, const fl_key *key)
{
    fl_token token, number;
    fl_status status = parse_value(p, key, &token);
    if (status != FL_OK)
        return status;
    char unit = fl_token_last(&token, &number);
    fl_reserve reserve = {.is_given = true, .is_fraction = unit != 'G' && unit != 'g'};
    if (reserve.is_fraction)
        number = token;
    size_t length = (size_t)(number.end - number.start);
    bool is_hexadecimal = memchr(number.start, 'x', length) || memchr(number.start, 'X', length);
    bool is_all;
    if (!is_hexadecimal && fl_token_real(&number, &reserve.value, &is_all) && is_all &&
        reserve.value > 0 && isfinite(reserve.value))
        parse_store(p, key, &reserve, sizeof reserve);
    return FL_OK;
}

/* Streams of a trace carry no class, so only the shape matters. */
static fl_status read_reserve_list(parse *p, const fl_key *key)
{
    fl_token token;
    fl_status status = parse_value(p, key, &token);
    while (status == FL_OK) {
        if (!fl_tokens_next(&p->tokens, &token))
            return parse_refuse_end(p, out_of_tokens);
        if (fl_token_is(&token, "]"))
            return FL_OK;
        status = parse_value(p, key, &token);
        fl_tokens ahead = p->tokens;
        if (status != FL_OK)
            return status;
        if (!fl_tokens_next(&ahead, &token))
            return parse_refuse_end(p, out_of_tokens);
        if (fl_token_is(&token, ","))
            p->tokens = ahead;
    }
    return status;
}

static fl_status (*const readers[])(parse *p, const fl_key *key) = {
    [FL_KEY_MEGABYTES] = read_megabytes, [FL_KEY_REAL] = read_real,
    [FL_KEY_FLAG] = read_flag,           [FL_KEY_THREADS] = read_threads,
    [FL_KEY_DIVISIONS] = read_divisions, [FL_KEY_BACKEND] = read_backend,
    [FL_KEY_RESERVE] = read_reserve,     [FL_KEY_RESERVE_LIST] = read_reserve_list,
};

/* Passes over the setting of another walk: a value, or a list to its `]`. */
static fl_status parse_skip(parse *p)
{
    fl_token token;
    fl_status status = parse_separator(p, ':');
    if (status != FL_OK)
        return status;
    if (!fl_tokens_next(&p->tokens, &token))
        return parse_refuse_end(p, out_of_tokens);
    if (!fl_token_is(&token, "["))
        return FL_OK;
    while (fl_tokens_next(&p->tokens, &token))
        if (fl_token_is(&token, "]"))
            return FL_OK;
    return parse_refuse_end(
        p, "Expected closing bracket ']' in ConfigTokenizer but reached end of config");
}

static fl_status parse_refuse_name(parse *p)
{
    char name[FL_TOKEN_QUOTE];
    fl_token_quote(&p->item, name);
    if (p->dialect->checks_separators)
        fl_fail(p->error, FL_ERR_USAGE, "Unrecognized CachingAllocator option: %s", name);
    else
        fl_fail(p->error, FL_ERR_USAGE, "Unrecognized key '%s' in CUDA allocator config.", name);
    unsigned first = fl_key_first(&p->item);
    if (first != 0)
        fl_hint(p->error, "PyTorch %u.%u is the first to know it", first / 1000, first % 1000);
    else
        parse_hint_at_name(p);
    return FL_ERR_USAGE;
}

const char *fl_parser_blanks(fl_parser parser)
{
    return dialects[parser].blanks;
}

/* One walk over the text, reading the keys of `owners`.  What is nobody's is the device's to
 * refuse.  The first of several walks ends at the backend, whatever follows. */
static fl_status parse_walk(parse *p, const char *text, unsigned owners)
{
    fl_status status = FL_OK;
    p->tokens = (fl_tokens){text, p->dialect->blanks, 0};
    while (status == FL_OK && fl_tokens_next(&p->tokens, &p->item)) {
        const fl_key *key = fl_key_find(p->profile, &p->item);
        unsigned owner = key != NULL ? key->owner : FL_OWNER_DEVICE;
        bool ends_here = owners == 0 && key != NULL && key->kind == FL_KEY_BACKEND;
        fl_token value;
        if (ends_here)
            return parse_value(p, key, &value);
        if ((owner & owners) == 0)
            status = parse_skip(p);
        else
            status = key != NULL ? readers[key->kind](p, key) : parse_refuse_name(p);
        fl_tokens ahead = p->tokens;
        if (status == FL_OK && fl_tokens_next(&ahead, &value))
            status = parse_separator(p, ',');
    }
    return status;
}

/* What a text that does not name them puts back (18.3). */
static void parse_reset(parse *p)
{
    p->settings.max_split_bytes = FL_UNLIMITED;
    p->settings.collect_threshold = 0;
    divisions_fill(p, 0, FL_ROUNDUP_SLOTS, 0);
    if (p->profile->has_large_segment)
        p->settings.non_split_rounding_bytes = p->settings.large_segment_bytes;
}

fl_status fl_settings_parse(const fl_profile *profile, const char *text, fl_settings *settings,
                            fl_error *error)
{
    parse p = {.profile = profile,
               .dialect = &dialects[profile->parser],
               .settings = *settings,
               .error = error};
    for (size_t i = 0; i < p.dialect->walk_count; i++) {
        unsigned owners = p.dialect->walks[i];
        if (owners & FL_OWNER_COMMON)
            parse_reset(&p);
        fl_status status = parse_walk(&p, text, owners);
        if (status != FL_OK)
            return status;
    }
    if (p.backend == backend_async)
        return fl_fail(error, FL_ERR_UNAVAILABLE,
                       "backend:cudaMallocAsync leaves every decision to the driver, "
                       "so there is nothing to replay");
    *settings = p.settings;
    return FL_OK;
}
