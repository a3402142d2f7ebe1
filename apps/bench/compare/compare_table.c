/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See compare.h.
 */
#include "apps/bench/compare/compare.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "apps/bench/measure/bench_stats.h"
#include "apps/cli/cli_json.h"
#include "apps/cli/cli_file.h"
#include "util/util_alloc.h"

/* ---- the table ---- */

static bool is_time(const char *metric)
{
    return strcmp(metric, "overlap_benefit") && strcmp(metric, "hidden_part") &&
           strncmp(metric, "ratio", 5) && !strstr(metric, "_ratio") && strncmp(metric, "ahead_", 6);
}

static bool is_of_clocks(const clv_compare_t *compare)
{
    return !strcmp(compare->set->groups[0].collective, CLV_RESULTS_CLOCK);
}

double clv_compare_unit(const clv_compare_t *compare)
{
    return is_of_clocks(compare) ? 1e3 : is_time(compare->metric) ? 1e6 : 1.0;
}

static double median_of(const clv_result_group_t *group, double *low, double *high)
{
    double sorted[CLV_RESULTS_RUNS];

    memcpy(sorted, group->value, group->n_runs * sizeof *sorted);
    const double median = clv_stats_median(sorted, group->n_runs);
    *low = sorted[0];
    *high = sorted[group->n_runs - 1];
    return median;
}

static bool is_named(const clv_result_group_t *group, const char *name)
{
    return !strcmp(group->algorithm, name) || !strcmp(group->label, name);
}

bool clv_compare_has_baseline(const clv_compare_t *compare)
{
    bool has = compare->baseline == NULL;

    for (size_t i = 0; i < compare->set->n_groups && !has; i++) {
        has = is_named(&compare->set->groups[i], compare->baseline);
    }
    return has;
}

/* The group to compare with: of the named algorithm, or of the same algorithm under the named
 * label, or the first comparable group. */
static const clv_result_group_t *baseline_of(const clv_compare_t *compare,
                                             const clv_result_group_t *group)
{
    const clv_result_group_t *found = NULL;

    for (size_t i = 0; i < compare->set->n_groups; i++) {
        const clv_result_group_t *other = &compare->set->groups[i];
        const bool same_kind = !compare->has_labels || !strcmp(other->algorithm, group->algorithm);
        if (!clv_results_comparable(group, other) ||
            (compare->baseline && !is_named(other, compare->baseline))) {
            continue;
        }
        if (same_kind && !found) {
            found = other;
        }
    }
    return found;
}

static const char *stars(double p)
{
    return p <= 0.001 ? "***" : p <= 0.01 ? "**" : p <= 0.05 ? "*" : "";
}

/* ---- tests ---- */

static double p_of_ranks(const clv_result_group_t *group, const clv_result_group_t *base,
                         clv_stats_tail_t tail)
{
    clv_stats_test_t test;

    return clv_stats_rank_sum(group->value, group->n_runs, base->value, base->n_runs, tail,
                              &test) == CLV_OK
               ? test.p_value
               : NAN;
}

static double p_of_t(const clv_result_group_t *group, const clv_result_group_t *base,
                     clv_stats_tail_t tail, bool is_pooled)
{
    clv_stats_t_test_t test;

    return clv_stats_t_test(group->value, group->n_runs, base->value, base->n_runs, tail, is_pooled,
                            &test) == CLV_OK
               ? test.p_value
               : NAN;
}

static double p_of_student(const clv_result_group_t *group, const clv_result_group_t *base,
                           clv_stats_tail_t tail)
{
    return p_of_t(group, base, tail, true);
}

static double p_of_welch(const clv_result_group_t *group, const clv_result_group_t *base,
                         clv_stats_tail_t tail)
{
    return p_of_t(group, base, tail, false);
}

