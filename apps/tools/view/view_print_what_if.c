/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prints the estimates for other algorithms as a table, a curve and JSON (see view.h).
 */
#include "apps/tools/view/view.h"

static double gbit_of(const view_what_if_t *what_if)
{
    return what_if->setting.cost.byte_ps > 0 ? 8000.0 / (double) what_if->setting.cost.byte_ps : 0;
}

static void print_row(FILE *file, const char *name, const clv_what_if_result_t *row,
                      const clv_what_if_result_t *measured)
{
    fprintf(file, "%-10s %9.3f %9.3f %12.3f %11.3f %11.3f\n", name, (double) row->run_ns / 1e9,
            (double) (measured->run_ns - row->run_ns) / 1e9, row->iteration_ns / 1e6,
            row->in_mpi_ns / 1e9, row->after_ns / 1e6);
}

static void print_cost(FILE *file, const view_what_if_t *what_if)
{
    char names[64];

    fprintf(file, "cost: %.3f Gb/s %s, %.0f us %s, up to %lld KiB of a pair early %s\n",
            gbit_of(what_if), what_if->cost_from, (double) what_if->setting.cost.latency_ns / 1e3,
            what_if->latency_from, (long long) what_if->setting.early.pair_bytes / 1024,
            what_if->early_from);
    fprintf(file,
            "model / measured of what ran: run %.2f, iteration %.2f, in MPI %.2f, after %.2f\n",
            what_if->fidelity_run, what_if->fidelity_iteration, what_if->fidelity_in_mpi,
            what_if->fidelity_after);
    view_indicative(what_if, names, sizeof names);
    if (names[0] != '\0') {
        fprintf(file, "indicative only: %s (outside %.2g to %.3g)\n", names,
                CLV_WHAT_IF_FAITHFUL_LEAST, CLV_WHAT_IF_FAITHFUL_MOST);
    }
}

static void print_curve(FILE *file, const view_what_if_t *what_if)
{
    double most = 0;

    for (int i = 0; i < CLV_WHAT_IF_N_WAYS; i++) {
        for (int32_t k = 0; k < what_if->n_parts; k++) {
            most = what_if->iteration_ns[i][k] > most ? what_if->iteration_ns[i][k] : most;
        }
    }
    fprintf(file, "\niteration over the run, by the model, up to %.3f ms\n", most / 1e6);
    for (int i = 0; i < CLV_WHAT_IF_N_WAYS; i++) {
        fprintf(file, "%-10s ", clv_what_if_ways[i].word);
        view_print_bars(file, what_if->iteration_ns[i], what_if->n_parts, most);
    }
    for (int i = 0; i < CLV_WHAT_IF_N_WAYS; i++) {
        fprintf(file, "%s%-10s %s\n", i == 0 ? "\n" : "", clv_what_if_ways[i].word,
                clv_what_if_ways[i].meaning);
    }
}

/* A bound for any measure that balances the ranks. */
static void print_balanced(FILE *file, const view_what_if_t *what_if)
{
    const int64_t run_ns = what_if->measured.run_ns;

    if (what_if->balanced_ns > 0 && what_if->balanced_ns < run_ns) {
        fprintf(file,
                "were every rank as fast as the mean: %.3f s instead of %.3f s, %.1f %% less\n",
                (double) what_if->balanced_ns / 1e9, (double) run_ns / 1e9,
                100 * (1 - (double) what_if->balanced_ns / (double) run_ns));
    }
}

/* "60 reduces, 1 broadcast" */
static void planned_text(const view_what_if_t *what_if, char *text, size_t size)
{
    static const char *const words[CLV_N_COLLECTIVES] = {[CLV_COLLECTIVE_REDUCE] = "reduce",
                                                         [CLV_COLLECTIVE_ALLREDUCE] = "allreduce",
                                                         [CLV_COLLECTIVE_BCAST] = "broadcast"};
    size_t used = 0;

    text[0] = '\0';
    for (int i = 0; i < CLV_N_COLLECTIVES; i++) {
        const int32_t n = what_if->n_planned[i];
        if (n > 0 && used < size) {
            used += (size_t) snprintf(text + used, size - used, "%s%d %s%s", used > 0 ? ", " : "",
                                      (int) n, words[i], n == 1 ? "" : "s");
        }
    }
}

