/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The entry of the blocking family: checks, the table of algorithms, and the levels of H2HCA and
 * H3HCA (HCA3 paper, sections IV-A to IV-D).
 *
 * A level is a group of its own with its own method. The reference of a lower level starts from the
 * clock that the upper level gave it. Models are always against the one global clock, so they never
 * nest and need no flattening.
 */
#include "clocksync/methods/cs_run.h"
#include "util/util_alloc.h"

static bool method_is_sane(const clv_cs_method_t *method)
{
    return (unsigned) method->algorithm < CLV_CS_N_ALGORITHMS &&
           (unsigned) method->offset < CLV_CS_N_OFFSETS && method->n_fit_points > 0 &&
           method->n_exchanges > 0 && method->n_fit_points <= 10000000 &&
           method->n_exchanges <= 10000000 && method->pause_us >= 0;
}

static bool arguments_are_sane(const clv_cs_scheme_t *scheme, const clv_cs_group_t *group,
                               const clv_cs_place_t *places)
{
    if (scheme->n_levels < 1 || scheme->n_levels > CLV_CS_MAX_LEVELS || group->n_ranks < 1 ||
        group->rank < 0 || group->rank >= group->n_ranks || group->reference < 0 ||
        group->reference >= group->n_ranks || group->timeout_ns <= 0) {
        return false;
    }
    bool needs_places = scheme->n_levels > 1;
    for (int32_t i = 0; i < scheme->n_levels; i++) {
        if (!method_is_sane(&scheme->level[i])) {
            return false;
        }
        needs_places |= scheme->level[i].algorithm == CLV_CS_PROP;
    }
    return !needs_places || places != NULL;
}

static int32_t rounds_of(const cs_run_t *run)
{
    const int32_t n = run->group->n_ranks;
    const clv_cs_algorithm_t algorithm = run->method->algorithm;
    int32_t rounds = cs_power_below(n) < n;
    for (int32_t power = cs_power_below(n); power > 1; power /= 2) {
        rounds++;
    }
    if (algorithm == CLV_CS_SKAMPI || algorithm == CLV_CS_JK) {
        return n - 1;
    }
    return algorithm == CLV_CS_HCA ? rounds + n - 1 : rounds;
}

static clv_status_t run_method(cs_run_t *run)
{
    static clv_status_t (*const table[CLV_CS_N_ALGORITHMS])(cs_run_t *) = {
        [CLV_CS_SKAMPI] = clv_cs_run_star,  [CLV_CS_NETGAUGE] = clv_cs_run_tree_up,
        [CLV_CS_JK] = clv_cs_run_jk,        [CLV_CS_HCA] = clv_cs_run_tree_up,
        [CLV_CS_HCA2] = clv_cs_run_tree_up, [CLV_CS_HCA3] = clv_cs_run_hca3,
        [CLV_CS_PROP] = clv_cs_run_prop,
    };
    return table[run->method->algorithm](run);
}

/* ---- levels ---- */

typedef struct levels {
    const clv_cs_group_t *group;
    const clv_cs_place_t *places;
    clv_cs_part_t part;
    int32_t *members; /* indices in the group, n_ranks of them at most, reused per level */
    int32_t *ranks;   /* the same members, as ranks of the link */
    cs_run_t run;
    clv_status_t status; /* of my clock so far */
    int32_t n_rounds;
} levels_t;

/* part: the kind of part that the scheme names. */
typedef bool (*same_t)(const clv_cs_place_t *a, const clv_cs_place_t *b, clv_cs_part_t part);

static bool on_one_machine(const clv_cs_place_t *a, const clv_cs_place_t *b, clv_cs_part_t part)
{
    (void) a;
    (void) b;
    (void) part;
    return true;
}

/* Two time namespaces on one kernel are two hosts: their clocks differ. */
static bool same_host(const clv_cs_place_t *a, const clv_cs_place_t *b, clv_cs_part_t part)
{
    (void) part;
    return a->host == b->host && a->time_source == b->time_source;
}

static bool same_part(const clv_cs_place_t *a, const clv_cs_place_t *b, clv_cs_part_t part)
{
    return same_host(a, b, part) && a->part[part] == b->part[part];
}

/* Lists in levels->members one leader per class by inner, among the members of my class by outer:
 * the first member or, in preferred's class, preferred. Returns how many. */
static int32_t leaders(levels_t *levels, same_t outer, same_t inner, int32_t preferred)
{
    const clv_cs_place_t *places = levels->places;
    const clv_cs_place_t *mine = &places[levels->group->rank];
    int32_t n = 0;
    for (int32_t i = 0; i < levels->group->n_ranks; i++) {
        int32_t known = n; /* backwards: most ranks share a place with the one before them */
        while (known > 0 && !inner(&places[levels->members[known - 1]], &places[i], levels->part)) {
            known--;
        }
        if (outer(&places[i], mine, levels->part) && known == 0) {
            levels->members[n++] = i;
        }
    }
    for (int32_t k = 0; k < n; k++) {
        if (inner(&places[levels->members[k]], &places[preferred], levels->part)) {
            levels->members[k] = preferred;
        }
    }
    return n;
}

static int32_t members(levels_t *levels, same_t same)
{
    const clv_cs_place_t *mine = &levels->places[levels->group->rank];
    int32_t n = 0;
    for (int32_t i = 0; i < levels->group->n_ranks; i++) {
        if (same(&levels->places[i], mine, levels->part)) {
            levels->members[n++] = i;
        }
    }
    return n;
}

