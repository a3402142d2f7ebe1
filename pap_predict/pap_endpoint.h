/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The endpoint record, which each rank sends all others once per group through the caller's
 * allgather.
 *
 * It says which ranks share a host, how to reach this rank's table and thread, and (rank 0's) the
 * group's key. A host may have any number of network addresses: an endpoint record has the first
 * ones and their total number; if there are more, a second exchange moves the rest for all ranks.
 * An endpoint record comes from another process: decode checks every field before use. Pure but for
 * clv_pap_endpoint_host, which reads /proc. Any thread.
 */
#ifndef CLV_PAP_ENDPOINT_H
#define CLV_PAP_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pap_predict/net/net_channel.h"
#include "pap_predict/net/net_interface.h"
#include "pap_predict/pap_predict.h"

#define CLV_PAP_ENDPOINT_ADDRESSES 8 /* in the endpoint record itself */

typedef struct clv_pap_endpoint {
    uint64_t boot_hash;  /* of the kernel's boot id */
    uint64_t time_ns_id; /* inode of the time namespace; 0: the kernel has none */
    uint64_t pid_ns_id;
    uint64_t net_ns_id;
    uint32_t uid;
    uint32_t pid;
    uint32_t table_fd; /* in that process */
    uint32_t wake_fd;
    uint64_t table_bytes;
    uint64_t table_token;  /* random, also in the table's header to verify the memory */
    uint32_t pretend_host; /* tests: ranks with different values are on different hosts */
    uint16_t port;
    int32_t n_addresses;                                     /* of the host */
    clv_net_address_t addresses[CLV_PAP_ENDPOINT_ADDRESSES]; /* the first of them */
    const unsigned char
        *more; /* the other addresses, encoded and not owned; not in the endpoint record */
    unsigned char key[CLV_NET_KEY_BYTES];
} clv_pap_endpoint_t;

/* Fills the fields for the host, its namespaces, the user and the process. CLV_UNSUPPORTED: /proc
 * lacks them. */
clv_status_t clv_pap_endpoint_host(clv_pap_endpoint_t *endpoint) CLV_MUST_CHECK;

/* bytes: CLV_PAP_ENDPOINT_BYTES. Decode: CLV_PROTOCOL for anything that encode would not write. */
void clv_pap_endpoint_encode(const clv_pap_endpoint_t *endpoint, unsigned char *bytes);
clv_status_t clv_pap_endpoint_decode(const unsigned char *bytes,
                                     clv_pap_endpoint_t *endpoint_p) CLV_MUST_CHECK;

/* Of two encoded records: whether both ranks have the same clock, process numbers and user; then
 * they share a table. */
bool clv_pap_endpoint_same_host(const unsigned char *a, const unsigned char *b);

/* All ranks' encoded records, as the caller gathered them; equal on all ranks. Not owned. */
typedef struct clv_pap_endpoints {
    const unsigned char *records;
    size_t stride;             /* bytes from one to the next */
    const unsigned char *more; /* NULL: nothing */
    size_t more_bytes;         /* of each */
} clv_pap_endpoints_t;

const unsigned char *clv_pap_endpoint_record(const clv_pap_endpoints_t *all, int32_t rank);
/* Decodes a rank's. CLV_PROTOCOL: malformed, or its addresses do not fit into more_bytes. */
clv_status_t clv_pap_endpoint_of(const clv_pap_endpoints_t *all, int32_t rank,
                                 clv_pap_endpoint_t *endpoint_p) CLV_MUST_CHECK;

/* The group's key, in rank 0's record. */
const unsigned char *clv_pap_endpoint_key(const clv_pap_endpoints_t *all);

/* The number of addresses in an encoded endpoint record; 0 if it is invalid. */
int32_t clv_pap_endpoint_n_addresses(const unsigned char *bytes);
/* The bytes of the addresses that do not fit into the record, of n in all; encodes them, padded
 * with zeros. */
size_t clv_pap_endpoint_more_bytes(int32_t n_addresses);
void clv_pap_endpoint_encode_more(const clv_net_address_t *addresses, int32_t n_addresses,
                                  unsigned char *more, size_t n_bytes);
/* Address i, 0 .. n_addresses - 1. CLV_NONE: it is in `more`, which is NULL. CLV_PROTOCOL:
 * malformed. */
clv_status_t clv_pap_endpoint_address(const clv_pap_endpoint_t *endpoint, int32_t i,
                                      clv_net_address_t *address_p) CLV_MUST_CHECK;

#endif
