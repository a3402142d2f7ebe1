/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Recorded programs replayed: small ones whose times are worked out by hand, and longer ones that
 * were recorded under the model itself, so that what ran must come out as it was.
 */
#include <math.h>

#include "tests/support/random_instance.h"
#include "tests/support/test.h"
#include "util/util_alloc.h"
#include "util/util_min_max.h"
#include "apps/what_if/what_if.h"

#define MS    INT64_C(1000000)
#define MIB   INT64_C(1048576)
#define RANKS 8
#define CALLS 160

static uint64_t seed;
static const int32_t world[RANKS] = {0, 1, 2, 3, 4, 5, 6, 7};
static int64_t arrival_ns[CALLS][RANKS], exit_ns[CALLS][RANKS];
static clv_what_if_call_t calls[CALLS];
static clv_what_if_comm_t comms[2];
static clv_what_if_run_t run;
/* A byte takes 1 ns, nothing else takes any time. */
static const clv_what_if_setting_t plain = {.cost = {.byte_ps = 1000}};

static clv_pap_stream_key_t key_of(int32_t root, int64_t bytes)
{
    return (clv_pap_stream_key_t){.collective = CLV_COLLECTIVE_REDUCE,
                                  .max_segments = 4096,
                                  .root = root,
                                  .total_bytes = bytes};
}

static void begin(int32_t n_ranks)
{
    comms[0] = (clv_what_if_comm_t){.n_ranks = n_ranks, .members = world};
    run = (clv_what_if_run_t){.n_ranks = n_ranks, .n_comms = 1, .comms = comms, .calls = calls};
}

/* The next call of three ranks: arrivals, exits. */
static clv_what_if_call_t *add(const int64_t *arrivals, const int64_t *exits)
{
    const int32_t i = run.n_calls++;
    memcpy(arrival_ns[i], arrivals, 3 * sizeof *arrivals);
    memcpy(exit_ns[i], exits, 3 * sizeof *exits);
    calls[i] = (clv_what_if_call_t){.arrival_ns = arrival_ns[i], .exit_ns = exit_ns[i]};
    return &calls[i];
}

static void add_planned(clv_collective_t collective, int32_t root, int64_t bytes,
                        const int64_t *arrivals, const int64_t *exits)
{
    clv_what_if_call_t *call = add(arrivals, exits);
    call->is_planned = 1;
    call->key = key_of(root, bytes);
    call->key.collective = (int16_t) collective;
}

static void add_reduce(int64_t bytes, const int64_t *arrivals, const int64_t *exits)
{
    add_planned(CLV_COLLECTIVE_REDUCE, 0, bytes, arrivals, exits);
}

static clv_what_if_result_t replay(const clv_what_if_setting_t *setting, clv_what_if_way_t way)
{
    clv_what_if_result_t result = {0};
    assert_int_equal(clv_what_if_replay(&run, setting, way, &result), CLV_OK);
    return result;
}

/* ---- by hand --------------------------------------------------------------------------------- */

static const int64_t at_0[3] = {0, 0, 0}, at_5000[3] = {5000, 5000, 5000},
                     at_5100[3] = {5100, 5100, 5100}, at_5150[3] = {5150, 5150, 5150};

/* 1000 bytes up the tree: rank 1 leaves at 1000, ranks 2 and 0 at 2000. Each computes for 100,
 * and a barrier takes 50 after the last. */
static void computing_follows_the_exit(void **unused)
{
    (void) unused;
    begin(3);
    add_reduce(1000, at_0, at_5000);
    add(at_5100, at_5150);
    const clv_what_if_result_t result = replay(&plain, CLV_WHAT_IF_DEFAULT);
    assert_int_equal(result.run_ns, 2150);
    assert_int_equal(result.n_planned, 1);
    assert_true(result.after_ns == 2000);
    assert_true(result.in_mpi_ns == 5000 / 3.0);
    clv_what_if_result_t measured = {0};
    clv_what_if_measured(&run, &measured);
    assert_int_equal(measured.run_ns, 5150);
    assert_true(measured.after_ns == 5000 && measured.in_mpi_ns == 5000);
}