static int32_t position(const int32_t *list, int32_t n, int32_t value)
{
    int32_t i = 0;
    while (i < n && list[i] != value) {
        i++;
    }
    return i;
}

/* The one of the leaders just listed that is in my class by same. */
static int32_t leader_of_mine(const levels_t *levels, int32_t n_leaders, same_t same)
{
    const clv_cs_place_t *mine = &levels->places[levels->group->rank];
    int32_t k = 0;
    while (k < n_leaders - 1 && !same(&levels->places[levels->members[k]], mine, levels->part)) {
        k++;
    }
    return levels->members[k];
}

/* Runs one method over one group. The reference keeps the model that it starts with. */
static void run_group(levels_t *levels, const clv_cs_method_t *method, const clv_cs_group_t *group)
{
    const clv_cs_fit_t before = levels->run.fit;
    levels->run.group = group;
    levels->run.method = method;
    levels->run.start = levels->status == CLV_OK ? &before.model : NULL;
    levels->n_rounds += rounds_of(&levels->run);
    const clv_status_t status = run_method(&levels->run);
    if (group->rank != group->reference) {
        levels->status = status;
    } else {
        levels->run.fit = before;
        levels->status = levels->status == CLV_OK ? status : levels->status;
    }
}

/* Runs one level over the n members listed, if this rank is one of them. */
static void run_level(levels_t *levels, const clv_cs_method_t *method, int32_t n, int32_t reference)
{
    const clv_cs_group_t *whole = levels->group;
    clv_cs_group_t group = *whole;
    group.n_ranks = n;
    group.ranks = levels->ranks;
    group.rank = position(levels->members, n, whole->rank);
    group.reference = position(levels->members, n, reference);
    if (group.rank == n || n == 1) {
        return;
    }
    for (int32_t i = 0; i < n; i++) {
        const int32_t member = levels->members[i];
        levels->ranks[i] = whole->ranks != NULL ? whole->ranks[member] : member;
    }
    run_group(levels, method, &group);
}

static void run_levels(levels_t *levels, const clv_cs_scheme_t *scheme)
{
    const int32_t reference = levels->group->reference;
    int32_t n = leaders(levels, on_one_machine, same_host, reference);
    const int32_t host_leader = leader_of_mine(levels, n, same_host);
    run_level(levels, &scheme->level[0], n, reference);
    if (scheme->n_levels == 2) {
        run_level(levels, &scheme->level[1], members(levels, same_host), host_leader);
        return;
    }
    n = leaders(levels, same_host, same_part, host_leader);
    const int32_t part_leader = leader_of_mine(levels, n, same_part);
    run_level(levels, &scheme->level[1], n, host_leader);
    run_level(levels, &scheme->level[2], members(levels, same_part), part_leader);
}

static void start_levels(levels_t *levels, const clv_cs_clock_t *clock, const clv_cs_model_t *start)
{
    const clv_cs_group_t *group = levels->group;
    const bool is_reference = group->rank == group->reference;
    levels->run.clock = clock;
    levels->run.time_source = levels->places != NULL ? levels->places[group->rank].time_source : 0;
    levels->run.fit.model = start != NULL ? *start : clv_cs_identity;
    levels->run.fit.r_squared = 1.0;
    levels->status = is_reference && clock != NULL ? CLV_OK : CLV_UNSUPPORTED;
}

/* Only levels need memory, for the lists of members. */
static clv_status_t run_scheme(levels_t *levels, const clv_cs_scheme_t *scheme)
{
    if (levels->group->n_ranks == 1) {
        return levels->status;
    }
    if (scheme->n_levels == 1) {
        run_group(levels, &scheme->level[0], levels->group);
        return levels->status;
    }
    const size_t n = (size_t) levels->group->n_ranks;
    levels->members = clv_alloc(2 * n, sizeof *levels->members);
    if (levels->members == NULL) {
        return CLV_NO_MEMORY;
    }
    levels->ranks = levels->members + n;
    run_levels(levels, scheme);
    clv_free(levels->members);
    return levels->status;
}

static void write_report(const levels_t *levels, int64_t duration_ns, clv_cs_report_t *report_p)
{
    report_p->duration_ns = duration_ns;
    report_p->n_pings = levels->run.n_pings;
    report_p->n_rounds = levels->n_rounds;
    report_p->rms_ns = levels->run.fit.rms_ns;
    report_p->r_squared = levels->run.fit.r_squared;
}

clv_status_t clv_cs_sync(const clv_cs_scheme_t *scheme, const clv_cs_group_t *group,
                         const clv_cs_place_t *places, const clv_cs_clock_t *clock,
                         const clv_cs_model_t *start, clv_cs_model_t *model_p,
                         clv_cs_report_t *report_p)
{
    if (!arguments_are_sane(scheme, group, places)) {
        return CLV_INVALID;
    }
    levels_t levels = {.group = group, .places = places, .part = scheme->part};
    const int64_t start_ns = clock != NULL ? clv_cs_clock_now_ns(clock) : 0;
    start_levels(&levels, clock, start);
    const clv_status_t status = run_scheme(&levels, scheme);
    const int64_t end_ns = clock != NULL ? clv_cs_clock_now_ns(clock) : 0;
    if (status == CLV_OK) {
        *model_p = levels.run.fit.model;
    }
    if (report_p != NULL) {
        write_report(&levels, cs_sub(end_ns, start_ns), report_p);
    }
    return status;
}
