/* zip archives as torch.save writes them: the content is the member `data.pkl`.
 *
 * Read from the front in one pass, by the headers before each member, so that archives can come
 * through a pipe; the directory at the end is only looked for, to know that nothing was cut off.  A
 * stored member whose size is told behind it ends where a descriptor with its very size follows.
 * What it gives up: check sums are not compared (PyTorch itself does not), and members that are
 * encrypted or packed otherwise than by deflate are not unpacked. */
#include "reader/codec.h"

#include "available.h"
#include "reader/codec_memory.h"

#if FL_HAVE_ZLIB
#include <limits.h>
#define ZLIB_CONST
#include <zlib.h>
#endif

#define HEADER_SIZE     30
#define DESCRIPTOR_SIZE 16
#define EXTRA_KEPT      20 /* of the extra fields: the sizes of zip64, which come first */
#define MEMBER          "data.pkl"
#define MEMBER_LENGTH   8

typedef enum zip_phase {
    AT_SIGNATURE, /* looking for the next header */
    IN_HEADER,
    IN_NAME,
    IN_EXTRA,
    IN_STORED,    /* of known size */
    IN_DESCRIBED, /* stored, of unknown size */
    IN_DEFLATED,
    IN_TAIL, /* behind the member: looking for the end of the directory */
    IN_END   /* in the record that ends the archive */
} zip_phase;

typedef struct zip_state {
    const fl_host *host;
    zip_phase phase;
    bool is_wanted;  /* the member at hand is the content */
    uint32_t window; /* the last four bytes */
    uint16_t flags, method;
    uint64_t left; /* bytes of the part at hand */
    uint64_t name_left, extra_left, size;
    uint64_t done;                 /* bytes of a described member so far */
    uint8_t kept[HEADER_SIZE + 2]; /* of a header, name, extra field or descriptor */
    size_t kept_count;
#if FL_HAVE_ZLIB
    z_stream stream;
    bool has_stream;
#endif
} zip_state;

static bool zip_probe(const uint8_t *head, size_t size)
{
    return size >= 4 && memcmp(head, "PK\x03\x04", 4) == 0;
}

