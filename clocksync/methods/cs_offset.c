/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The offset between two clocks, measured once: SKaMPI-Offset, Mean-RTT-Offset, Netgauge's, and
 * Cristian's.
 *
 * All return a point: the offset, the local time at which it holds, and a bound. The papers stop
 * at the offset; the bound comes from the same timestamps and assumes nothing about symmetry.
 * Papers write offset = reference - client; here positive means the client is ahead.
 */
#include <stdlib.h>

#include "clocksync/methods/cs_pair.h"
#include "util/util_alloc.h"

/* Exchanges before a burst may be cut short; SKaMPI 5 uses the same number. */
#define CS_MIN_EXCHANGES 8
/* Netgauge waits for n pings without a new minimum. It sends at most this times n pings, so that
 * noise cannot make it endless. */
#define CS_NETGAUGE_LIMIT 20
#define CS_STEP_RETRIES   3

static int64_t round_trip_of(const clv_cs_sample_t *sample)
{
    return cs_sub(cs_sub(sample->client_recv_ns, sample->client_send_ns),
                  cs_sub(sample->reference_send_ns, sample->reference_recv_ns));
}

static int64_t middle_of(const clv_cs_sample_t *sample)
{
    return sample->client_send_ns + (sample->client_recv_ns - sample->client_send_ns) / 2;
}

/* What a burst has proven so far: lowest <= offset <= highest. Each limit has the time of the ping
 * that proved it. Half-way between the two times, drift has moved both limits by the same
 * amount. */
typedef struct limits {
    int64_t lowest_ns, lowest_at_ns;
    int64_t highest_ns, highest_at_ns;
    int64_t reference_error_ns;
    int64_t least_round_trip_ns;
    int32_t n_samples;
} limits_t;

static void take_sample(limits_t *limits, const clv_cs_sample_t *sample)
{
    const int64_t lowest = cs_sub(sample->client_send_ns, sample->reference_recv_ns);
    const int64_t highest = cs_sub(sample->client_recv_ns, sample->reference_send_ns);
    const int64_t round_trip = round_trip_of(sample);
    if (limits->n_samples == 0 || lowest > limits->lowest_ns) {
        limits->lowest_ns = lowest;
        limits->lowest_at_ns = middle_of(sample);
    }
    if (limits->n_samples == 0 || highest < limits->highest_ns) {
        limits->highest_ns = highest;
        limits->highest_at_ns = middle_of(sample);
    }
    if (limits->n_samples == 0 || round_trip < limits->least_round_trip_ns) {
        limits->least_round_trip_ns = round_trip;
    }
    if (sample->reference_error_ns > limits->reference_error_ns) {
        limits->reference_error_ns = sample->reference_error_ns;
    }
    limits->n_samples++;
}

/* CLV_AGAIN: the limits contradict each other by more than drift explains, so a clock stepped. */
static clv_status_t point_of_limits(const limits_t *limits, clv_cs_point_t *point_p)
{
    if (limits->n_samples == 0) {
        return CLV_PROTOCOL; /* every answer was invalid */
    }
    const int64_t apart = cs_distance(limits->lowest_at_ns, limits->highest_at_ns);
    const int64_t drift = cs_run_off(apart, CLV_CS_DRIFT_PRIOR_PPB);
    const int64_t width = cs_sub(limits->highest_ns, limits->lowest_ns);
    const int64_t blur = cs_add(limits->reference_error_ns, limits->reference_error_ns);
    if (cs_add(width, cs_add(drift, blur)) < 0) {
        return CLV_AGAIN;
    }
    const int64_t half = (width > 0 ? width : 0) / 2 + 1;
    point_p->local_ns = limits->lowest_at_ns + (limits->highest_at_ns - limits->lowest_at_ns) / 2;
    point_p->offset_ns = limits->lowest_ns + width / 2;
    point_p->error_ns = cs_add(cs_add(half, drift), limits->reference_error_ns);
    return CLV_OK;
}

/* This ping is so close to the best ever that the burst can hardly get better. (A known trap is to
 * write this comparison the wrong way round; it then never fires.) */
