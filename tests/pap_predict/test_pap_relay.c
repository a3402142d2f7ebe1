/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The relay: a connection goes for good just after a host has given a record, and what the caller
 * carries over its own transport settles it. Threads and connections are real, the transport is a
 * mailbox; the protocol in all its ways is in tests/sim.
 */
#include <string.h>
#include <sys/socket.h>

#include "pap_predict/pap_process.h"
#include "tests/support/pap_job.h"
#include "tests/support/test.h"
#include "util/util_time.h"

#define LOST_NS  (400 * CLV_NS_PER_MS)
#define MAILS    64
#define MAX_MAIL 4096

static const clv_pap_stream_key_t key = {.total_bytes = 1000};

/* What is on its way to each of the two. */
typedef struct mailbox {
    int n_mails[2];
    size_t n_bytes[2][MAILS];
    unsigned char bytes[2][MAILS][MAX_MAIL];
    int n_listening, n_sent;
} mailbox_t;

static mailbox_t box;

static void listen_to(void *context, int32_t rank)
{
    box.n_listening++;
    assert_ptr_equal(context, &box);
    assert_true(rank == 0 || rank == 1);
}

static void send_to(void *context, int32_t rank, const void *bytes, size_t n_bytes)
{
    const int at = box.n_mails[rank]++;
    assert_ptr_equal(context, &box);
    assert_true(at < MAILS && n_bytes <= clv_pap_relay_bytes(2) && n_bytes <= MAX_MAIL);
    box.n_bytes[rank][at] = n_bytes;
    if (n_bytes > 0) {
        memcpy(box.bytes[rank][at], bytes, n_bytes);
    }
    box.n_sent++;
}

static const clv_pap_relay_ops_t ops = {listen_to, send_to};

/* What a caller does whenever it makes progress. */
static void serve(pair_t *pair, int rank)
{
    const int n_mails = box.n_mails[rank];
    for (int i = 0; i < n_mails; i++) {
        clv_pap_group_relay_take(pair->group[rank], 1 - rank, box.bytes[rank][i],
                                 box.n_bytes[rank][i]);
    }
    box.n_mails[rank] = 0;
    clv_pap_group_relay(pair->group[rank], &ops, &box);
}

static clv_status_t ask(pair_t *pair, int rank, clv_pap_call_t *call, uint32_t *hash_p)
{
    const clv_pap_forecast_t *forecast = NULL;
    const void *node_plans;
    size_t n_bytes;
    clv_status_t status =
        clv_pap_call_forecast(pair->group[rank], call, &forecast, &node_plans, &n_bytes);
    *hash_p = status == CLV_OK ? forecast->hash : 0;
    return status;
}

/* Both ask and serve until both know. */
static void answer(pair_t *pair, clv_pap_call_t calls[2], clv_status_t status[2], uint32_t hash[2])
{
    const int64_t until_ns = clv_local_now_ns() + 120 * CLV_NS_PER_S; /* ends a hang */
    status[0] = status[1] = CLV_AGAIN;
    while ((status[0] == CLV_AGAIN || status[1] == CLV_AGAIN) && clv_local_now_ns() < until_ns) {
        for (int rank = 0; rank < 2; rank++) {
            if (status[rank] == CLV_AGAIN) {
                status[rank] = ask(pair, rank, &calls[rank], &hash[rank]);
            }
            serve(pair, rank);
        }
        job_sleep_ns(50 * CLV_NS_PER_US);
    }
}

static void begin(pair_t *pair, int rank, clv_pap_call_t *call)
{
    clv_pap_call_begin(pair->group[rank], &key, clv_local_now_ns(), call);
}

static void end(pair_t *pair, clv_pap_call_t calls[2])
{
    for (int rank = 0; rank < 2; rank++) {
        clv_pap_call_end(pair->group[rank], &calls[rank], 1, NULL, 0, clv_local_now_ns());
    }
}

static void open_pair(pair_t *pair)
{
    memset(&box, 0, sizeof box);
    assert_int_equal(pair_open(pair, 0, LOST_NS), CLV_OK);
    pair->pap[0]->options.has_relay = pair->pap[1]->options.has_relay = 1;
    assert_int_equal(pair_create(pair), CLV_OK);
    assert_int_equal(pair_attach(pair), CLV_OK);
    assert_int_equal(pair_activate(pair), CLV_OK);
}

static int is_lost(const pair_t *pair)
{
    return clv_pap_group_is_lost(pair->group[0]) && clv_pap_group_is_lost(pair->group[1]);
}

/* 0: the way was lost before that. */
static int learn(pair_t *pair)
{
    for (int i = 0, n_ok = 0; n_ok < 3; i++) {
        clv_pap_call_t calls[2];
        clv_status_t status[2];
        uint32_t hash[2];
        if (is_lost(pair)) {
            return 0;
        }
        assert_true(i < 10000);
        begin(pair, 0, &calls[0]);
        begin(pair, 1, &calls[1]);
        answer(pair, calls, status, hash);
        assert_int_equal(status[0], status[1]);
        n_ok += status[0] == CLV_OK;
        job_sleep_ns(5 * CLV_NS_PER_MS); /* as long as it takes that each call gives a record */
        end(pair, calls);
    }
    return 1;
}

/* A busy machine may hold up both threads for longer than a way may be away: another pair then. */
static void open_and_learn(pair_t *pair)
{
    for (int i = 0; i < 10; i++) {
        open_pair(pair);
        if (learn(pair)) {
            return;
        }
        pair_free(pair);
        pair_close(pair);
    }
    fail_msg("no way stays");
}

