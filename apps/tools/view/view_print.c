/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prints the counts as lines for people, at most 40 of 100 columns, and as one JSON object with the
 * same numbers (see view.h).
 */
#include "apps/tools/view/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cli/cli_json.h"
#include "util/util_alloc.h"
#include "util/util_text.h"

#define MAX_STREAMS    7 /* lines of the summary */
#define MAX_RANKS      6
#define MAX_NAME_BYTES 50
#define PROGRAM_BYTES  32 /* of its name, beside the figures of a line */

static double ms(double ns)
{
    return ns / 1e6;
}

static double share(int64_t part, int64_t whole)
{
    return whole > 0 ? 100.0 * (double) part / (double) whole : 0;
}

/* ---- lines ----------------------------------------------------------------------------------- */

const clv_clva_head_t *view_any_head(const view_t *view)
{
    int32_t i = 0;

    while (!view->nodes[i].is_there) {
        i++;
    }
    return &view->nodes[i].head;
}

/* The program's name, without its folders where it is long. */
static const char *program_of(const view_t *view, char *name, size_t size)
{
    const char *program = view_any_head(view)->program, *slash = strrchr(program, '/');

    snprintf(name, size, "%.*s", (int) size - 1,
             strlen(program) > PROGRAM_BYTES && slash != NULL ? slash + 1 : program);
    clv_text_cut(name, PROGRAM_BYTES);
    return name;
}

/* Of all ranks. */
static clv_clva_waits_t sum_of_waits(const view_t *view)
{
    clv_clva_waits_t sum = {0};

    for (int32_t i = 0; i < view->n_ranks; i++) {
        sum.waited_ns += view->waits[i].waited_ns;
        sum.asleep_ns += view->waits[i].asleep_ns;
        sum.n_late += view->waits[i].n_late;
    }
    return sum;
}

/* Of all waiting in calls of communicators that clv has, for later ranks or for messages. */
static void print_asleep(FILE *file, const view_t *view)
{
    const clv_clva_waits_t sum = sum_of_waits(view);

    if (sum.waited_ns > 0) {
        fprintf(
            file,
            "of %.3f s of waiting in calls, %.3f s asleep (coll_clv_wait); %lld call%s may have "
            "woken late\n",
            (double) sum.waited_ns / 1e9, (double) sum.asleep_ns / 1e9, (long long) sum.n_late,
            clv_text_s(sum.n_late));
    }
}

static void print_what(FILE *file, const view_t *view, const view_counts_t *counts)
{
    char not_taken[VIEW_LINE_BYTES], name[VIEW_NAME_BYTES];

    fprintf(file, "%s: %d rank%s on %d host%s, %lld call%s in %.3f s, clocks within %.1f us\n",
            program_of(view, name, sizeof name), (int) view->n_ranks, clv_text_s(view->n_ranks),
            (int) view->n_nodes, clv_text_s(view->n_nodes), (long long) counts->n_calls,
            clv_text_s(counts->n_calls), (double) counts->run_ns / 1e9,
            (double) view->worst_bound_ns / 1e3);
    fprintf(file,
            "in MPI %.1f ms a rank, %.1f %% of the run; waiting for later ranks: %.1f %% of that, "
            "%.3f CPU s\n",
            ms((double) counts->in_mpi_ns / view->n_ranks),
            share(counts->in_mpi_ns / view->n_ranks, counts->run_ns),
            share(counts->wait_ns, counts->in_mpi_ns), (double) counts->wait_ns / 1e9);
    print_asleep(file, view);
    if (view->n_by_offsets > 0) {
        fprintf(file, "reversed with the files' clock offsets: %lld of %lld; without: %s\n",
                (long long) view->n_reversed, (long long) view->n_by_offsets,
                view->reversed[0] != '\0' ? view->reversed : "none");
    }
    if (counts->n_dropped > 0 || counts->n_incomplete > 0) {
        fprintf(file, "%lld call%s of ranks dropped; %lld call%s ranks\n",
                (long long) counts->n_dropped, clv_text_s(counts->n_dropped),
                (long long) counts->n_incomplete, counts->n_incomplete == 1 ? " lacks" : "s lack");
    }
    if (counts->n_requests > 0) {
        fprintf(file,
                "beside these %lld nonblocking and persistent call%s in %d stream%s: "
                "clv plans none\n",
                (long long) counts->n_requests, clv_text_s(counts->n_requests),
                (int) counts->n_request_streams, clv_text_s(counts->n_request_streams));
    }
    view_not_taken(view, not_taken, sizeof not_taken);
    if (not_taken[0] != '\0') {
        fprintf(file, "%s\n", not_taken);
    }
}

static double caused_by_all(const view_t *view, const view_counts_t *counts)
{
    double sum_ns = 0;

    for (int32_t i = 0; i < view->n_ranks; i++) {
        sum_ns += counts->ranks[i].caused_ns;
    }
    return sum_ns;
}

