/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See clock_report.h.
 */
#include "tools/clock_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void print_setting(FILE *file, const clock_setting_t *s)
{
    fprintf(file, "# %d ranks on %d hosts, reference %d, clock %s", s->n_ranks, s->n_hosts,
            s->reference, s->clock);
    if (s->pretend_s != 0 || s->drift_ppm != 0) {
        fprintf(file, ", made wrong by up to %g s and %g ppm", s->pretend_s, s->drift_ppm);
    }
    fprintf(file, "\n# %s\n", s->mpi);
    fprintf(file,
            "# after: seconds since the synchronisation; max, mean: |offset| against the "
            "reference as measured [us]%s\n",
            s->has_truth ? "; true: the same by the common clock; covered: ranks whose bound held"
                         : "");
}

static void print_row(FILE *file, const clock_result_t *r, const clock_accuracy_t *a, int has_truth)
{
    fprintf(file, "%-34s %3d %8.3f %6d %9.4f %8.2f %7.3g %9.2f %9.2f %9.2f", r->label, r->run,
            r->duration_s, r->n_rounds, r->r_squared_min, r->rms_max_us, a->wait_s, a->max_us,
            a->mean_us, a->bound_max_us);
    if (has_truth) {
        fprintf(file, " %9.2f %9.2f %4d/%d", a->true_max_us, a->true_mean_us, a->n_covered,
                a->n_checked);
    }
    fprintf(file, "%s\n", r->n_failed > 0 ? "  FAILED RANKS" : "");
}

void clock_print_table(FILE *file, const clock_setting_t *setting, const clock_result_t *results,
                       int n_results)
{
    print_setting(file, setting);
    fprintf(file, "%-34s %3s %8s %6s %9s %8s %7s %9s %9s %9s%s\n", "method", "run", "took[s]",
            "rounds", "min R2", "rms[us]", "after", "max", "mean", "bound",
            setting->has_truth ? "  true max true mean covered" : "");
    for (int i = 0; i < n_results; i++) {
        for (int w = 0; w < results[i].n_waits; w++) {
            print_row(file, &results[i], &results[i].accuracy[w], setting->has_truth);
        }
    }
}

/* JSON has no NaN. */
static void put_number(FILE *file, const char *name, double value, const char *after)
{
    if (isfinite(value)) {
        fprintf(file, "\"%s\": %.9g%s", name, value, after);
    } else {
        fprintf(file, "\"%s\": null%s", name, after);
    }
}

static void put_accuracy(FILE *file, const clock_accuracy_t *a, const char *after)
{
    fprintf(file, "      {");
    put_number(file, "wait_s", a->wait_s, ", ");
    put_number(file, "max_us", a->max_us, ", ");
    put_number(file, "mean_us", a->mean_us, ", ");
    put_number(file, "true_max_us", a->true_max_us, ", ");
    put_number(file, "true_mean_us", a->true_mean_us, ", ");
    put_number(file, "bound_max_us", a->bound_max_us, ", ");
    fprintf(file, "\"n_checked\": %d, \"n_covered\": %d}%s\n", a->n_checked, a->n_covered, after);
}

static void put_result(FILE *file, const clock_result_t *r, const char *after)
{
    fprintf(file, "    {\"method\": \"%s\", \"run\": %d, \"n_failed\": %d, \"n_rounds\": %d, ",
            r->label, r->run, r->n_failed, r->n_rounds);
    fprintf(file, "\"n_pings\": %lld, ", (long long) r->n_pings);
    put_number(file, "duration_s", r->duration_s, ", ");
    put_number(file, "r_squared_min", r->r_squared_min, ", ");
    put_number(file, "rms_max_us", r->rms_max_us, ",\n     \"accuracy\": [\n");
    for (int w = 0; w < r->n_waits; w++) {
        put_accuracy(file, &r->accuracy[w], w + 1 < r->n_waits ? "," : "");
    }
    fprintf(file, "    ]}%s\n", after);
}

static int close_file(FILE *file)
{
    const int had_error = ferror(file);
    return fclose(file) != 0 || had_error ? -1 : 0;
}

/* Text from elsewhere, without what JSON or gnuplot would take for an end. */
static void put_text(FILE *file, const char *text)
{
    for (; *text != '\0'; text++) {
        const int is_plain = *text >= ' ' && *text != '"' && *text != '\\' && *text != '\'';
        fputc(is_plain ? *text : ' ', file);
    }
}

