/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-plan: makes the plan for an instance on standard input and prints it (clv-plan.1).
 *
 * Exit status: 0 done, 1 the plan is not what the file says (--check) or cannot be made, 2 the
 * command line or the input is wrong: one line with the line number and the reason.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/sched_print.h"
#include "schedule/sched_read.h"
#include "schedule/schedule.h"
#include "util/util_version.h"

enum { EXIT_USAGE = 2, MAX_INPUT_BYTES = 64 << 20 };

typedef struct request {
    const clv_generator_t *generator;
    const clv_format_t *format;
    int check;
    int given;
} request_t;

static void print_help(FILE *out)
{
    fprintf(out,
            "usage: clv-plan [--scheduler NAME | --given] [--format NAME] [--check] < instance\n\n"
            "schedulers:\n");
    for (const clv_generator_t *row = clv_generators; row->name != NULL; row++) {
        fprintf(out, "  %-24s %s\n", row->name, row->meaning);
    }
    fprintf(out, "\nformats:\n");
    for (const clv_format_t *row = clv_formats; row->name != NULL; row++) {
        fprintf(out, "  %-24s %s\n", row->name, row->meaning);
    }
    fprintf(out, "\n--given: do not make a plan, take the one that the input states\n"
                 "--check: validate the plan, and compare it with what the input says\n");
}

static int complain(const char *what, const char *value)
{
    fprintf(stderr, "clv-plan: %s '%s' (--help lists all)\n", what, value);
    return EXIT_USAGE;
}

/* 0, or the exit status. */
static int read_arguments(int argc, char **argv, request_t *request)
{
    for (int k = 1; k < argc; k++) {
        const char *value = k + 1 < argc ? argv[k + 1] : "";
        if (strcmp(argv[k], "--check") == 0) {
            request->check = 1;
        } else if (strcmp(argv[k], "--given") == 0) {
            request->given = 1;
        } else if (strcmp(argv[k], "--scheduler") == 0) {
            request->generator = clv_generator_find(value);
            if (request->generator == NULL) {
                return complain("no such scheduler", value);
            }
            k++;
        } else if (strcmp(argv[k], "--format") == 0) {
            request->format = clv_format_find(value);
            if (request->format == NULL) {
                return complain("no such format", value);
            }
            k++;
        } else {
            return complain("unknown argument", argv[k]);
        }
    }
    return 0;
}

/* All of standard input, or NULL with a message. */
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
        fprintf(stderr, "clv-plan: cannot read the input, or it is larger than 64 MiB\n");
        free(text);
        return NULL;
    }
    *n_bytes_p = n_bytes;
    return text;
}

/* Whether the plan is valid and what the file says. */
static int check_plan(const clv_plan_t *plan, const clv_parsed_t *parsed)
{
    char reason[160];
    if (clv_plan_validate(plan, reason, sizeof reason) != CLV_OK ||
        clv_plan_validate_arrivals(plan, &parsed->instance, reason, sizeof reason) != CLV_OK) {
        fprintf(stderr, "clv-plan: invalid plan: %s\n", reason);
        return 0;
    }
    if (parsed->n_sends >= 0 &&
        (parsed->n_sends != plan->n_sends || parsed->last_round != plan->n_rounds - 1)) {
        fprintf(stderr,
                "clv-plan: %" PRId64 " sends up to round %d, the input says %" PRId64
                " up to %" PRId64 "\n",
                plan->n_sends, (int) plan->n_rounds - 1, parsed->n_sends, parsed->last_round);
        return 0;
    }
    if (parsed->has_hash && parsed->hash != clv_plan_hash(plan)) {
        fprintf(stderr, "clv-plan: hash %016" PRIx64 ", the input says %016" PRIx64 "\n",
                clv_plan_hash(plan), parsed->hash);
        return 0;
    }
    return 1;
}

static int show_plan(const request_t *request, const clv_plan_t *plan, const clv_parsed_t *parsed)
{
    int ok = !request->check || check_plan(plan, parsed);
    if (ok) {
        request->format->print(stdout, plan, &parsed->instance);
        ok = fflush(stdout) == 0 && !ferror(stdout);
    }
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int run(const request_t *request, const clv_parsed_t *parsed)
{
    clv_plan_t *plan = NULL;
    if (request->given) {
        if (parsed->plan == NULL) {
            fprintf(stderr, "clv-plan: the input states no plan (a line 'schedule' and tuples)\n");
            return EXIT_USAGE;
        }
        return show_plan(request, parsed->plan, parsed);
    }
    clv_status_t status = clv_plan_make(request->generator, &parsed->instance, &plan);
    if (status != CLV_OK) {
        fprintf(stderr, "clv-plan: %s\n", clv_status_text(status));
        return EXIT_FAILURE;
    }
    int shown = show_plan(request, plan, parsed);
    clv_plan_free(plan);
    return shown;
}

int main(int argc, char **argv)
{
    request_t request = {clv_generators, clv_format_find("tuples"), 0, 0};
    clv_parse_error_t error;
    clv_parsed_t parsed;
    size_t n_bytes = 0;

    if (clv_tells_version("clv-plan", argc, argv)) {
        return EXIT_SUCCESS;
    }
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        print_help(stdout);
        return EXIT_SUCCESS;
    }
    int status = read_arguments(argc, argv, &request);
    if (status != 0) {
        return status;
    }
    char *text = read_input(&n_bytes);
    if (text == NULL) {
        return EXIT_USAGE;
    }
    status = EXIT_USAGE;
    if (clv_instance_parse(text, n_bytes, &parsed, &error) != CLV_OK) {
        fprintf(stderr, "clv-plan: line %lld: %s\n", (long long) error.line, error.reason);
    } else {
        status = run(&request, &parsed);
        clv_parsed_free(&parsed);
    }
    free(text);
    return status;
}
