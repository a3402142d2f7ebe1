/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command line of clv-bench as one table; see bench_options.h.
 */
#include "apps/bench/measure/bench_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(clv_bench_options_t, field)
const clv_option_t clv_bench_option_rows[] = {
    CLV_ROW_TEXT("collective", AT(collective), "LIST", "reduce",
                 "list of reduce, allreduce, bcast, barrier, alltoall, allgather, gather, "
                 "reduce_scatter,\nscan, exscan"),
    CLV_ROW_TEXT("algorithms", AT(algorithms), "LIST", "default",
                 "list; the first is the baseline"),
    CLV_ROW_TEXT("patterns", AT(patterns), "LIST", "balanced", "list of arrival patterns"),
    CLV_ROW_TEXT("sizes", AT(sizes), "LIST", "2M",
                 "list of bytes per vector or block, with K, M, G"),
    CLV_ROW_TEXT(
        "delay", AT(delay), "LIST", "50ms",
        "list of largest delays: 50ms, 200us, 0.1s, 1.5x the\nbaseline's balanced run time"),
    CLV_ROW_REAL("jitter", AT(jitter), 0, 1, "0.01",
                 "jitter of lasting patterns, as a fraction of the delay"),
    CLV_ROW_TEXT("type", AT(element), "NAME", "double", "int32, int64, float, double"),
    CLV_ROW_TEXT("op", AT(operation), "NAME", "sum", "sum, max, min"),
    CLV_ROW_WHOLE("root", AT(root), 0, 1e6, "0", "the root's rank"),
    CLV_ROW_WHOLE("iterations", AT(iterations), 1, 1e6, "30", "measured calls of each algorithm"),
    CLV_ROW_WHOLE("warmup", AT(warmup), 0, 1e6, "10",
                  "calls before the measured ones, in the same pattern"),
    CLV_ROW_WHOLE("balanced-calls", AT(balanced), 0, 1e6, "5",
                  "balanced calls before all others: t0 of the overlap benefit"),
    CLV_ROW_WHOLE("seconds", AT(seconds), 0, 1e6, "0",
                  "end a configuration after N seconds; 0: never"),
    CLV_ROW_FLAG("check", AT(is_check),
                 "does clv help here? A loop of the default, the pipeline and clv with\n"
                 "uniform delays, and a verdict in words, in some minutes. --collective,\n"
                 "--sizes, --delay, --couple, --compute and --blocks apply"),
    CLV_ROW_FLAG("loop", AT(is_loop),
                 "ranks run freely: each computes, calls and goes on; delays are\n"
                 "computing times. The options up to --spin apply to it"),
    CLV_ROW_TEXT("couple", AT(couple), "NAME", "none",
                 "second collective in each iteration: none, bcast, barrier,\nallreduce"),
    CLV_ROW_TEXT("compute", AT(compute), "TIME", "50ms",
                 "computing time of every rank, to which the pattern adds; form of\n--delay"),
    CLV_ROW_WHOLE("blocks", AT(blocks), 1, 1e4, "10",
                  "blocks of each algorithm; algorithms take turns"),
    CLV_ROW_WHOLE("block-calls", AT(block_calls), 2, 1e5, "40", "calls of a block"),
    CLV_ROW_WHOLE("lead-calls", AT(lead_calls), 0, 1e5, "20",
                  "first calls of a block that do not count"),
    CLV_ROW_WHOLE("starts", AT(starts), 1, 1000, "1",
                  "repetitions with new communicators; each opens with --warmup calls,\n"
                  "at least 20, of which the first 20 are reported separately"),
    CLV_ROW_FLAG("spin", AT(is_spinning), "computing takes a processor instead of sleeping"),
    CLV_ROW_TEXT("sync", AT(sync), "NAME", "round-time",
                 "round-time, window, barrier, compensated, dissemination,\nmulticast"),
    CLV_ROW_WHOLE("window", AT(window_us), 1, 1e9, "500000", "sync window: us between starts"),
    CLV_ROW_TEXT("window-rule", AT(window_rule), "NAME", "fixed",
                 "fixed, or find the window as skampi or nbcbench do"),
    CLV_ROW_REAL("precision", AT(precision), 0, 1, "0.03",
                 "rule skampi: stop at this relative standard error"),
    CLV_ROW_WHOLE("least", AT(least), 1, 1e6, "8", "rule skampi: but not before N rounds"),
    CLV_ROW_TEXT("scheme", AT(scheme), "NAME", "each",
                 "what is timed: each call, ms2 or ms3: several in a row"),
    CLV_ROW_WHOLE("in-row", AT(in_row), 1, 1e6, "10", "calls in a row"),
    CLV_ROW_TEXT("cache", AT(cache), "NAME", "warm", "warm, or cold: emptied before each call"),
    CLV_ROW_TEXT("clock", AT(clock), "NAME", "auto", "realtime, a method like hca3, or auto"),
    CLV_ROW_TEXT("timer", AT(timer), "NAME", NULL,
                 "source of that clock: monotonic, monotonic_raw, tsc, tscp,\n"
                 "tscp@2.3GHz without calibration"),
    CLV_ROW_WHOLE("seed", AT(seed), 0, 9e15, "1", "seed of patterns and order"),
    CLV_ROW_TEXT("json", AT(json), "FILE", NULL,
                 "append a line per result to this file; - is stdout"),
    CLV_ROW_TEXT("xdr", AT(xdr), "FILE", NULL,
                 "append every rank's start and end in every call to this file, as XDR"),
    CLV_ROW_FLAG("per-rank", AT(per_rank), "write every rank's arrival and exit in every call"),
    CLV_ROW_FLAG("nonblocking", AT(nonblocking), "call the nonblocking form, then wait"),
    CLV_ROW_FLAG("warm-learners", AT(warm_learners),
                 "all --warmup calls for clv only, which learns; 2 for others"),
    CLV_ROW_FLAG("keep-order", AT(keep_order), "do not shuffle algorithms in each iteration"),
    CLV_ROW_FLAG("shuffle", AT(shuffles),
                 "configurations (collectives, sizes, delays, patterns) in random order"),
    CLV_ROW_FLAG("strict", AT(strict), "exit 3 when the processors set the figures"),
    CLV_ROWS_END,
};

