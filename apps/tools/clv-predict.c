/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-predict: replays arrival traces through the predictors and prints each one's error. Also
 * makes traces of known patterns from a seed. See clv-predict.1.
 *
 * Every call of a trace counts as sampled, as in a program with milliseconds between reduces. The
 * predictors are the component's own; only the network is missing.
 * Exit: 0, 1 no memory, 2 bad arguments or a malformed trace.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cli/cli_json.h"
#include "apps/cli/cli_options.h"
#include "apps/cli/cli_file.h"
#include "pap_predict/predict/pap_history.h"
#include "apps/trace/trace_allprof.h"
#include "apps/trace/trace_make.h"
#include "util/util_alloc.h"
#include "util/util_text.h"
#include "util/util_time.h"

typedef struct options {
    int32_t window;
    bool csv;
    const char *json;
    FILE *json_file;
    const char *pattern; /* to generate */
    const char *coupling;
    int32_t n_ranks;
    int32_t n_calls;
    double delay_ms;
    double jitter;
    int64_t seed;
} options_t;

/* Over the calls predicted before they began. */
typedef struct score {
    int32_t n_ranks;
    int64_t n;       /* predicted calls */
    int64_t rms_ns;  /* of errors relative to each call's mean */
    int64_t mean_ns; /* mean absolute */
    int64_t worst_ns;
    int64_t sigma_ns;    /* rms of the deviations that the forecasts gave */
    int64_t n_surprises; /* calls with an error above 4 sigma */
} score_t;

/* ---- one trace, one predictor ---------------------------------------------------------------- */

static void fill_records(const clv_trace_t *trace, int32_t call, clv_pap_record_t *records)
{
    size_t row = (size_t) call * (size_t) trace->n_ranks;
    for (int32_t rank = 0; rank < trace->n_ranks; rank++) {
        size_t cell = row + (size_t) rank;
        records[rank] = (clv_pap_record_t){.arrival_ns = trace->arrival_ns[cell]};
        if (call > 0) {
            cell -= (size_t) trace->n_ranks;
            records[rank].previous_arrival_ns = trace->arrival_ns[cell];
            records[rank].previous_exit_ns = trace->exit_ns[cell];
            records[rank].flags = CLV_PAP_RECORD_PREVIOUS;
        }
    }
}

/* errors[rank]: actual - predicted, relative to the call's mean. */
static void find_errors(const clv_trace_t *trace, int32_t call, const int64_t *predicted_ns,
                        int64_t *errors)
{
    const int64_t *arrival_ns = trace->arrival_ns + (size_t) call * (size_t) trace->n_ranks;
    int64_t mean = 0;
    for (int32_t rank = 0; rank < trace->n_ranks; rank++) {
        errors[rank] = arrival_ns[rank] - arrival_ns[0] - predicted_ns[rank];
        mean += errors[rank];
    }
    for (int32_t rank = 0; rank < trace->n_ranks; rank++) {
        errors[rank] -= mean / trace->n_ranks;
    }
}

static void add_call(score_t *score, const int64_t *errors, int32_t n_ranks, int64_t sigma_ns,
                     int64_t *rms_of_call)
{
    int64_t worst_ns = 0;
    int64_t sum_ns = 0;
    for (int32_t rank = 0; rank < n_ranks; rank++) {
        int64_t size_ns = errors[rank] < 0 ? -errors[rank] : errors[rank];
        worst_ns = size_ns > worst_ns ? size_ns : worst_ns;
        sum_ns += size_ns;
    }
    score->mean_ns += sum_ns / n_ranks;
    score->worst_ns = worst_ns > score->worst_ns ? worst_ns : score->worst_ns;
    score->n_surprises += worst_ns > 4 * sigma_ns;
    score->n++;
    *rms_of_call = clv_pap_rms(errors, n_ranks);
}

typedef struct scratch {
    clv_pap_record_t *records;
    int64_t *predicted_ns;
    int64_t *errors;
    int64_t *rms_ns;   /* by call */
    int64_t *sigma_ns; /* by call */
} scratch_t;

