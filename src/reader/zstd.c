/* zstd: frames follow each other. */
#include "reader/codec.h"

#include "available.h"

/* Skippable frames (0x184D2A50 to 5F) may come first, but nobody writes a file that way. */
static bool zstd_probe(const uint8_t *head, size_t size)
{
    static const uint8_t magic[] = {0x28, 0xB5, 0x2F, 0xFD};
    for (size_t i = 0; i < size && i < sizeof magic; i++)
        if (head[i] != magic[i])
            return false;
    return size >= 2;
}

#if FL_HAVE_ZSTD

#include "reader/codec_memory.h"

/* The allocator hooks stand in this part of zstd's header; they have not changed since 1.3. */
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#include <zstd_errors.h>

/* A frame may ask for a window of gigabytes; those of usual levels need 128 MiB at most. */
#define ZSTD_WINDOW_LOG 27

typedef struct zstd_state {
    ZSTD_DStream *stream;
    const fl_host *host;
    bool between; /* a frame has ended and the next one has not begun */
} zstd_state;

static void *zstd_alloc(void *user, size_t size)
{
    const zstd_state *state = user;
    return fl_codec_alloc(state->host, size);
}

static void zstd_free(void *user, void *address)
{
    const zstd_state *state = user;
    fl_codec_free(state->host, address);
}

static void *zstd_open(const fl_host *host)
{
    zstd_state *state = fl_new(host, sizeof *state, NULL);
    if (state == NULL)
        return NULL;
    state->host = host;
    ZSTD_customMem memory = {zstd_alloc, zstd_free, state};
    state->stream = ZSTD_createDStream_advanced(memory);
    if (state->stream != NULL &&
        !ZSTD_isError(ZSTD_DCtx_setParameter(state->stream, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG)))
        return state;
    ZSTD_freeDStream(state->stream);
    fl_delete(host, state, sizeof *state);
    return NULL;
}

static void zstd_close(void *user)
{
    zstd_state *state = user;
    ZSTD_freeDStream(state->stream);
    fl_delete(state->host, state, sizeof *state);
}

static fl_decoded zstd_decode(void *user, fl_packed *packed, uint8_t *bytes, size_t room,
                              size_t *ret_size)
{
    zstd_state *state = user;
    ZSTD_inBuffer in = {packed->at, (size_t)(packed->end - packed->at), 0};
    ZSTD_outBuffer out = {bytes, room, 0};
    if (in.size == 0 && state->between)
        return FL_DECODED_END;
    size_t answer = ZSTD_decompressStream(state->stream, &out, &in);
    packed->at += in.pos;
    *ret_size = out.pos;
    if (ZSTD_isError(answer))
        return ZSTD_getErrorCode(answer) == ZSTD_error_memory_allocation ? FL_DECODED_NO_MEMORY
                                                                         : FL_DECODED_DAMAGED;
    state->between = answer == 0;
    return in.size == 0 && out.pos == 0 ? FL_DECODED_CUT : FL_DECODED_SOME;
}

const fl_codec_ops fl_codec_zstd = {"zstd", zstd_probe, zstd_open, zstd_decode, zstd_close};

#else

const fl_codec_ops fl_codec_zstd = {"zstd", zstd_probe, NULL, NULL, NULL};

#endif
