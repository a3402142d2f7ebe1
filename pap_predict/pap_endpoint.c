/* SPDX-License-Identifier: BSD-3-Clause
 * See pap_endpoint.h.
 */
#include "pap_predict/pap_endpoint.h"

#include <string.h>
#include <unistd.h>

#include "util/util_bytes.h"
#include "util/util_place.h"

#define ENDPOINT_MAGIC   UINT32_C(0x50766c63) /* "clvP" */
#define ENDPOINT_VERSION 2

/* Offsets in an endpoint record; bytes between and after the fields are zero. */
enum {
    AT_MAGIC = 0,
    AT_VERSION = 4,
    AT_BOOT = 8,
    AT_TIME_NS = 16,
    AT_PID_NS = 24,
    AT_NET_NS = 32,
    AT_UID = 40,
    AT_PID = 44,
    AT_TABLE_FD = 48,
    AT_WAKE_FD = 52,
    AT_TABLE_BYTES = 56,
    AT_TOKEN = 64,
    AT_KEY = 72,
    AT_PRETEND = 104,
    AT_PORT = 108,
    AT_N_ADDRESSES = 112,
    AT_ADDRESSES = 116, /* each: family, then 16 bytes */
    ADDRESS_BYTES = 17,
    AT_END = AT_ADDRESSES + CLV_PAP_ENDPOINT_ADDRESSES * ADDRESS_BYTES
};

_Static_assert(AT_KEY + CLV_NET_KEY_BYTES == AT_PRETEND, "the key fits its place");
_Static_assert(AT_END <= CLV_PAP_ENDPOINT_BYTES, "the endpoint fits its size");

clv_status_t clv_pap_endpoint_host(clv_pap_endpoint_t *endpoint)
{
    clv_status_t status = clv_place_kernel(&endpoint->boot_hash);
    if (status != CLV_OK) {
        return status;
    }
    endpoint->time_ns_id = clv_place_namespace("time");
    endpoint->pid_ns_id = clv_place_namespace("pid");
    endpoint->net_ns_id = clv_place_namespace("net");
    endpoint->uid = (uint32_t) geteuid();
    endpoint->pid = (uint32_t) getpid();
    return CLV_OK;
}

/* ---- addresses ---------------------------------------------------------------------------- */

static int32_t n_inside(int32_t n_addresses)
{
    return n_addresses < CLV_PAP_ENDPOINT_ADDRESSES ? n_addresses : CLV_PAP_ENDPOINT_ADDRESSES;
}

static void put_address(unsigned char *bytes, const clv_net_address_t *address)
{
    bytes[0] = address->family;
    memcpy(bytes + 1, address->bytes, 16);
}

static clv_status_t get_address(const unsigned char *bytes, clv_net_address_t *address_p)
{
    if (bytes[0] != 4 && bytes[0] != 6) {
        return CLV_PROTOCOL;
    }
    *address_p = (clv_net_address_t){.family = bytes[0]};
    memcpy(address_p->bytes, bytes + 1, 16);
    return CLV_OK;
}

int32_t clv_pap_endpoint_n_addresses(const unsigned char *bytes)
{
    const uint32_t n_addresses = clv_get_u32(bytes + AT_N_ADDRESSES);
    return n_addresses > CLV_NET_MAX_ADDRESSES ? 0 : (int32_t) n_addresses;
}

size_t clv_pap_endpoint_more_bytes(int32_t n_addresses)
{
    return (size_t) (n_addresses - n_inside(n_addresses)) * ADDRESS_BYTES;
}

void clv_pap_endpoint_encode_more(const clv_net_address_t *addresses, int32_t n_addresses,
                                  unsigned char *more, size_t n_bytes)
{
    memset(more, 0, n_bytes);
    for (int32_t i = CLV_PAP_ENDPOINT_ADDRESSES; i < n_addresses; i++) {
        put_address(more + (i - CLV_PAP_ENDPOINT_ADDRESSES) * ADDRESS_BYTES, &addresses[i]);
    }
}

clv_status_t clv_pap_endpoint_address(const clv_pap_endpoint_t *endpoint, int32_t i,
                                      clv_net_address_t *address_p)
{
    if (i < CLV_PAP_ENDPOINT_ADDRESSES) {
        *address_p = endpoint->addresses[i];
        return CLV_OK;
    }
    return endpoint->more == NULL
               ? CLV_NONE
               : get_address(endpoint->more + (i - CLV_PAP_ENDPOINT_ADDRESSES) * ADDRESS_BYTES,
                             address_p);
}

/* ---- the endpoint record -------------------------------------------------------------------- */

