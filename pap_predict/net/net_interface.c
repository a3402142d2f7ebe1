/* SPDX-License-Identifier: BSD-3-Clause
 * See net_interface.h.
 */
#include "pap_predict/net/net_interface.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/util_alloc.h"
#include "util/util_log.h"

clv_status_t clv_net_address_from_sockaddr(const struct sockaddr *sockaddr,
                                           clv_net_address_t *address_p)
{
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
    clv_net_address_t address = {0};
    if (sockaddr->sa_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, sockaddr, sizeof in);
        address.family = 4;
        memcpy(address.bytes, &in.sin_addr, 4);
    } else if (sockaddr->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;
        memcpy(&in6, sockaddr, sizeof in6);
        const bool is_mapped = memcmp(&in6.sin6_addr, mapped, sizeof mapped) == 0;
        address.family = is_mapped ? 4 : 6;
        memcpy(address.bytes, in6.sin6_addr.s6_addr + (is_mapped ? 12 : 0), is_mapped ? 4 : 16);
    } else {
        return CLV_INVALID;
    }
    *address_p = address;
    return CLV_OK;
}

socklen_t clv_net_address_to_sockaddr(const clv_net_address_t *address, uint16_t port,
                                      struct sockaddr_storage *sockaddr)
{
    memset(sockaddr, 0, sizeof *sockaddr);
    if (address->family == 4) {
        struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};
        memcpy(&in.sin_addr, address->bytes, 4);
        memcpy(sockaddr, &in, sizeof in);
        return sizeof in;
    }
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    memcpy(&in6.sin6_addr, address->bytes, 16);
    memcpy(sockaddr, &in6, sizeof in6);
    return sizeof in6;
}

static int address_bytes(const clv_net_address_t *address)
{
    return address->family == 4 ? 4 : 16;
}

static uint8_t count_ones(const clv_net_address_t *mask)
{
    int n_bits = 0;
    for (int i = 0; i < address_bytes(mask); i++) {
        n_bits += __builtin_popcount(mask->bytes[i]);
    }
    return (uint8_t) n_bits;
}

/* Whether the address lies in the network; with 0 bits, that is any of the same family. */
static bool is_in_network(const clv_net_address_t *network, const clv_net_address_t *address)
{
    const int n_whole = network->prefix_bits / 8, n_rest = network->prefix_bits % 8;
    if (network->family != address->family ||
        memcmp(network->bytes, address->bytes, (size_t) n_whole) != 0) {
        return false;
    }
    return n_rest == 0 || (network->bytes[n_whole] ^ address->bytes[n_whole]) >> (8 - n_rest) == 0;
}

static bool same_network(const clv_net_address_t *own, const clv_net_address_t *peer)
{
    return own->prefix_bits > 0 && is_in_network(own, peer);
}

int clv_net_interface_score(const clv_net_address_t *own, int32_t n_own,
                            const clv_net_address_t *peer)
{
    int score = 0;
    for (int32_t i = 0; i < n_own; i++) {
        const int one = same_network(&own[i], peer) ? 2 : own[i].family == peer->family;
        score = one > score ? one : score;
    }
    return score;
}

