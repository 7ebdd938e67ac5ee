/* The tokens of a settings text (18.2), one after the other and without a copy of the text.
 *
 * `,` `:` `[` `]` are tokens of their own; everything between them is one.  Blanks do not count,
 * not even inside a token: `Tr ue` is True. */
#ifndef FL_RULES_TOKEN_H
#define FL_RULES_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules/profile.h"

typedef struct fl_tokens {
    const char *at;
    const char *blanks; /* the characters that do not count */
    size_t count;       /* tokens read so far */
} fl_tokens;

/* The characters that a parser passes over, for fl_tokens. */
const char *fl_parser_blanks(fl_parser parser);

typedef struct fl_token {
    const char *start, *end;
    const char *blanks;
    size_t index; /* from 0 */
} fl_token;

/* Moves on to the next token; false, and *ret_token untouched, at the end of the text. */
bool fl_tokens_next(fl_tokens *tokens, fl_token *ret_token);

bool fl_token_is(const fl_token *token, const char *text);

/* The token without blanks, cut after FL_TOKEN_QUOTE - 4 bytes (never inside a UTF-8 character),
 * `...` in place of the rest.  For messages. */
#define FL_TOKEN_QUOTE 64
void fl_token_quote(const fl_token *token, char buffer[FL_TOKEN_QUOTE]);

/* The number that a token begins with, as C's strto family reads it in the C locale.  False where
 * there is none, or where it does not fit: an integer whose absolute value is beyond 64 bits; a
 * real that overflows or is subnormal.  The released allocators ignore what follows a number;
 * *ret_is_all (which may be NULL) says whether nothing does. */
bool fl_token_integer(const fl_token *token, bool *ret_is_negative, uint64_t *ret_absolute);
bool fl_token_real(const fl_token *token, double *ret_value, bool *ret_is_all);

/* The last character that counts, '\0' where there is none, and the token without it. */
char fl_token_last(const fl_token *token, fl_token *ret_rest);

#endif
