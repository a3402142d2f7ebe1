/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The summary of rank 0 at the end of a job (coll_clv_print summary). At most thirteen lines; the
 * last one is the verdict on whether clv helped, the one before it has the numbers as JSON.
 *
 * Times are those of calls that a communicator's group saw, planned or not: from the arrival of
 * this rank to its exit.
 */
#include "coll_clv/coll_clv_summary.h"

#include <stdarg.h>
#include <stdio.h>

#include "ompi/proc/proc.h"

#include "choose/choose_print.h"
#include "choose/choose_verdict.h"
#include "coll_clv/coll_clv_process.h"
#include "coll_clv/coll_clv_show.h"
#include "util/util_text.h"
#include "util/util_version.h"

#define LINE_BYTES 4096 /* room for all reasons and all algorithms */

typedef struct line {
    char text[LINE_BYTES];
    size_t used;
} line_t;

__attribute__((format(printf, 2, 3))) static void add(line_t *line, const char *format, ...)
{
    va_list arguments;
    int n;

    va_start(arguments, format);
    n = vsnprintf(line->text + line->used, sizeof line->text - line->used, format, arguments);
    va_end(arguments);
    if (0 < n) {
        line->used += (size_t) n;
    }
    if (line->used > sizeof line->text - 1) {
        line->used = sizeof line->text - 1;
    }
}

static void say(const line_t *line)
{
    opal_output(mca_coll_clv_component.output, "coll:clv: %s", line->text);
}

static double mean_ms(unsigned long long ns, unsigned long long calls)
{
    return 0 == calls ? 0 : (double) ns / (double) calls / 1e6;
}

static void say_times(const coll_clv_component_t *component)
{
    for (int c = 0; c < CLV_N_COLLECTIVES; c++) {
        const coll_clv_times_t *times = &component->times[c];
        const unsigned long long calls = coll_clv_counted(&component->calls[c]);
        line_t line = {0};
        if (0 == calls) {
            continue;
        }
        add(&line, "%s: %llu call%s", clv_collective_name(c), calls, clv_text_s((int64_t) calls));
        if (0 < times->planned_calls) {
            add(&line, "; %llu ran a plan, %.3f ms on average", times->planned_calls,
                mean_ms(times->planned_ns, times->planned_calls));
        }
        if (0 < times->previous_calls) {
            add(&line, "; %llu timed call%s ran the previous function, %.3f ms",
                times->previous_calls, clv_text_s((int64_t) times->previous_calls),
                mean_ms(times->previous_ns, times->previous_calls));
        }
        if (0 < times->newest_pace_ns) {
            add(&line, "; from one call to the next %.3f ms in the first %d, %.3f in the newest",
                (double) times->first_pace_ns / 1e6, COLL_CLV_ITERATION_CALLS,
                (double) times->newest_pace_ns / 1e6);
        }
        say(&line);
    }
}

static void say_choices(const coll_clv_component_t *component)
{
    line_t ran = {0}, why = {0};

    for (int a = 0; a < CLV_N_ALGORITHMS; a++) {
        const unsigned long long calls = coll_clv_counted(&component->ran[a]);
        if (0 < calls) {
            add(&ran, "%s %s %llu", 0 == ran.used ? "ran:" : ",", clv_algorithm_word(a), calls);
        }
    }
    for (int r = 0; r < CLV_N_REASONS; r++) {
        const unsigned long long calls = coll_clv_counted(&component->fell_back[r]);
        if (0 < calls) {
            add(&why, "%s %llu time%s %s", 0 == why.used ? "the previous function:" : ",", calls,
                clv_text_s((int64_t) calls), clv_reason_text(r));
        }
    }
    if (0 < ran.used) {
        say(&ran);
    }
    if (0 < why.used) {
        say(&why);
    }
}

static void say_unplanned(const coll_clv_counters_t *counters)
{
    line_t line = {0};

    if (0 < counters->nonblocking + counters->persistent) {
        add(&line, "not planned: %llu nonblocking collectives, %llu persistent ones",
            counters->nonblocking, counters->persistent);
        say(&line);
    }
}

