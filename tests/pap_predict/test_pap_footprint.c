/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a communicator costs in memory, counted: bytes asked from the heap from create to activate,
 * and pages that a stream uses of the host's table. The figures of docs/design/channel.md are
 * printed here.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "pap_predict/pap_endpoint.h"
#include "pap_predict/predict/pap_predictors.h"
#include "pap_predict/pap_process.h"
#include "pap_predict/agree/pap_table.h"
#include "tests/support/test.h"
#include "util/util_alloc.h"
#include "util/util_time.h"

#define MAX_RANKS 64
#define HOSTS     512 /* two levels of communicators: of 65,536 ranks, ... */
#define PER_HOST  128 /* ... so many on a host */
#define WINDOW    8

static int64_t n_bytes_asked;

static int count(void *context, size_t n_bytes)
{
    (void) context;
    n_bytes_asked += (int64_t) n_bytes;
    return 0;
}

/* Two ranks of a job of n_ranks, in this process. The others' endpoint records are the second
 * one's. */
typedef struct job {
    clv_pap_t *pap[2];
    clv_pap_group_t *group[2];
    unsigned char endpoints[HOSTS * CLV_PAP_ENDPOINT_BYTES];
} job_t;

static void set_up(job_t *job, int32_t n_ranks, int has_host_each)
{
    clv_pap_endpoint_t endpoint;
    const clv_pap_options_t options = {.sma_window = WINDOW,
                                       .predictor = clv_pap_predictor_best,
                                       .connect_timeout_ns = CLV_NS_PER_S};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(clv_pap_open(&options, &job->pap[i]), CLV_OK);
        clv_pap_pretend_host(job->pap[i], has_host_each ? (uint32_t) i + 1 : 1);
        assert_int_equal(clv_pap_group_create(job->pap[i], n_ranks, i, NULL,
                                              job->endpoints + i * CLV_PAP_ENDPOINT_BYTES,
                                              &job->group[i]),
                         CLV_OK);
    }
    assert_int_equal(clv_pap_endpoint_decode(job->endpoints + CLV_PAP_ENDPOINT_BYTES, &endpoint),
                     CLV_OK);
    for (int32_t rank = 2; rank < n_ranks; rank++) {
        endpoint.pretend_host = has_host_each ? (uint32_t) rank + 1 : 1;
        clv_pap_endpoint_encode(&endpoint, job->endpoints + rank * CLV_PAP_ENDPOINT_BYTES);
    }
}

static void take_down(job_t *job)
{
    for (int i = 1; i >= 0; i--) {
        clv_pap_group_free(job->group[i]);
        clv_pap_close(job->pap[i]);
    }
}

/* What group i asks for, its create taken from a third one. */
static int64_t bytes_of(int i, int32_t n_ranks, int has_host_each)
{
    static job_t job;
    unsigned char endpoint[CLV_PAP_ENDPOINT_BYTES];
    clv_pap_group_t *third = NULL;
    memset(&job, 0, sizeof job);
    set_up(&job, n_ranks, has_host_each);
    n_bytes_asked = 0;
    clv_alloc_set_hook(count, NULL);
    assert_int_equal(clv_pap_group_create(job.pap[i], n_ranks, i, NULL, endpoint, &third), CLV_OK);
    assert_int_equal(
        clv_pap_group_attach(job.group[i], job.endpoints, CLV_PAP_ENDPOINT_BYTES, NULL), CLV_OK);
    clv_alloc_set_hook(NULL, NULL);
    clv_pap_group_free(third);
    take_down(&job);
    return n_bytes_asked;
}

/* The same from each rank to the next: a straight line, whatever its slope. From FIRST on; below,
 * the longest message is one whose length does not depend on the ranks. */
static void check_straight(const char *who, int i, int has_host_each)
{
    enum { FIRST = 4 };
    int64_t bytes[MAX_RANKS + 1];
    for (int32_t n_ranks = FIRST; n_ranks <= MAX_RANKS; n_ranks++) {
        bytes[n_ranks] = bytes_of(i, n_ranks, has_host_each);
        if (n_ranks > FIRST) {
            assert_int_equal(bytes[n_ranks] - bytes[n_ranks - 1], bytes[FIRST + 1] - bytes[FIRST]);
        }
    }
    const int64_t slope = bytes[FIRST + 1] - bytes[FIRST];
    printf("# %s: %lld bytes and %lld per rank\n", who, (long long) (bytes[FIRST] - FIRST * slope),
           (long long) slope);
    assert_true(bytes_of(i, 2, has_host_each) <= bytes[FIRST]);
}

