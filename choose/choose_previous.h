/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The previous function's time, by the model. PURE; for the decider, and for apps/what_if, which
 * has no other model of an allreduce.
 *
 * Not: its measured time (choose_score.h).
 * Units: ns.
 * Errors: CLV_NO_MEMORY.
 * Memory: none kept.
 * Threads: safe. Cost: for a reduce the replay of a plan of one segment, otherwise O(ranks); for an
 * allreduce on shared hosts O(ranks log ranks).
 */
#ifndef CLV_CHOOSE_PREVIOUS_H
#define CLV_CHOOSE_PREVIOUS_H

#include "choose/choose.h"

/* arrival_ns of all ranks, or NULL: all at once. */
clv_status_t clv_choose_previous(const clv_choose_config_t *config, const clv_pap_stream_key_t *key,
                                 const int64_t *arrival_ns,
                                 clv_choose_decision_t *decision) CLV_MUST_CHECK;

#endif