static bool is_near_least(const cs_pair_t *pair, const clv_cs_sample_t *sample)
{
    return pair->least_round_trip_ns != INT64_MAX &&
           round_trip_of(sample) <= pair->least_round_trip_ns + pair->least_round_trip_ns / 10;
}

static bool is_nonsense(const clv_cs_sample_t *sample)
{
    clv_cs_point_t ignored;
    return clv_cs_point_of_sample(sample, CLV_CS_DRIFT_PRIOR_PPB, &ignored) != CLV_OK;
}

static void remember_least(cs_pair_t *pair, int64_t round_trip_ns)
{
    if (round_trip_ns < pair->least_round_trip_ns) {
        pair->least_round_trip_ns = round_trip_ns;
    }
}

/* HCA3 paper, Algorithm 7; MBR, Algorithm 7. */
static clv_status_t skampi_burst(cs_pair_t *pair, clv_cs_point_t *point_p)
{
    limits_t limits = {0};
    for (int32_t i = 0; i < pair->method->n_exchanges; i++) {
        clv_cs_sample_t sample;
        const clv_status_t status = clv_cs_pair_ping(pair, &sample);
        if (status != CLV_OK) {
            return status;
        }
        if (is_nonsense(&sample)) {
            continue;
        }
        take_sample(&limits, &sample);
        if (pair->method->stop_early && i + 1 >= CS_MIN_EXCHANGES && is_near_least(pair, &sample)) {
            break;
        }
    }
    if (limits.n_samples > 0) {
        remember_least(pair, limits.least_round_trip_ns);
    }
    return point_of_limits(&limits, point_p);
}

static clv_status_t skampi_offset(cs_pair_t *pair, clv_cs_point_t *point_p)
{
    clv_status_t status = CLV_AGAIN;
    for (int i = 0; i < CS_STEP_RETRIES && status == CLV_AGAIN; i++) {
        status = skampi_burst(pair, point_p);
    }
    return status == CLV_AGAIN ? CLV_UNSUPPORTED : status; /* a clock that steps all the time */
}

/* MBR, Algorithm 12: the ping with the least round trip, once n more pings have not beaten it. */
static clv_status_t netgauge_offset(cs_pair_t *pair, clv_cs_point_t *point_p)
{
    const int64_t limit = (int64_t) pair->method->n_exchanges * CS_NETGAUGE_LIMIT;
    clv_cs_point_t best = {0, 0, INT64_MAX};
    int64_t unbeaten = 0;
    for (int64_t i = 0; i < limit && unbeaten < pair->method->n_exchanges; i++) {
        clv_cs_sample_t sample;
        clv_cs_point_t point;
        const clv_status_t status = clv_cs_pair_ping(pair, &sample);
        if (status != CLV_OK) {
            return status;
        }
        unbeaten++;
        if (clv_cs_point_of_sample(&sample, CLV_CS_DRIFT_PRIOR_PPB, &point) == CLV_OK &&
            point.error_ns < best.error_ns) {
            best = point;
            unbeaten = 0;
        }
    }
    if (best.error_ns == INT64_MAX) {
        return CLV_PROTOCOL;
    }
    *point_p = best;
    return CLV_OK;
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *) a;
    const int64_t y = *(const int64_t *) b;
    return (x > y) - (x < y);
}

typedef struct burst {
    clv_cs_sample_t *samples;
    int64_t *scratch; /* as many */
    int32_t n;
} burst_t;

static clv_status_t burst_open(const cs_pair_t *pair, burst_t *burst)
{
    const size_t n_exchanges = (size_t) pair->method->n_exchanges;
    *burst = (burst_t){clv_alloc(n_exchanges, sizeof *burst->samples),
                       clv_alloc(n_exchanges, sizeof *burst->scratch), 0};
    return burst->samples != NULL && burst->scratch != NULL ? CLV_OK : CLV_NO_MEMORY;
}

static void burst_close(burst_t *burst)
{
    clv_free(burst->scratch);
    clv_free(burst->samples);
}

