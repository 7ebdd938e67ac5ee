/* The answer of tune as text, JSON and CSV. */
#include "cli/tune_show.h"

#include "analysis/review.h"
#include "cli/cards.h"
#include "cli/envelope.h"

#include <fraglab/units.h>

#include <inttypes.h>
#include <string.h>

#define RELEASES_MOST 32
#define SHOWN_MOST    12 /* candidates, and stretches, in text */
#define SENTENCE_SIZE 700
#define ASSUMES                                                                                    \
    "assumed: the same requests in the same order, events completing as recorded; times from a "   \
    "price table"

static uint64_t calls_of(const fl_tune_outcome *outcome)
{
    return outcome->driver_malloc + outcome->driver_free + outcome->driver_map +
           outcome->driver_unmap;
}

static fl_emit_value bytes_or_null(uint64_t bytes)
{
    return bytes != FL_UNLIMITED ? fl_emit_bytes(bytes) : fl_emit_null();
}

/* ---- words ----------------------------------------------------------------------------------- */

static const char *mark_of(const fl_tune_finding *finding, uint64_t event)
{
    const fl_trace *trace = finding->traces[0];
    fl_event told;
    fl_trace_event(trace, finding->setup->trace_device, event, &told);
    return told.text != FL_NONE ? fl_trace_names(trace)->texts[told.text] : "";
}

/* `expandable_segments:True`, `default settings`, `empty_cache() before event 12 (phase: eval)`. */
static void words_of(const fl_tune_finding *finding, const fl_tune_candidate *candidate,
                     char *buffer, size_t size)
{
    char fraction[40] = "";
    const char *conf = candidate->conf[0] != '\0' ? candidate->conf : "default settings";
    if (candidate->fraction >= 0)
        snprintf(fraction, sizeof fraction, " with fraction %g", candidate->fraction);
    if (candidate->change == FL_TUNE_EMPTY_CACHE)
        snprintf(buffer, size, "empty_cache() before event %" PRIu64 " (%s)",
                 candidate->change_event, mark_of(finding, candidate->change_event));
    else if (candidate->change == FL_TUNE_LARGEST_FIRST)
        snprintf(buffer, size, "the largest request made and freed before all others");
    else
        snprintf(buffer, size, "%s%s", conf, fraction);
}

static void time_words(double us, char *buffer, size_t size)
{
    if (us < 1e6)
        snprintf(buffer, size, "%.1f ms", us / 1e3);
    else
        snprintf(buffer, size, "%.1f s", us / 1e6);
}

static uint64_t needed(const fl_tuning *tuning, const fl_tune_candidate *candidate)
{
    bool is_choice =
        tuning->recommended != SIZE_MAX && candidate == &tuning->candidates[tuning->recommended];
    return is_choice && tuning->exact_card_bytes != FL_UNLIMITED ? tuning->exact_card_bytes
                                                                 : candidate->smallest_card_bytes;
}

static void sentence_of_choice(const fl_tune_finding *finding, char *buffer, size_t size)
{
    const fl_tuning *tuning = &finding->tuning;
    const fl_tune_candidate *choice = &tuning->candidates[tuning->recommended];
    const fl_tune_candidate *base = &tuning->candidates[0];
    char words[FL_TUNE_CONF_SIZE + 60], card[40], need[40], lost[32], before[80];
    words_of(finding, choice, words, sizeof words);
    fl_card_words(tuning->card_bytes, card, sizeof card);
    fl_card_words(needed(tuning, choice), need, sizeof need);
    time_words(choice->outcome.cost_us, lost, sizeof lost);
    if (base->outcome.fits)
        fl_card_words(base->smallest_card_bytes, before, sizeof before);
    else
        snprintf(before, sizeof before, "more than %s", card);
    snprintf(buffer, size,
             "use %s: it needs a card of %s, where what is in force needs %s; on %s about %s go to "
             "the driver",
             words, need, before, card, lost);
}

