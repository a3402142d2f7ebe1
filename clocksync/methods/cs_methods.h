/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The blocking algorithms that synchronise the ranks of a program (JK, HCA, HCA2, HCA3 and others)
 * over a link table, the clocks that they start from, and their labels. For tools, benchmarks and
 * simulation; the component uses only the tracker of clocksync.h.
 *
 * Convention and models: clocksync.h.
 * Units: int64 ns; doubles only for slopes and differences; drift in ppb.
 * Errors: each rank's own status: CLV_LOST, CLV_TIMEOUT, CLV_PROTOCOL for the partner's or the
 *   link's fault, CLV_UNSUPPORTED where there is no clock to follow, CLV_INVALID for labels,
 *   CLV_NO_MEMORY.
 * Memory: structs of fixed size, the caller's; a synchronisation allocates while it runs.
 * Threads: one at a time per clock and link; else safe.
 */
#ifndef CLV_CS_METHODS_H
#define CLV_CS_METHODS_H

#include <stdbool.h>

#include "clocksync/clocksync.h"
#include "util/util_link.h"

/* ---- base clocks ----------------------------------------------------------------------------- */

/* A clock is a value: a function and the little it needs. now_ns must not go backwards. */
typedef struct clv_cs_clock {
    int64_t (*now_ns)(const struct clv_cs_clock *clock);
    const char *name;
    const struct clv_cs_clock *base; /* of a pretend clock */
    void *context;                   /* of a test's own clock */
    int64_t start_ns;                /* of the base clock, when this one was made */
    int64_t offset_ns;               /* at start_ns */
    double rate;                     /* ns of this clock per unit of what it counts */
    int64_t step_at_ns;              /* base time of a step; INT64_MAX: never */
    int64_t step_ns;
} clv_cs_clock_t;

static inline int64_t clv_cs_clock_now_ns(const clv_cs_clock_t *clock)
{
    return clock->now_ns(clock);
}

/*      name           meaning */
#define CLV_CS_CLOCK_MAP(XX)                                                                       \
    XX(monotonic, "CLOCK_MONOTONIC: steered by NTP, differs between time namespaces")              \
    XX(monotonic_raw, "CLOCK_MONOTONIC_RAW: the bare crystal")                                     \
    XX(realtime, "CLOCK_REALTIME: can step; for judging against a common truth")                   \
    XX(tsc, "the cycle counter, calibrated by each process against CLOCK_MONOTONIC_RAW for 20 ms") \
    XX(tscp, "the same by RDTSCP, which waits for the instructions before it")

/* Behind tsc and tscp: the counter's frequency instead of a calibration, as in "tscp@2.3GHz". Then
 * all processes of a machine have the same clock. Whole Hz, or with kHz, MHz or GHz. */
#define CLV_CS_FREQUENCY '@'

/* Whether clv_cs_clock_open knows the name, the frequency behind it included. */
bool clv_cs_clock_is_name(const char *name);

/* CLV_INVALID: no such name. CLV_UNSUPPORTED: not on this machine (flags constant_tsc, nonstop_tsc
 * or rdtscp missing, a resolution coarser than 1 us). Ranks of a host share a calibrated clock
 * when all take over start_ns, offset_ns and rate of one. */
clv_status_t clv_cs_clock_open(const char *name, clv_cs_clock_t *clock_p) CLV_MUST_CHECK;
/* Whether the clock counts a processor's cycles: then a rank should not leave its processor (MBR,
 * section 3.4). */
bool clv_cs_clock_is_counter(const clv_cs_clock_t *clock);

/* A clock that is wrong on purpose, from now on: ahead of base by offset_ns and gaining drift_ppb.
 * *base must outlive it. */
void clv_cs_clock_pretend(const clv_cs_clock_t *base, int64_t offset_ns, int64_t drift_ppb,
                          clv_cs_clock_t *clock_p);
/* The pretend clock jumps by step_ns when its base reads at_base_ns. */
void clv_cs_clock_pretend_step(clv_cs_clock_t *clock, int64_t at_base_ns, int64_t step_ns);

/* ---- methods --------------------------------------------------------------------------------- */

/* Who measures whom. HCA3 paper = hca3-clock-synchronization, MBR = mpi-benchmarking-revisited.
 *      name       label        offset only  default fit points, exchanges  where it is described */
