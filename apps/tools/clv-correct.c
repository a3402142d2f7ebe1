/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-correct: corrects an OTF2 trace so that no message is received before it was sent, by
 * recorded clocks and the controlled logical clock with collectives, and reports its changes.
 *
 * Its parts: correct.h. The algorithm: apps/clc/clc.h. See the man page.
 */
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/cli/cli_file.h"
#include "apps/cli/cli_options.h"
#include "apps/tools/correct/correct_crew.h"
#include "apps/trace/trace_allprof.h"
#include "util/util_alloc.h"

static bool number(const char *text, double *value, const char **rest)
{
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    *rest = end;
    return end != text && !errno && *value >= 0 && *value <= 1e12;
}

static const char *take_latency(void *fields, const char *text)
{
    correct_options_t *options = fields;
    const char *rest;
    if (!strcmp(text, "auto")) {
        options->inter_ns = options->intra_ns = -1;
        return NULL;
    }
    return number(text, &options->inter_ns, &rest) && *rest == ',' &&
                   number(rest + 1, &options->intra_ns, &rest) && !*rest
               ? NULL
               : "auto or INTER,INTRA in ns";
}

static const char *take_presync(void *fields, const char *text)
{
    correct_options_t *options = fields;
    options->only_ends = !strcmp(text, "ends");
    options->no_presync = !strcmp(text, "none");
    options->has_no_refinement = strcmp(text, "auto") != 0;
    return options->only_ends || options->no_presync || !strcmp(text, "measured") ||
                   !strcmp(text, "auto")
               ? NULL
               : "auto, measured, ends or none";
}

static const char *take_clock_per(void *fields, const char *text)
{
    correct_options_t *options = fields;
    options->is_line_per_process = !strcmp(text, "process");
    return options->is_line_per_process || !strcmp(text, "host") ? NULL : "host or process";
}

static const char *take_alltoallv(void *fields, const char *text)
{
    ((correct_options_t *) fields)->has_dense_alltoallv = true;
    return strcmp(text, "dense") ? "dense" : NULL;
}

static const char *take_clocks(void *fields, const char *text)
{
    correct_options_t *options = fields;
    options->clocks[options->n_clocks++] = text;
    return NULL;
}

#define AT(field) offsetof(correct_options_t, field)
static const clv_option_t rows[] = {
    {.name = "output",
     .kind = CLV_OPTION_TEXT,
     .offset = AT(output),
     .letter = 'o',
     .value = "DIR",
     .meaning = "the corrected archive; must not exist"},
    CLV_ROW_FLAG("check", AT(is_check), "report only; exit 3 if any message is violated"),
    CLV_ROW_TAKE("clocks", take_clocks, "FILE", NULL,
                 "clocks that clv recorded: .clva, or JSON lines; repeatable"),
    CLV_ROW_TAKE("presync", take_presync, "KIND", "auto",
                 "auto, measured (what was recorded), ends (first and last clock offset), none"),
    CLV_ROW_TAKE("latency", take_latency, "A,B", "auto",
                 "minimum delays between hosts and inside a host, in ns"),
    CLV_ROW_REAL("gamma", AT(gamma), 0, 1, NULL,
                 "part of each interval to keep, 0 to 1; default 0.99999"),
    CLV_ROW_REAL("slope", AT(slope), 1e-9, 1e9, "0.01",
                 "how fast a shift may rise before a corrected receive"),
    CLV_ROW_TAKE("clock-per", take_clock_per, "WHAT", "host", "one clock per host or per process"),
    CLV_ROW_TAKE("alltoallv", take_alltoallv, "dense", NULL,
                 "treat alltoallv and alltoallw as if every rank sends to every other"),
    CLV_ROW_WHOLE32("threads", AT(n_threads), 1, 1024, "1", "threads"),
    CLV_ROW_WHOLE("memory", AT(memory_mib), 16, 1e9, NULL,
                  "keep events beyond N MiB in a scratch file"),
    CLV_ROW_TEXT("json", AT(json), "FILE", NULL, "the report as JSON lines"),
    CLV_ROW_TEXT("chrome", AT(chrome), "FILE", NULL,
                 "the corrected regions for timeline viewers (Chrome JSON)"),
    CLV_ROW_TEXT("truth", AT(truth), "NAME", NULL,
                 "judge by this attribute of events, which holds true times in ns"),
    CLV_ROW_FLAG("quiet", AT(is_quiet), "no table"),
    CLV_ROWS_END,
};

static void tell_exits(FILE *out)
{
    fputs("exit: 0 success; 1 not possible on this machine; 2 wrong use or input; 3 --check found "
          "violations\n",
          out);
}