static void sentence_of_none(const fl_tune_finding *finding, char *buffer, size_t size)
{
    const fl_tuning *tuning = &finding->tuning;
    char card[40], best[40];
    fl_card_words(tuning->card_bytes, card, sizeof card);
    fl_card_words(tuning->best_card_bytes, best, sizeof best);
    if (tuning->was_stopped)
        snprintf(buffer, size, "nothing that was tried so far makes it fit %s", card);
    else if (tuning->best_card_bytes == FL_UNLIMITED)
        snprintf(buffer, size, "no setting makes it fit %s", card);
    else
        snprintf(buffer, size,
                 "no setting makes it fit %s; a card of %s would do, with the best "
                 "of the usual ones",
                 card, best);
}

/* The answer in one sentence. */
static void sentence_of(const fl_tune_finding *finding, char *buffer, size_t size)
{
    const fl_tuning *tuning = &finding->tuning;
    char card[40];
    switch (tuning->reason) {
    case FL_TUNE_RECOMMENDED:
        sentence_of_choice(finding, buffer, size);
        break;
    case FL_TUNE_NONE_FITS:
        sentence_of_none(finding, buffer, size);
        break;
    default:
        fl_card_words(tuning->is_card_given ? tuning->card_bytes
                                            : tuning->candidates[0].smallest_card_bytes,
                      card, sizeof card);
        snprintf(buffer, size,
                 tuning->is_card_given ? "no tuning is needed: it fits %s as it is"
                                       : "no tuning is needed: as it is it needs %s, and no "
                                         "setting is worth more",
                 card);
    }
}

/* The line for the environment.  Every release reads this variable. */
static void environment_line(const fl_tuning *tuning, char *buffer, size_t size)
{
    const fl_tune_candidate *choice = &tuning->candidates[tuning->recommended];
    snprintf(buffer, size, "%s=%s", fl_settings_variable(0), choice->conf);
}

/* ---- what other releases make of it ---------------------------------------------------------- */

struct release_group {
    const fl_profile *first, *last;
    fl_review review;
};

static size_t group_releases(const char *conf, struct release_group groups[RELEASES_MOST])
{
    size_t count = 0;
    for (size_t i = 0; fl_profile_at(i) != NULL && count < RELEASES_MOST; i++) {
        struct release_group *last = count > 0 ? &groups[count - 1] : NULL;
        struct release_group one = {.first = fl_profile_at(i), .last = fl_profile_at(i)};
        fl_review_text(one.first, conf, &one.review);
        if (last != NULL && fl_review_is_same(&last->review, &one.review))
            last->last = one.last;
        else
            groups[count++] = one;
    }
    return count;
}

static const char *verdict_word(const fl_review *review)
{
    return review->verdict == FL_REVIEW_ACCEPTED ? "accepted" : "refused";
}

static void emit_releases(fl_emit *emit, const char *conf)
{
    static const fl_emit_column columns[] = {
        {"first", "from", FL_EMIT_TEXT},
        {"last", "to", FL_EMIT_TEXT},
        {"verdict", "it is", FL_EMIT_TEXT},
        {"because", "because", FL_EMIT_TEXT},
    };
    struct release_group groups[RELEASES_MOST];
    size_t count = group_releases(conf, groups);
    fl_emit_table_begin(emit, "releases", "in other releases", columns,
                        sizeof columns / sizeof *columns);
    for (size_t i = 0; i < count; i++) {
        const struct release_group *group = &groups[i];
        bool is_refused = group->review.verdict != FL_REVIEW_ACCEPTED;
        const fl_emit_value cells[] = {
            fl_emit_text(fl_profile_release(group->first)),
            fl_emit_text(fl_profile_release(group->last)),
            fl_emit_text(verdict_word(&group->review)),
            fl_emit_text(is_refused ? group->review.refusal.text : NULL),
        };
        fl_emit_row(emit, cells);
    }
    fl_emit_table_end(emit);
}

