/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-correct: the report, as a table and as JSON lines. Every number is in both.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cli/cli_file.h"
#include "apps/cli/cli_json.h"
#include "apps/tools/correct/correct.h"
#include "util/util_alloc.h"
#include "util/util_text.h"

/* Most rows of left-out items in the table; the JSON has all. */
#define MOST_ROWS 10

#define PROGRAM "clv-correct"

const char *const correct_op_names[CLV_CLC_MAX_OPS] = {"messages",        "barrier",
                                                       "bcast",           "gather",
                                                       "gatherv",         "scatter",
                                                       "scatterv",        "allgather",
                                                       "allgatherv",      "alltoall",
                                                       "alltoallv",       "alltoallw",
                                                       "allreduce",       "reduce",
                                                       "reduce_scatter",  "scan",
                                                       "exscan",          "reduce_scatter_block",
                                                       "create",          "free",
                                                       "allocate",        "deallocate",
                                                       "create_allocate", "free_deallocate"};

static double us(const correct_t *correct, double ticks)
{
    return ticks / correct->archive.ticks_per_ns / 1e3;
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static void report_tally(const correct_t *correct, FILE *out, const char *name,
                         const clv_clc_tally_t *before, const clv_clc_tally_t *after)
{
    const double mean =
        before->n_reversed > 0 ? before->reversed_ns / (double) before->n_reversed : 0;
    fprintf(out, "  %-22s %12lld %10lld %7.3f %10lld %7.3f %12.3f %12.3f", name,
            (long long) before->n_messages, (long long) before->n_reversed,
            percent((double) before->n_reversed, (double) before->n_messages),
            (long long) before->n_violated,
            percent((double) before->n_violated, (double) before->n_messages), us(correct, mean),
            us(correct, (double) before->worst_ns));
    if (!correct->options.is_check) {
        fprintf(out, " %9lld %9lld", (long long) after->n_reversed, (long long) after->n_violated);
    }
    fputc('\n', out);
}

static void report_tallies(const correct_t *correct, FILE *out)
{
    const correct_result_t *result = &correct->result;
    fprintf(out, "  %-22s %12s %10s %7s %10s %7s %12s %12s%s\n", "logical messages", "number",
            "reversed", "%", "violated", "%", "mean [us]", "worst [us]",
            correct->options.is_check ? "" : "  reversed  violated after");
    for (int op = 0; op < CLV_CLC_MAX_OPS; op++) {
        if (result->before[op].n_messages > 0) {
            report_tally(correct, out, correct_op_names[op] ? correct_op_names[op] : "other",
                         &result->before[op], &result->after[op]);
        }
    }
    const clv_clc_tally_t before = clv_clc_sum(result->before);
    const clv_clc_tally_t after = clv_clc_sum(result->after);
    report_tally(correct, out, "all", &before, &after);
}

static void report_table4(const correct_t *correct, FILE *out)
{
    const clv_clc_table4_t *t = &correct->result.table4;
    fprintf(out,
            "event distances (Table 4 of the paper; without pauses above 1 s)\n"
            "  average %.5f %%, maximum %.2f %%\n  deviation above     ",
            percent(t->deviation_ns, t->total_ns), 100 * t->largest);
    for (int i = 0; i < CLV_CLC_N_THRESHOLDS; i++) {
        fprintf(out, " %8g %%", 100 * clv_clc_thresholds[i]);
    }
    fprintf(out, "\n  %% of intervals      ");
    for (int i = 0; i < CLV_CLC_N_THRESHOLDS; i++) {
        fprintf(out, " %10.4f", percent((double) t->n_above[i], (double) t->n_intervals));
    }
    fprintf(out, "\n  %% of their time     ");
    for (int i = 0; i < CLV_CLC_N_THRESHOLDS; i++) {
        fprintf(out, " %10.4f", percent(t->above_ns[i], t->total_ns));
    }
    fprintf(out, "\n  event position: at most %.6f %% and %.3f us off\n",
            100 * t->position_relative, us(correct, (double) t->position_ns));
}

/* ---- locations ---- */

typedef struct row {
    double offset_begin_us, offset_end_us, bound_us, shift_us;
} row_t;

static row_t row_of(const correct_t *correct, uint32_t i)
{
    const correct_ends_t *ends = &correct->ends[i];
    const clv_clc_map_t *map = &correct_map_of(correct, &correct->archive.locations[i])->map;
    row_t row = {0, 0, -1, 0};
    int64_t hint = 0;
    if (ends->n_events == 0) {
        return row;
    }
    /* Raw stamps are gone; offsets change by less than their bound between time bases. */
    const int64_t begin =
        ends->first_stamp +
        (int64_t) clv_clc_map_offset(map, map->n_points ? map->points[0].local_ns : 0, &hint);
    const int64_t end = ends->last_stamp + (begin - ends->first_stamp);
    const int64_t bounds[] = {clv_clc_map_bound(map, begin), clv_clc_map_bound(map, end)};
    const int64_t bound = bounds[0] > bounds[1] ? bounds[0] : bounds[1];
    row.offset_begin_us = us(correct, clv_clc_map_offset(map, begin, &hint));
    row.offset_end_us = us(correct, clv_clc_map_offset(map, end, &hint));
    row.bound_us = bound < 0 ? -1 : us(correct, (double) bound);
    row.shift_us = correct->options.is_check
                       ? 0
                       : us(correct, (double) (ends->last_corrected - ends->last_stamp));
    return row;
}

/* Cuts and cleans a name for the table. */
static void plain(const char *name, char *text, size_t size)
{
    (void) snprintf(text, size, "%s", name);
    clv_text_make_plain(text);
}

static void report_locations(const correct_t *correct, FILE *out)
{
    const correct_archive_t *archive = &correct->archive;
    const uint32_t most = archive->n_locations > 64 ? 64 : archive->n_locations;
    fprintf(out, "  %10s %-16s %-16s %18s %18s %10s %12s\n", "location", "host", "process",
            "ahead, begin [us]", "ahead, end [us]", "+- [us]", "shift, end");
    for (uint32_t i = 0; i < most; i++) {
        const correct_location_t *location = &archive->locations[i];
        const row_t row = row_of(correct, i);
        char bound[32] = "not known", host[64], process[64];
        plain(correct_string(archive, archive->hosts[location->host].name), host, sizeof host);
        plain(correct_string(archive, archive->processes[location->process].name), process,
              sizeof process);
        if (row.bound_us >= 0) {
            snprintf(bound, sizeof bound, "%.3f", row.bound_us);
        }
        fprintf(out, "  %10llu %-16s %-16s %18.3f %18.3f %10s %12.3f\n",
                (unsigned long long) location->ref, host, process, row.offset_begin_us,
                row.offset_end_us, bound, row.shift_us);
    }
    if (most < archive->n_locations) {
        fprintf(out, "  ... %u more (--json has all)\n", archive->n_locations - most);
    }
}

/* ---- left out ---- */

static void json_left_out(const correct_archive_t *archive, FILE *out,
                          const clv_clc_left_out_t *left)
{
    clv_json_t json = clv_json_begin(out, PROGRAM, "left_out");
    const bool is_channel = left->source != CLV_CLC_ALL;
    clv_json_text(&json, "what", is_channel ? "channel" : "collectives");
    clv_json_whole(&json, "communicator", archive->comms[left->comm].ref);
    if (is_channel) {
        clv_json_whole(&json, "from", archive->processes[left->source].ref);
        clv_json_whole(&json, "to", archive->processes[left->target].ref);
        clv_json_whole(&json, "tag", left->tag);
    }
    clv_json_whole(&json, is_channel ? "sends" : "kept", left->n_sent);
    clv_json_whole(&json, is_channel ? "receives" : "left", left->n_received);
    clv_json_text(&json, "reason", left->reason);
    clv_json_end(&json);
}

static void print_left_out(const correct_archive_t *archive, FILE *out,
                           const clv_clc_left_out_t *left)
{
    const uint32_t comm = archive->comms[left->comm].ref;
    if (left->source == CLV_CLC_ALL) {
        fprintf(out, "  collectives of communicator %u: %lld kept, %lld left out: %s\n", comm,
                (long long) left->n_sent, (long long) left->n_received, left->reason);
        return;
    }
    fprintf(out,
            "  communicator %u, location group %u to %u, tag %u: %lld sends, %lld receives: %s\n",
            comm, archive->processes[left->source].ref, archive->processes[left->target].ref,
            left->tag, (long long) left->n_sent, (long long) left->n_received, left->reason);
}

static const char *const left_names[CORRECT_N_LEFT] = {
#define CORRECT_LEFT_NAME(name, what) what,
    CORRECT_LEFT_MAP(CORRECT_LEFT_NAME)
#undef CORRECT_LEFT_NAME
};

static void report_broken(const correct_t *correct, FILE *out)
{
    const clv_clc_forward_result_t *forward = &correct->result.forward;
    for (int64_t i = 0; i < forward->n_broken && i < CLV_CLC_MAX_BROKEN; i++) {
        const clv_clc_broken_t *broken = &forward->broken[i];
        fprintf(out, "cycle broken at location %llu, event %lld: it waits for what follows it\n",
                (unsigned long long) correct->archive.locations[broken->track].ref,
                (long long) broken->event + 1);
    }
    if (forward->n_broken > CLV_CLC_MAX_BROKEN) {
        fprintf(out, "... %lld more\n", (long long) (forward->n_broken - CLV_CLC_MAX_BROKEN));
    }
}

/* The order of events of one clock is kept, even against messages. */
static void report_inside(const correct_t *correct, FILE *out)
{
    if (correct->n_inside > 0) {
        fprintf(out,
                "%lld messages %s reversed inside a host, whose ranks are taken to share a clock;\n"
                "if each has its own: --clock-per process\n",
                (long long) correct->n_inside, correct->options.is_check ? "are" : "stay");
    }
}

static void report_left_out(const correct_t *correct, FILE *out)
{
    if (correct->n_left_out > 0) {
        fprintf(out, "left out: %zu\n", correct->n_left_out);
    }
    for (size_t i = 0; i < correct->n_left_out && i < MOST_ROWS; i++) {
        print_left_out(&correct->archive, out, &correct->left_out[i]);
    }
    if (correct->n_left_out > MOST_ROWS) {
        fprintf(out, "  ... %zu more (--json has all)\n", correct->n_left_out - MOST_ROWS);
    }
    for (int why = 0; why < CORRECT_N_LEFT; why++) {
        if (correct->n_left[why] > 0) {
            fprintf(out, "left out: %llu %s\n", (unsigned long long) correct->n_left[why],
                    left_names[why]);
        }
    }
    if (correct->n_lost_requests > 0) {
        fprintf(out, "%llu completions without their request: taken as posted when completed\n",
                (unsigned long long) correct->n_lost_requests);
    }
    report_broken(correct, out);
    report_inside(correct, out);
}

/* ---- the truth, where the trace has it ---- */

static const char *const truth_names[CORRECT_N_STAGES] = {"presynchronised", "refined",
                                                          "corrected"};

static void report_truth(const correct_t *correct, FILE *out)
{
    for (int stage = 0; stage < CORRECT_N_STAGES; stage++) {
        const correct_truth_t *truth = &correct->result.truth[stage];
        if (truth->n_collectives > 0) {
            fprintf(out,
                    "truth, %s: lateness at collectives off by %.2f us (mean), %.2f (median), %.2f "
                    "(95 %%); wrong last arriver in %lld of %lld\n",
                    truth_names[stage], truth->mean_us, truth->median_us, truth->p95_us,
                    (long long) truth->n_wrong, (long long) truth->n_collectives);
        }
    }
    if (correct->archive.truth_attribute != CORRECT_NOBODY) {
        fprintf(out, "truth: least delays %.3f us between hosts, %.3f inside\n",
                correct->true_inter_us, correct->true_intra_us);
    }
}

/* ---- the whole ---- */

static void report_refinement(const correct_t *correct, FILE *out)
{
    const correct_refinement_t *refinement = &correct->refinement;
    const clv_clc_tally_t refined = clv_clc_sum(correct->result.refined);
    if (refinement->n_points > 0) {
        fprintf(
            out,
            "refined by the trace's own messages: %lld point%s of %u host%s, by %.3f us at most; "
            "left %lld reversed, %lld violated\n",
            (long long) refinement->n_points, clv_text_s(refinement->n_points), refinement->n_hosts,
            clv_text_s(refinement->n_hosts), us(correct, (double) refinement->most),
            (long long) refined.n_reversed, (long long) refined.n_violated);
    }
}

/* A location other than a process's first thread also has a host. */
/* Not counting groups of metrics only. */
static uint32_t n_processes(const correct_archive_t *archive)
{
    uint32_t n = 0;
    for (uint32_t p = 0; p < archive->n_processes; p++) {
        n += archive->processes[p].has_threads != 0;
    }
    return n;
}

static bool shares_hosts(const correct_archive_t *archive)
{
    for (uint32_t i = 0; i < archive->n_locations; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (archive->locations[i].host == archive->locations[k].host &&
                archive->locations[i].process != archive->locations[k].process &&
                !archive->locations[i].is_metric && !archive->locations[k].is_metric) {
                return true;
            }
        }
    }
    return false;
}

