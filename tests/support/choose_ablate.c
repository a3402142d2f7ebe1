/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs all conditions of the closed loop (choose_loop.h) with some seeds, one line each: condition,
 * program, seed, ns of an iteration in the last quarter and the first half, regret, and a hash of
 * the algorithms that ran. For tests/quality/ablation.sh, which builds it with one number of
 * choose/ changed.
 *
 *     choose_ablate auto|forced FIRST_SEED N_SEEDS [TEXT]
 *
 * forced: times of the best algorithm, no regret; TEXT: only conditions or programs whose name
 * contains it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/choose_loop.h"
#include "util/util_hash.h"

static void print_run(const loop_regime_t *regime, uint64_t seed, int is_forced)
{
    static loop_result_t result;
    const loop_program_t *program = &loop_programs[regime->program];
    const loop_setting_t setting = loop_regime_setting(regime, seed);
    loop_best_t took;
    uint64_t hash = 0;

    if (is_forced) {
        took = loop_best_forced(program, &setting);
        result.last_arrival_ns[0] = 0;
    } else {
        loop_run(program, &setting, &result);
        took.end_ns = loop_end_iteration_ns(&result);
        took.half_ns = loop_first_half_iteration_ns(&result);
        hash =
            clv_fnv1a64(CLV_FNV1A64_BASIS, result.last_arrival_ns, sizeof result.last_arrival_ns);
    }
    printf("%s|%s|%" PRIu64 "|%" PRId64 "|%" PRId64 "|%.3f|%016" PRIx64 "\n", regime->name,
           program->name, seed, took.end_ns, took.half_ns,
           is_forced ? 0.0 : loop_most_regret(&result), hash);
}

static int is_asked_for(const loop_regime_t *regime, const char *text)
{
    return strstr(regime->name, text) != NULL ||
           strstr(loop_programs[regime->program].name, text) != NULL;
}

int main(int argc, char **argv)
{
    uint64_t first, n_seeds;

    if (argc < 4 || argc > 5) {
        fprintf(stderr, "usage: choose_ablate auto|forced FIRST_SEED N_SEEDS [TEXT]\n");
        return 2;
    }
    first = strtoull(argv[2], NULL, 10);
    n_seeds = strtoull(argv[3], NULL, 10);
    for (uint64_t seed = first; seed < first + n_seeds; seed++) {
        for (const loop_regime_t *regime = loop_regimes; regime->name != NULL; regime++) {
            if (argc < 5 || is_asked_for(regime, argv[4])) {
                print_run(regime, seed, strcmp(argv[1], "forced") == 0);
            }
        }
    }
    return 0;
}
