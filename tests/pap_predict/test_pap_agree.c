/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tree, and one host's agreement driven by hand: what it refuses, what it sends again, when it
 * gives up. The whole protocol runs in tests/sim/test_pap_sim.c.
 */
#include "pap_predict/agree/pap_agree.h"
#include "pap_predict/agree/pap_wire.h"
#include "tests/support/test.h"
#include "util/util_alloc.h"
#include "util/util_time.h"

#define S CLV_NS_PER_S

/* ---- tree and layout ------------------------------------------------------------------------- */

static void every_host_is_its_parents_child(void **state)
{
    (void) state;
    for (int32_t n_hosts = 1; n_hosts <= 130; n_hosts++) {
        int32_t n_children = 0;
        for (int32_t host = 0; host < n_hosts; host++) {
            int32_t n = clv_pap_tree_n_children(n_hosts, host);
            int32_t end = clv_pap_tree_subtree_end(n_hosts, host);
            int32_t next = host + 1;
            for (int32_t i = 0; i < n; i++) {
                int32_t child = clv_pap_tree_child(host, i);
                assert_int_equal(clv_pap_tree_parent(child), host);
                assert_int_equal(child, next); /* children's subtrees tile this one */
                next = clv_pap_tree_subtree_end(n_hosts, child);
                assert_int_equal(clv_pap_tree_depth(child), clv_pap_tree_depth(host) + 1);
            }
            assert_int_equal(next, end);
            n_children += n;
        }
        assert_int_equal(n_children, n_hosts - 1);
        assert_int_equal(clv_pap_tree_subtree_end(n_hosts, 0), n_hosts);
    }
    assert_int_equal(clv_pap_tree_parent(0), -1);
    assert_int_equal(clv_pap_tree_depth(63), 6);
}

static void a_layout_sorts_ranks_by_host(void **state)
{
    (void) state;
    const int32_t host_of[] = {1, 0, 2, 1, 0};
    const int32_t rank_at[] = {1, 4, 0, 3, 2};
    clv_pap_layout_t layout;
    assert_int_equal(clv_pap_layout_init(host_of, 5, 3, &layout), CLV_OK);
    assert_int_equal(layout.first[0], 0);
    assert_int_equal(layout.first[1], 2);
    assert_int_equal(layout.first[2], 4);
    assert_int_equal(layout.first[3], 5);
    for (int32_t i = 0; i < 5; i++) {
        assert_int_equal(layout.rank_at[i], rank_at[i]);
        assert_int_equal(layout.position_of[rank_at[i]], i);
    }
    clv_pap_layout_clear(&layout);
}

static void impossible_layouts_are_refused(void **state)
{
    (void) state;
    const int32_t gap[] = {0, 2};
    const int32_t beyond[] = {0, 3};
    const int32_t below[] = {0, -1};
    clv_pap_layout_t layout;
    assert_int_equal(clv_pap_layout_init(gap, 2, 2, &layout), CLV_INVALID);
    assert_int_equal(clv_pap_layout_init(beyond, 2, 2, &layout), CLV_INVALID);
    assert_int_equal(clv_pap_layout_init(below, 2, 2, &layout), CLV_INVALID);
    assert_int_equal(clv_pap_layout_init(gap, 0, 0, &layout), CLV_INVALID);
    assert_int_equal(clv_pap_layout_init(gap, 2, 3, &layout), CLV_INVALID);
    const int32_t empty[] = {0, 0};
    assert_int_equal(clv_pap_layout_init(empty, 2, 2, &layout), CLV_INVALID);
}

/* ---- a host by hand -------------------------------------------------------------------------- */

#define MAX_SENT 64

typedef struct sent {
    int32_t host;
    clv_pap_message_t message;
} sent_t;

typedef struct bench {
    clv_pap_layout_t layout;
    clv_pap_agree_t *agree;
    sent_t sent[MAX_SENT];
    int n_sent;
    int n_published;
    int n_void;
    int64_t published_last_arrival;
    uint32_t published_flags; /* of rank 0 */
    uint32_t published_generation;
    int lost;
    int64_t n_versions;
    int stale;
} bench_t;

static void on_send(void *context, int32_t host, const void *bytes, size_t n_bytes)
{
    bench_t *bench = context;
    assert_true(bench->n_sent < MAX_SENT);
    sent_t *sent = &bench->sent[bench->n_sent++];
    sent->host = host;
    assert_int_equal(clv_pap_wire_decode(bytes, n_bytes, bench->layout.n_ranks, &sent->message),
                     CLV_OK);
}

static void on_publish(void *context, const clv_pap_record_set_t *set)
{
    bench_t *bench = context;
    bench->n_published++;
    bench->published_last_arrival = clv_pap_record_set_last_given(set);
    bench->published_flags = set->records[0].flags;
    bench->published_generation = set->generation;
}

static void on_void(void *context, int32_t slot, int64_t first, int64_t end)
{
    bench_t *bench = context;
    assert_int_equal(slot, 0);
    assert_int_equal(first, bench->n_published + bench->n_void);
    bench->n_void += (int) (end - first);
}

static void on_lost(void *context, clv_pap_lost_reason_t reason, const int64_t *n_versions)
{
    bench_t *bench = context;
    assert_true(bench->lost == 0 ||
                (reason == CLV_PAP_LOST_BROKEN && bench->n_versions == n_versions[0]));
    assert_int_not_equal(bench->lost, reason);
    bench->lost = (int) reason;
    bench->n_versions = n_versions[0];
}

static void on_stale(void *context, int32_t host)
{
    bench_t *bench = context;
    assert_int_equal(host, 0);
    bench->stale++;
}

