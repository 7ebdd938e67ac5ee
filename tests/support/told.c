/* The lines are made into the JSON of a snapshot, which the reader reads. */
#include "told.h"

#include "test.h"

#include <fraglab/read.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOLD_ROOM (1 << 16)

struct told {
    char text[TOLD_ROOM];
    size_t used;
};

static void told_add(struct told *told, const char *format, ...) FL_PRINTF(2, 3);

static void told_add(struct told *told, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(told->text + told->used, sizeof told->text - told->used, format, args);
    va_end(args);
    assert_true(length >= 0 && (size_t)length < sizeof told->text - told->used);
    told->used += (size_t)length;
}

/* The words of a line; missing numbers are UINT64_MAX.  NULL: there is no further line. */
static const char *next_line(const char *line, char word[32], uint64_t numbers[3], int first_base)
{
    if (*line == '\0')
        return NULL;
    size_t length = strcspn(line, " ");
    assert_true(length < 32);
    memcpy(word, line, length);
    word[length] = '\0';
    const char *at = line + length;
    for (size_t i = 0; i < 3; i++) {
        char *end;
        numbers[i] = *at == ' ' ? strtoull(at, &end, i == 0 ? first_base : 10) : UINT64_MAX;
        at = *at == ' ' ? end : at;
    }
    assert_true(*at == '\n');
    return at + 1;
}

static void tell_events(struct told *told, const char *events, bool is_old)
{
    char word[32];
    uint64_t numbers[3];
    const char *at = events;
    for (uint64_t i = 0; (at = next_line(at, word, numbers, 16)) != NULL; i++) {
        uint64_t time = numbers[2] != UINT64_MAX ? numbers[2] : i;
        told_add(told,
                 "%s{\"action\": \"%s\", \"addr\": %" PRIu64 ", \"size\": %" PRIu64
                 ", \"stream\": 0, \"time_us\": %" PRIu64 ", \"compile_context\": \"N/A\"%s}",
                 i > 0 ? ", " : "", word, numbers[0], numbers[1], time,
                 is_old ? "" : ", \"user_metadata\": \"\"");
    }
}

static void tell_block(struct told *told, const char *word, const uint64_t numbers[3],
                       uint64_t address)
{
    const char *state = strcmp(word, "live") == 0      ? "active_allocated"
                        : strcmp(word, "pending") == 0 ? "active_pending_free"
                                                       : "inactive";
    told_add(told,
             "%s{\"address\": %" PRIu64 ", \"size\": %" PRIu64 ", \"requested_size\": %" PRIu64
             ", \"state\": \"%s\", \"frames\": []}",
             told->text[told->used - 1] == '}' ? ", " : "", address, numbers[0],
             numbers[1] != UINT64_MAX ? numbers[1] : 0, state);
}

static void tell_state(struct told *told, const char *state)
{
    char word[32];
    uint64_t numbers[3], address = 0;
    bool is_in_segment = false;
    const char *at = state;
    while ((at = next_line(at, word, numbers, 0)) != NULL) {
        if (strcmp(word, "small") != 0 && strcmp(word, "large") != 0) {
            tell_block(told, word, numbers, address);
            address += numbers[0];
            continue;
        }
        told_add(told,
                 "%s{\"device\": 0, \"address\": %" PRIu64 ", \"total_size\": %" PRIu64
                 ", \"stream\": 0, \"segment_type\": \"%s\", \"segment_pool_id\": [0, 0], "
                 "\"is_expandable\": false, \"frames\": [], \"blocks\": [",
                 is_in_segment ? "]}, " : "", numbers[0], numbers[1], word);
        address = numbers[0];
        is_in_segment = true;
    }
    told_add(told, is_in_segment ? "]}" : "");
}

static fl_trace *told_make(const char *events, const char *state, bool is_old)
{
    struct told *told = calloc(1, sizeof *told);
    assert_non_null(told);
    told_add(told, "{\"segments\": [");
    tell_state(told, state);
    told_add(told, "], \"device_traces\": [[");
    tell_events(told, events, is_old);
    told_add(told, "]], \"allocator_settings\": {\"PYTORCH_CUDA_ALLOC_CONF\": \"\", "
                   "\"graph_capture_record_stream_reuse\": false}, \"external_annotations\": []}");
    fl_trace *trace = NULL;
    fl_error error = {0};
    if (fl_read_memory(told->text, told->used, "told", NULL, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    free(told);
    return trace;
}

fl_trace *told_read(const char *events, const char *state)
{
    return told_make(events, state, false);
}

fl_trace *told_read_old(const char *events, const char *state)
{
    return told_make(events, state, true);
}
