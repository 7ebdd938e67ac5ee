/* gzip through zlib: members follow each other, as in files that were appended to. */
#include "reader/codec.h"

#include "available.h"

static bool gzip_probe(const uint8_t *head, size_t size)
{
    return size >= 2 && head[0] == 0x1F && head[1] == 0x8B;
}

#if FL_HAVE_ZLIB

#include "reader/codec_memory.h"

#include <limits.h>
#define ZLIB_CONST
#include <zlib.h>

#define GZIP_ONLY (15 + 16) /* largest window, gzip framing */

typedef struct gzip_state {
    z_stream stream;
    const fl_host *host;
    bool between; /* a member has ended and the next one has not begun */
} gzip_state;

static voidpf gzip_alloc(voidpf user, uInt items, uInt size)
{
    const gzip_state *state = user;
    uint64_t whole = (uint64_t)items * size;
    return whole <= SIZE_MAX ? fl_codec_alloc(state->host, (size_t)whole) : Z_NULL;
}

static void gzip_free(voidpf user, voidpf address)
{
    const gzip_state *state = user;
    fl_codec_free(state->host, address);
}

static void *gzip_open(const fl_host *host)
{
    gzip_state *state = fl_new(host, sizeof *state, NULL);
    if (state == NULL)
        return NULL;
    state->host = host;
    state->stream.zalloc = gzip_alloc;
    state->stream.zfree = gzip_free;
    state->stream.opaque = state;
    if (inflateInit2(&state->stream, GZIP_ONLY) == Z_OK)
        return state;
    fl_delete(host, state, sizeof *state);
    return NULL;
}

static void gzip_close(void *user)
{
    gzip_state *state = user;
    inflateEnd(&state->stream);
    fl_delete(state->host, state, sizeof *state);
}

static uInt gzip_clamp(size_t size)
{
    return size < UINT_MAX ? (uInt)size : UINT_MAX;
}

static fl_decoded gzip_decode(void *user, fl_packed *packed, uint8_t *bytes, size_t room,
                              size_t *ret_size)
{
    gzip_state *state = user;
    z_stream *stream = &state->stream;
    bool has_input = packed->at < packed->end;
    if (state->between && !has_input)
        return FL_DECODED_END;
    if (state->between && inflateReset(stream) != Z_OK)
        return FL_DECODED_DAMAGED;
    state->between = false;
    stream->next_in = packed->at;
    stream->avail_in = gzip_clamp((size_t)(packed->end - packed->at));
    stream->next_out = bytes;
    stream->avail_out = gzip_clamp(room);
    int answer = inflate(stream, Z_NO_FLUSH);
    packed->at = stream->next_in;
    *ret_size = (size_t)(stream->next_out - bytes);
    switch (answer) {
    case Z_STREAM_END:
        state->between = true;
        return FL_DECODED_SOME;
    case Z_OK:
    case Z_BUF_ERROR: /* no progress was possible */
        return has_input || *ret_size > 0 ? FL_DECODED_SOME : FL_DECODED_CUT;
    case Z_MEM_ERROR:
        return FL_DECODED_NO_MEMORY;
    default:
        return FL_DECODED_DAMAGED;
    }
}

const fl_codec_ops fl_codec_gzip = {"gzip", gzip_probe, gzip_open, gzip_decode, gzip_close};

#else

const fl_codec_ops fl_codec_gzip = {"gzip", gzip_probe, NULL, NULL, NULL};

#endif