/* For good: nobody listens any more. */
static void cut(pair_t *pair)
{
    for (int i = 0; i < 2; i++) {
        clv_net_thread_lock(pair->pap[i]->thread);
        clv_net_listen_close(&pair->pap[i]->server);
        clv_net_thread_unlock(pair->pap[i]->thread);
    }
    for (int fd = 3; fd < 256; fd++) {
        (void) shutdown(fd, SHUT_RDWR); /* also the bells: these are pipes, and stay */
    }
}

/* As ranks that free their communicator do. */
static void leave(pair_t *pair)
{
    const int64_t until_ns = clv_local_now_ns() + 60 * CLV_NS_PER_S; /* ends a hang */
    int is_owing = 1;
    while (is_owing && clv_local_now_ns() < until_ns) {
        is_owing = clv_pap_group_is_owing(pair->group[0]);
        is_owing |= clv_pap_group_is_owing(pair->group[1]);
        serve(pair, 0);
        serve(pair, 1);
    }
    assert_false(is_owing);
}

/* Rank 1's record is on its way when the connection goes. What host 0 made of it, if it came in
 * time, reaches host 1 over the relay; later calls go without, on both. */
static void who_is_in_doubt_asks(void **state)
{
    (void) state;
    int n_relays = 0;
    for (int i = 0; i < 4 || (n_relays == 0 && i < 40); i++) { /* which it is, is chance */
        pair_t pair;
        clv_pap_call_t calls[2];
        clv_status_t status[2];
        uint32_t hash[2];
        open_and_learn(&pair);
        begin(&pair, 1, &calls[1]);
        (void) ask(&pair, 1, &calls[1], &hash[1]); /* rings */
        job_sleep_ns((i % 2) * 20 * CLV_NS_PER_MS);
        cut(&pair);
        begin(&pair, 0, &calls[0]);
        do {
            answer(&pair, calls, status, hash);
            assert_int_not_equal(status[0], CLV_AGAIN);
            assert_int_equal(status[0], status[1]);
            assert_int_equal(hash[0], hash[1]);
            assert_int_not_equal(status[0], CLV_LOST);
            end(&pair, calls);
            job_sleep_ns(CLV_NS_PER_MS);
            begin(&pair, 0, &calls[0]);
            begin(&pair, 1, &calls[1]);
        } while (status[0] != CLV_NONE || !is_lost(&pair));
        answer(&pair, calls, status, hash);
        assert_int_equal(status[0], CLV_NONE);
        assert_int_equal(status[1], CLV_NONE);
        n_relays += clv_pap_relays(pair.pap[1]) > 0;
        assert_int_equal(box.n_sent > 0, clv_pap_relays(pair.pap[1]) > 0);
        end(&pair, calls);
        leave(&pair);
        pair_free(&pair);
        pair_close(&pair);
    }
    assert_true(n_relays > 0);
}

/* Host 1 is away and not in doubt. Host 0 cannot know that, and stays until host 1 says so. */
static void who_is_through_stays_for_a_child_that_is_away(void **state)
{
    (void) state;
    pair_t pair;
    open_and_learn(&pair);
    cut(&pair);
    job_sleep_ns(5 * LOST_NS); /* longer than any time-out */
    serve(&pair, 0);
    assert_true(clv_pap_group_is_owing(pair.group[0]));
    assert_true(clv_pap_group_is_apart(pair.group[0]));
    leave(&pair);
    assert_false(clv_pap_group_is_owing(pair.group[0]));
    assert_true(clv_pap_group_is_apart(pair.group[0])); /* what was sent may come late */
    pair_free(&pair);
    pair_close(&pair);
}

/* As nearly always: nothing is owed, and nothing more can come. */
static void a_connection_that_holds_ends_at_once(void **state)
{
    (void) state;
    for (int i = 0; i < 10; i++) { /* another one if a busy machine has lost it */
        pair_t pair;
        open_and_learn(&pair);
        leave(&pair);
        const int was_lost = is_lost(&pair) || clv_pap_group_is_apart(pair.group[0]) ||
                             clv_pap_group_is_apart(pair.group[1]);
        assert_int_equal(box.n_sent > 0 && !was_lost, 0);
        pair_free(&pair);
        pair_close(&pair);
        if (!was_lost) {
            return;
        }
    }
    fail_msg("no way stays");
}

static void garbage_on_the_relay_is_refused(void **state)
{
    (void) state;
    pair_t pair;
    clv_pap_call_t calls[2];
    clv_status_t status[2];
    uint32_t hash[2];
    const unsigned char garbage[100] = {7};
    open_and_learn(&pair);
    clv_pap_group_relay_take(pair.group[0], 1, garbage, sizeof garbage);
    clv_pap_group_relay_take(pair.group[1], 0, garbage, sizeof garbage);
    begin(&pair, 0, &calls[0]);
    begin(&pair, 1, &calls[1]);
    answer(&pair, calls, status, hash);
    assert_int_equal(status[0], status[1]);
    end(&pair, calls);
    pair_free(&pair);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_in_doubt_asks),
        cmocka_unit_test(who_is_through_stays_for_a_child_that_is_away),
        cmocka_unit_test(a_connection_that_holds_ends_at_once),
        cmocka_unit_test(garbage_on_the_relay_is_refused),
    };
    return clv_run_tests(tests);
}
