/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who holds the heap, to the byte: malloc and the rest of a program that has this file linked in,
 * which note each block that certain code asks for.
 *
 * Of our component: whatever it has asked for. Of Open MPI: what its pools have grown by, the lists
 * of descriptors and the memory for messages that come early. They never shrink, and serve whoever
 * sends next; how far they have grown says how much lay there once, not what is lost.
 * Not: mappings. glibc only.
 *
 * Threads: any. Cost: a lock and a look into a table for each block that is freed.
 */
#ifndef TESTS_OWN_HEAP_H
#define TESTS_OWN_HEAP_H

typedef enum own_heap { OWN_HEAP_OURS, OWN_HEAP_POOLS, N_OWN_HEAPS } own_heap_t;

/* From now on: the component is loaded. */
void own_heap_begin(void);

/* Bytes that it has asked for since and not given back. */
long own_heap_bytes(own_heap_t whose);

#endif
