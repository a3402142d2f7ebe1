/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections with somebody in the middle: who gets in, what gets through, and that no changed,
 * repeated or oversized byte does. Nothing here waits or depends on time.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pap_predict/pap_endpoint.h"
#include "pap_predict/net/net_channel.h"
#include "pap_predict/net/net_listen.h"
#include "tests/support/test.h"
#include "util/util_alloc.h"
#include "util/util_time.h"

#define MAX_PAYLOAD     1000
#define HELLO_BYTES     48
#define CHALLENGE_BYTES 48
#define PROOF_BYTES     32
#define HEADER_BYTES    48

/* One end: a channel and what it has delivered. */
typedef struct end {
    clv_net_channel_t *channel;
    clv_status_t status;
    const unsigned char *key; /* that find answers with; NULL: no such group */
    int n_up;
    int n_frames;
    clv_net_stamp_t stamp;
    size_t n_bytes;
    unsigned char payload[MAX_PAYLOAD];
} end_t;

/* client ==wire[0]=> man in the middle ==wire[1]=> server, and back. */
typedef struct line {
    int wire[2];
    long flip_at[2]; /* byte of that direction (0: from the client) to change; -1 none */
    int flip_bit;
    long seen[2];
    size_t max_piece;
    end_t client, server;
} line_t;

static unsigned char right_key[CLV_NET_KEY_BYTES] = "the key of this group";
static unsigned char wrong_key[CLV_NET_KEY_BYTES] = "the key of another one";

static const unsigned char *find(void *context, const unsigned char *group_id, uint32_t host,
                                 size_t *max_payload_p)
{
    end_t *end = context;
    unsigned char id[CLV_NET_GROUP_ID_BYTES];
    clv_net_group_id(right_key, id);
    *max_payload_p = MAX_PAYLOAD;
    return host == 5 && memcmp(id, group_id, sizeof id) == 0 ? end->key : NULL;
}

static int up(void *context, clv_net_channel_t *channel)
{
    end_t *end = context;
    (void) channel;
    end->n_up++;
    return 0;
}

static clv_status_t frame(void *context, clv_net_channel_t *channel, clv_net_frame_kind_t kind,
                          const clv_net_stamp_t *stamp, int64_t received_ns,
                          const unsigned char *payload, size_t payload_bytes)
{
    end_t *end = context;
    (void) channel;
    (void) received_ns;
    assert_int_equal(kind, CLV_NET_FRAME_DATA);
    end->n_frames++;
    end->stamp = *stamp;
    end->n_bytes = payload_bytes;
    memcpy(end->payload, payload, payload_bytes);
    return CLV_OK;
}

static const clv_net_channel_ops_t channel_ops = {find, up, frame};

static int listen_here(uint16_t *port_p)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n_bytes = sizeof any;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *) &any, sizeof any), 0);
    assert_int_equal(listen(fd, 4), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *) &any, &n_bytes), 0);
    *port_p = ntohs(any.sin_port);
    return fd;
}

static void nonblocking(int fd)
{
    assert_int_equal(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK), 0);
}

/* One end for us, returned, and the other. */
static int socket_pair(int *other_p)
{
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    nonblocking(pair[0]);
    nonblocking(pair[1]);
    *other_p = pair[1];
    return pair[0];
}

/* The client connects to somebody, and then finds one end of a socket pair in the place of its
 * socket: TCP may take any time to carry bytes over, even inside this machine. */
static void client_open(line_t *line, const unsigned char *key)
{
    static const clv_net_address_t loopback = {4, 8, {127, 0, 0, 1}};
    uint16_t port;
    int end, listener = listen_here(&port);
    assert_int_equal(
        clv_net_channel_connect(&loopback, port, key, 5, MAX_PAYLOAD, &line->client.channel),
        CLV_OK);
    line->wire[0] = socket_pair(&end);
    assert_true(dup2(end, clv_net_channel_fd(line->client.channel)) >= 0);
    (void) close(end);
    (void) close(listener);
}

