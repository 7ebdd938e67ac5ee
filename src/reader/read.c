/* Choosing the reader of a file: by name, or the one whose probe knows the first bytes. */
#include "reader/foreign.h"
#include "reader/reader.h"
#include "registry.h"

#include <assert.h>
#include <string.h>

#define FL_PLUGIN(name) extern const fl_reader_ops fl_reader_##name;
FL_READER_ROWS
#undef FL_PLUGIN

#define FL_PLUGIN(name) &fl_reader_##name,
static const fl_reader_ops *const readers[] = {FL_READER_ROWS};
#undef FL_PLUGIN

#define READER_COUNT (sizeof readers / sizeof *readers)

bool fl_reader_at(size_t index, const char **ret_name, const char **ret_summary)
{
    if (index >= READER_COUNT)
        return false;
    *ret_name = readers[index]->name;
    *ret_summary = readers[index]->summary;
    return true;
}

static const fl_reader_ops *reader_find(const char *name)
{
    for (size_t i = 0; i < READER_COUNT; i++)
        if (strcmp(readers[i]->name, name) == 0)
            return readers[i];
    return NULL;
}

bool fl_format_is_written(const char *format)
{
    const fl_reader_ops *reader = reader_find(format);
    return reader != NULL && reader->write != NULL;
}

bool fl_bytes_hold(const uint8_t *bytes, size_t size, const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0; i + length <= size; i++)
        if (memcmp(bytes + i, word, length) == 0)
            return true;
    return false;
}

/* The names of all readers, or of those that also write, for a hint. */
static const char *reader_names(bool writes, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < READER_COUNT; i++) {
        size_t length = strlen(readers[i]->name);
        if (writes && readers[i]->write == NULL)
            continue;
        if (used + length + 3 > size)
            break;
        if (used > 0) {
            memcpy(buffer + used, ", ", 2);
            used += 2;
        }
        memcpy(buffer + used, readers[i]->name, length + 1);
        used += length;
    }
    return buffer;
}

static fl_status reader_by_name(const char *name, const fl_reader_ops **ret_reader, fl_error *error)
{
    *ret_reader = reader_find(name);
    if (*ret_reader != NULL)
        return FL_OK;
    char names[128];
    fl_fail(error, FL_ERR_USAGE, "no format '%s'", name);
    fl_hint(error, "this build reads %s", reader_names(false, names, sizeof names));
    return FL_ERR_USAGE;
}

static fl_status reader_by_content(fl_input *input, const fl_reader_ops **ret_reader,
                                   fl_error *error)
{
    fl_status status = fl_input_fill(input, FL_PROBE_SIZE, error);
    if (status != FL_OK)
        return status;
    size_t size = (size_t)(input->end - input->at);
    status = fl_foreign_refuse(input->name, input->at, size, error);
    if (status != FL_OK)
        return status;
    for (size_t i = 0; size > 0 && i < READER_COUNT; i++) {
        if (readers[i]->probe(input->at, size)) {
            *ret_reader = readers[i];
            return FL_OK;
        }
    }
    char names[128];
    if (size == 0)
        status = fl_fail(error, FL_ERR_INPUT, "%s:0: the file is empty", input->name);
    else
        status =
            fl_fail(error, FL_ERR_INPUT, "%s:0: expected a trace in a known format", input->name);
    fl_hint(error, "this build reads %s", reader_names(false, names, sizeof names));
    return status;
}

/* Reads an opened input into a new trace. */
static fl_status read_input(fl_input *input, const char *path, fl_trace **ret_trace,
                            fl_error *error)
{
    const fl_read_options *options = input->options;
    const fl_reader_ops *reader = NULL;
    fl_status status = fl_input_pass_mark(input, error);
    if (status == FL_OK)
        status = options->format != NULL ? reader_by_name(options->format, &reader, error)
                                         : reader_by_content(input, &reader, error);
    if (status != FL_OK)
        return status;
    assert(reader != NULL);
    fl_trace *trace = fl_trace_new(options->host, path, error);
    if (trace == NULL)
        return FL_ERR_RESOURCE;
    trace->format_name = reader->name;
    fl_trace_end_at(trace, &options->end);
    status = reader->read(input, options, trace, error);
    if (status == FL_OK && input->was_cut)
        status =
            fl_trace_warn(trace, error, "%s: the %s data is cut off after %llu bytes of content",
                          input->name, input->codec->name, (unsigned long long)input->offset_end);
    if (status == FL_OK)
        status = fl_trace_finish(trace, error);
    if (status == FL_OK)
        *ret_trace = trace;
    else
        fl_trace_free(trace);
    return status;
}

static fl_read_options options_complete(const fl_read_options *options)
{
    fl_read_options complete = options != NULL ? *options : (fl_read_options){0};
    if (complete.host == NULL)
        complete.host = fl_host_default();
    return complete;
}

/* A file, or (`data` not NULL) memory. */
struct source {
    const char *name;
    const void *data;
    size_t size;
};

static fl_status read_source(const struct source *source, const fl_read_options *options,
                             fl_trace **ret_trace, fl_error *error)
{
    fl_input input;
    fl_status status =
        source->data != NULL
            ? fl_input_open_memory(&input, source->data, source->size, source->name, options, error)
            : fl_input_open_file(&input, source->name, options, error);
    if (status != FL_OK)
        return status;
    status = read_input(&input, source->name, ret_trace, error);
    fl_input_close(&input);
    return status;
}

/* Once more where a part of it does not suffice. */
static fl_status read_enough(const struct source *source, const fl_read_options *options,
                             fl_trace **ret_trace, fl_error *error)
{
    fl_read_options complete = options_complete(options);
    fl_error unseen = {0};
    fl_trace *trace = NULL;
    if (error == NULL)
        error = &unseen;
    fl_status status = read_source(source, &complete, &trace, error);
    if (status == FL_OK && trace->needs_whole) {
        fl_trace_free(trace);
        complete.end.is_given = false;
        if (source->data == NULL && strcmp(source->name, "-") == 0) {
            fl_fail(error, FL_ERR_UNAVAILABLE,
                    "%s: the events behind the range are needed, and were not kept", source->name);
            return fl_hint(error, "it is read once; give a file by its name");
        }
        status = read_source(source, &complete, &trace, error);
    }
    if (status == FL_OK)
        *ret_trace = trace;
    return status;
}

fl_status fl_read_file(const char *path, const fl_read_options *options, fl_trace **ret_trace,
                       fl_error *error)
{
    struct source source = {.name = path};
    return read_enough(&source, options, ret_trace, error);
}

fl_status fl_read_memory(const void *data, size_t size, const char *name,
                         const fl_read_options *options, fl_trace **ret_trace, fl_error *error)
{
    struct source source = {name, data != NULL ? data : "", size};
    return read_enough(&source, options, ret_trace, error);
}

fl_status fl_write_trace(const fl_trace *trace, const char *format, const fl_write_options *options,
                         fl_error *error)
{
    const fl_reader_ops *reader = reader_find(format);
    for (size_t i = 0; i < fl_trace_device_count(trace); i++)
        if (fl_trace_behind(trace, i).events > 0)
            return fl_fail(error, FL_ERR_UNAVAILABLE, "%s: only a part of it was read",
                           fl_trace_path(trace));
    if (reader != NULL && reader->write != NULL)
        return reader->write(trace, options, error);
    char names[128];
    fl_fail(error, FL_ERR_USAGE, reader == NULL ? "no format '%s'" : "format '%s' is only read",
            format);
    fl_hint(error, "this build writes %s", reader_names(true, names, sizeof names));
    return FL_ERR_USAGE;
}