/* Of this rank. */
static void say_waits(const coll_clv_counters_t *counters)
{
    line_t line = {0};

    if (0 < counters->waited_ns) {
        add(&line, "rank 0 waited %.3f s in calls, %.3f of them asleep",
            (double) counters->waited_ns / 1e9, (double) counters->asleep_ns / 1e9);
        if (0 < counters->late_wakes) {
            add(&line, "; it may have woken late %llu time%s, on average by at most %.3f ms",
                (unsigned long long) counters->late_wakes,
                clv_text_s((int64_t) counters->late_wakes),
                mean_ms(counters->late_wakes_ns, counters->late_wakes));
        }
        say(&line);
    }
}

static void say_not_taken(const coll_clv_component_t *component)
{
    int64_t n_calls[CLV_N_COLLECTIVES];
    char text[256];

    for (int c = 0; c < CLV_N_COLLECTIVES; c++) {
        n_calls[c] = (int64_t) component->not_taken[c];
    }
    clv_choose_print_not_taken(text, sizeof text, &component->config, n_calls);
    if ('\0' != text[0]) {
        opal_output(component->output, "coll:clv: %s", text);
    }
}

static void say_left_alone(const coll_clv_component_t *component,
                           const clv_pap_counters_t *counters)
{
    char text[320];

    clv_choose_print_left_alone(
        text, sizeof text, (int64_t) coll_clv_counted(&component->fell_back[CLV_REASON_MANY_RANKS]),
        counters->displaced);
    if ('\0' != text[0]) {
        opal_output(component->output, "coll:clv: %s", text);
    }
}

static void say_exchange(const coll_clv_component_t *component, const clv_pap_counters_t *counters)
{
    line_t line = {0};

    if (0 < counters->judged) {
        add(&line, "predictions: %lld checked, off by %.3f ms on average",
            (long long) counters->judged,
            mean_ms((unsigned long long) counters->judged_error_ns,
                    (unsigned long long) counters->judged));
        say(&line);
    }
    line = (line_t){0};
    if (0 < component->late.n_last) {
        add(&line, "rank %d of %s was last in %lld of %lld sampled calls",
            (int) component->late.rank, component->late_comm, (long long) component->late.n_last,
            (long long) component->late.n_sets);
        say(&line);
        line = (line_t){0};
    }
    add(&line, "cost: background thread %.3f s of a core, lookups in calls %.3f ms, trials %.3f ms",
        (double) counters->thread_cpu_ns / 1e9, (double) component->counters.lookup_ns / 1e6,
        (double) component->counters.regret_ns / 1e6);
    say(&line);
}

/* As measured for the newest communicator. */
static void say_links(const clv_cost_t *link)
{
    line_t line = {0};
    char early[160];

    if (0 == link->byte_ps) {
        return;
    }
    clv_choose_print_early(early, sizeof early, link, 0 < link->near_byte_ps);
    add(&line, "links over PML %s: a message takes %.3f ms and %.3f ns a byte; %s",
        coll_clv_pml_name(), (double) link->latency_ns / 1e6, (double) link->byte_ps / 1e3, early);
    say(&line);
}

static int most_common_reason(const coll_clv_component_t *component)
{
    int most = 0;

    for (int r = 1; r < CLV_N_REASONS; r++) {
        if (coll_clv_counted(&component->fell_back[r]) >
            coll_clv_counted(&component->fell_back[most])) {
            most = r;
        }
    }
    return most;
}

static clv_verdict_facts_t verdict_facts(const coll_clv_component_t *component)
{
    clv_verdict_facts_t facts = {
        .config = &component->config,
        .run_ns = component->last_ns - component->first_ns,
        .n_calls = (int64_t) coll_clv_calls(),
        .n_previous = (int64_t) coll_clv_counted(&component->ran[CLV_ALGORITHM_PREVIOUS]),
        .reason = most_common_reason(component)};

    clv_choose_gains(&facts.gains);
    for (int c = 0; c < CLV_N_COLLECTIVES; c++) {
        facts.n_timed +=
            (int64_t) (component->times[c].planned_calls + component->times[c].previous_calls);
    }
    return facts;
}

