/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-correct: corrects an OTF2 trace so that no message is received before it was sent, by
 * recorded clocks and the controlled logical clock with collectives, and says what it did.
 *
 * What it is made of: tools/correct/correct.h. The algorithm: clc/clc.h. See the man page.
 */
#include <errno.h>
#include <getopt.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/correct/correct.h"
#include "util/util_alloc.h"
#include "util/util_version.h"

static const char usage[] =
    "usage: clv-correct IN.otf2 -o DIR [options]\n"
    "       clv-correct IN.otf2 --check [options]\n"
    "  -o DIR                 the corrected archive; must not exist\n"
    "  --check                report only; exit 3 if any message is violated\n"
    "  --clocks FILE          clocks that clv recorded, as JSON lines; repeatable\n"
    "  --presync KIND         auto, ends (only first and last clock offset), none      auto\n"
    "  --latency auto|A,B     least delays between and inside hosts, in ns             auto\n"
    "  --gamma G              how much of an interval is kept, 0 to 1                  0.99999\n"
    "  --slope S              how fast a shift may rise before a corrected receive     0.01\n"
    "  --clock-per WHAT       host or process: what has a clock of its own             host\n"
    "  --alltoallv dense      take alltoallv and alltoallw as if all send to all\n"
    "  --threads N            threads                                                  1\n"
    "  --memory MIB           keep events in a scratch file beyond so much             no limit\n"
    "  --json FILE            the report as JSON lines\n"
    "  --chrome FILE          the corrected regions for timeline viewers (Chrome JSON)\n"
    "  --truth NAME           judge by this attribute of events, true times in ns\n"
    "  --quiet                no table\n"
    "exit: 0; 1 this machine cannot; 2 wrong use or input; 3 --check found violations\n";

static int wrong_use(const char *text)
{
    fprintf(stderr, "clv-correct: %s\n%s", text, usage);
    return 0;
}

/* A number from text up to end; what follows is in *rest. */
static int number(const char *text, double least, double most, double *value, const char **rest)
{
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    *rest = end;
    return end != text && !errno && *value >= least && *value <= most;
}

static int set_latency(correct_options_t *options, const char *text)
{
    const char *rest;
    if (!strcmp(text, "auto")) {
        options->inter_ns = options->intra_ns = -1;
        return 1;
    }
    return (number(text, 0, 1e12, &options->inter_ns, &rest) && *rest == ',' &&
            number(rest + 1, 0, 1e12, &options->intra_ns, &rest) && !*rest) ||
           wrong_use("--latency takes auto or INTER,INTRA in ns");
}

static int set_number(const char *name, const char *text, double least, double most, double *value)
{
    char line[96];
    const char *rest;
    if (number(text, least, most, value, &rest) && !*rest) {
        return 1;
    }
    snprintf(line, sizeof line, "--%s takes a number from %g to %g", name, least, most);
    return wrong_use(line);
}

static int set_presync(correct_options_t *options, const char *text)
{
    options->only_ends = !strcmp(text, "ends");
    options->no_presync = !strcmp(text, "none");
    return options->only_ends || options->no_presync || !strcmp(text, "auto") ||
           wrong_use("--presync takes auto, ends or none");
}

static int add_clocks(correct_options_t *options, char *file)
{
    options->clocks[options->n_clocks++] = file;
    return 1;
}

enum {
    OPT_CHECK = 256,
    OPT_CLOCKS,
    OPT_PRESYNC,
    OPT_LATENCY,
    OPT_GAMMA,
    OPT_SLOPE,
    OPT_CLOCK_PER,
    OPT_ALLTOALLV,
    OPT_THREADS,
    OPT_MEMORY,
    OPT_JSON,
    OPT_CHROME,
    OPT_TRUTH,
    OPT_QUIET
};

static const struct option long_options[] = {{"check", no_argument, NULL, OPT_CHECK},
                                             {"clocks", required_argument, NULL, OPT_CLOCKS},
                                             {"presync", required_argument, NULL, OPT_PRESYNC},
                                             {"latency", required_argument, NULL, OPT_LATENCY},
                                             {"gamma", required_argument, NULL, OPT_GAMMA},
                                             {"slope", required_argument, NULL, OPT_SLOPE},
                                             {"clock-per", required_argument, NULL, OPT_CLOCK_PER},
                                             {"alltoallv", required_argument, NULL, OPT_ALLTOALLV},
                                             {"threads", required_argument, NULL, OPT_THREADS},
                                             {"memory", required_argument, NULL, OPT_MEMORY},
                                             {"json", required_argument, NULL, OPT_JSON},
                                             {"chrome", required_argument, NULL, OPT_CHROME},
                                             {"truth", required_argument, NULL, OPT_TRUTH},
                                             {"quiet", no_argument, NULL, OPT_QUIET},
                                             {"help", no_argument, NULL, 'h'},
                                             {NULL, 0, NULL, 0}};

