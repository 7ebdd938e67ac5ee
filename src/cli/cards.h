/* Sizes of cards in words: to the MiB, in which they differ, and unlike other sizes not rounded. */
#ifndef FL_CLI_CARDS_H
#define FL_CLI_CARDS_H

#include <stddef.h>
#include <stdint.h>

/* `6,404 MiB`, or bytes where it is no whole number; `-` for FL_UNLIMITED. */
void fl_card_words(uint64_t bytes, char *buffer, size_t size);

#endif
