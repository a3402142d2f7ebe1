/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Determines which rank makes the others wait (see view.h; docs/guide/arrivals.md has the
 * definition).
 *
 * A rank waits for the last of the ranks that had arrived when it left, the late rank. The late
 * rank is charged with its longer computing, compared with the waiting rank, since their last
 * common call. Its own longer waiting in that time is charged to the rank that it waited for, in
 * the same way.
 *
 *      wait of i for r in call c: the lag of r behind i when they come to c
 *
 *      common call      r's calls since, i's calls since         c
 *      ---[ exits ]-----[ waits, the rest ]-----[ computing ]----[ arrivals ]--->
 *         lag 0   +   excess of waits   +   excess of the rest = lag
 *
 * If r left the common call later than i, the search continues inside that call and before it.
 *
 * Units: ns. Memory: 4 bytes per call and rank while it counts.
 */
#include "apps/tools/view/view.h"

#include <stdlib.h>
#include <string.h>

#include "util/util_alloc.h"
#include "util/util_min_max.h"

#define MAX_BACK   64                 /* calls of a rank back to a common call */
#define MAX_COMMON 64                 /* common calls, one before the other */
#define MAX_DEPTH  32                 /* length of a chain of ranks that wait for each other */
#define MIN_SHARE  256                /* a smaller part of a wait is not followed */
#define MOST_NS    (INT64_C(1) << 53) /* limit of one call's time, so that sums fit into 64 bits */

/* A rank's arrival at a call, and the rank it waits for there. */
typedef struct cell {
    const view_comm_t *comm;
    int32_t comm_at, call, rank;            /* rank: of the job */
    int64_t arrival_ns, waited_ns, exit_ns; /* waited: until its wait ends */
    int32_t cause;                          /* of the job; -1: it waits for none */
} cell_t;

typedef struct blame {
    const view_t *view;
    view_rank_count_t *counts;
    int32_t **causes; /* by communicator: [call][rank], a rank of the communicator, or -1 */
    int32_t *order;   /* of a call's ranks, by their arrivals */
    int64_t least_ns; /* smaller parts are not followed */
} blame_t;

/* ---- the rank that each rank waits for ------------------------------------------------------- */

static const int64_t *sorted_arrivals; /* for the comparison */

static int earliest_first(const void *a, const void *b)
{
    const int32_t one = *(const int32_t *) a, other = *(const int32_t *) b;

    if (sorted_arrivals[one] != sorted_arrivals[other]) {
        return sorted_arrivals[one] < sorted_arrivals[other] ? -1 : 1;
    }
    return other - one; /* of equal arrivals the lowest rank counts as the latest */
}