/* What is known to go wrong with a setting, beside what a review of its text says. */
static const struct conflict {
    const char *key, *text;
} conflicts[] = {
    {"expandable_segments:True",
     "never add max_split_size_mb to it: freed blocks above the limit are not used again, and "
     "memory grows (traces/zoo/T17.txt)"},
    {"max_split_size_mb",
     "never add expandable_segments to it: freed blocks above the limit are not used again, and "
     "memory grows (traces/zoo/T17.txt)"},
    {"max_split_size_mb",
     "on a larger card, or one that others share, it may reserve many times as much as without it"},
    {"roundup_power2_divisions",
     "rounding makes most programs need more; it helps where sizes vary a little around one value"},
    {"garbage_collection_threshold",
     "it counts from the memory fraction, and frees blocks that the next step may want again"},
    {"large_segment_size_mb", "it also bounds max_split_size_mb from below"},
};

static void emit_conflicts(fl_emit *emit, const fl_profile *profile, const char *conf)
{
    fl_review review;
    fl_review_text(profile, conf, &review);
    fl_emit_list_begin(emit, "conflicts", "mind");
    for (size_t i = 0; i < sizeof conflicts / sizeof *conflicts; i++)
        if (strstr(conf, conflicts[i].key) != NULL)
            fl_emit_item(emit, fl_emit_text(conflicts[i].text));
    for (size_t i = 0; i < review.remark_count; i++)
        fl_emit_item(emit, fl_emit_text(review.remarks[i].text));
    fl_emit_list_end(emit);
}

/* ---- for programs ---------------------------------------------------------------------------- */

static void emit_calls(fl_emit *emit, const fl_tune_outcome *outcome)
{
    fl_emit_object_begin(emit, "driver_calls", NULL);
    fl_emit_pair(emit, "malloc", NULL, fl_emit_count(outcome->driver_malloc));
    fl_emit_pair(emit, "free", NULL, fl_emit_count(outcome->driver_free));
    fl_emit_pair(emit, "map", NULL, fl_emit_count(outcome->driver_map));
    fl_emit_pair(emit, "unmap", NULL, fl_emit_count(outcome->driver_unmap));
    fl_emit_object_end(emit);
}

static void emit_recommended(fl_session *session, const fl_tune_finding *finding)
{
    fl_emit *emit = session->emit;
    const fl_tuning *tuning = &finding->tuning;
    if (tuning->recommended == SIZE_MAX) {
        fl_emit_pair(emit, "recommended", NULL, fl_emit_null());
        return;
    }
    const fl_tune_candidate *choice = &tuning->candidates[tuning->recommended];
    char line[FL_TUNE_CONF_SIZE + 40];
    environment_line(tuning, line, sizeof line);
    fl_emit_object_begin(emit, "recommended", NULL);
    fl_emit_pair(emit, "conf", NULL, fl_emit_text(choice->conf));
    fl_emit_pair(emit, "fraction", NULL,
                 choice->fraction >= 0 ? fl_emit_real(choice->fraction) : fl_emit_null());
    fl_emit_pair(emit, "environment", NULL, fl_emit_text(line));
    fl_emit_pair(emit, "fits", NULL, fl_emit_bool(choice->outcome.fits));
    fl_emit_pair(emit, "smallest_card_bytes", NULL, bytes_or_null(needed(tuning, choice)));
    fl_emit_pair(emit, "is_exact", NULL, fl_emit_bool(tuning->exact_card_bytes != FL_UNLIMITED));
    fl_emit_pair(emit, "peak_reserved_bytes", NULL,
                 fl_emit_bytes(choice->outcome.peak_reserved_bytes));
    emit_calls(emit, &choice->outcome);
    fl_emit_pair(emit, "alloc_retries", NULL, fl_emit_count(choice->outcome.alloc_retries));
    fl_emit_pair(emit, "driver_ms", NULL, fl_emit_real(choice->outcome.cost_us / 1e3));
    emit_conflicts(emit, finding->setup->profile, choice->conf);
    emit_releases(emit, choice->conf);
    fl_emit_object_begin(emit, "robustness", NULL);
    fl_emit_pair(emit, "trials", NULL, fl_emit_count(tuning->robustness.trials));
    fl_emit_pair(emit, "fitting", NULL, fl_emit_count(tuning->robustness.fitting));
    fl_emit_pair(emit, "least_reserved_bytes", NULL,
                 fl_emit_bytes(tuning->robustness.least_reserved_bytes));
    fl_emit_pair(emit, "most_reserved_bytes", NULL,
                 fl_emit_bytes(tuning->robustness.most_reserved_bytes));
    fl_emit_object_end(emit);
    fl_emit_object_end(emit);
}

