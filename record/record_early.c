/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How many unread bytes TCP connections accept (see record_early.h).
 */
#include "record/record_early.h"

#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Offsets in Linux's struct tcp_info, of which headers declare only a part: the bytes sent (8
 * bytes, since 4.19) and the window that the peer offers (4 bytes, since 5.4). */
#define SENT_AT    200
#define WINDOW_AT  228
#define INFO_BYTES 256

/* Reads one descriptor. Returns 0 if it is no TCP connection or the kernel does not say. */
static bool look_at(int fd, clv_clva_early_t *early)
{
    unsigned char info[INFO_BYTES];
    socklen_t length = sizeof info, one = sizeof(int);
    int buffer = 0;
    uint64_t sent;
    uint32_t window;

    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &length) != 0 || length < WINDOW_AT + 4 ||
        getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer, &one) != 0) {
        return false;
    }
    memcpy(&sent, info + SENT_AT, sizeof sent);
    memcpy(&window, info + WINDOW_AT, sizeof window);
    *early = (clv_clva_early_t){.kind = CLV_CLVA_EARLY,
                                .sent_bytes = (int64_t) (sent & INT64_MAX),
                                .window_bytes = window,
                                .buffer_bytes = buffer / 2}; /* Linux counts its overhead, too */
    return true;
}

bool clv_early_look(clv_clva_early_t *early_p)
{
    DIR *folder = opendir("/proc/self/fd");
    const struct dirent *entry;
    clv_clva_early_t one;

    *early_p = (clv_clva_early_t){.kind = CLV_CLVA_EARLY};
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] != '.' && look_at(atoi(entry->d_name), &one) &&
            one.sent_bytes > early_p->sent_bytes) {
            *early_p = one;
        }
    }
    if (folder != NULL) {
        (void) closedir(folder);
    }
    return early_p->sent_bytes >= CLV_EARLY_LEAST_SENT;
}
