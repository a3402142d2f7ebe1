/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Keys, core files and logs: while two hosts are connected, a group's key is found in this process
 * only in pages that the kernel leaves out of core files; once the group is freed, nowhere. No line
 * of the log has it, as bytes or in hexadecimal.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pap_predict/pap_endpoint.h"
#include "tests/support/pap_job.h"
#include "tests/support/test.h"
#include "util/util_log.h"
#include "util/util_secret.h"
#include "util/util_time.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif
#define MASK 0x5a

typedef struct found {
    int dumped, left_out;
} found_t;

/* The key, so that this copy is not one. */
static unsigned char masked[CLV_NET_KEY_BYTES];

static int is_key(const unsigned char *at)
{
    for (int i = 0; i < CLV_NET_KEY_BYTES; i++) {
        if ((unsigned char) (at[i] ^ MASK) != masked[i]) {
            return 0;
        }
    }
    return 1;
}

/* Through the kernel, because a mapping may have guard pages (glibc 2.42: those of stacks). What is
 * read is wiped: it is no find. */
static int count_keys(int memory, uintptr_t from, uintptr_t to)
{
    static unsigned char page[4096 + CLV_NET_KEY_BYTES - 1];
    int n = 0;
    for (uintptr_t at = from; at < to; at += 4096) {
        const ssize_t n_bytes = pread(memory, page, sizeof page, (off_t) at);
        for (ssize_t i = 0; i + CLV_NET_KEY_BYTES <= n_bytes; i += 4) {
            n += is_key(page + i);
        }
        explicit_bzero(page, sizeof page);
    }
    return n;
}

/* Mappings that can be read and written; "dd" among its flags: not in core files. */
static found_t look(void)
{
    char line[512];
    unsigned long from = 0, to = 0;
    char rights[8] = "";
    found_t found = {0, 0};
    FILE *file = fopen("/proc/self/smaps", "r");
    const int memory = open("/proc/self/mem", O_RDONLY);
    assert_non_null(file);
    assert_true(memory >= 0);
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "VmFlags:", 8) != 0) {
            unsigned long first, last;
            char now[8];
            if (sscanf(line, "%lx-%lx %7s", &first, &last, now) == 3) {
                from = first;
                to = last;
                memcpy(rights, now, sizeof now);
            }
            continue;
        }
        if (strncmp(rights, "rw-p", 4) == 0) {
            const int n = count_keys(memory, (uintptr_t) from, (uintptr_t) to);
            *(strstr(line, " dd") != NULL ? &found.left_out : &found.dumped) += n;
        }
    }
    (void) fclose(file);
    (void) close(memory);
    return found;
}

/* Rank 0's endpoint record has it; afterwards only the group does. */
static void take_key(pair_t *pair)
{
    clv_pap_endpoint_t endpoint;
    assert_int_equal(clv_pap_endpoint_decode(pair->endpoints, &endpoint), CLV_OK);
    for (int i = 0; i < CLV_NET_KEY_BYTES; i++) {
        masked[i] = endpoint.key[i] ^ MASK;
    }
    explicit_bzero(&endpoint, sizeof endpoint);
}

/* All that is logged, at any level. */
typedef struct heard {
    pthread_mutex_t mutex;
    char text[1 << 16];
    size_t n_bytes;
} heard_t;

static void hear(void *context, clv_log_level_t level, const char *line)
{
    heard_t *heard = context;
    const size_t n_bytes = strlen(line);
    (void) level;
    (void) pthread_mutex_lock(&heard->mutex);
    if (n_bytes < sizeof heard->text - heard->n_bytes) {
        memcpy(heard->text + heard->n_bytes, line, n_bytes);
        heard->n_bytes += n_bytes;
    }
    (void) pthread_mutex_unlock(&heard->mutex);
}

/* Some bytes of it are enough. */
static int has_key(const heard_t *heard)
{
    enum { N = 4 };
    unsigned char bytes[N];
    char lower[2 * N + 1], upper[2 * N + 1];
    for (int i = 0; i < N; i++) {
        bytes[i] = masked[i] ^ MASK;
        (void) snprintf(lower + 2 * i, 3, "%02x", bytes[i]);
        (void) snprintf(upper + 2 * i, 3, "%02X", bytes[i]);
    }
    return memmem(heard->text, heard->n_bytes, bytes, N) != NULL ||
           memmem(heard->text, heard->n_bytes, lower, 2 * N) != NULL ||
           memmem(heard->text, heard->n_bytes, upper, 2 * N) != NULL;
}