/* The headline: one rank, the reason, and the share of the waiting that no rank causes. */
static void print_blame(FILE *file, const view_t *view, const view_counts_t *counts)
{
    const double most = (double) counts->wait_ns, all = caused_by_all(view, counts);
    int32_t worst = 0;

    if (counts->wait_ns <= 0) {
        return;
    }
    for (int32_t i = 1; i < view->n_ranks; i++) {
        worst = counts->ranks[i].caused_ns > counts->ranks[worst].caused_ns ? i : worst;
    }
    const view_rank_count_t *rank = &counts->ranks[worst];
    if (rank->caused_ns <= 0) {
        fputs("no rank is known to cause it: clocks are not that good, or nobody came later\n",
              file);
        return;
    }
    fprintf(file, "rank %d causes %.1f %% of that waiting: %s", (int) worst,
            100 * rank->caused_ns / most,
            rank->kept_ns > rank->caused_ns / 2 ? "it leaves the call before later than others do"
                                                : "it computes longer than others do");
    if (all < 0.995 * most) {
        fprintf(file, "; %.1f %% has no known cause", 100 * (1 - all / most));
    }
    fputc('\n', file);
}

void view_print_bars(FILE *file, const double *numbers, int32_t n, double most)
{
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

    for (int32_t i = 0; i < n; i++) {
        fputs(bars[most > 0 ? (int) (numbers[i] / most * 7.999) : 0], file);
    }
    fputc('\n', file);
}

static void print_spreads(FILE *file, const view_counts_t *counts)
{
    double most = 0;

    for (int32_t i = 0; i < counts->n_spreads; i++) {
        most = counts->spreads[i] > most ? counts->spreads[i] : most;
    }
    fprintf(file, "\nspread (last arrival - first) over the run, up to %.3f ms\n", ms(most));
    view_print_bars(file, counts->spreads, counts->n_spreads, most);
}

/* For calls with a request it is unknown which rank waits. */
static void print_waits(FILE *file, const view_t *view, const view_stream_count_t *one)
{
    if (view->streams[one->stream].key.how != CLV_CLVA_HOW_BLOCKING) {
        fprintf(file, "%8s %8lld %6s", "-", (long long) one->n_calls, "-");
    } else {
        fprintf(file, "%8.1f %8lld %6.1f", ms((double) one->wait_ns), (long long) one->n_calls,
                share(one->wait_ns, one->in_mpi_ns));
    }
}

/* Whether all its times print as zeros. */
static bool is_zero_stream(const view_stream_count_t *one)
{
    return one->n_calls == 0 || (ms((double) one->wait_ns) < 0.05 && ms(one->spread_ns) < 0.0005 &&
                                 ms(one->after_ns) < 0.0005);
}

static void print_more(FILE *file, int32_t n_more, int32_t n_zero)
{
    if (n_more > 0 && n_zero > 0) {
        fprintf(file, "%8s and %d more, %d of them all zeros\n", "", (int) n_more, (int) n_zero);
    } else if (n_more > 0) {
        fprintf(file, "%8s and %d more\n", "", (int) n_more);
    }
}

static void print_streams(FILE *file, const view_t *view, const view_counts_t *counts)
{
    char name[VIEW_NAME_BYTES];
    int32_t n = 0, n_zero = 0;

    fprintf(file, "\n%8s %8s %6s %10s %10s   %s\n", "wait ms", "calls", "wait%", "spread ms",
            "after ms", "stream, by time ranks waited for later ones");
    for (int32_t i = 0; i < view->n_streams; i++) {
        const view_stream_count_t *one = &counts->streams[i];
        n_zero += is_zero_stream(one);
        if (n == MAX_STREAMS || is_zero_stream(one)) {
            continue;
        }
        n++;
        view_stream_name(view, one->stream, name, sizeof name);
        clv_text_cut(name, MAX_NAME_BYTES);
        print_waits(file, view, one);
        fprintf(file, " %10.3f %10.3f   %d: %s\n", ms(one->spread_ns), ms(one->after_ns),
                (int) one->stream, name);
    }
    print_more(file, view->n_streams - n, n_zero);
}

static const view_rank_count_t *sorted_ranks; /* for the comparison */

static int most_caused_first(const void *a, const void *b)
{
    const view_rank_count_t *one = &sorted_ranks[*(const int32_t *) a];
    const view_rank_count_t *other = &sorted_ranks[*(const int32_t *) b];

    if (one->caused_ns != other->caused_ns) {
        return one->caused_ns > other->caused_ns ? -1 : 1;
    }
    if (one->lateness_ns != other->lateness_ns) {
        return one->lateness_ns > other->lateness_ns ? -1 : 1;
    }
    return *(const int32_t *) a - *(const int32_t *) b;
}

