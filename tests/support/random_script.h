/* Random programs as scripts: requests of all size classes, most of them freed again. */
#ifndef RANDOM_SCRIPT_H
#define RANDOM_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

/* Writes `operations` lines into `buffer`, which must have 32 bytes for each; the same for the same
 * seed.  `streams`: how many are used. */
void random_script(uint64_t seed, size_t operations, unsigned streams, char *buffer, size_t size);

#endif
