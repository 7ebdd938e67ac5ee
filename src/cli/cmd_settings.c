/* settings TEXT: what each release makes of a settings text, and of the variables around it. */
#include "cli/envelope.h"
#include "cli/judgement.h"
#include "cli/setup.h"

static const char *verdict_word(const fl_review *review)
{
    static const char *const words[] = {"accepted", "refused", "other_backend", "ignored"};
    return words[review->verdict];
}

static const char *variable_word(const fl_review *review)
{
    return review->variable != SIZE_MAX ? fl_settings_variable(review->variable) : NULL;
}

static const char *text_or_null(const char *text)
{
    return *text != '\0' ? text : NULL;
}

static fl_emit_value bytes_or_null(uint64_t bytes)
{
    return bytes != FL_UNLIMITED ? fl_emit_bytes(bytes) : fl_emit_null();
}

static void emit_classes(fl_emit *emit, const fl_settings *settings)
{
    fl_division_class classes[FL_ROUNDUP_SLOTS];
    size_t count = fl_division_classes(settings, classes);
    fl_emit_list_begin(emit, "divisions", NULL);
    for (size_t i = 0; i < count; i++) {
        fl_emit_object_begin(emit, NULL, NULL);
        fl_emit_pair(emit, "from_bytes", NULL, fl_emit_bytes(classes[i].from));
        fl_emit_pair(emit, "to_bytes", NULL, bytes_or_null(classes[i].to));
        fl_emit_pair(emit, "divisions", NULL, fl_emit_count(classes[i].divisions));
        fl_emit_object_end(emit);
    }
    fl_emit_list_end(emit);
}

static void emit_reserve(fl_emit *emit, const fl_reserve *reserve)
{
    bool has = reserve->is_given;
    fl_emit_pair(emit, "reserve_fraction", NULL,
                 has && reserve->is_fraction ? fl_emit_real(reserve->value) : fl_emit_null());
    fl_emit_pair(emit, "reserve_gib", NULL,
                 has && !reserve->is_fraction ? fl_emit_real(reserve->value) : fl_emit_null());
}

static void emit_settings(fl_emit *emit, const fl_settings *settings)
{
    fl_emit_object_begin(emit, "settings", NULL);
    fl_emit_pair(emit, "expandable_segments", NULL, fl_emit_bool(settings->expandable));
    fl_emit_pair(emit, "max_split_bytes", NULL, bytes_or_null(settings->max_split_bytes));
    fl_emit_pair(emit, "max_non_split_rounding_bytes", NULL,
                 fl_emit_bytes(settings->non_split_rounding_bytes));
    fl_emit_pair(emit, "large_segment_bytes", NULL, fl_emit_bytes(settings->large_segment_bytes));
    fl_emit_pair(emit, "garbage_collection_threshold", NULL,
                 settings->collect_threshold > 0 ? fl_emit_real(settings->collect_threshold)
                                                 : fl_emit_null());
    fl_emit_pair(emit, "per_process_memory_fraction", NULL,
                 fl_emit_real(settings->process_fraction));
    fl_emit_pair(emit, "throw_on_cudamalloc_oom", NULL, fl_emit_bool(settings->reject_on_oom));
    emit_reserve(emit, &settings->reserve);
    emit_classes(emit, settings);
    fl_emit_object_end(emit);
}

static void emit_group(fl_emit *emit, const fl_judged *group)
{
    const fl_review *review = &group->review;
    fl_emit_object_begin(emit, NULL, NULL);
    fl_emit_pair(emit, "first", NULL, fl_emit_text(fl_profile_release(group->first)));
    fl_emit_pair(emit, "last", NULL, fl_emit_text(fl_profile_release(group->last)));
    fl_emit_pair(emit, "count", NULL, fl_emit_count(group->count));
    fl_emit_pair(emit, "verdict", NULL, fl_emit_text(verdict_word(review)));
    fl_emit_pair(emit, "variable", NULL, fl_emit_text(variable_word(review)));
    fl_emit_pair(emit, "text", NULL, fl_emit_text(review->text));
    fl_emit_pair(emit, "message", NULL, fl_emit_text(text_or_null(review->refusal.text)));
    fl_emit_pair(emit, "hint", NULL, fl_emit_text(text_or_null(review->refusal.hint)));
    fl_emit_list_begin(emit, "remarks", NULL);
    for (size_t i = 0; i < review->remark_count; i++) {
        fl_emit_object_begin(emit, NULL, NULL);
        fl_emit_pair(emit, "kind", NULL, fl_emit_text(review->remarks[i].kind));
        fl_emit_pair(emit, "sentence", NULL, fl_emit_text(review->remarks[i].text));
        fl_emit_object_end(emit);
    }
    fl_emit_list_end(emit);
    if (review->verdict == FL_REVIEW_ACCEPTED)
        emit_settings(emit, &review->settings);
    else
        fl_emit_pair(emit, "settings", NULL, fl_emit_null());
    fl_emit_object_end(emit);
}