/* Options whose text is taken as it is. Returns 0 if it is none of them. */
static int set_file(correct_options_t *options, int option, char *text)
{
    switch (option) {
    case 'o':
        options->output = text;
        return 1;
    case OPT_JSON:
        options->json = text;
        return 1;
    case OPT_CHROME:
        options->chrome = text;
        return 1;
    case OPT_TRUTH:
        options->truth = text;
        return 1;
    default:
        return 0;
    }
}

static int set_threads(correct_options_t *options, const char *text)
{
    double value = 0;
    const int is_good = set_number("threads", text, 1, 1024, &value);
    options->n_threads = (int) value;
    return is_good;
}

static int set_memory(correct_options_t *options, const char *text)
{
    double value = 0;
    const int is_good = set_number("memory", text, 16, 1e9, &value);
    options->memory_bytes = (int64_t) value << 20;
    return is_good;
}

static int set_option(correct_options_t *options, int option, char *text)
{
    switch (option) {
    case OPT_CHECK:
        options->is_check = 1;
        return 1;
    case OPT_CLOCKS:
        return add_clocks(options, text);
    case OPT_PRESYNC:
        return set_presync(options, text);
    case OPT_LATENCY:
        return set_latency(options, text);
    case OPT_GAMMA:
        return set_number("gamma", text, 0, 1, &options->gamma);
    case OPT_SLOPE:
        return set_number("slope", text, 1e-9, 1e9, &options->slope);
    case OPT_CLOCK_PER:
        options->is_line_per_process = !strcmp(text, "process");
        return options->is_line_per_process || !strcmp(text, "host") ||
               wrong_use("--clock-per takes host or process");
    case OPT_ALLTOALLV:
        options->has_dense_alltoallv = 1;
        return !strcmp(text, "dense") || wrong_use("--alltoallv takes dense");
    case OPT_THREADS:
        return set_threads(options, text);
    case OPT_MEMORY:
        return set_memory(options, text);
    case OPT_QUIET:
        options->is_quiet = 1;
        return 1;
    case 'h':
        fputs(usage, stdout);
        exit(0);
    default:
        return set_file(options, option, text) ||
               wrong_use("an option it does not have, or one without its value");
    }
}

static int parse(correct_options_t *options, int argc, char **argv)
{
    int option;
    *options = (correct_options_t){
        .n_threads = 1, .inter_ns = -1, .intra_ns = -1, .gamma = -1, .slope = CLV_CLC_SLOPE};
    options->clocks = clv_alloc((size_t) argc, sizeof *options->clocks);
    opterr = 0;
    while ((option = getopt_long(argc, argv, "o:h", long_options, NULL)) != -1) {
        if (!set_option(options, option, optarg)) {
            return 0;
        }
    }
    if (optind + 1 != argc) {
        return wrong_use("it takes one archive, NAME.otf2");
    }
    options->input = argv[optind];
    if (options->is_check == (options->output != NULL)) {
        return wrong_use("it takes either -o DIR or --check");
    }
    struct stat status;
    if (options->output && !lstat(options->output, &status)) {
        return correct_fail(CORRECT_EXIT_INPUT, "%s exists", options->output);
    }
    return 1;
}

/* ---- recorded clocks ---- */

static char *read_file(const char *path, size_t *n_bytes)
{
    FILE *file = fopen(path, "r");
    struct stat status;
    char *text = NULL;
    if (!file || fstat(fileno(file), &status) || !S_ISREG(status.st_mode)) {
        correct_fail(CORRECT_EXIT_INPUT, "%s: %s", path, errno ? strerror(errno) : "not a file");
    } else if (!(text = clv_alloc_unset((size_t) status.st_size + 1, 1))) {
        correct_fail(CORRECT_EXIT_MACHINE, "%s: out of memory", path);
    } else {
        *n_bytes = fread(text, 1, (size_t) status.st_size, file);
    }
    if (file) {
        fclose(file);
    }
    return text;
}

static int read_clocks(correct_t *correct)
{
    for (int i = 0; i < correct->options.n_clocks; i++) {
        const char *path = correct->options.clocks[i], *reason = "";
        size_t n_bytes = 0;
        int64_t line = 0;
        char *text = read_file(path, &n_bytes);
        if (!text) {
            return 0;
        }
        const clv_status_t status =
            clv_clc_records_read(&correct->records, text, n_bytes, &reason, &line);
        clv_free(text);
        if (status != CLV_OK) {
            return correct_fail(status == CLV_NO_MEMORY ? CORRECT_EXIT_MACHINE : CORRECT_EXIT_INPUT,
                                "%s, line %lld: %s", path, (long long) line, reason);
        }
    }
    if (correct->options.n_clocks > 0 && correct->records.n_sources == 0) {
        return correct_fail(CORRECT_EXIT_INPUT, "%s: no recorded clock in it",
                            correct->options.clocks[0]);
    }
    return 1;
}

