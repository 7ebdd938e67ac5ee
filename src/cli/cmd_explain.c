/* explain [FILE]: finds out-of-memory messages in any text and says what they prove. */
#include "cli/envelope.h"
#include "cli/wrapped.h"

#include <fraglab/explain.h>

#include <string.h>
#include <unistd.h>

#define SEEN_MOST 64 /* different messages that are told once; more are told each time */
#define INDENT    10

/* A message that was told, and how often it came again. */
typedef struct seen {
    fl_message message;
    uint64_t line, last_line, repeats;
} seen;

typedef struct finding {
    fl_session *session;
    uint64_t count;
    seen seen[SEEN_MOST];
    size_t seen_count;
} finding;

/* ---- for programs ---------------------------------------------------------------------------- */

static fl_emit_value number_value(const fl_number *number)
{
    return number->is_given ? fl_emit_bytes(number->bytes) : fl_emit_null();
}

static fl_emit_value text_or_null(const char *text)
{
    return *text != '\0' ? fl_emit_text(text) : fl_emit_null();
}

static fl_emit_value asked_value(uint64_t bytes)
{
    return bytes > 0 ? fl_emit_bytes(bytes) : fl_emit_null();
}

/* `2.4` of 204; null where no release, or no end, is known. */
static fl_emit_value release_value(unsigned release, char buffer[16])
{
    snprintf(buffer, 16, "%u.%u", release / 100, release % 100);
    return release == 0 || release == FL_RELEASE_OPEN ? fl_emit_null() : fl_emit_text(buffer);
}

static void emit_sentences(fl_emit *emit, const char *key, const fl_sentences *sentences)
{
    fl_emit_list_begin(emit, key, NULL);
    for (size_t i = 0; i < sentences->count; i++)
        fl_emit_item(emit, fl_emit_text(sentences->items[i]));
    fl_emit_list_end(emit);
}

static void emit_processes(fl_emit *emit, const fl_message *message)
{
    fl_emit_list_begin(emit, "other_processes", NULL);
    for (size_t i = 0; i < message->process_count; i++) {
        fl_emit_object_begin(emit, NULL, NULL);
        fl_emit_pair(emit, "pid", NULL, fl_emit_count(message->processes[i].pid));
        fl_emit_pair(emit, "bytes", NULL, number_value(&message->processes[i].used));
        fl_emit_object_end(emit);
    }
    fl_emit_list_end(emit);
}

static void emit_numbers(fl_emit *emit, const fl_explanation *explanation)
{
    const fl_message *message = &explanation->message;
    fl_emit_pair(emit, "device", NULL,
                 message->has_device ? fl_emit_count(message->device) : fl_emit_null());
    for (int i = 0; i < FL_FIGURE_COUNT; i++)
        fl_emit_pair(emit, fl_figure_key((fl_figure)i), NULL, number_value(&message->figures[i]));
    emit_processes(emit, message);
    fl_emit_pair(emit, "ooms", NULL,
                 message->has_counts ? fl_emit_count(message->ooms) : fl_emit_null());
    fl_emit_pair(emit, "alloc_retries", NULL,
                 message->has_counts ? fl_emit_count(message->retries) : fl_emit_null());
    fl_emit_pair(emit, "asked_from_bytes", NULL, asked_value(explanation->asked_from));
    fl_emit_pair(emit, "asked_to_bytes", NULL, asked_value(explanation->asked_to));
}

static void emit_contradictions(fl_emit *emit, const fl_explanation *explanation)
{
    fl_emit_list_begin(emit, "contradictions", NULL);
    for (size_t i = 0; i < explanation->contradiction_count; i++) {
        const fl_contradiction *one = &explanation->contradictions[i];
        fl_emit_object_begin(emit, NULL, NULL);
        fl_emit_pair(emit, "sentence", NULL, fl_emit_text(one->sentence));
        fl_emit_list_begin(emit, "causes", NULL);
        for (size_t k = 0; one->causes[k] != NULL; k++)
            fl_emit_item(emit, fl_emit_text(one->causes[k]));
        fl_emit_list_end(emit);
        fl_emit_object_end(emit);
    }
    fl_emit_list_end(emit);
}

