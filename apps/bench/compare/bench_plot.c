/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Scripts for gnuplot; see bench_plot.h.
 */
#include "apps/bench/compare/bench_plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/bench/measure/bench_stats.h"

#define MAX_PATH      512
#define MAX_TICS      12
#define MAX_PANELS    4
#define TITLE_COLUMNS 90
#define QUARTILES     4 /* least number of mpiruns for bars from quartile to quartile */

const clv_figure_t clv_figures[] = {
    {"patterns", "each algorithm under each arrival pattern", "after", "pattern",
     "Time after the last arrival", false},
    {"delay", "time after the last arrival against the delay", "after", "delay",
     "Time after the last arrival", false},
    {"ranks", "time after the last arrival against the number of ranks", "after", "ranks",
     "Time after the last arrival", false},
    {"bytes", "time after the last arrival against the size", "after", "bytes",
     "Time after the last arrival", true},
    {"fig10", "run time against the maximal delay (Clairvoyant paper, Fig. 10)", "run", "delay",
     "Run time against the maximal delay", false},
    {"fig11", "run time against the number of ranks (Clairvoyant paper, Fig. 11)", "run", "ranks",
     "Run time against the number of processes", false},
    {"overlap", "delay overlap benefit against the number of processes (late arrivals paper)",
     "overlap_benefit", "ranks", "Delay overlap benefit", true},
    {"overlap-delay", "delay overlap benefit against the delay (late arrivals paper)",
     "overlap_benefit", "delay", "Delay overlap benefit", false},
    {"mpi-time", "mean time in MPI against the delay", "in_mpi_mean", "delay", "Mean time in MPI",
     false},
    {"clock-accuracy",
     "largest error of a global clock against the duration of the synchronisation (of clv-clock)",
     CLV_RESULTS_CLOCK_METRIC, "duration", "Accuracy of global clocks", false},
    {NULL, NULL, NULL, NULL, NULL, false},
};

const clv_figure_t *clv_figure_find(const char *name)
{
    for (const clv_figure_t *figure = clv_figures; figure->name; figure++) {
        if (!strcmp(figure->name, name)) {
            return figure;
        }
    }
    return NULL;
}

/* ---- what is on the axes ---- */

/* A metric's label on the axis, and the divisor of its values. */
static const struct {
    const char *metric;
    const char *label;
    double unit;
} metrics[] = {
    {"after", "last exit - last arrival [ms]", 1e6},
    {"run", "last exit - first arrival [ms]", 1e6},
    {"in_mpi_mean", "mean time in MPI [ms]", 1e6},
    {"iteration", "time per iteration [ms]", 1e6},
    {"overlap_benefit", "(balanced run + delay - run) / run", 1},
    {"hidden_part", "part of the delay that is hidden", 1},
    {"ratio_bound", "time after the last arrival, in bounds", 1},
    {"ratio_first", "time after the last arrival, in that of the first algorithm", 1},
    {CLV_RESULTS_CLOCK_METRIC, "largest error [us]", 1e3},
    {NULL, NULL, 1e6},
};

typedef struct picture {
    const clv_result_set_t *set;
    const clv_plot_t *plot;
    clv_plot_lines_t lines;
    const char *label;
    double unit;
    double x[MAX_TICS]; /* measured x values; patterns by number */
    int n_x;            /* MAX_TICS + 1: too many for one tic each */
    double low_x, high_x;
    double low_y, high_y;
    double shift; /* between lines, so that bars do not cover each other */
    const char *patterns[CLV_PLOT_LINES];
    int n_patterns;
} picture_t;

static bool has_axis(const picture_t *picture, const char *x)
{
    return !strcmp(picture->plot->figure->x, x);
}

static int pattern_number(const picture_t *picture, const clv_result_group_t *group)
{
    int i = 0;

    while (i < picture->n_patterns && strcmp(picture->patterns[i], group->pattern)) {
        i++;
    }
    return i;
}

static double duration_of(const clv_result_group_t *group)
{
    double sorted[CLV_RESULTS_RUNS];

    memcpy(sorted, group->duration_s, group->n_runs * sizeof *sorted);
    return clv_stats_median(sorted, group->n_runs);
}

