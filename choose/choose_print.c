/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A forecast and a plan as text (see choose_print.h).
 */
#include "choose/choose_print.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define MS(ns) ((double) (ns) / 1e6)

typedef struct printer {
    clv_choose_print_line_t print;
    void *context;
} printer_t;

__attribute__((format(printf, 2, 3))) static void say(const printer_t *to, const char *format, ...)
{
    char line[256];
    va_list arguments;

    va_start(arguments, format);
    (void) vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    to->print(to->context, line);
}

/* ---- what is not taken ----------------------------------------------------------------------- */

typedef struct text {
    char *at;
    size_t size, used;
} text_t;

__attribute__((format(printf, 2, 3))) static void add(text_t *text, const char *format, ...)
{
    va_list arguments;
    int n;

    va_start(arguments, format);
    n = vsnprintf(text->at + text->used, text->size - text->used, format, arguments);
    va_end(arguments);
    text->used =
        n > 0 && (size_t) n < text->size - text->used ? text->used + (size_t) n : text->size - 1;
}

static void add_bytes(text_t *text, int64_t n_bytes)
{
    if (n_bytes >= 1 << 20 && n_bytes % (1 << 20) == 0) {
        add(text, "%" PRId64 " MiB", n_bytes >> 20);
    } else if (n_bytes >= 1 << 10 && n_bytes % (1 << 10) == 0) {
        add(text, "%" PRId64 " KiB", n_bytes >> 10);
    } else {
        add(text, "%" PRId64 " bytes", n_bytes);
    }
}

/* The next collective from this one on that has calls; CLV_N_COLLECTIVES: none. */
static int next_called(const int64_t n_calls[CLV_N_COLLECTIVES], int from)
{
    while (from < CLV_N_COLLECTIVES && n_calls[from] == 0) {
        from++;
    }
    return from;
}

void clv_choose_print_not_taken(char *text, size_t size, const clv_choose_config_t *config,
                                const int64_t n_calls[CLV_N_COLLECTIVES])
{
    text_t line = {.at = text, .size = size};
    char names[64];
    int c = next_called(n_calls, 0);

    text[0] = '\0';
    if (c == CLV_N_COLLECTIVES) {
        return;
    }
    while (c < CLV_N_COLLECTIVES) {
        const int next = next_called(n_calls, c + 1);
        const int64_t from_bytes = clv_choose_min_bytes(config, c);

        add(&line, "%" PRId64 " %s%s", n_calls[c], clv_collective_name(c),
            n_calls[c] == 1 ? "" : "s");
        if (next == CLV_N_COLLECTIVES || clv_choose_min_bytes(config, next) != from_bytes) {
            add(&line, " of ");
            add_bytes(&line, from_bytes);
            add(&line, " or more");
        }
        add(&line, next == CLV_N_COLLECTIVES ? " not taken" : " and ");
        c = next;
    }
    clv_collectives_print(names, sizeof names, (uint32_t) config->collectives);
    add(&line, ": coll_clv_collectives is %s", names);
}

void clv_choose_print_left_alone(char *text, size_t size, int64_t n_many_ranks, int64_t n_displaced)
{
    text_t line = {.at = text, .size = size};
    const bool takes_turns = n_displaced > CLV_PAP_MAX_STREAMS;

    text[0] = '\0';
    if (n_many_ranks > 0) {
        add(&line, "left alone: %" PRId64 " call%s on communicators of more than %d ranks",
            n_many_ranks, n_many_ranks == 1 ? "" : "s", CLV_SCHED_MAX_RANKS);
    }
    if (takes_turns) {
        add(&line,
            "%s more than %d kinds of calls (collective, bytes by powers of two) took turns on a "
            "communicator: not predicted %" PRId64 " times; coll_clv_reduce_min_bytes leaves out "
            "small ones",
            n_many_ranks > 0 ? ";" : "left alone:", CLV_PAP_MAX_STREAMS, n_displaced);
    }
}

/* ---- forecasts and plans --------------------------------------------------------------------- */