/* If clocks differ by more than the length of the trace, shifts are no longer corrections. */
static bool is_shift_too_long(const correct_t *correct, int64_t *length_p)
{
    int64_t length = 0;
    for (uint32_t i = 0; i < correct->archive.n_locations; i++) {
        const int64_t own = correct->ends[i].last_stamp - correct->ends[i].first_stamp;
        length = own > length ? own : length;
    }
    *length_p = length;
    return clv_clc_sum(correct->result.before).needed_ns > length;
}

void correct_warn_of_shift(const correct_t *correct)
{
    int64_t length;
    if (is_shift_too_long(correct, &length)) {
        fprintf(stderr,
                "clv-correct: a shift of %.6f s is longer than the trace, %.6f s: the clocks were "
                "never brought together\n",
                us(correct, (double) clv_clc_sum(correct->result.before).needed_ns) / 1e6,
                us(correct, (double) length) / 1e6);
    }
}

static void report_clock(const correct_t *correct, FILE *out)
{
    const correct_archive_t *archive = &correct->archive;
    const correct_latency_t *latency = &correct->latency;
    const correct_map_t *map = &correct->maps[0];
    correct_source_t source = map->source;
    for (uint32_t i = 0; i < correct->archive.n_locations; i++) {
        const correct_map_t *own = correct_map_of(correct, &correct->archive.locations[i]);
        source = own->source < source ? own->source : source;
    }
    fprintf(out, "presynchronised by: %s%s; lines by %s\n", correct_source_name(source),
            map->is_by_name ? " (hosts known by name only)" : "",
            correct->options.is_line_per_process ? "process" : "host");
    if (correct->archive.scale > 1) {
        fprintf(out, "timer: %llu Hz%s", (unsigned long long) correct->archive.timer,
                correct->options.is_check ? "\n" : "");
    }
    if (correct->archive.scale > 1 && !correct->options.is_check) {
        fprintf(out, ", %llu Hz in the result: corrected times need at least 1 GHz\n",
                (unsigned long long) correct->archive.timer *
                    (unsigned long long) correct->archive.scale);
    }
    report_refinement(correct, out);
    char inside[32] = "none";
    if (shares_hosts(archive)) {
        snprintf(inside, sizeof inside, "%.3f", us(correct, (double) latency->intra));
    }
    fprintf(out, "latency: %.3f us between hosts, %s inside, from %s%s",
            us(correct, (double) latency->inter), inside, latency->source,
            latency->n_halved ? "" : "\n");
    if (latency->n_halved > 0) {
        fprintf(out, ", halved %d time%s since shifts grew beyond the clocks' errors\n",
                latency->n_halved, clv_text_s(latency->n_halved));
    }
}

