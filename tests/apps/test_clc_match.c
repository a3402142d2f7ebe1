/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Matching: k-th send to k-th posted receive, what is left out, processes with several threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "apps/clc/clc_match.h"
#include "tests/sim/cs_random.h"

static cs_random_t rng;

#define MOST_EVENTS 4000
static clv_clc_event_t events[3][MOST_EVENTS];
static clv_clc_track_t tracks[3];
static clv_clc_message_t messages[MOST_EVENTS];
static clv_clc_collective_t collectives[64];
static clv_clc_member_t members[256];
static const int32_t hosts[] = {0, 1, 2};
static const uint8_t flavours[CLV_CLC_MAX_OPS] = {[1] = CLV_CLC_N_TO_N, [2] = CLV_CLC_ONE_TO_N};
static clv_clc_note_t notes[3][MOST_EVENTS];
static int64_t n_notes[3];
static clv_clc_trace_t trace;

static void begin(void)
{
    for (int p = 0; p < 3; p++) {
        tracks[p] = (clv_clc_track_t){events[p], 0};
        n_notes[p] = 0;
    }
    for (int i = 0; i < 64; i++) {
        collectives[i] = (clv_clc_collective_t){0};
    }
    trace = (clv_clc_trace_t){.tracks = tracks,
                              .n_tracks = 3,
                              .messages = messages,
                              .collectives = collectives,
                              .members = members};
}

static clv_clc_note_t *add_note(uint32_t process, uint32_t track, clv_clc_note_kind_t kind)
{
    const int64_t j = tracks[track].n_events++;
    events[track][j] = (clv_clc_event_t){10 * j, 0, 0, 0};
    clv_clc_note_t *note = &notes[process][n_notes[process]];
    *note = (clv_clc_note_t){.order_ns = 10 * j,
                             .event = j,
                             .track = track,
                             .sequence = (uint32_t) n_notes[process],
                             .kind = (uint8_t) kind};
    n_notes[process]++;
    return note;
}

static void message(uint32_t source, uint32_t target, uint32_t tag, int is_send, uint64_t bytes)
{
    const uint32_t process = is_send ? source : target;
    clv_clc_note_t *note =
        add_note(process, process, is_send ? CLV_CLC_NOTE_SEND : CLV_CLC_NOTE_RECEIVE);
    note->source = source;
    note->target = target;
    note->tag = tag;
    note->n_bytes = bytes;
}

static clv_clc_match_t *match_all(uint32_t n_processes, const uint32_t *sizes)
{
    clv_clc_match_t *match = clv_clc_match_new(n_processes, 1, flavours);
    assert_non_null(match);
    for (uint32_t p = 0; p < n_processes; p++) {
        assert_int_equal(clv_clc_match_add(match, p, tracks, notes[p], n_notes[p]), CLV_OK);
    }
    assert_int_equal(clv_clc_match_join(match, sizes, NULL, &trace.n_messages, &trace.n_collectives,
                                        &trace.n_members),
                     CLV_OK);
    clv_clc_match_prepare(match, &trace, hosts);
    for (uint32_t p = 0; p < 3; p++) {
        clv_clc_match_bind(match, &trace, p < n_processes ? p : n_processes - 1, p);
    }
    clv_clc_match_settle(match, &trace);
    for (uint32_t p = 0; p < 3; p++) {
        clv_clc_match_trim(match, &trace, p);
    }
    return match;
}

static void keep_last(void *context, const clv_clc_left_out_t *left_out)
{
    *(clv_clc_left_out_t *) context = *left_out;
}

/* Receives are posted in one order and complete in another; the length tells who is who. */
static void receives_go_by_their_posting(void **state)
{
    (void) state;
    enum { N = 500 };
    static const uint32_t none[] = {0};
    begin();
    for (uint64_t i = 0; i < N; i++) {
        message(0, 1, 5, 1, 100 + i);
    }
    int64_t order[N];
    for (int i = 0; i < N; i++) {
        order[i] = i;
    }
    for (int i = N - 1; i > 0; i--) {
        const int k = (int) cs_random_range(&rng, 0, i);
        const int64_t held = order[i];
        order[i] = order[k];
        order[k] = held;
    }
    for (int i = 0; i < N; i++) {
        message(0, 1, 5, 0, 100 + (uint64_t) order[i]);
        notes[1][n_notes[1] - 1].order_ns = order[i] - N;
    }
    clv_clc_match_t *match = match_all(2, none);
    assert_int_equal(trace.n_messages, N);
    for (int i = 0; i < N; i++) {
        assert_int_equal(clv_clc_role(&events[1][i]), CLV_CLC_RECEIVE);
        assert_int_equal(events[1][i].group, events[0][order[i]].group);
        assert_int_equal(messages[events[1][i].group].from, 0);
        assert_int_equal(messages[events[1][i].group].to, 1);
    }
    clv_clc_match_free(match);
}

