/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Clock records from anywhere: no crash, no overread, points in order.
 */
#include <stdlib.h>

#include "apps/clc/clc_records.h"
#include "tests/fuzz/fuzz_alloc.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t n_bytes)
{
    clv_clc_sources_t sources = {0};
    const char *reason = NULL;
    int64_t line = 0;
    const clv_status_t status =
        clv_clc_records_read(&sources, (const char *) data, n_bytes, &reason, &line);
    if (status != CLV_OK && !reason) {
        abort();
    }
    for (int64_t i = 0; status == CLV_OK && i < sources.n_sources; i++) {
        const clv_clc_source_t *source = &sources.sources[i];
        for (int64_t k = 1; k < source->n_points; k++) {
            if (source->points[k - 1].local_ns >= source->points[k].local_ns) {
                abort();
            }
        }
    }
    clv_clc_records_free(&sources);
    clv_fuzz_alloc_end();
    return 0;
}
