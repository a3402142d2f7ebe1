/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The .clva file: its tables, and the encoding of head and records (see record_clva.h).
 */
#include "record/record_clva.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/util_bytes.h"
#include "util/util_list.h"

const clv_clva_op_row_t clv_clva_ops[CLV_CLVA_N_OPS] = {
#define OP_ROW(code, name, root, equal) {#name, root, equal},
    CLV_CLVA_OP_MAP(OP_ROW)
#undef OP_ROW
};

const clv_clva_how_row_t clv_clva_hows[CLV_CLVA_N_HOWS] = {
#define HOW_ROW(code, name, prefix, suffix) {#name, prefix, suffix},
    CLV_CLVA_HOW_MAP(HOW_ROW)
#undef HOW_ROW
};

const char *const clv_clva_types[CLV_CLVA_N_TYPES] = {
#define TYPE_ROW(code, name) #name,
    CLV_CLVA_TYPE_MAP(TYPE_ROW)
#undef TYPE_ROW
};

/* ---- head ------------------------------------------------------------------------------------ */

/* Text being written. used exceeds size if the text is too long. */
typedef struct text {
    char *bytes;
    size_t size, used;
} text_t;

static void put_char(text_t *text, char one)
{
    if (text->used < text->size) {
        text->bytes[text->used] = one;
    }
    text->used++;
}

static void put_plain(text_t *text, const char *string)
{
    for (; *string != '\0'; string++) {
        put_char(text, *string);
    }
}

/* A control character becomes a blank: JSON does not allow it in a string, and no name needs it. */
static void put_field(text_t *text, const char *name, const char *value)
{
    put_plain(text, ",\"");
    put_plain(text, name);
    put_plain(text, "\":\"");
    for (; *value != '\0'; value++) {
        if (*value == '"' || *value == '\\') {
            put_char(text, '\\');
        }
        put_char(text, (unsigned char) *value < ' ' ? ' ' : *value);
    }
    put_char(text, '"');
}

static void put_number(text_t *text, const char *name, int64_t value)
{
    char digits[32];

    (void) snprintf(digits, sizeof digits, "\":%" PRId64, value);
    put_plain(text, text->used > 1 ? ",\"" : "\"");
    put_plain(text, name);
    put_plain(text, digits);
}

size_t clv_clva_put_head(char *bytes, size_t size, const clv_clva_head_t *head)
{
    text_t text = {bytes, size < CLV_CLVA_HEAD_BYTES ? size : CLV_CLVA_HEAD_BYTES, 0};

    put_char(&text, '{');
#define PUT_TEXT(name, n_bytes) put_field(&text, #name, head->name);
#define PUT_NUMBER(name)        put_number(&text, #name, head->name);
    CLV_CLVA_HEAD_MAP(PUT_TEXT, PUT_NUMBER)
#undef PUT_TEXT
#undef PUT_NUMBER
    put_plain(&text, "}\n");
    return text.used <= text.size ? text.used : 0;
}

/* ---- records --------------------------------------------------------------------------------- */

static size_t round_up(size_t n_bytes)
{
    return (n_bytes + 7) / 8 * 8;
}

/* Writes kind and length. Returns where the payload goes, NULL if it does not fit. */
static unsigned char *begin(unsigned char *bytes, size_t size, clv_clva_kind_t kind, size_t payload)
{
    if (payload > CLV_CLVA_RECORD_BYTES - 8 || size < 8 || payload > size - 8) {
        return NULL;
    }
    clv_put_u32(bytes, (uint32_t) kind);
    clv_put_u32(bytes + 4, (uint32_t) payload);
    return bytes + 8;
}

static void put_slot(unsigned char *at, const uint8_t bytes[4], const uint16_t shorts[2],
                     const uint64_t words[2], const uint32_t halves[2])
{
    memcpy(at, bytes, 4);
    clv_put_u32(at + 4, shorts[0] | (uint32_t) shorts[1] << 16);
    clv_put_u64(at + 8, words[0]);
    clv_put_u64(at + 16, words[1]);
    clv_put_u32(at + 24, halves[0]);
    clv_put_u32(at + 28, halves[1]);
}

/* Writes the record's head. Returns where its calls go, NULL if they do not fit. */
static unsigned char *begin_calls(unsigned char *bytes, size_t size, int32_t rank, int32_t n)
{
    const size_t payload = CLV_CLVA_CALLS_AT - 8 + (size_t) n * CLV_CLVA_SLOT_BYTES;
    unsigned char *at = begin(bytes, size, CLV_CLVA_CALLS, payload);

    if (at == NULL) {
        return NULL;
    }
    clv_put_u32(at, (uint32_t) rank);
    clv_put_u32(at + 4, (uint32_t) n);
    return at + 8;
}