static const clv_program_t program = {
    .name = "clv-correct",
    .usage = "clv-correct IN -o DIR [options]\n       clv-correct IN --check [options]\n"
             "IN: an archive, NAME.otf2, or a folder of text traces by liballprof",
    .options = rows,
    .more = tell_exits,
    .takes_operands = true,
};

/* Checks before hours of work whether a file or folder of that name can be created. Returns -1, or
 * the status. */
static int check_place(const char *path)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", path);
    const char *parent = dirname(folder);
    if (access(parent, W_OK | X_OK)) {
        fprintf(stderr, "clv-correct: cannot make %s: %s: %s\n", path, parent, strerror(errno));
        return CORRECT_EXIT_INPUT;
    }
    return -1;
}

static int check_file(const char *path)
{
    struct stat status;
    if (!path || !strcmp(path, "-")) {
        return -1;
    }
    if (stat(path, &status) && errno == ENOENT) {
        return check_place(path);
    }
    if (access(path, W_OK) || S_ISDIR(status.st_mode)) {
        fprintf(stderr, "clv-correct: %s: %s\n", path,
                access(path, W_OK) ? strerror(errno) : "is a folder");
        return CORRECT_EXIT_INPUT;
    }
    return -1;
}

/* DIR may end in slashes. */
static int check_output(correct_options_t *options)
{
    static char output[4000]; /* leaves room for a suffix */
    struct stat status;
    size_t n = strlen(options->output);
    while (n > 1 && options->output[n - 1] == '/') {
        n--;
    }
    if (n == 0 || n >= sizeof output) {
        return clv_options_wrong(&program, "-o must be the name of a folder");
    }
    memcpy(output, options->output, n);
    options->output = output;
    if (!lstat(output, &status)) {
        fprintf(stderr, "clv-correct: %s exists\n", output);
        return CORRECT_EXIT_INPUT;
    }
    return check_place(output);
}

/* Returns -1, or the exit status. */
static int parse(correct_options_t *options, int argc, char **argv)
{
    int first;
    *options = (correct_options_t){.gamma = -1};
    options->clocks = clv_alloc((size_t) argc, sizeof *options->clocks);
    const int answer = clv_options_main(&program, argc, argv, options, &first);
    if (answer >= 0) {
        return answer;
    }
    if (first + 1 != argc) {
        return clv_options_wrong(&program, "it takes one archive, NAME.otf2, or one folder");
    }
    options->input = options->shown = argv[first];
    if (options->is_check == (options->output != NULL)) {
        return clv_options_wrong(&program, "it takes either -o DIR or --check");
    }
    const int refused = options->output ? check_output(options) : -1;
    const int no_json = refused < 0 ? check_file(options->json) : refused;
    return no_json < 0 ? check_file(options->chrome) : no_json;
}

/* ---- recorded clocks ---- */

/* Reads JSON lines, or a file of the recorder. *line: 0 if it has no lines. */
static clv_status_t read_clocks_of(correct_t *correct, const char *text, size_t n_bytes,
                                   const char **reason, int64_t *line)
{
    char *lines = NULL;
    size_t n_line_bytes = 0;
    if (!correct_is_clva(text, n_bytes)) {
        return clv_clc_records_read(&correct->records, text, n_bytes, reason, line);
    }
    clv_status_t status = correct_clva_as_lines(text, n_bytes, &lines, &n_line_bytes, reason);
    if (status == CLV_OK) {
        status = clv_clc_records_read(&correct->records, lines, n_line_bytes, reason, line);
    }
    free(lines);
    return status;
}

