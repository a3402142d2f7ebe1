/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-plan: makes the plan for an instance on standard input and prints it (clv-plan.1).
 *
 * Exit status: 0 done, 1 the plan is not what the file says (--check) or cannot be made, 2 the
 * command line or the input is wrong: one line with the line number and the reason.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cli/cli_json.h"
#include "apps/cli/cli_options.h"
#include "apps/cli/cli_file.h"
#include "schedule/sched_goal.h"
#include "schedule/sched_print.h"
#include "schedule/sched_read.h"
#include "schedule/schedule.h"
#include "util/util_text.h"

enum { EXIT_USAGE = 2, MAX_INPUT_BYTES = 64 << 20 };

typedef struct request {
    const clv_generator_t *generator;
    const clv_format_t *format;
    bool check;
    bool given;
    const char *json;
} request_t;

static const char *take_scheduler(void *fields, const char *text)
{
    request_t *request = fields;
    request->generator = clv_generator_find(text);
    return request->generator != NULL ? NULL : "a scheduler (--help lists them)";
}

static const char *take_format(void *fields, const char *text)
{
    request_t *request = fields;
    request->format = clv_format_find(text);
    return request->format != NULL ? NULL : "a format (--help lists them)";
}

#define AT(field) offsetof(request_t, field)
static const clv_option_t options[] = {
    CLV_ROW_TAKE("scheduler", take_scheduler, "NAME", NULL,
                 "scheduler that makes the plan; default: the first below for the goal"),
    CLV_ROW_TAKE("format", take_format, "NAME", "tuples", "output format"),
    CLV_ROW_FLAG("given", AT(given), "take the plan in the input instead of making one"),
    CLV_ROW_FLAG("check", AT(check), "validate the plan and compare it with the input"),
    CLV_ROW_TEXT("json", AT(json), "FILE", NULL,
                 "append the plan as JSON lines; - is standard output"),
    CLV_ROWS_END,
};

static void list_words(FILE *out)
{
    fprintf(out, "schedulers:\n");
    for (const clv_generator_t *row = clv_generators; row->name != NULL; row++) {
        fprintf(out, "  %-24s %s\n", row->name, row->meaning);
    }
    fprintf(out, "\nformats:\n");
    for (const clv_format_t *row = clv_formats; row->name != NULL; row++) {
        fprintf(out, "  %-24s %s\n", row->name, row->meaning);
    }
    fprintf(out, "\nan instance, one key per line, in this order:\n"
                 "  P 4                      ranks\n"
                 "  N 4                      segments\n"
                 "  root 0\n"
                 "  d 1000000                length of a round in ns\n"
                 "  arrival 0 0 0 1100000    ns, one per rank\n"
                 "more keys: clv-plan(1)\n");
}

static const clv_program_t program = {
    .name = "clv-plan",
    .usage = "clv-plan [--scheduler NAME | --given] [--format NAME] [--check] < instance",
    .options = options,
    .more = list_words,
};

/* ---- which generator makes it ---- */

static bool has_goal(const clv_generator_t *row, clv_goal_t goal)
{
    return (row->goals >> goal & 1) != 0;
}

/* The first generator with the goal, or NULL. */
static const clv_generator_t *first_of_goal(clv_goal_t goal)
{
    const clv_generator_t *row = clv_generators;
    while (row->name != NULL && !has_goal(row, goal)) {
        row++;
    }
    return row->name != NULL ? row : NULL;
}

/* The requested generator, or the first with the goal; NULL with a message. */
static const clv_generator_t *choose(const clv_generator_t *asked, clv_goal_t goal)
{
    const clv_generator_t *first = first_of_goal(goal);
    if (first == NULL) {
        fprintf(stderr, "clv-plan: no scheduler makes plans of a %s; --given takes one\n",
                clv_goal_name(goal));
        return NULL;
    }
    if (asked != NULL && !has_goal(asked, goal)) {
        fprintf(stderr, "clv-plan: --scheduler %s makes no plans of a %s; %s does\n", asked->name,
                clv_goal_name(goal), first->name);
        return NULL;
    }
    return asked != NULL ? asked : first;
}