void correct_report(const correct_t *correct, FILE *out)
{
    const correct_archive_t *archive = &correct->archive;
    const correct_result_t *result = &correct->result;
    fprintf(out,
            "%s: %llu events of %u locations, %u processes, %u hosts; %llu messages, %llu "
            "collectives\n",
            correct->options.shown, (unsigned long long) correct->n_events, archive->n_locations,
            n_processes(archive), archive->n_hosts, (unsigned long long) correct->n_messages,
            (unsigned long long) correct->n_collectives);
    report_clock(correct, out);
    report_tallies(correct, out);
    if (!correct->options.is_check) {
        fprintf(out,
                "explicitly corrected %lld (%.3f %%); gamma %g%s; largest shift %.3f us, %.3f "
                "at the end, steepest slope %.4f\n",
                (long long) result->forward.n_explicit,
                percent((double) result->forward.n_explicit,
                        (double) clv_clc_sum(result->before).n_messages),
                result->gamma, result->n_passes > 1 ? " (second pass)" : "",
                us(correct, (double) result->table4.largest_shift_ns),
                us(correct, (double) result->forward.shift_at_end_ns), result->steepest);
        report_table4(correct, out);
    }
    report_locations(correct, out);
    report_left_out(correct, out);
    report_truth(correct, out);
    fprintf(out, "read %.2f s, corrected %.2f s, written %.2f s; %lld MiB in a scratch file\n",
            result->read_s, result->correct_s, result->write_s,
            (long long) (correct->n_scratch_bytes >> 20));
}

