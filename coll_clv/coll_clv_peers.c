/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Checks that all ranks of a communicator have this component, built from the same sources, with
 * the same parameters.
 *
 * A rank without it, or with another size limit, would run another reduce than its peers, and the
 * job would hang. A parameter file on one host, a missing or older installation there, or spawned
 * processes can cause that. So before the fence of MPI_Init each process publishes a checksum of
 * the sources and the parameters that decide what runs. Before a communicator first runs anything
 * but the previous reduce, each rank reads the data of all its peers. All ranks read the same data
 * and so reach the same answer, without a message, and an absent rank need not answer.
 *
 * Each process also publishes the collectives in which it may receive device memory
 * (coll_clv_devices.h), because plans combine and copy on the processor. One such rank decides for
 * all its peers, so ranks with device memory and ranks with host memory never run different
 * functions.
 *
 * It publishes its link, so that a communicator knows which ranks share one before it sends
 * anything; and its misspelt parameters, so that only one process reports them.
 *
 * Not covered: values changed later through MPI_T (they must be changed everywhere, as MPI says),
 * and another component above this one on some ranks only.
 *
 * Cost: 120 bytes per process in the exchange that MPI_Init makes anyway; one look-up per rank of a
 * communicator, about 0.3 ms each; none after those of a communicator of the whole job.
 */
#include "coll_clv/coll_clv.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ompi/group/group.h"
#include "ompi/proc/proc.h"

#include "coll_clv/coll_clv_devices.h"
#include "coll_clv/coll_clv_peers.h"
#include "coll_clv_made_of.h" /* made by Makefile.am */
#include "util/util_alloc.h"
#include "util/util_place.h"

typedef struct published {
    char made_of[sizeof COLL_CLV_MADE_OF + 1];
    int32_t equal[CLV_N_EQUAL]; /* the rank-equal parameters, by clv_equal_t */
    uint32_t devices;           /* may differ */
    uint64_t link;              /* clv_place_link; 0: not known */
    uint64_t unknown;           /* coll_clv_unknown_find; may differ */
} published_t;

static published_t mine = {.made_of = COLL_CLV_MADE_OF};

/* All processes of the job have been compared and equal this one; which collectives may be given
 * device memory. */
static atomic_bool world_is_equal;
static atomic_uint world_devices;
static atomic_bool has_reported;

/* Links of this job's processes, as far as they were read, by vpid; under the lock. */
static pthread_mutex_t links_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t *job_links;
static size_t n_job_links;

void coll_clv_peers_publish(void)
{
    coll_clv_component_t *component = &mca_coll_clv_component;
    const clv_choose_config_t config = coll_clv_params_config(component);
    int rc = OPAL_SUCCESS;

    clv_choose_config_numbers(&config, mine.equal);
    if (CLV_OK != clv_place_link(&mine.link)) {
        mine.link = 0;
    }
    mine.unknown = coll_clv_unknown_find();
    mine.devices = config.devices ? coll_clv_devices_collectives(component->priority) : 0;
    if (component->priority > 0) {
        OPAL_MODEX_SEND(rc, COLL_CLV_MODEX_GLOBAL, &component->super.collm_version, &mine,
                        sizeof mine);
    }
    (void) rc; /* on an error no peer finds us, so all ranks go without */
}

/* ---- what a peer published ------------------------------------------------------------------ */

typedef enum verdict { SAME, OTHER, ABSENT } verdict_t;

/* SAME: *his_p is the whole record. OTHER: *which_p is the first parameter that differs, or -1 for
 * a component built from other sources. */