static void emit_assignments(fl_emit *emit, const fl_judgement *j)
{
    fl_emit_list_begin(emit, "assignments", NULL);
    for (size_t i = 0; i < j->assignments.count; i++) {
        const fl_assignment *set = &j->assignments.items[i];
        fl_emit_object_begin(emit, NULL, NULL);
        fl_emit_pair(emit, "variable", NULL, fl_emit_text(fl_settings_variable(set->variable)));
        fl_emit_pair(emit, "text", NULL, fl_emit_text(set->value));
        fl_emit_pair(emit, "line", NULL, set->line > 0 ? fl_emit_count(set->line) : fl_emit_null());
        fl_emit_object_end(emit);
    }
    fl_emit_list_end(emit);
}

/* A row for each remark, and one for a group without. */
static void emit_table(fl_emit *emit, const fl_judgement *j)
{
    static const fl_emit_column columns[] = {
        {"first", "first", FL_EMIT_TEXT},       {"last", "last", FL_EMIT_TEXT},
        {"verdict", "verdict", FL_EMIT_TEXT},   {"variable", "variable", FL_EMIT_TEXT},
        {"message", "message", FL_EMIT_TEXT},   {"remark", "remark", FL_EMIT_TEXT},
        {"sentence", "sentence", FL_EMIT_TEXT},
    };
    fl_emit_table_begin(emit, "releases", NULL, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < j->count; i++) {
        const fl_judged *group = &j->groups[i];
        const fl_review *review = &group->review;
        size_t k = 0;
        do {
            const fl_remark *note = k < review->remark_count ? &review->remarks[k] : NULL;
            const fl_emit_value cells[] = {
                fl_emit_text(fl_profile_release(group->first)),
                fl_emit_text(fl_profile_release(group->last)),
                fl_emit_text(verdict_word(review)),
                fl_emit_text(variable_word(review)),
                fl_emit_text(text_or_null(review->refusal.text)),
                fl_emit_text(note != NULL ? note->kind : NULL),
                fl_emit_text(note != NULL ? note->text : NULL),
            };
            fl_emit_row(emit, cells);
        } while (++k < review->remark_count);
    }
    fl_emit_table_end(emit);
}

static void emit_judgement(const fl_judgement *j)
{
    fl_session *session = j->session;
    fl_emit *emit = session->emit;
    fl_envelope_begin(session);
    fl_emit_pair(emit, "torch", NULL,
                 fl_emit_text(j->only != NULL ? fl_profile_release(j->only) : NULL));
    fl_emit_pair(emit, "env", NULL, fl_emit_bool(session->options.takes_environment));
    fl_envelope_end(session);
    fl_emit_for(emit, FL_EMIT_FOR_PROGRAMS);
    emit_assignments(emit, j);
    fl_emit_list_begin(emit, "releases", NULL);
    for (size_t i = 0; i < j->count; i++)
        emit_group(emit, &j->groups[i]);
    fl_emit_list_end(emit);
    fl_emit_for(emit, FL_EMIT_FOR_TABLES);
    emit_table(emit, j);
    fl_emit_for(emit, FL_EMIT_FOR_PEOPLE);
    fl_judgement_emit_text(j);
}

/* With --torch the question is whether that release takes it. */
static fl_status verdict_status(const fl_judgement *j)
{
    if (j->only == NULL)
        return FL_OK;
    fl_review_verdict verdict = j->groups[0].review.verdict;
    return verdict == FL_REVIEW_REFUSED || verdict == FL_REVIEW_NOT_READ ? FL_ERR_NO : FL_OK;
}

static fl_status settings_run(fl_session *session, fl_error *error)
{
    fl_judgement judgement = {.session = session, .host = &session->host};
    fl_status status = FL_OK;
    if (session->options.torch != NULL)
        status = fl_setup_torch(session, &judgement.only, error);
    if (status == FL_OK)
        status = fl_judgement_take(&judgement, error);
    if (status == FL_OK)
        status = fl_judgement_make(&judgement, error);
    if (status == FL_OK) {
        emit_judgement(&judgement);
        status = verdict_status(&judgement);
    }
    fl_judgement_deinit(&judgement);
    return status;
}

static const fl_option_group *const groups[] = {&fl_options_settings, &fl_options_common, NULL};

const fl_command fl_command_settings = {
    .name = "settings",
    .summary = "what each PyTorch release makes of allocator settings",
    .synopsis = "settings [options] [TEXT]",
    .help =
        "Says for each release whether it accepts TEXT, what it reads it as, and what does not\n"
        "do what it seems to.  TEXT is the settings text itself, `NAME=value`, or a file (or\n"
        "`-`) with settings in it: a shell script, a list of variables, a program in Python.\n"
        "Ends with 0 whatever the judgement; with --torch, 1 unless that release takes it.",
    .groups = groups,
    .word = "TEXT",
    .word_key = "text",
    .is_word_optional = true,
    .run = settings_run,
};
