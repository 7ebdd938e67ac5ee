/* Pickles written by hand in a short notation, for tests:
 *
 *     ( ] . u s a e t ) N              the instruction with this letter; { is EMPTY_DICT
 *     T F 1 2 3                        true, false, tuples of that many
 *     m  p7 q7  g7 h7                  memoize; put and get by number (LONG_BIN..., BIN...)
 *     'text'  #123  #-5                a text, a number
 *     xAB                              this byte
 */
#ifndef ASSEMBLE_H
#define ASSEMBLE_H

#include <fraglab/read.h>

#include <stddef.h>
#include <stdint.h>

typedef struct pickle_bytes {
    uint8_t bytes[8192];
    size_t size;
} pickle_bytes;

/* Starts with protocol 4; each piece of the notation follows the one before. */
void assemble_begin(pickle_bytes *pickle);
void assemble(pickle_bytes *pickle, const char *notation);

/* A whole snapshot of one device around these pieces; an entry is `{ ... u`. */
void assemble_snapshot(pickle_bytes *pickle, const char *segments, const char *entries);

#define SEGMENT_START                                                                              \
    "{ ( 'device' #0 'address' #4096 'total_size' #2097152 'stream' #0 'segment_type' 'small' "    \
    "'segment_pool_id' #0 #0 2 'is_expandable' F "
#define BLOCK_LIVE                                                                                 \
    "{ ( 'address' #4096 'size' #512 'requested_size' #100 'state' 'active_allocated' "            \
    "'frames' ] u "
#define BLOCK_FREE                                                                                 \
    "{ ( 'address' #4608 'size' #2096640 'requested_size' #0 'state' 'inactive' 'frames' ] u "
#define SEGMENT       SEGMENT_START "'frames' ] 'blocks' ] ( " BLOCK_LIVE BLOCK_FREE "e u "
#define ENTRY_SEGMENT "{ ( 'action' 'segment_alloc' 'addr' #4096 'size' #2097152 'stream' #0 u "
#define ENTRY_ALLOC   "{ ( 'action' 'alloc' 'addr' #4096 'size' #100 'stream' #0 u "

/* Reads it; the trace is the caller's, and NULL on failure. */
fl_status assemble_read(const pickle_bytes *pickle, fl_trace **ret_trace, fl_error *error);

/* The trace of a snapshot that must be valid. */
fl_trace *read_valid(const pickle_bytes *pickle);

/* It must fail with this status, and with a text that ends so. */
void read_fails(const pickle_bytes *pickle, fl_status status, const char *end);

/* The trace of a file that must be valid. */
fl_trace *read_file(const char *path, bool accept_cut);

/* Bytes of a file of the tree; freed with free.  Fails the test where there is none. */
uint8_t *file_bytes(const char *path, size_t *ret_size);

/* Reads the file whose path `path` is, for failing_host_sweep. */
fl_status read_file_with(const fl_host *host, void *path, fl_error *error);

/* A snapshot whose byte `at` was changed: it is a trace all the same, or is refused in words. */
void read_gives_a_trace_or_a_sentence(const uint8_t *bytes, size_t size, size_t at,
                                      bool accept_cut);

#endif