static void print_decision(const printer_t *to, const clv_choose_decision_t *decision)
{
    const char *reason = clv_reason_text(decision->reason);

    if (decision->algorithm == CLV_ALGORITHM_PREVIOUS) {
        say(to, "  so %s: %s", clv_algorithm_word(decision->algorithm), reason);
        return;
    }
    say(to, "  so %s in %" PRId32 " segments of %.3f ms, to end %.3f ms after the last arrival: %s",
        clv_algorithm_word(decision->algorithm), decision->n_segments, MS(decision->round_ns),
        MS(decision->predicted_after_ns), reason);
}

/* The latest rank after `before`: one that is earlier, or as late with a higher number. */
static int32_t next_latest(const clv_pap_forecast_t *forecast, int32_t before)
{
    const int64_t *late_ns = forecast->predicted_ns;
    int32_t best = -1;

    for (int32_t p = 0; p < forecast->n_ranks; p++) {
        bool is_after = before < 0 || late_ns[p] < late_ns[before] ||
                        (p > before && late_ns[p] == late_ns[before]);
        if (is_after && (best < 0 || late_ns[p] > late_ns[best])) {
            best = p;
        }
    }
    return best;
}

static void print_ranks(const printer_t *to, const clv_pap_forecast_t *forecast)
{
    int32_t rank = -1;
    int32_t n = 0;

    for (; n < forecast->n_ranks && n < CLV_CHOOSE_PRINT_RANKS; n++) {
        rank = next_latest(forecast, rank);
        say(to, "  rank %" PRId32 " late by %.3f ms", rank, MS(forecast->predicted_ns[rank]));
    }
    if (n < forecast->n_ranks) {
        say(to, "  and %" PRId32 " ranks earlier than these", forecast->n_ranks - n);
    }
}

/* How the arrivals of a forecast were predicted. */
static const char *source_of(const clv_pap_forecast_t *forecast)
{
    static const char *const sources[] = {
#define PREDICTOR_SOURCE(stem, all_columns, meaning) "predicted by " #stem,
        CLV_PAP_PREDICTOR_MAP(PREDICTOR_SOURCE)
#undef PREDICTOR_SOURCE
    };

    if (forecast->announced) {
        return "announced";
    }
    return forecast->predictor < 0 || forecast->predictor >= CLV_PAP_N_PREDICTORS
               ? "not predicted"
               : sources[forecast->predictor];
}

/* Summary line. A spread of at most one sigma names no late rank. */
static void print_verdict(const printer_t *to, const char *title, const char *call,
                          const clv_pap_forecast_t *forecast)
{
    const int32_t last = next_latest(forecast, -1);
    const int64_t spread_ns = forecast->predicted_ns[last];

    say(to,
        "%s: %s, forecast %" PRId64 ": rank %" PRId32
        " is last, %.3f ms after the first, sigma %.3f ms%s",
        title, call, forecast->version, last, MS(spread_ns), MS(forecast->sigma_ns),
        spread_ns > forecast->sigma_ns ? "" : ": no rank is clearly last");
}

/* What the forecast's certainty is based on. */
static void print_grounds(const printer_t *to, const clv_pap_forecast_t *forecast)
{
    char judged[96] = "no call has checked it yet";

    if (forecast->mean_error_ns >= 0) {
        (void) snprintf(judged, sizeof judged, "the last one was off by %.3f ms, at most %.3f ms",
                        MS(forecast->mean_error_ns), MS(forecast->worst_error_ns));
    }
    say(to, "  %s from %" PRId32 " calls; %s; clocks agree to %.3f ms", source_of(forecast),
        forecast->n_record_sets, judged, MS(forecast->clock_error_ns));
}

/* The measurement that the chooser learns from. */
static void print_measured(const printer_t *to, const clv_pap_forecast_t *forecast)
{
    if (forecast->previous_after_ns >= 0) {
        say(to, "  %s was measured: it ended %.3f ms after the last arrival, %.3f ms in MPI",
            clv_algorithm_word(forecast->previous_choice), MS(forecast->previous_after_ns),
            MS(forecast->previous_in_mpi_ns));
    }
}

void clv_choose_print_root(char *text, size_t size, int collective, int32_t root)
{
    const clv_collective_row_t *row = &clv_collectives[collective];

    if (row->has_root) {
        (void) snprintf(text, size, " %s rank %" PRId32,
                        row->result == CLV_RESULT_AT_ROOT ? "to" : "from", root);
    } else {
        (void) snprintf(text, size, " by all");
    }
}

