/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What clv-bench measured as XDR (RFC 4506): of every call each process with its start and end, as
 * doubles of global seconds (Entering Time, section III-C).
 *
 * By the system's XDR; where there was none when this was built, nothing is written. docs/guide/
 * json.md has the format. Rank 0 only.
 * Units: as told above. Errors: the stream's. Memory: none that stays. Threads: one.
 */
#ifndef CLV_BENCH_XDR_H
#define CLV_BENCH_XDR_H

#include <stdio.h>

#include "apps/bench/measure/bench_report.h"

int clv_bench_xdr_is_built(void);

/* A series for each algorithm; the setup's visits are there. What does not arrive shows in the
 * stream. */
void clv_bench_report_xdr(FILE *out, const clv_bench_results_t *results);

#endif
