/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-correct: compares stamps with the truth, if the trace has it (--truth): the lateness of ranks
 * at collectives, which rank was last, and the minimum delays of messages.
 */
#include <math.h>
#include <stdlib.h>

#include "apps/tools/correct/correct_crew.h"
#include "util/util_alloc.h"

typedef struct arrival {
    int64_t truth, stamp;
} arrival_t;

static int by_double(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Puts the true times into messages and members in place of their stamps. */
static void place_truth(const correct_t *correct)
{
    const clv_clc_trace_t *trace = &correct->trace;
    for (uint32_t i = 0; i < trace->n_tracks; i++) {
        for (int64_t j = 0; j < trace->tracks[i].n_events; j++) {
            const clv_clc_event_t *event = &trace->tracks[i].events[j];
            const clv_clc_role_t role = clv_clc_role(event);
            const int64_t time = correct->archive.locations[i].truth[j];
            if (role == CLV_CLC_SEND) {
                trace->messages[event->group].send = time;
            } else if (role == CLV_CLC_RECEIVE) {
                trace->messages[event->group].receive = time;
            } else if (role == CLV_CLC_ENTER) {
                const uint64_t first = trace->collectives[event->group].first;
                trace->members[first + clv_clc_member_of(event)].enter = time;
            }
        }
    }
    correct_crew_gather(correct);
}

static void gather_arrivals(const correct_t *correct, clv_clc_which_t which, arrival_t *arrivals)
{
    const clv_clc_trace_t *whole = correct->whole;
    place_truth(correct);
    for (uint64_t k = 0; arrivals && k < whole->n_members; k++) {
        arrivals[k].truth = whole->members[k].enter;
    }
    correct_place(correct, which);
    for (uint64_t k = 0; arrivals && k < whole->n_members; k++) {
        arrivals[k].stamp = whole->members[k].enter;
    }
}

/* Lateness of each member relative to the true last one. */
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

static int64_t judge_all(const correct_t *correct, const arrival_t *arrivals, double *errors,
                         correct_truth_t *truth)
{
    const clv_clc_trace_t *trace = correct->whole;
    int64_t n = 0;
    for (uint64_t g = 0; g < trace->n_collectives; g++) {
        const clv_clc_collective_t *collective = &trace->collectives[g];
        const uint32_t members = trace->teams[collective->team].n_members;
        if (collective->flavour != CLV_CLC_FREE && members > 1) {
            n +=
                judge_collective(correct, &arrivals[collective->first], members, &errors[n], truth);
        }
    }
    return n;
}

/* Added in sorted order, so that the result does not depend on which process had which. */
static void set_errors(correct_truth_t *truth, double *errors, size_t n)
{
    double sum = 0;
    if (n == 0) {
        return;
    }
    qsort(errors, n, sizeof *errors, by_double);
    for (size_t i = 0; i < n; i++) {
        sum += errors[i];
    }
    truth->mean_us = sum / (double) n;
    truth->median_us = errors[n / 2];
    truth->p95_us = errors[n * 95 / 100];
}

bool correct_judge(correct_t *correct, clv_clc_which_t which, correct_truth_t *truth)
{
    *truth = (correct_truth_t){0};
    if (correct->archive.truth_attribute == CORRECT_NOBODY) {
        return true;
    }
    arrival_t *arrivals = clv_alloc(correct->whole->n_members + 1, sizeof *arrivals);
    void *errors = clv_alloc(correct->whole->n_members + 1, sizeof(double));
    bool is_good = correct_crew_has(arrivals && errors, "the truth");
    if (is_good) {
        gather_arrivals(correct, which, arrivals);
        size_t n = (size_t) judge_all(correct, arrivals, errors, truth);
        int64_t counts[] = {truth->n_collectives, truth->n_wrong};
        correct_crew_sum(counts, 2);
        truth->n_collectives = counts[0];
        truth->n_wrong = counts[1];
        is_good = correct_crew_collect(&errors, &n, sizeof(double));
        set_errors(truth, errors, n);
    }
    clv_free(arrivals);
    clv_free(errors);
    return is_good;
}

/* To evaluate latencies. */
void correct_find_true_delays(correct_t *correct)
{
    int64_t least[] = {INT64_MAX, INT64_MAX};
    if (correct->archive.truth_attribute == CORRECT_NOBODY) {
        return;
    }
    place_truth(correct);
    for (uint64_t g = 0; g < correct->whole->n_messages; g++) {
        const clv_clc_message_t *m = &correct->whole->messages[g];
        const int64_t delay = m->receive - m->send;
        int64_t *own = &least[m->from == m->to];
        *own = delay < *own ? delay : *own;
    }
    correct_crew_least(least, 2);
    correct->true_inter_us = least[0] == INT64_MAX ? -1 : (double) least[0] / 1e3;
    correct->true_intra_us = least[1] == INT64_MAX ? -1 : (double) least[1] / 1e3;
}
