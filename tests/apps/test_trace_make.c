/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Made traces: the lateness is the pattern's, the coupling says who begins when and who is held,
 * and the same arguments give the same trace on every machine.
 */
#include "tests/support/test.h"
#include "apps/trace/trace_make.h"
#include "util/util_alloc.h"
#include "util/util_hash.h"
#include "util/util_time.h"

#define N_RANKS 5
#define N_CALLS 30
#define MS      CLV_NS_PER_MS

static clv_pattern_t pattern_of(const char *text)
{
    char reason[256];
    clv_pattern_t pattern = {.n_ranks = N_RANKS,
                             .root = 2,
                             .amount_ns = 50 * MS,
                             .jitter = 0.01,
                             .change_at = N_CALLS / 2,
                             .seed = 11};

    assert_int_equal(clv_pattern_parse(text, &pattern, reason, sizeof reason), CLV_OK);
    return pattern;
}

static clv_trace_t made(const char *text, clv_trace_coupling_t coupling)
{
    const clv_pattern_t pattern = pattern_of(text);
    clv_trace_t trace;

    assert_int_equal(clv_trace_make(&pattern, coupling, N_CALLS, &trace), CLV_OK);
    return trace;
}

static int64_t last_of(const int64_t *ns)
{
    int64_t last_ns = ns[0];

    for (int r = 1; r < N_RANKS; r++) {
        last_ns = ns[r] > last_ns ? ns[r] : last_ns;
    }
    return last_ns;
}

static void must_show_lateness(const char *name, clv_trace_coupling_t coupling)
{
    const clv_pattern_t pattern = pattern_of(name);
    clv_trace_t trace = made(name, coupling);
    int64_t delay_ns[N_RANKS];

    for (int32_t call = 1; call < N_CALLS; call++) {
        const int64_t *arrival_ns = clv_trace_arrivals(&trace, call);
        const int64_t *before_ns = clv_trace_exits(&trace, call - 1);
        const int64_t together_ns = last_of(before_ns);
        clv_pattern_fill(&pattern, call, delay_ns);
        for (int r = 0; r < N_RANKS; r++) {
            const int64_t begin_ns =
                coupling == CLV_TRACE_COUPLE_BARRIER ? together_ns : before_ns[r];
            assert_in_range(arrival_ns[r] - begin_ns - delay_ns[r], 3 * MS, 3 * MS + MS / 2);
        }
    }
    clv_trace_clear(&trace);
}

/* A rank's computing, from when its coupling lets it begin, is a constant, its delay, and
 * jitter. */
static void lateness_is_the_patterns(void **state)
{
    (void) state;
    for (const clv_pattern_kind_t *kind = clv_pattern_kinds; kind->name; kind++) {
        if (strcmp(kind->name, "trace") != 0) {
            must_show_lateness(kind->name, CLV_TRACE_COUPLE_NONE);
            must_show_lateness(kind->name, CLV_TRACE_COUPLE_BARRIER);
            must_show_lateness(kind->name, CLV_TRACE_COUPLE_ALLREDUCE);
        }
    }
}

static void couplings_hold_whom_they_say(void **state)
{
    (void) state;
    for (int c = CLV_TRACE_COUPLE_NONE; c <= CLV_TRACE_COUPLE_ALLREDUCE; c++) {
        clv_trace_t trace = made("uniform", (clv_trace_coupling_t) c);
        for (int32_t call = 0; call < N_CALLS; call++) {
            const int64_t *arrival_ns = clv_trace_arrivals(&trace, call);
            const int64_t *exit_ns = clv_trace_exits(&trace, call);
            for (int r = 0; r < N_RANKS; r++) {
                const int held =
                    c == CLV_TRACE_COUPLE_ALLREDUCE || (c == CLV_TRACE_COUPLE_BARRIER && r == 2);
                const int64_t spent_ns = exit_ns[r] - (held ? last_of(arrival_ns) : arrival_ns[r]);
                assert_in_range(spent_ns, 2 * MS, 6 * MS);
                assert_true(held ? spent_ns >= 5 * MS : spent_ns < 3 * MS);
            }
        }
        clv_trace_clear(&trace);
    }
}

static uint64_t hash_of(const char *text, clv_trace_coupling_t coupling)
{
    clv_trace_t trace = made(text, coupling);
    uint64_t hash = CLV_FNV1A64_BASIS;

    for (int i = 0; i < N_CALLS * N_RANKS; i++) {
        hash = clv_fnv1a64_u32(hash, (uint32_t) trace.arrival_ns[i]);
        hash = clv_fnv1a64_u32(hash, (uint32_t) trace.exit_ns[i]);
    }
    clv_trace_clear(&trace);
    return hash;
}

