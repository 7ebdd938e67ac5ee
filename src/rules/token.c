/* Tokens and the numbers in them.  Reals go through strtod, which rounds rightly at any length, but
 * rewritten without a radix character, the only thing in a number that depends on the locale. */
#include "rules/token.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char separators[] = ",:[]";
static const char white_space[] = " \t\n\v\f\r";

static bool token_has(const char *set, char c)
{
    return c != '\0' && strchr(set, c) != NULL;
}

bool fl_tokens_next(fl_tokens *tokens, fl_token *ret_token)
{
    tokens->at += strspn(tokens->at, tokens->blanks);
    if (*tokens->at == '\0')
        return false;
    const char *start = tokens->at;
    tokens->at += token_has(separators, *start) ? 1 : strcspn(start, separators);
    *ret_token = (fl_token){start, tokens->at, tokens->blanks, tokens->count++};
    return true;
}

/* Reading a token character by character; '\0' beyond its end. */
typedef struct token_reader {
    const char *at, *end, *blanks;
    char next;
} token_reader;

static void token_step(token_reader *reader)
{
    while (reader->at < reader->end && token_has(reader->blanks, *reader->at))
        reader->at++;
    reader->next = reader->at < reader->end ? *reader->at++ : '\0';
}

static token_reader token_open(const fl_token *token)
{
    token_reader reader = {token->start, token->end, token->blanks, '\0'};
    token_step(&reader);
    return reader;
}

static bool token_accept(token_reader *reader, const char *set)
{
    bool is_there = token_has(set, reader->next);
    if (is_there)
        token_step(reader);
    return is_there;
}

bool fl_token_is(const fl_token *token, const char *text)
{
    token_reader reader = token_open(token);
    for (; *text != '\0' && reader.next == *text; text++)
        token_step(&reader);
    return *text == '\0' && reader.next == '\0';
}

void fl_token_quote(const fl_token *token, char buffer[FL_TOKEN_QUOTE])
{
    token_reader reader = token_open(token);
    size_t length = 0;
    for (; reader.next != '\0' && length < FL_TOKEN_QUOTE - 4; token_step(&reader))
        buffer[length++] = reader.next;
    if (reader.next != '\0') {
        while (length > 0 && ((unsigned char)reader.next & 0xc0) == 0x80)
            reader.next = buffer[--length];
        memcpy(buffer + length, "...", 3);
        length += 3;
    }
    buffer[length] = '\0';
}

static bool token_read_sign(token_reader *reader)
{
    while (token_accept(reader, white_space))
        ;
    bool is_negative = reader->next == '-';
    token_accept(reader, "+-");
    return is_negative;
}

bool fl_token_integer(const fl_token *token, bool *ret_is_negative, uint64_t *ret_absolute)
{
    token_reader reader = token_open(token);
    bool is_negative = token_read_sign(&reader);
    if (reader.next < '0' || reader.next > '9')
        return false;
    uint64_t value = 0;
    for (; reader.next >= '0' && reader.next <= '9'; token_step(&reader)) {
        uint64_t digit = (uint64_t)(reader.next - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *ret_is_negative = is_negative;
    *ret_absolute = value;
    return true;
}

/* A number being rewritten: its significant digits as an integer, and the exponent that goes with
 * them.  No tie between two doubles needs more digits than fit; of what is cut off only matters
 * whether it is zero, and one digit at the end says so. */
typedef struct digits {
    char text[800];
    size_t length;
    int64_t exponent;
    bool is_number, has_rest;
} digits;

static void digits_add(digits *number, char digit, bool is_fraction, int per_digit)
{
    number->is_number = true;
    if (number->length == 0 && digit == '0') {
        number->exponent -= is_fraction ? per_digit : 0;
    } else if (number->length < sizeof number->text - 1) {
        number->text[number->length++] = digit;
        number->exponent -= is_fraction ? per_digit : 0;
    } else {
        number->has_rest |= digit != '0';
        number->exponent += is_fraction ? 0 : per_digit;
    }
}

/* An exponent without digits is not part of the number. */
static void digits_read_exponent(digits *number, token_reader *reader)
{
    token_reader ahead = *reader;
    token_step(&ahead);
    bool is_negative = ahead.next == '-';
    token_accept(&ahead, "+-");
    if (ahead.next < '0' || ahead.next > '9')
        return;
    int64_t exponent = 0;
    for (; ahead.next >= '0' && ahead.next <= '9'; token_step(&ahead))
        if (exponent < INT64_MAX / 100)
            exponent = exponent * 10 + (ahead.next - '0');
    number->exponent += is_negative ? -exponent : exponent;
    *reader = ahead;
}

/* Digits with a point and an exponent; false where there is no digit. */
static bool token_read_digits(token_reader *reader, bool is_hexadecimal, double *ret_value)
{
    static const char allowed[] = "0123456789abcdefABCDEF";
    digits number = {.length = 0};
    size_t base = is_hexadecimal ? sizeof allowed - 1 : 10;
    int per_digit = is_hexadecimal ? 4 : 1;
    bool is_fraction = false;
    for (;; token_step(reader)) {
        if (reader->next == '.' && !is_fraction)
            is_fraction = true;
        else if (reader->next != '\0' && memchr(allowed, reader->next, base) != NULL)
            digits_add(&number, reader->next, is_fraction, per_digit);
        else
            break;
    }
    if (!number.is_number)
        return false;
    if (token_has(is_hexadecimal ? "pP" : "eE", reader->next))
        digits_read_exponent(&number, reader);
    if (number.has_rest) {
        number.text[number.length++] = '1';
        number.exponent -= per_digit;
    }
    char plain[sizeof number.text + 32];
    snprintf(plain, sizeof plain, "%s0%.*s%c%lld", is_hexadecimal ? "0x" : "", (int)number.length,
             number.text, is_hexadecimal ? 'p' : 'e', (long long)number.exponent);
    *ret_value = strtod(plain, NULL);
    return true;
}

static bool token_accept_word(token_reader *reader, const char *word)
{
    token_reader ahead = *reader;
    for (; *word != '\0'; word++, token_step(&ahead)) {
        bool is_capital = ahead.next >= 'A' && ahead.next <= 'Z';
        if ((is_capital ? ahead.next - 'A' + 'a' : ahead.next) != *word)
            return false;
    }
    *reader = ahead;
    return true;
}

bool fl_token_real(const fl_token *token, double *ret_value, bool *ret_is_all)
{
    token_reader reader = token_open(token);
    bool is_negative = token_read_sign(&reader);
    double value = 0;
    bool is_cut = false;
    if (token_accept_word(&reader, "inf")) {
        value = (double)INFINITY;
    } else if (token_accept_word(&reader, "nan")) {
        value = (double)NAN;
    } else {
        bool is_hexadecimal = token_accept_word(&reader, "0x");
        errno = 0;
        bool is_number = token_read_digits(&reader, is_hexadecimal, &value);
        if ((!is_number && !is_hexadecimal) || errno == ERANGE)
            return false;
        is_cut = !is_number; /* of `0x` only the 0 counts */
    }
    *ret_value = is_negative ? -value : value;
    if (ret_is_all != NULL)
        *ret_is_all = reader.next == '\0' && !is_cut;
    return true;
}

char fl_token_last(const fl_token *token, fl_token *ret_rest)
{
    *ret_rest = *token;
    while (ret_rest->end > ret_rest->start) {
        char last = *--ret_rest->end;
        if (!token_has(ret_rest->blanks, last))
            return last;
    }
    return '\0';
}