/* The latest rank in order that had arrived by then; -1: none. */
static int32_t latest_by(const int64_t *arrival_ns, const int32_t *order, int32_t n, int64_t by_ns)
{
    int32_t low = 0, high = n; /* the first that arrived later */

    if (n > 0 && arrival_ns[order[n - 1]] <= by_ns) {
        return order[n - 1];
    }
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (arrival_ns[order[middle]] <= by_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 ? order[low - 1] : -1;
}

static void find_causes(blame_t *blame, const view_comm_t *comm, int32_t call, int32_t *causes)
{
    const size_t first = (size_t) call * (size_t) comm->n_ranks;
    const int64_t *arrival_ns = comm->arrival_ns + first, *exit_ns = comm->exit_ns + first;
    const int32_t *bound_ns = comm->bound_ns + first;
    int32_t n = 0, most_ns = 0;

    for (int32_t i = 0; i < comm->n_ranks; i++) {
        causes[i] = -1;
        if (arrival_ns[i] != CLV_NUMBERS_NO_TIME) {
            blame->order[n++] = i;
            most_ns = bound_ns[i] > most_ns ? bound_ns[i] : most_ns;
        }
    }
    sorted_arrivals = arrival_ns;
    qsort(blame->order, (size_t) n, sizeof *blame->order, earliest_first);
    for (int32_t k = 0; k < n; k++) {
        const int32_t i = blame->order[k];
        const int32_t late =
            latest_by(arrival_ns, blame->order, n, exit_ns[i] + bound_ns[i] + (int64_t) most_ns);
        /* Within the errors of both clocks, it is not certain which is later. */
        if (late >= 0 &&
            arrival_ns[late] - arrival_ns[i] > (int64_t) bound_ns[late] + bound_ns[i]) {
            causes[i] = late;
        }
    }
}

static cell_t cell_of(const blame_t *blame, int32_t comm_at, int32_t call, int32_t rank)
{
    const view_comm_t *comm = &blame->view->comms[comm_at];
    const size_t first = (size_t) call * (size_t) comm->n_ranks;
    const size_t at = first + (size_t) comm->rank_of[rank];
    const int32_t cause = blame->causes[comm_at][at];
    cell_t cell = {.comm = comm,
                   .comm_at = comm_at,
                   .call = call,
                   .rank = rank,
                   .arrival_ns = comm->arrival_ns[at],
                   .waited_ns = comm->arrival_ns[at],
                   .exit_ns = comm->exit_ns[at],
                   .cause = cause < 0 ? -1 : comm->members[cause]};

    if (cause >= 0) {
        cell.waited_ns = clv_smaller(cell.exit_ns, comm->arrival_ns[first + (size_t) cause]);
    }
    return cell;
}

/* ---- from two ranks back to their last common call ------------------------------------------- */

/* A rank's calls, the latest first. */
typedef struct way {
    int32_t n;
    bool has_ended;
    cell_t cells[MAX_BACK];
} way_t;

/* A rank's times between a call and a later arrival. */
typedef struct sums {
    int64_t waited_ns;
    int64_t kept_ns; /* in calls, after its wait had ended */
    int64_t all_ns;
} sums_t;

static bool is_same_call(const cell_t *one, const cell_t *other)
{
    return one->comm_at == other->comm_at && one->call == other->call;
}

/* Goes back by one call. */
static void step(const blame_t *blame, const cell_t *from, way_t *way)
{
    const cell_t *last = way->n > 0 ? &way->cells[way->n - 1] : from;
    const view_before_t before =
        last->comm->before[(size_t) last->call * (size_t) last->comm->n_ranks +
                           (size_t) last->comm->rank_of[last->rank]];

    if (before.comm < 0 || way->n == MAX_BACK) {
        way->has_ended = true;
        return;
    }
    way->cells[way->n++] = cell_of(blame, before.comm, before.call, last->rank);
}

/* The index of the call in the way, or -1. */
static int32_t place_in(const way_t *way, const cell_t *call)
{
    for (int32_t i = 0; i < way->n; i++) {
        if (is_same_call(&way->cells[i], call)) {
            return i;
        }
    }
    return -1;
}

/* Goes back until both ways end in one call. False: there is none. */
static bool go_back(const blame_t *blame, const cell_t *late, const cell_t *early, way_t *late_way,
                    way_t *early_way)
{
    way_t *ways[2] = {late_way, early_way};
    const cell_t *from[2] = {late, early};

    for (int k = 0; k < 2; k++) {
        ways[k]->n = 0;
        ways[k]->has_ended = false;
    }
    while (!late_way->has_ended || !early_way->has_ended) {
        for (int k = 0; k < 2; k++) {
            step(blame, from[k], ways[k]);
            const int32_t place =
                ways[k]->has_ended ? -1 : place_in(ways[1 - k], &ways[k]->cells[ways[k]->n - 1]);
            if (place >= 0) {
                ways[1 - k]->n = place + 1;
                return true;
            }
        }
    }
    return false;
}

/* From the common call's exit (the last of the way) to the arrival. Without a common call, from an
 * unknown time that is equal for all ranks. */
static sums_t sums_of(const way_t *way, const cell_t *at, bool has_common)
{
    sums_t sums = {.all_ns = at->arrival_ns};
    const int32_t n = has_common ? way->n - 1 : way->n;

    for (int32_t i = 0; i < n; i++) {
        const cell_t *cell = &way->cells[i];
        sums.waited_ns += clv_smaller(MOST_NS, cell->waited_ns - cell->arrival_ns);
        sums.kept_ns += clv_smaller(MOST_NS, cell->exit_ns - cell->waited_ns);
    }
    sums.all_ns -= has_common ? way->cells[n].exit_ns : 0;
    return sums;
}

/* ---- a wait to its causes -------------------------------------------------------------------- */

/* The part of a lag without a cause so far; scale: ns of the wait per ns of it. */
typedef struct debt {
    int64_t rest_ns;
    double scale;
    int depth;
} debt_t;

static void charge(const blame_t *blame, const cell_t *early, const cell_t *late, double waited_ns,
                   int depth);

static int64_t part_of(int64_t excess_ns, const debt_t *debt)
{
    return clv_larger(0, clv_smaller(excess_ns, debt->rest_ns));
}

static void take(const blame_t *blame, debt_t *debt, int32_t rank, int64_t ns, bool is_kept)
{
    blame->counts[rank].caused_ns += (double) ns * debt->scale;
    blame->counts[rank].kept_ns += is_kept ? (double) ns * debt->scale : 0;
    debt->rest_ns -= ns;
}

/* Charges the late rank's waiting in a call, up to most_ns, to the rank that it waited for
 * there. */
static int64_t pass_on(const blame_t *blame, debt_t *debt, const cell_t *late, int64_t most_ns)
{
    const int64_t ns = clv_smaller(most_ns, late->waited_ns - late->arrival_ns);

    if (ns <= 0 || late->cause < 0) {
        return 0;
    }
    const cell_t cause = cell_of(blame, late->comm_at, late->call, late->cause);
    charge(blame, late, &cause, (double) ns * debt->scale, debt->depth + 1);
    debt->rest_ns -= ns;
    return ns;
}

/* Handles the time between the common call and the arrivals. */
static void take_since(const blame_t *blame, debt_t *debt, const cell_t *late, const way_t *ways,
                       const sums_t *late_sums, const sums_t *early_sums, bool has_common)
{
    const int64_t waits_ns = late_sums->waited_ns - early_sums->waited_ns;
    const int64_t kept_ns = late_sums->kept_ns - early_sums->kept_ns;
    const int64_t self_ns = late_sums->all_ns - early_sums->all_ns - waits_ns;
    const int64_t own_ns = part_of(self_ns, debt), computed_ns = clv_larger(0, self_ns - kept_ns);

    take(blame, debt, late->rank, clv_smaller(own_ns, computed_ns), false);
    take(blame, debt, late->rank, clv_larger(0, own_ns - computed_ns), true);
    int64_t left_ns = part_of(waits_ns, debt);
    for (int32_t i = 0; i < ways->n - has_common && left_ns > 0; i++) {
        left_ns -= pass_on(blame, debt, &ways->cells[i], left_ns);
    }
}

/* Handles the common call itself. */
static void take_within(const blame_t *blame, debt_t *debt, const cell_t *late, const cell_t *early)
{
    const int64_t kept_ns = late->exit_ns - late->waited_ns - (early->exit_ns - early->waited_ns);
    const int64_t waits_ns =
        late->waited_ns - late->arrival_ns - (early->waited_ns - early->arrival_ns);

    take(blame, debt, late->rank, part_of(kept_ns, debt), true);
    if (late->waited_ns > early->waited_ns) {
        (void) pass_on(blame, debt, late, part_of(waits_ns, debt));
    }
}

/* Charges that early waited for late in a call, for waited_ns. */
static void charge(const blame_t *blame, const cell_t *early, const cell_t *late, double waited_ns,
                   int depth)
{
    const int64_t lag_ns = late->arrival_ns - early->arrival_ns;
    cell_t one = *late, other = *early;
    way_t one_way, other_way;
    debt_t debt = {lag_ns, lag_ns > 0 ? waited_ns / (double) lag_ns : 0, depth};

    if (lag_ns <= 0 || depth > MAX_DEPTH || waited_ns < (double) blame->least_ns) {
        blame->counts[late->rank].caused_ns += waited_ns;
        return;
    }
    for (int i = 0; i < MAX_COMMON && debt.rest_ns > 0; i++) {
        const bool has_common = go_back(blame, &one, &other, &one_way, &other_way);
        const sums_t sums = sums_of(&one_way, &one, has_common);
        const sums_t other_sums = sums_of(&other_way, &other, has_common);
        take_since(blame, &debt, late, &one_way, &sums, &other_sums, has_common);
        if (!has_common) {
            break;
        }
        one = one_way.cells[one_way.n - 1];
        other = other_way.cells[other_way.n - 1];
        take_within(blame, &debt, &one, &other);
        if (one.arrival_ns <= other.arrival_ns || one.waited_ns <= other.waited_ns) {
            break;
        }
    }
    take(blame, &debt, late->rank, debt.rest_ns, false);
}

/* ---- all calls ------------------------------------------------------------------------------- */

static void charge_call(blame_t *blame, int32_t comm_at, int32_t call)
{
    const view_comm_t *comm = &blame->view->comms[comm_at];
    const int32_t *causes = blame->causes[comm_at] + (size_t) call * (size_t) comm->n_ranks;

    for (int32_t i = 0; i < comm->n_ranks; i++) {
        if (causes[i] < 0) {
            continue;
        }
        const cell_t early = cell_of(blame, comm_at, call, comm->members[i]);
        const cell_t late = cell_of(blame, comm_at, call, comm->members[causes[i]]);
        const int64_t waited_ns = early.waited_ns - early.arrival_ns;
        blame->least_ns = waited_ns / MIN_SHARE;
        charge(blame, &early, &late, (double) waited_ns, 0);
    }
}

static bool find_all_causes(blame_t *blame)
{
    const view_t *view = blame->view;

    for (int32_t k = 0; k < view->n_comms; k++) {
        const view_comm_t *comm = &view->comms[k];
        if (comm->how != CLV_CLVA_HOW_BLOCKING || comm->n_calls == 0) {
            continue;
        }
        const size_t n = (size_t) comm->n_ranks;
        blame->causes[k] = clv_alloc_unset((size_t) comm->n_calls * n, sizeof **blame->causes);
        if (blame->causes[k] == NULL) {
            return false;
        }
        for (int32_t i = 0; i < comm->n_calls; i++) {
            find_causes(blame, comm, i, blame->causes[k] + (size_t) i * n);
        }
    }
    return true;
}

bool view_find_blame(const view_t *view, view_counts_t *counts)
{
    blame_t blame = {.view = view, .counts = counts->ranks};

    blame.causes = clv_alloc((size_t) view->n_comms + 1, sizeof *blame.causes);
    blame.order = clv_alloc((size_t) view->n_ranks, sizeof *blame.order);
    const bool done = blame.causes != NULL && blame.order != NULL && find_all_causes(&blame);
    for (int32_t k = 0; done && k < view->n_comms; k++) {
        for (int32_t i = 0; blame.causes[k] != NULL && i < view->comms[k].n_calls; i++) {
            charge_call(&blame, k, i);
        }
    }
    for (int32_t k = 0; blame.causes != NULL && k < view->n_comms; k++) {
        clv_free(blame.causes[k]);
    }
    clv_free(blame.causes);
    clv_free(blame.order);
    return done;
}