static void line_open(line_t *line, const unsigned char *client_key)
{
    int end;
    memset(line, 0, sizeof *line);
    line->flip_at[0] = line->flip_at[1] = -1;
    line->max_piece = 100000;
    line->server.key = right_key;
    client_open(line, client_key);
    line->wire[1] = socket_pair(&end);
    assert_int_equal(clv_net_channel_accept(end, &line->server.channel), CLV_OK);
}

static void line_close(line_t *line)
{
    clv_net_channel_close(line->client.channel);
    clv_net_channel_close(line->server.channel);
    (void) close(line->wire[0]);
    (void) close(line->wire[1]);
}

static int pass(line_t *line, int from)
{
    unsigned char bytes[4096];
    const size_t most = line->max_piece < sizeof bytes ? line->max_piece : sizeof bytes;
    const ssize_t n = read(line->wire[from], bytes, most);
    for (ssize_t i = 0; i < n; i++) {
        if (line->seen[from]++ == line->flip_at[from]) {
            bytes[i] ^= (unsigned char) (1u << line->flip_bit);
        }
    }
    return n > 0 && write(line->wire[!from], bytes, (size_t) n) == n;
}

static void step(end_t *end)
{
    if (end->status == CLV_OK) {
        end->status = clv_net_channel_io(end->channel, &channel_ops, end);
    }
}

/* Until nothing moves any more. Both ends are socket pairs: what was written is there to be
 * read. */
static void pump(line_t *line)
{
    do {
        step(&line->client);
        step(&line->server);
    } while (pass(line, 0) + pass(line, 1) > 0);
}

static void send_bytes(end_t *end, size_t n_bytes, clv_status_t expected)
{
    unsigned char payload[MAX_PAYLOAD + 1];
    const clv_net_stamp_t stamp = {.sent_ns = (int64_t) n_bytes,
                                   .echo_sent_ns = -1,
                                   .echo_recv_ns = INT64_MIN,
                                   .error_ns = INT64_MAX,
                                   .has_global = n_bytes % 2};
    memset(payload, (int) n_bytes, sizeof payload);
    assert_int_equal(
        clv_net_channel_send(end->channel, CLV_NET_FRAME_DATA, &stamp, payload, n_bytes), expected);
}

static void expect_frame(const end_t *end, int n_frames, size_t n_bytes)
{
    assert_int_equal(end->status, CLV_OK);
    assert_int_equal(end->n_frames, n_frames);
    assert_int_equal(end->n_bytes, n_bytes);
    assert_true(end->stamp.sent_ns == (int64_t) n_bytes && end->stamp.echo_sent_ns == -1);
    assert_true(end->stamp.echo_recv_ns == INT64_MIN && end->stamp.error_ns == INT64_MAX);
    assert_int_equal(end->stamp.has_global, n_bytes % 2);
    for (size_t i = 0; i < n_bytes; i++) {
        assert_int_equal(end->payload[i], n_bytes & 0xff);
    }
}

static void frames_of_all_lengths_arrive_both_ways(void **state)
{
    (void) state;
    static const size_t pieces[] = {1, 7, 100000};
    for (size_t p = 0; p < 3; p++) {
        line_t line;
        line_open(&line, right_key);
        line.max_piece = pieces[p];
        pump(&line);
        assert_int_equal(line.client.n_up, 1);
        assert_int_equal(line.server.n_up, 1);
        assert_int_equal(clv_net_channel_host(line.server.channel), 5);
        int n_frames = 0;
        for (size_t n_bytes = 0; n_bytes <= MAX_PAYLOAD; n_bytes += 37) {
            send_bytes(&line.client, n_bytes, CLV_OK);
            send_bytes(&line.server, n_bytes, CLV_OK);
            pump(&line);
            n_frames++;
            expect_frame(&line.client, n_frames, n_bytes);
            expect_frame(&line.server, n_frames, n_bytes);
        }
        line_close(&line);
    }
}

static void wrong_key_gets_nowhere(void **state)
{
    (void) state;
    line_t line;
    line_open(&line, wrong_key); /* its group id is unknown already */
    pump(&line);
    assert_int_equal(line.server.status, CLV_PROTOCOL);
    assert_int_equal(line.client.n_up + line.server.n_up, 0);
    line_close(&line);
    line_open(&line, right_key);
    line.server.key = wrong_key; /* a server that pretends */
    pump(&line);
    assert_int_equal(line.client.status, CLV_PROTOCOL);
    assert_int_equal(line.client.n_up + line.server.n_up, 0);
    line_close(&line);
}