static void emit_printed_advice(fl_emit *emit, const fl_explanation *explanation)
{
    static const char *const words[] = {"no", "maybe"};
    if (explanation->printed_advice[0] == '\0') {
        fl_emit_pair(emit, "printed_advice", NULL, fl_emit_null());
        return;
    }
    fl_emit_object_begin(emit, "printed_advice", NULL);
    fl_emit_pair(emit, "helps", NULL, fl_emit_text(words[explanation->printed_advice_helps]));
    fl_emit_pair(emit, "sentence", NULL, fl_emit_text(explanation->printed_advice));
    fl_emit_object_end(emit);
}

static void emit_message(fl_emit *emit, const fl_explanation *explanation)
{
    const fl_message *message = &explanation->message;
    char first[16], last[16];
    fl_emit_object_begin(emit, NULL, NULL);
    fl_emit_pair(emit, "layout", NULL, fl_emit_text(message->layout));
    fl_emit_pair(emit, "line", NULL, fl_emit_count(explanation->line));
    fl_emit_pair(emit, "backend", NULL, text_or_null(message->backend));
    fl_emit_pair(emit, "first_release", NULL, release_value(message->first, first));
    fl_emit_pair(emit, "last_release", NULL, release_value(message->last, last));
    emit_numbers(emit, explanation);
    fl_emit_pair(emit, "class", NULL, fl_emit_text(fl_trouble_name(explanation->trouble)));
    fl_emit_pair(emit, "certainty", NULL, fl_emit_text(fl_certainty_name(explanation->certainty)));
    fl_emit_pair(emit, "sentence", NULL, fl_emit_text(explanation->sentence));
    emit_sentences(emit, "evidence", &explanation->evidence);
    emit_contradictions(emit, explanation);
    emit_sentences(emit, "advice", &explanation->advice);
    emit_printed_advice(emit, explanation);
    fl_emit_object_end(emit);
}

/* ---- for tables ------------------------------------------------------------------------------ */

#define COLUMNS_BEFORE 5
#define COLUMNS_ALL    (COLUMNS_BEFORE + FL_FIGURE_COUNT + 1)

static void emit_table_begin(fl_emit *emit, fl_emit_column columns[COLUMNS_ALL])
{
    static const fl_emit_column before[COLUMNS_BEFORE] = {
        {"line", "line", FL_EMIT_COUNT},     {"layout", "layout", FL_EMIT_TEXT},
        {"class", "class", FL_EMIT_TEXT},    {"certainty", "certainty", FL_EMIT_TEXT},
        {"device", "device", FL_EMIT_COUNT},
    };
    memcpy(columns, before, sizeof before);
    for (int i = 0; i < FL_FIGURE_COUNT; i++) {
        const char *key = fl_figure_key((fl_figure)i);
        columns[COLUMNS_BEFORE + i] = (fl_emit_column){key, key, FL_EMIT_BYTES};
    }
    columns[COLUMNS_ALL - 1] = (fl_emit_column){"sentence", "sentence", FL_EMIT_TEXT};
    fl_emit_table_begin(emit, "messages", NULL, columns, COLUMNS_ALL);
}

static void emit_row(fl_emit *emit, const fl_explanation *explanation)
{
    const fl_message *message = &explanation->message;
    fl_emit_value cells[COLUMNS_ALL] = {
        fl_emit_count(explanation->line),
        fl_emit_text(message->layout),
        fl_emit_text(fl_trouble_name(explanation->trouble)),
        fl_emit_text(fl_certainty_name(explanation->certainty)),
        message->has_device ? fl_emit_count(message->device) : fl_emit_null(),
    };
    for (int i = 0; i < FL_FIGURE_COUNT; i++)
        cells[COLUMNS_BEFORE + i] = number_value(&message->figures[i]);
    cells[COLUMNS_ALL - 1] = fl_emit_text(explanation->sentence);
    fl_emit_row(emit, cells);
}

