#include "cli/judgement.h"

#include "cli/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define READ_AT_ONCE 65536

/* ---- input ----------------------------------------------------------------------------------- */

static fl_status read_stream(fl_judgement *j, FILE *file, const char *name, fl_error *error)
{
    size_t length = 0, got;
    do {
        if (j->content_room - length < READ_AT_ONCE + 1) {
            size_t room = 2 * j->content_room + READ_AT_ONCE + 1;
            char *grown = j->host->resize(j->host->user, j->content, j->content_room, room);
            if (grown == NULL)
                return fl_fail(error, FL_ERR_RESOURCE, "out of memory: %zu bytes asked", room);
            j->content = grown;
            j->content_room = room;
        }
        got = fread(j->content + length, 1, READ_AT_ONCE, file);
        length += got;
    } while (got > 0);
    if (ferror(file))
        return fl_fail(error, FL_ERR_INPUT, "%s: %s", name, strerror(errno));
    j->content[length] = '\0';
    if (strlen(j->content) != length)
        return fl_fail(error, FL_ERR_INPUT, "%s: a NUL in it: this is no text", name);
    return FL_OK;
}

static fl_status read_file(fl_judgement *j, const char *name, fl_error *error)
{
    FILE *file = strcmp(name, "-") == 0 ? stdin : fopen(name, "r");
    if (file == NULL)
        return fl_fail(error, FL_ERR_INPUT, "%s: %s", name, strerror(errno));
    fl_status status = read_stream(j, file, name, error);
    if (file != stdin)
        fclose(file);
    return status;
}

static bool is_file(const char *word)
{
    struct stat status;
    return strcmp(word, "-") == 0 || (stat(word, &status) == 0 && !S_ISDIR(status.st_mode));
}

static fl_status find_assignments(fl_judgement *j, const char *text, fl_error *error)
{
    j->values_room = strlen(text) + 1;
    j->values = fl_cli_new(j->host, j->values_room, 1, error);
    if (j->values == NULL)
        return FL_ERR_RESOURCE;
    return fl_assignments_find(j->host, text, j->values, &j->assignments, error);
}

/* The whole of a file as one settings text: a single line of it. */
static fl_status take_line(fl_judgement *j, const char *name, fl_error *error)
{
    size_t length = strcspn(j->content, "\r\n");
    if (j->content[length + strspn(j->content + length, " \t\r\n")] != '\0')
        return fl_fail(error, FL_ERR_INPUT, "%s: no settings in it: %s is not set", name,
                       fl_settings_variable(0));
    j->content[length] = '\0';
    j->text = j->content;
    return FL_OK;
}

static fl_status take_word(fl_judgement *j, const char *word, fl_error *error)
{
    bool from_file = is_file(word);
    fl_status status = from_file ? read_file(j, word, error) : FL_OK;
    if (status != FL_OK)
        return status;
    const char *text = from_file ? j->content : word;
    if (!fl_assignments_name_one(text)) {
        j->text = text;
        return from_file ? take_line(j, word, error) : FL_OK;
    }
    status = find_assignments(j, text, error);
    if (status == FL_OK && j->assignments.count == 0)
        status = fl_fail(error, FL_ERR_INPUT, "%s: a variable is named, but none is set",
                         from_file ? word : "TEXT");
    return status;
}

static fl_status take_environment(fl_judgement *j, fl_error *error)
{
    const char *name;
    for (size_t i = 0; (name = fl_settings_variable(i)) != NULL; i++) {
        fl_assignment set = {.variable = i, .value = getenv(name)};
        if (set.value == NULL)
            continue;
        if (!fl_vector_reserve(j->host, &j->assignments, 1, error))
            return FL_ERR_RESOURCE;
        j->assignments.items[j->assignments.count++] = set;
    }
    if (j->assignments.count == 0)
        return fl_fail(error, FL_ERR_NO, "no variable with settings is set in this environment");
    return FL_OK;
}

static void warn_of_assignments(fl_judgement *j)
{
    for (size_t i = 0; i < j->assignments.count; i++) {
        const fl_assignment *set = &j->assignments.items[i];
        const char *name = fl_settings_variable(set->variable);
        if (set->is_incomplete)
            fl_session_warn(j->session,
                            "line %" PRIu64
                            ": the value of %s is not all known: taken as it stands",
                            set->line, name);
        if (set->needs_quotes)
            fl_session_warn(j->session,
                            "line %" PRIu64 ": a shell takes the '>' in the value of %s for a "
                            "redirection: put the value in quotes",
                            set->line, name);
        for (size_t k = i + 1; k < j->assignments.count; k++) {
            const fl_assignment *later = &j->assignments.items[k];
            if (later->variable != set->variable)
                continue;
            fl_session_warn(j->session,
                            "line %" PRIu64 ": %s is set again in line %" PRIu64 ", which counts",
                            set->line, name, later->line);
            break;
        }
    }
}

fl_status fl_judgement_take(fl_judgement *j, fl_error *error)
{
    const fl_options *options = &j->session->options;
    fl_status status;
    if (options->takes_environment && options->word_count > 0)
        return fl_fail(error, FL_ERR_USAGE, "settings: either TEXT or '--env'");
    if (!options->takes_environment && options->word_count == 0) {
        fl_fail(error, FL_ERR_USAGE, "settings: TEXT is missing");
        return fl_hint(error, "a settings text, a file that holds one, or --env");
    }
    status = options->takes_environment ? take_environment(j, error)
                                        : take_word(j, options->words[0], error);
    if (status == FL_OK)
        warn_of_assignments(j);
    return status;
}

/* ---- judging --------------------------------------------------------------------------------- */

static fl_status add_group(fl_judgement *j, const fl_profile *profile, fl_error *error)
{
    if (j->count == j->room) {
        size_t room = 2 * j->room + 4;
        fl_judged *grown = j->host->resize(j->host->user, j->groups, j->room * sizeof *grown,
                                           room * sizeof *grown);
        if (grown == NULL)
            return fl_fail(error, FL_ERR_RESOURCE, "out of memory");
        j->groups = grown;
        j->room = room;
    }
    fl_judged *group = &j->groups[j->count++];
    *group = (fl_judged){.first = profile, .last = profile, .count = 1};
    if (j->text != NULL)
        fl_review_text(profile, j->text, &group->review);
    else
        fl_review_assignments(profile, &j->assignments, &group->review);
    if (j->count > 1 && fl_review_is_same(&group[-1].review, &group->review)) {
        group[-1].last = profile;
        group[-1].count++;
        j->count--;
    }
    return FL_OK;
}

fl_status fl_judgement_make(fl_judgement *j, fl_error *error)
{
    const fl_profile *profile;
    fl_status status = FL_OK;
    if (j->only != NULL)
        return add_group(j, j->only, error);
    for (size_t i = 0; (profile = fl_profile_at(i)) != NULL && status == FL_OK; i++)
        status = add_group(j, profile, error);
    return status;
}

void fl_judgement_deinit(fl_judgement *j)
{
    fl_cli_delete(j->host, j->content, j->content_room, 1);
    fl_cli_delete(j->host, j->values, j->values_room, 1);
    fl_cli_delete(j->host, j->groups, j->room, sizeof *j->groups);
    fl_vector_deinit(j->host, &j->assignments);
}
