/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The recorder for OTF2: what its two files share. See otf2_recorder.c.
 */
#ifndef CLV_OTF2_RECORDER_H
#define CLV_OTF2_RECORDER_H

#include <mpi.h>
#include <otf2/otf2.h>
#include <stdint.h>

/* ---- otf2_recorder_clock.c: stamps, truth, offsets, the component's clock ---- */

/* The host's CLOCK_MONOTONIC, as every part of the program sees it. */
uint64_t recorder_now(void);
/* Also CLOCK_REALTIME of the same moment less the epoch: true where hosts share it, as emulated
 * ones do. */
uint64_t recorder_now_and_truth(int64_t *truth_ns);
void recorder_clock_open(int rank, int n_ranks);
/* Collective: measures every rank's offset to rank 0 once more. */
void recorder_measure_offsets(void);
void recorder_write_offsets(OTF2_DefWriter *writer);
/* Now and then writes what the component knows of this host's clock, as clv-correct reads it. */
void recorder_sample_clock(void);
void recorder_clock_close(void);
double recorder_number(const char *name, double otherwise);
void recorder_boot_id(char *text, size_t n_bytes);
void recorder_time_namespace(char *text, size_t n_bytes);

#endif
