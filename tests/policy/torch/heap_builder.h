/* A heap under test: the torch policy of one release over a card that keeps books, driven by lines
 * of text and heard as lines of text, so that a test reads like a worked example.
 *
 *     heap *h = heap_open((heap_conf){.release = "2.9.1", .split = MIB(64)});
 *     heap_shows(h, "a 1 1; a 2 10MiB+512", "+ 0 2MiB; A 1 0:0 512; + 1 12MiB; A 2 1:0 10MiB+512");
 *     heap_close(h);
 *
 * What can be asked (sizes carry a unit, and may be followed by +BYTES or -BYTES):
 *
 *     a ID SIZE [STREAM]   allocate                  b POOL [stream=S] [capture] [nosplit]
 * [use_on_oom] f ID [held]          free                      q POOL, x POOL   end the scope,
 * release the pool d ID                 its pending free is done  F X              set the memory
 * fraction r ID STREAM          record_stream             p, c             events stay pending,
 * complete e [POOL]             empty_cache               o SIZE           memory taken by others
 *     s                    show segments and blocks  expandable on|off, split SIZE, collect X:
 * settings
 *
 * What is shown (SEG:OFFSET is an address, SEG counts segments and ranges from 0):
 *
 *     + SEG SIZE           segment from the device   A ID SEG:OFFSET SIZE   block handed out
 *     - SEG SIZE CAUSE     and back                  A ID null              a request of 0 bytes
 *     ! SIZE               segment refused           F ID                   free asked and done
 *     R SEG SIZE           range reserved            f ID                   free asked, pending
 *     r SEG SIZE CAUSE     range given back          d ID                   pending free done
 *     M SEG:OFFSET SIZE    memory mapped             O ID                   refused: out of memory
 *     U SEG:OFFSET SIZE CAUSE  and unmapped          J ID                   rejected by a setting
 *     C! SIZE              page refused              E [ID]                 an assertion would fail
 *     S SEG:OFFSET SIZE small|large [exp], B SIZE REQUESTED live|pend|free   what `s` shows
 *
 * `+`, `R` and `S` name the stream and pool where they are not the default ones. */
#ifndef HEAP_BUILDER_H
#define HEAP_BUILDER_H

#include "policy/torch/torch.h"

#define MIB(n) ((uint64_t)(n)*FL_MIB)

/* Whatever is 0 is as the release has it. */
typedef struct heap_conf {
    const char *release; /* NULL: 2.9.1 */
    uint64_t capacity;   /* of the card; 0: no limit */
    uint64_t total;      /* what the card says; 0: its capacity */
    uint64_t split, non_split_rounding, large_segment;
    double collect, process_fraction, fraction;
    uint32_t divisions; /* in every slot */
    bool expandable, rejects;
    const char *note; /* what a failing test shall tell besides */
} heap_conf;

typedef struct heap heap;

const fl_profile *heap_profile(const char *release);

/* Fails the test where it cannot. */
heap *heap_open(heap_conf conf);

/* Checks every invariant once more. */
void heap_close(heap *h);

/* The same with a host that may fail; on failure there is nothing to close. */
fl_status heap_try_open(heap_conf conf, const fl_host *host, heap **ret_heap, fl_error *error);
fl_status heap_try(heap *h, const char *script, fl_error *error);
void heap_drop(heap *h);

/* Runs a script, checks every invariant after each line, and tells what changed; the text is the
 * heap's and lasts until the next script. */
const char *heap_does(heap *h, const char *script);

/* Runs a script and fails the test unless exactly these changes are seen. */
#define heap_shows(h, script, changes) heap_compare(h, script, changes, __FILE__, __LINE__)
void heap_compare(heap *h, const char *script, const char *changes, const char *file, int line);

/* The same over a heap of its own: heap_example("a 1 1", "+ 0 2MiB; A 1 0:0 512", .release =
 * "2.9.1"). */
#define heap_example(script, changes, ...)                                                         \
    heap_compare_once((heap_conf){__VA_ARGS__}, script, changes, __FILE__, __LINE__)
void heap_compare_once(heap_conf conf, const char *script, const char *changes, const char *file,
                       int line);

/* `current peak sum-of-increases sum-of-decreases` of a statistic over both kinds of pool. */
#define heap_stat_shows(h, kind, text) heap_compare_stat(h, kind, text, __FILE__, __LINE__)
void heap_compare_stat(heap *h, fl_stat_kind kind, const char *text, const char *file, int line);

/* What a request of `size` on a stream would meet. */
fl_probe heap_probe(heap *h, uint64_t size, uint64_t stream);
const fl_stats *heap_stats(const heap *h);
const fl_refusal *heap_refusal(const heap *h);
const fl_device_info *heap_device(const heap *h);
torch *heap_state(heap *h);
const heap_conf *heap_conf_of(const heap *h);
const char *heap_text(const heap *h); /* what the last script showed */

#endif
