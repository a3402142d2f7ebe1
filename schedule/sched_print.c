/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The formats of clv-plan. Cost: O(sends). The table takes O(sends * ranks * segments) at worst,
 * but is meant for small plans.
 */
#include "schedule/sched_print.h"

#include <inttypes.h>
#include <string.h>

#include "schedule/sched_goal.h"
#include "schedule/sched_instance.h"
#include "util/util_alloc.h"

static void print_tuples(FILE *out, const clv_plan_t *plan, const clv_instance_t *instance)
{
    (void) instance;
    for (int64_t k = 0; k < plan->n_sends; k++) {
        const clv_send_t *send = &plan->sends[k];
        fprintf(out, "%d %d %d %d%s\n", (int) send->round, (int) send->sender, (int) send->receiver,
                (int) send->segment, send->kind == CLV_COPY ? " copy" : "");
    }
}

/* "3"; "1,4" if the sink took the segment back and sent it again; "1,4,..." for more than fits into
 * a cell; "4c" for a copy; "." if it is never sent. */
static void print_cell(FILE *out, const clv_plan_t *plan, int32_t rank, int32_t segment)
{
    char cell[64] = "";
    size_t used = 0;
    for (int64_t k = 0; k < plan->n_sends; k++) {
        const clv_send_t *send = &plan->sends[k];
        if (send->sender != rank || send->segment != segment) {
            continue;
        }
        if (used + 13 + sizeof ",..." > sizeof cell) {
            (void) snprintf(cell + used, sizeof cell - used, ",...");
            break;
        }
        used += (size_t) snprintf(cell + used, sizeof cell - used, "%s%d%s", used > 0 ? "," : "",
                                  (int) send->round, send->kind == CLV_COPY ? "c" : "");
    }
    fprintf(out, " %4s", used == 0 ? "." : cell);
}

/* The header of the table: ranks, and below them their places, if there are any. */
static void print_head(FILE *out, const clv_plan_t *plan, const clv_instance_t *instance)
{
    fprintf(out, "     ");
    for (int32_t p = 0; p < plan->n_ranks; p++) {
        char name[16];
        (void) snprintf(name, sizeof name, "p%d", (int) p);
        fprintf(out, " %4s", name);
    }
    if (instance->place != NULL) {
        fprintf(out, "\nplace");
        for (int32_t p = 0; p < plan->n_ranks; p++) {
            fprintf(out, " %4d", (int) instance->place[p]);
        }
    }
    fprintf(out, "\n");
}

static void print_text(FILE *out, const clv_plan_t *plan, const clv_instance_t *instance)
{
    print_head(out, plan, instance);
    for (int32_t s = 0; s < plan->n_segments; s++) {
        char name[16];
        (void) snprintf(name, sizeof name, "s%d", (int) s);
        fprintf(out, "%-5s", name);
        for (int32_t p = 0; p < plan->n_ranks; p++) {
            print_cell(out, plan, p, s);
        }
        fprintf(out, "\n");
    }
}

/* The rank that has the result of a reduce, or the vector of a broadcast. */
static bool is_root(const clv_plan_t *plan, int32_t rank)
{
    return rank == plan->root && (plan->goal == CLV_GOAL_REDUCE || plan->goal == CLV_GOAL_BCAST);
}

/* A box around the ranks of each place. */
static void print_clusters(FILE *out, const clv_instance_t *instance)
{
    for (int32_t place = 0; place < instance->n_ranks; place++) {
        int n_printed = 0;
        for (int32_t p = 0; p < instance->n_ranks; p++) {
            if (instance->place[p] == place) {
                if (n_printed++ == 0) {
                    fprintf(out, "  subgraph cluster_%d { label=\"place %d\";", (int) place,
                            (int) place);
                }
                fprintf(out, " p%d;", (int) p);
            }
        }
        fprintf(out, n_printed > 0 ? " }\n" : "");
    }
}

static void print_dot(FILE *out, const clv_plan_t *plan, const clv_instance_t *instance)
{
    fprintf(out, "digraph plan {\n  label=\"edges: round/segment\";\n  node [shape=circle];\n");
    for (int32_t p = 0; p < plan->n_ranks; p++) {
        fprintf(out, "  p%d [label=\"p%d\\n%" PRId64 " ns\"%s];\n", (int) p, (int) p,
                instance->arrival_ns[p], is_root(plan, p) ? ", shape=doublecircle" : "");
    }
    if (instance->place != NULL) {
        print_clusters(out, instance);
    }
    for (int64_t k = 0; k < plan->n_sends; k++) {
        const clv_send_t *send = &plan->sends[k];
        fprintf(out, "  p%d -> p%d [label=\"%d/s%d\"%s];\n", (int) send->sender,
                (int) send->receiver, (int) send->round, (int) send->segment,
                send->kind == CLV_COPY ? ", style=dashed" : "");
    }
    fprintf(out, "}\n");
}