void clv_pap_endpoint_encode(const clv_pap_endpoint_t *endpoint, unsigned char *bytes)
{
    memset(bytes, 0, CLV_PAP_ENDPOINT_BYTES);
    clv_put_u32(bytes + AT_MAGIC, ENDPOINT_MAGIC);
    clv_put_u32(bytes + AT_VERSION, ENDPOINT_VERSION);
    clv_put_u64(bytes + AT_BOOT, endpoint->boot_hash);
    clv_put_u64(bytes + AT_TIME_NS, endpoint->time_ns_id);
    clv_put_u64(bytes + AT_PID_NS, endpoint->pid_ns_id);
    clv_put_u64(bytes + AT_NET_NS, endpoint->net_ns_id);
    clv_put_u32(bytes + AT_UID, endpoint->uid);
    clv_put_u32(bytes + AT_PID, endpoint->pid);
    clv_put_u32(bytes + AT_TABLE_FD, endpoint->table_fd);
    clv_put_u32(bytes + AT_WAKE_FD, endpoint->wake_fd);
    clv_put_u64(bytes + AT_TABLE_BYTES, endpoint->table_bytes);
    clv_put_u64(bytes + AT_TOKEN, endpoint->table_token);
    memcpy(bytes + AT_KEY, endpoint->key, CLV_NET_KEY_BYTES);
    clv_put_u32(bytes + AT_PRETEND, endpoint->pretend_host);
    clv_put_u32(bytes + AT_PORT, endpoint->port);
    clv_put_u32(bytes + AT_N_ADDRESSES, (uint32_t) endpoint->n_addresses);
    for (int32_t i = 0; i < n_inside(endpoint->n_addresses); i++) {
        put_address(bytes + AT_ADDRESSES + i * ADDRESS_BYTES, &endpoint->addresses[i]);
    }
}

static clv_status_t decode_addresses(const unsigned char *bytes, clv_pap_endpoint_t *endpoint)
{
    const uint32_t n_addresses = clv_get_u32(bytes + AT_N_ADDRESSES);
    if (n_addresses > CLV_NET_MAX_ADDRESSES) {
        return CLV_PROTOCOL;
    }
    endpoint->n_addresses = (int32_t) n_addresses;
    clv_status_t status = CLV_OK;
    for (int32_t i = 0; i < n_inside(endpoint->n_addresses) && status == CLV_OK; i++) {
        status = get_address(bytes + AT_ADDRESSES + i * ADDRESS_BYTES, &endpoint->addresses[i]);
    }
    return status;
}

clv_status_t clv_pap_endpoint_decode(const unsigned char *bytes, clv_pap_endpoint_t *endpoint_p)
{
    clv_pap_endpoint_t endpoint = {0};
    const uint32_t port = clv_get_u32(bytes + AT_PORT);
    if (clv_get_u32(bytes + AT_MAGIC) != ENDPOINT_MAGIC ||
        clv_get_u32(bytes + AT_VERSION) != ENDPOINT_VERSION || port > UINT16_MAX ||
        decode_addresses(bytes, &endpoint) != CLV_OK) {
        return CLV_PROTOCOL;
    }
    endpoint.boot_hash = clv_get_u64(bytes + AT_BOOT);
    endpoint.time_ns_id = clv_get_u64(bytes + AT_TIME_NS);
    endpoint.pid_ns_id = clv_get_u64(bytes + AT_PID_NS);
    endpoint.net_ns_id = clv_get_u64(bytes + AT_NET_NS);
    endpoint.uid = clv_get_u32(bytes + AT_UID);
    endpoint.pid = clv_get_u32(bytes + AT_PID);
    endpoint.table_fd = clv_get_u32(bytes + AT_TABLE_FD);
    endpoint.wake_fd = clv_get_u32(bytes + AT_WAKE_FD);
    endpoint.table_bytes = clv_get_u64(bytes + AT_TABLE_BYTES);
    endpoint.table_token = clv_get_u64(bytes + AT_TOKEN);
    endpoint.pretend_host = clv_get_u32(bytes + AT_PRETEND);
    endpoint.port = (uint16_t) port;
    *endpoint_p = endpoint;
    memcpy(endpoint_p->key, bytes + AT_KEY, CLV_NET_KEY_BYTES); /* no copy of the key elsewhere */
    return CLV_OK;
}

bool clv_pap_endpoint_same_host(const unsigned char *a, const unsigned char *b)
{
    return memcmp(a + AT_BOOT, b + AT_BOOT, AT_NET_NS - AT_BOOT) == 0 &&
           memcmp(a + AT_UID, b + AT_UID, AT_PID - AT_UID) == 0 &&
           memcmp(a + AT_PRETEND, b + AT_PRETEND, AT_PORT - AT_PRETEND) == 0;
}

const unsigned char *clv_pap_endpoint_record(const clv_pap_endpoints_t *all, int32_t rank)
{
    return all->records + (size_t) rank * all->stride;
}

const unsigned char *clv_pap_endpoint_key(const clv_pap_endpoints_t *all)
{
    return all->records + AT_KEY;
}

clv_status_t clv_pap_endpoint_of(const clv_pap_endpoints_t *all, int32_t rank,
                                 clv_pap_endpoint_t *endpoint_p)
{
    clv_status_t status = clv_pap_endpoint_decode(clv_pap_endpoint_record(all, rank), endpoint_p);
    if (status == CLV_OK && all->more != NULL) {
        endpoint_p->more = all->more + (size_t) rank * all->more_bytes;
        status = clv_pap_endpoint_more_bytes(endpoint_p->n_addresses) <= all->more_bytes
                     ? CLV_OK
                     : CLV_PROTOCOL;
    }
    return status;
}