static bool read_clocks(correct_t *correct)
{
    for (int i = 0; i < correct->options.n_clocks; i++) {
        const char *path = correct->options.clocks[i], *reason = "";
        size_t n_bytes = 0;
        int64_t line = 0;
        char *text = clv_file_read(path, &n_bytes, &reason);
        if (!text) {
            return correct_fail(CORRECT_EXIT_INPUT, "%s: %s", path, reason);
        }
        const clv_status_t status = read_clocks_of(correct, text, n_bytes, &reason, &line);
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
    return true;
}

/* ---- a trace by liballprof: clv-view makes an archive of it ---- */

/* That archive, in all processes; removed by the first one. */
static char converted[4096];

static void become_view(const char *folder)
{
    /* beside clv-correct; beside clv-correct-mpi in the build folder, and in the installation */
    static const char *const places[] = {"clv-view", "../clv-view", "../../bin/clv-view"};
    char *const argv[] = {"clv-view", "--export", "otf2", "-o", converted, (char *) folder, NULL};
    clv_become_beside(places, sizeof places / sizeof places[0], argv);
    fprintf(stderr, "clv-correct: cannot start clv-view: %s\n", strerror(errno));
    _exit(CORRECT_EXIT_MACHINE);
}

/* Beside the output, where other hosts' processes see it, too. */
static int convert(const correct_options_t *options)
{
    const char *temporary = getenv("TMPDIR");
    char beside[4000] = "/tmp";
    int status;
    if (options->output) {
        (void) snprintf(beside, sizeof beside, "%s", options->output);
        (void) snprintf(converted, sizeof converted, "%s/.clv-correct-XXXXXX", dirname(beside));
    } else {
        (void) snprintf(converted, sizeof converted, "%s/clv-correct-XXXXXX",
                        temporary && *temporary ? temporary : beside);
    }
    if (!mkdtemp(converted)) {
        fprintf(stderr, "clv-correct: cannot make %s: %s\n", converted, strerror(errno));
        converted[0] = '\0';
        return CORRECT_EXIT_MACHINE;
    }
    const pid_t view = fork();
    if (view == 0) {
        become_view(options->input);
    }
    return view < 0 || waitpid(view, &status, 0) != view || !WIFEXITED(status)
               ? CORRECT_EXIT_MACHINE
               : WEXITSTATUS(status);
}

/* Returns -1, or the exit status; clv-view has printed the reason. */
static int convert_for_all(correct_options_t *options)
{
    static char archive[sizeof converted + sizeof "/traces.otf2"];
    const bool is_first = correct_crew_is_first();
    int status = -1;
    if (is_first && clv_allprof_is_there(options->input)) {
        status = convert(options);
        status = status == 0 ? -1 : status;
    }
    status = correct_crew_status(status);
    correct_crew_tell(converted, sizeof converted);
    if (converted[0]) {
        (void) snprintf(archive, sizeof archive, "%s/traces.otf2", converted);
        options->input = archive;
    }
    return status;
}

static void remove_converted(void)
{
    if (converted[0] && correct_crew_is_first()) {
        correct_remove_folder(converted);
    }
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
    CLV_CLC_FREE,     /* alltoallv: OTF2 has only totals, not which rank sends to which */
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

static bool open_all(correct_t *correct)
{
    char folder[4096];
    const char *beside = correct->options.output ? correct->options.output : correct->options.input;
    snprintf(folder, sizeof folder, "%s", beside);
    if (correct->options.has_dense_alltoallv) {
        flavours[10] = flavours[11] = CLV_CLC_N_TO_N;
    }
    if (!correct_crew_agree(
            correct_store_open(correct->options.memory_mib << 20, dirname(folder)) &&
            read_clocks(correct) && correct_read_definitions(correct)) ||
        !correct_crew_share(correct)) {
        return false;
    }
    correct->match =
        clv_clc_match_new(correct->archive.n_processes, correct->archive.n_comms, flavours);
    return correct_crew_has(correct->match != NULL, "channels");
}

static void close_all(correct_t *correct)
{
    remove_converted();
    correct_crew_end(correct);
    for (uint32_t c = 0; c < correct->trace.n_teams; c++) {
        clv_free(correct->trace.teams[c].host);
        clv_free(correct->trace.teams[c].beside);
    }
    clv_free(correct->trace.teams);
    clv_free(correct->trace.tracks);
    clv_free(correct->trace.lines);
    clv_free(correct->track_of_line);
    correct_free_maps(correct);
    clv_free(correct->options.clocks);
    clv_free(correct->ends);
    clv_free(correct->left_out);
    clv_clc_match_free(correct->match);
    clv_clc_records_free(&correct->records);
    correct_free_archive(&correct->archive);
    correct_store_close();
}

static bool tell(correct_t *correct)
{
    const bool is_first = correct_crew_is_first();
    if (is_first) {
        correct_warn_of_shift(correct);
    }
    if (is_first && !correct->options.is_quiet &&
        (!correct->options.json || strcmp(correct->options.json, "-"))) {
        correct_report(correct, stdout);
    }
    return correct_crew_agree(!is_first || !correct->options.json ||
                              correct_report_json(correct)) &&
           (!correct->options.chrome || correct_chrome(correct));
}

int main(int argc, char **argv)
{
    correct_t correct = {.latency = {.known_inter = -1, .known_intra = -1}};
    correct_crew_begin(&argc, &argv);
    correct_catch_otf2();
    int status = correct_crew_status(parse(&correct.options, argc, argv));
    if (status < 0) {
        status = convert_for_all(&correct.options);
    }
    if (status >= 0) {
        remove_converted();
        clv_free(correct.options.clocks);
        correct_crew_end(&correct);
        return correct_crew_exit(status);
    }
    status = 0;
    if (!open_all(&correct) || !correct_run(&correct) || !tell(&correct)) {
        fprintf(stderr, "clv-correct: %s\n", correct_failure());
        status = correct_failed();
    } else if (correct.options.is_check && clv_clc_sum(correct.result.before).n_violated > 0) {
        status = CORRECT_EXIT_VIOLATED;
    }
    close_all(&correct);
    return correct_crew_exit(clv_output_end(&program, status));
}