static const clv_pap_agree_ops_t ops = {on_send, on_publish, on_void, on_lost, on_stale};

static clv_status_t start(bench_t *bench, int32_t n_hosts, int32_t host)
{
    int32_t host_of[16];
    memset(bench, 0, sizeof *bench);
    for (int32_t i = 0; i < n_hosts; i++) {
        host_of[i] = i;
    }
    clv_status_t status = clv_pap_layout_init(host_of, n_hosts, n_hosts, &bench->layout);
    clv_pap_agree_options_t options = {.layout = &bench->layout,
                                       .host = host,
                                       .lost_ns = 10 * S,
                                       .retry_ns = 1 * S,
                                       .abandon_ns = 60 * S};
    if (status == CLV_OK) {
        status = clv_pap_agree_create(&options, &ops, bench, 0, &bench->agree);
    }
    if (status != CLV_OK) {
        clv_pap_layout_clear(&bench->layout);
    }
    return status;
}

static void take_down(bench_t *bench)
{
    clv_pap_agree_free(bench->agree);
    clv_pap_layout_clear(&bench->layout);
}

static clv_pap_record_t record_at(int64_t arrival_ns)
{
    return (clv_pap_record_t){.arrival_ns = arrival_ns};
}

static clv_status_t give(bench_t *bench, int64_t now_ns, int32_t rank, int64_t sequence)
{
    clv_pap_record_t record = record_at(100 * sequence + rank);
    return clv_pap_agree_local_record(bench->agree, now_ns, rank, 0, 0, sequence, &record);
}

static clv_status_t get_records(bench_t *bench, int64_t now_ns, int32_t from,
                                clv_pap_wire_kind_t kind, int64_t sequence, int32_t n_records,
                                uint32_t generation, uint32_t flags)
{
    unsigned char bytes[1024];
    clv_pap_record_t records[16];
    for (int32_t i = 0; i < n_records; i++) {
        records[i] = record_at(100 * sequence + i);
        records[i].flags = flags;
    }
    size_t n = clv_pap_wire_put_records(bytes, kind, 0, generation, sequence, records, n_records);
    return clv_pap_agree_message(bench->agree, now_ns, from, bytes, n);
}

static clv_status_t get_counts(bench_t *bench, int64_t now_ns, int32_t from,
                               clv_pap_wire_kind_t kind, int64_t count)
{
    unsigned char bytes[1024];
    int64_t counts[CLV_PAP_MAX_STREAMS] = {count};
    size_t n = clv_pap_wire_put_counts(bytes, kind, kind == CLV_PAP_WIRE_LOST ? 1 : 0, counts);
    return clv_pap_agree_message(bench->agree, now_ns, from, bytes, n);
}

/* From the parent, before any record set. */
static clv_status_t get_lost(bench_t *bench, clv_pap_lost_reason_t reason)
{
    unsigned char bytes[1024];
    int64_t counts[CLV_PAP_MAX_STREAMS] = {0};
    size_t n = clv_pap_wire_put_counts(bytes, CLV_PAP_WIRE_LOST, (int32_t) reason, counts);
    return clv_pap_agree_message(bench->agree, 0, 0, bytes, n);
}

static clv_status_t get_bare(bench_t *bench, int64_t now_ns, int32_t from, clv_pap_wire_kind_t kind)
{
    unsigned char bytes[64];
    size_t n = clv_pap_wire_put_bare(bytes, kind, kind == CLV_PAP_WIRE_GIVE_UP ? 3 : 0);
    return clv_pap_agree_message(bench->agree, now_ns, from, bytes, n);
}

static void assert_sent(bench_t *bench, int index, int32_t host, clv_pap_wire_kind_t kind)
{
    assert_true(index < bench->n_sent);
    assert_int_equal(bench->sent[index].host, host);
    assert_int_equal(bench->sent[index].message.kind, kind);
}

static void create_checks_and_survives_no_memory(void **state)
{
    (void) state;
    bench_t bench;
    assert_int_equal(start(&bench, 2, 2), CLV_INVALID);
    assert_int_equal(start(&bench, 2, -1), CLV_INVALID);
    assert_int_equal(start(&bench, 2, 1), CLV_OK);
    take_down(&bench);
    clv_pap_agree_free(NULL);
}

static int fail_at(void *context, size_t n_bytes)
{
    int *left = context;
    (void) n_bytes;
    return (*left)-- == 0;
}

static void every_failed_allocation_is_reported(void **state)
{
    (void) state;
    bench_t bench;
    clv_status_t status = CLV_NO_MEMORY;
    int n_failures = 0;
    for (int site = 0; status != CLV_OK; site++) {
        int left = site;
        clv_alloc_set_hook(fail_at, &left);
        status = start(&bench, 3, 1);
        clv_alloc_set_hook(NULL, NULL);
        assert_true(status == CLV_OK || status == CLV_NO_MEMORY);
        n_failures += status != CLV_OK;
    }
    assert_true(n_failures > 100); /* 3 of the layout, 3 of the machine, 8 per slot */
    take_down(&bench);
}

static void a_lone_host_decides_at_once(void **state)
{
    (void) state;
    bench_t bench;
    assert_int_equal(start(&bench, 1, 0), CLV_OK);
    for (int64_t sequence = 0; sequence < 5; sequence++) {
        assert_int_equal(give(&bench, 0, 0, sequence), CLV_OK);
        assert_int_equal(bench.n_published, sequence + 1);
        assert_int_equal(bench.published_last_arrival, 100 * sequence);
    }
    assert_int_equal(clv_pap_agree_n_versions(bench.agree, 0), 5);
    assert_int_equal(clv_pap_agree_deadline(bench.agree), INT64_MAX);
    assert_int_equal(bench.n_sent, 0);
    take_down(&bench);
}

