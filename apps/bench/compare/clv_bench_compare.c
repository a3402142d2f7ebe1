/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-bench-compare: is A faster than B? From several mpiruns of clv-bench, after the method of
 * "MPI Benchmarking Revisited" (sections 5 and 6).
 *
 * What: runs each command several times in shuffled order (or takes files of earlier runs),
 * computes one filtered median per mpirun, and compares algorithms, or commands, by Wilcoxon's
 * one-sided rank sum test, with the effect size and its interval. Or paired, by call or block: the
 * ratio to the baseline with the limits of the signed rank test. Draws pictures.
 * Not: a measurement; that is clv-bench. No MPI here.
 * Exit: 0, 1 a command failed (the other results are compared), 2 wrong use or unreadable results.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/bench/compare/compare.h"
#include "apps/bench/compare/bench_plot.h"
#include "apps/cli/cli_options.h"
#include "apps/cli/cli_file.h"

enum { EXIT_COMMAND = 1, EXIT_USAGE = 2 };

typedef struct job {
    clv_runs_t runs;
    clv_factors_t factors;
    clv_compare_t compare;
    clv_means_t means;
    clv_plot_t plot;
    clv_result_set_t set;
    int32_t n_runs;
    int64_t seed;
    const char *metric;
    const char *plot_file;
    const char *json;
    const char *only;    /* algorithms or labels, or NULL */
    const char *pattern; /* list, or NULL */
    char reason[1024];
} job_t;

static const char *take_run(void *fields, const char *text)
{
    return clv_runs_add(&((job_t *) fields)->runs, (char *) text); /* of argv: ours to cut */
}

static const char *take_factor(void *fields, const char *text)
{
    return clv_factors_add(&((job_t *) fields)->factors, text);
}

static const char *take_figure(void *fields, const char *text)
{
    job_t *job = fields;

    job->plot.figure = clv_figure_find(text);
    return job->plot.figure ? NULL : "a figure (--help lists them)";
}

static const char *take_plot(void *fields, const char *text)
{
    ((job_t *) fields)->plot_file = text;
    return clv_plot_is_name(text) ? NULL : "the name of a .png, .svg or .pdf file";
}

static const char *take_paired(void *fields, const char *text)
{
    ((job_t *) fields)->compare.paired = text;
    return strcmp(text, "table") && strcmp(text, "csv") ? "table or csv" : NULL;
}

static const char *take_test(void *fields, const char *text)
{
    job_t *job = fields;

    job->compare.test = clv_compare_test_find(text);
    return job->compare.test ? NULL : "rank, student, welch or smirnov";
}

static const char *take_means(void *fields, const char *text)
{
    return clv_means_read(&((job_t *) fields)->means, text);
}

