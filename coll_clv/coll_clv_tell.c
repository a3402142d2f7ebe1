/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reports which algorithm ran and why: once per shape of call and again when it changes.
 *
 * A small table per module remembers the last report on each shape; two shapes that share an entry
 * only cause more reports.
 */
#include "coll_clv/coll_clv_call.h"

#include "ompi/datatype/ompi_datatype.h"

#include "choose/choose_print.h"
#include "util/util_hash.h"
#include "util/util_log.h"

static uint64_t shape_of(const coll_clv_call_t *call)
{
    uint64_t hash = clv_fnv1a64(CLV_FNV1A64_BASIS, &call->count, sizeof call->count);
    hash = clv_fnv1a64(hash, &call->dtype, sizeof call->dtype);
    hash = clv_fnv1a64(hash, &call->root, sizeof call->root);
    hash = clv_fnv1a64(hash, &call->collective, sizeof call->collective);
    return 0 == hash ? 1 : hash;
}

/* True if the shape's algorithm or reason has changed; remembers the new one. */
static bool take_news(coll_clv_reported_t *reported, uint64_t shape, int algorithm, int reason)
{
    if (shape == reported->shape && algorithm == reported->algorithm &&
        reason == reported->reason) {
        return false;
    }
    *reported = (coll_clv_reported_t){.shape = shape, .reason = reason, .algorithm = algorithm};
    return true;
}

static void say(const coll_clv_call_t *call, int algorithm, int reason)
{
    size_t element_bytes = 0;
    char root[32];

    ompi_datatype_type_size(call->dtype, &element_bytes);
    clv_choose_print_root(root, sizeof root, (int) call->collective, call->root);
    clv_log(CLV_LOG_INFO, "rank %d, call %lld: %s of %zu x %zu bytes%s of %d on %s: %s, because %s",
            ompi_comm_rank(call->comm), (long long) call->module->n_calls,
            clv_collective_name((int) call->collective), (size_t) call->count, element_bytes, root,
            ompi_comm_size(call->comm), call->comm->c_name, clv_algorithm_word(algorithm),
            clv_reason_text(reason));
}

void coll_clv_tell(const coll_clv_call_t *call, int algorithm, int reason)
{
    const int verbose = mca_coll_clv_component.params.verbose;
    const uint64_t shape = verbose < CLV_LOG_INFO ? 0 : shape_of(call);

    if (verbose < CLV_LOG_INFO) {
        return;
    }
    call->module->n_calls++;
    if (!take_news(&call->module->reported[shape % COLL_CLV_N_REPORTED], shape, algorithm,
                   reason) &&
        verbose < CLV_LOG_DEBUG) {
        return;
    }
    if (!coll_clv_tells(call) && verbose < CLV_LOG_DEBUG) {
        return;
    }
    say(call, algorithm, reason);
}
