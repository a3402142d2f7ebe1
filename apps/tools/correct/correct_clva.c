/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-correct: converts the clock of a recorder's file (.clva) to lines for apps/clc/clc_records.h.
 *
 * Each fitted line of the tracker is most accurate at its origin and becomes the point there.
 * Between two origins, the straight connection is nearer to the truth than the first line extended,
 * which is all the program had while it ran. The last line extends to the last call in the file.
 * The reference host's only line is exact and was never fitted.
 */
#include <stdio.h>
#include <string.h>

#include "apps/tools/correct/correct.h"
#include "record/record_clva.h"
#include "util/util_min_max.h"

#define NS_PER_S INT64_C(1000000000)

bool correct_is_clva(const char *bytes, size_t n_bytes)
{
    clv_clva_head_t head;
    size_t n_used;
    const clv_status_t status = clv_clva_get_head(bytes, n_bytes, &head, &n_used);
    return status == CLV_OK || status == CLV_UNSUPPORTED;
}

/* Writes the line's value after_ns after its origin. */
static void put_point(FILE *out, const clv_clva_clock_t *clock, int64_t after_ns)
{
    const double way = (double) after_ns;
    fprintf(out, "{\"local_ns\":%lld,\"offset_ns\":%lld,\"bound_ns\":%lld}\n",
            (long long) (clock->origin_ns + after_ns),
            (long long) clock->offset_ns + (long long) (clock->slope * way),
            (long long) clock->error_ns + (long long) (1e-9 * (double) clock->error_ppb * way));
}

typedef struct seen {
    clv_clva_clock_t line; /* the newest line */
    bool has_line;
    int64_t last_ns; /* end of the last call on this host */
} seen_t;

static clv_status_t take_record(FILE *out, const clv_clva_record_t *record, seen_t *seen)
{
    clv_status_t status = CLV_OK;

    if (record->kind == CLV_CLVA_CLOCK) {
        seen->line = record->clock;
        seen->has_line = true;
        put_point(out, &seen->line, 0);
    }
    for (int32_t i = 0; record->kind == CLV_CLVA_CALLS && i < record->n && status == CLV_OK; i++) {
        clv_clva_call_t call;
        status = clv_clva_get_call(record, i, &call);
        if (status == CLV_OK && call.exit_ns > seen->last_ns) {
            seen->last_ns = call.exit_ns;
        }
    }
    return status;
}

/* CLV_PROTOCOL: the rest cannot be read. A truncated end is ignored. */
static clv_status_t put_points(FILE *out, const char *bytes, size_t n_bytes, int64_t n_ranks)
{
    seen_t seen = {0};
    clv_status_t status = CLV_OK;

    while (n_bytes > 0 && status == CLV_OK) {
        clv_clva_record_t record;
        size_t n_used = 0;
        status =
            clv_clva_get_record((const unsigned char *) bytes, n_bytes, n_ranks, &record, &n_used);
        if (status == CLV_OK) {
            status = take_record(out, &record, &seen);
        }
        bytes += n_used;
        n_bytes -= n_used;
    }
    if (seen.has_line) {
        put_point(out, &seen.line, clv_larger(seen.last_ns - seen.line.origin_ns, NS_PER_S));
    }
    return status == CLV_AGAIN ? CLV_OK : status;
}

clv_status_t correct_clva_as_lines(const char *bytes, size_t n_bytes, char **text_p,
                                   size_t *text_bytes_p, const char **reason_p)
{
    clv_clva_head_t head;
    size_t n_used;
    clv_status_t status = clv_clva_get_head(bytes, n_bytes, &head, &n_used);

    if (status != CLV_OK) {
        *reason_p = "a version this program does not know";
        return status;
    }
    FILE *out = open_memstream(text_p, text_bytes_p);
    if (!out) {
        *reason_p = "out of memory";
        return CLV_NO_MEMORY;
    }
    fprintf(out,
            "{\"clv_clock\":1,\"host\":\"%s\",\"boot_id\":\"%s\",\"time_namespace\":\"%s\","
            "\"clock\":\"%s\"}\n",
            head.host, head.boot_id, head.time_namespace, head.clock);
    status = put_points(out, bytes + n_used, n_bytes - n_used, head.n_ranks);
    *reason_p = "what is no record";
    if (fclose(out) != 0 && status == CLV_OK) {
        *reason_p = "out of memory";
        status = CLV_NO_MEMORY;
    }
    return status;
}