static bool is_zero_rank(const view_rank_count_t *one)
{
    return one->n_last == 0 && ms(one->caused_ns) < 0.05 && ms(one->lateness_ns) < 0.0005 &&
           ms(one->own_ns) < 0.0005 && ms(one->inherited_ns) < 0.0005 &&
           ms((double) one->wait_ns) < 0.05;
}

static void print_rank(FILE *file, const view_t *view, const view_counts_t *counts, int32_t rank)
{
    const view_rank_count_t *one = &counts->ranks[rank];
    const int32_t node = view->node_of[rank];

    fprintf(file, "%5d %7.1f %% %10.1f %6.1f %% %10.3f %9.3f %9.3f %9.1f   %.16s\n", (int) rank,
            counts->wait_ns > 0 ? 100 * one->caused_ns / (double) counts->wait_ns : 0,
            ms(one->caused_ns), share(one->n_last, counts->n_named), ms(one->lateness_ns),
            ms(one->own_ns), ms(one->inherited_ns), ms((double) one->wait_ns),
            node >= 0 ? view->nodes[node].head.host : "not recorded");
}

static void print_order(FILE *file, const view_t *view, const view_counts_t *counts,
                        const int32_t *order)
{
    int32_t n = 0, n_zero = 0;

    fprintf(file, "\n%5s %9s %10s %8s %10s %9s %9s %9s   %s\n", "rank", "causes", "causes ms",
            "last", "late ms", "own ms", "inherited", "waits ms", "host");
    for (int32_t i = 0; i < view->n_ranks; i++) {
        const bool is_zero = is_zero_rank(&counts->ranks[order[i]]);
        n_zero += is_zero;
        if (n < MAX_RANKS && !is_zero) {
            print_rank(file, view, counts, order[i]);
            n++;
        }
    }
    print_more(file, view->n_ranks - n, n_zero);
}

static void print_ranks(FILE *file, const view_t *view, const view_counts_t *counts)
{
    int32_t *order = clv_alloc((size_t) view->n_ranks, sizeof *order);

    if (order == NULL) {
        return;
    }
    for (int32_t i = 0; i < view->n_ranks; i++) {
        order[i] = i;
    }
    sorted_ranks = counts->ranks;
    qsort(order, (size_t) view->n_ranks, sizeof *order, most_caused_first);
    print_order(file, view, counts, order);
    if (counts->n_named < counts->n_calls) {
        fprintf(file,
                "who was last cannot be told for %lld of %lld call%s: clocks are not that good\n",
                (long long) (counts->n_calls - counts->n_named), (long long) counts->n_calls,
                clv_text_s(counts->n_calls));
    }
    clv_free(order);
}

static void print_predictions(FILE *file, const view_t *view, const view_counts_t *counts)
{
    int64_t n = 0;
    double error_ns = 0;

    for (int32_t i = 0; i < view->n_streams; i++) {
        n += counts->streams[i].n_predicted;
        error_ns += counts->streams[i].error_ns * (double) counts->streams[i].n_predicted;
    }
    if (n > 0) {
        fprintf(file, "\n%lld call%s predicted, wrong by %.3f ms in the mean\n", (long long) n,
                n == 1 ? " was" : "s were", ms(error_ns / (double) n));
    }
}