#define CLV_CS_ALGORITHM_MAP(XX)                                                                   \
    XX(SKAMPI, "skampi", true, 1, 100, "MBR, appendix B.1, Algorithms 7 and 8")                    \
    XX(NETGAUGE, "netgauge", true, 1, 100, "MBR, appendix B.2, Algorithms 11 and 12")              \
    XX(JK, "jk", false, 100, 20, "MBR, appendix B.3, Algorithm 15")                                \
    XX(HCA, "hca", false, 100, 20, "MBR, section 4.4, Algorithms 2 to 4")                          \
    XX(HCA2, "hca2", false, 100, 20, "MBR, section 4.4, hierarchical intercepts")                  \
    XX(HCA3, "hca3", false, 100, 20, "HCA3 paper, section III-B, Algorithm 1")                     \
    XX(PROP, "prop", true, 1, 1, "HCA3 paper, section IV-B, Algorithm 3")

typedef enum clv_cs_algorithm {
#define CLV_CS_ALGORITHM_ENUM(name, label, offset_only, fit, exchanges, where) CLV_CS_##name,
    CLV_CS_ALGORITHM_MAP(CLV_CS_ALGORITHM_ENUM)
#undef CLV_CS_ALGORITHM_ENUM
        CLV_CS_N_ALGORITHMS
} clv_cs_algorithm_t;

/* How one offset is measured. */
#define CLV_CS_OFFSET_MAP(XX)                                                                      \
    XX(SKAMPI, "skampi", "HCA3 paper, Algorithm 7: least delay of each direction")                 \
    XX(MEAN_RTT, "mean-rtt", "HCA3 paper, Algorithm 8: mean round trip, median offset")            \
    XX(NETGAUGE, "netgauge", "MBR, Algorithm 12: until the least round trip stands")               \
    XX(CRISTIAN, "cristian",                                                                       \
       "Entering Time, Equations 2 and 3: mean of the middles, with the timer's delay")

typedef enum clv_cs_offset {
#define CLV_CS_OFFSET_ENUM(name, label, where) CLV_CS_OFFSET_##name,
    CLV_CS_OFFSET_MAP(CLV_CS_OFFSET_ENUM)
#undef CLV_CS_OFFSET_ENUM
        CLV_CS_N_OFFSETS
} clv_cs_offset_t;

typedef struct clv_cs_method {
    clv_cs_algorithm_t algorithm;
    clv_cs_offset_t offset;
    int32_t n_fit_points;
    int32_t n_exchanges;
    int32_t recompute_intercept; /* HCA3 paper, Algorithm 2, lines 6 and 14 */
    int32_t stop_early;          /* SKaMPI: end a burst at a round trip within 10 % of the least
                                  * known, after at least 8 */
    int32_t pause_us;  /* rest between fit points: the same pings see a longer stretch of the
                       * drift, and pairs that share processors or links get out of each
                       * other's way */
    int32_t plain_fit; /* least squares of all points alike, as the papers have it, instead of by
                        * how near they are to the least round trip */
} clv_cs_method_t;

/* One method for all ranks, or one per level of the machine: 2 levels are H2HCA (HCA3 paper,
 * section IV-C, Algorithm 4), 3 are H3HCA (section IV-D). */
#define CLV_CS_MAX_LEVELS 3

/* What the middle level of three is made of, as hwloc tells it (util_topology.h); the first where a
 * label names none, as in the paper. */
#define CLV_CS_PART_MAP(XX)                                                                        \
    XX(SOCKET, "socket")                                                                           \
    XX(NUMA, "numa")                                                                               \
    XX(CACHE, "cache")

typedef enum clv_cs_part {
#define CLV_CS_PART_ENUM(name, label) CLV_CS_PART_##name,
    CLV_CS_PART_MAP(CLV_CS_PART_ENUM)
#undef CLV_CS_PART_ENUM
        CLV_CS_N_PARTS
} clv_cs_part_t;

typedef struct clv_cs_scheme {
    int32_t n_levels;
    clv_cs_part_t part;                       /* of three levels */
    clv_cs_method_t level[CLV_CS_MAX_LEVELS]; /* between hosts first */
} clv_cs_scheme_t;

