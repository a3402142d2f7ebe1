/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The performance variables of MPI_T, registered and read by the table of coll_clv_tables.h.
 *
 * What: a row names fields of a source. A read looks at that source, most of them a snapshot made
 * for it, and gives the row's elements. Threads: any.
 */
#include "coll_clv/coll_clv.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "opal/mca/base/mca_base_pvar.h"

#include "coll_clv/coll_clv_ahead.h"
#include "coll_clv/coll_clv_process.h"
#include "coll_clv/coll_clv_sleep.h"
#include "coll_clv/coll_clv_wait.h"

typedef enum source {
    SOURCE_COMPONENT,
    SOURCE_EXCHANGE,
    SOURCE_QUALITY,
    SOURCE_AHEAD,
    SOURCE_WAIT,
    SOURCE_COMMUNICATOR,
} source_t;

typedef union snapshot {
    clv_pap_counters_t exchange;
    coll_clv_gauges_t quality;
    coll_clv_ahead_gauges_t ahead;
    coll_clv_where_t wait;
} snapshot_t;

typedef struct pvar_row {
    const char *name;
    const char *meaning;
    source_t source;
    bool is_counter;
    int n_elements;
    size_t first;     /* of the source's bytes */
    ptrdiff_t stride; /* bytes from an element to the next */
} pvar_row_t;

#define ONE_MORE(word, meaning) +1
#define N_COLLECTIVE            CLV_N_COLLECTIVES
#define N_ALGORITHM             CLV_N_ALGORITHMS
#define N_REASON                CLV_N_REASONS
#define N_CLASS                 (0 COLL_CLV_CLASS_MAP(ONE_MORE))
#define N_AHEAD                 (0 COLL_CLV_AHEAD_MAP(ONE_MORE))
#define N_WAIT                  (0 COLL_CLV_WAIT_MAP(ONE_MORE))
#define N_ONE                   1

#define PLACE_COMPONENT(field)    offsetof(coll_clv_component_t, field)
#define PLACE_EXCHANGE(field)     offsetof(clv_pap_counters_t, field)
#define PLACE_QUALITY(field)      offsetof(coll_clv_gauges_t, field)
#define PLACE_AHEAD(field)        offsetof(coll_clv_ahead_gauges_t, field)
#define PLACE_WAIT(field)         offsetof(coll_clv_where_t, field)
#define PLACE_COMMUNICATOR(field) 0

#define IS_COUNTER true
#define IS_LEVEL   false

static pvar_row_t rows[] = {
#define ROW(name, kind, source, first, second, elements, reader, meaning)                          \
    {#name,                                                                                        \
     meaning,                                                                                      \
     SOURCE_##source,                                                                              \
     IS_##kind,                                                                                    \
     N_##elements,                                                                                 \
     PLACE_##source(first),                                                                        \
     (ptrdiff_t) PLACE_##source(second) - (ptrdiff_t) PLACE_##source(first)},
    COLL_CLV_PVAR_MAP(ROW)
#undef ROW
};

static void read_quality(coll_clv_gauges_t *gauges)
{
    coll_clv_late_t late;

    pthread_mutex_lock(&mca_coll_clv_component.account);
    late = mca_coll_clv_component.late;
    pthread_mutex_unlock(&mca_coll_clv_component.account);
    coll_clv_process_gauges(gauges, late);
}

static const char *look(source_t source, snapshot_t *snapshot)
{
    memset(snapshot, 0, sizeof *snapshot);
    switch (source) {
    case SOURCE_EXCHANGE:
        coll_clv_process_counters(&snapshot->exchange);
        break;
    case SOURCE_QUALITY:
        read_quality(&snapshot->quality);
        break;
    case SOURCE_AHEAD:
        coll_clv_ahead_gauges(&snapshot->ahead);
        break;
    case SOURCE_WAIT:
        coll_clv_wait_read(&snapshot->wait);
        break;
    default:
        return (const char *) &mca_coll_clv_component;
    }
    return (const char *) snapshot;
}

static int read_row(const struct mca_base_pvar_t *pvar, void *values, void *object)
{
    const pvar_row_t *row = pvar->ctx;
    snapshot_t snapshot;
    const char *first = look(row->source, &snapshot) + row->first;

    for (int i = 0; i < row->n_elements; i++) {
        const void *place = first + i * row->stride;
        int64_t value;

        if (SOURCE_COMMUNICATOR == row->source) {
            value = coll_clv_expected_wait_ns(object);
        } else if (SOURCE_COMPONENT == row->source && row->is_counter) {
            value = (int64_t) coll_clv_counted(place);
        } else {
            memcpy(&value, place, sizeof value);
        }
        memcpy((char *) values + (size_t) i * sizeof value, &value, sizeof value);
    }
    return OPAL_SUCCESS;
}

static int say_count(struct mca_base_pvar_t *pvar, mca_base_pvar_event_t event, void *object,
                     int *count)
{
    const pvar_row_t *row = pvar->ctx;

    (void) object;
    if (MCA_BASE_PVAR_HANDLE_BIND == event) {
        *count = row->n_elements;
    }
    return OPAL_SUCCESS;
}

/* Class generic: the only one that may be negative and whose value is not a difference. */
void coll_clv_pvars_register(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pvar_row_t *row = &rows[i];
        (void) mca_base_component_pvar_register(
            &mca_coll_clv_component.super.collm_version, row->name, row->meaning, OPAL_INFO_LVL_4,
            row->is_counter ? MCA_BASE_PVAR_CLASS_COUNTER : MCA_BASE_PVAR_CLASS_GENERIC,
            row->is_counter ? MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG : MCA_BASE_VAR_TYPE_INT64_T,
            NULL,
            SOURCE_COMMUNICATOR == row->source ? MCA_BASE_VAR_BIND_MPI_COMM
                                               : MCA_BASE_VAR_BIND_NO_OBJECT,
            MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS, read_row, NULL, say_count,
            row);
    }
}

unsigned long long coll_clv_counted(const unsigned long long *counter)
{
    const coll_clv_component_t *component = &mca_coll_clv_component;
    const bool of_all = counter == &component->ran[CLV_ALGORITHM_PREVIOUS] ||
                        counter == &component->fell_back[CLV_REASON_TOO_SMALL];
    unsigned long long sum = *counter;

    for (int c = 0; c < CLV_N_COLLECTIVES; c++) {
        if (of_all || counter == &component->calls[c]) {
            sum += component->alone[c];
        }
    }
    return sum;
}

unsigned long long coll_clv_calls(void)
{
    unsigned long long sum = 0;

    for (int c = 0; c < CLV_N_COLLECTIVES; c++) {
        sum += coll_clv_counted(&mca_coll_clv_component.calls[c]);
    }
    return sum;
}
