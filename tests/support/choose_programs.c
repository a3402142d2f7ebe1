/* SPDX-License-Identifier: BSD-3-Clause
 * See choose_loop.h.
 */
#include "tests/support/choose_loop.h"

#include "tests/support/random_instance.h"
#include "util/util_min_max.h"

#define MS INT64_C(1000000)

/* ---- programs -------------------------------------------------------------------------------- */

static int64_t fresh(int32_t rank, int32_t call, uint64_t *random)
{
    (void) rank;
    (void) call;
    return 50 * MS + clv_random_between(random, 0, 40 * MS);
}

static int64_t by_rank(int32_t rank, int32_t call, uint64_t *random)
{
    (void) call;
    return 20 * MS + 42 * MS * (5 * rank % LOOP_RANKS) / (LOOP_RANKS - 1) +
           clv_random_between(random, 0, 3 * MS);
}

static int64_t balanced(int32_t rank, int32_t call, uint64_t *random)
{
    (void) rank;
    (void) call;
    return 60 * MS + clv_random_between(random, 0, 2 * MS);
}

static int64_t far_last(int32_t rank, int32_t call, uint64_t *random)
{
    (void) call;
    return 30 * MS + (rank == LOOP_RANKS - 1 ? 60 * MS : 0) + clv_random_between(random, 0, MS);
}

static int64_t alternating(int32_t rank, int32_t call, uint64_t *random)
{
    return by_rank(call % 2 == 0 ? rank : LOOP_RANKS - 1 - rank, call, random);
}

static int64_t drifting(int32_t rank, int32_t call, uint64_t *random)
{
    return balanced(rank, call, random) + rank * call * MS / 50;
}

static int64_t changing(int32_t rank, int32_t call, uint64_t *random)
{
    return call < LOOP_CALLS / 2 ? balanced(rank, call, random) : 2 * far_last(rank, call, random);
}

/* For example a checkpoint. */
static int64_t pausing(int32_t rank, int32_t call, uint64_t *random)
{
    return alternating(rank, call, random) + (call % 30 == 29 ? 1500 * MS : 0);
}

static loop_couple_t none(int32_t call)
{
    (void) call;
    return LOOP_FREE;
}

static loop_couple_t bcast(int32_t call)
{
    (void) call;
    return LOOP_BCAST;
}

static loop_couple_t bound_later(int32_t call)
{
    return call < LOOP_CALLS / 2 ? LOOP_FREE : LOOP_BCAST;
}

static loop_couple_t free_later(int32_t call)
{
    return call < LOOP_CALLS / 2 ? LOOP_BCAST : LOOP_FREE;
}

const loop_program_t loop_programs[LOOP_N_PROGRAMS + 1] = {
    {"fresh, free", fresh, none},
    {"by rank, free", by_rank, none},
    {"balanced, free", balanced, none},
    {"far rank late, free", far_last, none},
    {"alternating, free", alternating, none},
    {"drifting, free", drifting, none},
    {"fresh, bcast", fresh, bcast},
    {"by rank, bcast", by_rank, bcast},
    {"balanced, bcast", balanced, bcast},
    {"far rank late, bcast", far_last, bcast},
    {"alternating, bcast", alternating, bcast},
    {"drifting, bcast", drifting, bcast},
    {"pausing, bcast", pausing, bcast},
    {"changing, free", changing, none},
    {"changing, bcast", changing, bcast},
    {"fresh, bound later", fresh, bound_later},
    {"far rank late, bound later", far_last, bound_later},
    {"fresh, free later", fresh, free_later},
    {"far rank late, free later", far_last, free_later},
    {"pausing, free", pausing, none},
};

loop_setting_t loop_setting_of(int32_t ahead_calls, uint64_t seed)
{
    return (loop_setting_t){
        .config = {.n_ranks = LOOP_RANKS,
                   .guard_permille = 200,
                   .reduce_algorithm = CLV_ALGORITHM_AUTO,
                   .max_cells = CLV_CHOOSE_MAX_CELLS,
                   .cost = {.latency_ns = 60000, .byte_ps = 20000, .early_bytes = 32768}},
        .total_bytes = 2 << 20,
        .ahead_calls = ahead_calls,
        .n_calls = LOOP_CALLS + 1,
        .seed = seed};
}

/* ---- conditions ------------------------------------------------------------------------------ */

/* clang-format off */
#define EACH_PROGRAM(XX, ...)                                                                      \
    XX(0, __VA_ARGS__), XX(1, __VA_ARGS__), XX(2, __VA_ARGS__), XX(3, __VA_ARGS__),                \
    XX(4, __VA_ARGS__), XX(5, __VA_ARGS__), XX(6, __VA_ARGS__), XX(7, __VA_ARGS__),                \
    XX(8, __VA_ARGS__), XX(9, __VA_ARGS__), XX(10, __VA_ARGS__), XX(11, __VA_ARGS__),              \
    XX(12, __VA_ARGS__), XX(13, __VA_ARGS__), XX(14, __VA_ARGS__), XX(15, __VA_ARGS__),            \
    XX(16, __VA_ARGS__), XX(17, __VA_ARGS__), XX(18, __VA_ARGS__)
