/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See bench_plot.h.
 */
#include "apps/bench/compare/bench_plot.h"

#include <string.h>

/* Colours that colour-blind readers can tell apart; marks and dashes for black-and-white print. */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#000000", "#999999"};
static const int marks[] = {7, 5, 9, 11, 13, 6, 4, 8};
static const char *const dashes[] = {"solid", "(8,4)", "(2,3)", "(8,3,2,3)", "(14,4)"};
enum { N_COLOURS = 8, N_MARKS = 8, N_DASHES = 5 };

/* ---- factors ---- */

typedef void (*describe_t)(const clv_result_group_t *group, char *text, size_t n_bytes);

static void describe_collective(const clv_result_group_t *group, char *text, size_t n_bytes)
{
    snprintf(text, n_bytes, "%s", group->collective);
}

static void describe_pattern(const clv_result_group_t *group, char *text, size_t n_bytes)
{
    snprintf(text, n_bytes, "%s", group->pattern);
}

static void describe_ranks(const clv_result_group_t *group, char *text, size_t n_bytes)
{
    snprintf(text, n_bytes, "%.0f processes", group->n_ranks);
}

static void describe_bytes(const clv_result_group_t *group, char *text, size_t n_bytes)
{
    const bool is_large = group->n_bytes >= 1024.0;

    *text = '\0';
    if (group->n_bytes > 0.0) {
        snprintf(text, n_bytes, "%.6g %s", is_large ? group->n_bytes / 1024.0 : group->n_bytes,
                 is_large ? "KiB" : "bytes");
    }
}

static void describe_delay(const clv_result_group_t *group, char *text, size_t n_bytes)
{
    *text = '\0';
    if (group->delay_ns > 0.0) {
        snprintf(text, n_bytes, "delay %.6g ms", group->delay_ns / 1e6);
    }
}

static void describe_couple(const clv_result_group_t *group, char *text, size_t n_bytes)
{
    snprintf(text, n_bytes, "%s%s", *group->couple ? "coupled by " : "", group->couple);
}

static const struct {
    const char *x; /* the axis, a factor that does not separate lines */
    describe_t describe;
} factors[] = {{"", describe_collective}, {"pattern", describe_pattern}, {"ranks", describe_ranks},
               {"bytes", describe_bytes}, {"delay", describe_delay},     {"", describe_couple}};
#define N_FACTORS (sizeof factors / sizeof factors[0])

static bool is_same_factor(size_t f, const clv_result_group_t *a, const clv_result_group_t *b)
{
    char one[CLV_RESULTS_TEXT + 16];
    char other[CLV_RESULTS_TEXT + 16];

    factors[f].describe(a, one, sizeof one);
    factors[f].describe(b, other, sizeof other);
    return !strcmp(one, other);
}

static bool is_same_algorithm(const clv_result_group_t *a, const clv_result_group_t *b)
{
    return !strcmp(a->algorithm, b->algorithm) && !strcmp(a->label, b->label);
}

static bool is_common(const clv_result_set_t *set, size_t f)
{
    for (size_t i = 1; i < set->n_groups; i++) {
        if (!is_same_factor(f, &set->groups[0], &set->groups[i])) {
            return false;
        }
    }
    return true;
}

/* Writes the factors that all lines have in common, or those that separate them. */
static void write_factors(const clv_plot_lines_t *lines, const clv_result_group_t *group,
                          bool common, const char *separator, FILE *script)
{
    char text[CLV_RESULTS_TEXT + 16];

    for (size_t f = 0; f < N_FACTORS; f++) {
        factors[f].describe(group, text, sizeof text);
        const bool is_panel = lines->has_panels && !strcmp(factors[f].x, "pattern");
        if (!is_panel && strcmp(factors[f].x, lines->x) && is_common(lines->set, f) == common &&
            *text) {
            fprintf(script, "%s%s", separator, text);
            separator = ", ";
        }
    }
}

/* ---- lines ---- */

bool clv_plot_lines_has(const clv_plot_lines_t *lines, int line, const clv_result_group_t *group)
{
    const clv_result_group_t *first = lines->line[line].first;
    bool is_same = is_same_algorithm(first, group);

    for (size_t f = 0; f < N_FACTORS; f++) {
        is_same &= !strcmp(factors[f].x, lines->x) || is_same_factor(f, first, group);
    }
    return is_same;
}

static int line_of(const clv_plot_lines_t *lines, const clv_result_group_t *group)
{
    int line = 0;

    while (line < lines->n && !clv_plot_lines_has(lines, line, group)) {
        line++;
    }
    return line;
}

/* Numbers the algorithm, and the line among those of its algorithm. */
static void number_line(const clv_plot_lines_t *lines, clv_plot_line_t *new_line)
{
    int n_algorithms = 0;

    new_line->algorithm = -1;
    new_line->variant = 0;
    for (int i = 0; i < lines->n; i++) {
        const clv_plot_line_t *line = &lines->line[i];
        n_algorithms = line->algorithm >= n_algorithms ? line->algorithm + 1 : n_algorithms;
        if (is_same_algorithm(line->first, new_line->first)) {
            new_line->algorithm = line->algorithm;
            new_line->variant +=
                !lines->has_panels || !strcmp(line->first->pattern, new_line->first->pattern);
        }
    }
    new_line->algorithm = new_line->algorithm < 0 ? n_algorithms : new_line->algorithm;
}

bool clv_plot_lines_find(const clv_result_set_t *set, const char *x, bool has_panels,
                         clv_plot_lines_t *lines)
{
    *lines = (clv_plot_lines_t){.set = set, .x = x, .has_panels = has_panels};
    for (size_t i = 0; i < set->n_groups; i++) {
        if (line_of(lines, &set->groups[i]) < lines->n) {
            continue;
        }
        if (lines->n == CLV_PLOT_LINES) {
            return false;
        }
        clv_plot_line_t line = {.first = &set->groups[i]};
        number_line(lines, &line);
        lines->line[lines->n++] = line;
    }
    return true;
}

void clv_plot_lines_common(const clv_plot_lines_t *lines, FILE *script)
{
    write_factors(lines, &lines->set->groups[0], true, "", script);
}

void clv_plot_lines_name(const clv_plot_lines_t *lines, int line, FILE *script)
{
    const clv_result_group_t *group = lines->line[line].first;

    fprintf(script, "%s%s%s", group->label, *group->label ? ": " : "", group->algorithm);
    write_factors(lines, group, false, ", ", script);
}

const char *clv_plot_lines_colour(const clv_plot_lines_t *lines, int line)
{
    return colours[lines->line[line].algorithm % N_COLOURS];
}

void clv_plot_lines_look(const clv_plot_lines_t *lines, int line, FILE *script)
{
    const int algorithm = lines->line[line].algorithm;
    const int variant = lines->line[line].variant;
    const char *dash = dashes[(variant + algorithm / N_COLOURS) % N_DASHES];

    fprintf(script, "lc rgb '%s' dt %s pt %d", clv_plot_lines_colour(lines, line), dash,
            marks[(algorithm + variant) % N_MARKS]);
}