static void no_changed_byte_of_the_handshake_passes(void **state)
{
    (void) state;
    static const long n_bytes[2] = {HELLO_BYTES + PROOF_BYTES, CHALLENGE_BYTES};
    for (int from = 0; from < 2; from++) {
        for (long at = 0; at < n_bytes[from]; at++) {
            line_t line;
            line_open(&line, right_key);
            line.flip_at[from] = at;
            line.flip_bit = (int) (at % 8);
            pump(&line);
            assert_int_equal(line.server.n_up, 0);
            assert_true(line.client.status != CLV_OK || line.server.status != CLV_OK);
            line_close(&line);
        }
    }
}

static void no_changed_byte_of_a_frame_passes(void **state)
{
    (void) state;
    for (int from = 0; from < 2; from++) {
        for (long at = 0; at < HEADER_BYTES + 21; at++) {
            line_t line;
            line_open(&line, right_key);
            pump(&line);
            line.flip_at[from] = line.seen[from] + at;
            line.flip_bit = (int) (at % 8);
            send_bytes(from == 0 ? &line.client : &line.server, 21, CLV_OK);
            pump(&line);
            end_t *to = from == 0 ? &line.server : &line.client;
            assert_int_equal(to->n_frames, 0);
            /* Either refused, or a longer frame is awaited whose tag cannot fit. */
            for (int more = 0; more < 30 && to->status == CLV_OK; more++) {
                send_bytes(from == 0 ? &line.client : &line.server, 21, CLV_OK);
            }
            pump(&line);
            assert_int_equal(to->status, CLV_PROTOCOL);
            assert_int_equal(to->n_frames, 0);
            line_close(&line);
        }
    }
}

static void repeated_frame_is_refused(void **state)
{
    (void) state;
    line_t line;
    unsigned char bytes[HEADER_BYTES + 21];
    line_open(&line, right_key);
    pump(&line);
    send_bytes(&line.client, 21, CLV_OK);
    assert_int_equal(recv(line.wire[0], bytes, sizeof bytes, MSG_PEEK), sizeof bytes);
    pump(&line);
    expect_frame(&line.server, 1, 21);
    assert_int_equal(write(line.wire[1], bytes, sizeof bytes), sizeof bytes);
    pump(&line);
    assert_int_equal(line.server.status, CLV_PROTOCOL);
    assert_int_equal(line.server.n_frames, 1);
    line_close(&line);
}

static void lengths_and_queues_are_bounded(void **state)
{
    (void) state;
    line_t line;
    line_open(&line, right_key);
    const clv_net_stamp_t stamp = {0};
    assert_int_equal(clv_net_channel_send(line.client.channel, CLV_NET_FRAME_PING, &stamp, NULL, 0),
                     CLV_LOST); /* not up yet */
    pump(&line);
    send_bytes(&line.client, MAX_PAYLOAD + 1, CLV_LIMIT);
    /* Nobody reads: sockets fill, then the queue, then it is over, long before memory is. */
    static const unsigned char payload[MAX_PAYLOAD];
    clv_status_t status = CLV_OK;
    long n_sent = 0;
    while (status == CLV_OK && n_sent < 100000) {
        status = clv_net_channel_send(line.client.channel, CLV_NET_FRAME_DATA, &stamp, payload,
                                      sizeof payload);
        n_sent++;
    }
    assert_int_equal(status, CLV_LIMIT);
    line_close(&line);
}

static void end_of_the_peer_is_lost(void **state)
{
    (void) state;
    line_t line;
    line_open(&line, right_key);
    pump(&line);
    (void) shutdown(line.wire[0], SHUT_RDWR);
    (void) shutdown(line.wire[1], SHUT_RDWR);
    step(&line.client);
    step(&line.server);
    assert_int_equal(line.client.status, CLV_LOST);
    assert_int_equal(line.server.status, CLV_LOST);
    line_close(&line);
}