/* Generators that search every rank and segment in every round are for comparison. ns per rank,
 * rank and segment; if arrivals rise by rank, up to ten times that. */
#define SEARCH_NS 20.0
#define LONG_S    5.0

static void warn(const clv_generator_t *generator, const clv_instance_t *instance)
{
    static const char ending[] = "-linear";
    const size_t n = strlen(generator->name), n_ending = sizeof ending - 1;
    const double n_ranks = instance->n_ranks;
    const double long_s = 1e-9 * SEARCH_NS * n_ranks * n_ranks * instance->n_segments;
    if (long_s <= LONG_S || n < n_ending - 1 ||
        strcmp(generator->name + n - (n_ending - 1), ending + 1) != 0) {
        return;
    }
    fprintf(
        stderr,
        "clv-plan: %s takes %.0f s or more, up to ten times that, for %d ranks and %d segments; "
        "--scheduler %.*s makes the same plan in seconds\n",
        generator->name, long_s, (int) instance->n_ranks, (int) instance->n_segments,
        n > n_ending ? (int) (n - n_ending) : (int) strlen(clv_generators[0].name),
        n > n_ending ? generator->name : clv_generators[0].name);
}

static void tell_failure(clv_status_t status, const clv_instance_t *instance)
{
    const double n_sends = (double) instance->n_ranks * instance->n_segments;
    if (status == CLV_NO_MEMORY) {
        fprintf(stderr,
                "clv-plan: out of memory: %d ranks and %d segments make up to %.0f sends, %.0f MiB "
                "and more while they are made; take fewer segments (N)\n",
                (int) instance->n_ranks, (int) instance->n_segments, n_sends,
                ceil(sizeof(clv_send_t) * n_sends / 1048576));
    } else {
        fprintf(stderr, "clv-plan: %s\n", clv_status_text(status));
    }
}

/* Returns all of standard input, or NULL with a message. */
static char *read_input(size_t *n_bytes_p)
{
    size_t capacity = 1 << 16, n_bytes = 0;
    char *text = malloc(capacity);
    while (text != NULL) {
        n_bytes += fread(text + n_bytes, 1, capacity - n_bytes, stdin);
        if (n_bytes < capacity || capacity >= MAX_INPUT_BYTES) {
            break;
        }
        capacity *= 2;
        char *larger = realloc(text, capacity);
        if (larger == NULL) {
            free(text);
        }
        text = larger;
    }
    if (text == NULL || ferror(stdin) || n_bytes == capacity) {
        fprintf(stderr, "clv-plan: standard input: %s\n",
                text == NULL    ? "out of memory"
                : ferror(stdin) ? strerror(errno)
                                : "larger than 64 MiB");
        free(text);
        return NULL;
    }
    *n_bytes_p = n_bytes;
    return text;
}

/* Some editors begin a file with a byte-order mark. */
static size_t mark_bytes(const char *text, size_t n_bytes)
{
    static const char mark[] = "\xef\xbb\xbf";
    const size_t n = sizeof mark - 1;

    return n_bytes >= n && memcmp(text, mark, n) == 0 ? n : 0;
}

/* Whether the plan is valid and equals that of the file. */
static bool check_plan(const clv_plan_t *plan, const clv_parsed_t *parsed)
{
    char reason[160];
    if (clv_plan_validate(plan, reason, sizeof reason) != CLV_OK ||
        clv_plan_validate_arrivals(plan, &parsed->instance, reason, sizeof reason) != CLV_OK) {
        fprintf(stderr, "clv-plan: invalid plan: %s\n", reason);
        return false;
    }
    if (parsed->n_sends >= 0 &&
        (parsed->n_sends != plan->n_sends || parsed->last_round != plan->n_rounds - 1)) {
        fprintf(stderr,
                "clv-plan: %" PRId64 " sends up to round %d, the input says %" PRId64
                " up to %" PRId64 "\n",
                plan->n_sends, (int) plan->n_rounds - 1, parsed->n_sends, parsed->last_round);
        return false;
    }
    if (parsed->has_hash && parsed->hash != clv_plan_hash(plan)) {
        fprintf(stderr, "clv-plan: hash %016" PRIx64 ", the input says %016" PRIx64 "\n",
                clv_plan_hash(plan), parsed->hash);
        return false;
    }
    return true;
}

