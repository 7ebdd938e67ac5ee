/* The loop that runs a pickle's instructions. */
#include "reader/pickle_machine.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>

bool fl_pickle_check(fl_pickle *m, fl_status status)
{
    if (status == FL_OK)
        return true;
    uint64_t offset = m->at_offset;
    if (m->at != NULL)
        offset = m->input->offset_end - (uint64_t)(m->input->end - m->at);
    if (status == FL_ERR_INPUT || status == FL_ERR_UNAVAILABLE)
        fl_prefix(m->error, "%s:%llu", m->input->name, (unsigned long long)offset);
    m->status = status;
    return false;
}

bool fl_pickle_fail(fl_pickle *m, fl_status status, const char *format, ...)
{
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fl_pickle_check(m, fl_fail(m->error, status, "%s", text));
    return false;
}

bool fl_pickle_cut(fl_pickle *m)
{
    m->is_cut = true;
    m->status = FL_OK;
    if (m->input->options->accept_cut)
        return false;
    const char *what =
        m->depth > 0 ? m->schema->shapes[m->path[m->depth - 1].shape].what : "a pickle";
    m->status = fl_fail(m->error, FL_ERR_INPUT, "%s:%llu: the file ends here, inside %s",
                        m->input->name, (unsigned long long)m->input->offset_end, what);
    fl_hint(m->error, FL_HINT_CUT);
    return false;
}

static bool pickle_refuse(fl_pickle *m, const op_row *row)
{
    if (row->name == NULL)
        return fl_pickle_fail(m, FL_ERR_INPUT, "0x%02x is no pickle instruction", *m->at);
    return fl_pickle_fail(m, FL_ERR_INPUT,
                          "the pickle instruction %s is refused: a snapshot is plain data",
                          row->name);
}

/* Makes a whole instruction, but for what varies in size, and room for one value lie ready. */
static bool pickle_ready(fl_pickle *m)
{
    fl_input *input = m->input;
    m->at = input->at;
    if (input->end - input->at < FL_OPERATION_MOST && !input->is_last) {
        m->status = fl_input_fill(input, FL_OPERATION_MOST, m->error);
        if (m->status != FL_OK)
            return false;
        m->at = input->at;
    }
    if (m->stack.count == m->stack.capacity && !fl_vector_reserve(m->host, &m->stack, 1, m->error))
        return fl_pickle_check(m, FL_ERR_RESOURCE);
    return input->at < input->end || fl_pickle_cut(m);
}

static bool pickle_step(fl_pickle *m)
{
    fl_pickle_run_values(m);
    if (!pickle_ready(m))
        return false;
    fl_input *input = m->input;
    const op_row *row = &fl_pickle_ops[*input->at];
    if (row->run == NULL)
        return pickle_refuse(m, row);
    if (input->end - input->at <= row->size)
        return fl_pickle_cut(m);
    m->args = input->at + 1;
    input->at += 1 + row->size;
    return row->run(m);
}

/* A record that was filled at one go before the cut is a record. */
static bool pickle_end_cut(fl_pickle *m)
{
    if (m->depth == 0)
        return true;
    uint8_t shape = m->path[m->depth - 1].shape;
    if (m->schema->shapes[shape].is_list || !m->records[shape].is_whole)
        return true;
    return fl_shape_close_to(m, m->depth - 1);
}

fl_status fl_pickle_run(fl_input *input, const fl_schema *schema, void *user,
                        bool (*step)(fl_pickle *m), bool *ret_cut, fl_error *error)
{
    const fl_host *host = input->options->host;
    fl_pickle *m = fl_new(host, sizeof *m, error);
    if (m == NULL)
        return FL_ERR_RESOURCE;
    m->input = input;
    m->host = host;
    m->schema = schema;
    m->user = user;
    m->error = error;
    fl_shape_prepare(m);
    bool goes_on = true;
    while (goes_on && !m->is_stopped)
        goes_on = step(m);
    if (m->is_cut && m->status == FL_OK)
        goes_on = pickle_end_cut(m);
    fl_status status = goes_on ? FL_OK : m->status;
    if (status == FL_OK)
        *ret_cut = m->is_cut;
    fl_pickle_drop_store(m);
    fl_delete(host, m, sizeof *m);
    return status;
}

fl_status fl_pickle_read(fl_input *input, const fl_schema *schema, void *user, bool *ret_cut,
                         fl_error *error)
{
    return fl_pickle_run(input, schema, user, pickle_step, ret_cut, error);
}
