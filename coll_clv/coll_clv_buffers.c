/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Layout of buffers for partial results (see coll_clv_buffers.h).
 */
#include "ompi_config.h"

#include "coll_clv/coll_clv_buffers.h"

#include <stdbool.h>
#include <stdint.h>

#include "mpi.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/op/op.h"

#include "util/util_min_max.h"

/* Bytes of a vector, relative to the address of its first element. */
typedef struct range {
    ptrdiff_t lowest;
    ptrdiff_t end;
} range_t;

static bool is_padding(ptrdiff_t n_bytes, const range_t *described)
{
    return n_bytes <= clv_larger(described->end - described->lowest, COLL_CLV_BUFFER_PADDING);
}

static range_t described_range(const struct ompi_datatype_t *dtype, ptrdiff_t walk)
{
    ptrdiff_t true_lb, true_extent;

    ompi_datatype_get_true_extent(dtype, &true_lb, &true_extent);
    return (range_t){.lowest = true_lb + clv_smaller(walk, 0),
                     .end = true_lb + true_extent + clv_larger(walk, 0)};
}

/* The range of the vector with COLL_CLV_BUFFER_PADDING at both ends. */
static range_t padded_range(const struct ompi_datatype_t *dtype, size_t count)
{
    ptrdiff_t lb, extent;

    ompi_datatype_get_extent(dtype, &lb, &extent);
    const ptrdiff_t walk = (ptrdiff_t) (count - 1) * extent;
    const ptrdiff_t lowest = lb + clv_smaller(walk, 0) + clv_smaller(extent, 0);
    const ptrdiff_t end = lb + clv_larger(walk, 0) + clv_larger(extent, 0);
    range_t range = described_range(dtype, walk);
    const range_t described = range;

    if (is_padding(described.lowest - lowest, &described)) {
        range.lowest = clv_smaller(lowest, described.lowest);
    }
    if (is_padding(end - described.end, &described)) {
        range.end = clv_larger(end, described.end);
    }
    return range;
}

/* An element without data has no meaningful bounds. */
static range_t range_of(const struct ompi_datatype_t *dtype, size_t count)
{
    size_t element_bytes;

    ompi_datatype_type_size(dtype, &element_bytes);
    return 0 == element_bytes ? (range_t){0} : padded_range(dtype, count);
}

static size_t whole_lines(size_t n_bytes)
{
    return (n_bytes + COLL_CLV_BUFFER_SLACK - 1) / COLL_CLV_BUFFER_SLACK * COLL_CLV_BUFFER_SLACK;
}

/* Predefined operations run fastest where the data begins at a cache line. */
coll_clv_buffers_t coll_clv_buffers_for(const struct ompi_datatype_t *dtype, size_t count,
                                        struct ompi_op_t *op, const void *own)
{
    const range_t range = range_of(dtype, count);
    const bool is_users = NULL != op && !ompi_op_is_intrinsic(op);
    const uintptr_t like = is_users ? (uintptr_t) own : 0 - (uintptr_t) range.lowest;

    return (coll_clv_buffers_t){.stride = whole_lines((size_t) (range.end - range.lowest)) +
                                          COLL_CLV_BUFFER_SLACK,
                                .lowest = range.lowest,
                                .above_line = like % COLL_CLV_BUFFER_SLACK};
}

/* Slack before the first buffer, as much again to align it, and room for one more buffer. */
size_t coll_clv_buffers_bytes(const coll_clv_buffers_t *buffers, size_t n_buffers)
{
    const size_t more = 2 * COLL_CLV_BUFFER_SLACK;

    return n_buffers >= (SIZE_MAX - more) / buffers->stride
               ? SIZE_MAX
               : (n_buffers + 1) * buffers->stride + more;
}

char *coll_clv_buffers_first(const coll_clv_buffers_t *buffers, char *memory)
{
    char *first = memory + COLL_CLV_BUFFER_SLACK - buffers->lowest;

    return first + (buffers->above_line - (uintptr_t) first) % COLL_CLV_BUFFER_SLACK;
}
