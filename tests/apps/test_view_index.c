/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-view finds streams and communicators by hash: what was put is found, whatever its hash has in
 * common with others, and after few looks however many there are.
 */
#include "tests/support/test.h"

#include "apps/tools/view/view_index.h"
#include "util/util_hash.h"

#define N_PLACES 262144 /* of 64 ranks with all the streams that a rank can have */

static void an_empty_index_has_nothing(void **state)
{
    const view_index_t index = {0};
    size_t probe = 0;

    (void) state;
    assert_int_equal(view_index_next(&index, 0, &probe), -1);
}

static void places_of_one_hash_come_one_after_the_other(void **state)
{
    view_index_t index = {0};
    int is_seen[300] = {0};
    int32_t at;
    size_t probe = 0;

    (void) state;
    for (int32_t i = 0; i < 300; i++) { /* all begin at one slot, every third has hash 5 */
        const uint64_t high = (uint64_t) i << 8;
        assert_true(view_index_put(&index, i % 3 == 0 ? 5 : (high << 32) + high + 5, i));
    }
    while ((at = view_index_next(&index, 5, &probe)) >= 0) {
        assert_int_equal(at % 3, 0);
        is_seen[at]++;
    }
    for (int i = 0; i < 300; i++) {
        assert_int_equal(is_seen[i], i % 3 == 0);
    }
    view_index_free(&index);
}

/* Half of the slots are free, so a search looks at two or three. */
static void many_places_are_found_at_once(void **state)
{
    view_index_t index = {0};
    size_t n_looks = 0;

    (void) state;
    for (int32_t i = 0; i < N_PLACES; i++) {
        const uint64_t hash = clv_fnv1a64(CLV_FNV1A64_BASIS, &i, sizeof i);
        assert_true(view_index_put(&index, hash, i));
    }
    for (int32_t i = 0; i < N_PLACES; i++) {
        const uint64_t hash = clv_fnv1a64(CLV_FNV1A64_BASIS, &i, sizeof i);
        size_t probe = 0;
        assert_int_equal(view_index_next(&index, hash, &probe), i);
        n_looks += probe;
    }
    printf("# %.2f looks a search\n", (double) n_looks / N_PLACES);
    assert_true(n_looks < 4 * (size_t) N_PLACES);
    view_index_free(&index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_index_has_nothing),
        cmocka_unit_test(places_of_one_hash_come_one_after_the_other),
        cmocka_unit_test(many_places_are_found_at_once),
    };
    return clv_run_tests(tests);
}