/* ---- for people ------------------------------------------------------------------------------ */

static bool is_same_message(const fl_message *a, const fl_message *b)
{
    if (strcmp(a->layout, b->layout) != 0 || strcmp(a->backend, b->backend) != 0 ||
        a->has_device != b->has_device || a->device != b->device ||
        a->process_count != b->process_count)
        return false;
    for (int i = 0; i < FL_FIGURE_COUNT; i++)
        if (a->figures[i].is_given != b->figures[i].is_given ||
            a->figures[i].bytes != b->figures[i].bytes)
            return false;
    return true;
}

/* Logs tell the same failure several times; it is explained at the first. */
static bool is_repeat(finding *found, const fl_explanation *explanation)
{
    for (size_t i = 0; i < found->seen_count; i++) {
        seen *one = &found->seen[i];
        if (is_same_message(&one->message, &explanation->message)) {
            one->repeats++;
            one->last_line = explanation->line;
            return true;
        }
    }
    if (found->seen_count < SEEN_MOST)
        found->seen[found->seen_count++] =
            (seen){.message = explanation->message, .line = explanation->line};
    return false;
}

/* `CUDA, GPU 0, PyTorch 2.5 to 2.9`: who says it. */
static void origin_words(const fl_message *message, char *buffer, size_t size)
{
    char device[24] = "", releases[48] = "";
    if (message->has_device)
        snprintf(device, sizeof device, ", GPU %u", message->device);
    if (message->first != 0 && message->last == FL_RELEASE_OPEN)
        snprintf(releases, sizeof releases, ", PyTorch from %u.%u on", message->first / 100,
                 message->first % 100);
    else if (message->first != 0 && message->first == message->last)
        snprintf(releases, sizeof releases, ", PyTorch %u.%u", message->first / 100,
                 message->first % 100);
    else if (message->first != 0)
        snprintf(releases, sizeof releases, ", PyTorch %u.%u to %u.%u", message->first / 100,
                 message->first % 100, message->last / 100, message->last % 100);
    snprintf(buffer, size, "%s%s%s",
             message->backend[0] != '\0' ? message->backend : message->layout, device, releases);
}

static void text_labelled(fl_emit *emit, const char *label, const char *text)
{
    fl_cli_wrapped(emit, FL_EMIT_PLAIN, label, INDENT, text);
}

static void text_sentences(fl_emit *emit, const char *label, const fl_sentences *sentences)
{
    for (size_t i = 0; i < sentences->count; i++)
        text_labelled(emit, i == 0 ? label : "", sentences->items[i]);
}

static void text_contradictions(fl_emit *emit, const fl_explanation *explanation)
{
    for (size_t i = 0; i < explanation->contradiction_count; i++) {
        const fl_contradiction *one = &explanation->contradictions[i];
        char text[FL_SENTENCE_SIZE];
        if (strcmp(one->sentence, explanation->sentence) != 0)
            text_labelled(emit, "doubtful", one->sentence);
        for (size_t k = 0; one->causes[k] != NULL; k++) {
            snprintf(text, sizeof text, "%zu. %s", k + 1, one->causes[k]);
            text_labelled(emit, k == 0 ? "cause" : "", text);
        }
    }
}

static void text_message(fl_emit *emit, finding *found, const fl_explanation *explanation)
{
    char origin[96];
    origin_words(&explanation->message, origin, sizeof origin);
    if (found->seen_count > 1)
        fl_emit_line(emit, FL_EMIT_PLAIN, "%s", "");
    bool is_known = explanation->certainty != FL_CERTAINTY_NONE;
    fl_emit_line(emit, FL_EMIT_STRONG, "line %llu: %s%s%s (%s)",
                 (unsigned long long)explanation->line, fl_trouble_name(explanation->trouble),
                 is_known ? ", " : "", is_known ? fl_certainty_name(explanation->certainty) : "",
                 origin);
    fl_cli_wrapped(emit, FL_EMIT_PLAIN, "", 0, explanation->sentence);
    text_sentences(emit, "because", &explanation->evidence);
    text_contradictions(emit, explanation);
    text_sentences(emit, "try", &explanation->advice);
    if (explanation->printed_advice[0] != '\0')
        text_labelled(emit, "its hint", explanation->printed_advice);
}