static void wrong_local_records_are_refused(void **state)
{
    (void) state;
    bench_t bench;
    clv_pap_record_t bad = {.arrival_ns = INT64_MAX};
    assert_int_equal(start(&bench, 2, 0), CLV_OK);
    assert_int_equal(give(&bench, 0, 1, 0), CLV_INVALID); /* not of this host */
    assert_int_equal(give(&bench, 0, 2, 0), CLV_INVALID);
    assert_int_equal(give(&bench, 0, -1, 0), CLV_INVALID);
    assert_int_equal(give(&bench, 0, 0, 2), CLV_INVALID); /* too far ahead */
    assert_int_equal(give(&bench, 0, 0, -1), CLV_INVALID);
    assert_int_equal(clv_pap_agree_local_record(bench.agree, 0, 0, 0, 0, 0, &bad), CLV_INVALID);
    bad = record_at(0);
    assert_int_equal(clv_pap_agree_local_record(bench.agree, 0, 0, 16, 0, 0, &bad), CLV_INVALID);
    assert_int_equal(give(&bench, 0, 0, 0), CLV_OK);
    assert_int_equal(give(&bench, 0, 0, 0), CLV_INVALID); /* twice */
    assert_int_equal(bench.n_published, 0);
    take_down(&bench);
}

/* Host 0 with children 1 and 2. */
static void the_top_waits_for_all_and_tells_all(void **state)
{
    (void) state;
    bench_t bench;
    assert_int_equal(start(&bench, 3, 0), CLV_OK);
    clv_pap_agree_link_up(bench.agree, 0, 1);
    clv_pap_agree_link_up(bench.agree, 0, 2);
    assert_int_equal(get_counts(&bench, 0, 1, CLV_PAP_WIRE_HELLO, 0), CLV_OK);
    assert_int_equal(get_counts(&bench, 0, 2, CLV_PAP_WIRE_HELLO, 0), CLV_OK);
    assert_sent(&bench, 0, 1, CLV_PAP_WIRE_HELLO);
    assert_sent(&bench, 1, 2, CLV_PAP_WIRE_HELLO);
    assert_int_equal(give(&bench, 0, 0, 0), CLV_OK);
    assert_int_equal(get_records(&bench, 0, 1, CLV_PAP_WIRE_UP, 0, 1, 0, 0), CLV_OK);
    assert_int_equal(get_records(&bench, 0, 1, CLV_PAP_WIRE_UP, 0, 1, 0, 0), CLV_OK); /* again */
    assert_int_equal(bench.n_published, 0);
    assert_int_equal(get_records(&bench, 0, 2, CLV_PAP_WIRE_UP, 0, 1, 0, 0), CLV_OK);
    assert_int_equal(bench.n_published, 1);
    assert_sent(&bench, 2, 1, CLV_PAP_WIRE_DOWN);
    assert_sent(&bench, 3, 2, CLV_PAP_WIRE_DOWN);
    assert_int_equal(bench.n_sent, 4);
    assert_int_equal(get_records(&bench, 0, 1, CLV_PAP_WIRE_UP, 0, 1, 0, 0), CLV_OK); /* old */
    assert_int_equal(bench.n_sent, 4);
    take_down(&bench);
}

static void what_no_correct_child_says_is_refused(void **state)
{
    (void) state;
    bench_t bench;
    assert_int_equal(start(&bench, 3, 0), CLV_OK);
    assert_int_equal(get_counts(&bench, 0, 1, CLV_PAP_WIRE_HELLO, 0), CLV_PROTOCOL); /* not up */
    clv_pap_agree_link_up(bench.agree, 0, 1);
    clv_pap_agree_link_up(bench.agree, 0, 7); /* nobody: ignored */
    clv_pap_agree_link_lost(bench.agree, 0, 7);
    assert_int_equal(get_counts(&bench, 0, 7, CLV_PAP_WIRE_HELLO, 0), CLV_PROTOCOL);
    assert_int_equal(get_records(&bench, 0, 1, CLV_PAP_WIRE_UP, 0, 1, 0, 0), CLV_PROTOCOL);
    assert_int_equal(get_counts(&bench, 0, 1, CLV_PAP_WIRE_HELLO, 1), CLV_PROTOCOL); /* too new */
    assert_int_equal(get_counts(&bench, 0, 1, CLV_PAP_WIRE_HELLO, 0), CLV_OK);
    assert_int_equal(get_records(&bench, 0, 1, CLV_PAP_WIRE_UP, 0, 2, 0, 0), CLV_PROTOCOL);
    assert_int_equal(get_records(&bench, 0, 1, CLV_PAP_WIRE_UP, 2, 1, 0, 0), CLV_PROTOCOL);
    assert_int_equal(get_records(&bench, 0, 1, CLV_PAP_WIRE_DOWN, 0, 3, 0, 0), CLV_PROTOCOL);
    assert_int_equal(get_counts(&bench, 0, 1, CLV_PAP_WIRE_LOST, 0), CLV_PROTOCOL);
    assert_int_equal(clv_pap_agree_message(bench.agree, 0, 1, "garbage", 7), CLV_PROTOCOL);
    assert_int_equal(bench.lost, 0);
    take_down(&bench);
}

