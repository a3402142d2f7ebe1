/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plan cache: a short array searched by hash, then by the whole key.
 */
#include "schedule/sched_cache.h"

#include <string.h>

#include "schedule/sched_instance.h"
#include "schedule/sched_fast_estimate.h"
#include "util/util_alloc.h"
#include "util/util_divide.h"
#include "util/util_hash.h"

enum { MAX_ENTRIES = 1024 };

typedef struct entry {
    const clv_generator_t *generator;
    clv_instance_t instance; /* as rounded; its arrays point into times_ns */
    int64_t *times_ns;       /* arrivals, then order keys and places (int32) if there are any */
    uint64_t hash;
    uint64_t last_used;
    clv_plan_t *plan;
} entry_t;

struct clv_plan_cache {
    entry_t *entries;
    int32_t n_entries;
    int32_t max_entries;
    int64_t max_bytes;
    uint64_t clock; /* counts calls */
    clv_plan_cache_counters_t counters;
};

static size_t place_bytes(const clv_instance_t *instance)
{
    return instance->place == NULL ? 0 : (size_t) instance->n_ranks * sizeof *instance->place;
}

static int64_t entry_bytes(const entry_t *entry)
{
    return entry->plan->n_sends * (int64_t) sizeof(clv_send_t) +
           2 * (int64_t) entry->instance.n_ranks * (int64_t) sizeof(int64_t) +
           (int64_t) place_bytes(&entry->instance);
}

static void drop_entry(entry_t *entry)
{
    clv_plan_free(entry->plan);
    clv_free(entry->times_ns);
}

clv_status_t clv_plan_cache_create(int32_t max_entries, int64_t max_bytes,
                                   clv_plan_cache_t **cache_p)
{
    if (max_entries < 1 || max_entries > MAX_ENTRIES || max_bytes < 0) {
        return CLV_INVALID;
    }
    clv_plan_cache_t *cache = clv_alloc(1, sizeof *cache);
    if (cache == NULL) {
        return CLV_NO_MEMORY;
    }
    cache->entries = clv_alloc((size_t) max_entries, sizeof *cache->entries);
    if (cache->entries == NULL) {
        clv_free(cache);
        return CLV_NO_MEMORY;
    }
    cache->max_entries = max_entries;
    cache->max_bytes = max_bytes;
    *cache_p = cache;
    return CLV_OK;
}

void clv_plan_cache_free(clv_plan_cache_t *cache)
{
    if (cache != NULL) {
        for (int32_t k = 0; k < cache->n_entries; k++) {
            drop_entry(&cache->entries[k]);
        }
        clv_free(cache->entries);
        clv_free(cache);
    }
}

/* ---- keys ------------------------------------------------------------------------------------ */

static size_t n_times(const clv_instance_t *instance)
{
    return (size_t) instance->n_ranks * (instance->order_ns == NULL ? 1 : 2);
}

/* Bytes of times_ns that identify the instance; places follow the last time directly. */
static size_t key_bytes(const clv_instance_t *instance)
{
    return n_times(instance) * sizeof(int64_t) + place_bytes(instance);
}

/* Times relative to their minimum, rounded down to multiples of the quantum. */
static void round_times(const int64_t *times_ns, int32_t n_ranks, int64_t quantum_ns,
                        int64_t *rounded_ns)
{
    const clv_divisor_t quantum = clv_divisor_of(quantum_ns);
    const int64_t first_ns = clv_sched_span(times_ns, n_ranks).first_ns;

    for (int32_t p = 0; p < n_ranks; p++) {
        rounded_ns[p] = clv_divide(times_ns[p] - first_ns, quantum) * quantum_ns;
    }
}

static uint64_t hash_key(const entry_t *entry)
{
    const clv_instance_t *instance = &entry->instance;
    uint64_t hash = clv_fnv1a64(CLV_FNV1A64_BASIS, &instance->round_ns, sizeof(int64_t));
    hash = clv_fnv1a64_u32(hash, (uint32_t) instance->n_ranks);
    hash = clv_fnv1a64_u32(hash, (uint32_t) instance->n_segments);
    hash = clv_fnv1a64_u32(hash, (uint32_t) instance->root);
    hash = clv_fnv1a64_u32(hash, (uint32_t) instance->goal);
    hash = clv_fnv1a64_u32(hash, (uint32_t) instance->is_far_late);
    return clv_fnv1a64(hash, entry->times_ns, key_bytes(instance));
}

/* The instance that is planned for: checked and rounded. The caller frees *times_p. */
static clv_status_t round_instance(const clv_instance_t *instance, int64_t quantum_ns,
                                   clv_instance_t *rounded, int64_t **times_p)
{
    const char *reason;
    clv_status_t status = clv_instance_check(instance, &reason);
    if (status != CLV_OK || quantum_ns < 1) {
        return status != CLV_OK ? status : CLV_INVALID;
    }
    int64_t *times_ns = clv_alloc(key_bytes(instance) / sizeof *times_ns + 1, sizeof *times_ns);
    if (times_ns == NULL) {
        return CLV_NO_MEMORY;
    }
    *rounded = *instance;
    if (instance->place != NULL) {
        int32_t *place = (int32_t *) (void *) (times_ns + n_times(instance));
        memcpy(place, instance->place, place_bytes(instance));
        rounded->place = place;
    }
    round_times(instance->arrival_ns, instance->n_ranks, quantum_ns, times_ns);
    rounded->arrival_ns = times_ns;
    if (instance->order_ns != NULL) {
        int64_t *order_ns = times_ns + instance->n_ranks;
        round_times(instance->order_ns, instance->n_ranks, quantum_ns, order_ns);
        rounded->order_ns = order_ns;
    }
    *times_p = times_ns;
    return CLV_OK;
}