/* Collects the samples of one burst, without the invalid ones. */
static clv_status_t collect(cs_pair_t *pair, burst_t *burst)
{
    burst->n = 0;
    for (int32_t i = 0; i < pair->method->n_exchanges; i++) {
        clv_cs_sample_t *sample = &burst->samples[burst->n];
        const clv_status_t status = clv_cs_pair_ping(pair, sample);
        if (status != CLV_OK) {
            return status;
        }
        burst->n += !is_nonsense(sample);
    }
    return burst->n > 0 ? CLV_OK : CLV_PROTOCOL;
}

/* Tukey's fences of the burst's round trips (MBR, Algorithm 17, Remove_Outliers). Computing them
 * leaves the round trips sorted in scratch. */
typedef struct fences {
    int64_t low, high;
} fences_t;

static fences_t fence_round_trips(burst_t *burst)
{
    int64_t *values = burst->scratch;
    for (int32_t i = 0; i < burst->n; i++) {
        values[i] = round_trip_of(&burst->samples[i]);
    }
    qsort(values, (size_t) burst->n, sizeof *values, by_value);
    const int64_t low = values[burst->n / 4];
    const int64_t high = values[(int64_t) burst->n * 3 / 4];
    const int64_t range = cs_sub(high, low);
    const int64_t reach = cs_add(range, range / 2);
    return (fences_t){cs_sub(low, reach), cs_add(high, reach)};
}

static int64_t mean_round_trip(burst_t *burst)
{
    const fences_t fences = fence_round_trips(burst);
    double total = 0.0;
    int32_t kept = 0;
    for (int32_t i = 0; i < burst->n; i++) {
        if (burst->scratch[i] >= fences.low && burst->scratch[i] <= fences.high) {
            total += (double) burst->scratch[i];
            kept++;
        }
    }
    const int64_t mean = cs_round(total / kept);
    return mean > 0 ? mean : 1; /* 0 means not measured */
}

static int64_t offset_by_half_trip(const clv_cs_sample_t *sample, int64_t round_trip_ns)
{
    return cs_sub(cs_sub(sample->client_recv_ns, sample->reference_send_ns), round_trip_ns / 2);
}

/* The median is one of the samples, so that it has a time (HCA3 paper, Algorithm 8, line 17). */
static clv_status_t point_of_median(burst_t *burst, int64_t round_trip_ns, clv_cs_point_t *point_p)
{
    const clv_cs_sample_t *samples = burst->samples;
    int64_t *scratch = burst->scratch;
    for (int32_t i = 0; i < burst->n; i++) {
        scratch[i] = offset_by_half_trip(&samples[i], round_trip_ns);
    }
    qsort(scratch, (size_t) burst->n, sizeof *scratch, by_value);
    const int64_t median = scratch[burst->n / 2];
    int32_t i = 0;
    while (offset_by_half_trip(&samples[i], round_trip_ns) != median) {
        i++;
    }
    clv_cs_point_t point;
    const clv_status_t status = clv_cs_point_of_sample(&samples[i], CLV_CS_DRIFT_PRIOR_PPB, &point);
    if (status == CLV_OK) {
        /* Twice: once so that the bound holds, once so that bounds differ by as much as the errors
         * do, which is what the bound of a line relies on (slope_error_by_trips). */
        const int64_t distance = cs_distance(median, point.offset_ns);
        point.error_ns = cs_add(point.error_ns, cs_add(distance, distance));
        point.offset_ns = median;
        *point_p = point;
    }
    return status;
}

/* HCA3 paper, Algorithm 8. */
static clv_status_t mean_rtt_offset(cs_pair_t *pair, clv_cs_point_t *point_p)
{
    burst_t burst;
    clv_status_t status = burst_open(pair, &burst);
    if (status == CLV_OK && pair->mean_round_trip_ns == 0) {
        status = collect(pair, &burst);
        if (status == CLV_OK) {
            pair->mean_round_trip_ns = mean_round_trip(&burst);
        }
    }
    if (status == CLV_OK) {
        status = collect(pair, &burst);
    }
    if (status == CLV_OK) {
        status = point_of_median(&burst, pair->mean_round_trip_ns, point_p);
    }
    burst_close(&burst);
    return status;
}

/* How long one reading of the clock takes: the mean difference of n pairs of readings, one directly
 * after the other (Equation 3). */