static verdict_t look_at(const opal_process_name_t *name, int *which_p, published_t *his_p)
{
    void *bytes = NULL;
    coll_clv_modex_size_t n_bytes = 0;
    verdict_t verdict = SAME;
    int rc;

    *which_p = -1;
    OPAL_MODEX_RECV(rc, &mca_coll_clv_component.super.collm_version, name, &bytes, &n_bytes);
    if (OPAL_SUCCESS != rc || NULL == bytes) {
        return ABSENT;
    }
    if (sizeof mine == (size_t) n_bytes) {
        memcpy(his_p, bytes, sizeof *his_p);
        verdict = 0 == memcmp(mine.made_of, his_p->made_of, sizeof mine.made_of) ? SAME : OTHER;
    } else {
        verdict = OTHER;
    }
    for (int i = 0; SAME == verdict && i < CLV_N_EQUAL; i++) {
        if (mine.equal[i] != his_p->equal[i]) {
            *which_p = i;
            verdict = OTHER;
        }
    }
    free(bytes);
    return verdict;
}

bool coll_clv_peers_first_tells(void)
{
    const opal_process_name_t first = {.jobid = OMPI_PROC_MY_NAME->jobid, .vpid = 0};
    published_t theirs = {.unknown = ~mine.unknown};
    int which;

    return 0 != OMPI_PROC_MY_NAME->vpid && ABSENT != look_at(&first, &which, &theirs) &&
           theirs.unknown == mine.unknown;
}

void coll_clv_peers_close(void)
{
    pthread_mutex_lock(&links_lock);
    clv_free(job_links);
    job_links = NULL;
    n_job_links = 0;
    pthread_mutex_unlock(&links_lock);
}

/* ---- links ---------------------------------------------------------------------------------- */

static bool is_of_my_job(const opal_process_name_t *name)
{
    return name->jobid == OMPI_PROC_MY_NAME->jobid;
}

/* Makes room for at least n links if there is memory. Under the lock. */
static void grow_links(size_t n)
{
    const size_t n_links = n > 2 * n_job_links ? n : 2 * n_job_links;
    uint64_t *links = n > n_job_links ? clv_alloc(n_links, sizeof *links) : NULL;

    if (NULL != links) {
        if (NULL != job_links) {
            memcpy(links, job_links, n_job_links * sizeof *links);
        }
        clv_free(job_links);
        job_links = links;
        n_job_links = n_links;
    }
}

/* Without memory the link is read again next time. */
static void remember_link(const opal_process_name_t *name, uint64_t link)
{
    if (is_of_my_job(name)) {
        pthread_mutex_lock(&links_lock);
        grow_links((size_t) name->vpid + 1);
        if (name->vpid < n_job_links) {
            job_links[name->vpid] = link;
        }
        pthread_mutex_unlock(&links_lock);
    }
}

static uint64_t remembered_link(const opal_process_name_t *name)
{
    uint64_t link = 0;

    if (is_of_my_job(name)) {
        pthread_mutex_lock(&links_lock);
        link = name->vpid < n_job_links ? job_links[name->vpid] : 0;
        pthread_mutex_unlock(&links_lock);
    }
    return link;
}

static uint64_t find_link(const opal_process_name_t *name)
{
    uint64_t link = remembered_link(name);
    published_t theirs;
    int which;

    return 0 == link && SAME == look_at(name, &which, &theirs) ? theirs.link : link;
}

clv_status_t coll_clv_peers_places(struct ompi_communicator_t *comm, int32_t *place,
                                   int32_t *n_places_p)
{
    const int32_t n_ranks = ompi_comm_size(comm);
    uint64_t *link = clv_alloc((size_t) n_ranks, sizeof *link);
    bool is_known = true;

    if (NULL == link) {
        return CLV_NO_MEMORY;
    }
    for (int32_t p = 0; p < n_ranks && is_known; p++) {
        const opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, p);
        link[p] = find_link(&name);
        is_known = 0 != link[p];
    }
    *n_places_p = is_known ? clv_place_number_links(link, n_ranks, place) : 0;
    clv_free(link);
    return CLV_OK;
}

/* ---- all of a communicator ------------------------------------------------------------------ */

/* The first peer that differs, and how; devices: of the equal peers before it. */
typedef struct difference {
    verdict_t verdict;
    int rank, which;
    published_t theirs;
    uint32_t devices;
} difference_t;

