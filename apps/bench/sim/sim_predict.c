/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Predictions with an error, and the deviation of that error.
 */
#include "apps/bench/sim/sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Makes draws of the error independent of those of the pattern. */
#define ERROR_SEED  UINT64_C(0x6572726f72)
#define RANDOM_SEED UINT64_C(0x72616e646f6d)

static int64_t largest(const int64_t *ns, int n_ranks)
{
    int64_t most = ns[0];
    for (int p = 1; p < n_ranks; p++) {
        most = ns[p] > most ? ns[p] : most;
    }
    return most;
}

/* A normal deviate, mean 0 and deviation 1, by Box and Muller. */
static double normal(uint64_t seed, uint64_t iteration, uint64_t rank)
{
    double radius = sqrt(-2 * log(1 - clv_pattern_random(seed, iteration, 2 * rank)));

    return radius * cos(2 * M_PI * clv_pattern_random(seed, iteration, 2 * rank + 1));
}

static void add_error(const clv_sim_options_t *options, int n_ranks, int64_t iteration,
                      const int64_t *true_ns, int64_t *predicted_ns)
{
    double deviation_ns = options->delay_ms * 1e6 * strtod(options->error, NULL) / 100;

    for (int p = 0; p < n_ranks; p++) {
        double u =
            normal((uint64_t) options->seed ^ ERROR_SEED, (uint64_t) iteration, (uint64_t) p);
        int64_t guess = true_ns[p] + (int64_t) (deviation_ns * u);
        predicted_ns[p] = guess > 0 ? guess : 0;
    }
}

void clv_sim_predict(const clv_sim_options_t *options, const clv_pattern_t *pattern,
                     int64_t iteration, const int64_t *true_ns, int64_t *predicted_ns)
{
    int n_ranks = pattern->n_ranks;

    if (strcmp(options->error, "random") == 0) {
        clv_pattern_t other = *pattern;
        other.seed ^= RANDOM_SEED;
        clv_pattern_fill(&other, iteration, predicted_ns);
    } else if (strcmp(options->error, "reversed") == 0) {
        int64_t last_ns = largest(true_ns, n_ranks);
        for (int p = 0; p < n_ranks; p++) {
            predicted_ns[p] = last_ns - true_ns[p];
        }
    } else if (strcmp(options->error, "equal") == 0) {
        memset(predicted_ns, 0, (size_t) n_ranks * sizeof *predicted_ns);
    } else {
        add_error(options, n_ranks, iteration, true_ns, predicted_ns);
    }
}

static double sigma_of(int n_ranks, const int64_t *true_ns, const int64_t *predicted_ns)
{
    double sum = 0, squares = 0;

    for (int p = 0; p < n_ranks; p++) {
        double miss = (double) (true_ns[p] - predicted_ns[p]);
        sum += miss;
        squares += miss * miss;
    }
    return sqrt(fmax(0, squares / n_ranks - sum / n_ranks * (sum / n_ranks)));
}

int64_t clv_sim_sigma(double factor, int n_ranks, const int64_t *true_ns,
                      const int64_t *predicted_ns)
{
    return (int64_t) (factor * sigma_of(n_ranks, true_ns, predicted_ns));
}
