/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Measures the links between the ranks of a communicator, once, over the PML.
 *
 * Every rank streams segments to the rank half the communicator away and receives as many, as all
 * ranks do in a round of a plan; it also measures the time of a single message with its neighbour.
 * The later part of a stream counts: buffers and shapers let the first bytes through too fast.
 *
 * Where ranks share links, there are three phases, separated by barriers so that they do not
 * disturb each other: first the above among the first ranks of hosts, one per link; then all ranks
 * within their hosts; then all combine a segment of doubles.
 *
 * Then, between neighbouring hosts and within each, which messages leave without their receiver
 * (coll_clv_early.h). At last, on all communicators, short messages around all ranks at once: the
 * fixed cost of a segment, with everything that ranks share, cores too (docs/decisions/0010).
 *
 * Cost, once for the communicators over the same processes (coll_clv_known.h): a tenth of the
 * vector of the call that waits for it, but at least 352 KiB (the least that gives a useful rate:
 * docs/decisions/0006) and at most 512; where links are shared also three times that within hosts;
 * 60 KiB from every other rank of these; and 16 short messages. The result is this rank's own, -1
 * where it did not measure; the caller agrees on one (clv_cost_agree).
 */
#ifndef COLL_CLV_CALIBRATE_H
#define COLL_CLV_CALIBRATE_H

#include "ompi_config.h"

#include "mpi.h"
#include "ompi/communicator/communicator.h"

#include "schedule/sched_cost.h"

#define COLL_CLV_CALIBRATE_SEGMENT  32768
#define COLL_CLV_CALIBRATE_MESSAGES 16 /* of a stream, at most */
#define COLL_CLV_CALIBRATE_BYTES    ((COLL_CLV_CALIBRATE_MESSAGES + 1) * COLL_CLV_CALIBRATE_SEGMENT)

/* Messages of the stream that coll_clv_calibrate measures with, for a call of vector_bytes. */
int coll_clv_calibrate_messages(int64_t vector_bytes);

/* place: of each rank, numbered from 0 in the order of their first ranks; NULL: no link is shared.
 * vector_bytes: of the call, the same on all ranks. *buffer_p: COLL_CLV_CALIBRATE_BYTES of zeros,
 * which are combined as doubles. The caller allocates it, so that a rank without memory is found
 * before the first message. It becomes NULL if Open MPI may still use it after an error; then
 * nobody frees it. */
int coll_clv_calibrate(struct ompi_communicator_t *comm, const int32_t *place, int64_t vector_bytes,
                       char **buffer_p, clv_cost_t *cost_p);

#endif