static void print_hash(FILE *out, const clv_plan_t *plan, const clv_instance_t *instance)
{
    (void) instance;
    fprintf(out, "%016" PRIx64 "\n", clv_plan_hash(plan));
}

int32_t clv_plan_rounds_after(const clv_plan_t *plan, const clv_instance_t *instance)
{
    int64_t last_round = clv_sched_spread_ns(instance) / clv_sched_effective_round_ns(instance);
    return plan->n_rounds > last_round ? plan->n_rounds - (int32_t) last_round : 0;
}

static int64_t count_crossings(const clv_plan_t *plan, const int32_t *place)
{
    int64_t n_crossings = 0;
    for (int64_t k = 0; k < plan->n_sends; k++) {
        n_crossings += place[plan->sends[k].sender] != place[plan->sends[k].receiver];
    }
    return n_crossings;
}

/* The goal is left out for a reduce without places. */
static void print_summary(FILE *out, const clv_plan_t *plan, const clv_instance_t *instance)
{
    if (plan->goal != CLV_GOAL_REDUCE) {
        fprintf(out, "goal %s\n", clv_goal_name(plan->goal));
    }
    fprintf(out, "rounds %d\nsends %" PRId64 "\nrounds after the last arrival %d\n",
            (int) plan->n_rounds, plan->n_sends, (int) clv_plan_rounds_after(plan, instance));
    if (instance->place != NULL) {
        fprintf(out, "sends between places %" PRId64 "\n", count_crossings(plan, instance->place));
    }
}

/* Layout of the picture, in pixels: a row per rank, a column per round. */
enum { CELL_WIDTH = 34, ROW_HEIGHT = 30, LEFT = 46, TOP = 58, CAPTION_WIDTH = 390 };

/* The time at every few rounds, with a line down to the last rank. */
static void print_gantt_axis(FILE *out, const clv_plan_t *plan, const clv_instance_t *instance)
{
    const int step = plan->n_rounds > 12 ? (plan->n_rounds + 11) / 12 : 1;
    const int64_t bottom = TOP + (int64_t) plan->n_ranks * ROW_HEIGHT;

    for (int64_t round = 0; round <= plan->n_rounds; round += step) {
        const int64_t x = LEFT + round * CELL_WIDTH;
        fprintf(out,
                "<path d=\"M%" PRId64 " %d V%" PRId64 "\" stroke=\"#ccc\"/>"
                "<text x=\"%" PRId64 "\" y=\"%d\" text-anchor=\"middle\">%.4g</text>\n",
                x, TOP - 8, bottom, x, TOP - 10, (double) (round * instance->round_ns) / 1e6);
    }
    fprintf(out, "<text x=\"4\" y=\"%d\">ms</text>\n", TOP - 10);
}

static void print_gantt_frame(FILE *out, const clv_plan_t *plan, const clv_instance_t *instance)
{
    const int64_t needed = LEFT + (int64_t) plan->n_rounds * CELL_WIDTH + 20;
    const int64_t width = needed > CAPTION_WIDTH ? needed : CAPTION_WIDTH;
    const int64_t height = TOP + (int64_t) plan->n_ranks * ROW_HEIGHT + 10;

    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%" PRId64 "\" height=\"%" PRId64
            "\" font-family=\"sans-serif\" font-size=\"10\">\n"
            "<text x=\"4\" y=\"14\">upper: sends segment &gt; to rank; lower: receives segment "
            "&lt; from rank</text>\n"
            "<text x=\"4\" y=\"28\">black bar: arrival; dashed: copy; rounds of %.4g ms</text>\n",
            width, height, (double) instance->round_ns / 1e6);
    print_gantt_axis(out, plan, instance);
}

static void print_gantt_ranks(FILE *out, const clv_plan_t *plan, const clv_instance_t *instance)
{
    const int64_t first_ns = clv_sched_first_ns(instance);

    for (int32_t p = 0; p < plan->n_ranks; p++) {
        int64_t y = TOP + (int64_t) p * ROW_HEIGHT;
        int64_t x = LEFT + (int64_t) ((double) (instance->arrival_ns[p] - first_ns) /
                                      (double) instance->round_ns * CELL_WIDTH);
        char place[16] = "";
        if (instance->place != NULL) {
            (void) snprintf(place, sizeof place, "@%d", (int) instance->place[p]);
        }
        fprintf(out,
                "<text x=\"4\" y=\"%" PRId64 "\">p%d%s%s</text>"
                "<rect x=\"%" PRId64 "\" y=\"%" PRId64 "\" width=\"2\" height=\"%d\"/>\n",
                y + 18, (int) p, place, is_root(plan, p) ? " root" : "", x, y, ROW_HEIGHT - 2);
    }
}

