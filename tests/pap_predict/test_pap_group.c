/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The whole of pap_predict in real processes: shared table, thread, sockets, clock. "Hosts" are
 * pretended, so that connections run over this machine's own addresses.
 */
#include <stdatomic.h>

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/pap_job.h"
#include "tests/support/test.h"
#include "util/util_time.h"

static pap_job_options_t usual(int32_t n_ranks, int32_t n_hosts)
{
    return (pap_job_options_t){.n_ranks = n_ranks,
                               .n_hosts = n_hosts,
                               .n_calls = 120,
                               .n_streams = 1,
                               .work_ns = 2 * CLV_NS_PER_MS,
                               .late_ns = 500 * CLV_NS_PER_US,
                               .connect_timeout_ns = 10 * CLV_NS_PER_S,
                               .wait_ns = 20 * CLV_NS_PER_S};
}

/* Runs it; every rank must end well, and all agree. */
static pap_job_t *run(const pap_job_options_t *options)
{
    pap_job_t *job = job_new(options);
    job_run(job, 60);
    for (int32_t rank = 0; rank < options->n_ranks; rank++) {
        assert_int_equal(job->exits[rank], 0);
        assert_int_equal(job->n_fds_after[rank], job->n_fds_before[rank]);
    }
    assert_int_equal(job_count_disagreements(job), 0);
    assert_int_equal(job_count_seen(job, JOB_SAW_TIMEOUT), 0);
    assert_int_equal(job_count_seen(job, 0), 0);
    return job;
}

static int fewest_forecasts(const pap_job_t *job)
{
    int fewest = INT_MAX;
    for (int32_t rank = 0; rank < job->options.n_ranks; rank++) {
        const int n = job_count_forecasts(job, rank);
        fewest = n < fewest ? n : fewest;
        assert_int_equal(job->counters[rank].lost_groups, 0);
        assert_int_equal(job->counters[rank].rejected, 0);
    }
    return fewest;
}

/* As run; each rank saw so many forecasts. How many calls go by before the clocks are ready is a
 * matter of the machine's load, hence the tries. */
static pap_job_t *run_with_forecasts(const pap_job_options_t *options, int at_least)
{
    for (int try = 1; try <= 5; try++) {
        pap_job_t *job = run(options);
        const int fewest = fewest_forecasts(job);
        if (fewest >= at_least) {
            return job;
        }
        print_message("# try %d of 5: forecasts at %d calls, not at %d\n", try, fewest, at_least);
        job_free(job);
    }
    fail();
    return NULL;
}

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;
    return (x > y) - (x < y);
}

/* Of the second half of the calls. */
static int64_t median_predicted_spread_ns(pap_job_t *job)
{
    const int32_t n = job->options.n_calls / 2;
    int64_t *spread_ns = job->predicted_spread_ns[0] + n;
    qsort(spread_ns, (size_t) n, sizeof *spread_ns, ascending);
    return spread_ns[n / 2];
}

/* Rank i comes 2 ms after rank i - 1, and the prediction knows. A machine that is busy enough wakes
 * all of them at the same time, hence the tries. */
static void ranks_of_one_host_agree(void **state)
{
    (void) state;
    pap_job_options_t options = usual(4, 1);
    int64_t spread_ns = 0;
    options.late_ns = 2 * CLV_NS_PER_MS;
    for (int try = 1; try <= 5 && spread_ns <= 2 * CLV_NS_PER_MS; try++) {
        pap_job_t *job = run_with_forecasts(&options, 100);
        assert_int_equal(job->counters[0].sent_bytes, 0);
        spread_ns = median_predicted_spread_ns(job);
        print_message("# try %d of 5: predicted spread %lld us of 6000\n", try,
                      (long long) (spread_ns / CLV_NS_PER_US));
        job_free(job);
    }
    assert_true(spread_ns > 2 * CLV_NS_PER_MS);
}