static void replay(const clv_trace_t *trace, clv_pap_history_t *history, scratch_t *scratch,
                   score_t *score)
{
    clv_pap_forecast_t forecast = {0};
    *score = (score_t){.n_ranks = trace->n_ranks};
    for (int32_t call = 0; call < trace->n_calls; call++) {
        if (forecast.n_record_sets > 0) {
            int64_t n = score->n;
            find_errors(trace, call, scratch->predicted_ns, scratch->errors);
            scratch->sigma_ns[n] = forecast.sigma_ns;
            add_call(score, scratch->errors, trace->n_ranks, forecast.sigma_ns,
                     &scratch->rms_ns[n]);
        }
        fill_records(trace, call, scratch->records);
        clv_pap_record_set_t set = {
            .n_ranks = trace->n_ranks, .sequence = call, .records = scratch->records};
        clv_pap_history_feed(history, &set, &forecast, scratch->predicted_ns);
    }
    score->rms_ns = clv_pap_rms(scratch->rms_ns, (int32_t) score->n);
    score->sigma_ns = clv_pap_rms(scratch->sigma_ns, (int32_t) score->n);
    score->mean_ns /= score->n > 0 ? score->n : 1;
}

static void free_scratch(scratch_t *scratch)
{
    clv_free(scratch->records);
    clv_free(scratch->predicted_ns);
    clv_free(scratch->errors);
    clv_free(scratch->rms_ns);
    clv_free(scratch->sigma_ns);
}

static clv_status_t make_scratch(const clv_trace_t *trace, scratch_t *scratch)
{
    size_t n_ranks = (size_t) trace->n_ranks;
    size_t n_calls = (size_t) trace->n_calls;
    *scratch =
        (scratch_t){clv_alloc(n_ranks, sizeof(clv_pap_record_t)),
                    clv_alloc(n_ranks, sizeof(int64_t)), clv_alloc(n_ranks, sizeof(int64_t)),
                    clv_alloc(n_calls, sizeof(int64_t)), clv_alloc(n_calls, sizeof(int64_t))};
    if (scratch->records == NULL || scratch->predicted_ns == NULL || scratch->errors == NULL ||
        scratch->rms_ns == NULL || scratch->sigma_ns == NULL) {
        free_scratch(scratch);
        return CLV_NO_MEMORY;
    }
    return CLV_OK;
}

static clv_status_t score_trace(const clv_trace_t *trace, int32_t window,
                                clv_pap_predictor_t predictor, score_t *score)
{
    scratch_t scratch;
    clv_pap_history_t *history;
    clv_status_t status = make_scratch(trace, &scratch);
    if (status != CLV_OK) {
        return status;
    }
    status = clv_pap_history_create(trace->n_ranks, window, predictor, &history);
    if (status == CLV_OK) {
        clv_pap_history_take_all_calls(history);
        replay(trace, history, &scratch, score);
        clv_pap_history_free(history);
    }
    free_scratch(&scratch);
    return status;
}

/* ---- printing -------------------------------------------------------------------------------- */

static void write_json(const options_t *options, const char *trace, const char *name,
                       const score_t *score)
{
    clv_json_t json = clv_json_begin(options->json_file, "clv-predict", "prediction");
    clv_json_text(&json, "trace", trace);
    clv_json_text(&json, "predictor", name);
    clv_json_whole(&json, "window", options->window);
    clv_json_whole(&json, "ranks", score->n_ranks);
    clv_json_whole(&json, "calls", score->n);
    clv_json_whole(&json, "rms_ns", score->rms_ns);
    clv_json_whole(&json, "mean_ns", score->mean_ns);
    clv_json_whole(&json, "worst_ns", score->worst_ns);
    clv_json_whole(&json, "sigma_ns", score->sigma_ns);
    clv_json_whole(&json, "surprises", score->n_surprises);
    clv_json_end(&json);
}

/* Quoted if CSV requires it. */
static void print_csv_name(const char *name)
{
    if (name[strcspn(name, ",\"\r\n")] == '\0') {
        fputs(name, stdout);
        return;
    }
    putchar('"');
    for (; *name != '\0'; name++) {
        fputs(*name == '"' ? "\"" : "", stdout);
        putchar(*name);
    }
    putchar('"');
}

