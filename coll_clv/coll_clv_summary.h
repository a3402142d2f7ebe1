/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rank 0's summary at the end of a job (coll_clv_print summary).
 *
 * Threads: in MPI_Finalize.
 */
#ifndef COLL_CLV_SUMMARY_H
#define COLL_CLV_SUMMARY_H

#include "coll_clv/coll_clv.h"

/* Prints the summary, before the channel is closed; silent unless asked for and there was a
 * call. */
void coll_clv_summary(void);

#endif