/* ---- JSON ---- */

static double ns(const correct_t *correct, double ticks)
{
    return ticks / correct->archive.ticks_per_ns;
}

/* Writes "reversed_before", "violated_before", ...: tally keys end in the stage. */
static void json_tally(const correct_t *correct, clv_json_t *json, const char *when,
                       const clv_clc_tally_t *tally)
{
    const double n = (double) tally->n_reversed;
    char key[48];
    snprintf(key, sizeof key, "reversed_%s", when);
    clv_json_whole(json, key, tally->n_reversed);
    snprintf(key, sizeof key, "violated_%s", when);
    clv_json_whole(json, key, tally->n_violated);
    snprintf(key, sizeof key, "worst_%s_ns", when);
    clv_json_number(json, key, ns(correct, (double) tally->worst_ns));
    snprintf(key, sizeof key, "mean_%s_ns", when);
    clv_json_number(json, key, n > 0 ? ns(correct, tally->reversed_ns / n) : 0.0);
}

static void json_operation(const correct_t *correct, FILE *out, const char *name,
                           const clv_clc_tally_t *stages, int64_t n_explicit)
{
    clv_json_t json = clv_json_begin(out, PROGRAM, "operation");
    clv_json_text(&json, "operation", name);
    clv_json_whole(&json, "messages", stages[CORRECT_PRESYNCED].n_messages);
    json_tally(correct, &json, "before", &stages[CORRECT_PRESYNCED]);
    if (correct->refinement.n_points > 0) {
        json_tally(correct, &json, "refined", &stages[CORRECT_REFINED]);
    }
    if (!correct->options.is_check) {
        json_tally(correct, &json, "after", &stages[CORRECT_CORRECTED]);
        clv_json_whole(&json, "explicit", n_explicit);
    }
    clv_json_end(&json);
}

