/* One buffer of packed bytes, one of content; content is moved to the front when more is asked for.
 * What lies in memory and is not packed is read in place. */
#include "reader/input.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Text is only ever packed; a page or an archive that is text is meant as such. */
#define TEXT_CODECS 2

static const fl_codec_ops *const codecs[] = {&fl_codec_gzip, &fl_codec_zstd, &fl_codec_zip,
                                             &fl_codec_html};

static fl_status input_progress(const fl_input *input, fl_error *error)
{
    const fl_read_options *options = input->options;
    uint64_t done = input->packed.offset_end;
    if (options->progress != NULL && !options->progress(options->user, done, input->packed.size))
        return fl_fail(error, FL_ERR_NO, "%s: stopped by the caller", input->name);
    return FL_OK;
}

/* Reads packed bytes until the buffer is full or the file ends. */
static fl_status packed_fill(fl_input *input, fl_error *error)
{
    fl_packed *packed = &input->packed;
    size_t kept = (size_t)(packed->end - packed->at);
    if (kept > 0)
        memmove(packed->buffer, packed->at, kept);
    packed->at = packed->buffer;
    packed->end = packed->buffer + kept;
    while (kept < FL_INPUT_ROOM && !packed->is_last) {
        ssize_t got = read(input->file, packed->buffer + kept, FL_INPUT_ROOM - kept);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fl_fail(error, FL_ERR_INPUT, "%s: cannot be read: %s", input->name,
                           strerror(errno));
        packed->is_last = got == 0;
        kept += (size_t)got;
        packed->end += got;
        packed->offset_end += (uint64_t)got;
    }
    return input_progress(input, error);
}

static fl_status codec_choose(fl_input *input, fl_error *error)
{
    size_t size = (size_t)(input->packed.end - input->packed.at);
    size_t count = input->is_text ? TEXT_CODECS : sizeof codecs / sizeof *codecs;
    for (size_t i = 0; i < count; i++) {
        if (!codecs[i]->probe(input->packed.at, size))
            continue;
        if (codecs[i]->open == NULL)
            return fl_fail(error, FL_ERR_UNAVAILABLE, "%s: packed with %s, which this build lacks",
                           input->name, codecs[i]->name);
        input->codec = codecs[i];
        input->codec_state = codecs[i]->open(input->options->host);
        if (input->codec_state == NULL)
            return fl_fail(error, FL_ERR_RESOURCE, "out of memory for unpacking %s",
                           codecs[i]->name);
    }
    return FL_OK;
}

static fl_status content_open(fl_input *input, fl_error *error)
{
    fl_status status = codec_choose(input, error);
    if (status != FL_OK)
        return status;
    if (input->codec == NULL) {
        /* Content is what is packed, in the same buffer. */
        input->at = input->packed.at;
        input->end = input->packed.end;
        input->is_last = input->packed.is_last;
        input->offset_end = input->packed.offset_end;
        return FL_OK;
    }
    input->buffer = fl_new(input->options->host, FL_INPUT_ROOM, error);
    input->at = input->end = input->buffer;
    return input->buffer != NULL ? FL_OK : FL_ERR_RESOURCE;
}

static fl_status input_fail_open(const char *path, fl_error *error)
{
    bool is_host = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
    return fl_fail(error, is_host ? FL_ERR_RESOURCE : FL_ERR_INPUT, "%s: cannot be opened: %s",
                   path, strerror(errno));
}

static fl_status open_file(fl_input *input, const char *path, bool is_text,
                           const fl_read_options *options, fl_error *error)
{
    bool is_standard = strcmp(path, "-") == 0;
    *input = (fl_input){
        .name = is_standard ? "standard input" : path, .is_text = is_text, .options = options};
    input->file = is_standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (input->file < 0)
        return input_fail_open(path, error);
    struct stat stat;
    if (fstat(input->file, &stat) == 0 && S_ISREG(stat.st_mode) && stat.st_size > 0)
        input->packed.size = (uint64_t)stat.st_size;
    input->packed.buffer = fl_new(options->host, FL_INPUT_ROOM, error);
    input->packed.at = input->packed.end = input->packed.buffer;
    fl_status status = input->packed.buffer != NULL ? packed_fill(input, error) : FL_ERR_RESOURCE;
    if (status == FL_OK)
        status = content_open(input, error);
    if (status != FL_OK)
        fl_input_close(input);
    return status;
}

fl_status fl_input_open_file(fl_input *input, const char *path, const fl_read_options *options,
                             fl_error *error)
{
    return open_file(input, path, false, options, error);
}

fl_status fl_input_open_text(fl_input *input, const char *path, const fl_read_options *options,
                             fl_error *error)
{
    return open_file(input, path, true, options, error);
}