clv_status_t clv_bench_parse_size(const char *text, size_t *bytes_p)
{
    char *end;
    const double value = strtod(text, &end);
    const char *units = "KMG";
    double scale = 1.0;

    if (end == text) {
        return CLV_INVALID;
    }
    if (*end && strchr(units, *end)) {
        scale = ldexp(1.0, 10 * (int) (strchr(units, *end) - units + 1));
        end++;
    }
    if (*end || !(value >= 0.0 && value * scale <= 0x1p40)) {
        return CLV_INVALID;
    }
    *bytes_p = (size_t) (value * scale);
    return CLV_OK;
}

clv_status_t clv_bench_parse_delay(const char *text, int64_t *ns_p, double *factor_p)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1.0}, {"x", 0.0}};
    char *end;
    const double value = strtod(text, &end);

    for (size_t i = 0; end != text && i < sizeof units / sizeof units[0]; i++) {
        if (!strcmp(end, units[i].unit) && value >= 0.0 && value * units[i].ns <= 1e12 &&
            value <= 1e12) {
            *ns_p = (int64_t) (value * units[i].ns);
            *factor_p = *end == 'x' ? value : 0.0;
            return CLV_OK;
        }
    }
    return CLV_INVALID;
}

bool clv_bench_list_item(const char *list, int index, char *buffer, size_t buffer_bytes)
{
    while (index-- > 0) {
        list = strchr(list, ',');
        if (!list) {
            return false;
        }
        list++;
    }
    const size_t length = strcspn(list, ",");
    if (length >= buffer_bytes) {
        return false;
    }
    memcpy(buffer, list, length);
    buffer[length] = '\0';
    return true;
}