static uint64_t little(const uint8_t *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

/* Unpacking by deflate. */

#if FL_HAVE_ZLIB

static voidpf zip_alloc(voidpf user, uInt items, uInt size)
{
    const zip_state *state = user;
    uint64_t whole = (uint64_t)items * size;
    return whole <= SIZE_MAX ? fl_codec_alloc(state->host, (size_t)whole) : Z_NULL;
}

static void zip_free(voidpf user, voidpf address)
{
    const zip_state *state = user;
    fl_codec_free(state->host, address);
}

static void inflate_drop(zip_state *state)
{
    if (state->has_stream)
        inflateEnd(&state->stream);
    state->has_stream = false;
}

static fl_decoded inflate_begin(zip_state *state)
{
    state->stream = (z_stream){.zalloc = zip_alloc, .zfree = zip_free, .opaque = state};
    state->has_stream = inflateInit2(&state->stream, -15) == Z_OK;
    return state->has_stream ? FL_DECODED_SOME : FL_DECODED_NO_MEMORY;
}

static uInt zip_clamp(size_t size)
{
    return size < UINT_MAX ? (uInt)size : UINT_MAX;
}

static fl_decoded inflate_some(zip_state *state, fl_packed *packed, uint8_t *bytes, size_t room,
                               size_t *ret_size)
{
    z_stream *stream = &state->stream;
    stream->next_in = packed->at;
    stream->avail_in = zip_clamp((size_t)(packed->end - packed->at));
    stream->next_out = bytes;
    stream->avail_out = zip_clamp(room);
    int answer = inflate(stream, Z_NO_FLUSH);
    packed->at = stream->next_in;
    if (state->is_wanted)
        *ret_size = (size_t)(stream->next_out - bytes);
    switch (answer) {
    case Z_STREAM_END:
        inflate_drop(state);
        state->phase = state->is_wanted ? IN_TAIL : AT_SIGNATURE;
        return FL_DECODED_SOME;
    case Z_OK:
    case Z_BUF_ERROR: /* no progress was possible */
        return FL_DECODED_SOME;
    case Z_MEM_ERROR:
        return FL_DECODED_NO_MEMORY;
    default:
        return FL_DECODED_DAMAGED;
    }
}

#else

static void inflate_drop(zip_state *state)
{
    (void)state;
}

static fl_decoded inflate_begin(zip_state *state)
{
    (void)state;
    return FL_DECODED_UNKNOWN;
}

static fl_decoded inflate_some(zip_state *state, fl_packed *packed, uint8_t *bytes, size_t room,
                               size_t *ret_size)
{
    (void)state, (void)packed, (void)bytes, (void)room, (void)ret_size;
    return FL_DECODED_UNKNOWN;
}

#endif

/* Headers. */

/* Takes bytes until `want` are kept. */
static bool zip_keep(zip_state *state, fl_packed *packed, size_t want)
{
    while (state->kept_count < want && packed->at < packed->end)
        state->kept[state->kept_count++] = *packed->at++;
    return state->kept_count == want;
}

static uint32_t zip_slide(zip_state *state, fl_packed *packed)
{
    state->window = state->window << 8 | *packed->at++;
    return state->window;
}

#define SIGNATURE_HEADER    0x504B0304u
#define SIGNATURE_DIRECTORY 0x504B0102u
#define SIGNATURE_END       0x504B0506u

static fl_decoded zip_find_header(zip_state *state, fl_packed *packed)
{
    while (packed->at < packed->end) {
        uint32_t window = zip_slide(state, packed);
        if (window == SIGNATURE_DIRECTORY || window == SIGNATURE_END)
            return FL_DECODED_NOTHING;
        if (window != SIGNATURE_HEADER)
            continue;
        state->phase = IN_HEADER;
        state->kept_count = 4;
        break;
    }
    return FL_DECODED_SOME;
}

static fl_decoded zip_take_header(zip_state *state, fl_packed *packed)
{
    if (!zip_keep(state, packed, HEADER_SIZE))
        return FL_DECODED_SOME;
    state->flags = (uint16_t)little(state->kept + 6, 2);
    state->method = (uint16_t)little(state->kept + 8, 2);
    state->size = little(state->kept + 18, 4);
    state->name_left = little(state->kept + 26, 2);
    state->extra_left = little(state->kept + 28, 2);
    state->kept_count = 0;
    state->phase = IN_NAME;
    return FL_DECODED_SOME;
}

/* The last part of the name is what tells. */
static fl_decoded zip_take_name(zip_state *state, fl_packed *packed)
{
    const size_t most = MEMBER_LENGTH + 1;
    for (; state->name_left > 0; state->name_left--) {
        if (packed->at == packed->end)
            return FL_DECODED_SOME;
        if (state->kept_count == most)
            memmove(state->kept, state->kept + 1, --state->kept_count);
        state->kept[state->kept_count++] = *packed->at++;
    }
    const uint8_t *name = state->kept;
    size_t length = state->kept_count;
    bool is_below = length == most && name[0] == '/';
    state->is_wanted = (length == MEMBER_LENGTH || is_below) &&
                       memcmp(name + is_below, MEMBER, MEMBER_LENGTH) == 0;
    state->kept_count = 0;
    state->phase = IN_EXTRA;
    return FL_DECODED_SOME;
}

static fl_decoded zip_begin_member(zip_state *state)
{
    bool is_encrypted = (state->flags & 1) != 0, is_described = (state->flags & 8) != 0;
    bool is_large = state->kept_count == EXTRA_KEPT && little(state->kept, 2) == 1 &&
                    little(state->kept + 2, 2) >= 16;
    if (state->size == UINT32_MAX && is_large)
        state->size = little(state->kept + 12, 8);
    state->kept_count = 0;
    state->done = 0;
    state->left = state->size;
    if (is_encrypted || (state->method != 0 && state->method != 8))
        return FL_DECODED_UNKNOWN;
    state->phase = state->method == 8 ? IN_DEFLATED : is_described ? IN_DESCRIBED : IN_STORED;
    return state->method == 8 ? inflate_begin(state) : FL_DECODED_SOME;
}

static fl_decoded zip_take_extra(zip_state *state, fl_packed *packed)
{
    for (; state->extra_left > 0; state->extra_left--) {
        if (packed->at == packed->end)
            return FL_DECODED_SOME;
        uint8_t byte = *packed->at++;
        if (state->kept_count < EXTRA_KEPT)
            state->kept[state->kept_count++] = byte;
    }
    return zip_begin_member(state);
}

/* Stored members. */

static void zip_end_member(zip_state *state)
{
    state->phase = state->is_wanted ? IN_TAIL : AT_SIGNATURE;
    state->window = 0;
}

static fl_decoded stored_some(zip_state *state, fl_packed *packed, uint8_t *bytes, size_t room,
                              size_t *ret_size)
{
    size_t size = (size_t)(packed->end - packed->at);
    size = size < room ? size : room;
    size = size < state->left ? size : (size_t)state->left;
    if (state->is_wanted) {
        memcpy(bytes, packed->at, size);
        *ret_size = size;
    }
    packed->at += size;
    state->left -= size;
    if (state->left == 0)
        zip_end_member(state);
    return FL_DECODED_SOME;
}

/* May the bytes kept begin the descriptor of a member of `done` bytes?  Signature, check sum, and
 * the size twice, in 32 or in 64 bits. */
static bool descriptor_fits(const zip_state *state)
{
    uint8_t wanted[DESCRIPTOR_SIZE] = {'P', 'K', 7, 8};
    for (size_t i = 0; i < 4; i++)
        wanted[8 + i] = wanted[12 + i] = (uint8_t)(state->done >> (8 * i));
    bool fits = true;
    for (size_t i = 0; fits && i < state->kept_count; i++) {
        bool is_sum = i >= 4 && i < 8;
        bool is_high = i >= 12 && state->kept[i] == (uint8_t)(state->done >> (8 * (i - 12) + 32));
        fits = is_sum || is_high || state->kept[i] == wanted[i];
    }
    return fits;
}

static fl_decoded described_some(zip_state *state, fl_packed *packed, uint8_t *bytes, size_t room,
                                 size_t *ret_size)
{
    size_t used = 0;
    while (used < room && packed->at < packed->end) {
        state->kept[state->kept_count++] = *packed->at++;
        /* What cannot begin a descriptor is content. */
        while (state->kept_count > 0 && !descriptor_fits(state) && used < room) {
            bytes[used++] = state->kept[0];
            memmove(state->kept, state->kept + 1, --state->kept_count);
            state->done++;
        }
        if (state->kept_count == DESCRIPTOR_SIZE) {
            zip_end_member(state);
            break;
        }
    }
    *ret_size = state->is_wanted ? used : 0;
    return FL_DECODED_SOME;
}

/* The rest of the archive. */

static fl_decoded zip_find_end(zip_state *state, fl_packed *packed)
{
    while (packed->at < packed->end && state->phase == IN_TAIL) {
        if (zip_slide(state, packed) == SIGNATURE_END) {
            state->phase = IN_END;
            state->left = 18;
        }
    }
    return FL_DECODED_SOME;
}

static fl_decoded zip_pass_end(zip_state *state, fl_packed *packed)
{
    size_t size = (size_t)(packed->end - packed->at);
    state->left -= size < state->left ? size : state->left;
    packed->at = packed->end;
    return FL_DECODED_SOME;
}

static fl_decoded zip_step(zip_state *state, fl_packed *packed, uint8_t *bytes, size_t room,
                           size_t *ret_size)
{
    switch (state->phase) {
    case AT_SIGNATURE:
        return zip_find_header(state, packed);
    case IN_HEADER:
        return zip_take_header(state, packed);
    case IN_NAME:
        return zip_take_name(state, packed);
    case IN_EXTRA:
        return zip_take_extra(state, packed);
    case IN_STORED:
        return stored_some(state, packed, bytes, room, ret_size);
    case IN_DESCRIBED:
        return described_some(state, packed, bytes, room, ret_size);
    case IN_DEFLATED:
        return inflate_some(state, packed, bytes, room, ret_size);
    case IN_TAIL:
        return zip_find_end(state, packed);
    case IN_END:
        return zip_pass_end(state, packed);
    }
    return FL_DECODED_DAMAGED;
}

static fl_decoded zip_decode(void *user, fl_packed *packed, uint8_t *bytes, size_t room,
                             size_t *ret_size)
{
    zip_state *state = user;
    *ret_size = 0;
    bool is_empty = packed->at == packed->end && packed->is_last;
    if (is_empty && state->phase == IN_END && state->left == 0)
        return FL_DECODED_END;
    /* zlib may still hold content when all that is packed was taken. */
    if (is_empty && state->phase != IN_DEFLATED)
        return FL_DECODED_CUT;
    fl_decoded decoded = zip_step(state, packed, bytes, room, ret_size);
    bool is_stuck = is_empty && *ret_size == 0 && state->phase == IN_DEFLATED;
    return decoded == FL_DECODED_SOME && is_stuck ? FL_DECODED_CUT : decoded;
}

static void *zip_open(const fl_host *host)
{
    zip_state *state = fl_new(host, sizeof *state, NULL);
    if (state != NULL)
        state->host = host;
    return state;
}

static void zip_close(void *user)
{
    zip_state *state = user;
    inflate_drop(state);
    fl_delete(state->host, state, sizeof *state);
}

const fl_codec_ops fl_codec_zip = {"zip", zip_probe, zip_open, zip_decode, zip_close};