static void say_verdict(const coll_clv_component_t *component)
{
    const clv_verdict_facts_t facts = verdict_facts(component);
    char text[512];

    clv_choose_print_verdict(text, sizeof text, &facts);
    opal_output(component->output, "coll:clv: verdict: %s", text);
}

/* The numbers behind the verdict. */
static void add_gains(line_t *line, const coll_clv_component_t *component)
{
    clv_choose_gains_t gains;

    clv_choose_gains(&gains);
    add(line,
        "\"run_ns\":%lld,\"compared_ns\":%lld,\"compared_previous_ns\":%lld,"
        "\"not_compared_ns\":%lld,\"compared_calls\":%lld,",
        (long long) (component->last_ns - component->first_ns), (long long) gains.took_ns,
        (long long) gains.would_ns, (long long) gains.unknown_ns, (long long) gains.n_calls);
}

static void say_json(const coll_clv_component_t *component, const clv_pap_counters_t *counters)
{
    line_t line = {0};

    add(&line, "summary {\"version\":\"%s\",", CLV_VERSION);
    for (int c = 0; c < CLV_N_COLLECTIVES; c++) {
        const coll_clv_times_t *times = &component->times[c];
        add(&line,
            "\"%s\":{\"calls\":%llu,\"planned_calls\":%llu,\"planned_ns\":%llu,"
            "\"previous_calls\":%llu,\"previous_ns\":%llu,\"first_pace_ns\":%llu,"
            "\"newest_pace_ns\":%llu},",
            clv_collective_name(c), coll_clv_counted(&component->calls[c]), times->planned_calls,
            times->planned_ns, times->previous_calls, times->previous_ns, times->first_pace_ns,
            times->newest_pace_ns);
    }
    add_gains(&line, component);
    add(&line,
        "\"nonblocking\":%llu,\"persistent\":%llu,\"late_rank\":%d,\"late_calls\":%lld,"
        "\"late_of_calls\":%lld,\"judged\":%lld,\"judged_error_ns\":%lld,"
        "\"early_bytes\":%lld,\"near_early_bytes\":%lld,"
        "\"thread_cpu_ns\":%lld,\"lookup_ns\":%llu,\"regret_ns\":%llu,"
        "\"waited_ns\":%llu,\"asleep_ns\":%llu,\"late_wakes\":%llu,\"late_wakes_ns\":%llu}",
        component->counters.nonblocking, component->counters.persistent,
        0 < component->late.n_last ? (int) component->late.rank : -1,
        (long long) component->late.n_last, (long long) component->late.n_sets,
        (long long) counters->judged, (long long) counters->judged_error_ns,
        (long long) component->link.early_bytes, (long long) component->link.near_early_bytes,
        (long long) counters->thread_cpu_ns, component->counters.lookup_ns,
        component->counters.regret_ns, component->counters.waited_ns, component->counters.asleep_ns,
        component->counters.late_wakes, component->counters.late_wakes_ns);
    say(&line);
}

static void say_all(const coll_clv_component_t *component, const clv_pap_counters_t *counters)
{
    say_times(component);
    say_choices(component);
    say_not_taken(component);
    say_unplanned(&component->counters);
    say_waits(&component->counters);
    say_links(&component->link);
    say_exchange(component, counters);
    say_json(component, counters);
    say_verdict(component);
}

static bool was_called(const coll_clv_component_t *component)
{
    unsigned long long sum = coll_clv_calls() + component->counters.nonblocking +
                             component->counters.persistent + component->counters.waited_ns;

    for (int c = 0; c < CLV_N_COLLECTIVES; c++) {
        sum += component->not_taken[c];
    }
    return 0 < sum;
}

void coll_clv_summary(void)
{
    const coll_clv_component_t *component = &mca_coll_clv_component;
    clv_pap_counters_t counters = {0};

    if (0 != OMPI_PROC_MY_NAME->vpid) {
        return;
    }
    coll_clv_process_counters(&counters);
    say_left_alone(component, &counters);
    if (0 == (component->params.print & CLV_PRINT_SUMMARY)) {
        say_not_taken(component);
    } else if (was_called(component)) {
        say_all(component, &counters);
    }
}