static void a_child_too_far_behind_is_refused(void **state)
{
    (void) state;
    bench_t bench;
    assert_int_equal(start(&bench, 2, 0), CLV_OK);
    clv_pap_agree_link_up(bench.agree, 0, 1);
    assert_int_equal(get_counts(&bench, 0, 1, CLV_PAP_WIRE_HELLO, 0), CLV_OK);
    for (int64_t sequence = 0; sequence < 3; sequence++) {
        assert_int_equal(give(&bench, 0, 0, sequence), CLV_OK);
        assert_int_equal(get_records(&bench, 0, 1, CLV_PAP_WIRE_UP, sequence, 1, 0, 0), CLV_OK);
    }
    assert_int_equal(bench.n_published, 3);
    assert_int_equal(get_counts(&bench, 0, 1, CLV_PAP_WIRE_HELLO, 0), CLV_PROTOCOL);
    clv_pap_agree_link_up(bench.agree, 0, 1); /* replaces the old connection */
    bench.n_sent = 0;
    assert_int_equal(get_counts(&bench, 0, 1, CLV_PAP_WIRE_HELLO, 1), CLV_OK);
    assert_sent(&bench, 0, 1, CLV_PAP_WIRE_DOWN); /* the two it lacks, in order */
    assert_int_equal(bench.sent[0].message.sequence, 1);
    assert_sent(&bench, 1, 1, CLV_PAP_WIRE_DOWN);
    assert_int_equal(bench.sent[1].message.sequence, 2);
    assert_sent(&bench, 2, 1, CLV_PAP_WIRE_HELLO);
    take_down(&bench);
}

static clv_status_t get_slot(bench_t *bench, int32_t from, clv_pap_wire_kind_t kind,
                             int64_t sequence)
{
    unsigned char bytes[64];
    size_t n = clv_pap_wire_put_slot(bytes, kind, 0, sequence);
    return clv_pap_agree_message(bench->agree, 0, from, bytes, n);
}

/* Host 0 with child 1, whose rank gives no more records: rank 0 asks, and goes on. */
static void what_a_rank_waits_for_too_long_never_comes(void **state)
{
    (void) state;
    bench_t bench;
    assert_int_equal(start(&bench, 2, 0), CLV_OK);
    clv_pap_agree_link_up(bench.agree, 0, 1);
    assert_int_equal(get_counts(&bench, 0, 1, CLV_PAP_WIRE_HELLO, 0), CLV_OK);
    assert_int_equal(give(&bench, 0, 0, 0), CLV_OK);
    assert_int_equal(get_records(&bench, 0, 1, CLV_PAP_WIRE_UP, 0, 1, 0, 0), CLV_OK);
    bench.n_sent = 0;
    clv_pap_agree_ask_void(bench.agree, 0, 0, 0); /* it came: asked too late */
    clv_pap_agree_ask_void(bench.agree, 0, 0, 2); /* nobody can wait for that one */
    assert_int_equal(bench.n_void, 0);
    for (int64_t sequence = 1; sequence < 10; sequence++) {
        assert_int_equal(give(&bench, 0, 0, sequence), CLV_OK);
        clv_pap_agree_ask_void(bench.agree, 0, 0, sequence);
        clv_pap_agree_ask_void(bench.agree, 0, 0, sequence); /* again: it is decided */
        assert_int_equal(bench.n_void, sequence);
        assert_sent(&bench, bench.n_sent - 1, 1, CLV_PAP_WIRE_VOID);
        assert_int_equal(bench.sent[bench.n_sent - 1].message.sequence, sequence + 1);
    }
    assert_int_equal(bench.n_sent, 9);
    assert_int_equal(clv_pap_agree_n_versions(bench.agree, 0), 10);
    assert_int_equal(get_records(&bench, 0, 1, CLV_PAP_WIRE_UP, 1, 1, 0, 0), CLV_OK); /* late */
    assert_int_equal(give(&bench, 0, 0, 10), CLV_OK);
    assert_int_equal(get_records(&bench, 0, 1, CLV_PAP_WIRE_UP, 10, 1, 0, 0), CLV_OK);
    assert_int_equal(bench.n_published, 2);
    take_down(&bench);
}

/* The child was cut off after records 0 and 1; all since is void, but what it lacks is kept. */
static void a_child_that_lacks_many_void_ones_gets_what_it_lacks(void **state)
{
    (void) state;
    bench_t bench;
    assert_int_equal(start(&bench, 2, 0), CLV_OK);
    clv_pap_agree_link_up(bench.agree, 0, 1);
    assert_int_equal(get_counts(&bench, 0, 1, CLV_PAP_WIRE_HELLO, 0), CLV_OK);
    for (int64_t sequence = 0; sequence < 2; sequence++) {
        assert_int_equal(give(&bench, 0, 0, sequence), CLV_OK);
        assert_int_equal(get_records(&bench, 0, 1, CLV_PAP_WIRE_UP, sequence, 1, 0, 0), CLV_OK);
    }
    clv_pap_agree_link_lost(bench.agree, 0, 1);
    for (int64_t sequence = 2; sequence < 20; sequence++) {
        assert_int_equal(give(&bench, 0, 0, sequence), CLV_OK);
        clv_pap_agree_ask_void(bench.agree, 0, 0, sequence);
    }
    clv_pap_agree_link_up(bench.agree, 0, 1);
    bench.n_sent = 0;
    assert_int_equal(get_counts(&bench, 0, 1, CLV_PAP_WIRE_HELLO, 0), CLV_OK);
    assert_sent(&bench, 0, 1, CLV_PAP_WIRE_DOWN);
    assert_int_equal(bench.sent[0].message.sequence, 0);
    assert_sent(&bench, 1, 1, CLV_PAP_WIRE_DOWN);
    assert_int_equal(bench.sent[1].message.sequence, 1);
    assert_sent(&bench, 2, 1, CLV_PAP_WIRE_VOID);
    assert_int_equal(bench.sent[2].message.sequence, 20);
    assert_sent(&bench, 3, 1, CLV_PAP_WIRE_HELLO);
    take_down(&bench);
}