#define AHEAD(is, ahead) {#ahead " ahead", is, ahead, 0, 0, 0, 0, 0, 0, 0}
#define VOID(is)         {"void", is, 8, 100, 0, 0, 0, 0, 0, 0}
#define HOSTS(is)        {"4 hosts of 4", is, 8, 0, 16, 4, 32768, 0, 0, 0}
#define WAITS(is)        {"8 KiB eager", is, 8, 0, 0, 0, 8192, 0, 0, 0}
#define SPARSE(is)       {"each fifth sampled", is, 8, 0, 0, 0, 0, 0, 100 * MS, 0}
#define ALLREDUCE(is, n) {"allreduce " #n " KiB", is, 1, 0, 0, 0, 0, 0, 0, (int64_t) (n) << 10}
#define SLOW(is)         {"half-rate host", is, 8, 0, 0, 0, 0, 2, 0, 0}

const loop_regime_t loop_regimes[] = {
    EACH_PROGRAM(AHEAD, 0), EACH_PROGRAM(AHEAD, 8),
    VOID(0), VOID(1), VOID(2), VOID(3), VOID(4), VOID(5),
    HOSTS(0), HOSTS(1), HOSTS(2), HOSTS(6), HOSTS(7), HOSTS(8),
    WAITS(0), WAITS(1), WAITS(2), WAITS(6), WAITS(7), WAITS(8),
    SLOW(0), SLOW(1), SLOW(6), SLOW(7),
    SPARSE(0), SPARSE(2), SPARSE(6), SPARSE(8), SPARSE(12), SPARSE(14),
    SPARSE(LOOP_PAUSING_FREE), AHEAD(LOOP_PAUSING_FREE, 0), AHEAD(LOOP_PAUSING_FREE, 8),
    ALLREDUCE(0, 2048), ALLREDUCE(1, 2048), ALLREDUCE(3, 2048), ALLREDUCE(0, 128), ALLREDUCE(3, 128),
    {NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0}
};
/* clang-format on */

loop_setting_t loop_regime_setting(const loop_regime_t *regime, uint64_t seed)
{
    static int32_t place[LOOP_MAX_RANKS];
    loop_setting_t setting = loop_setting_of(regime->ahead_calls, seed);

    setting.void_permille = regime->void_permille;
    setting.slow_rank = 3;
    setting.slow_times = regime->slow_times;
    setting.exchange_ns = regime->exchange_ns;
    if (regime->early_bytes > 0) {
        setting.config.cost.early_bytes = regime->early_bytes;
        setting.has_rendezvous = 1;
    }
    if (regime->allreduce_bytes > 0) {
        setting.collective = CLV_COLLECTIVE_ALLREDUCE;
        setting.total_bytes = regime->allreduce_bytes;
        setting.config.allreduce_algorithm = CLV_ALGORITHM_AUTO;
        setting.config.ahead_bytes = 64 << 20;
        setting.config.cost.latency_ns = 10000;
    }
    if (regime->ranks_per_host > 0) {
        for (int32_t p = 0; p < regime->n_ranks; p++) {
            place[p] = p / regime->ranks_per_host;
        }
        setting.config.n_ranks = regime->n_ranks;
        setting.config.place = place;
        setting.config.cost.near_latency_ns = 5000;
        setting.config.cost.near_byte_ps = 500;
        setting.config.cost.near_early_bytes = 65536;
        setting.config.cost.combine_ps = 500;
    }
    return setting;
}

/* ---- what is compared ------------------------------------------------------------------------ */

int64_t loop_end_iteration_ns(const loop_result_t *result)
{
    return loop_iteration_ns(result, LOOP_CALLS * 3 / 4, LOOP_CALLS);
}

int64_t loop_first_half_iteration_ns(const loop_result_t *result)
{
    return loop_iteration_ns(result, 0, LOOP_CALLS / 2);
}

static const int32_t forced[] = {CLV_ALGORITHM_RANK_CHAIN, CLV_ALGORITHM_CHAIN,
                                 CLV_ALGORITHM_LATEST_FIRST, CLV_ALGORITHM_HOST_CHAINS};
#define N_FORCED ((int) (sizeof forced / sizeof forced[0]))
static const int32_t forced_rings[] = {CLV_ALGORITHM_PLAIN_RING, CLV_ALGORITHM_CUT_RING};

const loop_result_t *loop_run_forced(const loop_program_t *program, const loop_setting_t *given,
                                     int *n_p)
{
    static loop_result_t results[N_FORCED];
    loop_setting_t setting = *given;
    const int is_reduce = setting.collective == CLV_COLLECTIVE_REDUCE;

    *n_p = !is_reduce                     ? 2
           : setting.config.place == NULL ? N_FORCED - 1
                                          : N_FORCED; /* the last one is for hosts */
    for (int i = 0; i < *n_p; i++) {
        if (is_reduce) {
            setting.config.reduce_algorithm = forced[i];
        } else {
            setting.config.allreduce_algorithm = forced_rings[i];
        }
        loop_run(program, &setting, &results[i]);
    }
    return results;
}

loop_best_t loop_best_forced(const loop_program_t *program, const loop_setting_t *setting)
{
    loop_best_t best = {INT64_MAX, INT64_MAX};
    int n_forced;
    const loop_result_t *results = loop_run_forced(program, setting, &n_forced);

    for (int i = 0; i < n_forced; i++) {
        best.end_ns = clv_smaller(best.end_ns, loop_end_iteration_ns(&results[i]));
        best.half_ns = clv_smaller(best.half_ns, loop_first_half_iteration_ns(&results[i]));
    }
    return best;
}

double loop_most_regret(const loop_result_t *result)
{
    double most = 0;

    for (int to = LOOP_CALLS / 2; to <= LOOP_CALLS; to++) {
        const double lost =
            1000.0 * (double) result->regret_ns[to] / (double) result->last_arrival_ns[to];
        most = lost > most ? lost : most;
    }
    return most;
}
