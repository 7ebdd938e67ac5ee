/* Ideas of what a guess got wrong, from the first difference that it leads to.
 *
 * What no file says has left its mark in what the allocator decided.  A difference puts in question
 * whose the memory was that it is about, which pool a refused request went to, and the settings and
 * the limit under which it was decided. */
#ifndef FL_REBUILD_IDEAS_H
#define FL_REBUILD_IDEAS_H

#include "rebuild/rebuild.h"

typedef enum fl_idea_kind {
    FL_IDEA_PLACES,   /* some memory was of another pool */
    FL_IDEA_REFUSED,  /* a refused request went to another pool */
    FL_IDEA_SETTINGS, /* the settings changed before an event */
    FL_IDEA_LIMIT     /* there was a limit, of so many bytes, before an event */
} fl_idea_kind;

/* How far ideas reach beyond what the file names. */
enum fl_idea_reach {
    FL_REACH_POOLS = 1 << 0,  /* to a private pool of which nothing is left */
    FL_REACH_NUMBERS = 1 << 1 /* to any split limit and rounding */
};

typedef struct fl_idea {
    fl_idea_kind kind;
    uint64_t event;
    uint32_t pool;
    uint32_t text;  /* LIMIT: settings that come with it, or FL_NONE */
    uint32_t index; /* REFUSED: in the guess's list */
    uint64_t bytes;
    uint32_t first_place, place_count; /* in `places` of the list */
} fl_idea;

FL_VECTOR(fl_idea_vector, fl_idea);

typedef struct fl_ideas {
    struct fl_idea_vector items;
    struct fl_u32_vector places;
} fl_ideas;

void fl_ideas_deinit(const fl_host *host, fl_ideas *ideas);

/* Lists ideas that a failed attempt at a guess gives, the most likely first; what was listed before
 * is forgotten.  `reach`: of fl_idea_reach.  Texts and a pool
 * may become known to the trace.  FL_ERR_RESOURCE. */
fl_status fl_ideas_find(fl_trace *trace, size_t device, const fl_profile *profile,
                        const fl_guess *guess, const fl_attempt *attempt, unsigned reach,
                        fl_ideas *ideas, fl_error *error);

/* The same for a guess that has a limit and explains the history: each lower limit, the highest
 * first, at which one more release would be collection. */
fl_status fl_ideas_lower_limits(fl_trace *trace, size_t device, const fl_profile *profile,
                                const fl_guess *guess, uint64_t limit, fl_ideas *ideas,
                                fl_error *error);

/* Changes a guess by an idea, and plans it anew.  FL_ERR_RESOURCE. */
fl_status fl_idea_apply(const fl_trace *trace, size_t device, const fl_ideas *ideas,
                        const fl_idea *idea, fl_guess *guess, fl_error *error);

#endif