void clv_choose_print_forecast(const char *title, const clv_pap_stream_key_t *key,
                               const clv_pap_forecast_t *forecast,
                               const clv_choose_decision_t *decision, clv_choose_print_line_t print,
                               void *context)
{
    const printer_t to = {print, context};
    char call[96];
    char root[32];

    clv_choose_print_root(root, sizeof root, key->collective, key->root);
    (void) snprintf(call, sizeof call, "%s of %" PRId64 " bytes%s",
                    clv_collective_name(key->collective), key->total_bytes, root);
    if (forecast == NULL) {
        say(&to, "%s: %s: no forecast", title, call);
    } else {
        print_verdict(&to, title, call, forecast);
        print_grounds(&to, forecast);
        print_measured(&to, forecast);
        print_ranks(&to, forecast);
    }
    print_decision(&to, decision);
}

static int32_t count_places(const clv_choose_config_t *config)
{
    int32_t last = -1;

    for (int32_t p = 0; p < config->n_ranks; p++) {
        last = config->place[p] > last ? config->place[p] : last;
    }
    return last + 1;
}

void clv_choose_print_early(char *text, size_t size, const clv_cost_t *cost, bool has_places)
{
    char near[64] = "";

    if (has_places) {
        (void) snprintf(near, sizeof near, " between hosts, %" PRId64 " inside",
                        cost->near_early_bytes);
    }
    (void) snprintf(text, size,
                    "nonblocking sends complete without their receiver up to %" PRId64 " bytes%s",
                    cost->early_bytes, near);
}

/* The early size, and the segment size that follows from it. */
static void print_segments(const printer_t *to, const char *title,
                           const clv_choose_config_t *config)
{
    const bool has_places = config->place != NULL;
    char early[160];

    clv_choose_print_early(early, sizeof early, &config->cost, has_places);
    say(to, "%s: %s; segments of long vectors have %" PRId64, title, early,
        config->segment_bytes > 0 ? config->segment_bytes
                                  : clv_cost_segment_bytes(&config->cost, has_places));
}

void clv_choose_print_cost(const char *title, const clv_choose_config_t *config,
                           clv_choose_print_line_t print, void *context)
{
    const printer_t to = {print, context};
    const clv_cost_t *cost = &config->cost;
    const double far_ns = (double) cost->byte_ps / 1000,
                 near_ns = (double) cost->near_byte_ps / 1000;

    if (config->place == NULL) {
        say(&to,
            "%s: %" PRId32 " ranks; a message takes %.3f ms and %.3f ns a byte, one every %.3f ms",
            title, config->n_ranks, MS(cost->latency_ns), far_ns, MS(cost->gap_ns));
    } else {
        say(&to,
            "%s: %" PRId32 " ranks on %" PRId32 " hosts; a message takes %.3f ms and %.3f ns a "
            "byte between hosts, %.3f ms and %.3f ns inside, one every %.3f ms; combining %.3f ns",
            title, config->n_ranks, count_places(config), MS(cost->latency_ns), far_ns,
            MS(cost->near_latency_ns), near_ns, MS(cost->gap_ns), (double) cost->combine_ps / 1000);
    }
    print_segments(&to, title, config);
    if (config->is_shared) {
        say(&to, "%s: ranks of a host share processors (coll_clv_shared_processors)", title);
    }
}

static void name_rank(char *text, size_t size, int32_t rank, const int32_t *place)
{
    if (place == NULL) {
        (void) snprintf(text, size, "%" PRId32, rank);
    } else {
        (void) snprintf(text, size, "%" PRId32 "@%" PRId32, rank, place[rank]);
    }
}

void clv_choose_print_plan(const clv_plan_t *plan, const int32_t *place,
                           clv_choose_print_line_t print, void *context)
{
    const printer_t to = {print, context};
    char sender[24], receiver[24];

    for (int64_t i = 0; i < plan->n_sends; i++) {
        const clv_send_t *send = &plan->sends[i];
        name_rank(sender, sizeof sender, send->sender, place);
        name_rank(receiver, sizeof receiver, send->receiver, place);
        say(&to, "%d %s %s %d%s", (int) send->round, sender, receiver, (int) send->segment,
            send->kind == CLV_COPY ? " copy" : "");
    }
}