static void text_end(fl_emit *emit, const finding *found)
{
    bool is_first = true;
    if (found->count == 0)
        fl_emit_line(emit, FL_EMIT_PLAIN, "No out-of-memory message in this text.");
    for (size_t i = 0; i < found->seen_count; i++) {
        const seen *one = &found->seen[i];
        if (one->repeats == 0)
            continue;
        if (is_first)
            fl_emit_line(emit, FL_EMIT_PLAIN, "%s", "");
        is_first = false;
        fl_emit_line(emit, FL_EMIT_PLAIN,
                     "the message of line %llu again: %llu times, last on line %llu",
                     (unsigned long long)one->line, (unsigned long long)one->repeats,
                     (unsigned long long)one->last_line);
    }
}

/* ---- the command ----------------------------------------------------------------------------- */

static fl_status take_message(void *user, const fl_explanation *explanation, fl_error *error)
{
    (void)error;
    finding *found = user;
    fl_emit *emit = found->session->emit;
    found->count++;
    fl_emit_for(emit, FL_EMIT_FOR_PROGRAMS);
    emit_message(emit, explanation);
    fl_emit_for(emit, FL_EMIT_FOR_TABLES);
    emit_row(emit, explanation);
    fl_emit_for(emit, FL_EMIT_FOR_PEOPLE);
    if (!is_repeat(found, explanation))
        text_message(emit, found, explanation);
    return FL_OK;
}

static fl_status explain_all(fl_session *session, finding *found, fl_error *error)
{
    const char *path = session->options.word_count > 0 ? session->options.words[0] : "-";
    if (strcmp(path, "-") == 0 && isatty(STDIN_FILENO))
        fl_session_hint(session, "paste the text, then Ctrl-D");
    fl_read_options reading = {
        .host = &session->host, .progress = fl_progress_tick, .user = &session->progress};
    fl_progress_begin(&session->progress, "reading");
    fl_status status = fl_explain_file(path, &reading, take_message, found, error);
    fl_progress_end(&session->progress);
    return status;
}

static fl_status explain_run(fl_session *session, fl_error *error)
{
    fl_emit *emit = session->emit;
    finding found = {.session = session};
    fl_emit_column columns[COLUMNS_ALL];
    fl_envelope_begin(session);
    fl_envelope_end(session);
    fl_emit_for(emit, FL_EMIT_FOR_PROGRAMS);
    fl_emit_list_begin(emit, "messages", NULL);
    fl_emit_for(emit, FL_EMIT_FOR_TABLES);
    emit_table_begin(emit, columns);
    fl_status status = explain_all(session, &found, error);
    fl_emit_for(emit, FL_EMIT_FOR_PROGRAMS);
    fl_emit_list_end(emit);
    fl_emit_for(emit, FL_EMIT_FOR_TABLES);
    fl_emit_table_end(emit);
    fl_emit_for(emit, FL_EMIT_FOR_PEOPLE);
    if (status == FL_OK)
        text_end(emit, &found);
    return status == FL_OK && found.count == 0 ? FL_ERR_NO : status;
}

static const fl_option_group *const groups[] = {&fl_options_common, NULL};

const fl_command fl_command_explain = {
    .name = "explain",
    .summary = "what pasted out-of-memory messages prove, and what to try",
    .synopsis = "explain [options] [FILE]",
    .help = "Finds every out-of-memory message in FILE (or standard input): a log, a notebook's\n"
            "cell, any text around it, of any release of PyTorch, and of JAX, TensorFlow, RMM and\n"
            "others.  Says what its numbers prove and what they cannot, and what to try.\n"
            "Ends with 1 if there is none.",
    .groups = groups,
    .word = "FILE",
    .word_key = "file",
    .is_word_optional = true,
    .run = explain_run,
};
