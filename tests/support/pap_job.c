/* SPDX-License-Identifier: BSD-3-Clause
 * See pap_job.h.
 */
#include "tests/support/pap_job.h"

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pap_predict/pap_process.h"
#include "util/util_hash.h"
#include "util/util_log.h"
#include "util/util_min_max.h"
#include "util/util_time.h"

pap_job_t *job_new(const pap_job_options_t *options)
{
    pap_job_t *job =
        mmap(NULL, sizeof *job, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (job == MAP_FAILED) {
        abort();
    }
    job->options = *options;
    return job;
}

void job_free(pap_job_t *job)
{
    (void) munmap(job, sizeof *job);
}

void job_sleep_ns(int64_t ns)
{
    const struct timespec time = {ns / CLV_NS_PER_S, ns % CLV_NS_PER_S};
    (void) nanosleep(&time, NULL);
}

static int32_t count_entries(const char *path)
{
    int32_t n = 0;
    DIR *dir = opendir(path);
    for (struct dirent *one; dir && (one = readdir(dir));) {
        n += one->d_name[0] != '.';
    }
    if (dir) {
        (void) closedir(dir);
    }
    return n - 1; /* exclude the directory itself, when it is /proc/self/fd */
}

int32_t job_count_fds(void)
{
    return count_entries("/proc/self/fd");
}

/* Recognised by its name, since a sanitizer has threads of its own. */
int job_has_thread(void)
{
    int found = 0;
    DIR *dir = opendir("/proc/self/task");
    for (struct dirent *one; dir && (one = readdir(dir));) {
        char path[300], name[16] = "";
        (void) snprintf(path, sizeof path, "/proc/self/task/%s/comm", one->d_name);
        FILE *file = fopen(path, "r");
        if (file) {
            found += fgets(name, sizeof name, file) && strcmp(name, "clv\n") == 0;
            (void) fclose(file);
        }
    }
    if (dir) {
        (void) closedir(dir);
    }
    return found;
}

/* A joined thread is still listed for a moment. */
int job_keeps_thread(void)
{
    const int64_t until_ns = clv_local_now_ns() + 20 * CLV_NS_PER_S;
    while (job_has_thread() && clv_local_now_ns() < until_ns) {
        job_sleep_ns(CLV_NS_PER_MS);
    }
    return job_has_thread();
}

int32_t job_host(const pap_job_t *job, int32_t rank)
{
    const pap_job_options_t *options = &job->options;
    if (!options->blocks) {
        return rank % options->n_hosts;
    }
    return (int32_t) ((int64_t) rank * options->n_hosts / options->n_ranks);
}

/* Short at first, then ever longer: some wait for seconds. */
static void pause_since(int64_t begin_ns)
{
    const int64_t waited_ns = clv_local_now_ns() - begin_ns;
    job_sleep_ns(clv_smaller(20 * CLV_NS_PER_US + waited_ns / 8, CLV_NS_PER_MS));
}

/* Waits until every rank is here, or the job has failed. */
static int meet(pap_job_t *job, _Atomic int32_t *arrived, int32_t round)
{
    const int64_t begin_ns = clv_local_now_ns();
    (void) atomic_fetch_add(arrived, 1);
    while (atomic_load(arrived) < job->options.n_ranks * round) {
        if (atomic_load(&job->failed)) {
            return -1;
        }
        pause_since(begin_ns);
    }
    return 0; /* also if a rank that was here has failed since */
}

/* Beside each forecast is a hash of it and of the number of forecasts: a deterministic function of
 * all forecasts so far, so that any earlier difference shows as well. */
static size_t make_hash(void *context, const clv_pap_stream_key_t *key,
                        const clv_pap_forecast_t *forecast, const clv_pap_progress_t *progress,
                        const void *key_table, void *memory, void *node_plans,
                        size_t node_plans_bytes)
{
    uint64_t *chain = memory;
    (void) context, (void) key_table;
    (void) node_plans_bytes;
    *chain =
        clv_fnv1a64(*chain, forecast->predicted_ns, (size_t) forecast->n_ranks * sizeof(int64_t));
    *chain = clv_fnv1a64(*chain, &forecast->version, sizeof forecast->version);
    *chain = clv_fnv1a64(*chain, &progress->call, sizeof progress->call);
    *chain = clv_fnv1a64(*chain, &progress->last_arrival_ns, sizeof progress->last_arrival_ns);
    *chain = clv_fnv1a64(*chain, &progress->computing_ns, sizeof progress->computing_ns);
    *chain = clv_fnv1a64(*chain, &progress->is_decoupled, sizeof progress->is_decoupled);
    *chain = clv_fnv1a64(*chain, &key->total_bytes, sizeof key->total_bytes);
    memcpy(node_plans, chain, sizeof *chain);
    return sizeof *chain;
}

static uint64_t hash_of(const clv_pap_forecast_t *forecast, const void *node_plans, size_t n_bytes)
{
    uint64_t hash = CLV_FNV1A64_BASIS;
    hash = clv_fnv1a64(hash, &forecast->version, sizeof forecast->version);
    hash = clv_fnv1a64(hash, &forecast->sample_every, sizeof forecast->sample_every);
    hash = clv_fnv1a64(hash, &forecast->sigma_ns, sizeof forecast->sigma_ns);
    hash = clv_fnv1a64(hash, forecast->predicted_ns, (size_t) forecast->n_ranks * sizeof(int64_t));
    hash = clv_fnv1a64(hash, node_plans, n_bytes);
    return hash > JOB_SAW_TIMEOUT ? hash : hash + 3;
}

static void note_forecast(pap_job_t *job, int32_t rank, int32_t call,
                          const clv_pap_forecast_t *forecast, const void *node_plans,
                          size_t n_bytes)
{
    int64_t latest = 0;
    for (int32_t i = 0; i < forecast->n_ranks; i++) {
        latest = forecast->predicted_ns[i] > latest ? forecast->predicted_ns[i] : latest;
    }
    job->predicted_spread_ns[rank][call] = latest;
    job->n_record_sets[rank][call] = forecast->n_record_sets;
    job->saw[rank][call] = hash_of(forecast, node_plans, n_bytes);
}

static void make_call(pap_job_t *job, clv_pap_group_t *group, int32_t rank, int32_t number)
{
    const clv_pap_stream_key_t key = {.total_bytes = 1000 + number % job->options.n_streams};
    const clv_pap_forecast_t *forecast = NULL;
    const void *node_plans = NULL;
    size_t n_bytes = 0;
    clv_pap_call_t call;
    const int64_t begin_ns = clv_local_now_ns();
    clv_pap_call_begin(group, &key, begin_ns, &call);
    clv_status_t status = clv_pap_call_forecast(group, &call, &forecast, &node_plans, &n_bytes);
    job->call_ns[rank][number] = clv_local_now_ns() - begin_ns;
    while (status == CLV_AGAIN && clv_local_now_ns() - begin_ns < job->options.wait_ns) {
        pause_since(begin_ns);
        status = clv_pap_call_forecast(group, &call, &forecast, &node_plans, &n_bytes);
    }
    job->wait_ns[rank][number] = clv_local_now_ns() - begin_ns;
    if (status == CLV_OK) {
        note_forecast(job, rank, number, forecast, node_plans, n_bytes);
    } else {
        job->saw[rank][number] = status == CLV_NONE ? JOB_SAW_NONE : JOB_SAW_TIMEOUT;
    }
    atomic_store(&job->at_call[rank], number + 1);
    if (job->options.synchronous) {
        (void) meet(job, &job->arrived[3], number + 1);
    }
    clv_pap_call_end(group, &call, status == CLV_OK ? 2 : 1, NULL, 0, clv_local_now_ns());
}

static void make_calls(pap_job_t *job, clv_pap_group_t *group, int32_t rank)
{
    const pap_job_options_t *options = &job->options;
    for (int32_t call = 0; call < options->n_calls; call++) {
        const int is_second = options->in_pairs && call % 2 == 1;
        const int64_t work_ns = is_second ? 0 : options->work_ns + rank * options->late_ns;
        if (options->before_call) {
            options->before_call(job, rank, call);
        }
        if (options->uses_hints) {
            clv_pap_hint(group, clv_local_now_ns(), work_ns);
        }
        const int64_t until_ns = clv_local_now_ns() + work_ns;
        while (options->spins && clv_local_now_ns() < until_ns) {
        }
        if (!options->spins && work_ns > 0) {
            job_sleep_ns(work_ns);
        }
        make_call(job, group, rank, call);
    }
}

static void note_clock(pap_job_t *job, clv_pap_group_t *group, int32_t rank)
{
    const int64_t local_ns = clv_local_now_ns();
    int64_t global_ns, error_ns;
    job->global_error_ns[rank] = -1;
    if (clv_pap_global_time(group, local_ns, &global_ns, &error_ns) == CLV_OK) {
        job->global_error_ns[rank] = error_ns;
        job->global_minus_local_ns[rank] = global_ns - local_ns;
    }
}

static int run_group(pap_job_t *job, clv_pap_t *pap, int32_t rank)
{
    const clv_pap_hooks_t hooks = {
        .make = make_hash, .memory_bytes = sizeof(uint64_t), .node_plans_bytes = 256};
    clv_pap_group_t *group = NULL;
    if (clv_pap_group_create(pap, job->options.n_ranks, rank, &hooks,
                             job->endpoints + rank * CLV_PAP_ENDPOINT_BYTES, &group) != CLV_OK) {
        return 11;
    }
    if (meet(job, &job->arrived[0], 1) != 0 ||
        clv_pap_group_attach(group, job->endpoints, CLV_PAP_ENDPOINT_BYTES, NULL) != CLV_OK) {
        clv_pap_group_free(group);
        return 12;
    }
    if (meet(job, &job->arrived[1], 1) != 0 || clv_pap_group_activate(group) != CLV_OK) {
        clv_pap_group_free(group);
        return 13;
    }
    make_calls(job, group, rank);
    note_clock(job, group, rank);
    clv_pap_group_free(group);
    return 0;
}

static void log_line(void *context, clv_log_level_t level, const char *line)
{
    (void) level;
    fprintf(stderr, "# rank %d: %s\n", *(const int *) context, line);
}

static int run_rank(pap_job_t *job, int32_t rank)
{
    const clv_pap_options_t options = {.sma_window = 4,
                                       .connect_timeout_ns = job->options.connect_timeout_ns};
    clv_pap_t *pap = NULL;
    if (getenv("CLV_TEST_LOG")) {
        clv_log_set_sink(log_line, &rank, CLV_LOG_DEBUG);
    }
    if (job->options.is_bound) {
        cpu_set_t only;
        CPU_ZERO(&only);
        CPU_SET(0, &only);
        (void) sched_setaffinity(0, sizeof only, &only);
    }
    job->n_fds_before[rank] = job_count_fds();
    if (clv_pap_open(&options, &pap) != CLV_OK) {
        return 10;
    }
    clv_pap_pretend_host(pap, (uint32_t) job_host(job, rank));
    int result = run_group(job, pap, rank);
    /* A real program's finalize synchronises, too. */
    if (result == 0) {
        (void) meet(job, &job->arrived[2], 1);
    }
    clv_pap_read_counters(pap, &job->counters[rank]);
    clv_pap_close(pap);
    job->n_fds_after[rank] = job_count_fds();
    return result != 0 ? result : job_keeps_thread() ? 14 : 0;
}

static void reap(pap_job_t *job, int seconds)
{
    const int64_t until_ns = clv_local_now_ns() + seconds * CLV_NS_PER_S;
    for (int32_t n_left = job->options.n_ranks; n_left > 0;) {
        for (int32_t rank = 0; rank < job->options.n_ranks; rank++) {
            if (job->pids[rank] > 0 && waitpid(job->pids[rank], &job->exits[rank], WNOHANG) > 0) {
                job->pids[rank] = 0;
                n_left--;
                if (job->exits[rank] != 0) {
                    atomic_store(&job->failed, 1);
                }
            }
        }
        if (clv_local_now_ns() > until_ns) {
            for (int32_t rank = 0; rank < job->options.n_ranks; rank++) {
                if (job->pids[rank] > 0) {
                    printf("# rank %d still runs, at call %d\n", rank, job->at_call[rank]);
                    (void) kill(job->pids[rank], SIGKILL);
                }
            }
        }
        job_sleep_ns(CLV_NS_PER_MS);
    }
}

void job_run(pap_job_t *job, int seconds)
{
    (void) fflush(NULL);
    for (int32_t rank = 0; rank < job->options.n_ranks; rank++) {
        const pid_t pid = fork();
        if (pid > 0) {
            job->pids[rank] = pid; /* shared memory: the child must not write it */
        }
        if (pid == 0) {
            const int result = run_rank(job, rank);
            if (result != 0) {
                atomic_store(&job->failed, 1);
            }
            (void) fflush(NULL);
            exit(result); /* not _exit: leak checkers look at the end */
        }
    }
    if (job->options.meanwhile) {
        job->options.meanwhile(job);
    }
    reap(job, seconds);
}

int job_count_disagreements(const pap_job_t *job)
{
    int n_bad = 0;
    for (int32_t call = 0; call < job->options.n_calls; call++) {
        uint64_t first = 0;
        for (int32_t rank = 0; rank < job->options.n_ranks; rank++) {
            const uint64_t saw = job->saw[rank][call];
            first = first == 0 ? saw : first;
            if (saw != 0 && saw != first) {
                printf("# call %d: rank %d saw %llx, another %llx\n", call, rank,
                       (unsigned long long) saw, (unsigned long long) first);
                n_bad++;
                break;
            }
        }
    }
    return n_bad;
}

int job_count_forecasts(const pap_job_t *job, int32_t rank)
{
    int n = 0;
    for (int32_t call = 0; call < job->options.n_calls; call++) {
        n += job->saw[rank][call] > JOB_SAW_TIMEOUT;
    }
    return n;
}

int job_count_seen(const pap_job_t *job, uint64_t what)
{
    int n = 0;
    for (int32_t rank = 0; rank < job->options.n_ranks; rank++) {
        for (int32_t call = 0; call < job->options.n_calls; call++) {
            n += job->saw[rank][call] == what;
        }
    }
    return n;
}

/* ---- two ranks in one process --------------------------------------------------------------- */

#define PAIR_WAIT_NS (120 * CLV_NS_PER_S) /* ends a hang; not a measured time */

clv_status_t pair_open(pair_t *pair, int one_host, int64_t connect_timeout_ns)
{
    const clv_pap_options_t options = {.sma_window = 4, .connect_timeout_ns = connect_timeout_ns};
    clv_status_t status = CLV_OK;
    memset(pair, 0, sizeof *pair);
    pair->hooks.node_plans_bytes = 100;
    for (int i = 0; i < 2 && status == CLV_OK; i++) {
        status = clv_pap_open(&options, &pair->pap[i]);
        if (status == CLV_OK) {
            clv_pap_pretend_host(pair->pap[i], one_host ? 0 : (uint32_t) i);
        }
    }
    return status;
}

void pair_set_patience(pair_t *pair, int64_t patience_ns)
{
    pair->pap[0]->options.patience_ns = patience_ns;
    pair->pap[1]->options.patience_ns = patience_ns;
}

clv_status_t pair_create(pair_t *pair)
{
    clv_status_t status = CLV_OK;
    for (int i = 0; i < 2 && status == CLV_OK; i++) {
        status =
            clv_pap_group_create(pair->pap[i], 2, i, &pair->hooks,
                                 pair->endpoints + i * CLV_PAP_ENDPOINT_BYTES, &pair->group[i]);
    }
    return status;
}

clv_status_t pair_attach(pair_t *pair)
{
    clv_status_t status = CLV_OK;
    for (int i = 0; i < 2 && status == CLV_OK; i++) {
        status =
            clv_pap_group_attach(pair->group[i], pair->endpoints, CLV_PAP_ENDPOINT_BYTES, NULL);
    }
    return status;
}

clv_status_t pair_activate(pair_t *pair)
{
    clv_status_t status = CLV_OK;
    for (int i = 0; i < 2 && status == CLV_OK; i++) {
        status = clv_pap_group_activate(pair->group[i]);
    }
    return status;
}

void pair_ask(pair_t *pair, clv_pap_call_t calls[2], clv_status_t status[2],
              const clv_pap_forecast_t *forecasts[2])
{
    const int64_t until_ns = clv_local_now_ns() + PAIR_WAIT_NS;
    const void *node_plans;
    size_t n_bytes;
    status[0] = status[1] = CLV_AGAIN;
    while ((status[0] == CLV_AGAIN || status[1] == CLV_AGAIN) && clv_local_now_ns() < until_ns) {
        for (int i = 0; i < 2; i++) {
            if (status[i] == CLV_AGAIN) {
                status[i] = clv_pap_call_forecast(pair->group[i], &calls[i], &forecasts[i],
                                                  &node_plans, &n_bytes);
            }
        }
        job_sleep_ns(50 * CLV_NS_PER_US);
    }
}

void pair_free(pair_t *pair)
{
    for (int i = 0; i < 2; i++) {
        clv_pap_group_free(pair->group[i]);
        pair->group[i] = NULL;
    }
}

void pair_close(pair_t *pair)
{
    for (int i = 0; i < 2; i++) {
        clv_pap_close(pair->pap[i]);
        pair->pap[i] = NULL;
    }
}
