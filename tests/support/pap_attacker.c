/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Unauthenticated connections to a running job, for tests/quality/attack.sh.
 *
 * usage: pap-attacker KIND SECONDS PORT...      KIND: garbage, key, flood
 *
 * Time (CLOCK_REALTIME) is cut into slots of SLOT_MS. In slot 3n + 1 it connects to the job's
 * ports, in 3n + 2 to an unanswered port of its own, which costs this machine the same but not the
 * job, and in 3n it sleeps. garbage: random bytes; key: a well-formed handshake for a group that
 * does not exist; flood: connects and leaves. About a thousand connections per second. Prints their
 * number.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SLOT_MS   500
#define MAX_PORTS 16
#define PAUSE_NS  1000000
#define BYTES     4096

static int64_t now_ms(void)
{
    struct timespec now;
    (void) clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void pause_ns(long ns)
{
    const struct timespec time = {0, ns};
    (void) nanosleep(&time, NULL);
}

static struct sockaddr_in loopback(int port)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t) port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return address;
}

static int own_listener(int *port_p)
{
    struct sockaddr_in address = loopback(0);
    socklen_t n_bytes = sizeof address;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *) &address, sizeof address) != 0 ||
        listen(fd, 64) != 0 || getsockname(fd, (struct sockaddr *) &address, &n_bytes) != 0) {
        perror("pap-attacker: listener");
        exit(1);
    }
    *port_p = ntohs(address.sin_port);
    return fd;
}

static void attack(const char *kind, int port)
{
    const struct sockaddr_in address = loopback(port);
    unsigned char bytes[BYTES];
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    (void) connect(fd, (const struct sockaddr *) &address, sizeof address);
    if (strcmp(kind, "flood") != 0) {
        (void) !getrandom(bytes, sizeof bytes, 0);
        if (strcmp(kind, "key") == 0) {
            memcpy(bytes, "clvH\1\0\0\0", 8);
        }
        (void) !send(fd, bytes, sizeof bytes, MSG_NOSIGNAL);
    }
    (void) close(fd);
}

/* Accepts connections to the own port, so that its queue is never full. */
static void take_in(int listener)
{
    for (int fd = accept(listener, NULL, NULL); fd >= 0; fd = accept(listener, NULL, NULL)) {
        (void) close(fd);
    }
}

int main(int argc, char **argv)
{
    int own_port, n_connections[3] = {0, 0, 0};
    const int listener = own_listener(&own_port), n_ports = argc - 3;
    if (n_ports < 1 || n_ports > MAX_PORTS) {
        fprintf(stderr, "usage: pap-attacker garbage|key|flood SECONDS PORT...\n");
        return 2;
    }
    for (const int64_t end_ms = now_ms() + 1000LL * atoi(argv[2]); now_ms() < end_ms;) {
        const int kind = (int) (now_ms() / SLOT_MS % 3);
        if (kind != 0) {
            attack(argv[1], kind == 1 ? atoi(argv[3 + n_connections[1] % n_ports]) : own_port);
        }
        n_connections[kind]++;
        take_in(listener);
        pause_ns(PAUSE_NS);
    }
    printf("connected %d times to the job, %d times to nobody\n", n_connections[1],
           n_connections[2]);
    return 0;
}