/* Writes one line for the plan, and one per send. */
static bool write_json(const request_t *request, const clv_plan_t *plan)
{
    FILE *out = clv_output_open(request->json);
    char hash[32], reason[256];
    if (out == NULL) {
        fprintf(stderr, "clv-plan: --json '%s': %s\n", request->json, strerror(errno));
        return false;
    }
    clv_json_t json = clv_json_begin(out, program.name, "plan");
    snprintf(hash, sizeof hash, "%016" PRIx64, clv_plan_hash(plan));
    clv_json_text(&json, "scheduler", request->given ? "given" : request->generator->name);
    clv_json_whole(&json, "ranks", plan->n_ranks);
    clv_json_whole(&json, "segments", plan->n_segments);
    clv_json_whole(&json, "rounds", plan->n_rounds);
    clv_json_whole(&json, "sends", plan->n_sends);
    clv_json_text(&json, "fnv1a64", hash);
    clv_json_end(&json);
    for (int64_t k = 0; k < plan->n_sends; k++) {
        json = clv_json_begin(out, program.name, "send");
        clv_json_whole(&json, "round", plan->sends[k].round);
        clv_json_whole(&json, "sender", plan->sends[k].sender);
        clv_json_whole(&json, "receiver", plan->sends[k].receiver);
        clv_json_whole(&json, "segment", plan->sends[k].segment);
        clv_json_flag(&json, "is_copy", plan->sends[k].kind == CLV_COPY);
        clv_json_end(&json);
    }
    if (clv_output_close(out, request->json, reason, sizeof reason) != CLV_OK) {
        fprintf(stderr, "clv-plan: %s\n", reason);
        return false;
    }
    return true;
}

static int show_plan(const request_t *request, const clv_plan_t *plan, const clv_parsed_t *parsed)
{
    bool ok = !request->check || check_plan(plan, parsed);
    if (ok && request->json != NULL) {
        ok = write_json(request, plan);
    }
    if (ok && (request->json == NULL || strcmp(request->json, "-") != 0)) {
        request->format->print(stdout, plan, &parsed->instance);
    }
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int run(request_t *request, const clv_parsed_t *parsed)
{
    clv_plan_t *plan = NULL;
    if (request->given) {
        if (parsed->plan == NULL) {
            fprintf(stderr, "clv-plan: the input states no plan (a line 'schedule' and tuples)\n");
            return EXIT_USAGE;
        }
        return show_plan(request, parsed->plan, parsed);
    }
    request->generator = choose(request->generator, parsed->instance.goal);
    if (request->generator == NULL) {
        return EXIT_FAILURE;
    }
    warn(request->generator, &parsed->instance);
    clv_status_t status = clv_plan_make(request->generator, &parsed->instance, &plan);
    if (status != CLV_OK) {
        tell_failure(status, &parsed->instance);
        return EXIT_FAILURE;
    }
    int shown = show_plan(request, plan, parsed);
    clv_plan_free(plan);
    return shown;
}

int main(int argc, char **argv)
{
    request_t request = {0};
    clv_parse_error_t error;
    clv_parsed_t parsed;
    size_t n_bytes = 0;

    int status = clv_options_main(&program, argc, argv, &request, NULL);
    if (status >= 0) {
        return status;
    }
    char *text = read_input(&n_bytes);
    if (text == NULL) {
        return EXIT_USAGE;
    }
    status = EXIT_USAGE;
    const size_t n_mark = mark_bytes(text, n_bytes);
    if (clv_instance_parse(text + n_mark, n_bytes - n_mark, &parsed, &error) != CLV_OK) {
        clv_text_make_plain(error.reason);
        fprintf(stderr, "clv-plan: line %lld: %s\n", (long long) error.line, error.reason);
    } else {
        status = run(&request, &parsed);
        clv_parsed_free(&parsed);
    }
    free(text);
    return clv_output_end(&program, status);
}