clv_status_t clv_plan_make_rounded(const clv_generator_t *generator, const clv_instance_t *instance,
                                   int64_t quantum_ns, clv_plan_t **plan_p)
{
    clv_instance_t rounded;
    int64_t *times_ns;
    clv_status_t status = round_instance(instance, quantum_ns, &rounded, &times_ns);
    if (status == CLV_OK) {
        status = clv_plan_make(generator, &rounded, plan_p);
        clv_free(times_ns);
    }
    return status;
}

clv_status_t clv_fast_estimate_make_rounded(const clv_generator_t *generator,
                                            const clv_instance_t *instance, int64_t quantum_ns,
                                            clv_fast_estimate_t **fast_p)
{
    clv_instance_t rounded;
    int64_t *times_ns;
    clv_status_t status = round_instance(instance, quantum_ns, &rounded, &times_ns);
    if (status == CLV_OK) {
        status = clv_fast_estimate_make_checked(generator, &rounded, fast_p);
        clv_free(times_ns);
    }
    return status;
}

static clv_status_t make_key(const clv_generator_t *generator, const clv_instance_t *instance,
                             int64_t quantum_ns, entry_t *key)
{
    *key = (entry_t){.generator = generator};
    clv_status_t status = round_instance(instance, quantum_ns, &key->instance, &key->times_ns);
    if (status == CLV_OK) {
        key->hash = hash_key(key);
    }
    return status;
}

static bool same_key(const entry_t *a, const entry_t *b)
{
    const clv_instance_t *x = &a->instance, *y = &b->instance;
    return a->hash == b->hash && a->generator == b->generator && x->n_ranks == y->n_ranks &&
           x->n_segments == y->n_segments && x->root == y->root && x->round_ns == y->round_ns &&
           x->goal == y->goal && x->is_far_late == y->is_far_late && n_times(x) == n_times(y) &&
           place_bytes(x) == place_bytes(y) && memcmp(a->times_ns, b->times_ns, key_bytes(x)) == 0;
}

static entry_t *find_entry(const clv_plan_cache_t *cache, const entry_t *key)
{
    for (int32_t k = 0; k < cache->n_entries; k++) {
        if (same_key(&cache->entries[k], key)) {
            return &cache->entries[k];
        }
    }
    return NULL;
}

/* ---- entries --------------------------------------------------------------------------------- */

static void evict_oldest(clv_plan_cache_t *cache)
{
    entry_t *oldest = &cache->entries[0];
    for (int32_t k = 1; k < cache->n_entries; k++) {
        if (cache->entries[k].last_used < oldest->last_used) {
            oldest = &cache->entries[k];
        }
    }
    cache->counters.n_bytes -= entry_bytes(oldest);
    cache->counters.n_evictions++;
    drop_entry(oldest);
    *oldest = cache->entries[--cache->n_entries];
}

static entry_t *insert_entry(clv_plan_cache_t *cache, const entry_t *made)
{
    int64_t n_bytes = entry_bytes(made);
    while (cache->n_entries > 0 && (cache->n_entries == cache->max_entries ||
                                    cache->counters.n_bytes + n_bytes > cache->max_bytes)) {
        evict_oldest(cache);
    }
    cache->counters.n_bytes += n_bytes;
    cache->entries[cache->n_entries] = *made;
    return &cache->entries[cache->n_entries++];
}

clv_status_t clv_plan_cache_get(clv_plan_cache_t *cache, const clv_generator_t *generator,
                                const clv_instance_t *instance, int64_t quantum_ns,
                                const clv_plan_t **plan_p)
{
    entry_t key;
    clv_status_t status = make_key(generator, instance, quantum_ns, &key);
    if (status != CLV_OK) {
        return status;
    }
    entry_t *entry = find_entry(cache, &key);
    if (entry != NULL) {
        cache->counters.n_hits++;
        clv_free(key.times_ns);
    } else {
        cache->counters.n_misses++;
        status = clv_plan_make(generator, &key.instance, &key.plan);
        if (status != CLV_OK) {
            clv_free(key.times_ns);
            return status;
        }
        key.instance.host_order = NULL; /* it may be freed before the plan */
        entry = insert_entry(cache, &key);
    }
    entry->last_used = ++cache->clock;
    *plan_p = entry->plan;
    return CLV_OK;
}

clv_plan_cache_counters_t clv_plan_cache_counters(const clv_plan_cache_t *cache)
{
    clv_plan_cache_counters_t counters = cache->counters;
    counters.n_entries = cache->n_entries;
    return counters;
}