static void single_rank_has_forecasts(void **state)
{
    (void) state;
    const pap_job_options_t options = usual(1, 1);
    pap_job_t *job = run_with_forecasts(&options, 100);
    job_free(job);
}

static void hosts_agree(void **state)
{
    (void) state;
    static const int32_t shapes[][3] = {{2, 2, 0}, {6, 3, 0}, {8, 8, 0}, {7, 5, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        pap_job_options_t options = usual(shapes[i][0], shapes[i][1]);
        options.blocks = shapes[i][2];
        pap_job_t *job = run_with_forecasts(&options, 60);
        for (int32_t rank = 0; rank < options.n_ranks; rank++) {
            /* One machine: the true offset is zero, the bound must cover what the clock says. */
            assert_true(job->global_error_ns[rank] >= 0);
            assert_true(llabs(job->global_minus_local_ns[rank]) <= job->global_error_ns[rank]);
        }
        job_free(job);
    }
}

static void tight_loop_agrees(void **state)
{
    (void) state;
    pap_job_options_t options = usual(4, 2);
    options.work_ns = options.late_ns = 0;
    options.n_calls = JOB_MAX_CALLS;
    pap_job_t *job = run(&options);
    job_free(job);
}

static void more_streams_than_slots_agree(void **state)
{
    (void) state;
    pap_job_options_t options = usual(4, 2);
    options.n_streams = CLV_PAP_MAX_STREAMS + 3;
    options.n_calls = 400;
    options.work_ns = options.late_ns = 100 * CLV_NS_PER_US;
    job_free(run(&options));
    options.n_streams = CLV_PAP_MAX_STREAMS;
    pap_job_t *job = run_with_forecasts(&options, 200);
    job_free(job);
}

static void hints_are_forecasts_of_the_same_call(void **state)
{
    (void) state;
    pap_job_options_t options = usual(4, 2);
    options.uses_hints = 1;
    pap_job_t *job = run_with_forecasts(&options, 60);
    job_free(job);
}

/* ---- trouble ------------------------------------------------------------------------------ */

static void stop_rank_2(pap_job_t *job)
{
    while (atomic_load(&job->at_call[2]) < 40) {
        job_sleep_ns(CLV_NS_PER_MS);
    }
    (void) kill(job->pids[2], SIGSTOP);
    job_sleep_ns(job->options.connect_timeout_ns + CLV_NS_PER_S);
    (void) kill(job->pids[2], SIGCONT);
}

static void stopped_process_is_waited_for(void **state)
{
    (void) state;
    pap_job_options_t options = usual(4, 4);
    options.meanwhile = stop_rank_2;
    options.connect_timeout_ns = 4 * CLV_NS_PER_S; /* a busy machine connects in time, too */
    pap_job_t *job = run_with_forecasts(&options, 60);
    job_free(job);
}

/* Cuts every TCP connection of this process. */
static void cut_connections(void)
{
    for (int fd = 3; fd < 256; fd++) {
        int accepts = 0;
        socklen_t n_bytes = sizeof accepts;
        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &n_bytes) == 0 && !accepts) {
            (void) shutdown(fd, SHUT_RDWR);
        }
    }
}

static void cut_now_and_then(pap_job_t *job, int32_t rank, int32_t call)
{
    (void) job;
    if (call % 20 == 10 && rank % 3 == 1) {
        cut_connections();
    }
}

static void cut_connections_heal(void **state)
{
    (void) state;
    pap_job_options_t options = usual(6, 6);
    options.before_call = cut_now_and_then;
    pap_job_t *job = run_with_forecasts(&options, 60);
    job_free(job);
}

static void die_at_50(pap_job_t *job, int32_t rank, int32_t call)
{
    (void) job;
    if (rank == 3 && call == 50) {
        _exit(9);
    }
}