static void put_call(unsigned char *at, const clv_clva_call_t *one)
{
    put_slot(at, (uint8_t[]){CLV_CLVA_CALLS, one->choice, one->reason, 0},
             (uint16_t[]){one->stream, 0},
             (uint64_t[]){(uint64_t) one->arrival_ns, (uint64_t) one->exit_ns},
             (uint32_t[]){one->number, one->predicted_ns});
}

size_t clv_clva_put_calls(unsigned char *bytes, size_t size, int32_t rank,
                          const clv_clva_call_t *calls, int32_t n)
{
    unsigned char *at = begin_calls(bytes, size, rank, n);

    for (int32_t i = 0; at != NULL && i < n; i++) {
        put_call(at + (size_t) i * CLV_CLVA_SLOT_BYTES, &calls[i]);
    }
    return at == NULL ? 0 : CLV_CLVA_CALLS_AT + (size_t) n * CLV_CLVA_SLOT_BYTES;
}

size_t clv_clva_close_calls(unsigned char *bytes, size_t size, int32_t rank, int32_t n)
{
    unsigned char *at = begin_calls(bytes, size, rank, n);

    if (at == NULL) {
        return 0;
    }
#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    for (int32_t i = 0; i < n; i++) {
        clv_clva_call_t one;
        memcpy(&one, at + (size_t) i * CLV_CLVA_SLOT_BYTES, sizeof one);
        put_call(at + (size_t) i * CLV_CLVA_SLOT_BYTES, &one);
    }
#endif
    return CLV_CLVA_CALLS_AT + (size_t) n * CLV_CLVA_SLOT_BYTES;
}

size_t clv_clva_put_stream(unsigned char *bytes, size_t size, int32_t rank,
                           const clv_clva_stream_t *stream)
{
    unsigned char *at = begin(bytes, size, CLV_CLVA_STREAM, 8 + CLV_CLVA_SLOT_BYTES);

    if (at == NULL) {
        return 0;
    }
    clv_put_u32(at, (uint32_t) rank);
    clv_put_u32(at + 4, 0);
    put_slot(at + 8, (uint8_t[]){CLV_CLVA_STREAM, stream->op, stream->type, stream->how},
             (uint16_t[]){stream->stream, stream->element_bytes},
             (uint64_t[]){stream->comm, (uint64_t) stream->bytes},
             (uint32_t[]){(uint32_t) stream->root, stream->request});
    return 16 + CLV_CLVA_SLOT_BYTES;
}

size_t clv_clva_put_comm(unsigned char *bytes, size_t size, const clv_clva_comm_t *comm)
{
    const size_t listed = 4 * (size_t) comm->n_listed;
    const size_t payload = 16 + CLV_CLVA_NAME_BYTES + round_up(listed);
    unsigned char *at = begin(bytes, size, CLV_CLVA_COMM, payload);

    if (at == NULL) {
        return 0;
    }
    memset(at, 0, payload);
    clv_put_u64(at, comm->id);
    clv_put_u32(at + 8, (uint32_t) comm->n_ranks);
    clv_put_u32(at + 12, (uint32_t) comm->n_listed);
    memcpy(at + 16, comm->name, CLV_CLVA_NAME_BYTES);
    if (listed > 0) {
        memcpy(at + 16 + CLV_CLVA_NAME_BYTES, comm->members, listed);
    }
    return 8 + payload;
}

size_t clv_clva_put_local(unsigned char *bytes, size_t size, const int32_t *ranks, int32_t n)
{
    const size_t payload = round_up(4 + 4 * (size_t) n);
    unsigned char *at = begin(bytes, size, CLV_CLVA_LOCAL, payload);

    if (at == NULL) {
        return 0;
    }
    memset(at, 0, payload);
    clv_put_u32(at, (uint32_t) n);
    for (int32_t i = 0; i < n; i++) {
        clv_put_u32(at + 4 + 4 * (size_t) i, (uint32_t) ranks[i]);
    }
    return 8 + payload;
}

/* Writes a record of n 64-bit words. Returns its bytes, 0 if it does not fit. */
static size_t put_words(unsigned char *bytes, size_t size, clv_clva_kind_t kind,
                        const uint64_t *words, size_t n)
{
    unsigned char *at = begin(bytes, size, kind, 8 * n);

    for (size_t i = 0; at != NULL && i < n; i++) {
        clv_put_u64(at + 8 * i, words[i]);
    }
    return at == NULL ? 0 : 8 + 8 * n;
}