static void the_bound_is_one_vector_from_the_last(void **unused)
{
    const int64_t arrivals[3] = {0, 0, 700}, exits[3] = {9000, 9000, 9000};
    (void) unused;
    begin(3);
    add_reduce(1000, arrivals, exits);
    assert_int_equal(replay(&plain, CLV_WHAT_IF_BOUND).run_ns, 1700);
    begin(3);
    add_reduce(1000, at_0, at_5000); /* the root is the last */
    assert_int_equal(replay(&plain, CLV_WHAT_IF_BOUND).run_ns, 0);
}

/* Two segments of 32 KiB over two hops. */
static void the_pipeline_is_a_chain(void **unused)
{
    const int64_t exits[3] = {MS, MS, MS};
    clv_what_if_setting_t early = plain;
    (void) unused;
    begin(3);
    add_reduce(65536, at_0, exits);
    assert_int_equal(replay(&plain, CLV_WHAT_IF_PIPELINE).run_ns, 3 * 32768);
    early.early = (clv_early_t){.eager_bytes = 65536, .pair_bytes = MIB};
    const clv_what_if_result_t result = replay(&early, CLV_WHAT_IF_PIPELINE);
    assert_int_equal(result.run_ns, 3 * 32768);
    /* Rank 2 leaves at once, rank 1 when it has handed over the second segment. */
    assert_true(result.in_mpi_ns == 5 * 32768 / 3.0);
}

static void is_replayed(clv_what_if_way_t way, int64_t run_ns, double in_mpi_ns)
{
    const clv_what_if_result_t result = replay(&plain, way);

    assert_int_equal(result.run_ns, run_ns);
    assert_true(result.in_mpi_ns == in_mpi_ns / 3);
}

/* Of three ranks one gives another its vector, both exchange halves twice, and it gets one back. */
static void nobody_leaves_an_allreduce_before_all_have_come(void **unused)
{
    const int64_t arrivals[3] = {0, 0, 700}, exits[3] = {9000, 9000, 9000};
    (void) unused;
    begin(3);
    add_planned(CLV_COLLECTIVE_ALLREDUCE, 0, 1000, arrivals, exits);
    is_replayed(CLV_WHAT_IF_DEFAULT, 3700, 3700 + 3700 + 3000);
    /* The last has its sum from the others before; they need its vector. */
    is_replayed(CLV_WHAT_IF_BOUND, 1700, 1700 + 1700);
    /* A ring: a third of the vector over each of 4 steps. */
    begin(3);
    add_planned(CLV_COLLECTIVE_ALLREDUCE, 0, 3000, at_0, at_5000);
    is_replayed(CLV_WHAT_IF_PIPELINE, 4000, 3 * 4000);
}

/* Rank 0 sends to 1, then to 2; who comes late holds up its sender only. */
static void a_broadcast_waits_for_its_root(void **unused)
{
    const int64_t root_last[3] = {700, 0, 0}, leaf_last[3] = {0, 0, 5000},
                  other_root[3] = {900, 100, 5000};
    const int64_t exits[3] = {9000, 9000, 9000};
    (void) unused;
    begin(3);
    add_planned(CLV_COLLECTIVE_BCAST, 0, 1000, root_last, exits);
    is_replayed(CLV_WHAT_IF_DEFAULT, 2700, 2000 + 1700 + 2700);
    is_replayed(CLV_WHAT_IF_BOUND, 1700, 1700 + 1700);
    begin(3);
    add_planned(CLV_COLLECTIVE_BCAST, 0, 1000, leaf_last, exits);
    is_replayed(CLV_WHAT_IF_DEFAULT, 6000, 6000 + 1000 + 1000);
    is_replayed(CLV_WHAT_IF_BOUND, 5000, 1000);
    begin(3); /* from the root at 100 to rank 2, who comes at 5000, and to rank 0 by 2100 */
    add_planned(CLV_COLLECTIVE_BCAST, 1, 1000, other_root, exits);
    is_replayed(CLV_WHAT_IF_DEFAULT, 5900, 1200 + 5900 + 1000);
    begin(3); /* two segments over two hops */
    add_planned(CLV_COLLECTIVE_BCAST, 0, 65536, at_0, exits);
    assert_int_equal(replay(&plain, CLV_WHAT_IF_PIPELINE).run_ns, 3 * 32768);
}

/* The reduce would let rank 1 go at 1000, ranks 0 and 2 at 2000; computing 100. In the recorded
 * call each rank leaves 10 after whom it waited for. */
