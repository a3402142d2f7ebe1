/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a fuzz target says at its end. With libFuzzer the heap of util_alloc.h is fuzz_alloc.c: one
 * piece of memory, emptied after each input; in the TAP programs it is the ordinary one.
 */
#ifndef CLV_TESTS_FUZZ_ALLOC_H
#define CLV_TESTS_FUZZ_ALLOC_H

#ifdef CLV_FUZZ_ENGINE
/* Aborts when something that was given out was not freed; empties the heap. */
void clv_fuzz_alloc_end(void);
#else
static inline void clv_fuzz_alloc_end(void) {}
#endif

#endif