/* The papers' labels, any case:
 *     hca3    hca3/1000/skampi/100    jk/1000/mean-rtt/20/recompute    skampi/100    netgauge
 *     h2hca/500/skampi/100            hca3 between hosts, the clock is copied within
 *     top/hca3/500/skampi/100/bottom/prop        the same, spelt out; h3hca: top, middle, bottom
 *     h3hca@numa/500/skampi/100       by NUMA domains, spelt out middle@numa; @cache: by caches
 * The first number counts fit points, the one after the offset algorithm exchanges; an offset-only
 * algorithm takes exchanges alone. Also: recompute, early, plain, and a pause such as 2ms or 500us.
 * CLV_INVALID: not a label. */
clv_status_t clv_cs_scheme_parse(const char *label, clv_cs_scheme_t *scheme_p) CLV_MUST_CHECK;
/* The label of a scheme, always parseable; at most n_bytes with the final 0. */
void clv_cs_scheme_print(const clv_cs_scheme_t *scheme, char *label_p, int32_t n_bytes);

/* ---- blocking synchronisation ---------------------------------------------------------------- */

/* Who takes part, over what. ranks[i] is the link's number of member i; NULL: i itself. */
typedef struct clv_cs_group {
    const clv_link_ops_t *ops;
    void *link;
    const int32_t *ranks;
    int32_t n_ranks;
    int32_t rank;                          /* my index */
    int32_t reference;                     /* index of whose clock is the global one */
    int64_t timeout_ns;                    /* of one wait; must cover the turns of the others */
    void (*sleep)(void *link, int64_t ns); /* for pauses; NULL: nanosleep */
} clv_cs_group_t;

typedef struct clv_cs_report {
    int64_t duration_ns; /* on the local clock */
    int64_t n_pings;     /* sent by this rank */
    int32_t n_rounds;    /* pairs one after another, of the whole group */
    double rms_ns;       /* of this rank's fit; 0 without one */
    double r_squared;
} clv_cs_report_t;

/* Where a rank runs. Ranks share a time source when one's clock value is also the other's. */
typedef struct clv_cs_place {
    uint64_t host;                /* equal on ranks of one kernel */
    uint64_t time_source;         /* equal where copying a clock model is right */
    int32_t part[CLV_CS_N_PARTS]; /* within the host */
    int32_t reserved;             /* 0 */
} clv_cs_place_t;

/* This process: host from the kernel's boot id, time_source from boot id, time namespace, and the
 * clock's name, calibration and pretence, parts from the processors we may run on (0 if they are in
 * several, or without hwloc).
 * Host names play no part. CLV_UNSUPPORTED without a boot id. */
clv_status_t clv_cs_place_discover(const clv_cs_clock_t *clock,
                                   clv_cs_place_t *place_p) CLV_MUST_CHECK;

/* Makes the global clock: on CLV_OK, global = clv_cs_model_global(model_p, local) with local from
 * *clock. Collective over the group; every rank passes the same scheme.
 *
 * places[i] of member i is needed for more than one level, and then all ranks need the same ones;
 * members of one host whose time sources differ count as different hosts. start is the model of
 * the reference's own clock, usually NULL (identity); other ranks' is ignored. clock NULL: this
 * rank has no usable clock; it takes part, gets CLV_UNSUPPORTED, and harms nobody that does not
 * depend on it. report_p may be NULL.
 *
 * Each rank gets its own status: CLV_UNSUPPORTED where the clock it was to follow has no time (or
 * prop found another time source), CLV_LOST, CLV_TIMEOUT, CLV_PROTOCOL for its partner's or the
 * link's fault, CLV_NO_MEMORY. *model_p is then not written: do not use times of this rank. */
clv_status_t clv_cs_sync(const clv_cs_scheme_t *scheme, const clv_cs_group_t *group,
                         const clv_cs_place_t *places, const clv_cs_clock_t *clock,
                         const clv_cs_model_t *start, clv_cs_model_t *model_p,
                         clv_cs_report_t *report_p) CLV_MUST_CHECK;

/* Check-Global-Clock (HCA3 paper, Algorithm 6), one of its two passes; the caller waits between.
 * The reference measures the offset of everybody's GLOBAL clock against its own GLOBAL clock; it
 * gets one point per member (its own: 0), a member that failed has error_ns INT64_MAX. Elsewhere
 * points_p is NULL. model NULL: this rank has none. Collective. */
clv_status_t clv_cs_check(const clv_cs_group_t *group, const clv_cs_clock_t *clock,
                          const clv_cs_model_t *model, int32_t n_exchanges,
                          clv_cs_point_t *points_p) CLV_MUST_CHECK;

#endif