static int64_t run_with(clv_what_if_waits_t waits, int32_t root, const int64_t *exits)
{
    begin(3);
    add_reduce(1000, at_0, at_5000);
    clv_what_if_call_t *call = add(at_5100, exits);
    call->waits = waits;
    call->root = root;
    /* and another that shows when each came: nobody waits, each is in it for 1000 times its rank */
    const int64_t next[3] = {exits[0], exits[1], exits[2]};
    const int64_t leave[3] = {exits[0], exits[1] + 100000, exits[2]};
    call = add(next, leave);
    call->waits = CLV_WHAT_IF_WAITS_AT_ROOT;
    call->root = 0;
    return replay(&plain, CLV_WHAT_IF_DEFAULT).run_ns - 100000;
}

/* What rank 1, which comes at 1100, leaves at. */
static void others_wait_for_whom_they_wait(void **unused)
{
    const int64_t exits[3] = {5110, 5110, 5110};
    (void) unused;
    assert_int_equal(run_with(CLV_WHAT_IF_WAITS_ALL, 0, exits), 2110);
    assert_int_equal(run_with(CLV_WHAT_IF_WAITS_ROOT, 0, exits), 2110);
    assert_int_equal(run_with(CLV_WHAT_IF_WAITS_ROOT, 1, exits), 1110);
    assert_int_equal(run_with(CLV_WHAT_IF_WAITS_AT_ROOT, 0, exits), 1110);
    assert_int_equal(run_with(CLV_WHAT_IF_WAITS_AT_ROOT, 1, exits), 2110);
    assert_int_equal(run_with(CLV_WHAT_IF_WAITS_LOWER, 0, exits), 2110);
}

/* ---- recorded under the model ---------------------------------------------------------------- */

static int64_t computing_ns(int32_t rank, uint64_t *state)
{
    return 20 * MS + 42 * MS * (5 * rank % RANKS) / (RANKS - 1) +
           clv_random_between(state, 0, 3 * MS);
}

/* A program of 2 MiB reduces, coupled by a broadcast of 1 ms or not, whose calls ran the tree. */
static void record(const clv_what_if_setting_t *setting, int is_coupled)
{
    const int64_t zeros[RANKS] = {0};
    const clv_instance_t instance = {
        .n_ranks = RANKS, .n_segments = 1, .round_ns = 1, .arrival_ns = zeros};
    clv_exits_t *exits = NULL;
    clv_plan_t *plan = NULL;
    int64_t free_ns[RANKS] = {0};
    uint64_t state = seed;
    begin(RANKS);
    assert_int_equal(clv_plan_make(clv_generator_find("binomial"), &instance, &plan), CLV_OK);
    assert_int_equal(clv_exits_create(RANKS, &setting->early, &exits), CLV_OK);
    while (run.n_calls < CALLS) {
        const int32_t i = run.n_calls++;
        const int is_bcast = is_coupled && i % 2 == 1;
        calls[i] = (clv_what_if_call_t){.is_planned = !is_bcast,
                                        .waits = CLV_WHAT_IF_WAITS_ROOT,
                                        .key = key_of(0, 2 * MIB),
                                        .arrival_ns = arrival_ns[i],
                                        .exit_ns = exit_ns[i]};
        for (int32_t p = 0; p < RANKS; p++) {
            arrival_ns[i][p] = free_ns[p] + (is_bcast ? 0 : computing_ns(p, &state));
            exit_ns[i][p] = clv_larger(arrival_ns[i][p], arrival_ns[i][0]) + MS;
        }
        if (!is_bcast) {
            assert_int_equal(clv_plan_exits(plan, arrival_ns[i], NULL, 2 * MIB, &setting->cost,
                                            exits, NULL, exit_ns[i]),
                             CLV_OK);
        }
        for (int32_t p = 0; p < RANKS; p++) {
            free_ns[p] = exit_ns[i][p];
            clv_exits_leave(exits, p, free_ns[p]);
        }
    }
    clv_plan_free(plan);
    clv_exits_free(exits);
}

static const clv_what_if_setting_t network = {.cost = {.latency_ns = 60000, .byte_ps = 20000},
                                              .early = {65536, MIB, 1000, MIB},
                                              .exchange_ns = 500000};