void view_print_what_if(FILE *file, const view_what_if_t *what_if, bool with_curve)
{
    char planned[80];

    if (what_if->why_not[0] != '\0') {
        fprintf(file, "%sno what-if: %s\n", with_curve ? "" : "\n", what_if->why_not);
        print_balanced(file, what_if);
        return;
    }
    planned_text(what_if, planned, sizeof planned);
    fprintf(file, "%sreplayed otherwise: %s; %s ran%s\n%-10s %9s %9s %12s %11s %11s\n",
            with_curve ? "" : "\n", planned, clv_what_if_ways[what_if->ran].word,
            what_if->n_left_out > 0 ? ", later ones left out" : "", "what if", "run s", "saved s",
            "iteration ms", "in calls s", "after ms");
    for (int i = 0; i < CLV_WHAT_IF_N_WAYS; i++) {
        const clv_what_if_result_t scaled = view_scaled(what_if, (clv_what_if_way_t) i);
        print_row(file, clv_what_if_ways[i].word, &scaled, &what_if->measured);
    }
    print_cost(file, what_if);
    print_balanced(file, what_if);
    if (with_curve) {
        print_curve(file, what_if);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_result(FILE *file, const clv_what_if_result_t *result)
{
    fprintf(file, "{\"run_ns\":%lld,\"pace_ns\":%.0f,\"in_mpi_ns\":%.0f,\"after_ns\":%.0f}",
            (long long) result->run_ns, result->iteration_ns, result->in_mpi_ns, result->after_ns);
}

static void put_curve(FILE *file, const double *iteration_ns, int32_t n_parts)
{
    fputc('[', file);
    for (int32_t i = 0; i < n_parts; i++) {
        fprintf(file, "%s%.0f", i > 0 ? "," : "", iteration_ns[i]);
    }
    fputc(']', file);
}

static void put_way(FILE *file, const view_what_if_t *what_if, clv_what_if_way_t way)
{
    const clv_what_if_result_t scaled = view_scaled(what_if, way);

    fprintf(file, "{\"way\":\"%s\",\"meaning\":\"%s\",\"model\":", clv_what_if_ways[way].word,
            clv_what_if_ways[way].meaning);
    put_result(file, &what_if->model[way]);
    fputs(",\"scaled\":", file);
    put_result(file, &scaled);
    fputs(",\"curve_ns\":", file);
    put_curve(file, what_if->iteration_ns[way], what_if->n_parts);
    fputc('}', file);
}

void view_put_what_if(FILE *file, const view_what_if_t *what_if)
{
    char names[64], planned[80];

    if (what_if->why_not[0] != '\0') {
        fprintf(file, "{\"why_not\":\"%s\",\"balanced_run_ns\":%lld}", what_if->why_not,
                (long long) what_if->balanced_ns);
        return;
    }
    view_indicative(what_if, names, sizeof names);
    planned_text(what_if, planned, sizeof planned);
    fprintf(
        file,
        "{\"ran\":\"%s\",\"planned\":%d,\"planned_calls\":\"%s\",\"left_out\":%d,\"gbit\":%.6f,"
        "\"gbit_from\":\"%s\","
        "\"latency_ns\":%lld,\"latency_from\":\"%s\",\"early_bytes\":%lld,\"early_from\":\"%s\","
        "\"flight_bytes\":%lld,\"gap_ns\":%lld,\"balanced_run_ns\":%lld,\"indicative\":\"%s\","
        "\"fidelity\":{\"run\":%.6f,\"pace\":%.6f,\"in_mpi\":%.6f,\"after\":%.6f},"
        "\"measured\":",
        clv_what_if_ways[what_if->ran].word, (int) what_if->measured.n_planned, planned,
        (int) what_if->n_left_out, gbit_of(what_if), what_if->cost_from,
        (long long) what_if->setting.cost.latency_ns, what_if->latency_from,
        (long long) what_if->setting.early.pair_bytes, what_if->early_from,
        (long long) what_if->setting.early.in_flight_bytes,
        (long long) what_if->setting.cost.gap_ns, (long long) what_if->balanced_ns, names,
        what_if->fidelity_run, what_if->fidelity_iteration, what_if->fidelity_in_mpi,
        what_if->fidelity_after);
    put_result(file, &what_if->measured);
    fputs(",\"measured_curve_ns\":", file);
    put_curve(file, what_if->measured_iteration_ns, what_if->n_parts);
    fputs(",\"ways\":[", file);
    for (int i = 0; i < CLV_WHAT_IF_N_WAYS; i++) {
        fputs(i > 0 ? ",\n" : "\n", file);
        put_way(file, what_if, (clv_what_if_way_t) i);
    }
    fputs("]}", file);
}
