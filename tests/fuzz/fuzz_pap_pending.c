/* SPDX-License-Identifier: BSD-3-Clause
 *
 * libFuzzer target: what unauthenticated connections can send. The first byte chooses: an endpoint
 * record, a server's connection from its first byte on, or one whose hello was right. Nothing may
 * crash, leak, or get in.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/util_bytes.h"
#include "pap_predict/pap_endpoint.h"
#include "pap_predict/net/net_channel.h"
#include "tests/fuzz/fuzz_alloc.h"

static const unsigned char key[CLV_NET_KEY_BYTES] = "a key that is never told";

static const unsigned char *find(void *context, const unsigned char *group_id, uint32_t host,
                                 size_t *max_payload_p)
{
    (void) context;
    (void) group_id;
    *max_payload_p = 5000;
    return host < 10 ? key : NULL;
}

/* Nobody here knows the key. */
static int up(void *context, clv_net_channel_t *channel)
{
    (void) context;
    (void) channel;
    abort();
}

static clv_status_t frame(void *context, clv_net_channel_t *channel, clv_net_frame_kind_t kind,
                          const clv_net_stamp_t *stamp, int64_t received_ns,
                          const unsigned char *payload, size_t payload_bytes)
{
    (void) context;
    (void) channel;
    (void) kind;
    (void) stamp;
    (void) received_ns;
    (void) payload;
    (void) payload_bytes;
    abort();
}

static const clv_net_channel_ops_t ops = {find, up, frame};

/* The input is what differs from a right endpoint record, so that more than its first bytes are
 * looked at. */
static void try_endpoint(const uint8_t *data, size_t n_bytes)
{
    unsigned char bytes[CLV_PAP_ENDPOINT_BYTES], again[CLV_PAP_ENDPOINT_BYTES];
    clv_pap_endpoint_t endpoint = {
        .port = 1, .n_addresses = 2, .addresses = {{.family = 4}, {.family = 6}}};
    clv_pap_endpoint_encode(&endpoint, bytes);
    for (size_t i = 0; i < n_bytes && i < sizeof bytes; i++) {
        bytes[i] ^= data[i];
    }
    if (clv_pap_endpoint_decode(bytes, &endpoint) == CLV_OK) {
        clv_pap_endpoint_encode(&endpoint, again);
        if (clv_pap_endpoint_decode(again, &endpoint) != CLV_OK) {
            abort();
        }
    }
}

static void put_hello(int fd)
{
    unsigned char hello[48] = "clvH\1";
    clv_net_group_id(key, hello + 8);
    (void) !write(fd, hello, sizeof hello);
}

/* In pieces whose lengths are part of the input, so that every way to cut a message is tried. */
static void try_channel(const uint8_t *data, size_t n_bytes, int with_hello)
{
    int pair[2];
    clv_net_channel_t *channel = NULL;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) != 0 ||
        clv_net_channel_accept(pair[0], &channel) != CLV_OK) {
        abort();
    }
    if (with_hello) {
        put_hello(pair[1]);
    }
    clv_status_t status = clv_net_channel_io(channel, &ops, NULL);
    for (size_t at = 0; at < n_bytes && status == CLV_OK;) {
        size_t piece = 1 + data[at] % 64;
        piece = piece < n_bytes - at ? piece : n_bytes - at;
        (void) !write(pair[1], data + at, piece);
        at += piece;
        status = clv_net_channel_io(channel, &ops, NULL);
    }
    clv_net_channel_close(channel);
    (void) close(pair[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    if (n_bytes == 0) {
        return 0;
    }
    if (data[0] % 3 == 0) {
        try_endpoint(data + 1, n_bytes - 1);
    } else {
        try_channel(data + 1, n_bytes - 1, data[0] % 3 == 1);
    }
    clv_fuzz_alloc_end();
    return 0;
}