static const fl_emit_column candidate_columns[] = {
    {"conf", "settings", FL_EMIT_TEXT},
    {"fraction", "fraction", FL_EMIT_REAL},
    {"change", "change", FL_EMIT_TEXT},
    {"change_event", "event", FL_EMIT_COUNT},
    {"fits", "fits", FL_EMIT_BOOL},
    {"smallest_card_bytes", "card", FL_EMIT_BYTES},
    {"headroom_bytes", "headroom", FL_EMIT_BYTES},
    {"peak_reserved_bytes", "reserved", FL_EMIT_BYTES},
    {"driver_malloc", "malloc", FL_EMIT_COUNT},
    {"driver_free", "free", FL_EMIT_COUNT},
    {"driver_map", "map", FL_EMIT_COUNT},
    {"driver_unmap", "unmap", FL_EMIT_COUNT},
    {"alloc_retries", "retries", FL_EMIT_COUNT},
    {"driver_ms", "time", FL_EMIT_REAL},
    {"worst_file", "worst file", FL_EMIT_COUNT},
    {"is_usual", "usual", FL_EMIT_BOOL},
    {"is_conflicting", "conflicting", FL_EMIT_BOOL},
    {"is_pareto", "best", FL_EMIT_BOOL},
};
#define CANDIDATE_COLUMNS (sizeof candidate_columns / sizeof *candidate_columns)

static void emit_candidate(fl_emit *emit, const fl_tuning *tuning,
                           const fl_tune_candidate *candidate)
{
    static const char *const changes[] = {NULL, "empty_cache", "largest_first"};
    const fl_tune_outcome *outcome = &candidate->outcome;
    uint64_t card = needed(tuning, candidate);
    bool has_room = card <= tuning->card_bytes;
    fl_emit_value cells[CANDIDATE_COLUMNS] = {
        fl_emit_text(candidate->conf),
        candidate->fraction >= 0 ? fl_emit_real(candidate->fraction) : fl_emit_null(),
        fl_emit_text(changes[candidate->change]),
        candidate->change == FL_TUNE_EMPTY_CACHE ? fl_emit_count(candidate->change_event)
                                                 : fl_emit_null(),
        fl_emit_bool(outcome->fits),
        bytes_or_null(card),
        has_room ? fl_emit_bytes(tuning->card_bytes - card) : fl_emit_null(),
        fl_emit_bytes(outcome->peak_reserved_bytes),
        fl_emit_count(outcome->driver_malloc),
        fl_emit_count(outcome->driver_free),
        fl_emit_count(outcome->driver_map),
        fl_emit_count(outcome->driver_unmap),
        fl_emit_count(outcome->alloc_retries),
        fl_emit_real(outcome->cost_us / 1e3),
        fl_emit_count(outcome->worst_file),
        fl_emit_bool((candidate->flags & FL_TUNE_USUAL) != 0),
        fl_emit_bool((candidate->flags & FL_TUNE_CONFLICTING) != 0),
        fl_emit_bool((candidate->flags & FL_TUNE_PARETO) != 0),
    };
    fl_emit_row(emit, cells);
}