static void json_operations(const correct_t *correct, FILE *out)
{
    const correct_result_t *result = &correct->result;
    for (int op = 0; op < CLV_CLC_MAX_OPS; op++) {
        const clv_clc_tally_t stages[] = {result->before[op], result->refined[op],
                                          result->after[op]};
        if (stages[CORRECT_PRESYNCED].n_messages > 0) {
            json_operation(correct, out, correct_op_names[op] ? correct_op_names[op] : "other",
                           stages, result->forward.explicit_by_op[op]);
        }
    }
    const clv_clc_tally_t sums[] = {clv_clc_sum(result->before), clv_clc_sum(result->refined),
                                    clv_clc_sum(result->after)};
    json_operation(correct, out, "all", sums, result->forward.n_explicit);
}

static void json_table4(const correct_t *correct, FILE *out)
{
    const clv_clc_table4_t *t = &correct->result.table4;
    clv_json_t json = clv_json_begin(out, PROGRAM, "distances");
    clv_json_number(&json, "average_percent", percent(t->deviation_ns, t->total_ns));
    clv_json_number(&json, "maximum_percent", 100 * t->largest);
    clv_json_list_begin(&json, "above_percent");
    for (int i = 0; i < CLV_CLC_N_THRESHOLDS; i++) {
        clv_json_item(&json, 100 * clv_clc_thresholds[i], 5);
    }
    clv_json_list_end(&json);
    clv_json_list_begin(&json, "intervals_percent");
    for (int i = 0; i < CLV_CLC_N_THRESHOLDS; i++) {
        clv_json_item(&json, percent((double) t->n_above[i], (double) t->n_intervals), 5);
    }
    clv_json_list_end(&json);
    clv_json_list_begin(&json, "time_percent");
    for (int i = 0; i < CLV_CLC_N_THRESHOLDS; i++) {
        clv_json_item(&json, percent(t->above_ns[i], t->total_ns), 5);
    }
    clv_json_list_end(&json);
    clv_json_number(&json, "position_percent", 100 * t->position_relative);
    clv_json_number(&json, "position_ns", ns(correct, (double) t->position_ns));
    clv_json_end(&json);
}

