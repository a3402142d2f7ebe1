/* SPDX-License-Identifier: BSD-3-Clause
 * See bench_report.h. CLV_HAVE_XDR: configure found one, in glibc or libtirpc.
 */
#include "apps/bench/measure/bench_report.h"

#if defined(CLV_HAVE_XDR)

#include <rpc/types.h>

#include <rpc/xdr.h>

#define MAGIC   0x636c7678U /* "clvx" */
#define VERSION 1U

/* As written: XDR's functions both read and write, so they take non-const arguments. */
static int put_text(XDR *xdr, const char *text)
{
    char copy[512];
    char *words = copy;

    (void) snprintf(copy, sizeof copy, "%s", text);
    return xdr_string(xdr, &words, sizeof copy - 1);
}

static int put_number(XDR *xdr, u_int number)
{
    return xdr_u_int(xdr, &number);
}

static int put_seconds(XDR *xdr, int64_t ns)
{
    double seconds = (double) ns / 1e9;

    return xdr_double(xdr, &seconds);
}

static bool put_visit(XDR *xdr, int process, const clv_bench_visit_t *visit, int64_t call_ns)
{
    return xdr_int(xdr, &process) && put_seconds(xdr, call_ns + visit->arrival_ns) &&
           put_seconds(xdr, call_ns + visit->exit_ns);
}

/* Times count from the configuration's first arrival: doubles then resolve nanoseconds for
 * months. */
static bool put_call(XDR *xdr, const clv_bench_results_t *results, int64_t call, int64_t begun_ns)
{
    const clv_bench_setup_t *setup = results->setup;
    const int n_ranks = setup->call.n_ranks;
    const clv_bench_metrics_t *metrics = &results->metrics[call];
    const clv_bench_visit_t *visits = &setup->visits[call * n_ranks];
    bool is_put = put_number(xdr, metrics->is_usable != 0) && put_number(xdr, (u_int) n_ranks);

    for (int r = 0; is_put && r < n_ranks; r++) {
        is_put = put_visit(xdr, r, &visits[r], metrics->first_ns - begun_ns);
    }
    return is_put;
}

static bool put_head(XDR *xdr, const clv_bench_results_t *results, int a)
{
    const clv_bench_setup_t *setup = results->setup;

    return put_number(xdr, MAGIC) && put_number(xdr, VERSION) &&
           put_text(xdr, setup->collective->name) && put_number(xdr, (u_int) results->n_bytes) &&
           put_text(xdr, results->pattern_text) && put_seconds(xdr, results->pattern->amount_ns) &&
           put_text(xdr, setup->algorithms[a].name) && put_number(xdr, (u_int) results->n_rounds);
}

static int64_t first_arrival(const clv_bench_results_t *results)
{
    int64_t first_ns = INT64_MAX;

    for (int64_t i = 0; i < results->n_rounds * results->setup->n_algorithms; i++) {
        const int64_t arrival_ns = results->metrics[i].first_ns;
        first_ns = arrival_ns < first_ns ? arrival_ns : first_ns;
    }
    return first_ns;
}

bool clv_bench_xdr_is_built(void)
{
    return true;
}

void clv_bench_report_xdr(FILE *out, const clv_bench_results_t *results)
{
    const int n_algorithms = results->setup->n_algorithms;
    const int64_t begun_ns = first_arrival(results);
    bool is_put = true;
    XDR xdr;

    xdrstdio_create(&xdr, out, XDR_ENCODE);
    for (int a = 0; is_put && a < n_algorithms; a++) {
        is_put = put_head(&xdr, results, a);
        for (int64_t i = 0; is_put && i < results->n_rounds; i++) {
            is_put = put_call(&xdr, results, i * n_algorithms + a, begun_ns);
        }
    }
    xdr_destroy(&xdr); /* flushes; the stream has the error, if any */
}

#else

bool clv_bench_xdr_is_built(void)
{
    return false;
}

void clv_bench_report_xdr(FILE *out, const clv_bench_results_t *results)
{
    (void) out;
    (void) results;
}

#endif
