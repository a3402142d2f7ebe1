/* SPDX-License-Identifier: BSD-3-Clause
 *
 * libFuzzer target: any bytes through the reader; what it accepts through every generator. All
 * plans must be valid, and the generators of one schedule must agree at every SIMD level. A plan of
 * any goal that the bytes state themselves goes to the validator: it may accept only what the
 * oracle finds right, and that can be hashed, printed and estimated on its places.
 * Sizes are bounded so that an input takes milliseconds.
 */
#include <stdint.h>
#include <stdlib.h>

#include "schedule/sched_cost.h"
#include "schedule/sched_print.h"
#include "schedule/sched_read.h"
#include "schedule/generators/sched_simd.h"
#include "schedule/schedule.h"
#include "tests/fuzz/fuzz_alloc.h"
#include "tests/support/random_plan.h"

enum { MAX_SIZE = 80, MAX_ORACLE_RANKS = 64, MAX_GIVEN_SENDS = 4000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/* The plan's hash, 0 if there is none; aborts on an invalid plan. */
static uint64_t try_generator(const char *name, const clv_instance_t *instance)
{
    clv_plan_t *plan = NULL;
    char reason[160];
    if (clv_plan_make(clv_generator_find(name), instance, &plan) != CLV_OK) {
        return 0;
    }
    if (clv_plan_validate(plan, reason, sizeof reason) != CLV_OK ||
        clv_plan_validate_arrivals(plan, instance, reason, sizeof reason) != CLV_OK) {
        abort();
    }
    uint64_t hash = clv_plan_hash(plan);
    clv_plan_free(plan);
    return hash;
}

static void must_agree(const char *oracle, const char *fast, const clv_instance_t *instance)
{
    if (try_generator(oracle, instance) != try_generator(fast, instance)) {
        abort();
    }
}

static void try_instance(const clv_instance_t *instance)
{
    for (int level = 0; level < CLV_N_SIMD; level++) {
        if (clv_simd_force((clv_simd_t) level) == CLV_OK) {
            must_agree("linear", "bitset", instance);
            must_agree("linear", "segtree", instance);
        }
    }
    clv_simd_force_none();
    must_agree("latest-first-linear", "latest-first", instance);
    must_agree("latest-first-rns-linear", "latest-first-rns", instance);
    (void) try_generator("chain", instance);
}

static void estimate_on_places(const clv_parsed_t *parsed)
{
    static const clv_cost_t cost = {1000, 100, 10, 1, 1, 20, 0, 0};
    clv_estimate_t estimate;
    clv_status_t status =
        clv_plan_estimate(parsed->plan, parsed->arrival_ns, parsed->place, 65536, &cost, &estimate);
    if (status != CLV_OK && status != CLV_OVERFLOW) {
        abort();
    }
}

static void try_given(const clv_parsed_t *parsed)
{
    static FILE *nowhere;
    char reason[200];
    if (clv_plan_validate(parsed->plan, reason, sizeof reason) != CLV_OK) {
        return;
    }
    if (!clv_plan_is_right(parsed->plan)) {
        abort();
    }
    (void) clv_plan_hash(parsed->plan);
    estimate_on_places(parsed);
    nowhere = nowhere == NULL ? fopen("/dev/null", "w") : nowhere;
    for (const clv_format_t *row = clv_formats; row->name != NULL && nowhere != NULL; row++) {
        row->print(nowhere, parsed->plan, &parsed->instance);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    clv_parsed_t parsed;
    clv_parse_error_t error;
    if (clv_instance_parse((const char *) data, n_bytes, &parsed, &error) == CLV_OK) {
        if (parsed.instance.n_ranks <= MAX_SIZE && parsed.instance.n_segments <= MAX_SIZE) {
            try_instance(&parsed.instance);
            if (parsed.plan != NULL && parsed.instance.n_ranks <= MAX_ORACLE_RANKS &&
                parsed.plan->n_sends <= MAX_GIVEN_SENDS) {
                try_given(&parsed);
            }
        }
        clv_parsed_free(&parsed);
    }
    clv_fuzz_alloc_end();
    return 0;
}