static int64_t timer_delay(const clv_cs_clock_t *clock, int32_t n)
{
    int64_t total = 0;
    for (int32_t i = 0; i < n; i++) {
        const int64_t first = clv_cs_clock_now_ns(clock);
        total = cs_add(total, cs_sub(clv_cs_clock_now_ns(clock), first));
    }
    return total / n;
}

/* Equation 2 with the sign reversed: positive means that the client is ahead. The reference reads
 * its clock in the middle of the round trip. The trip ends a timer delay later than the timestamps
 * say, so its middle lies half a delay later. */
static clv_cs_point_t middle_point(const clv_cs_sample_t *sample, int64_t delay_ns)
{
    const int64_t held = sample->reference_send_ns - sample->reference_recv_ns;
    const int64_t local = middle_of(sample) + delay_ns / 2;
    return (clv_cs_point_t){local, cs_sub(local, sample->reference_recv_ns + held / 2), 0};
}

/* The mean of the middles, summed as differences to the first so that no digits are lost. Its bound
 * is that of the best ping plus, as for Mean-RTT-Offset, twice the distance of the mean from it. */
static clv_status_t point_of_middles(burst_t *burst, int64_t delay_ns, clv_cs_point_t *point_p)
{
    const clv_cs_sample_t *samples = burst->samples;
    /* Longer trips waited, for instance, for the peer to be ready. */
    const int64_t longest_ns = fence_round_trips(burst).high;
    const clv_cs_point_t first = middle_point(&samples[0], delay_ns);
    clv_cs_point_t best = {0, 0, INT64_MAX};
    double offset = 0.0, local = 0.0;
    int32_t kept = 0;
    for (int32_t i = 0; i < burst->n; i++) {
        const clv_cs_point_t middle = middle_point(&samples[i], delay_ns);
        clv_cs_point_t point;
        if (round_trip_of(&samples[i]) > longest_ns ||
            clv_cs_point_of_sample(&samples[i], CLV_CS_DRIFT_PRIOR_PPB, &point) != CLV_OK) {
            continue;
        }
        best = point.error_ns < best.error_ns ? point : best;
        offset += (double) cs_sub(middle.offset_ns, first.offset_ns);
        local += (double) cs_sub(middle.local_ns, first.local_ns);
        kept++;
    }
    if (kept == 0) {
        return CLV_PROTOCOL;
    }
    point_p->local_ns = cs_add(first.local_ns, cs_round(local / kept));
    point_p->offset_ns = cs_add(first.offset_ns, cs_round(offset / kept));
    const int64_t distance = cs_distance(point_p->offset_ns, best.offset_ns);
    const int64_t away = cs_distance(point_p->local_ns, best.local_ns);
    point_p->error_ns = cs_add(cs_add(best.error_ns, cs_add(distance, distance)),
                               cs_run_off(away, CLV_CS_DRIFT_PRIOR_PPB));
    return CLV_OK;
}

static clv_status_t cristian_offset(cs_pair_t *pair, clv_cs_point_t *point_p)
{
    burst_t burst;
    clv_status_t status = burst_open(pair, &burst);
    if (status == CLV_OK) {
        status = collect(pair, &burst);
    }
    if (status == CLV_OK) {
        status = point_of_middles(&burst, timer_delay(pair->clock, burst.n), point_p);
    }
    burst_close(&burst);
    return status;
}

clv_status_t clv_cs_pair_offset(cs_pair_t *pair, clv_cs_point_t *point_p)
{
    static clv_status_t (*const table[CLV_CS_N_OFFSETS])(cs_pair_t *, clv_cs_point_t *) = {
        [CLV_CS_OFFSET_SKAMPI] = skampi_offset,
        [CLV_CS_OFFSET_MEAN_RTT] = mean_rtt_offset,
        [CLV_CS_OFFSET_NETGAUGE] = netgauge_offset,
        [CLV_CS_OFFSET_CRISTIAN] = cristian_offset,
    };
    return pair->clock != NULL ? table[pair->method->offset](pair, point_p) : CLV_UNSUPPORTED;
}
