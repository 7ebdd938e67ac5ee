/* The keys of a settings text, one row for each way in which releases read one (18.4). */
#ifndef FL_RULES_KEYS_H
#define FL_RULES_KEYS_H

#include "rules/profile.h"
#include "rules/token.h"

typedef enum fl_key_kind {
    FL_KEY_MEGABYTES, /* an integer, clamped to what fits into 64 bits of bytes */
    FL_KEY_REAL,
    FL_KEY_FLAG,      /* True or False */
    FL_KEY_THREADS,   /* a power of two, at most 128 */
    FL_KEY_DIVISIONS, /* a power of two, or a list by size class */
    FL_KEY_BACKEND,
    FL_KEY_RESERVE,     /* a real, or with G one in GiB; anything else is passed over */
    FL_KEY_RESERVE_LIST /* `[name:reserve,...]` */
} fl_key_kind;

/* Which of its walks over the text the new parser reads a key in; the old one has one walk. */
typedef enum fl_key_owner {
    FL_OWNER_DEVICE = 1 << 0,
    FL_OWNER_SEGMENT = 1 << 1, /* the size that other keys are compared with */
    FL_OWNER_COMMON = 1 << 2
} fl_key_owner;

#define FL_KEY_NO_FIELD SIZE_MAX /* checked, but without effect on a replay */

typedef struct fl_key {
    const char *name;
    unsigned first, last; /* releases, as FL_RELEASE(2, 9); last 0: to the newest known */
    fl_key_kind kind;
    fl_key_owner owner;
    size_t field;         /* offset in fl_settings: uint64_t for megabytes, double, bool */
    uint64_t least;       /* megabytes; FL_LEAST_LARGE: one large segment */
    bool is_closed;       /* real: 0 and 1 are in range */
    bool names_value;     /* the refusal ends in `, got N` */
    const char *refusal;  /* out of range, or below it */
    const char *refusal2; /* above the range; divisions: in a list; NULL: as `refusal` */
    const char *missing; /* the old parser's text where the value is missing; NULL: the usual one */
    const char *alias;   /* the name that messages use; NULL: `name` */
} fl_key;

#define FL_LEAST_LARGE           UINT64_MAX
#define FL_RELEASE(major, minor) ((major)*1000u + (minor))

/* The row of that name which this release reads; NULL where it knows none. */
const fl_key *fl_key_find(const fl_profile *profile, const fl_token *name);

/* The names of the keys that this release reads, ending with NULL. */
#define FL_KEYS_MOST 64
void fl_key_names(const fl_profile *profile, const char *ret_names[FL_KEYS_MOST + 1]);

/* The first release that reads a key of that name, as FL_RELEASE; 0 where none does. */
unsigned fl_key_first(const fl_token *name);

#endif
