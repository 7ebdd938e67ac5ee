/* Rows to getopt_long, and its complaints to sentences. */
#include "cli/option.h"

#include <fraglab/suggest.h>
#include <fraglab/units.h>

#include <getopt.h>
#include <string.h>

#define ROWS_MOST   64
#define HELP_WIDTH  80
#define HELP_INDENT 26

/* The rows of all groups in one list, as getopt_long wants them. */
struct row_list {
    const fl_option *rows[ROWS_MOST];
    struct option longs[ROWS_MOST + 1];
    char letters[2 * ROWS_MOST + 2];
    size_t count;
};

enum { FIRST_CODE = 256 }; /* getopt_long returns this + the row's number */

static void list_add(struct row_list *list, const fl_option *row)
{
    if (list->count == ROWS_MOST)
        return;
    int has_argument = row->kind == FL_OPTION_FLAG ? no_argument : required_argument;
    list->rows[list->count] = row;
    list->longs[list->count] =
        (struct option){row->name, has_argument, NULL, FIRST_CODE + (int)list->count};
    list->count++;
    if (row->letter == 0)
        return;
    char *end = list->letters + strlen(list->letters);
    *end++ = row->letter;
    if (has_argument == required_argument)
        *end++ = ':';
}

static void list_init(struct row_list *list, const fl_option_group *const *groups)
{
    memset(list, 0, sizeof *list);
    list->letters[0] = ':'; /* a missing argument is told apart from an unknown option */
    for (size_t i = 0; groups[i] != NULL; i++) {
        for (const fl_option *row = groups[i]->rows; row->name != NULL; row++)
            list_add(list, row);
    }
}

/* The row of a code that getopt_long returned or left in optopt. */
static const fl_option *list_find(const struct row_list *list, int code)
{
    if (code >= FIRST_CODE && (size_t)(code - FIRST_CODE) < list->count)
        return list->rows[code - FIRST_CODE];
    for (size_t i = 0; i < list->count; i++) {
        if (list->rows[i]->letter != 0 && list->rows[i]->letter == code)
            return list->rows[i];
    }
    return NULL;
}

static bool word_is_known(const char *const *words, const char *word)
{
    for (size_t i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], word) == 0)
            return true;
    }
    return false;
}

static bool read_count(const char *text, uint64_t *ret)
{
    uint64_t number;
    if (text[strspn(text, "0123456789")] != '\0' || !fl_parse_size(text, strlen(text), &number) ||
        number == FL_NOT_GIVEN)
        return false;
    *ret = number;
    return true;
}

static bool read_share(const char *text, double *ret)
{
    double number;
    if (!fl_parse_real(text, strlen(text), &number) || number > 1)
        return false;
    *ret = number;
    return true;
}

static fl_status set_number(const fl_option *row, char *field, const char *argument,
                            fl_error *error)
{
    static const char *const expected[] = {
        [FL_OPTION_COUNT] = "a whole number",
        [FL_OPTION_POSITIVE] = "a whole number above 0",
        [FL_OPTION_SIZE] = "a size such as 512MiB",
        [FL_OPTION_SHARE] = "a number from 0 to 1",
    };
    uint64_t number = 0;
    double share = 0;
    bool is_good;
    if (row->kind == FL_OPTION_SHARE)
        is_good = read_share(argument, &share);
    else if (row->kind == FL_OPTION_SIZE)
        is_good = fl_parse_size(argument, strlen(argument), &number);
    else
        is_good = read_count(argument, &number) && (number > 0 || row->kind == FL_OPTION_COUNT);
    if (!is_good)
        return fl_fail(error, FL_ERR_USAGE, "option '--%s' expects %s, got '%s'", row->name,
                       expected[row->kind], argument);
    if (row->kind == FL_OPTION_SHARE)
        memcpy(field, &share, sizeof share);
    else
        memcpy(field, &number, sizeof number);
    return FL_OK;
}

/* `4711:2.5GiB`, `self:300MiB`, or `self`. */
static bool read_process(const char *text, fl_process *ret_process)
{
    size_t length = strcspn(text, ":");
    bool is_own = length == 4 && strncmp(text, "self", 4) == 0;
    fl_process process = {.bytes = FL_NOT_GIVEN, .is_own = is_own};
    if (!is_own && (length == 0 || strspn(text, "0123456789") != length ||
                    !fl_parse_size(text, length, &process.pid)))
        return false;
    bool has_size = text[length] == ':';
    if (has_size ? !fl_parse_size(text + length + 1, strlen(text + length + 1), &process.bytes)
                 : !is_own)
        return false;
    *ret_process = process;
    return true;
}

static fl_status add_process(const fl_option *row, const char *argument, fl_process_list *list,
                             fl_error *error)
{
    if (list->count == FL_PROCESSES_MOST)
        return fl_fail(error, FL_ERR_USAGE, "option '--%s' is given more than %d times", row->name,
                       FL_PROCESSES_MOST);
    if (!read_process(argument, &list->items[list->count]))
        return fl_fail(error, FL_ERR_USAGE,
                       "option '--%s' expects PID:SIZE, self:SIZE or self, got '%s'", row->name,
                       argument);
    list->count++;
    return FL_OK;
}