/* ---- all ---- */

/* By OTF2's number of the operation, plus one. */
static uint8_t flavours[CLV_CLC_MAX_OPS] = {
    CLV_CLC_FREE,     /* messages */
    CLV_CLC_N_TO_N,   /* barrier */
    CLV_CLC_ONE_TO_N, /* bcast */
    CLV_CLC_N_TO_ONE, /* gather */
    CLV_CLC_N_TO_ONE, /* gatherv */
    CLV_CLC_ONE_TO_N, /* scatter */
    CLV_CLC_ONE_TO_N, /* scatterv */
    CLV_CLC_N_TO_N,   /* allgather */
    CLV_CLC_N_TO_N,   /* allgatherv */
    CLV_CLC_N_TO_N,   /* alltoall */
    CLV_CLC_FREE,     /* alltoallv: OTF2 has only totals, who sends to whom is not known */
    CLV_CLC_FREE,     /* alltoallw */
    CLV_CLC_N_TO_N,   /* allreduce */
    CLV_CLC_N_TO_ONE, /* reduce */
    CLV_CLC_N_TO_N,   /* reduce_scatter */
    CLV_CLC_SCAN,     /* scan */
    CLV_CLC_EXSCAN,   /* exscan */
    CLV_CLC_N_TO_N,   /* reduce_scatter_block */
    CLV_CLC_N_TO_N,   /* create */
    CLV_CLC_FREE,     /* free */
    CLV_CLC_N_TO_N,   /* allocate */
    CLV_CLC_FREE,     /* deallocate */
    CLV_CLC_N_TO_N,   /* create and allocate */
    CLV_CLC_FREE,     /* free and deallocate */
    CLV_CLC_FREE,     CLV_CLC_FREE, CLV_CLC_FREE, CLV_CLC_FREE,
    CLV_CLC_FREE,     CLV_CLC_FREE, CLV_CLC_FREE, CLV_CLC_FREE};

static int open_all(correct_t *correct)
{
    char folder[4096];
    const char *beside = correct->options.output ? correct->options.output : correct->options.input;
    snprintf(folder, sizeof folder, "%s", beside);
    if (correct->options.has_dense_alltoallv) {
        flavours[10] = flavours[11] = CLV_CLC_N_TO_N;
    }
    if (!correct_store_open(correct->options.memory_bytes, dirname(folder)) ||
        !read_clocks(correct) || !correct_read_definitions(correct)) {
        return 0;
    }
    correct->match =
        clv_clc_match_new(correct->archive.n_processes, correct->archive.n_comms, flavours);
    return correct->match ? 1 : correct_fail(CORRECT_EXIT_MACHINE, "out of memory");
}

static void close_all(correct_t *correct)
{
    for (uint32_t c = 0; c < correct->trace.n_teams; c++) {
        clv_free(correct->trace.teams[c].host);
        clv_free(correct->trace.teams[c].beside);
    }
    clv_free(correct->trace.teams);
    clv_free(correct->trace.tracks);
    clv_free(correct->trace.lines);
    clv_free(correct->track_of_line);
    clv_free(correct->maps);
    clv_free(correct->options.clocks);
    clv_clc_match_free(correct->match);
    clv_clc_records_free(&correct->records);
    correct_free_archive(&correct->archive);
    correct_store_close();
}

static int tell(correct_t *correct)
{
    if (!correct->options.is_quiet) {
        correct_report(correct, stdout);
    }
    return (!correct->options.json || correct_report_json(correct)) &&
           (!correct->options.chrome || correct_chrome(correct));
}

int main(int argc, char **argv)
{
    correct_t correct = {0};
    if (clv_tells_version("clv-correct", argc, argv)) {
        return 0;
    }
    correct_catch_otf2();
    if (!parse(&correct.options, argc, argv)) {
        if (correct_failed()) {
            fprintf(stderr, "clv-correct: %s\n", correct_failure());
        }
        clv_free(correct.options.clocks);
        return CORRECT_EXIT_INPUT;
    }
    int status = 0;
    if (!open_all(&correct) || !correct_run(&correct) || !tell(&correct)) {
        fprintf(stderr, "clv-correct: %s\n", correct_failure());
        status = correct_failed();
    } else if (correct.options.is_check && clv_clc_sum(correct.result.before).n_violated > 0) {
        status = CORRECT_EXIT_VIOLATED;
    }
    close_all(&correct);
    return status;
}