static void a_channel_that_lacks_one_is_left_out(void **state)
{
    (void) state;
    static const uint32_t none[] = {0};
    clv_clc_left_out_t left_out = {0};
    begin();
    for (int i = 0; i < 5; i++) {
        message(0, 1, 1, 1, 8);
        message(0, 1, 2, 1, 8);
        message(0, 1, 2, 0, 8);
        if (i != 3) {
            message(0, 1, 1, 0, 8);
        }
    }
    clv_clc_match_t *match = match_all(2, none);
    assert_int_equal(trace.n_messages, 5);
    clv_clc_match_left_out(match, keep_last, &left_out);
    assert_string_equal(left_out.reason, "counts differ");
    assert_int_equal(left_out.tag, 1);
    assert_int_equal(left_out.n_sent, 5);
    assert_int_equal(left_out.n_received, 4);
    assert_int_equal(clv_clc_role(&events[0][0]), CLV_CLC_INTERNAL);
    assert_int_equal(clv_clc_role(&events[0][1]), CLV_CLC_SEND);
    clv_clc_match_free(match);
}

static void lengths_are_compared(void **state)
{
    (void) state;
    static const uint32_t none[] = {0};
    clv_clc_left_out_t left_out = {0};
    begin();
    message(0, 1, 1, 1, 8);
    message(0, 1, 1, 1, 9);
    message(0, 1, 1, 0, 9);
    message(0, 1, 1, 0, 8);
    clv_clc_match_t *match = match_all(2, none);
    assert_int_equal(trace.n_messages, 0);
    clv_clc_match_left_out(match, keep_last, &left_out);
    assert_string_equal(left_out.reason, "lengths differ");
    clv_clc_match_free(match);
}

/* Two threads of process 1 send in turns: the channel is the process's, in the order of its clock.
 */
static void threads_of_a_process_share_its_channels(void **state)
{
    (void) state;
    static const uint32_t none[] = {0};
    begin();
    for (uint64_t i = 0; i < 6; i++) {
        clv_clc_note_t *note = add_note(1, 1 + (uint32_t) (i % 2), CLV_CLC_NOTE_SEND);
        note->order_ns = (int64_t) i;
        note->source = 1;
        note->target = 0;
        note->n_bytes = i;
    }
    for (uint64_t i = 0; i < 6; i++) {
        message(1, 0, 0, 0, i);
    }
    clv_clc_match_t *match = match_all(2, none);
    assert_int_equal(trace.n_messages, 6);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(events[0][i].group, events[1 + i % 2][i / 2].group);
    }
    clv_clc_match_free(match);
}

static void collective(uint32_t process, uint8_t op, uint32_t root)
{
    const int64_t enter = tracks[process].n_events++;
    events[process][enter] = (clv_clc_event_t){10 * enter, 0, 0, 0};
    clv_clc_note_t *note = add_note(process, process, CLV_CLC_NOTE_COLLECTIVE);
    note->enter = enter;
    note->order_ns = 10 * enter;
    note->source = process;
    note->target = root;
    note->op = op;
    note->flags = CLV_CLC_SENDS | CLV_CLC_RECEIVES;
}

/* Ten calls of one operation by three members; `rank` makes another at place `at`, or none if it
 * has no `op`. */
static void collectives_with_one_odd(int at, int rank, uint8_t op, uint32_t root)
{
    begin();
    for (int i = 0; i < 10; i++) {
        for (int p = 0; p < 3; p++) {
            const int is_odd = i == at && p == rank;
            if (!is_odd) {
                collective((uint32_t) p, 2, 0);
            } else if (op) {
                collective((uint32_t) p, op, root);
            }
        }
    }
}

static void collectives_end_where_members_differ(void **state)
{
    (void) state;
    static const uint32_t three[] = {3};
    static const struct {
        int at, rank;
        uint8_t op;
        uint32_t root;
        int n_good;
        const char *reason;
    } cases[] = {{-1, 0, 0, 0, 10, ""},
                 {4, 1, 1, 0, 4, "members differ"},
                 {5, 2, 2, 1, 5, "members differ"},
                 {9, 2, 0, 0, 9, "a member lacks some"},
                 {6, 0, 0, 0, 9, "a member lacks some"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        clv_clc_left_out_t left_out = {0};
        collectives_with_one_odd(cases[c].at, cases[c].rank, cases[c].op, cases[c].root);
        clv_clc_match_t *match = match_all(3, three);
        int n_good = 0;
        for (int64_t j = 0; j < tracks[1].n_events; j++) {
            n_good += clv_clc_role(&events[1][j]) == CLV_CLC_EXIT;
        }
        assert_int_equal(n_good, cases[c].n_good);
        assert_int_equal(collectives[0].flavour, CLV_CLC_ONE_TO_N);
        clv_clc_match_left_out(match, keep_last, &left_out);
        assert_string_equal(left_out.reason, cases[c].reason);
        clv_clc_match_free(match);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(receives_go_by_their_posting),
        cmocka_unit_test(a_channel_that_lacks_one_is_left_out),
        cmocka_unit_test(lengths_are_compared),
        cmocka_unit_test(threads_of_a_process_share_its_channels),
        cmocka_unit_test(collectives_end_where_members_differ),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    cs_random_seed_from_environment(&rng);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
