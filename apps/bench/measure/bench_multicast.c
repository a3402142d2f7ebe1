/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See bench_sync.h. The group is an organisation-local one (239.192/14, RFC 2365). Group and port
 * are drawn from rank 0's clock and process number.
 */
#include "apps/bench/measure/bench_sync.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "util/util_hash.h"
#include "util/util_time.h"

#define HEAR_NS    (300 * CLV_NS_PER_MS) /* a datagram not heard by then is lost */
#define N_PROBES   5
#define FIRST_PORT 32768
#define N_PORTS    28000
#define GROUPS     UINT32_C(0xefc00000) /* 239.192.0.0, */
#define N_GROUPS   UINT32_C(0x3ffff)    /* mask of the addresses after it */

/* Rank 0's description of one of its networks; sent as plain bytes, since all ranks run one
 * build. */
typedef struct network {
    uint32_t address, mask; /* of rank 0, in network byte order; address 0: end of the list */
    char name[IF_NAMESIZE];
} network_t;

typedef struct datagram {
    uint64_t key, number;
} datagram_t;

/* ---- networks ---- */

static struct in_addr address_of(const struct sockaddr *address)
{
    return ((const struct sockaddr_in *) (const void *) address)->sin_addr;
}

/* The loopback network comes last: it reaches no other host. */
static bool is_usable(const struct ifaddrs *one, int is_loopback)
{
    return one->ifa_addr != NULL && one->ifa_addr->sa_family == AF_INET &&
           one->ifa_netmask != NULL && (one->ifa_flags & IFF_UP) != 0 &&
           ((one->ifa_flags & IFF_LOOPBACK) != 0) == is_loopback &&
           (is_loopback || (one->ifa_flags & IFF_MULTICAST) != 0);
}

/* This rank's network number `index`; address 0: no such network. */
static network_t network_of(int index)
{
    network_t network = {0};
    struct ifaddrs *all = NULL;

    if (getifaddrs(&all) != 0) {
        return network;
    }
    for (int is_loopback = 0; is_loopback < 2 && network.address == 0; is_loopback++) {
        for (const struct ifaddrs *one = all; one != NULL; one = one->ifa_next) {
            if (is_usable(one, is_loopback) && index-- == 0) {
                network.address = address_of(one->ifa_addr).s_addr;
                network.mask = address_of(one->ifa_netmask).s_addr;
                (void) snprintf(network.name, sizeof network.name, "%s", one->ifa_name);
                break;
            }
        }
    }
    freeifaddrs(all);
    return network;
}

/* This rank's own address in rank 0's network; 0: none. */
static uint32_t own_address(const network_t *theirs)
{
    network_t mine = network_of(0);

    for (int i = 1; mine.address != 0; i++) {
        if ((mine.address & theirs->mask) == (theirs->address & theirs->mask)) {
            break;
        }
        mine = network_of(i);
    }
    return mine.address;
}

/* ---- the socket ---- */

static bool set(int file, int option, const void *value, socklen_t n_bytes)
{
    return setsockopt(file, IPPROTO_IP, option, value, n_bytes) == 0;
}

/* Ranks of one host share the port, and each receives its own copy. */
static bool join_group(clv_bench_multicast_t *multicast, uint32_t own)
{
    const int yes = 1, one_hop = 1, no = 0;
    const struct in_addr here = {.s_addr = own};
    const struct ip_mreq membership = {multicast->group.sin_addr, here};
    const int file = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (file < 0) {
        return false;
    }
    if (setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(file, (const struct sockaddr *) &multicast->group, sizeof multicast->group) != 0 ||
        !set(file, IP_ADD_MEMBERSHIP, &membership, sizeof membership) ||
        !set(file, IP_MULTICAST_IF, &here, sizeof here) ||
        !set(file, IP_MULTICAST_TTL, &one_hop, sizeof one_hop) ||
        !set(file, IP_MULTICAST_LOOP, &yes, sizeof yes) ||
        !set(file, IP_MULTICAST_ALL, &no, sizeof no)) {
        (void) close(file);
        return false;
    }
    multicast->socket = file;
    return true;
}

static void send_start(const clv_bench_multicast_t *multicast)
{
    const datagram_t start = {multicast->key, multicast->number};
    const ssize_t ignored =
        sendto(multicast->socket, &start, sizeof start, 0,
               (const struct sockaddr *) &multicast->group, sizeof multicast->group);
    (void) ignored; /* then no rank hears it, and all say so */
}

static void sleep_for(int64_t ns)
{
    const struct timespec pause = {.tv_sec = (time_t) (ns / CLV_NS_PER_S),
                                   .tv_nsec = (long) (ns % CLV_NS_PER_S)};
    (void) nanosleep(&pause, NULL);
}