/* ---- endpoint records and addresses --------------------------------------------------------- */

static void endpoints_keep_every_field(void **state)
{
    (void) state;
    clv_pap_endpoint_t endpoint = {0}, back;
    unsigned char bytes[CLV_PAP_ENDPOINT_BYTES], again[CLV_PAP_ENDPOINT_BYTES];
    assert_int_equal(clv_pap_endpoint_host(&endpoint), CLV_OK);
    assert_int_equal(endpoint.pid, getpid());
    endpoint.table_fd = 7;
    endpoint.wake_fd = 9;
    endpoint.table_bytes = UINT64_MAX - 3;
    endpoint.table_token = 0x0123456789abcdef;
    endpoint.pretend_host = 3;
    endpoint.port = 65535;
    endpoint.n_addresses = 2;
    endpoint.addresses[0] = (clv_net_address_t){.family = 4, .bytes = {10, 0, 0, 1}};
    endpoint.addresses[1] = (clv_net_address_t){.family = 6, .bytes = {0xfd}};
    memset(endpoint.key, 0xa5, sizeof endpoint.key);
    clv_pap_endpoint_encode(&endpoint, bytes);
    assert_int_equal(clv_pap_endpoint_decode(bytes, &back), CLV_OK);
    assert_memory_equal(endpoint.key, back.key, sizeof endpoint.key);
    clv_pap_endpoint_encode(&back, again);
    assert_memory_equal(bytes, again, sizeof bytes);
    back.pid++;
    back.net_ns_id++;
    back.port--;
    clv_pap_endpoint_encode(&back, again);
    assert_true(clv_pap_endpoint_same_host(bytes, again));
    uint64_t *const wide[] = {&back.boot_hash, &back.time_ns_id, &back.pid_ns_id};
    uint32_t *const narrow[] = {&back.uid, &back.pretend_host};
    for (int i = 0; i < 5; i++) {
        i < 3 ? (void) ++*wide[i] : (void) ++*narrow[i - 3];
        clv_pap_endpoint_encode(&back, again);
        assert_false(clv_pap_endpoint_same_host(bytes, again));
        i < 3 ? (void) --*wide[i] : (void) --*narrow[i - 3];
    }
}

static void malformed_endpoints_are_refused(void **state)
{
    (void) state;
    clv_pap_endpoint_t endpoint = {.n_addresses = 1, .addresses = {{.family = 4}}};
    unsigned char bytes[CLV_PAP_ENDPOINT_BYTES], bad[CLV_PAP_ENDPOINT_BYTES];
    static const int matters[] = {0, 1, 2, 3, 4, 5, 6, 7, 110, 111, 113, 114, 115, 116};
    clv_pap_endpoint_encode(&endpoint, bytes);
    for (size_t i = 0; i < sizeof matters / sizeof matters[0]; i++) {
        memcpy(bad, bytes, sizeof bad);
        bad[matters[i]] ^= 0x41;
        assert_int_equal(clv_pap_endpoint_decode(bad, &endpoint), CLV_PROTOCOL);
    }
}

/* Forty addresses of a host: eight in the endpoint record, the others beside it, none lost. */
static void endpoints_have_all_addresses(void **state)
{
    enum { N = 40 };
    clv_net_address_t all[N] = {{0}}, one;
    clv_pap_endpoint_t endpoint = {.n_addresses = N}, back;
    unsigned char bytes[CLV_PAP_ENDPOINT_BYTES], more[N * 17 + 1];
    (void) state;
    for (int i = 0; i < N; i++) {
        all[i] = (clv_net_address_t){.family = i % 2 ? 4 : 6, .bytes = {10, (unsigned char) i}};
    }
    memcpy(endpoint.addresses, all, sizeof endpoint.addresses);
    clv_pap_endpoint_encode(&endpoint, bytes);
    assert_int_equal(clv_pap_endpoint_more_bytes(CLV_PAP_ENDPOINT_ADDRESSES), 0);
    assert_int_equal(clv_pap_more_bytes(bytes, CLV_PAP_ENDPOINT_BYTES, 1),
                     clv_pap_endpoint_more_bytes(N));
    clv_pap_endpoint_encode_more(all, N, more, sizeof more);
    assert_int_equal(clv_pap_endpoint_decode(bytes, &back), CLV_OK);
    assert_int_equal(clv_pap_endpoint_address(&back, CLV_PAP_ENDPOINT_ADDRESSES, &one), CLV_NONE);
    back.more = more;
    for (int i = 0; i < N; i++) {
        assert_int_equal(clv_pap_endpoint_address(&back, i, &one), CLV_OK);
        assert_memory_equal(&one, &all[i], sizeof one);
    }
    more[0] = 5; /* a family that is none */
    assert_int_equal(clv_pap_endpoint_address(&back, CLV_PAP_ENDPOINT_ADDRESSES, &one),
                     CLV_PROTOCOL);
}