/* Always two-sided: distributions may differ in more ways than one, so neither is better. */
static double p_of_smirnov(const clv_result_group_t *group, const clv_result_group_t *base,
                           clv_stats_tail_t tail)
{
    clv_stats_test_t test;

    (void) tail;
    return clv_stats_smirnov(group->value, group->n_runs, base->value, base->n_runs, &test) ==
                   CLV_OK
               ? test.p_value
               : NAN;
}

const clv_compare_test_t clv_compare_tests[] = {
    {"rank", "Wilcoxon rank sum", p_of_ranks, false},
    {"student", "Student's t", p_of_student, false},
    {"welch", "Welch's t", p_of_welch, false},
    {"smirnov", "Kolmogorov-Smirnov", p_of_smirnov, true},
    {NULL, NULL, NULL, false},
};

const clv_compare_test_t *clv_compare_test_find(const char *name)
{
    const clv_compare_test_t *row = clv_compare_tests;

    while (row->name && strcmp(row->name, name)) {
        row++;
    }
    return row->name ? row : NULL;
}

static const clv_compare_test_t *test_of(const clv_compare_t *compare)
{
    return compare->test ? compare->test : clv_compare_tests;
}

static bool is_two_sided(const clv_compare_t *compare)
{
    return compare->is_two_sided || test_of(compare)->is_two_sided;
}

/* Tests whether the medians come from a normal distribution; NaN for fewer than three mpiruns. */
static double normal_p(const clv_result_group_t *group)
{
    double w;
    double p = NAN;

    return clv_stats_shapiro_wilk(group->value, group->n_runs, &w, &p) == CLV_OK ? p : NAN;
}

/* The same by Kolmogorov's test; NaN if all values are equal. */
static double normal_ks_p(const clv_result_group_t *group)
{
    const double mean = clv_stats_mean(group->value, group->n_runs);
    const double deviation = clv_stats_deviation(group->value, group->n_runs);
    clv_stats_test_t test;

    return clv_stats_kolmogorov(group->value, group->n_runs, mean, deviation, &test) == CLV_OK
               ? test.p_value
               : NAN;
}

/* A group against its baseline; NaN if there are too few mpiruns. */
typedef struct compared {
    const clv_result_group_t *group;
    const clv_result_group_t *base; /* NULL or the group itself: no baseline */
    double median, low, high;
    double ratio, p_value, wins;
    clv_stats_shift_t shift;
} compared_t;

static compared_t compare_group(const clv_compare_t *compare, const clv_result_group_t *group)
{
    compared_t row = {.group = group,
                      .base = baseline_of(compare, group),
                      .p_value = NAN,
                      .ratio = NAN,
                      .wins = NAN,
                      .shift = {NAN, NAN, NAN}};
    double low, high;

    row.median = median_of(group, &row.low, &row.high);
    if (!row.base || row.base == group) {
        return row;
    }
    row.ratio = row.median / median_of(row.base, &low, &high);
    /* Times are better when smaller, benefits when larger. */
    const clv_stats_tail_t better = is_time(compare->metric) ? CLV_STATS_LESS : CLV_STATS_GREATER;
    row.p_value = test_of(compare)->p_value(group, row.base,
                                            is_two_sided(compare) ? CLV_STATS_TWO_SIDED : better);
    const double wins =
        clv_stats_superiority(group->value, group->n_runs, row.base->value, row.base->n_runs);
    row.wins = is_time(compare->metric) ? wins : 1.0 - wins;
    if (clv_stats_shift(group->value, group->n_runs, row.base->value, row.base->n_runs,
                        compare->level, &row.shift) != CLV_OK) {
        row.shift = (clv_stats_shift_t){NAN, NAN, NAN};
    }
    return row;
}

