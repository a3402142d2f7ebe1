/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parts of the JSON lines that clv-bench writes: flat objects, one a line, keys unique. Each
 * function writes its keys with a comma behind, so a last one without must close the object.
 * No allocation; one thread. clv_json_machine asks MPI for its version, nothing else here does MPI.
 */
#ifndef CLV_BENCH_JSON_H
#define CLV_BENCH_JSON_H

#include <stdio.h>

#include "bench/measure/bench_algorithms.h"

void clv_json_text(FILE *out, const char *key, const char *text);
void clv_json_number(FILE *out, const char *key, double number); /* NaN is null */

/* Version of clv, time, library, kernel, host, processors, load, binding, emulation. */
void clv_json_machine(FILE *out);

/* Name, components, every setting. */
void clv_json_algorithm(FILE *out, const clv_algorithm_t *algorithm);

#endif
