/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What of a machine decides how fast a call is ("MPI Benchmarking Revisited", section 5): the
 * processor and its frequency, who sets that, its cache, its networks, how this program was
 * compiled. As keys of a JSON line.
 *
 * Units: Hz and bytes, told by the keys.
 * Errors: none; what a machine does not tell is 0 or empty.
 * Memory: nothing is allocated.
 * Threads: safe.
 */
#ifndef CLV_BENCH_MACHINE_H
#define CLV_BENCH_MACHINE_H

#include "apps/cli/cli_json.h"

/* Reads below root, "" for this machine: another folder in tests. */
void clv_bench_machine_json(clv_json_t *json, const char *root);

#endif