static void find_difference(struct ompi_communicator_t *comm, difference_t *found)
{
    const bool skips_own_job = atomic_load(&world_is_equal);

    found->verdict = SAME;
    found->devices = skips_own_job ? atomic_load(&world_devices) : 0;
    for (int p = 0; SAME == found->verdict && p < ompi_comm_size(comm); p++) {
        const opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, p);
        if (!skips_own_job || !is_of_my_job(&name)) {
            found->rank = p;
            found->verdict = look_at(&name, &found->which, &found->theirs);
            if (SAME == found->verdict) {
                found->devices |= found->theirs.devices;
                remember_link(&name, found->theirs.link);
            }
        }
    }
}

/* Whether no lower rank published the same values: of each kind of ranks, only the first tells the
 * user. Some kinds may never ask, because they would run the previous function anyway. */
static bool is_first_of_its_kind(struct ompi_communicator_t *comm)
{
    int which;
    published_t theirs;

    for (int p = 0; p < ompi_comm_rank(comm); p++) {
        const opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, p);
        if (SAME == look_at(&name, &which, &theirs)) {
            return false;
        }
    }
    return true;
}

/* The lower rank comes first: the sentence is the same whichever rank tells it. */
static void describe_value(const char *comm, const difference_t *found, int rank, char *sentence,
                           size_t size)
{
    const clv_equal_t parameter = (clv_equal_t) found->which;
    const bool mine_first = rank < found->rank;
    char first[32];
    char second[32];

    clv_equal_print(first, sizeof first, parameter,
                    (mine_first ? &mine : &found->theirs)->equal[parameter]);
    clv_equal_print(second, sizeof second, parameter,
                    (mine_first ? &found->theirs : &mine)->equal[parameter]);
    (void) snprintf(sentence, size, "%s is %s on rank %d of %s and %s on rank %d",
                    clv_equal_name(parameter), first, mine_first ? rank : found->rank, comm, second,
                    mine_first ? found->rank : rank);
}

static void describe(struct ompi_communicator_t *comm, const difference_t *found, char *sentence,
                     size_t size)
{
    const int rank = ompi_comm_rank(comm);

    if (ABSENT == found->verdict) {
        (void) snprintf(sentence, size, "rank %d of %s does not use clv, rank %d does", found->rank,
                        comm->c_name, rank);
    } else if (found->which < 0) {
        (void) snprintf(sentence, size, "rank %d of %s has another version of clv than rank %d",
                        found->rank, comm->c_name, rank);
    } else {
        describe_value(comm->c_name, found, rank, sentence, size);
    }
}

/* Told once per process, whatever the number of communicators. */
static void tell(struct ompi_communicator_t *comm, const difference_t *found)
{
    char sentence[256];

    if (is_first_of_its_kind(comm) && !atomic_exchange(&has_reported, true)) {
        describe(comm, found, sentence, sizeof sentence);
        coll_clv_help("unequal-ranks", sentence);
    }
}

/* Whether the ranks are all processes of this job: MPI_COMM_WORLD, or a communicator of the same
 * processes in any order. A program that uses only sessions has no world. */
static bool is_whole_job(struct ompi_communicator_t *comm)
{
    const struct ompi_communicator_t *world = (const struct ompi_communicator_t *) MPI_COMM_WORLD;
    const int n_ranks = ompi_comm_size(comm);

    if (NULL == world->c_local_group || world->c_local_group->grp_proc_count != n_ranks) {
        return false;
    }
    for (int p = 0; p < n_ranks; p++) {
        const opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, p);
        if (!is_of_my_job(&name)) {
            return false;
        }
    }
    return true;
}

bool coll_clv_peers_are_equal(struct ompi_communicator_t *comm, uint32_t *devices_p)
{
    difference_t found;

    find_difference(comm, &found);
    *devices_p = found.devices;
    if (SAME == found.verdict && !atomic_load(&world_is_equal) && is_whole_job(comm)) {
        atomic_store(&world_devices, found.devices);
        atomic_store(&world_is_equal, true);
    }
    if (SAME != found.verdict) {
        tell(comm, &found);
    }
    return SAME == found.verdict;
}
