/* Snapshots as PyTorch writes them, pickled or as JSON: the file as a whole.
 *
 * Its dictionaries are made into a trace while it is read; what can only be known at its end is
 * settled here: the numbers of the final state's blocks, what a cut leaves, and the release. */
#include "reader/snapshot.h"

#include "base/memory.h"
#include "reader/json.h"

static bool final_is_known(const snapshot_reader *reader, size_t device)
{
    return !reader->is_impossible[device] && (reader->is_whole || device < reader->whole_traces);
}

/* Gives the blocks of the final state their numbers, or drops a state that lies beyond a cut. */
static void snapshot_settle(snapshot_reader *reader)
{
    for (size_t device = 0; device < reader->trace->devices.count; device++) {
        fl_trace_device *of = &reader->trace->devices.items[device];
        of->has_final_state = final_is_known(reader, device);
        if (!of->has_final_state) {
            fl_vector_deinit(reader->host, &of->segments);
            fl_vector_deinit(reader->host, &of->blocks);
            fl_vector_deinit(reader->host, &of->block_stacks);
        }
        for (size_t i = 0; i < of->blocks.count; i++)
            if (of->blocks.items[i].state != FL_BLOCK_FREE)
                of->blocks.items[i].id =
                    fl_table_get(&reader->live[device], of->blocks.items[i].address);
    }
}

#define PADDING_MOST 3 /* zeros that the viewer's pages have behind a snapshot */

/* Reads on to the end, so that damage and cuts behind the pickle show. */
static fl_status snapshot_drain(fl_input *input, uint64_t *ret_count, fl_error *error)
{
    uint64_t start = fl_input_offset(input);
    bool is_zero = true;
    fl_status status = FL_OK;
    do {
        for (const uint8_t *at = input->at; is_zero && at < input->end; at++)
            is_zero = *at == 0;
        input->at = input->end;
        status = fl_input_fill(input, 1, error);
    } while (status == FL_OK && input->at < input->end);
    *ret_count = input->offset_end - start;
    if (is_zero && *ret_count <= PADDING_MOST)
        *ret_count = 0;
    return status;
}

static fl_status warn_of_unknown(const snapshot_reader *reader, const char *name, fl_error *error)
{
    if (reader->unknown_count == 0)
        return FL_OK;
    return fl_trace_warn(reader->trace, error,
                         "%s: events with actions that this build does not know are passed over: "
                         "%llu, the first one '%.40s'",
                         name, (unsigned long long)reader->unknown_count,
                         reader->trace->texts.items[reader->unknown_action]);
}

static fl_status snapshot_finish(snapshot_reader *reader, fl_input *input, bool is_cut,
                                 fl_error *error)
{
    fl_trace *trace = reader->trace;
    snapshot_settle(reader);
    fl_status status = fl_snapshot_settle_ops(reader, error);
    if (status == FL_ERR_INPUT)
        fl_prefix(error, "%s:%llu", input->name, (unsigned long long)fl_input_offset(input));
    if (status == FL_OK)
        status = fl_snapshot_judge_release(reader, error);
    if (status != FL_OK)
        return status;
    if (is_cut)
        status = fl_trace_warn(trace, error,
                               "%s:%llu: the file is cut off; %llu events lie before the cut",
                               input->name, (unsigned long long)input->offset_end,
                               (unsigned long long)reader->entry_count);
    if (status == FL_OK)
        status = warn_of_unknown(reader, input->name, error);
    if (status == FL_OK)
        status = fl_snapshot_infer_settings(reader, input->name, is_cut, error);
    if (status != FL_OK || is_cut)
        return status;
    uint64_t behind;
    status = snapshot_drain(input, &behind, error);
    if (status == FL_OK && behind > 0)
        status = fl_trace_warn(trace, error, "%s: %llu bytes behind the snapshot are left out",
                               input->name, (unsigned long long)behind);
    return status;
}

/* JSON: a dictionary or list, maybe behind blanks; a pickle begins with neither. */
static bool head_is_json(const uint8_t *head, size_t size)
{
    size_t blank = 0;
    while (blank < size && head[blank] != 0 && strchr(" \t\r\n", head[blank]) != NULL)
        blank++;
    return blank < size && (head[blank] == '{' || head[blank] == '[');
}

/* `read`: how the bytes become dictionaries and lists. */
static fl_status read_as(fl_input *input, const fl_read_options *options, fl_trace *trace,
                         fl_status (*read)(fl_input *input, const fl_schema *schema, void *user,
                                           bool *ret_cut, fl_error *error),
                         fl_error *error)
{
    snapshot_reader *reader = fl_new(options->host, sizeof *reader, error);
    if (reader == NULL)
        return FL_ERR_RESOURCE;
    reader->host = options->host;
    reader->trace = trace;
    trace->format = FL_FORMAT_SNAPSHOT;
    bool is_cut;
    fl_status status = read(input, &fl_snapshot_schema, reader, &is_cut, error);
    if (status == FL_OK)
        status = snapshot_finish(reader, input, is_cut, error);
    for (size_t i = 0; i <= FL_TRACE_MAX_DEVICE; i++) {
        fl_table_deinit(options->host, &reader->live[i]);
        fl_table_deinit(options->host, &reader->named[i]);
    }
    fl_vector_deinit(options->host, &reader->blocks);
    fl_delete(options->host, reader, sizeof *reader);
    return status;
}

fl_status fl_snapshot_read_json(fl_input *input, const fl_read_options *options, fl_trace *trace,
                                fl_error *error)
{
    return read_as(input, options, trace, fl_json_read, error);
}

static fl_status snapshot_read(fl_input *input, const fl_read_options *options, fl_trace *trace,
                               fl_error *error)
{
    fl_status status = fl_input_fill(input, FL_PROBE_SIZE, error);
    if (status != FL_OK)
        return status;
    bool is_json = head_is_json(input->at, (size_t)(input->end - input->at));
    return read_as(input, options, trace, is_json ? fl_json_read : fl_pickle_read, error);
}

/* JSON, but no profiler trace; or a pickle: its protocol mark, or the beginning of an unmarked
 * dictionary or list. */
static bool snapshot_probe(const uint8_t *head, size_t size)
{
    if (head_is_json(head, size))
        return !fl_bytes_hold(head, size, "\"traceEvents\"") &&
               !fl_bytes_hold(head, size, "\"schemaVersion\"");
    if (size >= 1 && head[0] == 0x80)
        return size == 1 || (head[1] >= 1 && head[1] < 16);
    if (size == 1)
        return head[0] == '(' || head[0] == '}';
    bool is_text = head[0] == '(' && (head[1] == 'd' || head[1] == 'l');
    return is_text || ((head[0] == '}' || head[0] == ']') && head[1] == 'q');
}

const fl_reader_ops fl_reader_snapshot = {
    .name = "snapshot",
    .summary = "memory snapshots as PyTorch 2.0 and later write them",
    .probe = snapshot_probe,
    .read = snapshot_read,
};