static double x_of(const picture_t *picture, const clv_result_group_t *group)
{
    return has_axis(picture, "duration")  ? duration_of(group)
           : has_axis(picture, "delay")   ? group->delay_ns / 1e6
           : has_axis(picture, "ranks")   ? group->n_ranks
           : has_axis(picture, "pattern") ? pattern_number(picture, group)
                                          : group->n_bytes;
}

typedef struct point {
    double median, low, high;
} point_t;

static point_t point_of(const picture_t *picture, const clv_result_group_t *group)
{
    double sorted[CLV_RESULTS_RUNS];
    const size_t n = group->n_runs;
    const bool is_short = n < QUARTILES;

    memcpy(sorted, group->value, n * sizeof *sorted);
    const double median = clv_stats_median(sorted, n);
    clv_stats_sort(sorted, n);
    const double low = is_short ? sorted[0] : clv_stats_quantile(sorted, n, 0.25);
    const double high = is_short ? sorted[n - 1] : clv_stats_quantile(sorted, n, 0.75);
    return (point_t){median / picture->unit, low / picture->unit, high / picture->unit};
}

/* ---- ranges ---- */

static int by_value(const void *left, const void *right)
{
    const double *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

static void add_x(picture_t *picture, double x)
{
    for (int i = 0; i < picture->n_x && i < MAX_TICS; i++) {
        if (!(picture->x[i] < x) && !(picture->x[i] > x)) {
            return;
        }
    }
    if (picture->n_x < MAX_TICS) {
        picture->x[picture->n_x] = x;
    }
    picture->n_x += picture->n_x <= MAX_TICS;
}

static void add_group(picture_t *picture, const clv_result_group_t *group)
{
    const point_t point = point_of(picture, group);
    const double x = x_of(picture, group);

    picture->low_x = fmin(picture->low_x, x);
    picture->high_x = fmax(picture->high_x, x);
    picture->low_y = fmin(picture->low_y, fmin(point.low, point.median));
    picture->high_y = fmax(picture->high_y, fmax(point.high, point.median));
    add_x(picture, x);
}

static bool is_log_x(const picture_t *picture)
{
    return picture->plot->figure->log_x && picture->low_x > 0.0;
}

static bool is_log_y(const picture_t *picture)
{
    return picture->plot->is_log && picture->low_y > 0.0;
}

static void find_ranges(picture_t *picture)
{
    picture->low_x = picture->low_y = INFINITY;
    picture->high_x = picture->high_y = -INFINITY;
    for (size_t i = 0; i < picture->set->n_groups; i++) {
        const clv_result_group_t *group = &picture->set->groups[i];
        add_group(picture, group);
    }
    qsort(picture->x, picture->n_x < MAX_TICS ? (size_t) picture->n_x : MAX_TICS,
          sizeof picture->x[0], by_value);
    const double span = picture->high_x - picture->low_x;
    picture->shift = has_axis(picture, "duration")  ? 0.0
                     : has_axis(picture, "pattern") ? 0.8 / picture->lines.n
                                                    : 0.006 * span;
}

/* ---- the script ---- */

static void write_points(FILE *script, const picture_t *picture, int line)
{
    for (size_t i = 0; i < picture->set->n_groups; i++) {
        const clv_result_group_t *group = &picture->set->groups[i];
        if (clv_plot_lines_has(&picture->lines, line, group)) {
            const point_t point = point_of(picture, group);
            fprintf(script, "%.9g %.9g %.9g %.9g\n", x_of(picture, group), point.median, point.low,
                    point.high);
        }
    }
}

/* Writes the data as named blocks; the lines of the plot command follow. */
static void write_data(FILE *script, const picture_t *picture)
{
    for (int line = 0; line < picture->lines.n; line++) {
        fprintf(script, "$line%d << END\n", line);
        write_points(script, picture, line);
        fprintf(script, "END\n");
    }
}

/* Shifts each line slightly from the one before; together they are centred on the value. */
static void write_x(FILE *script, const picture_t *picture, int line)
{
    const int n_panels = picture->lines.has_panels ? picture->n_patterns : 1;
    const int n_lines = picture->lines.n / n_panels; /* per panel, normally */
    const double place = line % n_lines - (n_lines - 1) / 2.0;
    const double span = picture->high_x / picture->low_x;

    if (is_log_x(picture)) {
        fprintf(script, "using ($1*%.9g)", pow(span, 0.006 * place));
    } else {
        fprintf(script, "using ($1+%.9g)", picture->shift * place);
    }
}

static void write_box(FILE *script, const picture_t *picture, int line)
{
    const clv_plot_line_t *is = &picture->lines.line[line];
    const int pattern = is->variant + is->algorithm / 8; /* gnuplot's: 0 is empty, 3 solid */

    fprintf(script, ":2 with boxes fs %s border lc rgb '#444444' fc rgb '%s'",
            pattern == 0   ? "solid 0.85"
            : pattern == 1 ? "pattern 2"
            : pattern == 2 ? "pattern 1"
                           : "pattern 4",
            clv_plot_lines_colour(&picture->lines, line));
}

static void write_line(FILE *script, const picture_t *picture, int line)
{
    const clv_plot_lines_t *lines = &picture->lines;
    const bool is_box = has_axis(picture, "pattern");

    fprintf(script, "$line%d ", line);
    write_x(script, picture, line);
    if (is_box) {
        write_box(script, picture, line);
    } else {
        fprintf(script, ":2 smooth unique with linespoints ");
        clv_plot_lines_look(lines, line, script);
    }
    fprintf(script, " title \"");
    clv_plot_lines_name(lines, line, script);
    fprintf(script, "\", $line%d ", line);
    write_x(script, picture, line);
    fprintf(
        script,
        ":3:(0):($4-$3) with vectors heads size graph 0.004,90 dt solid lw 1 lc rgb '%s' notitle",
        is_box ? "#000000" : clv_plot_lines_colour(lines, line));
}

/* Writes the lines of one pattern, or all if NULL. */
static void write_lines(FILE *script, const picture_t *picture, const char *pattern)
{
    const char *separator = "plot ";

    for (int line = 0; line < picture->lines.n; line++) {
        if (!pattern || !strcmp(picture->lines.line[line].first->pattern, pattern)) {
            fprintf(script, "%s", separator);
            write_line(script, picture, line);
            separator = ", \\\n  ";
        }
    }
    fprintf(script, "\n");
}

/* One panel per pattern, with equal axes. */
static void write_panels(FILE *script, const picture_t *picture)
{
    for (int p = 0; p < picture->n_patterns; p++) {
        fprintf(script, "set title \"%s\" noenhanced\n", picture->patterns[p]);
        write_lines(script, picture, picture->patterns[p]);
        fprintf(script, "set ylabel ''\n");
    }
    fprintf(script, "unset multiplot\n");
}

/* Tics at the measured values, if there are few. */
static void write_tics(FILE *script, const picture_t *picture)
{
    if (has_axis(picture, "pattern")) {
        fprintf(script, "set xtics (");
        for (int i = 0; i < picture->n_patterns; i++) {
            fprintf(script, "%s\"%s\" %d", i ? ", " : "", picture->patterns[i], i);
        }
        fprintf(script, ") noenhanced\n");
    } else if (picture->n_x <= MAX_TICS && !has_axis(picture, "duration")) {
        fprintf(script, "set xtics (");
        for (int i = 0; i < picture->n_x; i++) {
            fprintf(script, "%s%.6g", i ? ", " : "", picture->x[i]);
        }
        fprintf(script, ")\n");
    }
}

/* A margin at both ends, so that no point lies on the frame. */
static void write_x_axis(FILE *script, const picture_t *picture)
{
    const double span = picture->high_x - picture->low_x;
    const double beside = picture->shift * picture->lines.n / 2.0;
    const double margin = beside + (span > 0.0 ? 0.05 * span : 0.1 * fabs(picture->high_x) + 1e-9);

    if (has_axis(picture, "pattern")) {
        fprintf(script, "set xrange [-0.6:%g]\n", picture->n_patterns - 0.4);
    } else if (is_log_x(picture)) {
        fprintf(script, "set logscale x 2\nset xrange [%g:%g]\n", picture->low_x / 1.25,
                picture->high_x * 1.25);
    } else if (has_axis(picture, "duration")) {
        fprintf(script, "set xrange [0:%g]\n", picture->high_x * 1.1 + 1e-9);
    } else {
        fprintf(script, "set xrange [%.9g:%.9g]\n", picture->low_x - margin,
                picture->high_x + margin);
    }
    fprintf(script, "set xlabel '%s'\n",
            has_axis(picture, "delay")      ? "maximal delay [ms]"
            : has_axis(picture, "ranks")    ? "processes"
            : has_axis(picture, "duration") ? "duration of the synchronisation [s]"
            : has_axis(picture, "pattern")  ? "arrival pattern"
                                            : "bytes");
    write_tics(script, picture);
}

/* The range is never empty. Times begin at 0, benefits at their minimum. */
static void write_y_axis(FILE *script, const picture_t *picture)
{
    const double span = picture->high_y - picture->low_y;
    const double margin = span > 0.0 ? 0.08 * span : 0.1 * fabs(picture->high_y) + 1e-9;
    const double top = picture->high_y + margin;

    fprintf(script, "set ylabel '%s' noenhanced\n", picture->label);
    if (is_log_y(picture)) {
        fprintf(script, "set logscale y\nset yrange [%.9g:%.9g]\n", picture->low_y / 1.25,
                picture->high_y * 1.25);
    } else if (picture->low_y >= 0.0 && (picture->unit > 1.0 || has_axis(picture, "pattern"))) {
        fprintf(script, "set yrange [0:%.9g]\n", top);
    } else {
        fprintf(script, "set yrange [%.9g:%.9g]\n", picture->low_y - margin, top);
    }
}

static size_t most_runs(const clv_result_set_t *set)
{
    size_t n = 0;

    for (size_t i = 0; i < set->n_groups; i++) {
        n = set->groups[i].n_runs > n ? set->groups[i].n_runs : n;
    }
    return n;
}

/* A line of the title, broken after commas. */
static void write_broken(FILE *script, const char *text)
{
    int column = 0;

    fprintf(script, "\\n");
    for (const char *at = text; *at; at++) {
        fputc(*at, script);
        column++;
        if (column > TITLE_COLUMNS && *at == ',') {
            fprintf(script, "\\n");
            column = 0;
        }
    }
}

/* Writes the notes below the table above the picture. */
static void write_caveats(FILE *script, const picture_t *picture)
{
    for (const clv_result_caveat_t *caveat = clv_results_caveats; caveat->line; caveat++) {
        char *text = NULL;
        size_t n_text = 0;
        FILE *memory = open_memstream(&text, &n_text);
        const bool is_there = memory && clv_results_put_caveat(memory, picture->set, NULL, caveat);
        if (memory && fclose(memory) == 0 && is_there) {
            write_broken(script, text);
        }
        free(text); /* allocated by the stream */
    }
}

static void write_title(FILE *script, const picture_t *picture)
{
    const size_t n = most_runs(picture->set);
    const bool is_own = !strcmp(picture->plot->metric, picture->plot->figure->metric);

    fprintf(script, "set ");
    if (picture->lines.has_panels) {
        fprintf(script, "multiplot layout 1,%d ", picture->n_patterns);
    }
    fprintf(script, "title \"%s\\n", is_own ? picture->plot->figure->title : picture->plot->metric);
    clv_plot_lines_common(&picture->lines, script);
    if (n > 1) {
        fprintf(script, "\\nmedian of %zu mpiruns; bars, side by side: %s", n,
                n < QUARTILES ? "least to largest" : "quartiles");
    }
    write_caveats(script, picture);
    fprintf(script, "\" noenhanced\n");
}

static void write_style(FILE *script, const picture_t *picture)
{
    fprintf(script,
            "set border 3\nset tics nomirror\nset pointsize 1.1\n"
            "set style line 1 lw 2\nset boxwidth %.9g\n"
            "set grid ytics lt 1 dt solid lw 0.5 lc rgb '#cccccc'\n"
            "set key below center maxrows 4 Left reverse noenhanced samplen 5\n",
            picture->shift > 0.0 ? picture->shift : 1.0);
}

/* ---- files ---- */

static const struct {
    const char *ending;
    const char *terminal;
} terminals[] = {{".png", "pngcairo size 1000,640 linewidth 1.6"},
                 {".svg", "svg size 1000,640 font 'sans,13' linewidth 1.6"},
                 {".pdf", "pdfcairo size 10in,6.4in linewidth 1.6"}};

static const char *terminal_of(const char *path)
{
    const size_t length = strlen(path);

    for (size_t i = 0; length > 4 && i < sizeof terminals / sizeof terminals[0]; i++) {
        if (!strcmp(path + length - 4, terminals[i].ending)) {
            return terminals[i].terminal;
        }
    }
    return NULL;
}

static void write_script(FILE *script, const picture_t *picture, const char *path)
{
    fprintf(script, "set terminal %s\nset output '%s'\n", terminal_of(path), path);
    write_style(script, picture);
    write_x_axis(script, picture);
    write_y_axis(script, picture);
    write_data(script, picture);
    write_title(script, picture);
    if (picture->lines.has_panels) {
        write_panels(script, picture);
    } else {
        write_lines(script, picture, NULL);
    }
}

/* Without a shell, so that a file name is never a command. */
static int run_gnuplot(const char *script_path)
{
    int status = 0;
    const pid_t child = fork();

    if (child == 0) {
        execlp("gnuplot", "gnuplot", script_path, (char *) NULL);
        _exit(127);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : 1;
}

static void find_patterns(picture_t *picture)
{
    for (size_t i = 0; i < picture->set->n_groups; i++) {
        const clv_result_group_t *group = &picture->set->groups[i];
        const int number = pattern_number(picture, group);
        if (number == picture->n_patterns && number < CLV_PLOT_LINES) {
            picture->patterns[picture->n_patterns++] = group->pattern;
        }
    }
}

/* False: too many lines. */
static bool set_up(picture_t *picture, const clv_result_set_t *set, const clv_plot_t *plot)
{
    size_t row = 0;

    picture->set = set;
    picture->plot = plot;
    while (metrics[row].metric && strcmp(metrics[row].metric, plot->metric)) {
        row++;
    }
    picture->label = metrics[row].metric ? metrics[row].label : plot->metric;
    picture->unit = metrics[row].unit;
    find_patterns(picture);
    const bool has_panels = !has_axis(picture, "pattern") && picture->n_patterns > 1 &&
                            picture->n_patterns <= MAX_PANELS;
    if (!clv_plot_lines_find(set, plot->figure->x, has_panels, &picture->lines)) {
        return false;
    }
    find_ranges(picture);
    return true;
}

static clv_status_t draw(const picture_t *picture, const char *path, char *reason,
                         size_t reason_bytes)
{
    char script_path[MAX_PATH];

    snprintf(script_path, sizeof script_path, "%s.gnuplot", path);
    FILE *script = fopen(script_path, "w");
    if (!script) {
        snprintf(reason, reason_bytes, "cannot write %s", script_path);
        return CLV_INVALID;
    }
    write_script(script, picture, path);
    fclose(script);
    const int code = run_gnuplot(script_path);
    if (code) {
        snprintf(reason, reason_bytes, "%s; the script is kept as %s",
                 code == 127 ? "gnuplot is missing" : "gnuplot failed", script_path);
        return CLV_UNSUPPORTED;
    }
    unlink(script_path);
    return CLV_OK;
}

bool clv_plot_is_name(const char *path)
{
    return terminal_of(path) && !strpbrk(path, "'\n") && strlen(path) <= MAX_PATH - 16;
}

clv_status_t clv_plot(const clv_result_set_t *set, const clv_plot_t *plot, const char *path,
                      char *reason, size_t reason_bytes)
{
    picture_t picture = {0};

    if (!clv_plot_is_name(path)) {
        snprintf(reason, reason_bytes, "'%s' is not the name of a .png, .svg or .pdf file", path);
        return CLV_INVALID;
    }
    if (!set_up(&picture, set, plot)) {
        snprintf(reason, reason_bytes, "more than %d lines: choose by --only and --pattern",
                 CLV_PLOT_LINES);
        return CLV_INVALID;
    }
    return draw(&picture, path, reason, reason_bytes);
}
