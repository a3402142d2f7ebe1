/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-correct: stamps judged by the truth, where the trace has it (--truth): how late ranks came to
 * collectives, who was last, and the least delays of messages.
 */
#include <math.h>
#include <stdlib.h>

#include "apps/tools/correct/correct.h"
#include "util/util_alloc.h"

typedef struct arrival {
    int64_t truth, stamp;
} arrival_t;

static int by_double(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static void gather_arrivals(const correct_t *correct, clv_clc_which_t which, arrival_t *arrivals)
{
    const clv_clc_trace_t *trace = &correct->trace;
    for (uint32_t i = 0; i < trace->n_tracks; i++) {
        for (int64_t j = 0; j < trace->tracks[i].n_events; j++) {
            const clv_clc_event_t *event = &trace->tracks[i].events[j];
            if (clv_clc_role(event) == CLV_CLC_ENTER) {
                arrival_t *arrival =
                    &arrivals[trace->collectives[event->group].first + clv_clc_member_of(event)];
                arrival->truth = correct->archive.locations[i].truth[j];
                arrival->stamp = which == CLV_CLC_STAMP ? event->stamp : event->corrected;
            }
        }
    }
}

/* Lateness of each member against the one who was last in truth. */
static int64_t judge_collective(const correct_t *correct, const arrival_t *a, uint32_t n,
                                double *errors, correct_truth_t *truth)
{
    uint32_t last = 0, seeming = 0;
    int64_t n_errors = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (a[i].truth == CLV_CLC_UNKNOWN) {
            return 0;
        }
        last = a[i].truth > a[last].truth ? i : last;
        seeming = a[i].stamp > a[seeming].stamp ? i : seeming;
    }
    truth->n_collectives++;
    truth->n_wrong += seeming != last;
    for (uint32_t i = 0; i < n; i++) {
        if (i != last) {
            const double seen =
                (double) (a[i].stamp - a[last].stamp) / correct->archive.ticks_per_ns / 1e3;
            errors[n_errors++] = fabs(seen - (double) (a[i].truth - a[last].truth) / 1e3);
        }
    }
    return n_errors;
}

void correct_judge(const correct_t *correct, clv_clc_which_t which, correct_truth_t *truth)
{
    const clv_clc_trace_t *trace = &correct->trace;
    *truth = (correct_truth_t){0};
    if (correct->archive.truth_attribute == CORRECT_NOBODY) {
        return;
    }
    arrival_t *arrivals = clv_alloc(trace->n_members + 1, sizeof *arrivals);
    double *errors = clv_alloc(trace->n_members + 1, sizeof *errors), sum = 0;
    int64_t n = 0;
    if (arrivals && errors) {
        gather_arrivals(correct, which, arrivals);
        for (uint64_t g = 0; g < trace->n_collectives; g++) {
            const clv_clc_collective_t *collective = &trace->collectives[g];
            const uint32_t members = trace->teams[collective->team].n_members;
            if (collective->flavour != CLV_CLC_FREE && members > 1) {
                n += judge_collective(correct, &arrivals[collective->first], members, &errors[n],
                                      truth);
            }
        }
    }
    for (int64_t i = 0; i < n; i++) {
        sum += errors[i];
    }
    if (n > 0) {
        qsort(errors, (size_t) n, sizeof *errors, by_double);
        truth->mean_us = sum / (double) n;
        truth->median_us = errors[n / 2];
        truth->p95_us = errors[n * 95 / 100];
    }
    clv_free(arrivals);
    clv_free(errors);
}

/* The least delays of messages that were true, for judging latencies. */

void correct_true_delays(const correct_t *correct, double *inter_us, double *intra_us)
{
    const clv_clc_trace_t *trace = &correct->trace;
    int64_t *sent = clv_alloc(trace->n_messages + 1, sizeof *sent);
    int64_t inter = INT64_MAX, intra = INT64_MAX;
    for (int pass = 0; sent && pass < 2; pass++) {
        for (uint32_t i = 0; i < trace->n_tracks; i++) {
            for (int64_t j = 0; j < trace->tracks[i].n_events; j++) {
                const clv_clc_event_t *event = &trace->tracks[i].events[j];
                const int64_t time = correct->archive.locations[i].truth[j];
                if (pass == 0 && clv_clc_role(event) == CLV_CLC_SEND) {
                    sent[event->group] = time;
                } else if (pass == 1 && clv_clc_role(event) == CLV_CLC_RECEIVE) {
                    const clv_clc_message_t *m = &trace->messages[event->group];
                    int64_t *least = m->from == m->to ? &intra : &inter;
                    const int64_t delay = time - sent[event->group];
                    *least = delay < *least ? delay : *least;
                }
            }
        }
    }
    clv_free(sent);
    *inter_us = inter == INT64_MAX ? -1 : (double) inter / 1e3;
    *intra_us = intra == INT64_MAX ? -1 : (double) intra / 1e3;
}