/* A loopback of 127.0.0.1/8 is on every machine. */
static void interface_can_be_an_address_or_a_network(void **state)
{
    static const char *const good[] = {"127.0.0.1",     "127.0.0.1/32", "127.0.0.0/8",
                                       "127.255.0.9/8", "0.0.0.0/1",    "0.0.0.0/0"};
    static const char *const bad[] = {"127.0.0.2",    "127.0.0.1/33", "127.0.0.1/",
                                      "127.0.0.1/8x", "127.0.0.1/-1", "127.0.0.2/31",
                                      "127.0.0.1/ 8", "::1:2/x",      "127.0.0",
                                      "fd00::/129",   "/8",           ""};
    const clv_net_address_t loopback = {4, 8, {127, 0, 0, 1}};
    clv_net_address_t *addresses = NULL;
    int32_t n_addresses = 0;
    (void) state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(clv_net_interface_list(good[i], &addresses, &n_addresses), CLV_OK);
        assert_true(clv_net_interface_is_own(addresses, n_addresses, &loopback));
        clv_free(addresses);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(clv_net_interface_list(bad[i], &addresses, &n_addresses), CLV_UNSUPPORTED);
    }
    /* Only what lies in it, in the other family as well. */
    assert_int_equal(clv_net_interface_list("127.0.0.1", &addresses, &n_addresses), CLV_OK);
    assert_int_equal(n_addresses, 1);
    clv_free(addresses);
    if (clv_net_interface_list("::1/128", &addresses, &n_addresses) == CLV_OK) {
        assert_int_equal(n_addresses, 1);
        assert_int_equal(addresses[0].family, 6);
        assert_int_equal(addresses[0].bytes[15], 1);
        clv_free(addresses);
    }
}

/* ---- ports: the first free one of the range; none left is an error ------------------------ */

static void count_nothing(void *context, clv_net_counter_t what, int64_t more)
{
    (void) context;
    (void) what;
    (void) more;
}

static clv_net_server_t server_with_ports(clv_net_thread_t *thread, int32_t min, int32_t range)
{
    static const clv_net_server_ops_t server_ops = {.count = count_nothing};
    clv_net_server_t server = {.port_min = min, .port_range = range};
    clv_net_server_init(&server, thread, &server_ops, NULL);
    return server;
}

/* ---- what may block -------------------------------------------------------------------------- */

typedef struct deferral {
    clv_net_thread_t *thread;
    sem_t has_begun, may_end;
    atomic_int n_done;
    int is_asked;
} deferral_t;

static void block(void *context)
{
    deferral_t *deferral = context;
    sem_post(&deferral->has_begun);
    sem_wait(&deferral->may_end);
    (void) usleep(20000); /* whoever does not wait for this sees 0 */
    deferral->n_done++;
}

static int64_t defer_once(void *context, int64_t now_ns, int rung)
{
    deferral_t *deferral = context;
    (void) now_ns;
    (void) rung;
    if (!deferral->is_asked) {
        deferral->is_asked = 1;
        assert_int_equal(clv_net_thread_defer(deferral->thread, block, deferral), 1);
    }
    return INT64_MAX;
}