/* Skips older datagrams, for which ranks no longer wait. */
static bool hear_start(const clv_bench_multicast_t *multicast)
{
    const int64_t until_ns = clv_local_now_ns() + HEAR_NS;
    struct pollfd file = {.fd = multicast->socket, .events = POLLIN};
    datagram_t heard;

    for (int64_t left_ns = HEAR_NS; left_ns > 0; left_ns = until_ns - clv_local_now_ns()) {
        if (!multicast->is_spinning) {
            (void) poll(&file, 1, (int) (left_ns / CLV_NS_PER_MS) + 1);
        }
        while (recv(multicast->socket, &heard, sizeof heard, MSG_DONTWAIT) ==
               (ssize_t) sizeof heard) {
            if (heard.key == multicast->key && heard.number == multicast->number) {
                return true;
            }
        }
    }
    return false;
}

bool clv_bench_multicast_start(clv_bench_multicast_t *multicast, int64_t pause_ns)
{
    multicast->number++;
    if (multicast->is_sender) {
        sleep_for(pause_ns);
        send_start(multicast);
    }
    return hear_start(multicast);
}

void clv_bench_multicast_close(clv_bench_multicast_t *multicast)
{
    if (multicast->socket > 0) {
        (void) close(multicast->socket);
    }
    multicast->socket = 0;
}

/* ---- trying ---- */

/* The lowest rank with is_so false, known to all; the number of ranks if there is none. */
static int first_without(MPI_Comm comm, bool is_so)
{
    int rank, n_ranks, first;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n_ranks);
    first = is_so ? n_ranks : rank;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm);
    return first;
}

/* Sends several starts. Returns the number of ranks once all ranks hear one; otherwise the first
 * rank that missed the last. */
static int probe(MPI_Comm comm, clv_bench_multicast_t *multicast, int n_ranks)
{
    int first = 0;

    for (int i = 0; i < N_PROBES && first < n_ranks; i++) {
        MPI_Barrier(comm);
        first = first_without(comm, clv_bench_multicast_start(multicast, CLV_NS_PER_MS));
    }
    return first;
}

static bool try_network(MPI_Comm comm, clv_bench_multicast_t *multicast, const network_t *network,
                        int n_ranks, char *reason, size_t reason_bytes)
{
    const struct in_addr sender = {.s_addr = network->address};
    char text[INET_ADDRSTRLEN] = "?";
    const uint32_t own = own_address(network);
    const char *what = "has no part in it";
    int first = first_without(comm, own != 0 && join_group(multicast, own));

    if (first == n_ranks) {
        what = "heard nothing";
        first = probe(comm, multicast, n_ranks);
    }
    if (first == n_ranks) {
        (void) snprintf(multicast->network, sizeof multicast->network, "%s", network->name);
        return true;
    }
    clv_bench_multicast_close(multicast);
    (void) inet_ntop(AF_INET, &sender, text, sizeof text);
    (void) snprintf(reason, reason_bytes,
                    "no network carries multicast from rank 0 to all others: of %s (%s) rank %d %s",
                    network->name, text, first, what);
    return false;
}

/* Another job on the same network has another group or port, and in any case another key. */
static void choose_group(MPI_Comm comm, clv_bench_multicast_t *multicast)
{
    struct timespec now;
    uint64_t numbers[3];

    (void) clock_gettime(CLOCK_REALTIME, &now);
    numbers[0] = (uint64_t) now.tv_sec;
    numbers[1] = (uint64_t) now.tv_nsec;
    numbers[2] = (uint64_t) getpid();
    multicast->key = clv_fnv1a64(CLV_FNV1A64_BASIS, numbers, sizeof numbers);
    MPI_Bcast(&multicast->key, 1, MPI_UINT64_T, 0, comm);
    multicast->group.sin_family = AF_INET;
    multicast->group.sin_addr.s_addr = htonl(GROUPS + (uint32_t) (multicast->key % N_GROUPS) + 1);
    multicast->group.sin_port = htons((uint16_t) (FIRST_PORT + (multicast->key >> 32) % N_PORTS));
}

clv_status_t clv_bench_multicast_open(MPI_Comm comm, clv_bench_multicast_t *multicast, char *reason,
                                      size_t reason_bytes)
{
    int rank, n_ranks;
    bool is_open = false;
    network_t network = {.address = 1};

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n_ranks);
    multicast->is_sender = rank == 0;
    choose_group(comm, multicast);
    (void) snprintf(reason, reason_bytes, "rank 0 has no network for multicast");
    for (int i = 0; !is_open && network.address != 0; i++) {
        network = network_of(i);
        MPI_Bcast(&network, (int) sizeof network, MPI_BYTE, 0, comm);
        is_open = network.address != 0 &&
                  try_network(comm, multicast, &network, n_ranks, reason,
                              i == 0 ? reason_bytes : 0); /* keep the first reason */
    }
    return is_open ? CLV_OK : CLV_UNSUPPORTED;
}
