/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is known of links: the newest few groups of processes, each by what was said of it last.
 */
#include "coll_clv/coll_clv_known.h"

#include <stdbool.h>

#include "tests/support/test.h"

static coll_clv_known_t known_of(uint64_t processes, int32_t n_messages, int64_t latency_ns)
{
    return (coll_clv_known_t){.processes = processes,
                              .n_messages = n_messages,
                              .has_places = 1,
                              .cost = {.latency_ns = latency_ns}};
}

static void put(uint64_t processes, int32_t n_messages, int64_t latency_ns)
{
    const coll_clv_known_t known = known_of(processes, n_messages, latency_ns);
    coll_clv_known_put(&known);
}

static void nothing_is_known_at_first(void **state)
{
    (void) state;
    assert_int_equal(coll_clv_known_find(0).n_messages, 0);
    assert_int_equal(coll_clv_known_find(7).n_messages, 0);
    assert_int_equal(coll_clv_known_find(7).processes, 7);
}

static void what_was_put_is_found_by_its_processes_alone(void **state)
{
    const coll_clv_known_t expected = known_of(7, 11, 1000);
    coll_clv_known_t found;

    (void) state;
    put(7, 11, 1000);
    put(8, 12, 2000);
    found = coll_clv_known_find(7);
    assert_memory_equal(&found, &expected, sizeof found);
    assert_int_equal(coll_clv_known_find(8).cost.latency_ns, 2000);
    assert_int_equal(coll_clv_known_find(9).n_messages, 0);
}

static void the_newest_word_on_processes_counts(void **state)
{
    (void) state;
    put(7, 11, 1000);
    put(7, 16, 3000);
    assert_int_equal(coll_clv_known_find(7).n_messages, 16);
    assert_int_equal(coll_clv_known_find(7).cost.latency_ns, 3000);
}

static void the_oldest_groups_are_forgotten(void **state)
{
    const uint64_t first = 100, n_put = 3 * COLL_CLV_KNOWN_MAX + 1;

    (void) state;
    for (uint64_t p = first; p < first + n_put; p++) {
        put(p, 11, (int64_t) p);
    }
    for (uint64_t p = first; p < first + n_put; p++) {
        const bool is_new = p + COLL_CLV_KNOWN_MAX >= first + n_put;
        assert_int_equal(coll_clv_known_find(p).n_messages, is_new ? 11 : 0);
        assert_int_equal(coll_clv_known_find(p).cost.latency_ns, is_new ? (int64_t) p : 0);
    }
}

static void there_is_no_padding(void **state)
{
    (void) state;
    assert_int_equal(sizeof(coll_clv_known_t),
                     sizeof(uint64_t) + 2 * sizeof(int32_t) + 8 * sizeof(int64_t));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_known_at_first),
        cmocka_unit_test(what_was_put_is_found_by_its_processes_alone),
        cmocka_unit_test(the_newest_word_on_processes_counts),
        cmocka_unit_test(the_oldest_groups_are_forgotten),
        cmocka_unit_test(there_is_no_padding),
    };
    return clv_run_tests(tests);
}
