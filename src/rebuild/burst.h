/* A burst: what a recorded history shows between two things that the program asked for.
 *
 * Completions of pending frees, segments taken and given back, ranges mapped and unmapped are
 * outcomes; they belong to the request that follows, or to an empty_cache that left no entry of its
 * own.  Which of the two, and which completions had happened by themselves and which were waited
 * for, is the reading of a burst (docs/verify.md). */
#ifndef FL_REBUILD_BURST_H
#define FL_REBUILD_BURST_H

#include "trace/trace.h"

typedef enum fl_reading {
    FL_READING_TRIM,      /* an empty_cache came first: it waited for every completion */
    FL_READING_TRIM_POOL, /* it was of one private pool, and waited for what is pending there */
    FL_READING_TRIMS,     /* there were several side by side, of one pool each */
    FL_READING_BEFORE,    /* completions ahead of any step with the device had come by themselves */
    FL_READING_DURING,    /* the request waited for all of them */
    FL_READING_PAIR, /* and for the free right before the burst, whose completion comes first */
    FL_READING_COUNT
} fl_reading;

/* Whose stack the first release carries.  A request that releases has its own stack recorded with
 * the release; empty_cache has its own, or the segment's is taken. */
typedef enum fl_origin { FL_ORIGIN_UNKNOWN, FL_ORIGIN_REQUEST, FL_ORIGIN_OTHER } fl_origin;

typedef struct fl_burst {
    uint64_t begin, end; /* half open; `end` is the event it leads to, or the number of events */
    bool has_pair;       /* right before `begin` are a free and its completion */
    bool is_request;     /* `end` is a request */
    bool is_refused;     /* which was refused */
    uint64_t completions;
    uint64_t late_completions; /* of these, after the first step with the device */
    uint64_t first_release, last_release, first_taken, last_taken; /* events; UINT64_MAX: none */
    uint64_t released_segments;                                    /* whole ones */
    uint64_t taken_bytes;
    fl_origin origin;
} fl_burst;

/* What is known at its begin from the replay that runs alongside. */
typedef struct fl_burst_facts {
    bool is_usable; /* the cache could serve the request as it is */
    bool has_split_limit;
    uint64_t pending;        /* frees that wait */
    uint64_t idle_segments;  /* whole ones without a live block: what an empty_cache gives back */
    size_t runs;             /* of releases, each of one pool */
    uint32_t pool;           /* the private one that everything came from that came back; 0: none */
    bool is_pool_of_program; /* a program's own, which is emptied by itself when it is dropped */
    uint64_t idle_in_pool;
    uint64_t reserved_bytes, most_reserved_bytes; /* now, and the most of the whole record */
} fl_burst_facts;

/* The first burst at or after `from`; false where there is none.  A request that was refused has
 * one even if nothing else shows. */
bool fl_burst_find(const fl_columns *columns, uint64_t from, fl_burst *ret_burst);

/* Is there anything to decide? */
static inline bool fl_burst_is_open(const fl_burst *burst)
{
    bool reached_device = burst->is_refused || burst->first_taken != UINT64_MAX;
    return burst->completions > 0 || burst->first_release != UINT64_MAX ||
           (burst->has_pair && reached_device);
}

/* The readings that a burst allows, the most likely first; returns how many.  `facts` NULL: nothing
 * is known. */
size_t fl_burst_readings(const fl_burst *burst, const fl_burst_facts *facts,
                         fl_reading ret_readings[FL_READING_COUNT]);

#endif
