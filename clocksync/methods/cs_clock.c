/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of base clocks, and the simulated clock of tests and measurements.
 *
 * A clock is a value of 80 bytes; reading one costs 20 to 40 ns. Thread-safe once made.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clocksync/cs_internal.h"
#include "clocksync/methods/cs_methods.h"
#include "util/util_time.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#define CS_CALIBRATION_NS (20 * CLV_NS_PER_MS)

static int64_t read_kernel_clock(clockid_t id)
{
    struct timespec now;
    (void) clock_gettime(id, &now);
    return (int64_t) now.tv_sec * CLV_NS_PER_S + now.tv_nsec;
}

static int64_t monotonic_now(const clv_cs_clock_t *clock)
{
    (void) clock;
    return read_kernel_clock(CLOCK_MONOTONIC);
}

static int64_t monotonic_raw_now(const clv_cs_clock_t *clock)
{
    (void) clock;
    return read_kernel_clock(CLOCK_MONOTONIC_RAW);
}

static int64_t realtime_now(const clv_cs_clock_t *clock)
{
    (void) clock;
    return read_kernel_clock(CLOCK_REALTIME);
}

/* A clock coarser than a microsecond cannot judge microseconds. */
static clv_status_t open_kernel_clock(clockid_t id)
{
    struct timespec resolution;
    if (clock_getres(id, &resolution) != 0) {
        return CLV_UNSUPPORTED;
    }
    return resolution.tv_sec == 0 && resolution.tv_nsec <= 1000 ? CLV_OK : CLV_UNSUPPORTED;
}

static clv_status_t monotonic_open(clv_cs_clock_t *clock)
{
    (void) clock;
    return open_kernel_clock(CLOCK_MONOTONIC);
}

static clv_status_t monotonic_raw_open(clv_cs_clock_t *clock)
{
    (void) clock;
    return open_kernel_clock(CLOCK_MONOTONIC_RAW);
}

static clv_status_t realtime_open(clv_cs_clock_t *clock)
{
    (void) clock;
    return open_kernel_clock(CLOCK_REALTIME);
}

#if defined(__x86_64__)
/* Reads both counters as close together as interrupts allow: the quickest of 20 attempts counts. */
static void read_both(int64_t *ticks_p, int64_t *ns_p)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < 20; i++) {
        const int64_t before = (int64_t) __rdtsc();
        const int64_t ns = read_kernel_clock(CLOCK_MONOTONIC_RAW);
        const int64_t after = (int64_t) __rdtsc();
        if (after - before < least) {
            least = after - before;
            *ticks_p = before + (after - before) / 2;
            *ns_p = ns;
        }
    }
}

/* The flags constant_tsc and nonstop_tsc of the kernel are this bit of the processor. */
static bool tsc_is_invariant(void)
{
    unsigned int a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
}

static bool has_rdtscp(void)
{
    unsigned int a, b, c, d;
    return __get_cpuid(0x80000001, &a, &b, &c, &d) && (d & (1u << 27));
}

static int64_t tsc_now(const clv_cs_clock_t *clock)
{
    const int64_t ticks = (int64_t) __rdtsc() - clock->start_ns;
    return clock->offset_ns + (int64_t) ((double) ticks * clock->rate);
}

static int64_t tscp_now(const clv_cs_clock_t *clock)
{
    unsigned int processor;
    const int64_t ticks = (int64_t) __rdtscp(&processor) - clock->start_ns;
    return clock->offset_ns + (int64_t) ((double) ticks * clock->rate);
}

/* The rate need not be exact: a wrong one looks like drift, and drift is learnt. Ticks in a double
 * are exact for 34 days at 3 GHz. */
static clv_status_t tsc_open(clv_cs_clock_t *clock)
{
    int64_t ticks = 0, ns = 0;
    if (!tsc_is_invariant()) {
        return CLV_UNSUPPORTED;
    }
    if (clock->rate > 0.0) { /* given: counts from tick 0 in every process */
        return CLV_OK;
    }
    read_both(&clock->start_ns, &clock->offset_ns);
    do {
        read_both(&ticks, &ns);
    } while (ns - clock->offset_ns < CS_CALIBRATION_NS);
    clock->rate = (double) (ns - clock->offset_ns) / (double) (ticks - clock->start_ns);
    return clock->rate > 0.0 ? CLV_OK : CLV_UNSUPPORTED;
}

