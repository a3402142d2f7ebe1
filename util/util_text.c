/* SPDX-License-Identifier: BSD-3-Clause
 *
 * UTF-8 by the table of RFC 3629, section 4: the first byte gives the number of bytes that follow,
 * and the range of the second one excludes invalid encodings.
 */
#include "util/util_text.h"

#include <stdbool.h>

typedef struct form {
    unsigned char first_low, first_high, second_low, second_high, n_bytes;
} form_t;

static const form_t forms[] = {
    {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
    {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
    {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

/* A zero byte fits no form, so nothing behind the end of the text is read. */
static bool fits(const form_t *form, const unsigned char *bytes)
{
    if (bytes[0] < form->first_low || bytes[0] > form->first_high || bytes[1] < form->second_low ||
        bytes[1] > form->second_high) {
        return false;
    }
    for (size_t i = 2; i < form->n_bytes; i++) {
        if ((bytes[i] & 0xc0) != 0x80) {
            return false;
        }
    }
    return true;
}

size_t clv_text_letter_bytes(const char *text)
{
    const unsigned char *bytes = (const unsigned char *) text;

    if (bytes[0] < 0x80) {
        return bytes[0] != '\0';
    }
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (fits(&forms[i], bytes)) {
            return forms[i].n_bytes;
        }
    }
    return 0;
}

/* C0, DEL and, in two bytes, C1. */
static bool is_control(const char *text, size_t n_bytes)
{
    const unsigned char *bytes = (const unsigned char *) text;

    return n_bytes == 1 ? bytes[0] < ' ' || bytes[0] == 0x7f
                        : n_bytes == 2 && bytes[0] == 0xc2 && bytes[1] < 0xa0;
}

void clv_text_make_plain(char *text)
{
    char *to = text;

    while (*text != '\0') {
        const size_t n = clv_text_letter_bytes(text);
        if (n == 0) {
            *to++ = '?';
            text++;
        } else if (is_control(text, n)) {
            *to++ = ' ';
            text += n;
        } else {
            for (size_t i = 0; i < n; i++) {
                *to++ = *text++;
            }
        }
    }
    *to = '\0';
}

void clv_text_cut(char *text, size_t n_bytes)
{
    size_t at = 0, n = clv_text_letter_bytes(text);

    while (n > 0 && at + n <= n_bytes) {
        at += n;
        n = clv_text_letter_bytes(text + at);
    }
    text[at] = '\0';
}