static void what_is_deferred_holds_nobody_up(void **state)
{
    static const clv_net_thread_ops_t once = {.work = defer_once};
    deferral_t deferral = {0};
    int other, third;
    (void) state;
    assert_int_equal(sem_init(&deferral.has_begun, 0, 0), 0);
    assert_int_equal(sem_init(&deferral.may_end, 0, 0), 0);
    assert_int_equal(clv_net_thread_create(&once, &deferral, &deferral.thread), CLV_OK);
    clv_net_thread_lock(deferral.thread);
    assert_int_equal(clv_net_thread_start(deferral.thread), CLV_OK);
    clv_net_thread_unlock(deferral.thread);
    sem_wait(&deferral.has_begun);
    clv_net_thread_lock(deferral.thread); /* though the thread is at it */
    assert_int_equal(deferral.n_done, 0);
    assert_int_equal(clv_net_thread_defer(deferral.thread, block, &other), 1);
    assert_int_equal(clv_net_thread_defer(deferral.thread, block, &third), 0);
    sem_post(&deferral.may_end);
    clv_net_thread_settle(deferral.thread); /* and what waits is forgotten: block never sees it */
    assert_int_equal(deferral.n_done, 1);
    clv_net_thread_unlock(deferral.thread);
    clv_net_thread_free(deferral.thread);
    assert_int_equal(deferral.n_done, 1);
    sem_destroy(&deferral.has_begun);
    sem_destroy(&deferral.may_end);
}

/* ---- who waits for the thread ---------------------------------------------------------------- */

typedef struct loan {
    sem_t has_begun;
    atomic_int lends, has_ended;
    int is_asked, was_urged, was_lent;
} loan_t;

/* Of the calling thread, as the scheduler sees it: below zero is real-time. */
static int own_priority(void)
{
    char text[512] = "";
    int priority = 0;
    FILE *file = fopen("/proc/thread-self/stat", "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    (void) fclose(file);
    const char *at = strrchr(text, ')'); /* names may have spaces */
    assert_non_null(at);
    assert_int_equal(sscanf(at + 1,
                            " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %d",
                            &priority),
                     1);
    return priority;
}

/* Holds the lock until another thread has lent its priority, or for 5 s. */
static int64_t work_until_lent(void *context, int64_t now_ns, int rung)
{
    loan_t *loan = context;
    (void) rung;
    if (loan->is_asked) {
        return INT64_MAX;
    }
    loan->is_asked = 1;
    sem_post(&loan->has_begun);
    while (!loan->lends) {
        loan->was_urged |= own_priority() < 0 && !loan->lends; /* asked in that order */
    }
    while (!loan->was_lent && clv_local_now_ns() - now_ns < 5 * CLV_NS_PER_S) {
        loan->was_lent = own_priority() < 0;
    }
    loan->has_ended = 1;
    return INT64_MAX;
}

static void who_waits_for_the_thread_lends_it_his_priority(void **state)
{
    static const clv_net_thread_ops_t ops = {.work = work_until_lent};
    const struct sched_param first = {.sched_priority = 1}, usual = {0};
    clv_net_thread_t *thread = NULL;
    loan_t loan = {0};
    (void) state;
    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &first) != 0) {
        skip();
    }
    assert_int_equal(sem_init(&loan.has_begun, 0, 0), 0);
    assert_int_equal(clv_net_thread_create(&ops, &loan, &thread), CLV_OK);
    clv_net_thread_lock(thread);
    assert_int_equal(clv_net_thread_start(thread), CLV_OK);
    clv_net_thread_unlock(thread);
    sem_wait(&loan.has_begun);
    for (int i = 0; i < 1000; i++) {
        clv_net_thread_turn(thread, 0);
    }
    loan.lends = 1;
    while (!loan.has_ended) {
        clv_net_thread_turn(thread, 1);
    }
    assert_int_equal(pthread_setschedparam(pthread_self(), SCHED_OTHER, &usual), 0);
    clv_net_thread_free(thread);
    assert_false(loan.was_urged);
    assert_true(loan.was_lent);
    sem_destroy(&loan.has_begun);
}