/* Only once, and only where there is something below it or nothing is wrong. */
static void print_head(const options_t *options)
{
    static bool is_printed;

    if (is_printed || options->json_file == stdout) {
        return;
    }
    is_printed = true;
    if (options->csv) {
        printf("trace,predictor,calls,rms_us,mean_us,worst_us,sigma_us,surprises\n");
    } else {
        printf("errors in us, relative to each call's mean; window %d\n", options->window);
        printf("%-22s %-9s %6s %10s %10s %10s %10s %6s\n", "trace", "predictor", "calls", "rms",
               "mean", "worst", "sigma", ">4sig");
    }
}

static void print_score(const options_t *options, const char *trace_name, const char *name,
                        const score_t *score)
{
    if (options->json_file != NULL) {
        write_json(options, trace_name, name, score);
    }
    if (options->json_file == stdout) {
        return;
    }
    print_head(options);
    char plain[256];
    (void) snprintf(plain, sizeof plain, "%s", trace_name);
    clv_text_make_plain(plain);
    if (options->csv) {
        print_csv_name(plain);
    } else {
        printf("%-22s", plain);
    }
    const char *format = options->csv ? ",%s,%lld,%.1f,%.1f,%.1f,%.1f,%lld\n"
                                      : " %-9s %6lld %10.1f %10.1f %10.1f %10.1f %6lld\n";
    printf(format, name, (long long) score->n, (double) score->rms_ns / 1e3,
           (double) score->mean_ns / 1e3, (double) score->worst_ns / 1e3,
           (double) score->sigma_ns / 1e3, (long long) score->n_surprises);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* ---- files ----------------------------------------------------------------------------------- */

static int read_trace(const char *path, clv_trace_t *trace)
{
    int line = 0;
    const char *reason = NULL;
    FILE *file = strcmp(path, "-") == 0 ? stdin : clv_trace_open(path, &reason);
    if (file == NULL) {
        fprintf(stderr, "clv-predict: %s: %s\n", path, reason);
        return 2;
    }
    reason = NULL;
    clv_status_t status = clv_trace_read(file, trace, &line, &reason);
    const int error = errno;
    if (file != stdin) {
        fclose(file);
    }
    if (status == CLV_PROTOCOL) {
        fprintf(stderr, "clv-predict: %s, line %d: %s\n", path, line, reason);
        return 2;
    }
    if (status == CLV_SYSTEM) {
        fprintf(stderr, "clv-predict: %s: %s\n", path, strerror(error));
        return 2;
    }
    if (status != CLV_OK) {
        fprintf(stderr, "clv-predict: %s: %s\n", path, clv_status_text(status));
        return 1;
    }
    return 0;
}

static int judge_trace(const options_t *options, const clv_trace_t *trace, const char *name)
{
    for (int i = 0; i < CLV_PAP_N_PREDICTORS; i++) {
        score_t score = {0};
        if (score_trace(trace, options->window, (clv_pap_predictor_t) i, &score) != CLV_OK) {
            fprintf(stderr, "clv-predict: out of memory\n");
            return 1;
        }
        print_score(options, name, clv_pap_predictors[i].name, &score);
    }
    return 0;
}

static int64_t count_calls(const clv_allprof_rank_t *rank, int32_t op)
{
    int64_t n = 0;

    for (int64_t i = 0; i < rank->n_calls; i++) {
        n += rank->calls[i].op == op;
    }
    return n;
}

/* Takes the calls of one operation from a liballprof trace, of any size; all ranks have equally
 * many. */
static clv_status_t take_operation(const clv_allprof_t *from, int32_t op, clv_trace_t *trace)
{
    const int64_t n_calls = count_calls(&from->ranks[0], op);
    clv_status_t status = CLV_OK;

    *trace = (clv_trace_t){.n_ranks = from->n_ranks};
    if (n_calls > 0) {
        status = n_calls > clv_trace_max_calls(from->n_ranks)
                     ? CLV_LIMIT
                     : clv_trace_reserve(trace, (int32_t) n_calls);
    }
    for (int32_t r = 0; r < from->n_ranks && status == CLV_OK; r++) {
        const clv_allprof_rank_t *rank = &from->ranks[r];
        trace->n_calls = 0;
        for (int64_t i = 0; i < rank->n_calls; i++) {
            if (rank->calls[i].op == op) {
                const int32_t n = trace->n_calls++;
                clv_trace_arrivals(trace, n)[r] = clv_allprof_global(rank, rank->calls[i].begin_ns);
                clv_trace_exits(trace, n)[r] = clv_allprof_global(rank, rank->calls[i].end_ns);
            }
        }
    }
    return status;
}

static int judge_operation(const options_t *options, const clv_allprof_t *from, int32_t op)
{
    clv_trace_t trace;
    int result = 0;

    const clv_status_t status = take_operation(from, op, &trace);
    if (status != CLV_OK) {
        fprintf(stderr, "clv-predict: %s: %s\n", clv_allprof_ops[op].name, clv_status_text(status));
        result = status == CLV_NO_MEMORY ? 1 : 2;
    } else if (trace.n_calls > 1) {
        result = judge_trace(options, &trace, clv_allprof_ops[op].name);
    }
    clv_trace_clear(&trace);
    return result;
}

static int judge_folder(const options_t *options, const char *path)
{
    clv_allprof_t from;
    char reason[1200];
    const clv_status_t status = clv_allprof_read(path, &from, reason, sizeof reason);
    int result = status == CLV_OK ? 0 : status == CLV_NO_MEMORY ? 1 : 2;

    if (status != CLV_OK) {
        fprintf(stderr, "clv-predict: %s\n", reason);
    }
    if (status == CLV_OK && from.n_other_comms > 0) {
        fprintf(stderr, "clv-predict: %lld call%s of smaller communicators %s left out\n",
                (long long) from.n_other_comms, clv_text_s(from.n_other_comms),
                from.n_other_comms == 1 ? "is" : "are");
    }
    for (int32_t op = 0; op < CLV_ALLPROF_N_OPS && result == 0; op++) {
        result = judge_operation(options, &from, op);
    }
    clv_allprof_free(&from);
    return result;
}

static int judge_file(const options_t *options, const char *path)
{
    clv_trace_t trace;

    if (clv_allprof_is_there(path)) {
        return judge_folder(options, path);
    }
    int result = read_trace(path, &trace);
    if (result == 0) {
        result = judge_trace(options, &trace, base_name(path));
        clv_trace_clear(&trace);
    }
    return result;
}

static int print_trace(const options_t *options, const clv_trace_t *trace)
{
    printf("# clv-predict --make %s --ranks %d --calls %d --delay %g --jitter %g --couple %s "
           "--seed %lld\n",
           options->pattern, options->n_ranks, options->n_calls, options->delay_ms, options->jitter,
           options->coupling, (long long) options->seed);
    if (clv_trace_write(stdout, trace) != CLV_OK) {
        perror("clv-predict: standard output");
        return 1;
    }
    return 0;
}

static int make_trace(const options_t *options)
{
    char reason[256] = "no such coupling (--help lists them)";
    clv_trace_coupling_t coupling = CLV_TRACE_COUPLE_BARRIER;
    clv_trace_t trace;
    clv_pattern_t pattern = {.n_ranks = options->n_ranks,
                             .amount_ns = (int64_t) (options->delay_ms * CLV_NS_PER_MS),
                             .jitter = options->jitter,
                             .change_at = options->n_calls / 2,
                             .seed = (uint64_t) options->seed};
    if (clv_trace_coupling_parse(options->coupling, &coupling) != CLV_OK ||
        clv_pattern_parse(options->pattern, &pattern, reason, sizeof reason) != CLV_OK) {
        fprintf(stderr, "clv-predict: %s\n", reason);
        return 2;
    }
    clv_status_t status = clv_trace_make(&pattern, coupling, options->n_calls, &trace);
    clv_pattern_free(&pattern);
    if (status == CLV_LIMIT) {
        fprintf(stderr, "clv-predict: --calls must be at most %d with %d ranks\n",
                (int) clv_trace_max_calls(options->n_ranks), (int) options->n_ranks);
        return 2;
    }
    if (status != CLV_OK) {
        fprintf(stderr, "clv-predict: --make %s: %s\n", options->pattern, clv_status_text(status));
        return status == CLV_NO_MEMORY ? 1 : 2;
    }
    int result = print_trace(options, &trace);
    clv_trace_clear(&trace);
    return result;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static void list_words(FILE *file)
{
    fprintf(file, "predictors:\n");
    for (int i = 0; i < CLV_PAP_N_PREDICTORS; i++) {
        fprintf(file, "  %-12s %s\n", clv_pap_predictors[i].name, clv_pap_predictors[i].meaning);
    }
    fprintf(file, "patterns:\n");
    for (const clv_pattern_kind_t *kind = clv_pattern_kinds; kind->name != NULL; kind++) {
        fprintf(file, "  %-12s %s\n", kind->name, kind->meaning);
    }
    fprintf(file, "couple:\n");
#define CLV_TRACE_COUPLING(name, word, meaning) fprintf(file, "  %-12s %s\n", word, meaning);
    CLV_TRACE_COUPLINGS(CLV_TRACE_COUPLING)
#undef CLV_TRACE_COUPLING
}

#define AT(field) offsetof(options_t, field)
static const clv_option_t rows[] = {
    CLV_ROW_WHOLE32("window", AT(window), 1, CLV_PAP_MAX_WINDOW, "8", "calls that predictors see"),
    CLV_ROW_FLAG("csv", AT(csv), "comma separated, for programs"),
    CLV_ROW_TEXT("json", AT(json), "FILE", NULL,
                 "append a line per trace and predictor; - is standard output"),
    CLV_ROW_TEXT("make", AT(pattern), "PATTERN", NULL, "print a trace of this pattern instead"),
    CLV_ROW_WHOLE32("ranks", AT(n_ranks), 1, CLV_TRACE_MAX_RANKS, "12", "ranks of that trace"),
    CLV_ROW_WHOLE32("calls", AT(n_calls), 1, CLV_TRACE_MAX_CALLS, "48", "calls of that trace"),
    CLV_ROW_REAL("delay", AT(delay_ms), 0, 1e6, "50", "largest delay of that trace, ms"),
    CLV_ROW_REAL("jitter", AT(jitter), 0, 1, "0.01",
                 "jitter of lasting patterns, as a fraction of the delay"),
    CLV_ROW_TEXT("couple", AT(coupling), "HOW", "barrier", "how ranks synchronise between calls"),
    CLV_ROW_WHOLE("seed", AT(seed), 0, 9e15, "1", "seed of the random numbers"),
    CLV_ROWS_END,
};

static const clv_program_t program = {
    .name = "clv-predict",
    .usage = "clv-predict [--window N] [--csv] [--json FILE] TRACE...\n"
             "       clv-predict --make PATTERN [options]",
    .options = rows,
    .more = list_words,
    .takes_operands = true,
};

static int judge_files(options_t *options, char **files)
{
    char reason[256];
    int result = 0;
    if (options->json != NULL) {
        options->json_file = clv_output_open(options->json);
        if (options->json_file == NULL) {
            fprintf(stderr, "clv-predict: --json '%s': %s\n", options->json, strerror(errno));
            return 2;
        }
    }
    for (; *files != NULL && result == 0; files++) {
        result = judge_file(options, *files);
    }
    if (result == 0) {
        print_head(options);
    }
    if (options->json_file != NULL &&
        clv_output_close(options->json_file, options->json, reason, sizeof reason) != CLV_OK) {
        fprintf(stderr, "clv-predict: %s\n", reason);
        result = 1;
    }
    return result;
}

int main(int argc, char **argv)
{
    options_t options = {0};
    int first;
    const int status = clv_options_main(&program, argc, argv, &options, &first);
    if (status >= 0) {
        return status;
    }
    if (options.pattern != NULL && (options.csv || options.json != NULL)) {
        return clv_options_wrong(&program, "--make prints a trace: no --csv, no --json");
    }
    if (options.pattern != NULL) {
        return first == argc ? make_trace(&options)
                             : clv_options_wrong(&program, "--make takes no traces");
    }
    return first == argc ? clv_options_wrong(&program, "it takes traces, or --make (--help)")
                         : clv_output_end(&program, judge_files(&options, argv + first));
}