static void print_comparison(const clv_compare_t *compare, const compared_t *row)
{
    const double unit = clv_compare_unit(compare);

    if (!row->base || row->base == row->group) {
        printf("  (baseline)\n");
        return;
    }
    printf("  %6.3f", row->ratio);
    if (!isnan(row->p_value)) {
        printf("  %8.2g%-3s", row->p_value, stars(row->p_value));
    }
    printf("  %5.2f", row->wins);
    if (isnan(row->shift.low)) {
        printf("  too few mpiruns for an interval at that level\n");
    } else {
        printf("  %9.3f [%.3f, %.3f]\n", row->shift.estimate / unit, row->shift.low / unit,
               row->shift.high / unit);
    }
}

/* Once per table: which rows to read with care, and why. */
static void print_caveats(const clv_compare_t *compare, const clv_result_group_t *first)
{
    for (const clv_result_caveat_t *caveat = clv_results_caveats; caveat->line; caveat++) {
        if (clv_results_put_caveat(stdout, compare->set, first, caveat)) {
            printf("\n");
        }
    }
}

static void print_name(const clv_result_group_t *group)
{
    printf("%s%s%-*s", group->label, *group->label ? ": " : "",
           (int) (24 - strlen(group->label) - (*group->label ? 2 : 0)), group->algorithm);
}

static void print_heading(const clv_compare_t *compare, const clv_result_group_t *first)
{
    printf("\n%s, %.0f ranks, ", first->collective, first->n_ranks);
    if (is_of_clocks(compare)) {
        printf("%s; %s in us\n", first->pattern, compare->metric);
    } else {
        printf("%.0f bytes, pattern %s, delay %.3f ms; ", first->n_bytes, first->pattern,
               first->delay_ns / 1e6);
        if (*first->couple) {
            printf("loop, computing %s, coupled by %s; ", first->compute, first->couple);
        }
        printf("%s%s\n", compare->metric, is_time(compare->metric) ? " in ms" : "");
    }
}

static void print_configuration(const clv_compare_t *compare, const clv_result_group_t *first)
{
    const double unit = clv_compare_unit(compare);

    print_heading(compare, first);
    printf("%-24s %5s %6s %9s %9s %9s  %6s  %8s     %5s  %9s\n", "algorithm", "runs", "calls",
           "median", "least", "largest", "ratio", "better:p", "wins", "shift [interval]");
    for (size_t i = 0; i < compare->set->n_groups; i++) {
        const clv_result_group_t *group = &compare->set->groups[i];
        if (clv_results_comparable(group, first)) {
            const compared_t row = compare_group(compare, group);
            print_name(group);
            printf(" %5zu %6zu %9.3f %9.3f %9.3f", group->n_runs,
                   group->n_calls - group->n_filtered, row.median / unit, row.low / unit,
                   row.high / unit);
            print_comparison(compare, &row);
        }
    }
    print_caveats(compare, first);
}

/* ---- pairs: what was measured side by side in one mpirun ---- */

typedef struct paired {
    const clv_result_group_t *group;
    const clv_result_group_t *base;
    size_t n_pairs;
    double median;           /* of the kept calls, in the metric's own unit */
    clv_stats_shift_t ratio; /* NaN if there is none */
} paired_t;

static double median_of_calls(const clv_result_group_t *group, double *scratch)
{
    size_t n = 0;

    for (size_t i = 0; i < group->n_kept; i++) {
        if (!isnan(group->calls[i])) {
            scratch[n++] = group->calls[i];
        }
    }
    return n ? clv_stats_median(scratch, n) : NAN;
}

static paired_t pair_up(const clv_compare_t *compare, const clv_result_group_t *group,
                        double *scratch)
{
    paired_t paired = {.group = group,
                       .base = baseline_of(compare, group),
                       .median = median_of_calls(group, scratch),
                       .ratio = {NAN, NAN, NAN}};
    clv_stats_shift_t shift;

    paired.n_pairs = paired.base ? clv_results_pairs(group, paired.base, scratch) : 0;
    if (!paired.n_pairs) {
        return paired;
    }
    if (clv_stats_pair_shift(scratch, paired.n_pairs, compare->level, &shift) == CLV_OK) {
        paired.ratio = (clv_stats_shift_t){exp(shift.estimate), exp(shift.low), exp(shift.high)};
    } else {
        paired.ratio.estimate = exp(clv_stats_median(scratch, paired.n_pairs));
    }
    return paired;
}

