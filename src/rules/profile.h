/* What differs between PyTorch releases, one row a release.
 *
 * The policy asks the row, never a version number; a new release is a new row in profile.c. */
#ifndef FL_RULES_PROFILE_H
#define FL_RULES_PROFILE_H

#include <fraglab/settings.h>

/* How equal-sized free blocks of a stream are ordered (5.1). */
typedef enum fl_tie {
    FL_TIE_ADDRESS,
    FL_TIE_BLOCK,  /* by age of the block object */
    FL_TIE_SEGMENT /* by age of the segment, then by address */
} fl_tie;

/* When a request that found nothing may use pools marked use-on-oom (12.6). */
typedef enum fl_use_on_oom {
    FL_USE_ON_OOM_NEVER,
    FL_USE_ON_OOM_LAST, /* after releasing everything */
    FL_USE_ON_OOM_EARLY /* before releasing oversize blocks */
} fl_use_on_oom;

/* How a settings text is read (18). */
typedef enum fl_parser {
    FL_PARSER_OLD, /* separators checked, limits must exceed 20 MB */
    FL_PARSER_NEW  /* separators not checked, limits at least one large segment */
} fl_parser;

struct fl_profile {
    const char *release;
    unsigned major, minor, patch;
    fl_tie tie;
    fl_use_on_oom use_on_oom;
    fl_parser parser;
    /* Settings there are (18.4). */
    bool has_large_segment, has_process_fraction, has_no_split;
    /* Sizes (4.1). */
    bool one_division_unrounded, zero_division_accepted;
    /* The limit (13). */
    bool fraction_one_is_no_limit, limit_is_rounded;
    /* Expandable segments (5.2, 10, 11). */
    bool expandable_in_private_pools; /* else those take whole segments, split as expandable ones */
    bool expandable_not_released;     /* collection and release-available pass them by */
    bool small_range_is_dropped; /* a new range smaller than the request leaves nothing behind */
    /* Pools (10.3, 12). */
    bool newest_scope_first;
    bool scope_is_capture;        /* any open scope counts as a graph capture */
    bool trim_refused_in_scope;   /* empty_cache with a scope open fails an assertion */
    bool capture_uses_forgotten;  /* uses recorded in capture make no events */
    bool has_exact_address;       /* requests for an address of their own (17) */
    bool fallback_splits_plainly; /* use-on-oom search and split ignore the expandable setting */
    bool no_split_ends_with_pool; /* else a pool made later under that id is not split either */
};

#endif