static void json_result(const correct_t *correct, clv_json_t *json)
{
    const correct_result_t *result = &correct->result;
    clv_json_number(json, "gamma", result->gamma);
    clv_json_whole(json, "passes", result->n_passes);
    clv_json_number(json, "largest_shift_ns",
                    ns(correct, (double) result->table4.largest_shift_ns));
    clv_json_number(json, "shift_at_end_ns", ns(correct, (double) result->forward.shift_at_end_ns));
    clv_json_number(json, "steepest", result->steepest);
    clv_json_whole(json, "cycles", result->forward.n_broken);
    clv_json_number(json, "read_ns", 1e9 * result->read_s);
    clv_json_number(json, "correct_ns", 1e9 * result->correct_s);
    clv_json_number(json, "write_ns", 1e9 * result->write_s);
    clv_json_whole(json, "scratch_bytes", correct->n_scratch_bytes);
}

static void json_summary(const correct_t *correct, FILE *out)
{
    const correct_archive_t *archive = &correct->archive;
    const correct_latency_t *latency = &correct->latency;
    int64_t length;
    clv_json_t json = clv_json_begin(out, PROGRAM, "trace");
    clv_json_text(&json, "trace", correct->options.shown);
    clv_json_whole(&json, "events", (int64_t) correct->n_events);
    clv_json_whole(&json, "locations", archive->n_locations);
    clv_json_whole(&json, "ranks", n_processes(archive));
    clv_json_whole(&json, "nodes", archive->n_hosts);
    clv_json_text(&json, "presync", correct_source_name(correct->maps[0].source));
    clv_json_whole(&json, "refined_points", correct->refinement.n_points);
    clv_json_number(&json, "refined_most_ns", ns(correct, (double) correct->refinement.most));
    clv_json_number(&json, "inter_ns", ns(correct, (double) latency->inter));
    clv_json_number(&json, "intra_ns", ns(correct, (double) latency->intra));
    clv_json_text(&json, "latency_from", latency->source);
    clv_json_whole(&json, "halved", latency->n_halved);
    clv_json_whole(&json, "shift_too_long", is_shift_too_long(correct, &length));
    clv_json_whole(&json, "timer_hz", (int64_t) archive->timer);
    clv_json_whole(&json, "reversed_inside", correct->n_inside);
    json_result(correct, &json);
    clv_json_end(&json);
}

