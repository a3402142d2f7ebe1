/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Layout of partial results: buffers that an operation gets in place of the user's own.
 *
 * What: a user's operation expects elements as the structs that its program has in memory. It
 * writes them whole, with padding and fields that the datatype leaves out, and relies on their
 * alignment. So a buffer has room for all of each element's extent, and COLL_CLV_BUFFER_SLACK bytes
 * around; and its first element has the alignment of the user's, up to a cache line. Open MPI's own
 * buffers end with the last byte that the type describes, plus malloc's rounding. Behind the last
 * buffer there is room for one more: a wrong program may send a message that is too long, and Open
 * MPI may write beyond the end before it reports that.
 * Not: the memory, which is the caller's.
 *
 * Padding at an end of the vector is left out where it is longer than the rest of the buffer and
 * COLL_CLV_BUFFER_PADDING: one column of a large matrix, not a struct.
 *
 * Units: bytes. Thread-safe: no state.
 */
#ifndef COLL_CLV_BUFFERS_H
#define COLL_CLV_BUFFERS_H

#include <stddef.h>

struct ompi_datatype_t;
struct ompi_op_t;

#define COLL_CLV_BUFFER_SLACK   64 /* a cache line; a multiple of any alignment */
#define COLL_CLV_BUFFER_PADDING 65536

typedef struct coll_clv_buffers {
    size_t stride;     /* from one buffer to the next */
    ptrdiff_t lowest;  /* from the address of its first element to the first byte of a buffer */
    size_t above_line; /* bytes of the first element's address past a cache line */
} coll_clv_buffers_t;

/* Each buffer holds `count` elements, at least 1. op: NULL, or the operation that uses them. own:
 * this rank's contribution. An extent may be negative. */
coll_clv_buffers_t coll_clv_buffers_for(const struct ompi_datatype_t *dtype, size_t count,
                                        struct ompi_op_t *op, const void *own);

/* Bytes for n_buffers; SIZE_MAX: not addressable. */
size_t coll_clv_buffers_bytes(const coll_clv_buffers_t *buffers, size_t n_buffers);

/* The address of the first element of the first buffer in that memory; those of further buffers are
 * `stride` apart. */
char *coll_clv_buffers_first(const coll_clv_buffers_t *buffers, char *memory);

#endif
