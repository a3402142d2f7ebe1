/* SPDX-License-Identifier: BSD-3-Clause
 * See net_mac.h.
 */
#include "pap_predict/net/net_mac.h"

#include <string.h>

#include "util/util_bytes.h"

#define BLOCK_BYTES 64

typedef struct sha256 {
    uint32_t state[8];
    uint64_t n_bytes;
    unsigned char block[BLOCK_BYTES];
} sha256_t;

static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate_right(uint32_t word, int n_bits)
{
    return word >> n_bits | word << (32 - n_bits);
}

static void sha256_expand(const unsigned char *block, uint32_t words[64])
{
    for (int i = 0; i < 16; i++) {
        words[i] = (uint32_t) block[4 * i] << 24 | (uint32_t) block[4 * i + 1] << 16 |
                   (uint32_t) block[4 * i + 2] << 8 | block[4 * i + 3];
    }
    for (int i = 16; i < 64; i++) {
        uint32_t a = words[i - 15], b = words[i - 2];
        words[i] = words[i - 16] + words[i - 7] +
                   (rotate_right(a, 7) ^ rotate_right(a, 18) ^ a >> 3) +
                   (rotate_right(b, 17) ^ rotate_right(b, 19) ^ b >> 10);
    }
}

static void sha256_block(uint32_t state[8], const unsigned char *block)
{
    uint32_t words[64], s[8];
    sha256_expand(block, words);
    memcpy(s, state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t t1 = s[7] +
                      (rotate_right(s[4], 6) ^ rotate_right(s[4], 11) ^ rotate_right(s[4], 25)) +
                      ((s[4] & s[5]) ^ (~s[4] & s[6])) + round_constants[i] + words[i];
        uint32_t t2 = (rotate_right(s[0], 2) ^ rotate_right(s[0], 13) ^ rotate_right(s[0], 22)) +
                      ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof s[0]);
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) {
        state[i] += s[i];
    }
}

static void sha256_init(sha256_t *sha)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(sha->state, start, sizeof start);
    sha->n_bytes = 0;
}

static void sha256_add(sha256_t *sha, const void *data, size_t n_bytes)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < n_bytes; i++) {
        sha->block[sha->n_bytes++ % BLOCK_BYTES] = bytes[i];
        if (sha->n_bytes % BLOCK_BYTES == 0) {
            sha256_block(sha->state, sha->block);
        }
    }
}

static void sha256_end(sha256_t *sha, unsigned char digest[32])
{
    const uint64_t n_bits = sha->n_bytes * 8;
    unsigned char length[8];
    sha256_add(sha, "\x80", 1);
    while (sha->n_bytes % BLOCK_BYTES != BLOCK_BYTES - 8) {
        sha256_add(sha, "", 1);
    }
    for (int i = 0; i < 8; i++) {
        length[i] = (unsigned char) (n_bits >> (56 - 8 * i));
    }
    sha256_add(sha, length, sizeof length);
    for (int i = 0; i < 32; i++) {
        digest[i] = (unsigned char) (sha->state[i / 4] >> (24 - 8 * (i % 4)));
    }
}

/* A key as one block: padded with zeros, or its digest when it is longer than a block. */
static void key_block(const unsigned char *key, size_t key_bytes, unsigned char block[BLOCK_BYTES])
{
    memset(block, 0, BLOCK_BYTES);
    if (key_bytes <= BLOCK_BYTES) {
        memcpy(block, key, key_bytes);
        return;
    }
    sha256_t sha;
    sha256_init(&sha);
    sha256_add(&sha, key, key_bytes);
    sha256_end(&sha, block);
}

static void sha256_start_keyed(sha256_t *sha, const unsigned char block[BLOCK_BYTES],
                               unsigned char pad)
{
    unsigned char padded[BLOCK_BYTES];
    for (int i = 0; i < BLOCK_BYTES; i++) {
        padded[i] = block[i] ^ pad;
    }
    sha256_init(sha);
    sha256_add(sha, padded, sizeof padded);
}

void clv_net_hmac(const unsigned char *key, size_t key_bytes, const void *first, size_t first_bytes,
                  const void *second, size_t second_bytes, unsigned char mac[CLV_NET_MAC_BYTES])
{
    unsigned char block[BLOCK_BYTES], inner[32];
    sha256_t sha;
    key_block(key, key_bytes, block);
    sha256_start_keyed(&sha, block, 0x36);
    sha256_add(&sha, first, first_bytes);
    sha256_add(&sha, second, second_bytes);
    sha256_end(&sha, inner);
    sha256_start_keyed(&sha, block, 0x5c);
    sha256_add(&sha, inner, sizeof inner);
    sha256_end(&sha, mac);
    explicit_bzero(block, sizeof block);
}

bool clv_net_mac_equal(const unsigned char *a, const unsigned char *b, size_t n_bytes)
{
    unsigned difference = 0;
    for (size_t i = 0; i < n_bytes; i++) {
        difference |= (unsigned) (a[i] ^ b[i]);
    }
    return difference == 0;
}

/* ---- SipHash-2-4 ------------------------------------------------------------------------- */

typedef struct siphash {
    uint64_t v[4];
    uint64_t tail; /* bytes not yet hashed, lowest first */
    uint64_t n_bytes;
} siphash_t;

static uint64_t rotate_left(uint64_t word, int n_bits)
{
    return word << n_bits | word >> (64 - n_bits);
}

static void sip_rounds(uint64_t v[4], int n_rounds)
{
    for (int i = 0; i < n_rounds; i++) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate_left(v[1], 13) ^ v[0];
        v[3] = rotate_left(v[3], 16) ^ v[2];
        v[0] = rotate_left(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotate_left(v[1], 17) ^ v[2];
        v[3] = rotate_left(v[3], 21) ^ v[0];
        v[2] = rotate_left(v[2], 32);
    }
}

static void sip_word(siphash_t *sip, uint64_t word)
{
    sip->v[3] ^= word;
    sip_rounds(sip->v, 2);
    sip->v[0] ^= word;
}

static void sip_add(siphash_t *sip, const unsigned char *bytes, size_t n_bytes)
{
    size_t i = 0;
    while (i < n_bytes) {
        if (sip->n_bytes % 8 == 0 && n_bytes - i >= 8) {
            sip_word(sip, clv_get_u64(bytes + i));
            sip->n_bytes += 8;
            i += 8;
            continue;
        }
        sip->tail |= (uint64_t) bytes[i++] << (8 * (sip->n_bytes++ % 8));
        if (sip->n_bytes % 8 == 0) {
            sip_word(sip, sip->tail);
            sip->tail = 0;
        }
    }
}

uint64_t clv_net_siphash(const unsigned char key[CLV_NET_SIPHASH_BYTES], const void *header,
                         size_t header_bytes, const void *payload, size_t payload_bytes)
{
    const uint64_t k0 = clv_get_u64(key), k1 = clv_get_u64(key + 8);
    siphash_t sip = {{k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d),
                      k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573)},
                     0,
                     0};
    sip_add(&sip, header, header_bytes);
    sip_add(&sip, payload, payload_bytes);
    sip_word(&sip, sip.tail | sip.n_bytes << 56);
    sip.v[2] ^= 0xff;
    sip_rounds(sip.v, 4);
    return sip.v[0] ^ sip.v[1] ^ sip.v[2] ^ sip.v[3];
}