fl_status fl_input_open_memory(fl_input *input, const void *data, size_t size, const char *name,
                               const fl_read_options *options, fl_error *error)
{
    *input = (fl_input){.name = name, .options = options, .file = -1};
    static const uint8_t nothing[1];
    input->packed.at = size > 0 ? data : nothing; /* nothing may lie nowhere */
    input->packed.end = input->packed.at + size;
    input->packed.is_last = true;
    input->packed.size = input->packed.offset_end = size;
    fl_status status = content_open(input, error);
    if (status != FL_OK)
        fl_input_close(input);
    return status;
}

void fl_input_close(fl_input *input)
{
    if (input->codec_state != NULL)
        input->codec->close(input->codec_state);
    fl_delete(input->options->host, input->buffer, FL_INPUT_ROOM);
    fl_delete(input->options->host, input->packed.buffer, FL_INPUT_ROOM);
    if (input->file >= 0 && input->file != STDIN_FILENO)
        close(input->file);
    input->codec_state = NULL;
    input->buffer = input->packed.buffer = NULL;
    input->file = -1;
}

static fl_status plain_fill(fl_input *input, fl_error *error)
{
    if (input->file < 0)
        return FL_OK;
    input->packed.at = input->at;
    fl_status status = packed_fill(input, error);
    input->at = input->packed.at;
    input->end = input->packed.end;
    input->is_last = input->packed.is_last;
    input->offset_end = input->packed.offset_end;
    return status;
}

/* What a decoder's answer means for the reader. */
static fl_status unpack_judge(fl_input *input, fl_decoded decoded, fl_error *error)
{
    uint64_t packed_at =
        input->packed.offset_end - (uint64_t)(input->packed.end - input->packed.at);
    const char *wrong = "is damaged";
    switch (decoded) {
    case FL_DECODED_SOME:
        return FL_OK;
    case FL_DECODED_END:
        input->is_last = true;
        return FL_OK;
    case FL_DECODED_NO_MEMORY:
        return fl_fail(error, FL_ERR_RESOURCE, "out of memory while unpacking %s", input->name);
    case FL_DECODED_UNKNOWN:
        return fl_fail(error, FL_ERR_UNAVAILABLE,
                       "%s:%llu: packed inside the %s data in a way that this build cannot unpack",
                       input->name, (unsigned long long)packed_at, input->codec->name);
    case FL_DECODED_NOTHING:
        return fl_fail(error, FL_ERR_INPUT, "%s:%llu: no snapshot in the %s data", input->name,
                       (unsigned long long)packed_at, input->codec->name);
    case FL_DECODED_CUT:
        if (input->options->accept_cut) {
            input->is_last = input->was_cut = true;
            return FL_OK;
        }
        wrong = "is cut off";
        break;
    case FL_DECODED_DAMAGED:
        break;
    }
    fl_fail(error, FL_ERR_INPUT, "%s:%llu: the %s data %s (%llu bytes were unpacked)", input->name,
            (unsigned long long)packed_at, input->codec->name, wrong,
            (unsigned long long)input->offset_end);
    return decoded == FL_DECODED_CUT ? fl_hint(error, FL_HINT_CUT) : FL_ERR_INPUT;
}

static fl_status unpack_fill(fl_input *input, size_t want, fl_error *error)
{
    size_t kept = (size_t)(input->end - input->at);
    memmove(input->buffer, input->at, kept);
    input->at = input->buffer;
    input->end = input->buffer + kept;
    fl_status status = FL_OK;
    while (status == FL_OK && kept < want && !input->is_last) {
        if (input->packed.at == input->packed.end && !input->packed.is_last)
            status = packed_fill(input, error);
        if (status != FL_OK)
            return status;
        size_t size = 0;
        fl_decoded decoded = input->codec->decode(
            input->codec_state, &input->packed, input->buffer + kept, FL_INPUT_ROOM - kept, &size);
        kept += size;
        input->end += size;
        input->offset_end += size;
        status = unpack_judge(input, decoded, error);
    }
    return status;
}

fl_status fl_input_fill(fl_input *input, size_t want, fl_error *error)
{
    if (input->is_last || (size_t)(input->end - input->at) >= want)
        return FL_OK;
    return input->codec != NULL ? unpack_fill(input, want, error) : plain_fill(input, error);
}

static const uint8_t order_mark[] = {0xEF, 0xBB, 0xBF};

size_t fl_mark_size(const uint8_t *head, size_t size)
{
    bool has_mark = size >= sizeof order_mark && memcmp(head, order_mark, sizeof order_mark) == 0;
    return has_mark ? sizeof order_mark : 0;
}

fl_status fl_input_pass_mark(fl_input *input, fl_error *error)
{
    fl_status status = fl_input_fill(input, sizeof order_mark, error);
    if (status == FL_OK)
        input->at += fl_mark_size(input->at, (size_t)(input->end - input->at));
    return status;
}