/* Without MPI nobody ends the others: they must come to the same end by themselves. */
static void killed_leader_means_none_for_all(void **state)
{
    (void) state;
    pap_job_options_t options = usual(5, 5);
    options.before_call = die_at_50;
    options.connect_timeout_ns = 500 * CLV_NS_PER_MS;
    pap_job_t *job = job_new(&options);
    job_run(job, 60);
    assert_int_equal(WEXITSTATUS(job->exits[3]), 9);
    assert_int_equal(job_count_disagreements(job), 0);
    assert_int_equal(job_count_seen(job, JOB_SAW_TIMEOUT), 0);
    for (int32_t rank = 0; rank < options.n_ranks; rank++) {
        assert_true(rank == 3 || job->saw[rank][119] == JOB_SAW_NONE);
    }
    job_free(job);
}

static void fork_and_system_at_some_calls(pap_job_t *job, int32_t rank, int32_t call)
{
    (void) job;
    (void) rank;
    if (call % 40 == 20) {
        pid_t child = fork();
        if (child == 0) {
            /* No socket and no bell of the parent's is left here, and nothing hangs. */
            int n_sockets = 0;
            for (int fd = 3; fd < 256; fd++) {
                int type;
                socklen_t n_bytes = sizeof type;
                n_sockets += getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n_bytes) == 0;
            }
            _exit(n_sockets == 0 ? 0 : 1);
        }
        int status = -1;
        (void) waitpid(child, &status, 0);
        if (status != 0 || system("exit 0") != 0) {
            _exit(8);
        }
    }
}

static void fork_and_system_are_harmless(void **state)
{
    (void) state;
    pap_job_options_t options = usual(4, 2);
    options.before_call = fork_and_system_at_some_calls;
    pap_job_t *job = run_with_forecasts(&options, 60);
    job_free(job);
}

/* ---- placing ------------------------------------------------------------------------------ */

/* What the thread named clv of this process may run on; CPU_COUNT 0: there is none. */
static cpu_set_t processors_of_thread(void)
{
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    for (int id = getpid(); id < getpid() + 200; id++) {
        char path[64], name[16] = "";
        (void) snprintf(path, sizeof path, "/proc/self/task/%d/comm", id);
        FILE *file = fopen(path, "r");
        if (file) {
            if (fgets(name, sizeof name, file) && strcmp(name, "clv\n") == 0) {
                (void) sched_getaffinity(id, sizeof cpus, &cpus);
            }
            (void) fclose(file);
        }
    }
    return cpus;
}

static void expect_thread_off_processor_0(pap_job_t *job, int32_t rank, int32_t call)
{
    (void) job;
    (void) rank;
    const cpu_set_t cpus = processors_of_thread();
    if (call == 119 && (CPU_COUNT(&cpus) == 0 || CPU_ISSET(0, &cpus))) {
        _exit(7);
    }
}

static void thread_keeps_off_the_ranks_processors(void **state)
{
    (void) state;
    cpu_set_t ours;
    pap_job_options_t options = usual(1, 1);
    assert_int_equal(sched_getaffinity(0, sizeof ours, &ours), 0);
    if (HAS_OTHER_THREADS || CPU_COUNT(&ours) < 2 || !CPU_ISSET(0, &ours)) {
        print_message("# skipped: no processor is free of this process\n");
        return;
    }
    options.is_bound = 1;
    options.before_call = expect_thread_off_processor_0;
    job_free(run(&options));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_rank_has_forecasts),
        cmocka_unit_test(ranks_of_one_host_agree),
        cmocka_unit_test(hosts_agree),
        cmocka_unit_test(tight_loop_agrees),
        cmocka_unit_test(more_streams_than_slots_agree),
        cmocka_unit_test(hints_are_forecasts_of_the_same_call),
        cmocka_unit_test(stopped_process_is_waited_for),
        cmocka_unit_test(cut_connections_heal),
        cmocka_unit_test(killed_leader_means_none_for_all),
        cmocka_unit_test(fork_and_system_are_harmless),
        cmocka_unit_test(thread_keeps_off_the_ranks_processors),
    };
    return clv_run_tests(tests);
}
