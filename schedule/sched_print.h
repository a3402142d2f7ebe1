/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shows a plan: for people, for graphviz, as a picture, for a diff.
 *
 * In a plan of MOVEs only, the output does not name the kind. A COPY has the word "copy" in the
 * tuples, a "c" behind its round in the table, dashes in the pictures. Places are shown if there
 * are any.
 *
 * Units: rounds, ranks, segments.
 * Errors: those of the stream are left to the caller (ferror).
 * Memory: none is left.
 * Threads: safe on distinct streams.
 */
#ifndef CLV_SCHED_PRINT_H
#define CLV_SCHED_PRINT_H

#include <stdio.h>

#include "schedule/schedule.h"

/* XX(name, meaning) */
#define CLV_FORMAT_MAP(XX)                                                                         \
    XX(tuples, "round sender receiver segment [copy], one send a line, as in the golden files")    \
    XX(text, "a table: in which rounds each rank sends each segment")                              \
    XX(dot, "a graph for graphviz: ranks and what they send each other")                           \
    XX(hash, "FNV-1a 64 of the tuples")                                                            \
    XX(summary, "goal, rounds, sends, rounds after the last arrival, sends between places")        \
    XX(gantt, "an SVG picture of each send and its time")                                          \
    XX(goal, "GOAL, the input of LogGOPSim: a segment has as many bytes as a round has ns")

typedef struct clv_format {
    const char *name;
    const char *meaning;
    void (*print)(FILE *out, const clv_plan_t *plan, const clv_instance_t *instance);
} clv_format_t;

/* Ends in a row with name NULL. Errors of the stream are left to the caller (ferror). */
extern const clv_format_t clv_formats[];
const clv_format_t *clv_format_find(const char *name);

/* Rounds of the plan after the round in which the last rank arrives, at least 0. */
int32_t clv_plan_rounds_after(const clv_plan_t *plan, const clv_instance_t *instance);

#endif
