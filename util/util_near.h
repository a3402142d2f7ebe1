/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds the name that a user most likely meant by a misspelt one.
 *
 * Units: bytes; names of CLV_NEAR_BYTES at most, longer ones never match.
 * Errors: none.
 * Memory: none.
 * Threads: safe.
 */
#ifndef CLV_UTIL_NEAR_H
#define CLV_UTIL_NEAR_H

#include <stddef.h>

#define CLV_NEAR_BYTES 64

/* The name that takes the fewest changes: a letter left out, added, another one, or two neighbours
 * swapped. If that is more than a third of the word, the first name that contains the word, or that
 * the word contains; NULL: none does. Of equally near ones the first. */
const char *clv_near(const char *word, size_t length, const char *const *names, size_t n_names);

#endif
