/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A record on its way through the host's table: what each rank gave is what the leader takes, and
 * only the last to give hears that all are there.
 */
#include <unistd.h>

#include "pap_predict/agree/pap_record.h"
#include "tests/sim/cs_random.h"
#include "tests/support/test.h"

#define N_RANKS 5
#define ROUNDS  200

static cs_random_t generator;

static clv_pap_table_t *new_table(size_t key_table_bytes)
{
    const clv_pap_table_shape_t shape = {
        .n_ranks = N_RANKS, .node_plans_bytes = 64, .key_table_bytes = key_table_bytes};
    clv_pap_table_t *table;
    int fd;
    assert_int_equal(clv_pap_table_create(&shape, 1, &table, &fd), CLV_OK);
    (void) close(fd);
    return table;
}

static clv_pap_local_record_t random_given(int32_t slot, int64_t sequence)
{
    return (clv_pap_local_record_t){.slot = slot,
                                    .generation = (uint32_t) cs_random_u64(&generator),
                                    .sequence = sequence,
                                    .arrival_ns = (int64_t) cs_random_u64(&generator),
                                    .previous_arrival_ns = (int64_t) cs_random_u64(&generator),
                                    .previous_exit_ns = (int64_t) cs_random_u64(&generator),
                                    .previous_choice = (int32_t) cs_random_u64(&generator),
                                    .previous_hash = (uint32_t) cs_random_u64(&generator),
                                    .flags = (uint32_t) cs_random_u64(&generator),
                                    .lead_ns = (uint32_t) cs_random_u64(&generator)};
}

static clv_pap_stream_key_t random_key(void)
{
    return (clv_pap_stream_key_t){
        .root = (int32_t) cs_random_range(&generator, 0, N_RANKS - 1),
        .collective = (int16_t) cs_random_range(&generator, 0, CLV_PAP_MAX_COLLECTIVE),
        .max_segments = (int16_t) cs_random_range(&generator, 0, CLV_PAP_MAX_SEGMENTS),
        .total_bytes = cs_random_range(&generator, 0, CLV_PAP_MAX_TOTAL_BYTES)};
}

static void check_same(const clv_pap_local_record_t *a, const clv_pap_local_record_t *b)
{
    assert_int_equal(a->slot, b->slot);
    assert_int_equal(a->generation, b->generation);
    assert_int_equal(a->sequence, b->sequence);
    assert_int_equal(a->arrival_ns, b->arrival_ns);
    assert_int_equal(a->previous_arrival_ns, b->previous_arrival_ns);
    assert_int_equal(a->previous_exit_ns, b->previous_exit_ns);
    assert_int_equal(a->previous_choice, b->previous_choice);
    assert_int_equal(a->previous_hash, b->previous_hash);
    assert_int_equal(a->flags, b->flags);
    assert_int_equal(a->lead_ns, b->lead_ns);
}

static void one_round(clv_pap_table_t *table, int32_t slot, int64_t sequence)
{
    clv_pap_local_record_t given[N_RANKS], taken;
    const clv_pap_stream_key_t key = random_key();
    for (int32_t rank = 0; rank < N_RANKS; rank++) {
        given[rank] = random_given(slot, sequence);
        assert_int_equal(clv_pap_record_give(table, rank, N_RANKS, &given[rank], &key) != 0,
                         rank == N_RANKS - 1);
    }
    for (int32_t rank = 0; rank < N_RANKS; rank++) {
        assert_int_equal(clv_pap_record_take(table, rank, slot, sequence + 1, &taken), CLV_OK);
        check_same(&taken, &given[rank]);
    }
    const clv_pap_stream_key_t found = clv_pap_record_key(table, slot, sequence + 1);
    assert_int_equal(found.root, key.root);
    assert_int_equal(found.collective, key.collective);
    assert_int_equal(found.max_segments, key.max_segments);
    assert_int_equal(found.total_bytes, key.total_bytes);
}

static void what_is_given_is_taken(void **state)
{
    (void) state;
    clv_pap_table_t *table = new_table(0);
    for (int64_t sequence = 0; sequence < ROUNDS; sequence++) {
        for (int32_t slot = 0; slot < CLV_PAP_MAX_STREAMS; slot++) {
            one_round(table, slot, sequence);
        }
    }
    clv_pap_table_close(table);
}