static void print_gantt_box(FILE *out, const clv_send_t *send, int32_t row, int32_t other,
                            bool lower, int32_t n_segments)
{
    int64_t x = LEFT + (int64_t) send->round * CELL_WIDTH + 2;
    int64_t y = TOP + (int64_t) row * ROW_HEIGHT + (lower ? ROW_HEIGHT / 2 : 0);
    fprintf(out,
            "<rect x=\"%" PRId64 "\" y=\"%" PRId64 "\" width=\"%d\" height=\"%d\" "
            "fill=\"hsl(%d,70%%,%d%%)\"%s/><text x=\"%" PRId64 "\" y=\"%" PRId64
            "\">%d%s%d</text>\n",
            x, y, CELL_WIDTH - 3, ROW_HEIGHT / 2 - 2,
            (int) ((int64_t) send->segment * 360 / n_segments), lower ? 88 : 72,
            send->kind == CLV_COPY ? " stroke=\"black\" stroke-dasharray=\"2\"" : "", x + 2, y + 10,
            (int) send->segment, lower ? "&lt;" : "&gt;", (int) other);
}

static void print_gantt(FILE *out, const clv_plan_t *plan, const clv_instance_t *instance)
{
    print_gantt_frame(out, plan, instance);
    print_gantt_ranks(out, plan, instance);
    for (int64_t k = 0; k < plan->n_sends; k++) {
        const clv_send_t *send = &plan->sends[k];
        print_gantt_box(out, send, send->sender, send->receiver, false, plan->n_segments);
        print_gantt_box(out, send, send->receiver, send->sender, true, plan->n_segments);
    }
    fprintf(out, "</svg>\n");
}

/* ---- GOAL ------------------------------------------------------------------------------------ */

/* One rank's part. Each step depends on the rank's earlier steps with the same segment, each send
 * on the send before it, and all on the rank's arrival, which is label 0. */
static void print_goal_rank(FILE *out, const clv_instance_t *instance, int32_t rank,
                            const clv_step_t *steps, int64_t n_steps, int64_t *last)
{
    const int64_t arrival_ns = instance->arrival_ns[rank] - clv_sched_first_ns(instance);
    int64_t last_send = 0;

    fprintf(out, "rank %d {\nl0: calc %" PRId64 "\n", (int) rank, arrival_ns);
    for (int64_t label = 1; label <= n_steps; label++) {
        const clv_step_t *step = &steps[label - 1];
        const bool is_send = clv_step_is_send(step);
        const int64_t before = last[step->segment];
        fprintf(out,
                "l%" PRId64 ": %s %" PRId64 "b %s %d tag %d\nl%" PRId64 " requires l%" PRId64 "\n",
                label, is_send ? "send" : "recv", (int64_t) instance->round_ns,
                is_send ? "to" : "from", (int) step->peer, (int) step->round, label, before);
        if (is_send && last_send != before) {
            fprintf(out, "l%" PRId64 " requires l%" PRId64 "\n", label, last_send);
        }
        last[step->segment] = label;
        last_send = is_send ? label : last_send;
    }
    fputs("}\n", out);
}

static void print_goal(FILE *out, const clv_plan_t *plan, const clv_instance_t *instance)
{
    int32_t ranks[CLV_SCHED_MAX_RANKS];
    int64_t first[CLV_SCHED_MAX_RANKS + 1];
    int64_t *last = clv_alloc_unset((size_t) plan->n_segments, sizeof *last);
    clv_step_t *steps = clv_alloc_unset(2 * (size_t) plan->n_sends + 1, sizeof *steps);

    for (int32_t p = 0; p < plan->n_ranks; p++) {
        ranks[p] = p;
    }
    if (last == NULL || steps == NULL) {
        fputs("clv-plan: out of memory\n", stderr);
    } else {
        clv_plan_index_steps(plan, ranks, plan->n_ranks, first);
        clv_plan_list_steps(plan, ranks, plan->n_ranks, first, steps);
        fprintf(out, "num_ranks %d\n", (int) plan->n_ranks);
        for (int32_t p = 0; p < plan->n_ranks; p++) {
            memset(last, 0, (size_t) plan->n_segments * sizeof *last);
            print_goal_rank(out, instance, p, &steps[first[p]], first[p + 1] - first[p], last);
        }
    }
    clv_free(last);
    clv_free(steps);
}

const clv_format_t clv_formats[] = {
#define CLV_FORMAT_ROW(name, meaning) {#name, meaning, print_##name},
    CLV_FORMAT_MAP(CLV_FORMAT_ROW)
#undef CLV_FORMAT_ROW
        {NULL, NULL, NULL},
};

const clv_format_t *clv_format_find(const char *name)
{
    for (const clv_format_t *row = clv_formats; row->name != NULL; row++) {
        if (strcmp(row->name, name) == 0) {
            return row;
        }
    }
    return NULL;
}