static void print_paired_row(const clv_compare_t *compare, const paired_t *paired)
{
    const clv_result_group_t *group = paired->group;

    print_name(group);
    printf(" %6zu %9.3f", paired->n_pairs, paired->median / clv_compare_unit(compare));
    if (paired->base == group) {
        printf("  (baseline)\n");
    } else if (isnan(paired->ratio.low)) {
        printf("  %6.3f  too few pairs for limits at that level\n", paired->ratio.estimate);
    } else {
        printf("  %6.3f [%.3f, %.3f]\n", paired->ratio.estimate, paired->ratio.low,
               paired->ratio.high);
    }
}

/* For programs: every factor, then the figures; times in ns. */
static void print_paired_csv(const paired_t *paired)
{
    const clv_result_group_t *group = paired->group;

    printf("%s,%.0f,%.0f,%s,%s,%s,%s,%s,%s,%s,%zu,%.1f,%.5f,%.5f,%.5f,%d\n", group->collective,
           group->n_ranks, group->n_bytes, group->pattern, group->delay, group->compute,
           group->couple, group->label, group->algorithm,
           paired->base ? paired->base->algorithm : "", paired->n_pairs, paired->median,
           paired->ratio.estimate, paired->ratio.low, paired->ratio.high,
           (group->caveats & CLV_CAVEAT_CPU_BOUND) != 0);
}

static void print_pairs(const clv_compare_t *compare, const clv_result_group_t *first,
                        double *scratch)
{
    if (*compare->paired == 't') {
        print_heading(compare, first);
        printf("%-24s %6s %9s  %6s [%g %% limits]\n", "algorithm", "pairs", "median", "ratio",
               100.0 * compare->level);
    }
    for (size_t i = 0; i < compare->set->n_groups; i++) {
        if (clv_results_comparable(&compare->set->groups[i], first)) {
            const paired_t paired = pair_up(compare, &compare->set->groups[i], scratch);
            if (*compare->paired == 't') {
                print_paired_row(compare, &paired);
            } else {
                print_paired_csv(&paired);
            }
        }
    }
    if (*compare->paired == 't') {
        print_caveats(compare, first);
    }
}

/* ---- all configurations ---- */

static bool is_first_of_its_kind(const clv_compare_t *compare, size_t index)
{
    for (size_t k = 0; k < index; k++) {
        if (clv_results_comparable(&compare->set->groups[k], &compare->set->groups[index])) {
            return false;
        }
    }
    return true;
}

static clv_status_t print_all_pairs(const clv_compare_t *compare)
{
    size_t n_most = 1;

    for (size_t i = 0; i < compare->set->n_groups; i++) {
        n_most = compare->set->groups[i].n_kept > n_most ? compare->set->groups[i].n_kept : n_most;
    }
    double *scratch = clv_alloc(n_most, sizeof *scratch);
    if (!scratch) {
        return CLV_NO_MEMORY;
    }
    if (*compare->paired == 'c') {
        printf("collective,ranks,bytes,pattern,delay,compute,couple,label,algorithm,baseline,pairs,"
               "median,ratio,low,high,cpu_bound\n");
    }
    for (size_t i = 0; i < compare->set->n_groups; i++) {
        if (is_first_of_its_kind(compare, i)) {
            print_pairs(compare, &compare->set->groups[i], scratch);
        }
    }
    clv_free(scratch);
    return CLV_OK;
}

