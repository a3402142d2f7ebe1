/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the two files of the OTF2 recorder. See otf2_recorder.c.
 */
#ifndef CLV_OTF2_RECORDER_H
#define CLV_OTF2_RECORDER_H

#include <mpi.h>
#include <otf2/otf2.h>
#include <stdint.h>

/* ---- otf2_recorder_clock.c: stamps, truth, offsets, the component's clock ---- */

/* The host's CLOCK_MONOTONIC, as all of the program sees it. */
uint64_t recorder_now(void);
/* The same, and CLOCK_REALTIME of that moment minus the epoch: the truth if hosts share it, as
 * emulated ones do. */
uint64_t recorder_now_and_truth(int64_t *truth_ns);
void recorder_clock_open(int rank, int n_ranks);
/* Collective: measures every rank's offset to rank 0 once more. */
void recorder_measure_offsets(void);
void recorder_write_offsets(OTF2_DefWriter *writer);
/* From time to time, writes the component's data on this host's clock, in clv-correct's format. */
void recorder_sample_clock(void);
void recorder_clock_close(void);
double recorder_number(const char *name, double otherwise);
void recorder_boot_id(char *text, size_t n_bytes);
void recorder_time_namespace(char *text, size_t n_bytes);

#endif