static void what_ran_comes_out_as_it_was(void **unused)
{
    (void) unused;
    for (int is_coupled = 0; is_coupled < 2; is_coupled++) {
        clv_what_if_result_t measured = {0};
        record(&network, is_coupled);
        clv_what_if_measured(&run, &measured);
        const clv_what_if_result_t model = replay(&network, CLV_WHAT_IF_DEFAULT);
        assert_int_equal(model.run_ns, measured.run_ns);
        assert_true(model.after_ns == measured.after_ns);
        assert_true(model.in_mpi_ns == measured.in_mpi_ns);
        assert_true(model.iteration_ns == measured.iteration_ns);
        assert_int_equal(model.n_planned, is_coupled ? CALLS / 2 : CALLS);
    }
}

/* The order of the ways is known in this program, whose arrivals repeat. */
static void ways_come_in_their_order(void **unused)
{
    (void) unused;
    for (int is_coupled = 0; is_coupled < 2; is_coupled++) {
        clv_what_if_result_t results[CLV_WHAT_IF_N_WAYS];
        int64_t last_arrivals[CLV_WHAT_IF_N_WAYS][CALLS];
        record(&network, is_coupled);
        for (int i = 0; i < CLV_WHAT_IF_N_WAYS; i++) {
            results[i] = (clv_what_if_result_t){.last_arrival_ns = last_arrivals[i]};
            assert_int_equal(clv_what_if_replay(&run, &network, (clv_what_if_way_t) i, &results[i]),
                             CLV_OK);
            const int32_t last = results[i].n_planned - 1;
            const double all_ns = (double) (last_arrivals[i][last] - last_arrivals[i][0]);
            assert_true(fabs(all_ns - results[i].iteration_ns * last) < 1000);
            print_message("# %s: %.3f s, iteration %.2f ms, in MPI %.3f s, after %.2f ms\n",
                          clv_what_if_ways[i].word, (double) results[i].run_ns / 1e9,
                          results[i].iteration_ns / 1e6, results[i].in_mpi_ns / 1e9,
                          results[i].after_ns / 1e6);
        }
        assert_true(results[CLV_WHAT_IF_PIPELINE].iteration_ns <
                    0.9 * results[CLV_WHAT_IF_DEFAULT].iteration_ns);
        assert_true(results[CLV_WHAT_IF_CLV].iteration_ns <
                    1.1 * results[CLV_WHAT_IF_PIPELINE].iteration_ns);
        assert_true(results[CLV_WHAT_IF_KNOWN].iteration_ns <
                    1.05 * results[CLV_WHAT_IF_CLV].iteration_ns);
        assert_true(results[CLV_WHAT_IF_BOUND].iteration_ns <=
                    results[CLV_WHAT_IF_KNOWN].iteration_ns);
    }
}

/* The program above with other collectives of 2 MiB in the place of its reduces. */
static void allreduces_and_broadcasts_gain(void **unused)
{
    (void) unused;
    for (int32_t kind = CLV_COLLECTIVE_ALLREDUCE; kind <= CLV_COLLECTIVE_BCAST; kind++) {
        clv_what_if_result_t results[CLV_WHAT_IF_N_WAYS];
        record(&network, 0);
        for (int32_t i = 0; i < run.n_calls; i++) {
            calls[i].key.collective = (int16_t) kind;
        }
        for (int i = 0; i < CLV_WHAT_IF_N_WAYS; i++) {
            results[i] = replay(&network, (clv_what_if_way_t) i);
            print_message("# %s %s: iteration %.2f ms, in MPI %.3f s, after %.2f ms\n",
                          clv_collectives[kind].name, clv_what_if_ways[i].word,
                          results[i].iteration_ns / 1e6, results[i].in_mpi_ns / 1e9,
                          results[i].after_ns / 1e6);
        }
        assert_true(results[CLV_WHAT_IF_CLV].iteration_ns <
                    0.97 * results[CLV_WHAT_IF_DEFAULT].iteration_ns);
        assert_true(results[CLV_WHAT_IF_BOUND].iteration_ns <=
                    results[CLV_WHAT_IF_KNOWN].iteration_ns);
    }
}

static void an_allreduces_cost_is_found(void **unused)
{
    const int64_t exits[3] = {60000, 60000, 60000}; /* three vectors of 20 us */
    clv_cost_t cost = {.latency_ns = 60000};
    (void) unused;
    begin(3);
    add_planned(CLV_COLLECTIVE_ALLREDUCE, 0, 1000, at_0, exits);
    assert_int_equal(clv_what_if_fit(&run, CLV_WHAT_IF_DEFAULT, 50, &cost), CLV_OK);
    assert_in_range(cost.byte_ps, 19800, 20200);
}