static fl_status set_option(const fl_option *row, const char *argument, fl_options *options,
                            fl_error *error)
{
    char *field = (char *)options + row->offset;
    bool yes = true;
    switch (row->kind) {
    case FL_OPTION_FLAG:
        memcpy(field, &yes, sizeof yes);
        return FL_OK;
    case FL_OPTION_WORD:
        if (!word_is_known(row->words, argument)) {
            fl_fail(error, FL_ERR_USAGE, "option '--%s' expects %s, got '%s'", row->name,
                    row->argument, argument);
            return fl_suggest(row->words, argument, "", error);
        }
        memcpy(field, &argument, sizeof argument);
        return FL_OK;
    case FL_OPTION_TEXT:
        memcpy(field, &argument, sizeof argument);
        return FL_OK;
    case FL_OPTION_PROCESS:
        return add_process(row, argument, &options->processes, error);
    case FL_OPTION_COUNT:
    case FL_OPTION_POSITIVE:
    case FL_OPTION_SIZE:
    case FL_OPTION_SHARE:
        break;
    }
    return set_number(row, field, argument, error);
}

/* "--format, --from": every option that begins so. */
static size_t list_matches(const struct row_list *list, const char *typed, size_t length,
                           char *buffer, size_t size)
{
    size_t used = 0, count = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < list->count; i++) {
        const fl_option *row = list->rows[i];
        if (row->help == NULL || strncmp(row->name, typed, length) != 0)
            continue;
        const char *comma = count++ > 0 ? ", " : "";
        int written = snprintf(buffer + used, size - used, "%s--%s", comma, row->name);
        used += written > 0 && (size_t)written < size - used ? (size_t)written : 0;
    }
    return count;
}

/* getopt_long knows no row of that name: none begins so, or several do. */
static fl_status complain_unknown(const struct row_list *list, const char *typed, fl_error *error)
{
    size_t length = strcspn(typed, "=");
    char matches[200], name[64];
    if (list_matches(list, typed, length, matches, sizeof matches) > 1) {
        fl_fail(error, FL_ERR_USAGE, "ambiguous option '--%.*s'", (int)length, typed);
        return fl_hint(error, "%s", matches);
    }
    const char *names[ROWS_MOST + 1] = {NULL};
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (list->rows[i]->help != NULL)
            names[count++] = list->rows[i]->name;
    }
    snprintf(name, sizeof name, "%.*s", (int)length, typed);
    fl_fail(error, FL_ERR_USAGE, "unknown option '--%s'", name);
    return fl_suggest(names, name, "--", error);
}

static fl_status complain(const struct row_list *list, int code, char *const *argv, fl_error *error)
{
    const fl_option *row = optopt != 0 ? list_find(list, optopt) : NULL;
    if (code == ':' && row != NULL)
        return fl_fail(error, FL_ERR_USAGE, "option '--%s' needs %s", row->name, row->argument);
    if (row != NULL)
        return fl_fail(error, FL_ERR_USAGE, "option '--%s' takes no argument", row->name);
    if (optopt != 0)
        return fl_fail(error, FL_ERR_USAGE, "unknown option '-%c'", optopt);
    return complain_unknown(list, argv[optind - 1] + 2, error);
}

fl_status fl_option_parse(const fl_option_group *const *groups, int argc, char **argv,
                          fl_options *ret_options, fl_error *error)
{
    struct row_list list;
    list_init(&list, groups);
    fl_options options = {
        .format = "text",
        .color = "auto",
        .backing = "sim",
        .context_bytes = FL_NOT_GIVEN,
        .trace_device = FL_NOT_GIVEN,
        .jobs = FL_NOT_GIVEN,
        .fraction = -1,
        .most_tries = FL_NOT_GIVEN,
        .top = 10,
        .frames = 4,
        .image = "svg",
        .rows = 1000,
    };
    int code;
    opterr = 0;
    optind = 0; /* also forgets where an earlier parse stopped inside a word */
    while ((code = getopt_long(argc, argv, list.letters, list.longs, NULL)) != -1) {
        if (code == '?' || code == ':')
            return complain(&list, code, argv, error);
        fl_status status = set_option(list_find(&list, code), optarg, &options, error);
        if (status != FL_OK)
            return status;
    }
    options.words = argv + optind;
    options.word_count = (size_t)(argc - optind);
    *ret_options = options;
    return FL_OK;
}

/* Words wrapped at the right edge, continued under their beginning. */
static void print_wrapped(const char *text, FILE *out)
{
    size_t column = HELP_INDENT;
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        if (column > HELP_INDENT && column + 1 + length > HELP_WIDTH) {
            fprintf(out, "\n%*s", HELP_INDENT, "");
            column = HELP_INDENT;
        } else if (column > HELP_INDENT) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", (int)length, text);
        column += length;
        text += length + (text[length] == ' ');
    }
    fputc('\n', out);
}

static void print_row(const fl_option *row, FILE *out)
{
    char name[96];
    snprintf(name, sizeof name, "%s%c%s--%s%s%s", row->letter != 0 ? "-" : "  ",
             row->letter != 0 ? row->letter : ' ', row->letter != 0 ? ", " : " ", row->name,
             row->argument != NULL ? " " : "", row->argument != NULL ? row->argument : "");
    if (strlen(name) + 4 > HELP_INDENT)
        fprintf(out, "  %s\n%*s", name, HELP_INDENT, "");
    else
        fprintf(out, "  %-*s", HELP_INDENT - 2, name);
    print_wrapped(row->help, out);
}

void fl_option_print(const fl_option_group *const *groups, FILE *out)
{
    for (size_t i = 0; groups[i] != NULL; i++) {
        fprintf(out, "\n%s:\n", groups[i]->heading);
        for (const fl_option *row = groups[i]->rows; row->name != NULL; row++) {
            if (row->help != NULL)
                print_row(row, out);
        }
    }
}