static clv_status_t tscp_open(clv_cs_clock_t *clock)
{
    return has_rdtscp() ? tsc_open(clock) : CLV_UNSUPPORTED;
}
#else
static int64_t tsc_now(const clv_cs_clock_t *clock)
{
    return monotonic_raw_now(clock);
}

static int64_t tscp_now(const clv_cs_clock_t *clock)
{
    return monotonic_raw_now(clock);
}

static clv_status_t tscp_open(clv_cs_clock_t *clock)
{
    (void) clock;
    return CLV_UNSUPPORTED;
}

static clv_status_t tsc_open(clv_cs_clock_t *clock)
{
    (void) clock;
    return CLV_UNSUPPORTED;
}
#endif

typedef struct row {
    const char *name;
    int64_t (*now_ns)(const clv_cs_clock_t *clock);
    clv_status_t (*open)(clv_cs_clock_t *clock); /* a rate above 0 is given: no calibration */
} row_t;

static const row_t table[] = {
#define CS_CLOCK_ROW(name, text) {#name, name##_now, name##_open},
    CLV_CS_CLOCK_MAP(CS_CLOCK_ROW)
#undef CS_CLOCK_ROW
};

bool clv_cs_clock_is_counter(const clv_cs_clock_t *clock)
{
    return clock->now_ns == tsc_now || clock->now_ns == tscp_now;
}

/* ns per tick of "2.3GHz"; 0: not a frequency between 1 MHz and 100 GHz. */
static double rate_of(const char *text)
{
    static const struct {
        const char *unit;
        double hz;
    } units[] = {{"", 1.0}, {"Hz", 1.0}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}};
    char *end;
    const double number = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        const double hz = number * units[i].hz;
        if (end != text && strcmp(end, units[i].unit) == 0 && hz >= 1e6 && hz <= 1e11) {
            return 1e9 / hz;
        }
    }
    return 0.0;
}

/* Also the clock, but for what the row's open sets. NULL: no such name. */
static const row_t *row_of(const char *name, clv_cs_clock_t *clock_p)
{
    const char *frequency = strchr(name, CLV_CS_FREQUENCY);
    const size_t length = frequency != NULL ? (size_t) (frequency - name) : strlen(name);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (strlen(table[i].name) != length || strncmp(name, table[i].name, length) != 0) {
            continue;
        }
        clv_cs_clock_t clock = {.now_ns = table[i].now_ns, .name = table[i].name};
        const bool is_counter = clv_cs_clock_is_counter(&clock);
        clock.rate = frequency != NULL ? rate_of(frequency + 1) : is_counter ? 0.0 : 1.0;
        clock.step_at_ns = INT64_MAX;
        *clock_p = clock;
        return frequency != NULL && (!is_counter || !(clock.rate > 0.0)) ? NULL : &table[i];
    }
    return NULL;
}

bool clv_cs_clock_is_name(const char *name)
{
    clv_cs_clock_t clock;

    return row_of(name, &clock) != NULL;
}

clv_status_t clv_cs_clock_open(const char *name, clv_cs_clock_t *clock_p)
{
    clv_cs_clock_t clock;
    const row_t *row = row_of(name, &clock);
    const clv_status_t status = row == NULL ? CLV_INVALID : row->open(&clock);

    if (status == CLV_OK) {
        *clock_p = clock;
    }
    return status;
}

static int64_t pretend_now(const clv_cs_clock_t *clock)
{
    const int64_t base_ns = clv_cs_clock_now_ns(clock->base);
    const int64_t gained = cs_round((clock->rate - 1.0) * (double) (base_ns - clock->start_ns));
    const int64_t stepped = base_ns >= clock->step_at_ns ? clock->step_ns : 0;
    return base_ns + clock->offset_ns + gained + stepped;
}

void clv_cs_clock_pretend(const clv_cs_clock_t *base, int64_t offset_ns, int64_t drift_ppb,
                          clv_cs_clock_t *clock_p)
{
    clv_cs_clock_t clock = {.now_ns = pretend_now, .name = "pretend", .base = base};
    clock.start_ns = clv_cs_clock_now_ns(base);
    clock.offset_ns = offset_ns;
    clock.rate = 1.0 + (double) drift_ppb * 1e-9;
    clock.step_at_ns = INT64_MAX;
    *clock_p = clock;
}

void clv_cs_clock_pretend_step(clv_cs_clock_t *clock, int64_t at_base_ns, int64_t step_ns)
{
    clock->step_at_ns = at_base_ns;
    clock->step_ns = step_ns;
}