/* Host 2 of 4: parent 0, child 3, ranks 2 and 3 in its subtree. */
static void start_middle(bench_t *bench)
{
    assert_int_equal(start(bench, 4, 2), CLV_OK);
    clv_pap_agree_link_up(bench->agree, 0, 0);
    clv_pap_agree_link_up(bench->agree, 0, 3);
    assert_int_equal(get_counts(bench, 0, 0, CLV_PAP_WIRE_HELLO, 0), CLV_OK);
    assert_int_equal(get_counts(bench, 0, 3, CLV_PAP_WIRE_HELLO, 0), CLV_OK);
    bench->n_sent = 0;
}

static void complete_subtree(bench_t *bench, int64_t now_ns, int64_t sequence)
{
    assert_int_equal(give(bench, now_ns, 2, sequence), CLV_OK);
    assert_int_equal(get_records(bench, now_ns, 3, CLV_PAP_WIRE_UP, sequence, 1, 0, 0), CLV_OK);
}

static void a_middle_host_passes_up_and_down(void **state)
{
    (void) state;
    bench_t bench;
    start_middle(&bench);
    assert_int_equal(get_records(&bench, 0, 0, CLV_PAP_WIRE_DOWN, 0, 4, 0, 0), CLV_PROTOCOL);
    assert_int_equal(give(&bench, 0, 2, 0), CLV_OK);
    assert_int_equal(get_records(&bench, 0, 0, CLV_PAP_WIRE_DOWN, 0, 4, 0, 0), CLV_PROTOCOL);
    assert_int_equal(get_records(&bench, 0, 3, CLV_PAP_WIRE_UP, 0, 1, 0, 0), CLV_OK);
    assert_sent(&bench, 0, 0, CLV_PAP_WIRE_UP);
    assert_int_equal(bench.sent[0].message.n_items, 2);
    assert_int_equal(get_records(&bench, 0, 0, CLV_PAP_WIRE_DOWN, 1, 4, 0, 0), CLV_PROTOCOL);
    assert_int_equal(get_records(&bench, 0, 0, CLV_PAP_WIRE_DOWN, 0, 4, 0, 0), CLV_OK);
    assert_sent(&bench, 1, 3, CLV_PAP_WIRE_DOWN);
    assert_int_equal(bench.n_published, 1);
    assert_int_equal(get_records(&bench, 0, 0, CLV_PAP_WIRE_DOWN, 0, 4, 0, 0), CLV_OK); /* old */
    assert_int_equal(bench.n_published, 1);
    assert_int_equal(get_records(&bench, 0, 0, CLV_PAP_WIRE_UP, 0, 4, 0, 0), CLV_PROTOCOL);
    assert_int_equal(get_counts(&bench, 0, 0, CLV_PAP_WIRE_LOST, 0), CLV_PROTOCOL); /* has one */
    assert_int_equal(get_counts(&bench, 0, 0, CLV_PAP_WIRE_LOST, 1), CLV_OK);
    assert_int_equal(bench.lost, 1);
    assert_int_equal(bench.n_versions, 1);
    assert_sent(&bench, 2, 3, CLV_PAP_WIRE_LOST);
    assert_int_equal(get_counts(&bench, 0, 0, CLV_PAP_WIRE_LOST, 1), CLV_OK);
    assert_int_equal(give(&bench, 0, 2, 1), CLV_OK); /* taken, for nothing */
    assert_int_equal(clv_pap_agree_deadline(bench.agree), INT64_MAX);
    clv_pap_agree_link_up(bench.agree, 0, 3);
    bench.n_sent = 0;
    assert_int_equal(get_counts(&bench, 0, 3, CLV_PAP_WIRE_HELLO, 0), CLV_OK);
    assert_sent(&bench, 0, 3, CLV_PAP_WIRE_DOWN);
    assert_sent(&bench, 1, 3, CLV_PAP_WIRE_LOST);
    take_down(&bench);
}

static void a_middle_host_passes_asks_up_and_voids_down(void **state)
{
    (void) state;
    bench_t bench;
    start_middle(&bench);
    assert_int_equal(get_slot(&bench, 3, CLV_PAP_WIRE_ASK, 1), CLV_PROTOCOL); /* has not had 0 */
    assert_int_equal(get_slot(&bench, 3, CLV_PAP_WIRE_VOID, 1), CLV_PROTOCOL);
    assert_int_equal(get_slot(&bench, 0, CLV_PAP_WIRE_ASK, 0), CLV_PROTOCOL);
    assert_int_equal(bench.n_sent, 0);
    assert_int_equal(give(&bench, 0, 2, 0), CLV_OK);
    assert_int_equal(give(&bench, 0, 2, 1), CLV_OK);
    assert_int_equal(get_slot(&bench, 3, CLV_PAP_WIRE_ASK, 0), CLV_OK);
    assert_sent(&bench, 0, 0, CLV_PAP_WIRE_ASK);
    assert_int_equal(bench.n_void, 0); /* only host 0 decides */
    assert_int_equal(get_slot(&bench, 0, CLV_PAP_WIRE_VOID, 1), CLV_OK);
    assert_sent(&bench, 1, 3, CLV_PAP_WIRE_VOID);
    assert_int_equal(bench.n_void, 1);
    assert_int_equal(get_slot(&bench, 0, CLV_PAP_WIRE_VOID, 1), CLV_OK); /* again */
    assert_int_equal(get_slot(&bench, 3, CLV_PAP_WIRE_ASK, 0), CLV_OK);  /* it knows soon */
    assert_int_equal(get_records(&bench, 0, 3, CLV_PAP_WIRE_UP, 0, 1, 0, 0), CLV_OK);
    assert_int_equal(bench.n_sent, 2);
    assert_int_equal(get_records(&bench, 0, 3, CLV_PAP_WIRE_UP, 1, 1, 0, 0), CLV_OK);
    assert_sent(&bench, 2, 0, CLV_PAP_WIRE_UP);
    assert_int_equal(get_records(&bench, 0, 0, CLV_PAP_WIRE_DOWN, 1, 4, 0, 0), CLV_OK);
    assert_int_equal(bench.n_published, 1);
    take_down(&bench);
}

