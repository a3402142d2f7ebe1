/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Keys, values and commas; see cli_json.h.
 */
#include "apps/cli/cli_json.h"

#include <math.h>
#include <time.h>
#include <unistd.h>

#include "util/util_text.h"
#include "util/util_version.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD: replaces a byte that is not UTF-8 */

static void put_comma(clv_json_t *json)
{
    if (json->has_value) {
        putc(',', json->out);
    }
    json->has_value = true;
}

void clv_json_put_text(FILE *out, const char *text)
{
    putc('"', out);
    while (*text != '\0') {
        const size_t n = clv_text_letter_bytes(text);
        const unsigned char letter = (unsigned char) *text;
        if (n == 0) {
            fputs(REPLACEMENT, out);
        } else if (letter == '"' || letter == '\\') {
            fprintf(out, "\\%c", letter);
        } else if (letter < ' ' || letter == '<') {
            fprintf(out, "\\u%04x", (unsigned) letter);
        } else {
            (void) fwrite(text, 1, n, out);
        }
        text += n > 0 ? n : 1;
    }
    putc('"', out);
}

static void put_key(clv_json_t *json, const char *key)
{
    put_comma(json);
    clv_json_put_text(json->out, key);
    putc(':', json->out);
}

void clv_json_text(clv_json_t *json, const char *key, const char *text)
{
    put_key(json, key);
    clv_json_put_text(json->out, text);
}

void clv_json_number(clv_json_t *json, const char *key, double number)
{
    put_key(json, key);
    if (isfinite(number)) {
        fprintf(json->out, "%.15g", number);
    } else {
        fputs("null", json->out);
    }
}

void clv_json_whole(clv_json_t *json, const char *key, int64_t number)
{
    put_key(json, key);
    fprintf(json->out, "%lld", (long long) number);
}

void clv_json_flag(clv_json_t *json, const char *key, bool is_true)
{
    put_key(json, key);
    fputs(is_true ? "true" : "false", json->out);
}

void clv_json_list_begin(clv_json_t *json, const char *key)
{
    put_key(json, key);
    putc('[', json->out);
    json->has_value = false;
}

void clv_json_item(clv_json_t *json, double number, int decimals)
{
    put_comma(json);
    if (isfinite(number)) {
        fprintf(json->out, "%.*f", decimals, number);
    } else {
        fputs("null", json->out);
    }
}

void clv_json_list_end(clv_json_t *json)
{
    putc(']', json->out);
    json->has_value = true;
}

clv_json_t clv_json_begin(FILE *out, const char *program, const char *record)
{
    clv_json_t json = {.out = out};
    const time_t now = time(NULL);
    struct tm utc;
    char stamp[32] = "";
    char host[256] = "";

    (void) gmtime_r(&now, &utc);
    (void) strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &utc);
    (void) gethostname(host, sizeof host - 1);
    putc('{', out);
    clv_json_text(&json, "program", program);
    clv_json_text(&json, "record", record);
    clv_json_text(&json, "version", CLV_VERSION);
    clv_json_text(&json, "time", stamp);
    clv_json_text(&json, "host", host);
    return json;
}

void clv_json_end(clv_json_t *json)
{
    fputs("}\n", json->out);
}
