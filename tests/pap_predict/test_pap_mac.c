/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The message authentication codes against published vectors: RFC 4231 (HMAC-SHA256) and the
 * SipHash paper, appendix A. A code that is wrong but self-consistent would pass any other test.
 */
#include "pap_predict/net/net_mac.h"
#include "tests/support/test.h"

typedef struct hmac_case {
    const char *key;
    size_t key_bytes;
    const char *text;
    unsigned char first_bytes_of_mac[8];
} hmac_case_t;

static const hmac_case_t hmac_cases[] = {
    {"\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b",
     20,
     "Hi There",
     {0xb0, 0x34, 0x4c, 0x61, 0xd8, 0xdb, 0x38, 0x53}},
    {"Jefe", 4, "what do ya want for nothing?", {0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e}},
};

static void hmac_agrees_with_rfc_4231(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof hmac_cases / sizeof hmac_cases[0]; i++) {
        const hmac_case_t *one = &hmac_cases[i];
        unsigned char mac[CLV_NET_MAC_BYTES];
        for (size_t cut = 0; cut <= strlen(one->text); cut++) {
            clv_net_hmac((const unsigned char *) one->key, one->key_bytes, one->text, cut,
                         one->text + cut, strlen(one->text) - cut, mac);
            assert_memory_equal(mac, one->first_bytes_of_mac, 8);
        }
    }
}

static void hmac_takes_keys_longer_than_a_block(void **state)
{
    (void) state;
    static const unsigned char expected[8] = {0x60, 0xe4, 0x31, 0x59, 0x1e, 0xe0, 0xb6, 0x7f};
    const char *text = "Test Using Larger Than Block-Size Key - Hash Key First";
    unsigned char key[131], mac[CLV_NET_MAC_BYTES];
    memset(key, 0xaa, sizeof key);
    clv_net_hmac(key, sizeof key, text, strlen(text), NULL, 0, mac);
    assert_memory_equal(mac, expected, sizeof expected);
}

static void siphash_agrees_with_its_paper(void **state)
{
    (void) state;
    unsigned char key[16], text[15];
    for (unsigned i = 0; i < 16; i++) {
        key[i] = (unsigned char) i;
    }
    for (unsigned i = 0; i < 15; i++) {
        text[i] = (unsigned char) i;
    }
    for (size_t cut = 0; cut <= sizeof text; cut++) {
        assert_true(clv_net_siphash(key, text, cut, text + cut, sizeof text - cut) ==
                    UINT64_C(0xa129ca6149be45e5));
    }
}

static void any_changed_bit_changes_the_codes(void **state)
{
    (void) state;
    unsigned char key[32] = {1}, text[80] = {0}, mac[CLV_NET_MAC_BYTES], other[CLV_NET_MAC_BYTES];
    clv_net_hmac(key, sizeof key, text, sizeof text, NULL, 0, mac);
    const uint64_t sip = clv_net_siphash(key, text, sizeof text, NULL, 0);
    for (size_t bit = 0; bit < 8 * sizeof text; bit++) {
        text[bit / 8] ^= (unsigned char) (1u << bit % 8);
        clv_net_hmac(key, sizeof key, text, sizeof text, NULL, 0, other);
        assert_false(clv_net_mac_equal(mac, other, sizeof mac));
        assert_true(clv_net_siphash(key, text, sizeof text, NULL, 0) != sip);
        text[bit / 8] ^= (unsigned char) (1u << bit % 8);
    }
    clv_net_hmac(key, sizeof key, text, sizeof text, NULL, 0, other);
    assert_true(clv_net_mac_equal(mac, other, sizeof mac));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hmac_agrees_with_rfc_4231),
        cmocka_unit_test(hmac_takes_keys_longer_than_a_block),
        cmocka_unit_test(siphash_agrees_with_its_paper),
        cmocka_unit_test(any_changed_bit_changes_the_codes),
    };
    return clv_run_tests(tests);
}