static void a_new_connection_gets_all_again(void **state)
{
    (void) state;
    bench_t bench;
    start_middle(&bench);
    complete_subtree(&bench, 0, 0);
    clv_pap_agree_link_lost(bench.agree, 1 * S, 0);
    complete_subtree(&bench, 1 * S, 1); /* nobody to tell */
    assert_int_equal(bench.n_sent, 1);
    clv_pap_agree_link_up(bench.agree, 2 * S, 0);
    assert_sent(&bench, 1, 0, CLV_PAP_WIRE_HELLO);
    assert_sent(&bench, 2, 0, CLV_PAP_WIRE_UP);
    assert_int_equal(bench.sent[2].message.sequence, 0);
    assert_sent(&bench, 3, 0, CLV_PAP_WIRE_UP);
    assert_int_equal(bench.sent[3].message.sequence, 1);
    take_down(&bench);
}

static int64_t tick_on(bench_t *bench)
{
    int64_t now_ns = clv_pap_agree_deadline(bench->agree);
    assert_true(now_ns < INT64_MAX);
    clv_pap_agree_tick(bench->agree, now_ns);
    return now_ns;
}

static void a_silent_connection_is_found_stale(void **state)
{
    (void) state;
    bench_t bench;
    start_middle(&bench);
    complete_subtree(&bench, 0, 0);
    assert_int_equal(tick_on(&bench), 1 * S);
    assert_sent(&bench, 1, 0, CLV_PAP_WIRE_HELLO);
    assert_sent(&bench, 2, 0, CLV_PAP_WIRE_UP);
    assert_int_equal(get_counts(&bench, 1 * S, 0, CLV_PAP_WIRE_HELLO, 0), CLV_OK); /* lives */
    while (bench.stale == 0) {
        assert_true(tick_on(&bench) < 60 * S);
    }
    assert_int_equal(bench.lost, 0);
    take_down(&bench);
}

static void cut_off_with_nothing_sent_is_certain(void **state)
{
    (void) state;
    bench_t bench;
    start_middle(&bench);
    clv_pap_agree_link_lost(bench.agree, 1 * S, 0);
    assert_int_equal(clv_pap_agree_deadline(bench.agree), INT64_MAX); /* nobody waits */
    complete_subtree(&bench, 2 * S, 0);
    assert_int_equal(tick_on(&bench), 12 * S);
    assert_int_equal(bench.lost, CLV_PAP_LOST_LINK);
    assert_int_equal(bench.n_versions, 0);
    assert_sent(&bench, 0, 3, CLV_PAP_WIRE_LOST);
    clv_pap_agree_link_up(bench.agree, 13 * S, 0); /* back: the others shall know */
    assert_sent(&bench, 1, 0, CLV_PAP_WIRE_HELLO);
    assert_sent(&bench, 2, 0, CLV_PAP_WIRE_GIVE_UP);
    take_down(&bench);
}

static void cut_off_in_the_window_waits_longer(void **state)
{
    (void) state;
    bench_t bench;
    start_middle(&bench);
    complete_subtree(&bench, 0, 0);
    clv_pap_agree_link_lost(bench.agree, 1 * S, 0);
    assert_int_equal(tick_on(&bench), 11 * S); /* leaves, says nothing yet */
    assert_int_equal(bench.lost, 0);
    assert_int_equal(tick_on(&bench), 61 * S);
    assert_int_equal(bench.lost, CLV_PAP_LOST_ABANDONED);
    take_down(&bench);
}

static void cut_off_in_the_window_and_back_is_certain_again(void **state)
{
    (void) state;
    bench_t bench;
    start_middle(&bench);
    complete_subtree(&bench, 0, 0);
    clv_pap_agree_link_lost(bench.agree, 1 * S, 0);
    tick_on(&bench);
    clv_pap_agree_link_up(bench.agree, 20 * S, 0);
    assert_sent(&bench, 1, 0, CLV_PAP_WIRE_HELLO); /* no record any more */
    assert_sent(&bench, 2, 0, CLV_PAP_WIRE_GIVE_UP);
    assert_int_equal(get_records(&bench, 20 * S, 0, CLV_PAP_WIRE_DOWN, 0, 4, 0, 0), CLV_OK);
    assert_int_equal(get_counts(&bench, 20 * S, 0, CLV_PAP_WIRE_LOST, 1), CLV_OK);
    assert_int_equal(bench.lost, CLV_PAP_LOST_LINK);
    assert_int_equal(bench.n_versions, 1);
    take_down(&bench);
}

/* The link is up again, but not heard, when it counts as lost: the others have to know, since this
 * host gives no record any more. */