static void ports_are_taken_from_the_range(void **state)
{
    static const clv_net_thread_ops_t no_ops = {0};
    clv_net_thread_t *thread = NULL;
    (void) state;
    assert_int_equal(clv_net_thread_create(&no_ops, NULL, &thread), CLV_OK);
    /* Two that are free now: the kernel gives one, and the next is tried. */
    clv_net_server_t any = server_with_ports(thread, 0, 0);
    assert_int_equal(clv_net_listen_acquire(&any), CLV_OK);
    assert_true(any.port > 0);
    const int32_t min = any.port;
    clv_net_server_t second = server_with_ports(thread, min, 200);
    assert_int_equal(clv_net_listen_acquire(&second), CLV_OK);
    assert_in_range(second.port, min + 1, min + 199);
    clv_net_server_t none = server_with_ports(thread, min, 1);
    assert_int_equal(clv_net_listen_acquire(&none), CLV_SYSTEM);
    clv_net_listen_release(&any);
    assert_int_equal(clv_net_listen_acquire(&none), CLV_OK);
    assert_int_equal(none.port, min);
    clv_net_listen_release(&none);
    clv_net_listen_release(&second);
    /* A range that ends behind the last port ends with it. */
    clv_net_server_t last = server_with_ports(thread, 65535, 65535);
    if (clv_net_listen_acquire(&last) == CLV_OK) {
        assert_int_equal(last.port, 65535);
        clv_net_listen_release(&last);
    }
    clv_net_thread_free(thread);
}

static void interface_can_be_named(void **state)
{
    (void) state;
    clv_net_address_t *addresses = NULL;
    int32_t n_addresses = 0;
    assert_int_equal(clv_net_interface_list("lo", &addresses, &n_addresses), CLV_OK);
    assert_true(n_addresses >= 1);
    const clv_net_address_t loopback = {4, 8, {127, 0, 0, 1}}, other = {4, 0, {127, 9, 9, 9}};
    assert_true(clv_net_interface_is_own(addresses, n_addresses, &loopback));
    assert_int_equal(clv_net_interface_score(&loopback, 1, &other), 2);
    const clv_net_address_t far = {4, 0, {10, 0, 0, 1}}, far6 = {6, 0, {0xfd}};
    assert_int_equal(clv_net_interface_score(&loopback, 1, &far), 1);
    assert_int_equal(clv_net_interface_score(&loopback, 1, &far6), 0);
    clv_free(addresses);
    assert_int_equal(clv_net_interface_list("nosuch0", &addresses, &n_addresses), CLV_UNSUPPORTED);
}

/* The sender counts on what this end's kernel has, also where this end can send no more. */
static void what_came_before_the_end_is_taken(void **state)
{
    (void) state;
    line_t line;
    line_open(&line, right_key);
    pump(&line);
    assert_int_equal(line.client.n_up, 1);
    send_bytes(&line.server, 10, CLV_OK);
    assert_int_equal(pass(&line, 1), 1);
    (void) close(line.wire[0]);
    line.wire[0] = -1;
    send_bytes(&line.client, 20, CLV_LOST);
    step(&line.client);
    assert_int_equal(line.client.status, CLV_LOST);
    assert_int_equal(line.client.n_frames, 1);
    assert_int_equal(line.client.n_bytes, 10);
    line_close(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_came_before_the_end_is_taken),
        cmocka_unit_test(frames_of_all_lengths_arrive_both_ways),
        cmocka_unit_test(wrong_key_gets_nowhere),
        cmocka_unit_test(no_changed_byte_of_the_handshake_passes),
        cmocka_unit_test(no_changed_byte_of_a_frame_passes),
        cmocka_unit_test(repeated_frame_is_refused),
        cmocka_unit_test(lengths_and_queues_are_bounded),
        cmocka_unit_test(end_of_the_peer_is_lost),
        cmocka_unit_test(endpoints_keep_every_field),
        cmocka_unit_test(malformed_endpoints_are_refused),
        cmocka_unit_test(endpoints_have_all_addresses),
        cmocka_unit_test(interface_can_be_named),
        cmocka_unit_test(interface_can_be_an_address_or_a_network),
        cmocka_unit_test(what_is_deferred_holds_nobody_up),
        cmocka_unit_test(who_waits_for_the_thread_lends_it_his_priority),
        cmocka_unit_test(ports_are_taken_from_the_range),
    };
    return clv_run_tests(tests);
}