static const fl_emit_column interval_columns[] = {
    {"first_mb", "from", FL_EMIT_COUNT},
    {"last_mb", "to", FL_EMIT_COUNT},
    {"fits", "fits", FL_EMIT_BOOL},
    {"peak_reserved_bytes", "reserved", FL_EMIT_BYTES},
    {"driver_calls", "driver calls", FL_EMIT_COUNT},
    {"alloc_retries", "retries", FL_EMIT_COUNT},
    {"driver_ms", "time", FL_EMIT_REAL},
};
#define INTERVAL_COLUMNS (sizeof interval_columns / sizeof *interval_columns)

static void emit_interval(fl_emit *emit, const fl_tune_interval *interval, fl_emit_value time)
{
    bool is_open = interval->last_mebibytes == FL_UNLIMITED;
    fl_emit_value cells[INTERVAL_COLUMNS] = {
        fl_emit_count(interval->first_mebibytes),
        is_open ? fl_emit_null() : fl_emit_count(interval->last_mebibytes),
        fl_emit_bool(interval->outcome.fits),
        fl_emit_bytes(interval->outcome.peak_reserved_bytes),
        fl_emit_count(calls_of(&interval->outcome)),
        fl_emit_count(interval->outcome.alloc_retries),
        time,
    };
    fl_emit_row(emit, cells);
}

static void emit_record(fl_session *session, const fl_tune_finding *finding)
{
    static const char *const reasons[] = {"recommended", "none needed", "none fits"};
    const fl_tuning *tuning = &finding->tuning;
    fl_emit *emit = session->emit;
    char sentence[SENTENCE_SIZE];
    sentence_of(finding, sentence, sizeof sentence);
    fl_envelope_begin(session);
    fl_emit_list_begin(emit, "files", NULL);
    for (size_t i = 0; i < session->options.word_count; i++)
        fl_emit_item(emit, fl_emit_text(session->options.words[i]));
    fl_emit_list_end(emit);
    fl_setup_emit_config(session, finding->setup);
    fl_emit_pair(emit, "prices", NULL, fl_emit_text(session->options.prices));
    fl_envelope_end(session);
    fl_emit_for(emit, FL_EMIT_FOR_PROGRAMS);
    fl_emit_pair(emit, "reason", NULL, fl_emit_text(reasons[tuning->reason]));
    fl_emit_pair(emit, "sentence", NULL, fl_emit_text(sentence));
    fl_emit_pair(emit, "card_bytes", NULL, fl_emit_bytes(tuning->card_bytes));
    fl_emit_pair(emit, "is_card_given", NULL, fl_emit_bool(tuning->is_card_given));
    fl_emit_pair(emit, "best_card_bytes", NULL, bytes_or_null(tuning->best_card_bytes));
    fl_emit_pair(emit, "is_sampled", NULL, fl_emit_bool(tuning->is_sampled));
    fl_emit_pair(emit, "was_stopped", NULL, fl_emit_bool(tuning->was_stopped));
    emit_recommended(session, finding);
    fl_emit_for(emit, FL_EMIT_FOR_PROGRAMS | FL_EMIT_FOR_TABLES);
    fl_emit_table_begin(emit, "candidates", NULL, candidate_columns, CANDIDATE_COLUMNS);
    for (size_t i = 0; i < tuning->candidate_count; i++)
        emit_candidate(emit, tuning, &tuning->candidates[i]);
    fl_emit_table_end(emit);
    fl_emit_for(emit, FL_EMIT_FOR_PROGRAMS);
    fl_emit_table_begin(emit, "intervals", NULL, interval_columns, INTERVAL_COLUMNS);
    for (size_t i = 0; i < tuning->interval_count; i++)
        emit_interval(emit, &tuning->intervals[i],
                      fl_emit_real(tuning->intervals[i].outcome.cost_us / 1e3));
    fl_emit_table_end(emit);
}