static void cut_off_while_a_link_comes_up_is_reported(void **state)
{
    (void) state;
    bench_t bench;
    start_middle(&bench);
    complete_subtree(&bench, 0, 0);
    clv_pap_agree_link_lost(bench.agree, 1 * S, 0);
    clv_pap_agree_link_up(bench.agree, 11 * S - 1, 0);
    assert_sent(&bench, 1, 0, CLV_PAP_WIRE_HELLO);
    assert_sent(&bench, 2, 0, CLV_PAP_WIRE_UP);
    assert_int_equal(tick_on(&bench), 11 * S);
    assert_int_equal(bench.n_sent, 4);
    assert_sent(&bench, 3, 0, CLV_PAP_WIRE_GIVE_UP);
    assert_int_equal(bench.lost, 0); /* in doubt */
    take_down(&bench);
}

/* Its calls are over, so nothing that this host needs can come of a record. */
static void a_parent_that_is_through_gets_no_record(void **state)
{
    (void) state;
    bench_t bench;
    start_middle(&bench);
    clv_pap_agree_parent_is_through(bench.agree);
    complete_subtree(&bench, 0, 0);
    assert_int_equal(bench.n_sent, 0);
    clv_pap_agree_link_lost(bench.agree, 1 * S, 0);
    assert_int_equal(tick_on(&bench), 11 * S);
    assert_int_equal(bench.lost, CLV_PAP_LOST_LINK); /* not in doubt */
    take_down(&bench);
}

static void a_child_is_heard_once_it_has_asked(void **state)
{
    (void) state;
    bench_t bench;
    assert_int_equal(start(&bench, 4, 2), CLV_OK);
    assert_int_equal(clv_pap_agree_is_heard(bench.agree, 3), 0);
    clv_pap_agree_link_up(bench.agree, 0, 3);
    assert_int_equal(clv_pap_agree_is_heard(bench.agree, 3), 0);
    assert_int_equal(get_counts(&bench, 0, 3, CLV_PAP_WIRE_HELLO, 0), CLV_OK);
    assert_int_equal(clv_pap_agree_is_heard(bench.agree, 3), 1);
    clv_pap_agree_link_lost(bench.agree, 0, 3);
    assert_int_equal(clv_pap_agree_is_heard(bench.agree, 3), 0);
    assert_int_equal(clv_pap_agree_is_heard(bench.agree, 1), 0); /* no neighbour */
    take_down(&bench);
}

static void a_lost_child_is_reported_upward_and_ends_all(void **state)
{
    (void) state;
    bench_t bench;
    start_middle(&bench);
    clv_pap_agree_link_lost(bench.agree, 1 * S, 3);
    assert_int_equal(give(&bench, 2 * S, 2, 0), CLV_OK);
    assert_int_equal(tick_on(&bench), 12 * S);
    assert_sent(&bench, 0, 0, CLV_PAP_WIRE_GIVE_UP);
    assert_int_equal(bench.lost, 0); /* not its decision */
    take_down(&bench);
    assert_int_equal(start(&bench, 2, 0), CLV_OK);
    assert_int_equal(give(&bench, 0, 0, 0), CLV_OK);
    assert_int_equal(tick_on(&bench), 10 * S);
    assert_int_equal(bench.lost, CLV_PAP_LOST_LINK);
    take_down(&bench);
}

static void giving_up_reaches_the_top(void **state)
{
    (void) state;
    bench_t bench;
    start_middle(&bench);
    assert_int_equal(get_bare(&bench, 0, 3, CLV_PAP_WIRE_GIVE_UP), CLV_OK);
    assert_sent(&bench, 0, 0, CLV_PAP_WIRE_GIVE_UP);
    assert_int_equal(bench.sent[0].message.reason, CLV_PAP_LOST_REQUESTED);
    clv_pap_agree_give_up(bench.agree, 0, CLV_PAP_LOST_LINK); /* once is enough */
    assert_int_equal(bench.n_sent, 1);
    tick_on(&bench); /* no answer: asks again */
    assert_sent(&bench, 2, 0, CLV_PAP_WIRE_GIVE_UP);
    take_down(&bench);
    assert_int_equal(start(&bench, 2, 0), CLV_OK);
    clv_pap_agree_link_up(bench.agree, 0, 1);
    assert_int_equal(get_counts(&bench, 0, 1, CLV_PAP_WIRE_HELLO, 0), CLV_OK);
    assert_int_equal(get_bare(&bench, 0, 1, CLV_PAP_WIRE_GIVE_UP), CLV_OK);
    assert_int_equal(bench.lost, CLV_PAP_LOST_REQUESTED);
    assert_sent(&bench, 1, 1, CLV_PAP_WIRE_LOST);
    take_down(&bench);
}

static void a_broken_call_reaches_all_even_after_the_end(void **state)
{
    (void) state;
    bench_t bench;
    start_middle(&bench);
    clv_pap_agree_give_up(bench.agree, 0, CLV_PAP_LOST_LINK);
    clv_pap_agree_give_up(bench.agree, 0, CLV_PAP_LOST_BROKEN); /* more than was asked for */
    clv_pap_agree_give_up(bench.agree, 0, CLV_PAP_LOST_BROKEN);
    assert_int_equal(bench.n_sent, 2);
    assert_sent(&bench, 1, 0, CLV_PAP_WIRE_GIVE_UP);
    assert_int_equal(bench.sent[1].message.reason, CLV_PAP_LOST_BROKEN);
    assert_int_equal(get_counts(&bench, 0, 0, CLV_PAP_WIRE_LOST, 0), CLV_OK);
    assert_int_equal(bench.lost, CLV_PAP_LOST_LINK);
    assert_sent(&bench, 2, 3, CLV_PAP_WIRE_LOST);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(get_lost(&bench, CLV_PAP_LOST_BROKEN), CLV_OK);
        assert_int_equal(bench.lost, CLV_PAP_LOST_BROKEN);
        assert_int_equal(bench.n_sent, 4);
        assert_sent(&bench, 3, 3, CLV_PAP_WIRE_LOST);
        assert_int_equal(bench.sent[3].message.reason, CLV_PAP_LOST_BROKEN);
    }
    take_down(&bench);
}