#define AT(field) offsetof(job_t, field)
static const clv_option_t rows[] = {
    CLV_ROW_TAKE("run", take_run, "COMMAND", NULL,
                 "shell command of clv-bench, to which --json FILE is added; several:\n"
                 "repeat as 'LABEL: COMMAND'"),
    CLV_ROW_TAKE("factor", take_factor, "NAME=V,V...", NULL,
                 "run each command with each value, in place of %NAME% or as --NAME VALUE at\n"
                 "its end; repeatable: all combinations"),
    CLV_ROW_WHOLE32("runs", AT(n_runs), 1, CLV_RESULTS_RUNS, "5",
                    "mpiruns of each command, in shuffled order"),
    CLV_ROW_TEXT("folder", AT(runs.folder), "DIR", "clv-compare", "folder of their JSON files"),
    CLV_ROW_FLAG("resume", AT(runs.resumes), "continue in a folder that already has some of them"),
    CLV_ROW_WHOLE("seed", AT(seed), 0, 9e15, "1", "seed of the order"),
    CLV_ROW_TEXT("metric", AT(metric), "NAME", NULL,
                 "after, run, in_mpi_mean, in_mpi_late_rank, overlap_benefit, ratio_bound, ...;\n"
                 "of loops iteration, first_iteration, in_call, ...; of clocks clock_error, ..."),
    CLV_ROW_WHOLE("sample", AT(set.n_sample), 0, 1e6, "0",
                  "use only N calls of each mpirun, drawn at random; 0: all"),
    CLV_ROW_TAKE("means", take_means, "LIST", NULL,
                 "instead of comparing: find the number of calls (10,30,100,500) from which 500\n"
                 "means of random calls are normally distributed"),
    CLV_ROW_TEXT("only", AT(only), "LIST", NULL, "these algorithms (or labels) and no others"),
    CLV_ROW_TEXT("pattern", AT(pattern), "LIST", NULL, "these patterns and no others"),
    CLV_ROW_TAKE("paired", take_paired, "FORM", NULL,
                 "ratios of values measured side by side: table or csv"),
    CLV_ROW_TEXT("baseline", AT(compare.baseline), "NAME", NULL,
                 "algorithm (or label) to compare with; default: the first"),
    CLV_ROW_TAKE("test", take_test, "NAME", NULL,
                 "rank (Wilcoxon, the default), student, welch or\nsmirnov (two-sided)"),
    CLV_ROW_FLAG("two-sided", AT(compare.is_two_sided),
                 "test whether they differ, not which is better"),
    CLV_ROW_REAL("level", AT(compare.level), 0.01, 0.999999, "0.95",
                 "confidence level of the intervals"),
    CLV_ROW_TEXT("json", AT(json), "FILE", NULL,
                 "append the table as JSON lines; - is standard output"),
    CLV_ROW_TAKE("figure", take_figure, "NAME", NULL, "with --plot; names below"),
    CLV_ROW_TAKE("plot", take_plot, "FILE", NULL, ".png, .svg or .pdf"),
    CLV_ROW_FLAG("log", AT(plot.is_log), "logarithmic values in the figure"),
    CLV_ROWS_END,
};

static void list_figures(FILE *out)
{
    fprintf(out, "figures:\n");
    for (const clv_figure_t *figure = clv_figures; figure->name; figure++) {
        fprintf(out, "  %-16s  %s\n", figure->name, figure->meaning);
    }
}

static const clv_program_t program = {
    .name = "clv-bench-compare",
    .usage = "clv-bench-compare [options] FILE ...       one JSON file of clv-bench (or clv-clock) "
             "per mpirun\n"
             "       clv-bench-compare [options] --run 'COMMAND' [--run 'LABEL: COMMAND' ...]",
    .options = rows,
    .more = list_figures,
    .takes_operands = true,
};

/* ---- reading ---- */

static clv_status_t read_file(job_t *job, const char *path, const char *label)
{
    if (!job->compare.metric) {
        job->compare.metric = clv_results_default_metric(path);
    }
    return clv_results_read(path, label, job->compare.metric, &job->set, job->reason,
                            sizeof job->reason);
}

static clv_status_t read_files(job_t *job, char **files)
{
    clv_status_t status = CLV_OK;

    for (; *files && status == CLV_OK; files++) {
        status = read_file(job, *files, "");
    }
    return status;
}

/* Reads the result files that exist. */
static clv_status_t read_runs(job_t *job)
{
    char path[CLV_RUNS_PATH];
    clv_status_t status = CLV_OK;

    for (int run = 0; run < job->runs.n_runs; run++) {
        for (int c = 0; c < job->runs.n_commands && status == CLV_OK; c++) {
            if (clv_runs_path(&job->runs, c, run, path) && access(path, R_OK) == 0) {
                status = read_file(job, path, job->runs.commands[c].label);
            }
        }
    }
    return status;
}

static bool is_in_list(const char *list, const char *word)
{
    const size_t length = strlen(word);

    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (!strncmp(at, word, length) && (at[length] == '\0' || at[length] == ',')) {
            return true;
        }
    }
    return false;
}

static bool is_wanted(void *context, const clv_result_group_t *group)
{
    const job_t *job = context;

    return (!job->only || is_in_list(job->only, group->algorithm) ||
            (*group->label && is_in_list(job->only, group->label))) &&
           (!job->pattern || is_in_list(job->pattern, group->pattern));
}

