/* SPDX-License-Identifier: BSD-3-Clause
 *
 * FNV-1a, 64 bits: names plans in golden files and debug checks. Not for hostile input.
 *
 * Units: bytes.
 * Errors: none.
 * Memory: none.
 * Threads: safe.
 */
#ifndef CLV_UTIL_HASH_H
#define CLV_UTIL_HASH_H

#include <stddef.h>
#include <stdint.h>

#define CLV_FNV1A64_BASIS UINT64_C(0xcbf29ce484222325)

static inline uint64_t clv_fnv1a64(uint64_t hash, const void *data, size_t n_bytes)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < n_bytes; i++) {
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* Feeds a number as 4 little-endian bytes, the same on every machine. */
static inline uint64_t clv_fnv1a64_u32(uint64_t hash, uint32_t number)
{
    const unsigned char bytes[4] = {(unsigned char) number, (unsigned char) (number >> 8),
                                    (unsigned char) (number >> 16), (unsigned char) (number >> 24)};
    return clv_fnv1a64(hash, bytes, sizeof bytes);
}

#endif