static void different_generations_are_a_disagreement(void **state)
{
    (void) state;
    bench_t bench;
    for (uint32_t theirs = 0; theirs < 2; theirs++) {
        assert_int_equal(start(&bench, 2, 0), CLV_OK);
        clv_pap_agree_link_up(bench.agree, 0, 1);
        assert_int_equal(get_counts(&bench, 0, 1, CLV_PAP_WIRE_HELLO, 0), CLV_OK);
        clv_pap_record_t record = record_at(1);
        assert_int_equal(clv_pap_agree_local_record(bench.agree, 0, 0, 0, 1 - theirs, 0, &record),
                         CLV_OK);
        assert_int_equal(get_records(&bench, 0, 1, CLV_PAP_WIRE_UP, 0, 1, theirs, 0), CLV_PROTOCOL);
        assert_int_equal(bench.lost, CLV_PAP_LOST_DISAGREE);
        take_down(&bench);
    }
}

/* A hint for a call that never came stands in the next stream's record set as invalid. */
static void an_old_announcement_becomes_invalid(void **state)
{
    (void) state;
    bench_t bench;
    for (uint32_t theirs = 0; theirs < 2; theirs++) {
        assert_int_equal(start(&bench, 2, 0), CLV_OK);
        clv_pap_agree_link_up(bench.agree, 0, 1);
        assert_int_equal(get_counts(&bench, 0, 1, CLV_PAP_WIRE_HELLO, 0), CLV_OK);
        clv_pap_record_t record = record_at(1);
        record.flags = theirs == 1 ? CLV_PAP_RECORD_ANNOUNCED : 0;
        uint32_t other_flags = theirs == 1 ? 0 : CLV_PAP_RECORD_ANNOUNCED;
        assert_int_equal(clv_pap_agree_local_record(bench.agree, 0, 0, 0, 1 - theirs, 0, &record),
                         CLV_OK);
        assert_int_equal(get_records(&bench, 0, 1, CLV_PAP_WIRE_UP, 0, 1, theirs, other_flags),
                         CLV_OK);
        assert_int_equal(bench.n_published, 1);
        assert_int_equal(bench.published_generation, 1);
        assert_int_equal(bench.lost, 0);
        assert_int_equal((bench.published_flags & CLV_PAP_RECORD_INVALID) != 0, theirs == 1);
        take_down(&bench);
    }
}

static void the_group_closes_from_the_leaves(void **state)
{
    (void) state;
    bench_t bench;
    start_middle(&bench);
    clv_pap_agree_bye(bench.agree, 0);
    assert_int_equal(bench.n_sent, 0); /* the child still needs this host */
    assert_false(clv_pap_agree_may_close(bench.agree));
    assert_int_equal(get_bare(&bench, 0, 3, CLV_PAP_WIRE_BYE), CLV_OK);
    assert_sent(&bench, 0, 0, CLV_PAP_WIRE_BYE);
    assert_true(clv_pap_agree_may_close(bench.agree));
    take_down(&bench);
}

static void latency_falls_slowly_and_saturates(void **state)
{
    (void) state;
    assert_int_equal(clv_pap_latency_update(1000, 10), 500);
    assert_int_equal(clv_pap_latency_update(1000, 2000), 2000);
    assert_int_equal(clv_pap_latency_update(10, -5), 5);
    assert_int_equal(clv_pap_latency_update(10, INT64_MAX), UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_host_is_its_parents_child),
        cmocka_unit_test(a_layout_sorts_ranks_by_host),
        cmocka_unit_test(impossible_layouts_are_refused),
        cmocka_unit_test(create_checks_and_survives_no_memory),
        cmocka_unit_test(every_failed_allocation_is_reported),
        cmocka_unit_test(a_lone_host_decides_at_once),
        cmocka_unit_test(wrong_local_records_are_refused),
        cmocka_unit_test(the_top_waits_for_all_and_tells_all),
        cmocka_unit_test(what_no_correct_child_says_is_refused),
        cmocka_unit_test(a_child_too_far_behind_is_refused),
        cmocka_unit_test(a_middle_host_passes_up_and_down),
        cmocka_unit_test(what_a_rank_waits_for_too_long_never_comes),
        cmocka_unit_test(a_child_that_lacks_many_void_ones_gets_what_it_lacks),
        cmocka_unit_test(a_middle_host_passes_asks_up_and_voids_down),
        cmocka_unit_test(a_new_connection_gets_all_again),
        cmocka_unit_test(a_silent_connection_is_found_stale),
        cmocka_unit_test(cut_off_with_nothing_sent_is_certain),
        cmocka_unit_test(cut_off_in_the_window_waits_longer),
        cmocka_unit_test(cut_off_in_the_window_and_back_is_certain_again),
        cmocka_unit_test(cut_off_while_a_link_comes_up_is_reported),
        cmocka_unit_test(a_parent_that_is_through_gets_no_record),
        cmocka_unit_test(a_child_is_heard_once_it_has_asked),
        cmocka_unit_test(a_lost_child_is_reported_upward_and_ends_all),
        cmocka_unit_test(giving_up_reaches_the_top),
        cmocka_unit_test(a_broken_call_reaches_all_even_after_the_end),
        cmocka_unit_test(different_generations_are_a_disagreement),
        cmocka_unit_test(an_old_announcement_becomes_invalid),
        cmocka_unit_test(the_group_closes_from_the_leaves),
        cmocka_unit_test(latency_falls_slowly_and_saturates),
    };
    return clv_run_tests(tests);
}