/* ---- all ---- */

/* Whether what was gathered has something to compare, and what to compare it with. */
static clv_status_t check_groups(job_t *job)
{
    if (!job->set.n_groups) {
        snprintf(job->reason, sizeof job->reason, "no results%s",
                 job->runs.n_failed ? ": every mpirun failed" : " of that name");
        return job->runs.n_failed ? CLV_SYSTEM : CLV_INVALID;
    }
    if (!clv_compare_has_baseline(&job->compare)) {
        snprintf(job->reason, sizeof job->reason,
                 "--baseline names neither an algorithm nor a label here: '%s'",
                 job->compare.baseline);
        return CLV_INVALID;
    }
    return CLV_OK;
}

static clv_status_t gather(job_t *job, char **files)
{
    clv_status_t status;

    if ((*files != NULL) == (job->runs.n_commands > 0)) {
        snprintf(job->reason, sizeof job->reason, "give result files, or commands by --run");
        return CLV_INVALID;
    }
    status = clv_factors_cross(&job->factors, &job->runs, job->reason, sizeof job->reason);
    if (status != CLV_OK) {
        return CLV_INVALID;
    }
    job->compare.has_labels = job->runs.n_commands > 1;
    job->set.seed = (uint64_t) job->seed;
    if (job->runs.n_commands > 0) {
        job->runs.n_runs = job->n_runs;
        job->runs.seed = (uint64_t) job->seed;
        status = clv_runs_all(&job->runs, job->reason, sizeof job->reason);
        status = status == CLV_OK ? read_runs(job) : status;
    } else {
        status = read_files(job, files);
    }
    clv_results_keep(&job->set, is_wanted, job);
    return status == CLV_OK ? check_groups(job) : status;
}

static clv_status_t tell(job_t *job)
{
    clv_status_t status;

    if (job->means.n_sizes > 0) {
        job->means.seed = (uint64_t) job->seed;
        return clv_means_tell(&job->means, &job->compare, job->json, job->reason,
                              sizeof job->reason);
    }
    status = job->json ? clv_compare_json(&job->compare, job->json, job->reason, sizeof job->reason)
                       : CLV_OK;
    if (status == CLV_OK && !(job->json && !strcmp(job->json, "-"))) {
        status = clv_compare_print(&job->compare);
    }
    if (status == CLV_OK && job->plot_file) {
        job->plot.metric = job->compare.metric;
        status = clv_plot(&job->set, &job->plot, job->plot_file, job->reason, sizeof job->reason);
    }
    return status;
}

static int end(job_t *job, clv_status_t status)
{
    clv_results_free(&job->set);
    clv_factors_free(&job->factors);
    const int lost = clv_output_end(&program, 0); /* errors are reported below the table */
    if (status != CLV_OK) {
        clv_options_wrong(&program, *job->reason ? job->reason : clv_status_text(status));
        return status == CLV_SYSTEM ? EXIT_COMMAND : EXIT_USAGE;
    }
    if (job->runs.n_failed) {
        fprintf(stderr, "clv-bench-compare: %d of %d mpiruns failed; --resume repeats them\n",
                job->runs.n_failed, job->runs.n_failed + job->runs.n_done);
        return EXIT_COMMAND;
    }
    return lost;
}

int main(int argc, char **argv)
{
    static job_t job;
    int first;
    const int answer = clv_options_main(&program, argc, argv, &job, &first);

    if (answer >= 0) {
        return answer;
    }
    if (job.plot_file && !job.plot.figure) {
        job.plot.figure = clv_figure_find("delay");
    }
    job.compare.metric = job.metric ? job.metric : job.plot.figure ? job.plot.figure->metric : NULL;
    job.compare.set = &job.set;
    clv_status_t status = gather(&job, argv + first);
    if (status == CLV_OK) {
        status = tell(&job);
    }
    return end(&job, status);
}