int clock_write_json(const char *path, const clock_setting_t *setting,
                     const clock_result_t *results, int n_results)
{
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        return -1;
    }
    fprintf(file, "{\n  \"n_ranks\": %d, \"n_hosts\": %d, \"reference\": %d, \"clock\": \"%s\",\n",
            setting->n_ranks, setting->n_hosts, setting->reference, setting->clock);
    fprintf(file, "  \"mpi\": \"");
    put_text(file, setting->mpi);
    fprintf(file, "\",\n  ");
    put_number(file, "drift_ppm", setting->drift_ppm, ", ");
    put_number(file, "pretend_s", setting->pretend_s, ", ");
    fprintf(file, "\"has_truth\": %s,\n  \"results\": [\n", setting->has_truth ? "true" : "false");
    for (int i = 0; i < n_results; i++) {
        put_result(file, &results[i], i + 1 < n_results ? "," : "");
    }
    fprintf(file, "  ]\n}\n");
    return close_file(file);
}

static const char *terminal_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    if (dot != NULL && strcmp(dot, ".svg") == 0) {
        return "svg size 1100,420 font 'sans,12'";
    }
    if (dot != NULL && strcmp(dot, ".pdf") == 0) {
        return "pdfcairo size 11in,4.2in";
    }
    return "pngcairo size 1100,420";
}

/* The first result with this label names it. */
static int is_first_of_label(const clock_result_t *results, int i)
{
    for (int k = 0; k < i; k++) {
        if (strcmp(results[k].label, results[i].label) == 0) {
            return 0;
        }
    }
    return 1;
}

static double shown(const clock_setting_t *setting, const clock_accuracy_t *a)
{
    const double value = setting->has_truth ? a->true_max_us : a->max_us;
    return fmax(value, 0.001); /* the axis is logarithmic */
}

static void put_data(FILE *file, const clock_setting_t *setting, const clock_result_t *results,
                     int n_results)
{
    for (int i = 0; i < n_results; i++) {
        if (!is_first_of_label(results, i)) {
            continue;
        }
        fprintf(file, "$m%d << END\n", i);
        for (int k = i; k < n_results; k++) {
            if (strcmp(results[k].label, results[i].label) != 0) {
                continue;
            }
            fprintf(file, "%.6f", results[k].duration_s);
            for (int w = 0; w < results[k].n_waits; w++) {
                fprintf(file, " %.4f", shown(setting, &results[k].accuracy[w]));
            }
            fprintf(file, "\n");
        }
        fprintf(file, "END\n");
    }
}

static void put_panel(FILE *file, const clock_result_t *results, int n_results, int wait)
{
    const char *separator = "plot ";
    fprintf(file, "set title '%g s after the synchronisation'\n", results[0].accuracy[wait].wait_s);
    for (int i = 0; i < n_results; i++) {
        if (is_first_of_label(results, i)) {
            fprintf(file, "%s$m%d using 1:%d with points pt 7 ps 1.2 title '%s'", separator, i,
                    wait + 2, results[i].label);
            separator = ", \\\n     ";
        }
    }
    fprintf(file, "\n");
}

static void put_script(FILE *file, const char *picture, const clock_setting_t *setting,
                       const clock_result_t *results, int n_results)
{
    const int n_waits = n_results > 0 ? results[0].n_waits : 0;
    fprintf(file, "# %d ranks on %d hosts, clock %s; ", setting->n_ranks, setting->n_hosts,
            setting->clock);
    put_text(file, setting->mpi);
    fprintf(file, "\n");
    put_data(file, setting, results, n_results);
    fprintf(file, "set terminal %s\nset output '%s'\n", terminal_of(picture), picture);
    fprintf(file, "set multiplot layout 1,%d\nset logscale y\nset grid\nset key below\n", n_waits);
    fprintf(file, "set xrange [0:*]\nset xlabel 'duration of the synchronisation [s]'\n");
    fprintf(file, "set ylabel 'largest %serror of a global clock [us]'\n",
            setting->has_truth ? "true " : "");
    for (int w = 0; w < n_waits; w++) {
        put_panel(file, results, n_results, w);
    }
    fprintf(file, "unset multiplot\n");
}

static int run_gnuplot(const char *script)
{
    const pid_t child = fork();
    if (child == 0) {
        execlp("gnuplot", "gnuplot", script, (char *) NULL);
        _exit(127);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) < 0) {
        return -1;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}

int clock_draw(const char *path, const clock_setting_t *setting, const clock_result_t *results,
               int n_results)
{
    char script[4096];
    if (snprintf(script, sizeof script, "%s.gp", path) >= (int) sizeof script ||
        strpbrk(path, "'\n") != NULL) {
        errno = EINVAL;
        return -1;
    }
    FILE *file = fopen(script, "w");
    if (file == NULL) {
        return -1;
    }
    put_script(file, path, setting, results, n_results);
    return close_file(file) == 0 ? run_gnuplot(script) : -1;
}