static void wait_for_connection(const pair_t *pair)
{
    clv_pap_counters_t counters = {0};
    for (int i = 0; i < 10000 && counters.received_bytes < 500; i++) {
        job_sleep_ns(CLV_NS_PER_MS);
        clv_pap_read_counters(pair->pap[0], &counters);
    }
    assert_true(counters.received_bytes >= 500); /* more than the handshake */
}

static void keys_are_in_no_core_file(void **state)
{
    (void) state;
    pair_t pair;
    if (IS_SANITIZED) {
        skip(); /* what a sanitizer maps cannot be looked at */
    }
    assert_int_equal(pair_open(&pair, 0, 60 * CLV_NS_PER_S), CLV_OK);
    assert_int_equal(pair_create(&pair), CLV_OK);
    take_key(&pair);
    assert_true(look().dumped >
                0); /* the endpoint records, on their way through MPI: it can be found */
    assert_int_equal(pair_attach(&pair), CLV_OK);
    explicit_bzero(pair.endpoints, sizeof pair.endpoints);
    assert_int_equal(pair_activate(&pair), CLV_OK);
    wait_for_connection(&pair);
    const found_t meanwhile = look();
    assert_int_equal(meanwhile.dumped, 0);
    assert_true(meanwhile.left_out > 0);
    pair_free(&pair);
    pair_close(&pair);
    assert_int_equal(look().dumped, 0);
    assert_int_equal(look().left_out, 0);
}

static void keys_are_in_no_log(void **state)
{
    static heard_t heard = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    (void) state;
    pair_t pair;
    clv_log_set_sink(hear, &heard, CLV_LOG_DEBUG);
    assert_int_equal(pair_open(&pair, 0, 60 * CLV_NS_PER_S), CLV_OK);
    assert_int_equal(pair_create(&pair), CLV_OK);
    take_key(&pair);
    assert_int_equal(pair_attach(&pair), CLV_OK);
    assert_int_equal(pair_activate(&pair), CLV_OK);
    wait_for_connection(&pair);
    pair_free(&pair);
    pair_close(&pair);
    clv_log_set_sink(NULL, NULL, CLV_LOG_ERROR);
    assert_true(heard.n_bytes > 0);
    assert_false(has_key(&heard));
    hear(&heard, CLV_LOG_DEBUG, "here: "); /* and it would be found */
    for (int i = 0; i < CLV_NET_KEY_BYTES; i++) {
        char two[3];
        (void) snprintf(two, sizeof two, "%02x", masked[i] ^ MASK);
        hear(&heard, CLV_LOG_DEBUG, two);
    }
    assert_true(has_key(&heard));
}

static void secrets_are_zero_and_used_again(void **state)
{
    (void) state;
    unsigned char *many[100];
    for (int i = 0; i < 100; i++) {
        many[i] = clv_secret_new();
        assert_non_null(many[i]);
        for (int k = 0; k < CLV_SECRET_BYTES; k++) {
            assert_int_equal(many[i][k], 0);
            many[i][k] = (unsigned char) (i + 1);
        }
    }
    for (int i = 0; i < 100; i++) {
        assert_int_equal(many[i][CLV_SECRET_BYTES - 1], i + 1);
        clv_secret_free(many[i]);
    }
    unsigned char *again = clv_secret_new();
    assert_ptr_equal(again, many[99]);
    assert_int_equal(again[0] | again[CLV_SECRET_BYTES - 1], 0);
    clv_secret_free(again);
    clv_secret_free(NULL);
}

/* The dynamic linker saves registers, which may hold a piece of a copy, to the stack when it binds
 * a function late: not what is tested. */
static void bind_at_once(char **argv)
{
    if (getenv("LD_BIND_NOW") == NULL) {
        (void) setenv("LD_BIND_NOW", "1", 1);
        (void) execv("/proc/self/exe", argv);
    }
}

int main(int argc, char **argv)
{
    (void) argc;
    bind_at_once(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_in_no_core_file),
        cmocka_unit_test(keys_are_in_no_log),
        cmocka_unit_test(secrets_are_zero_and_used_again),
    };
    return clv_run_tests(tests);
}
