/* The memo of a pickle: what each of its objects was, in order.
 *
 * Picklers number every object, and look few of them up again: almost always the texts and frames
 * that come first, or one just made.  So the first entries and the last lie plainly; those between
 * are packed by pages.  A page is a palette, of the few different entries that it has, and for each
 * entry its place in the palette, in as few bits as will do. */
#ifndef FL_READER_MEMO_H
#define FL_READER_MEMO_H

#include "base/vector.h"

/* Numbers are never memoized by a pickler; they are kept where they fit. */
typedef struct memo_entry {
    uint32_t number;
    uint8_t tag; /* MEMO_UNSET, or fl_tag + 1 */
    uint8_t word;
} memo_entry;

#define MEMO_UNSET 0

#define MEMO_HEAD (1 << 18) /* entries that are never packed */
#define MEMO_PAGE 512
#define MEMO_TAIL (8 * MEMO_PAGE)

typedef struct memo_page {
    memo_entry *palette; /* behind it, the entries' places in it; where it has all, none */
    uint16_t colours;
    uint16_t bits; /* of one place: 0, 1, 2, 4 or 8 */
} memo_page;

FL_VECTOR(memo_vector, memo_entry);
FL_VECTOR(memo_page_vector, memo_page);

/* All zero: an empty one. */
typedef struct fl_memo {
    uint64_t count;
    memo_entry *open; /* entries from `first` on, with room up to `end`; NULL before the first */
    uint64_t first, end;
    struct memo_vector head;
    struct memo_page_vector pages; /* from MEMO_HEAD to `first` */
    memo_entry *tail;
} fl_memo;

/* Room for one more entry, in `open`. */
bool fl_memo_reserve(const fl_host *host, fl_memo *memo, fl_error *error);

/* Writes an entry that exists. */
bool fl_memo_put(const fl_host *host, fl_memo *memo, uint64_t index, memo_entry entry,
                 fl_error *error);

/* An entry of a packed page; `index` from MEMO_HEAD to before `first`. */
memo_entry fl_memo_packed(const fl_memo *memo, uint64_t index);

void fl_memo_deinit(const fl_host *host, fl_memo *memo);

/* An entry that exists. */
static inline memo_entry fl_memo_get(const fl_memo *memo, uint64_t index)
{
    if (index >= memo->first)
        return memo->open[index - memo->first];
    return index < MEMO_HEAD ? memo->head.items[index] : fl_memo_packed(memo, index);
}

#endif