static void json_locations(const correct_t *correct, FILE *out)
{
    const correct_archive_t *archive = &correct->archive;
    for (uint32_t i = 0; i < archive->n_locations; i++) {
        const correct_location_t *location = &archive->locations[i];
        const row_t row = row_of(correct, i);
        clv_json_t json = clv_json_begin(out, PROGRAM, "location");
        clv_json_whole(&json, "location", (int64_t) location->ref);
        clv_json_text(&json, "node", correct_string(archive, archive->hosts[location->host].name));
        clv_json_number(&json, "ahead_begin_ns", 1e3 * row.offset_begin_us);
        clv_json_number(&json, "ahead_end_ns", 1e3 * row.offset_end_us);
        clv_json_number(&json, "bound_ns", row.bound_us < 0 ? NAN : 1e3 * row.bound_us);
        clv_json_number(&json, "shift_at_end_ns", 1e3 * row.shift_us);
        clv_json_whole(&json, "falling", correct->ends[i].n_falling);
        clv_json_end(&json);
    }
}

static void json_left_events(const correct_t *correct, FILE *out)
{
    for (int why = 0; why < CORRECT_N_LEFT; why++) {
        if (correct->n_left[why] > 0) {
            clv_json_t json = clv_json_begin(out, PROGRAM, "left_out");
            clv_json_text(&json, "what", "events");
            clv_json_whole(&json, "left", (int64_t) correct->n_left[why]);
            clv_json_text(&json, "reason", left_names[why]);
            clv_json_end(&json);
        }
    }
}

static void json_truth(const correct_t *correct, FILE *out)
{
    for (int stage = 0; stage < CORRECT_N_STAGES; stage++) {
        const correct_truth_t *truth = &correct->result.truth[stage];
        if (truth->n_collectives > 0) {
            clv_json_t json = clv_json_begin(out, PROGRAM, "truth");
            clv_json_text(&json, "stamps", truth_names[stage]);
            clv_json_number(&json, "lateness_error_mean_ns", 1e3 * truth->mean_us);
            clv_json_number(&json, "lateness_error_median_ns", 1e3 * truth->median_us);
            clv_json_number(&json, "lateness_error_p95_ns", 1e3 * truth->p95_us);
            clv_json_whole(&json, "wrong_last", truth->n_wrong);
            clv_json_whole(&json, "collectives", truth->n_collectives);
            clv_json_end(&json);
        }
    }
    if (correct->archive.truth_attribute != CORRECT_NOBODY) {
        const double inter = correct->true_inter_us, intra = correct->true_intra_us;
        clv_json_t json = clv_json_begin(out, PROGRAM, "true_delays");
        clv_json_number(&json, "inter_ns", inter < 0 ? NAN : 1e3 * inter);
        clv_json_number(&json, "intra_ns", intra < 0 ? NAN : 1e3 * intra);
        clv_json_end(&json);
    }
}

bool correct_close(FILE *out, const char *path)
{
    char reason[512];
    return clv_output_close(out, path, reason, sizeof reason) == CLV_OK ||
           correct_fail(CORRECT_EXIT_MACHINE, "%s", reason);
}

bool correct_report_json(const correct_t *correct)
{
    const bool is_stdout = !strcmp(correct->options.json, "-");
    FILE *out = is_stdout ? stdout : fopen(correct->options.json, "w");
    if (!out) {
        return correct_fail(CORRECT_EXIT_MACHINE, "%s: %s", correct->options.json, strerror(errno));
    }
    json_summary(correct, out);
    json_operations(correct, out);
    if (!correct->options.is_check) {
        json_table4(correct, out);
    }
    json_locations(correct, out);
    for (size_t i = 0; i < correct->n_left_out; i++) {
        json_left_out(&correct->archive, out, &correct->left_out[i]);
    }
    json_left_events(correct, out);
    json_truth(correct, out);
    return correct_close(out, correct->options.json);
}