bool clv_net_interface_is_own(const clv_net_address_t *own, int32_t n_own,
                              const clv_net_address_t *address)
{
    for (int32_t i = 0; i < n_own; i++) {
        if (own[i].family == address->family &&
            memcmp(own[i].bytes, address->bytes, (size_t) address_bytes(address)) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_link_local(const clv_net_address_t *address)
{
    return address->family == 6 && address->bytes[0] == 0xfe && (address->bytes[1] & 0xc0) == 0x80;
}

/* The address of one interface; 0 if the channel cannot use it. */
static bool take_address(const struct ifaddrs *one, clv_net_address_t *address)
{
    clv_net_address_t mask;
    if (one->ifa_addr == NULL || !(one->ifa_flags & IFF_UP) ||
        clv_net_address_from_sockaddr(one->ifa_addr, address) != CLV_OK || is_link_local(address)) {
        return false;
    }
    if (one->ifa_netmask != NULL &&
        clv_net_address_from_sockaddr(one->ifa_netmask, &mask) == CLV_OK) {
        address->prefix_bits = count_ones(&mask);
    }
    return true;
}

/* "address" or "address/bits" as a network; 0 if it is neither. */
static bool read_network(const char *text, clv_net_address_t *network)
{
    char address[64];
    const size_t length = strcspn(text, "/");
    char *end = NULL;
    if (length >= sizeof address) {
        return false;
    }
    memcpy(address, text, length);
    address[length] = '\0';
    *network = (clv_net_address_t){.family = strchr(address, ':') ? 6 : 4};
    const bool is_4 = network->family == 4;
    if (inet_pton(is_4 ? AF_INET : AF_INET6, address, network->bytes) != 1) {
        return false;
    }
    network->prefix_bits = is_4 ? 32 : 128;
    if (text[length] == '/') {
        const char *bits_text = text + length + 1;
        const unsigned long bits = strtoul(bits_text, &end, 10);
        if (bits_text[0] < '0' || bits_text[0] > '9' || *end != '\0' ||
            bits > network->prefix_bits) {
            return false;
        }
        network->prefix_bits = (uint8_t) bits;
    }
    return true;
}

/* What the user named, in both possible meanings; name is NULL if the user named nothing. */
typedef struct wanted {
    const char *name;
    bool is_network;
    bool is_loopback; /* without a name: the loopbacks, or all others */
    clv_net_address_t network;
} wanted_t;

static bool is_wanted(const wanted_t *wanted, const struct ifaddrs *one,
                      const clv_net_address_t *address)
{
    if (wanted->name == NULL) {
        return ((one->ifa_flags & IFF_LOOPBACK) != 0) == wanted->is_loopback;
    }
    return strcmp(wanted->name, one->ifa_name) == 0 ||
           (wanted->is_network && is_in_network(&wanted->network, address));
}

/* Copies the wanted addresses, unless addresses is NULL; returns their number. */
static int32_t collect(const struct ifaddrs *all, const wanted_t *wanted,
                       clv_net_address_t *addresses)
{
    clv_net_address_t address;
    int32_t n_addresses = 0;
    for (const struct ifaddrs *one = all; one; one = one->ifa_next) {
        if (take_address(one, &address) && is_wanted(wanted, one, &address)) {
            if (addresses && n_addresses < CLV_NET_MAX_ADDRESSES) {
                addresses[n_addresses] = address;
            }
            n_addresses++;
        }
    }
    return n_addresses;
}

/* As many names as fit into a line; "..." if there are more. */
static void list_names(const struct ifaddrs *all, char *names, size_t n_bytes)
{
    size_t used = 0;
    clv_net_address_t ignored;
    names[0] = '\0';
    for (const struct ifaddrs *one = all; one; one = one->ifa_next) {
        const size_t wanted = strlen(one->ifa_name) + 1;
        if (!take_address(one, &ignored)) {
            continue;
        }
        if (used + wanted + sizeof " ..." > n_bytes) {
            (void) snprintf(names + used, n_bytes - used, " ...");
            return;
        }
        used += (size_t) snprintf(names + used, n_bytes - used, " %s", one->ifa_name);
    }
}

static void log_what_there_is(const struct ifaddrs *all, const char *name)
{
    char names[200];
    list_names(all, names, sizeof names);
    clv_log(CLV_LOG_HOST, "no usable network interface%s%s; those with an address are:%s",
            name ? " " : "", name ? name : "", names[0] ? names : " none");
}

/* The n wanted addresses; n > 0. */
static clv_status_t make_list(const struct ifaddrs *all, const wanted_t *wanted, int32_t n,
                              clv_net_address_t **addresses_p, int32_t *n_addresses_p)
{
    const int32_t n_taken = n < CLV_NET_MAX_ADDRESSES ? n : CLV_NET_MAX_ADDRESSES;
    clv_net_address_t *addresses = clv_alloc((size_t) n_taken, sizeof *addresses);
    if (addresses == NULL) {
        return CLV_NO_MEMORY;
    }
    (void) collect(all, wanted, addresses);
    if (n_taken < n) {
        clv_log(
            CLV_LOG_HOST,
            "of %d network addresses of this host only the first %d are used; coll_clv_interface "
            "names one of them, or a network",
            (int) n, (int) n_taken);
    }
    *addresses_p = addresses;
    *n_addresses_p = n_taken;
    return CLV_OK;
}

clv_status_t clv_net_interface_list(const char *name, clv_net_address_t **addresses_p,
                                    int32_t *n_addresses_p)
{
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all) != 0) {
        clv_log(CLV_LOG_HOST, "cannot list the network interfaces: getifaddrs failed");
        return CLV_SYSTEM;
    }
    wanted_t wanted = {.name = name};
    wanted.is_network = name && read_network(name, &wanted.network);
    int32_t n_addresses = collect(all, &wanted, NULL);
    if (n_addresses == 0 && !name) {
        wanted.is_loopback = true;
        n_addresses = collect(all, &wanted, NULL);
    }
    clv_status_t status = CLV_UNSUPPORTED;
    if (n_addresses == 0) {
        log_what_there_is(all, name);
    } else {
        status = make_list(all, &wanted, n_addresses, addresses_p, n_addresses_p);
    }
    freeifaddrs(all);
    return status;
}
