/* Our own binary form, for traces that are looked at more than once: mapped where the file itself
 * is at hand, else read into memory as a whole.  What is in it belongs to the trace layer. */
#include "trace/flt.h"
#include "reader/reader.h"

#include <string.h>
#include <unistd.h>

/* The whole content, which grows only as it comes in. */
static fl_status flt_take_in(fl_input *input, fl_trace *trace, fl_error *error)
{
    fl_status status = fl_input_fill(input, 1, error);
    while (status == FL_OK && input->at < input->end) {
        size_t size = (size_t)(input->end - input->at);
        if (!fl_vector_reserve(trace->host, &trace->image, size, error))
            return FL_ERR_RESOURCE;
        memcpy(trace->image.items + trace->image.count, input->at, size);
        trace->image.count += size;
        input->at = input->end;
        status = fl_input_fill(input, 1, error);
    }
    return status;
}

static fl_status flt_read(fl_input *input, const fl_read_options *options, fl_trace *trace,
                          fl_error *error)
{
    (void)options;
    bool is_file = input->codec == NULL && input->file >= 0 && input->file != STDIN_FILENO &&
                   fl_input_offset(input) == 0;
    fl_status status = FL_OK;
    if (!is_file || !fl_mapping_open(input->file, &trace->mapping))
        status = flt_take_in(input, trace, error);
    return status == FL_OK ? fl_flt_load(trace, input->name, error) : status;
}

static fl_status flt_write(const fl_trace *trace, const fl_write_options *options, fl_error *error)
{
    return fl_flt_save(trace, options->write, options->user, error);
}

static bool flt_probe(const uint8_t *head, size_t size)
{
    return size >= FLT_MAGIC_SIZE && memcmp(head, FLT_MAGIC, FLT_MAGIC_SIZE) == 0;
}

const fl_reader_ops fl_reader_flt = {
    .name = "flt",
    .summary = "fraglab's own binary form of a trace, usable as soon as it is mapped",
    .probe = flt_probe,
    .read = flt_read,
    .write = flt_write,
};