void view_print_summary(FILE *file, const view_t *view, const view_counts_t *counts,
                        const view_what_if_t *what_if)
{
    char name[VIEW_NAME_BYTES];

    if (!view->has_time) {
        fprintf(file, "%s: %d rank%s, in MPI %.1f ms a rank; no common clock, so no lateness\n",
                program_of(view, name, sizeof name), (int) view->n_ranks, clv_text_s(view->n_ranks),
                ms((double) counts->in_mpi_ns / view->n_ranks));
        return;
    }
    print_what(file, view, counts);
    print_blame(file, view, counts);
    if (counts->n_calls + counts->n_requests > 0) {
        print_streams(file, view, counts);
    }
    if (counts->n_calls > 0) {
        print_ranks(file, view, counts);
        print_spreads(file, counts);
        print_predictions(file, view, counts);
        view_print_what_if(file, what_if, false);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_stream(FILE *file, const view_t *view, const view_stream_count_t *one)
{
    const clv_clva_stream_t *key = &view->streams[one->stream].key;
    char name[VIEW_NAME_BYTES];

    view_stream_name(view, one->stream, name, sizeof name);
    fprintf(file, "{\"stream\":%d,\"name\":", (int) one->stream);
    clv_json_put_text(file, name);
    fprintf(file,
            ",\"op\":\"%s\",\"how\":\"%s\",\"root\":%d,\"bytes\":%lld,\"type\":\"%s\","
            "\"calls\":%lld,\"incomplete\":%lld,\"named\":%lld,\"wait_ns\":%lld,\"in_mpi_ns\":%lld,"
            "\"spread_ns\":%.0f,\"after_ns\":%.0f,\"bound_ns\":%lld,\"predicted\":%lld,"
            "\"error_ns\":%.0f}",
            clv_clva_ops[key->op].name, clv_clva_hows[key->how].name, (int) key->root,
            (long long) key->bytes, clv_clva_types[key->type], (long long) one->n_calls,
            (long long) one->n_incomplete, (long long) one->n_named, (long long) one->wait_ns,
            (long long) one->in_mpi_ns, one->spread_ns, one->after_ns, (long long) one->bound_ns,
            (long long) one->n_predicted, one->error_ns);
}

static void put_rank(FILE *file, const view_t *view, const view_counts_t *counts, int32_t rank)
{
    const view_rank_count_t *one = &counts->ranks[rank];

    fprintf(file,
            "{\"rank\":%d,\"node\":%d,\"calls\":%lld,\"last\":%lld,\"lateness_ns\":%.0f,"
            "\"own_ns\":%.0f,\"inherited_ns\":%.0f,\"caused_ns\":%.0f,\"kept_ns\":%.0f,"
            "\"wait_ns\":%lld,\"in_mpi_ns\":%lld,\"dropped\":%lld,\"waited_ns\":%lld,"
            "\"asleep_ns\":%lld,\"late_wakes\":%lld}",
            (int) rank, (int) view->node_of[rank], (long long) one->n_calls,
            (long long) one->n_last, one->lateness_ns, one->own_ns, one->inherited_ns,
            one->caused_ns, one->kept_ns, (long long) one->wait_ns, (long long) one->in_mpi_ns,
            (long long) view->n_dropped[rank], (long long) view->waits[rank].waited_ns,
            (long long) view->waits[rank].asleep_ns, (long long) view->waits[rank].n_late);
}

static void put_nodes(FILE *file, const view_t *view)
{
    if (view->n_by_offsets > 0) {
        fprintf(file, "\"reversed\":%lld,\"reversed_without_offsets\":\"%s\",",
                (long long) view->n_reversed, view->reversed);
    }
    fputs("\"nodes\":[", file);
    for (int32_t i = 0; i < view->n_nodes; i++) {
        const view_node_t *node = &view->nodes[i];
        fprintf(file, "%s{\"node\":%d,\"recorded\":%d,\"host\":", i > 0 ? "," : "", (int) i,
                node->is_there);
        clv_json_put_text(file, node->head.host);
        fprintf(file, ",\"ended\":%d,\"every\":%lld,\"bytes\":%zu,\"thread_ns\":%lld}",
                node->has_ended, (long long) node->every, node->n_bytes,
                (long long) node->thread_ns);
    }
    fputs("]", file);
}

void view_print_json(FILE *file, const view_t *view, const view_counts_t *counts,
                     const view_what_if_t *what_if)
{
    const clv_clva_head_t *head = view_any_head(view);
    char not_taken[VIEW_LINE_BYTES];

    view_not_taken(view, not_taken, sizeof not_taken);
    (void) clv_json_begin(file, "clv-view", "recording");
    fputs(",\"recorded_program\":", file);
    clv_json_put_text(file, head->program);
    fputs(",\"job\":", file);
    clv_json_put_text(file, head->job);
    fprintf(file, ",\"ranks\":%d,\"has_time\":%d,\"calls\":%lld,\"cells\":%lld,",
            (int) view->n_ranks, view->has_time, (long long) counts->n_calls,
            (long long) view->n_cells);
    fprintf(file,
            "\"incomplete\":%lld,\"named\":%lld,\"dropped\":%lld,\"run_ns\":%lld,\"wait_ns\":%lld,"
            "\"in_mpi_ns\":%lld,\"worst_bound_ns\":%lld,\"requests\":%lld,",
            (long long) counts->n_incomplete, (long long) counts->n_named,
            (long long) counts->n_dropped, (long long) counts->run_ns, (long long) counts->wait_ns,
            (long long) counts->in_mpi_ns, (long long) view->worst_bound_ns,
            (long long) counts->n_requests);
    put_nodes(file, view);
    fputs(",\"not_taken\":", file);
    clv_json_put_text(file, not_taken);
    fputs(",\"streams\":[", file);
    for (int32_t i = 0; i < view->n_streams; i++) {
        fputs(i > 0 ? ",\n" : "\n", file);
        put_stream(file, view, &counts->streams[i]);
    }
    fputs("],\"by_rank\":[", file);
    for (int32_t i = 0; i < view->n_ranks; i++) {
        fputs(i > 0 ? ",\n" : "\n", file);
        put_rank(file, view, counts, i);
    }
    fputs("],\n\"what_if\":", file);
    view_put_what_if(file, what_if);
    fputs("}\n", file);
}