static void only_the_version_asked_for_is_taken(void **state)
{
    (void) state;
    clv_pap_local_record_t taken;
    clv_pap_table_t *table = new_table(0);
    one_round(table, 3, 6);
    assert_int_equal(clv_pap_record_take(table, 0, 3, 5, &taken), CLV_NONE);
    assert_int_equal(clv_pap_record_take(table, 0, 3, 9, &taken), CLV_NONE);
    assert_int_equal(clv_pap_record_take(table, 0, 2, 7, &taken), CLV_NONE);
    clv_pap_table_close(table);
}

static void write_key_table(clv_pap_table_t *table, int32_t slot, int64_t version, size_t n_bytes)
{
    unsigned char key_table[CLV_PAP_KEY_TABLE_BYTES];
    for (size_t i = 0; i < n_bytes; i++) {
        key_table[i] = (unsigned char) (slot + version + (int64_t) i);
    }
    clv_pap_table_set_keys(table, slot, version, key_table, n_bytes);
}

static void check_key_table(const clv_pap_table_t *table, int32_t slot, int64_t version,
                            size_t n_bytes)
{
    const unsigned char *key_table = clv_pap_table_keys(table, slot, version);
    for (size_t i = 0; i < n_bytes; i++) {
        assert_int_equal(key_table[i], (unsigned char) (slot + version + (int64_t) i));
    }
}

/* Beside records, forecasts and node plans that are all in use. */
static void each_half_has_a_key_table_of_its_own(void **state)
{
    (void) state;
    const size_t n_bytes = (size_t) cs_random_range(&generator, 1, CLV_PAP_KEY_TABLE_BYTES);
    const int64_t predicted_ns[N_RANKS] = {0};
    clv_pap_table_t *table = new_table(n_bytes);
    for (int64_t version = 1; version <= 2; version++) {
        for (int32_t slot = 0; slot < CLV_PAP_MAX_STREAMS; slot++) {
            const clv_pap_forecast_t forecast = {
                .n_ranks = N_RANKS, .version = version, .predicted_ns = predicted_ns};
            write_key_table(table, slot, version, n_bytes);
            one_round(table, slot, version - 1);
            memset(clv_pap_table_node_plans(table, slot, version), 255, 64);
            clv_pap_table_publish(table, slot, &forecast, 64);
        }
    }
    for (int32_t slot = 0; slot < CLV_PAP_MAX_STREAMS; slot++) {
        check_key_table(table, slot, 1, n_bytes);
        check_key_table(table, slot, 2, n_bytes);
    }
    clv_pap_table_set_keys(table, 5, 1, NULL, 0);
    assert_int_equal(*(const unsigned char *) clv_pap_table_keys(table, 5, 1), 0);
    check_key_table(table, 5, 2, n_bytes);
    clv_pap_table_close(table);
}

static void notes_cost_a_table_8_KiB_at_most(void **state)
{
    (void) state;
    clv_pap_table_shape_t shape = {.n_ranks = N_RANKS, .node_plans_bytes = 64};
    const size_t without = clv_pap_table_bytes(&shape);
    shape.key_table_bytes = CLV_PAP_KEY_TABLE_BYTES;
    assert_int_equal(clv_pap_table_bytes(&shape), without + 8192);
    shape.key_table_bytes++;
    assert_int_equal(clv_pap_table_bytes(&shape), 0);
    clv_pap_table_t *table = new_table(0);
    assert_null(clv_pap_table_keys(table, 0, 1));
    clv_pap_table_set_keys(table, 0, 1, "is not written", 1);
    clv_pap_table_close(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_given_is_taken),
        cmocka_unit_test(only_the_version_asked_for_is_taken),
        cmocka_unit_test(each_half_has_a_key_table_of_its_own),
        cmocka_unit_test(notes_cost_a_table_8_KiB_at_most),
    };
    (void) cs_random_seed_from_environment(&generator);
    return clv_run_tests(tests);
}