size_t clv_clva_put_clock(unsigned char *bytes, size_t size, const clv_clva_clock_t *clock)
{
    uint64_t words[6] = {(uint64_t) clock->from_ns,   (uint64_t) clock->origin_ns,
                         (uint64_t) clock->offset_ns, 0,
                         (uint64_t) clock->error_ns,  (uint64_t) clock->error_ppb};

    memcpy(&words[3], &clock->slope, sizeof words[3]);
    return put_words(bytes, size, CLV_CLVA_CLOCK, words, 6);
}

size_t clv_clva_put_cost(unsigned char *bytes, size_t size, const clv_clva_cost_t *cost)
{
    const uint64_t words[8] = {(uint64_t) cost->latency_ns,
                               (uint64_t) cost->byte_ps,
                               (uint64_t) cost->near_latency_ns,
                               (uint64_t) cost->near_byte_ps,
                               (uint64_t) cost->combine_ps,
                               (uint64_t) cost->gap_ns,
                               cost->early_bytes,
                               cost->near_early_bytes};

    return put_words(bytes, size, CLV_CLVA_COST, words, 8);
}

size_t clv_clva_put_early(unsigned char *bytes, size_t size, int32_t rank,
                          const clv_clva_early_t *early)
{
    const uint64_t words[4] = {(uint32_t) rank, (uint64_t) early->sent_bytes,
                               (uint64_t) early->window_bytes, (uint64_t) early->buffer_bytes};

    return put_words(bytes, size, CLV_CLVA_EARLY, words, 4);
}

size_t clv_clva_put_waits(unsigned char *bytes, size_t size, int32_t rank,
                          const clv_clva_waits_t *waits)
{
    const uint64_t words[4] = {(uint32_t) rank, (uint64_t) waits->waited_ns,
                               (uint64_t) waits->asleep_ns, (uint64_t) waits->n_late};

    return put_words(bytes, size, CLV_CLVA_WAITS, words, 4);
}

size_t clv_clva_put_dropped(unsigned char *bytes, size_t size, int32_t rank, int64_t n_dropped)
{
    const uint64_t words[2] = {(uint32_t) rank, (uint64_t) n_dropped};

    return put_words(bytes, size, CLV_CLVA_DROPPED, words, 2);
}

size_t clv_clva_put_every(unsigned char *bytes, size_t size, int64_t every)
{
    const uint64_t word = (uint64_t) every;

    return put_words(bytes, size, CLV_CLVA_EVERY, &word, 1);
}

size_t clv_clva_put_end(unsigned char *bytes, size_t size, int64_t n_calls, int64_t thread_ns)
{
    const uint64_t words[2] = {(uint64_t) n_calls, (uint64_t) thread_ns};

    return put_words(bytes, size, CLV_CLVA_END, words, 2);
}

/* ---- names ----------------------------------------------------------------------------------- */

const char *clv_clva_word(const char *list, int number, int *length_p)
{
    for (; number > 0; number--) {
        list += strcspn(list, ",");
        if (*list == '\0') {
            return NULL;
        }
        list++;
    }
    *length_p = (int) strcspn(list, ",");
    return number == 0 && *length_p > 0 ? list : NULL;
}

const char *clv_clva_op_name(int op)
{
    return (unsigned) op < CLV_CLVA_N_OPS ? clv_clva_ops[op].name : "unknown";
}

void clv_clva_call_name(const clv_clva_stream_t *stream, char *name, size_t size)
{
    const clv_clva_how_row_t *how = &clv_clva_hows[stream->how];

    (void) snprintf(name, size, "%s%s%s", how->prefix, clv_clva_op_name(stream->op), how->suffix);
}

clv_status_t clv_clva_read_ops(const char *list, uint32_t *bits_p)
{
    return clv_list_read(list, clv_clva_op_name, CLV_CLVA_N_OPS, bits_p);
}

void clv_clva_print_ops(char *text, size_t size, uint32_t bits)
{
    clv_list_print(text, size, clv_clva_op_name, CLV_CLVA_N_OPS, bits);
}

int64_t clv_clva_global(const clv_clva_clock_t *clock, int64_t local_ns, int64_t *error_ns_p)
{
    const int64_t since_ns = local_ns - clock->origin_ns;
    const double away = since_ns < 0 ? -(double) since_ns : (double) since_ns;

    *error_ns_p = clock->error_ns + (int64_t) (away * 1e-9 * (double) clock->error_ppb);
    return local_ns - clock->offset_ns - (int64_t) (clock->slope * (double) since_ns);
}