/* ---- for people ------------------------------------------------------------------------------ */

static const fl_emit_column shown_columns[] = {
    {"what", "instead", FL_EMIT_TEXT},       {"card", "card", FL_EMIT_TEXT},
    {"reserved", "reserved", FL_EMIT_BYTES}, {"calls", "driver calls", FL_EMIT_COUNT},
    {"retries", "retries", FL_EMIT_COUNT},   {"time", "time", FL_EMIT_TEXT},
};
#define SHOWN_COLUMNS (sizeof shown_columns / sizeof *shown_columns)

static void show_candidate(fl_emit *emit, const fl_tune_finding *finding,
                           const fl_tune_candidate *candidate)
{
    char words[FL_TUNE_CONF_SIZE + 60], card[40], lost[32];
    const fl_tune_outcome *outcome = &candidate->outcome;
    words_of(finding, candidate, words, sizeof words);
    fl_card_words(needed(&finding->tuning, candidate), card, sizeof card);
    time_words(outcome->cost_us, lost, sizeof lost);
    fl_emit_value cells[SHOWN_COLUMNS] = {
        fl_emit_text(words),
        fl_emit_text(outcome->fits ? card : "does not fit"),
        fl_emit_bytes(outcome->peak_reserved_bytes),
        fl_emit_count(calls_of(outcome)),
        fl_emit_count(outcome->alloc_retries),
        fl_emit_text(lost),
    };
    fl_emit_row(emit, cells);
}

/* What is worth a look: the choice, what nothing beats, what people try first, what a change of the
 * program would do. */
static bool is_shown(const fl_tuning *tuning, size_t index)
{
    const fl_tune_candidate *candidate = &tuning->candidates[index];
    if (index == tuning->recommended || (candidate->flags & (FL_TUNE_PARETO | FL_TUNE_BASE)))
        return true;
    return candidate->outcome.fits &&
           (candidate->change != FL_TUNE_NO_CHANGE ||
            ((candidate->flags & FL_TUNE_USUAL) && (candidate->flags & FL_TUNE_CONFLICTING) == 0));
}

/* Another text for the same numbers. */
static bool is_like(const fl_tune_candidate *a, const fl_tune_candidate *b)
{
    return a->outcome.fits == b->outcome.fits && a->smallest_card_bytes == b->smallest_card_bytes &&
           a->outcome.peak_reserved_bytes == b->outcome.peak_reserved_bytes &&
           calls_of(&a->outcome) == calls_of(&b->outcome) &&
           a->outcome.alloc_retries == b->outcome.alloc_retries;
}

static void show_candidates(fl_emit *emit, const fl_tune_finding *finding)
{
    const fl_tuning *tuning = &finding->tuning;
    size_t shown = 0, last = SIZE_MAX;
    fl_emit_table_begin(emit, "candidates", "settings on that card", shown_columns, SHOWN_COLUMNS);
    for (size_t i = 0; i < tuning->candidate_count; i++) {
        if (!is_shown(tuning, i) || shown == SHOWN_MOST ||
            (last != SIZE_MAX && i != tuning->recommended &&
             is_like(&tuning->candidates[last], &tuning->candidates[i])))
            continue;
        last = i;
        show_candidate(emit, finding, &tuning->candidates[i]);
        shown++;
    }
    fl_emit_table_end(emit);
    char count[27];
    fl_format_count(tuning->candidate_count, count, sizeof count);
    fl_emit_line(emit, FL_EMIT_PLAIN, "of %s tried; --format csv has all", count);
}

static void show_interval(fl_emit *emit, const fl_tune_interval *interval)
{
    char lost[32];
    time_words(interval->outcome.cost_us, lost, sizeof lost);
    emit_interval(emit, interval, fl_emit_text(lost));
}

