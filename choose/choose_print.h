/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The output of coll_clv_print: which ranks are late, by how much, how certain that is, and the
 * choice made from it.
 *
 * PURE: writes text through a function that the caller gives; no Open MPI. Lines carry no newline.
 * Cost: O(ranks) per forecast, O(sends) per plan; only if the user asked for it.
 *
 * Units: times as text in ms or us, with their unit.
 * Errors: none; a line that is too long is cut.
 * Memory: none; a line is valid during the call of print.
 * Threads: safe, if print is.
 */
#ifndef CLV_CHOOSE_PRINT_H
#define CLV_CHOOSE_PRINT_H

#include <stdbool.h>

#include "choose/choose.h"
#include "schedule/schedule.h"

/* Ranks listed one by one, the latest first; the others are counted. */
#define CLV_CHOOSE_PRINT_RANKS 16

typedef void (*clv_choose_print_line_t)(void *context, const char *line);

/* " to rank 3", " from rank 3" or " by all", as it is for that collective. */
void clv_choose_print_root(char *text, size_t size, int collective, int32_t root);

/* title names the communicator; forecast may be NULL (then only the decision). */
void clv_choose_print_forecast(const char *title, const clv_pap_stream_key_t *key,
                               const clv_pap_forecast_t *forecast,
                               const clv_choose_decision_t *decision, clv_choose_print_line_t print,
                               void *context);

/* "80 allreduces of 64 KiB or more not taken: coll_clv_collectives is reduce": calls by collective,
 * large enough to be planned, that the config does not name; "" where there are none. */
void clv_choose_print_not_taken(char *text, size_t size, const clv_choose_config_t *config,
                                const int64_t n_calls[CLV_N_COLLECTIVES]);

/* "left alone: 80 calls on communicators of more than 4096 ranks; ...": the calls that clv had no
 * place for. n_displaced: how often a kind of call took the place of another one; a few are phases
 * of a program, and not told. "" where there is nothing. */
void clv_choose_print_left_alone(char *text, size_t size, int64_t n_many_ranks,
                                 int64_t n_displaced);

/* "nonblocking sends complete without their receiver up to 16384 bytes between hosts, 8192 inside":
 * the latter only with has_places. */
void clv_choose_print_early(char *text, size_t size, const clv_cost_t *cost, bool has_places);

/* The links as measured and agreed: some lines. */
void clv_choose_print_cost(const char *title, const clv_choose_config_t *config,
                           clv_choose_print_line_t print, void *context);

/* One line per send, "round sender receiver segment", as clv-plan --format tuples. place as in
 * clv_instance_t: unless NULL, the ranks are "rank@place". */
void clv_choose_print_plan(const clv_plan_t *plan, const int32_t *place,
                           clv_choose_print_line_t print, void *context);

#endif