static void print_all(const clv_compare_t *compare)
{
    for (size_t i = 0; i < compare->set->n_groups; i++) {
        if (is_first_of_its_kind(compare, i)) {
            print_configuration(compare, &compare->set->groups[i]);
        }
    }
    printf("\nbetter:p  %s over mpirun medians, %s-sided (* 5 %%, ** 1 %%, *** 0.1 "
           "%%); wins  part of"
           " pairs of\nmpiruns in which it was better; shift  Hodges-Lehmann, interval at %g %%\n",
           test_of(compare)->meaning, is_two_sided(compare) ? "two" : "one",
           100.0 * compare->level);
}

clv_status_t clv_compare_print(const clv_compare_t *compare)
{
    if (compare->paired) {
        return print_all_pairs(compare);
    }
    print_all(compare);
    return CLV_OK;
}

/* ---- JSON lines ---- */

static void json_factors(clv_json_t *json, const clv_compare_t *compare,
                         const clv_result_group_t *group, const clv_result_group_t *base)
{
    clv_json_text(json, "metric", compare->metric);
    clv_json_text(json, "collective", group->collective);
    clv_json_whole(json, "ranks", (int64_t) group->n_ranks);
    clv_json_whole(json, "bytes", (int64_t) group->n_bytes);
    clv_json_text(json, "pattern", group->pattern);
    clv_json_text(json, "delay", group->delay);
    clv_json_number(json, "delay_ns", group->delay_ns);
    clv_json_text(json, "compute", group->compute);
    clv_json_text(json, "couple", group->couple);
    clv_json_text(json, "label", group->label);
    clv_json_text(json, "algorithm", group->algorithm);
    clv_json_text(json, "baseline", base && base != group ? base->algorithm : "");
    clv_json_text(json, "baseline_label", base && base != group ? base->label : "");
    clv_json_flag(json, "network_bound", (group->caveats & CLV_CAVEAT_CPU_BOUND) == 0);
}

/* The key ends in _ns if the value is a time. */
static void json_value(clv_json_t *json, const clv_compare_t *compare, const char *name,
                       double value)
{
    char key[48];

    snprintf(key, sizeof key, "%s%s", name, is_time(compare->metric) ? "_ns" : "");
    clv_json_number(json, key, value);
}

static void json_row(FILE *out, const clv_compare_t *compare, const clv_result_group_t *group)
{
    const compared_t row = compare_group(compare, group);
    clv_json_t json = clv_json_begin(out, "clv-bench-compare", "comparison");

    json_factors(&json, compare, group, row.base);
    clv_json_whole(&json, "runs", (int64_t) group->n_runs);
    clv_json_whole(&json, "calls", (int64_t) (group->n_calls - group->n_filtered));
    json_value(&json, compare, "median", row.median);
    json_value(&json, compare, "least", row.low);
    json_value(&json, compare, "largest", row.high);
    clv_json_number(&json, "ratio", row.ratio);
    clv_json_number(&json, "p_value", row.p_value);
    clv_json_text(&json, "test", test_of(compare)->name);
    clv_json_flag(&json, "two_sided", is_two_sided(compare));
    clv_json_number(&json, "normal_p", normal_p(group));
    clv_json_number(&json, "normal_ks_p", normal_ks_p(group));
    clv_json_number(&json, "wins", row.wins);
    clv_json_number(&json, "level", compare->level);
    json_value(&json, compare, "shift", row.shift.estimate);
    json_value(&json, compare, "shift_low", row.shift.low);
    json_value(&json, compare, "shift_high", row.shift.high);
    clv_json_end(&json);
}

clv_status_t clv_compare_json(const clv_compare_t *compare, const char *path, char *reason,
                              size_t reason_bytes)
{
    FILE *out = clv_output_open(path);

    for (size_t i = 0; out && i < compare->set->n_groups; i++) {
        json_row(out, compare, &compare->set->groups[i]);
    }
    if (!out) {
        snprintf(reason, reason_bytes, "%s: %s", path, strerror(errno));
        return CLV_INVALID;
    }
    return clv_output_close(out, path, reason, reason_bytes) == CLV_OK ? CLV_OK : CLV_INVALID;
}