static void show_intervals(fl_emit *emit, const fl_tuning *tuning)
{
    size_t count = tuning->interval_count;
    if (count == 0)
        return;
    fl_emit_column columns[INTERVAL_COLUMNS];
    memcpy(columns, interval_columns, sizeof columns);
    columns[INTERVAL_COLUMNS - 1].type = FL_EMIT_TEXT; /* in words: "21.4 ms" */
    fl_emit_table_begin(emit, "intervals", "max_split_size_mb", columns, INTERVAL_COLUMNS);
    for (size_t i = 0; i < count; i++)
        if (i < SHOWN_MOST / 2 || count - i <= SHOWN_MOST / 2)
            show_interval(emit, &tuning->intervals[i]);
    fl_emit_table_end(emit);
    if (count > SHOWN_MOST)
        fl_emit_line(emit, FL_EMIT_PLAIN, "and %zu between those; --format json has all",
                     count - SHOWN_MOST);
}

static void show_robustness(fl_emit *emit, const fl_tuning *tuning)
{
    const fl_tune_robustness *robustness = &tuning->robustness;
    char least[24], most[24];
    fl_format_bytes(robustness->least_reserved_bytes, least, sizeof least);
    fl_format_bytes(robustness->most_reserved_bytes, most, sizeof most);
    char spread[80] = "";
    if (robustness->fitting > 0)
        snprintf(spread, sizeof spread, " (%s to %s reserved)", least, most);
    if (robustness->trials > 0)
        fl_emit_line(emit, FL_EMIT_PLAIN,
                     "with sizes up to 2 %% apart and streams interleaved otherwise it fits %u of "
                     "%u times%s",
                     robustness->fitting, robustness->trials, spread);
}

static void show_choice(fl_session *session, const fl_tune_finding *finding)
{
    const fl_tuning *tuning = &finding->tuning;
    fl_emit *emit = session->emit;
    const fl_tune_candidate *choice = &tuning->candidates[tuning->recommended];
    char line[FL_TUNE_CONF_SIZE + 40];
    environment_line(tuning, line, sizeof line);
    fl_emit_line(emit, FL_EMIT_STRONG, "    %s", line);
    if (choice->fraction >= 0 && choice->fraction != session->options.fraction)
        fl_emit_line(emit, FL_EMIT_STRONG,
                     "    torch.cuda.set_per_process_memory_fraction(%g)  # at the start",
                     choice->fraction);
    show_robustness(emit, tuning);
    emit_conflicts(emit, finding->setup->profile, choice->conf);
    emit_releases(emit, choice->conf);
}

static void emit_text(fl_session *session, const fl_tune_finding *finding)
{
    static const fl_emit_style styles[] = {FL_EMIT_STRONG, FL_EMIT_GOOD, FL_EMIT_BAD};
    const fl_tuning *tuning = &finding->tuning;
    fl_emit *emit = session->emit;
    char sentence[SENTENCE_SIZE];
    fl_emit_for(emit, FL_EMIT_FOR_PEOPLE);
    sentence_of(finding, sentence, sizeof sentence);
    fl_emit_line(emit, styles[tuning->reason], "%s", sentence);
    if (tuning->recommended != SIZE_MAX)
        show_choice(session, finding);
    show_candidates(emit, finding);
    show_intervals(emit, tuning);
    fl_emit_object_begin(emit, "search", "searched");
    fl_setup_emit_text(session, finding->traces[0], finding->setup);
    fl_emit_object_end(emit);
    fl_emit_line(emit, FL_EMIT_PLAIN, "%s", ASSUMES);
    if (tuning->is_sampled)
        fl_emit_line(emit, FL_EMIT_PLAIN, "some values were left out, the search being too long");
    fl_emit_for(emit, FL_EMIT_FOR_ALL);
}

void fl_tune_emit(fl_session *session, const fl_tune_finding *finding)
{
    emit_record(session, finding);
    emit_text(session, finding);
}