/* A pattern whose numbers change silently would make old results incomparable. */
static const struct golden {
    const char *pattern;
    clv_trace_coupling_t coupling;
    uint64_t hash;
} goldens[] = {
    {"balanced", CLV_TRACE_COUPLE_BARRIER, UINT64_C(0x480912725638ecfe)},
    {"one-late", CLV_TRACE_COUPLE_BARRIER, UINT64_C(0x9ce06d06a3fd5f8c)},
    {"two-late", CLV_TRACE_COUPLE_BARRIER, UINT64_C(0xadf9ddc81e834ee3)},
    {"rotating-late", CLV_TRACE_COUPLE_BARRIER, UINT64_C(0x843099766ce1f5bc)},
    {"half-late", CLV_TRACE_COUPLE_BARRIER, UINT64_C(0x87bad068502628ab)},
    {"root-late", CLV_TRACE_COUPLE_BARRIER, UINT64_C(0x148686ba4e1af4d8)},
    {"ascending", CLV_TRACE_COUPLE_BARRIER, UINT64_C(0x9fa348989bb147b0)},
    {"descending", CLV_TRACE_COUPLE_BARRIER, UINT64_C(0x047e8cb2f0768861)},
    {"uniform", CLV_TRACE_COUPLE_BARRIER, UINT64_C(0xf6f3e8d81661cbf1)},
    {"exponential", CLV_TRACE_COUPLE_BARRIER, UINT64_C(0xd0ea44a27c23f179)},
    {"repeated", CLV_TRACE_COUPLE_NONE, UINT64_C(0x3ddb4549c5101ee1)},
    {"repeated", CLV_TRACE_COUPLE_BARRIER, UINT64_C(0x18d023af55e3a722)},
    {"repeated", CLV_TRACE_COUPLE_ALLREDUCE, UINT64_C(0x35d9dbf603e94578)},
    {"alternating", CLV_TRACE_COUPLE_BARRIER, UINT64_C(0x20f31fd4c18c17a3)},
    {"periodic", CLV_TRACE_COUPLE_BARRIER, UINT64_C(0x7b80aa48e5641da9)},
    {"drifting", CLV_TRACE_COUPLE_BARRIER, UINT64_C(0x7e9b4f204b0dbd1f)},
    {"sudden", CLV_TRACE_COUPLE_BARRIER, UINT64_C(0x7de4013797bde26c)},
    {"disturbed", CLV_TRACE_COUPLE_BARRIER, UINT64_C(0x00607eecdfa34480)},
};

static void every_pattern_has_its_numbers(void **state)
{
    size_t n_goldens = 0;

    (void) state;
    for (size_t i = 0; i < sizeof goldens / sizeof goldens[0]; i++) {
        const uint64_t hash = hash_of(goldens[i].pattern, goldens[i].coupling);
        if (hash != goldens[i].hash) {
            fail_msg("%s, coupling %d: 0x%016llx", goldens[i].pattern, (int) goldens[i].coupling,
                     (unsigned long long) hash);
        }
        n_goldens += goldens[i].coupling == CLV_TRACE_COUPLE_BARRIER;
    }
    for (const clv_pattern_kind_t *kind = clv_pattern_kinds; kind->name; kind++) {
        n_goldens -= strcmp(kind->name, "trace") != 0;
    }
    assert_int_equal(n_goldens, 0);
}

static int fail_all(void *context, size_t n_bytes)
{
    (void) context;
    (void) n_bytes;
    return 1;
}

static void impossible_traces_are_refused(void **state)
{
    clv_pattern_t pattern = pattern_of("uniform");
    clv_trace_coupling_t coupling;
    clv_trace_t trace;

    (void) state;
    assert_int_equal(clv_trace_make(&pattern, CLV_TRACE_COUPLE_NONE, 0, &trace), CLV_INVALID);
    assert_int_equal(
        clv_trace_make(&pattern, CLV_TRACE_COUPLE_NONE, CLV_TRACE_MAX_CALLS + 1, &trace),
        CLV_LIMIT);
    clv_alloc_set_hook(fail_all, NULL);
    const clv_status_t status = clv_trace_make(&pattern, CLV_TRACE_COUPLE_NONE, 1, &trace);
    clv_alloc_set_hook(NULL, NULL);
    assert_int_equal(status, CLV_NO_MEMORY);
    pattern.n_ranks = 0;
    assert_int_equal(clv_trace_make(&pattern, CLV_TRACE_COUPLE_NONE, 1, &trace), CLV_INVALID);
    assert_int_equal(clv_trace_coupling_parse("allreduce", &coupling), CLV_OK);
    assert_int_equal(coupling, CLV_TRACE_COUPLE_ALLREDUCE);
    assert_int_equal(clv_trace_coupling_parse("bcast", &coupling), CLV_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lateness_is_the_patterns),
        cmocka_unit_test(couplings_hold_whom_they_say),
        cmocka_unit_test(every_pattern_has_its_numbers),
        cmocka_unit_test(impossible_traces_are_refused),
    };
    return clv_run_tests(tests);
}