static void the_cost_is_found_in_what_ran(void **unused)
{
    clv_what_if_setting_t setting = network;
    clv_cost_t cost = {.latency_ns = 60000};
    (void) unused;
    for (int64_t byte_ps = 500; byte_ps < 500000; byte_ps *= 7) {
        setting.cost.byte_ps = byte_ps;
        setting.early = (clv_early_t){0};
        record(&setting, 0);
        assert_int_equal(clv_what_if_fit(&run, CLV_WHAT_IF_DEFAULT, 50, &cost), CLV_OK);
        assert_in_range(cost.byte_ps, byte_ps * 99 / 100, byte_ps * 101 / 100 + 2);
        assert_int_equal(cost.latency_ns, 60000);
    }
    run.n_calls = 0;
    assert_int_equal(clv_what_if_fit(&run, CLV_WHAT_IF_DEFAULT, 50, &cost), CLV_NONE);
}

/* Two communicators whose ranks meet in both: the time in one is no computing of the other. */
static void communicators_are_replayed_together(void **unused)
{
    static const int32_t others[2] = {2, 0};
    const int64_t second[3] = {5100, 5100, 0}, second_exit[3] = {5200, 5200, 0};
    const int64_t third[3] = {5300, 5300, 5300}, third_exit[3] = {5300, 5300, 5300};
    (void) unused;
    begin(3);
    comms[1] = (clv_what_if_comm_t){.n_ranks = 2, .members = others};
    run.n_comms = 2;
    add_reduce(1000, at_0, at_5000);
    add(second, second_exit)->comm = 1; /* a barrier of ranks 2 and 0 takes 100 */
    add(third, third_exit);             /* and one of all nothing */
    /* 2000, computing 100, barrier 100, computing 100. Rank 1 is there at 1000 + 300. */
    assert_int_equal(replay(&plain, CLV_WHAT_IF_DEFAULT).run_ns, 2300);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static int n_left;

static int fail_later(void *context, size_t n_bytes)
{
    (void) context;
    (void) n_bytes;
    return n_left-- <= 0;
}

static void lack_of_memory_is_reported(void **unused)
{
    int n_failed = 0;
    (void) unused;
    record(&network, 0);
    run.n_calls = 6;
    for (int32_t i = 0; i < run.n_calls; i++) {
        calls[i].key.collective = (int16_t) (i % CLV_N_COLLECTIVES);
    }
    for (int way = 0; way < CLV_WHAT_IF_N_WAYS; way++) {
        clv_status_t status = CLV_NO_MEMORY;
        for (int allowed = 0; status != CLV_OK; allowed++) {
            clv_what_if_result_t result = {0};
            n_left = allowed;
            clv_alloc_set_hook(fail_later, NULL);
            status = clv_what_if_replay(&run, &network, (clv_what_if_way_t) way, &result);
            clv_alloc_set_hook(NULL, NULL);
            assert_true(status == CLV_OK || status == CLV_NO_MEMORY);
            n_failed += status != CLV_OK;
        }
    }
    assert_true(n_failed > 4 * CLV_WHAT_IF_N_WAYS);
}

static void faithful_is_from_0_8_to_1_25(void **unused)
{
    (void) unused;
    assert_true(clv_what_if_is_faithful(81, 100) && clv_what_if_is_faithful(124, 100));
    assert_false(clv_what_if_is_faithful(79, 100) || clv_what_if_is_faithful(126, 100));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(computing_follows_the_exit),
        cmocka_unit_test(the_bound_is_one_vector_from_the_last),
        cmocka_unit_test(the_pipeline_is_a_chain),
        cmocka_unit_test(nobody_leaves_an_allreduce_before_all_have_come),
        cmocka_unit_test(a_broadcast_waits_for_its_root),
        cmocka_unit_test(others_wait_for_whom_they_wait),
        cmocka_unit_test(what_ran_comes_out_as_it_was),
        cmocka_unit_test(ways_come_in_their_order),
        cmocka_unit_test(allreduces_and_broadcasts_gain),
        cmocka_unit_test(an_allreduces_cost_is_found),
        cmocka_unit_test(the_cost_is_found_in_what_ran),
        cmocka_unit_test(communicators_are_replayed_together),
        cmocka_unit_test(lack_of_memory_is_reported),
        cmocka_unit_test(faithful_is_from_0_8_to_1_25),
    };
    seed = clv_seed();
    return clv_run_tests(tests);
}
