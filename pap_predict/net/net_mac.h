/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Authentication of peers: HMAC-SHA256 for the handshake, SipHash-2-4 for every frame after it.
 *
 * SHA-256 is FIPS 180-4, HMAC RFC 2104, SipHash as published by Aumasson and Bernstein. Written
 * here because a coll component must not pull a cryptographic library into every MPI program.
 * It authenticates; nothing is encrypted (arrival times are no secret), and the key never leaves.
 *
 * Pure functions, no allocation; any thread. About 5 ns per byte (HMAC), 1 ns per byte (SipHash).
 */
#ifndef CLV_NET_MAC_H
#define CLV_NET_MAC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLV_NET_MAC_BYTES     32
#define CLV_NET_SIPHASH_BYTES 16 /* of its key */

/* HMAC-SHA256 of two pieces in a row; either may be empty. */
void clv_net_hmac(const unsigned char *key, size_t key_bytes, const void *first, size_t first_bytes,
                  const void *second, size_t second_bytes, unsigned char mac[CLV_NET_MAC_BYTES]);

/* Constant-time comparison. Non-zero: equal. */
bool clv_net_mac_equal(const unsigned char *a, const unsigned char *b, size_t n_bytes);

/* SipHash-2-4 of header then payload as one message. */
uint64_t clv_net_siphash(const unsigned char key[CLV_NET_SIPHASH_BYTES], const void *header,
                         size_t header_bytes, const void *payload, size_t payload_bytes);

#endif
