/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Clock records as JSON lines: a host's clock readings, and how far the clock was ahead.
 *
 * A header line opens a clock; the lines after it are its points (docs/guide/trace-correction.md):
 *   {"clv_clock": 1, "host": "n1", "boot_id": "5a9c...", "time_namespace": "4026531834",
 *    "clock": "monotonic", "round_trip_ns": 21400}
 *   {"local_ns": 1731000000000, "offset_ns": -3600000012345, "bound_ns": 1800}
 * A positive offset means the local clock is ahead. round_trip_ns, the least measured round trip to
 * another host, may be absent; so may boot_id and time_namespace. Other keys and other kinds of
 * lines are ignored. Fractions are rounded.
 *
 * Pure: reads memory. Lengths are checked; a line that is not a flat JSON object is an error.
 *
 * Units: local_ns, offset_ns, bound_ns in ns; a positive offset means the local clock is ahead.
 * Errors: CLV_NO_MEMORY, CLV_PROTOCOL with reason and line.
 * Memory: sources own the records; clv_clc_records_free frees them.
 * Threads: safe on distinct sources.
 */
#ifndef CLV_CLC_RECORDS_H
#define CLV_CLC_RECORDS_H

#include <stddef.h>

#include "apps/clc/clc_presync.h"
#include "util/util_status.h"

#define CLV_CLC_NAME_BYTES 128

typedef struct clv_clc_source {
    char host[CLV_CLC_NAME_BYTES], boot_id[CLV_CLC_NAME_BYTES], clock[CLV_CLC_NAME_BYTES];
    char time_namespace[CLV_CLC_NAME_BYTES];
    int64_t round_trip_ns; /* 0: unknown */
    clv_clc_point_t *points;
    int64_t n_points, n_slots;
} clv_clc_source_t;

typedef struct clv_clc_sources {
    clv_clc_source_t *sources;
    int64_t n_sources, n_slots;
} clv_clc_sources_t;

/* Adds the records in text; sources of the same host, boot, namespace and clock are merged. On
 * failure the lines before are in, *reason is a static text and *line the line number (from 1).
 * CLV_NO_MEMORY, CLV_PROTOCOL. */
CLV_MUST_CHECK clv_status_t clv_clc_records_read(clv_clc_sources_t *sources, const char *text,
                                                 size_t n_bytes, const char **reason,
                                                 int64_t *line);
void clv_clc_records_free(clv_clc_sources_t *sources);

#endif