static void the_heap_grows_in_a_straight_line(void **state)
{
    (void) state;
    check_straight("a node's leader, all ranks on its node", 0, 0);
    check_straight("another rank of the node", 1, 0);
    check_straight("a leader, one rank per node", 1, 1);
}

/* Of 65,536 ranks as two levels: the leaders' communicator, and the host's. */
static void two_levels_grow_with_hosts(void **state)
{
    const int64_t leaders = bytes_of(1, HOSTS, 1), host = bytes_of(0, PER_HOST, 0);
    const int64_t other = bytes_of(1, PER_HOST, 0);
    const int64_t host_of = HOSTS * PER_HOST * (int64_t) sizeof(int32_t); /* coll_clv_levels.c */

    (void) state;
    printf(
        "# two levels, %d ranks on %d hosts: a leader %lld kB for the leaders, %lld for its host, "
        "%lld by rank; another rank %lld\n",
        HOSTS * PER_HOST, HOSTS, (long long) leaders / 1000, (long long) host / 1000,
        (long long) host_of / 1000, (long long) other / 1000);
    assert_true(leaders <= 64000 + HOSTS * 9000 + PER_HOST * 500);
    assert_true(leaders + host + host_of <= 2 * 64000 + (HOSTS + PER_HOST) * INT64_C(9500));
    assert_true(other <= 16000);
}

static void use_stream(clv_pap_table_t *table, int32_t slot, int32_t n_ranks)
{
    const uint64_t record[CLV_PAP_RECORD_WORDS] = {1};
    const int64_t predicted_ns[MAX_RANKS] = {0};
    for (int64_t version = 1; version <= 2; version++) {
        const clv_pap_forecast_t forecast = {
            .n_ranks = n_ranks, .version = version, .predicted_ns = predicted_ns};
        for (int32_t rank = 0; rank < n_ranks; rank++) {
            (void) clv_pap_table_give(table, rank, n_ranks, slot, version, record);
        }
        clv_pap_table_publish(table, slot, &forecast, 0);
    }
}

static int64_t table_bytes(int32_t n_ranks, int32_t n_streams)
{
    const clv_pap_table_shape_t shape = {.n_ranks = n_ranks, .node_plans_bytes = 1 << 20};
    clv_pap_table_t *table;
    struct stat status;
    int fd;
    assert_int_equal(clv_pap_table_create(&shape, 1, &table, &fd), CLV_OK);
    for (int32_t slot = 0; slot < n_streams; slot++) {
        use_stream(table, slot, n_ranks);
    }
    assert_int_equal(fstat(fd, &status), 0);
    (void) close(fd);
    clv_pap_table_close(table);
    return (int64_t) status.st_blocks * 512;
}

static void a_table_uses_the_pages_it_needs(void **state)
{
    (void) state;
    const int64_t page = sysconf(_SC_PAGESIZE);
    for (int32_t n_ranks = 2; n_ranks <= MAX_RANKS; n_ranks *= 2) {
        const int64_t unused = table_bytes(n_ranks, 0), one = table_bytes(n_ranks, 1);
        const int64_t all = table_bytes(n_ranks, CLV_PAP_MAX_STREAMS);
        const int64_t records = n_ranks * 128, forecasts = 2 * n_ranks * 8;
        assert_true(unused <= page);
        assert_true(one <=
                    3 * page + records + forecasts + 4 * page); /* what is begun counts whole */
        assert_true(all <= 3 * page + CLV_PAP_MAX_STREAMS * (records + forecasts + 4 * page));
        printf("# table of %d ranks: %lld kB unused, %lld with a stream, %lld with all 16\n",
               n_ranks, (long long) unused / 1024, (long long) one / 1024, (long long) all / 1024);
    }
}

/* Where pages are promised only as there are any, all of them are taken before one is touched. */
static void a_table_can_be_taken_whole(void **state)
{
    const clv_pap_table_shape_t shape = {.n_ranks = 2, .node_plans_bytes = 4096};
    clv_pap_table_t *table;
    struct stat status;
    int fd;
    (void) state;
    assert_int_equal(clv_pap_table_create(&shape, 1, &table, &fd), CLV_OK);
    assert_int_equal(clv_pap_table_reserve(table, fd, 1), CLV_OK);
    assert_int_equal(fstat(fd, &status), 0);
    assert_true((size_t) status.st_blocks * 512 >= clv_pap_table_bytes(&shape));
    (void) close(fd);
    clv_pap_table_close(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_heap_grows_in_a_straight_line),
        cmocka_unit_test(two_levels_grow_with_hosts),
        cmocka_unit_test(a_table_uses_the_pages_it_needs),
        cmocka_unit_test(a_table_can_be_taken_whole),
    };
    return clv_run_tests(tests);
}
