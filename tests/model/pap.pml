/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The agreement of docs/design/protocol.md as a Promela model: one slot, one rank per node, K = 1; with
 * OPEN > 1 calls overlap, and each forecast says K = 1 or 2.
 *
 * In it: records up, decisions down, connections that are cut at any moment with any suffix of
 * what was on the way lost, each side noticing at its own time, HELLO and sending again on a new
 * connection, the top giving up on a silent child, a cut-off node leaving when that is certain.
 * As in the code, what an event lets a node send or decide it sends and decides in the same step; a rank
 * has its answer as soon as its node knows it, since no later moment could change that answer.
 * Not in it: clocks (a time-out may fire whenever its condition holds), streams, what forecasts
 * contain, and abandoning in the window (the one guess the protocol may make without a relay).
 *
 * RELAY: a connection that was cut never comes back. A node that left in doubt asks its parent over MPI: a
 * connection that is never cut.
 *
 * Void record sets: a rank that waits for one asks, at any time (an ASK that is lost is one that was not
 * sent), so node 0 may decide the next one void whenever some rank waits for it.
 *
 * Overlapping calls: a rank has begun up to OPEN that have not ended, asks and ends in any order and
 * at any time. A call's turn comes when all before it are answered; what it is, it learns then.
 *
 * FREE: ranks that made all calls free the communicator. COMES new connections, the first of all among them; then
 * the channel is gone, and who is in doubt asks over MPI, for as long as the parent serves that. Who frees tells its
 * neighbours (THROUGH, or an empty message over MPI to a parent whose connection is away) and leaves once their
 * kernels have that; a child that is away is waited for up to a limit, after which the node goes on serving it
 * (stays). A node that left closes its connections at any time. DIES: one child dies at any moment. Whatever
 * is sent over MPI finds a communicator: one that was left while a connection was away is kept.
 *
 * Checked: assertions marked INVARIANT, and that no run ends before every rank made every call.
 * Tree: TREE 0 is a chain 0 - 1 - 2 (N = 2: one edge), TREE 1 is a top with two children, TREE 2 (N = 4) the
 * component's own tree of four nodes: 0 has 1 and 2, and 2 has 3.
 */
#ifndef CALLS
#define CALLS 3
#endif
#ifndef CUTS
#define CUTS 2
#endif
#ifndef TREE
#define TREE 0
#endif
#ifndef N
#define N    3
#endif
#ifndef VOIDS
#define VOIDS 0  /* record sets that node 0 decides void, at most */
#endif
#ifndef OPEN
#define OPEN 1   /* calls of one rank that overlap, at most */
#endif
#define NONE 100 /* no forecast; otherwise a call's answer is its version */

#ifndef COMES
#define COMES 2 /* FREE: new connections of all edges together */
#endif
#if TREE == 0
#define IS_CHILD(c, i) (c == i + 1)
#define PARENT(c)      ((c) - 1)
#elif TREE == 1
#define IS_CHILD(c, i) (i == 0 && c > 0)
#define PARENT(c)      0
#else
#define IS_CHILD(c, i) ((i == 0 && (c == 1 || c == 2)) || (i == 2 && c == 3))
#endif

#ifdef FREE
mtype = { HELLO, UP, DOWN, LOST, GIVE_UP, VOID, THROUGH };
#else
mtype = { HELLO, UP, DOWN, LOST, GIVE_UP, VOID };
#endif

chan up[N] = [8] of { mtype, byte };   /* of the edge above node i */
chan down[N] = [8] of { mtype, byte };

bit alive[N];      /* the connection of the edge above node i works */
bit child_up[N];   /* the child believes in it */
bit parent_up[N];  /* the parent believes in it ... */
bit greeted[N];    /* ... and has heard HELLO on it */
#ifdef FREE
bit by_relay[N];
bit seen_up[N];    /* the edge above node i had its connection, as its parent knows ... */
bit was_up[N];   /* ... and as it knows itself */
bit child_is_through[N], parent_is_through[N]; /* the other side of the edge above node i has heard so */
bit told_up[N], told_down[N];                  /* over this connection, or over MPI */
byte sure_up[N], sure_down[N]; /* messages in up, down that the receiver's kernel has: it reads them */
bit lost_up[N], lost_down[N]; /* the child, the parent has lost a connection */
bit letter[N];      /* an empty message over MPI to node i's parent */
byte comes;         /* new connections */
bit out[N];         /* its rank is back from MPI_Comm_free */
bit stays[N];       /* it still serves MPI */
bit kept[N];        /* or only the communicator is still there */
byte closed[N];     /* 2: it died */
byte deaths;
#define MAY_CUT(c) (!by_relay[c])
#elif defined(RELAY)
bit was_up[N];     /* the edge above node i had its connection */
bit by_relay[N];  /* its messages go over MPI */
#define MAY_CUT(c) (!by_relay[c])
#else
#define MAY_CUT(c) 1
#endif
byte cuts;

byte given[N];     /* records its rank gave = calls it began */
byte in_call[N];   /* 1: its rank looks for its forecast */
byte decided[N];
byte got[N];       /* record sets whose UP came over the edge above node i */
byte ever_sent[N]; /* ... were sent over it */
bit lost[N];
bit left[N];
bit asked[N];      /* to end predictions */
byte truth[CALLS];
bit known[CALLS];
byte finished;
byte voids;
bit voided[CALLS]; /* node 0's decisions, read only by nodes that know that they were made */

/* Complete record sets that a child with `value` decisions lacks. */
#define LACKS(value, i, q) ((q) >= value && (q) < decided[i] && !voided[q])

#if OPEN > 1
#define NEVER    255
#define ENDED    254
byte begun[N];         /* calls */
byte turn[N];          /* the call whose turn it is; all before are answered */
byte ended[N];         /* how many */
byte next_sample[N];
byte version[N];       /* that calls between samples use */
byte held[N * CALLS];  /* by call: version that it uses, 0 none, ENDED */
byte every[CALLS + 1]; /* K that a version says; 0: nobody has looked yet */

/* Some open call of rank i uses version v. */
#define HELD_1(i, c, v) (c < turn[i] && held[(i) * CALLS + c] == v)
#if CALLS > 3
#define HOLDS(i, v) (HELD_1(i, 0, v) || HELD_1(i, 1, v) || HELD_1(i, 2, v) || HELD_1(i, CALLS - 1, v))
#else
#define HOLDS(i, v) (HELD_1(i, 0, v) || HELD_1(i, 1, v) || HELD_1(i, CALLS - 1, v))
#endif
#endif

inline put(channel, c, kind, value) {
    if
    :: alive[c] -> assert(len(channel) < 8); channel ! kind, value
    :: else -> skip
    fi
}

inline pass_down(i, kind, value) {
    d = 1;
    do
    :: d < N ->
        if
        :: IS_CHILD(d, i) && parent_up[d] && greeted[d] -> put(down[d], d, kind, value)
        :: else -> skip
        fi;
        d++
    :: else -> break
    od
}

/* Nothing of an event is left in the state but what it changed. */
inline forget() {
    d = 0;
    value = 0;
    kind = HELLO
}

#define DUE(i)      (given[i] > decided[i] || (i + 1 < N && IS_CHILD(i + 1, i) && got[i + 1] > decided[i]) || \
                     (i + 2 < N && IS_CHILD(i + 2, i) && got[i + 2] > decided[i]))
#define CHILDREN(i, q) ((i + 1 >= N || !IS_CHILD(i + 1, i) || got[i + 1] > q) && \
                        (i + 2 >= N || !IS_CHILD(i + 2, i) || got[i + 2] > q))
#define COMPLETE(i, q) (given[i] > q && CHILDREN(i, q))

/* INVARIANT: one answer per call. */
inline agree_on(call, what) {
    if
    :: known[call] -> assert(truth[call] == what)
    :: else -> known[call] = 1; truth[call] = what
    fi
}

#define ASKS(i, q) (in_call[i] && given[i] == q + 2)
#if N > 3
#define SOME_ASKS(q) (ASKS(0, q) || ASKS(1, q) || ASKS(2, q) || ASKS(3, q))
#elif N > 2
#define SOME_ASKS(q) (ASKS(0, q) || ASKS(1, q) || ASKS(2, q))
#else
#define SOME_ASKS(q) (ASKS(0, q) || ASKS(1, q))
#endif

inline answer(i, what) {
    agree_on(given[i] - 1, what);
    in_call[i] = 0;
    if
    :: given[i] == CALLS -> finished++
    :: else -> skip
    fi
}

/* A rank that waits has its answer once the forecast is there, or void, or will never come. */
inline answer_if_known(i) {
#if OPEN == 1
    if
    :: in_call[i] && given[i] > 1 && decided[i] >= given[i] - 1 && !voided[given[i] - 2] ->
        answer(i, given[i] - 1)
    :: in_call[i] && given[i] > 1 && decided[i] >= given[i] - 1 && voided[given[i] - 2] ->
        answer(i, NONE)
    :: in_call[i] && given[i] > 1 && decided[i] < given[i] - 1 && lost[i] -> answer(i, NONE)
    :: in_call[i] && given[i] == 1 -> answer(i, NONE)
    :: else -> skip
    fi
#else
    skip
#endif
}

/* INVARIANT: the place of version v - 2 is free when version v is published, two places suffice. */
inline accept(i) {
    assert(given[i] > decided[i]);
    decided[i]++;
#if OPEN > 1
    assert(decided[i] < 3 || !HOLDS(i, decided[i] - 2));
#endif
    pass_down(i, DOWN, decided[i] - 1);
    answer_if_known(i)
}

inline accept_void(i) {
    decided[i]++;
    pass_down(i, VOID, decided[i] - 1);
    answer_if_known(i)
}

/* What only a node that goes on asks for is forgotten. */
inline end_here(i) {
    lost[i] = 1;
    left[i] = 0;
    ever_sent[i] = 0;
    pass_down(i, LOST, decided[i]);
    answer_if_known(i)
}

#if OPEN > 1
/* The call whose turn it is uses version[i], if that is there. */
inline answer_turn(i) {
    if
    :: version[i] > 0 && version[i] <= decided[i] -> agree_on(turn[i], version[i])
    :: else -> agree_on(turn[i], NONE)
    fi;
    held[i * CALLS + turn[i]] = version[i];
    turn[i]++;
    in_call[i] = 0
}

#define IS_OPEN(i, c) (c < turn[i] && held[(i) * CALLS + c] != ENDED)

inline end_call(i, call) {
    held[i * CALLS + call] = ENDED;
    ended[i]++;
    if
    :: ended[i] == CALLS -> finished++
    :: else -> skip
    fi
}

/* The forecast decides when to sample next, the same for all. */
inline look(i) {
    version[i] = given[i] - 1;
    if
    :: every[version[i]] == 0 -> every[version[i]] = 1
    :: every[version[i]] == 0 -> every[version[i]] = 2
    :: else -> skip
    fi;
    next_sample[i] = turn[i] + every[version[i]];
    if
    :: voided[version[i] - 1] -> version[i] = 0
    :: else -> skip
    fi
#ifdef IMPATIENT /* what must be found: a call that was begun before is taken for not sampled */
    if
    :: begun[i] > next_sample[i] -> next_sample[i] = NEVER
    :: else -> skip
    fi
#endif
}
#endif

#if defined(FREE) && !defined(EAGER) /* what must be found: records for a parent that is through */
#define MAY_SEND(i) && !parent_is_through[i]
#else
#define MAY_SEND(i)
#endif

inline send_up(i, q) {
    if
    :: child_up[i] && !left[i] && !lost[i] && q >= decided[i] MAY_SEND(i) ->
        put(up[i], i, UP, q);
        if
        :: ever_sent[i] <= q -> ever_sent[i] = q + 1
        :: else -> skip
        fi
    :: else -> skip
    fi
}

/* Something came to record set q at node i: if that made it complete, it goes up, or the top decides. */
inline look_at(i, q) {
    if
    :: i > 0 && COMPLETE(i, q) -> send_up(i, q)
    :: i == 0 && !lost[i] && decided[i] < CALLS && COMPLETE(i, decided[i]) -> accept(i)
    :: else -> skip
    fi
}

inline ask_to_end(i) {
    if
    :: i == 0 -> end_here(i)
    :: i > 0 && child_up[i] -> asked[i] = 1; put(up[i], i, GIVE_UP, 0)
    :: i > 0 && !child_up[i] -> asked[i] = 1
    fi
}

/* The next message of child c. */
inline from_child(i, c) {
    up[c] ? kind, value;
#ifdef FREE
    sure_up[c] = (sure_up[c] > 0 -> sure_up[c] - 1 : 0);
#endif
    if
#ifdef FREE
    :: kind == THROUGH -> child_is_through[c] = 1
#endif
    :: kind == HELLO ->
        assert(value <= decided[i]);
        /* INVARIANT: the two newest complete ones suffice */
#if CALLS > 3
        assert(LACKS(value, i, 0) + LACKS(value, i, 1) + LACKS(value, i, 2) + LACKS(value, i, CALLS - 1) <= 2);
#elif CALLS > 2
        assert(LACKS(value, i, 0) + LACKS(value, i, 1) + LACKS(value, i, CALLS - 1) <= 2);
#endif
        greeted[c] = 1;
        do
        :: value < decided[i] && !voided[value] -> put(down[c], c, DOWN, value); value++
        :: value < decided[i] && voided[value] -> put(down[c], c, VOID, value); value++
        :: else -> break
        od;
        if
        :: lost[i] -> put(down[c], c, LOST, decided[i])
        :: else -> skip
        fi
    :: kind == UP ->
        assert(greeted[c]);
        assert(value <= decided[i] + 1);   /* INVARIANT: two open record sets suffice */
        assert(value <= got[c] || value <= decided[i]); /* what was skipped is void */
        if
        :: value >= got[c] -> got[c] = value + 1; look_at(i, value)
        :: else -> skip
        fi
    :: kind == GIVE_UP ->
        if
        :: !lost[i] && !asked[i] -> ask_to_end(i)
        :: else -> skip
        fi
    fi;
    forget()
}

/* A child that is silent for too long while a record waits. */
#define IS_SILENT(i, c) (c < N && IS_CHILD(c, i) && !greeted[c] && DUE(i) && !lost[i] && !asked[i])

#ifdef FREE
#define DONE(i)     (given[i] == CALLS && !in_call[i])
#define SERVES(i)   (!closed[i] && (!out[i] || stays[i]))
#define IN_DOUBT(i) (left[i] && !lost[i] && !child_up[i] && !parent_is_through[i])
#ifdef EARLY /* what must be found: a child is told THROUGH before it has all that it lacks */
#define MAY_TELL(c) parent_up[c]
#else
#define MAY_TELL(c) (parent_up[c] && greeted[c])
#endif
#ifdef HASTE /* what must be found: nobody waits for a child that is away */
#define MISSES(c) 0
#else
#define MISSES(c) (seen_up[c] && !child_is_through[c])
#endif

/* Nothing is owed over the edge above node i: by that node, by its parent. */
#define CHILD_IS_EVEN(i) \
    (by_relay[i] || (child_up[i] && alive[i] && told_up[i]) || (!child_up[i] && !IN_DOUBT(i)))
#define PARENT_IS_EVEN(c) \
    ((by_relay[c] && greeted[c]) || (parent_up[c] && alive[c] && told_down[c] && !by_relay[c]) || \
     (!parent_up[c] && !MISSES(c)))
#define HAS_CHILD(i, c) (c < N && IS_CHILD(c, i))
#define IS_EVEN(i) ((i == 0 || CHILD_IS_EVEN(i)) && (!HAS_CHILD(i, i + 1) || PARENT_IS_EVEN(i + 1)) && \
                    (!HAS_CHILD(i, i + 2) || PARENT_IS_EVEN(i + 2)))

inline tell_down(c) {
    told_down[c] = 1;
    put(down[c], c, THROUGH, 0)
}

/* INVARIANT: what is sent over MPI finds its communicator. */
inline post_letter(i, parent) {
    assert(SERVES(parent) || kept[parent] || closed[parent] == 2);
    told_up[i] = 1;
    letter[i] = 1
}

/* The edge above node i, as its parent leaves it. */
inline leave_child(i, c) {
    if
    :: HAS_CHILD(i, c) ->
        sure_down[c] = (parent_up[c] && alive[c] -> len(down[c]) : sure_down[c]);
        kept[i] = kept[i] || by_relay[c] || lost_down[c];
        assert(!letter[c] || kept[i] || stays[i]) /* INVARIANT: the same */
    :: else -> skip
    fi
}

inline leave_parent(i) {
    if
    :: i > 0 ->
        sure_up[i] = (child_up[i] && alive[i] -> len(up[i]) : sure_up[i]);
        kept[i] = kept[i] || by_relay[i] || lost_up[i];
        if
        :: !by_relay[i] && !child_up[i] && was_up[i] && !parent_is_through[i] && !told_up[i] ->
            post_letter(i, PARENT(i))
        :: else -> skip
        fi
    :: else -> skip
    fi
}

inline leave(i) {
    leave_parent(i);
    leave_child(i, i + 1);
    leave_child(i, i + 2);
    out[i] = 1
}

inline hang_up(i, kind_of_end) {
    d = 1;
    do
    :: d < N ->
        if
        :: (d == i || IS_CHILD(d, i)) && !by_relay[d] -> alive[d] = 0
        :: else -> skip
        fi;
        d++
    :: else -> break
    od;
    forget();
    closed[i] = kind_of_end /* the last thing that it does */
}
#endif

proctype node(byte i) {
    byte d;
    byte value;
    mtype kind;
#ifdef FREE
    {
#endif
end:
    do
#ifdef FREE
    :: atomic { DONE(i) && HAS_CHILD(i, i + 1) && MAY_TELL(i + 1) && !told_down[i + 1] -> tell_down(i + 1) }
    :: atomic { DONE(i) && HAS_CHILD(i, i + 2) && MAY_TELL(i + 2) && !told_down[i + 2] -> tell_down(i + 2) }
    :: atomic { DONE(i) && i > 0 && child_up[i] && !told_up[i] -> told_up[i] = 1; put(up[i], i, THROUGH, 0) }
    :: atomic { DONE(i) && !out[i] && IS_EVEN(i) -> leave(i); forget() }
#ifndef UNBOUNDED /* what must be found: a child that died holds its parent for ever */
    :: atomic { DONE(i) && !out[i] && !IS_EVEN(i) -> stays[i] = 1; leave(i); forget() }
#endif
    :: atomic { i > 0 && letter[i] && SERVES(PARENT(i)) -> letter[i] = 0; child_is_through[i] = 1 }
    :: atomic { out[i] && !stays[i] -> hang_up(i, 1) }
#ifdef DIES
    :: atomic { i == N - 1 && deaths == 0 -> deaths = 1; out[i] = 1; hang_up(i, 2) }
#endif
#endif
#if OPEN > 1
    /* its rank: calls begin, come in one by one, are answered, end. in_call: a sampled one waits */
    :: atomic { begun[i] < CALLS && begun[i] - ended[i] < OPEN -> begun[i]++ }
    :: atomic { turn[i] < begun[i] && !in_call[i] && turn[i] != next_sample[i] -> answer_turn(i) }
    :: atomic { turn[i] < begun[i] && !in_call[i] && turn[i] == next_sample[i] &&
#ifndef GRASPING /* what must be found: a record given while its forecast's place is in use */
            (given[i] < 2 || !HOLDS(i, given[i] - 1)) &&
#endif
            given[i] < CALLS ->
        given[i]++;
        in_call[i] = 1;
        look_at(i, given[i] - 1);
        forget()
    }
    :: atomic { in_call[i] && given[i] == 1 -> next_sample[i] = turn[i] + 1; answer_turn(i) }
    :: atomic { in_call[i] && given[i] > 1 && decided[i] >= given[i] - 1 -> look(i); answer_turn(i) }
    :: atomic { in_call[i] && given[i] > 1 && decided[i] < given[i] - 1 && lost[i] ->
        version[i] = given[i] - 1;
        next_sample[i] = NEVER;
        answer_turn(i)
    }
    :: atomic { IS_OPEN(i, 0) -> end_call(i, 0) }
    :: atomic { IS_OPEN(i, 1) -> end_call(i, 1) }
#if CALLS > 2
    :: atomic { IS_OPEN(i, 2) -> end_call(i, 2) }
#endif
#if CALLS > 3
    :: atomic { IS_OPEN(i, 3) -> end_call(i, 3) }
#endif
#else
    /* its rank: gives the record, then waits for the version that the record set before makes */
    :: atomic { !in_call[i] && given[i] < CALLS ->
        given[i]++;
        in_call[i] = 1;
        look_at(i, given[i] - 1);
        answer_if_known(i);
        forget()
    }
#endif

#if VOIDS > 0
    :: atomic { i == 0 && !lost[i] && voids < VOIDS && decided[i] < CALLS && SOME_ASKS(decided[i]) ->
        voids++;
#ifndef HASTY /* what must be found: a node that goes without by its own word */
        voided[decided[i]] = 1;
#endif
        accept_void(i);
        look_at(i, decided[i]);
        forget()
    }
#ifdef HASTY
    :: atomic { i > 0 && !lost[i] && voids < VOIDS && ASKS(i, decided[i]) -> voids++; answer(i, NONE) }
#endif
#endif

    /* from the parent */
    :: atomic {
        i > 0 && child_up[i] && len(down[i]) > 0 ->
        down[i] ? kind, value;
#ifdef FREE
        sure_down[i] = (sure_down[i] > 0 -> sure_down[i] - 1 : 0);
#endif
        if
#ifdef FREE
        :: kind == THROUGH -> parent_is_through[i] = 1
        :: kind != THROUGH && lost[i] -> skip
#else
        :: lost[i] -> skip
#endif
        :: !lost[i] && kind == DOWN && value < decided[i] -> skip
        :: !lost[i] && kind == DOWN && value >= decided[i] ->
            assert(value == decided[i]);        /* INVARIANT: no gap */
            assert(COMPLETE(i, decided[i]));    /* INVARIANT: not without this subtree */
            accept(i)
        :: !lost[i] && kind == VOID && value < decided[i] -> skip
        :: !lost[i] && kind == VOID && value >= decided[i] ->
            assert(value == decided[i]);        /* INVARIANT: no gap */
            accept_void(i)
        :: !lost[i] && kind == LOST ->
            assert(value == decided[i]);        /* INVARIANT: the end comes last */
            end_here(i);
            asked[i] = 0 /* who said so knows */
        fi;
        forget()
    }

    /* from a child */
    :: atomic { i + 1 < N && IS_CHILD(i + 1, i) && parent_up[i + 1] && len(up[i + 1]) > 0 -> from_child(i, i + 1) }
    :: atomic { i + 2 < N && IS_CHILD(i + 2, i) && parent_up[i + 2] && len(up[i + 2]) > 0 -> from_child(i, i + 2) }

    /* time-outs: a silent child, a silent parent */
    :: atomic { IS_SILENT(i, i + 1) || IS_SILENT(i, i + 2) -> ask_to_end(i); forget() }
    :: atomic { i > 0 && !child_up[i] && DUE(i) && !lost[i] && !left[i] ->
        left[i] = 1;
        asked[i] = 1;
        if
        :: ever_sent[i] <= decided[i] -> end_here(i)
        :: else -> skip
        fi;
        forget()
    }
#ifdef BROKEN /* what must be found: leaving although something was sent */
    :: atomic { i > 0 && left[i] && !lost[i] && !child_up[i] -> end_here(i); forget() }
#else
    :: atomic { i > 0 && left[i] && !lost[i] && !child_up[i] && ever_sent[i] <= decided[i] ->
        end_here(i);
        forget()
    }
#endif
    od
#ifdef FREE
    } unless { closed[i] -> skip }
#endif
}

/* The network: cuts, each side noticing, new connections. */
proctype edge(byte c) {
    mtype kind;
    byte value;
end:
    do
#ifdef FREE
    :: atomic { alive[c] && MAY_CUT(c) && cuts < CUTS -> cuts++; alive[c] = 0 }
#else
    :: atomic { alive[c] && MAY_CUT(c) && cuts < CUTS && finished < N -> cuts++; alive[c] = 0 }
#endif
#if defined(FREE) && !defined(HURRIED) /* what must be found: what the kernel has is thrown away */
    :: atomic { !alive[c] && child_up[c] && !closed[c] && sure_down[c] == 0 ->
#else
    :: atomic { !alive[c] && child_up[c] ->
#endif
        child_up[c] = 0;
#ifdef FREE
        told_up[c] = 0;
        lost_up[c] = 1;
        sure_down[c] = 0;
#endif
        do
        :: len(down[c]) > 0 -> down[c] ? kind, value
        :: else -> break
        od;
        kind = HELLO; value = 0 /* leave no trace in the state */
    }
#if defined(FREE) && !defined(HURRIED)
    :: atomic { !alive[c] && parent_up[c] && !closed[PARENT(c)] && sure_up[c] == 0 ->
#else
    :: atomic { !alive[c] && parent_up[c] ->
#endif
        parent_up[c] = 0;
#ifdef FREE
        told_down[c] = 0;
        lost_down[c] = 1;
        sure_up[c] = 0;
#endif
        greeted[c] = 0;
        do
        :: len(up[c]) > 0 -> up[c] ? kind, value
        :: else -> break
        od;
        kind = HELLO; value = 0
    }
#ifdef FREE
    /* a new connection that is lost when only one side knows of it: the parent */
    :: atomic { !alive[c] && !child_up[c] && !parent_up[c] && !by_relay[c] && comes < COMES && !closed[c] &&
            !closed[PARENT(c)] ->
        comes++;
#ifdef FORWARD /* what must be found: it is the child, which has sent its records */
        was_up[c] = 1;
        ever_sent[c] = (given[c] > ever_sent[c] -> given[c] : ever_sent[c]);
#else
        seen_up[c] = 1;
        lost_down[c] = 1
#endif
    }
    :: atomic { !alive[c] && !child_up[c] && !parent_up[c] && !by_relay[c] && !closed[c] &&
            ((comes < COMES && !closed[PARENT(c)]) ||
             (IN_DOUBT(c) && was_up[c] && !(out[c] && !stays[c]) && SERVES(PARENT(c)))) ->
        if
        :: comes < COMES && !closed[PARENT(c)] -> comes++
        :: IN_DOUBT(c) && was_up[c] && !(out[c] && !stays[c]) && SERVES(PARENT(c)) -> by_relay[c] = 1
        fi;
        was_up[c] = 1;
        seen_up[c] = 1;
        told_up[c] = by_relay[c];
        told_down[c] = by_relay[c] || !SERVES(PARENT(c));
#ifndef SILENT /* what must be found: the first word of a parent that has left is not THROUGH */
        parent_is_through[c] = parent_is_through[c] || (!by_relay[c] && !SERVES(PARENT(c)));
#endif
#elif defined(RELAY)
    :: atomic { !alive[c] && !child_up[c] && !parent_up[c] &&
#ifdef SHY /* what must be found: a node in doubt does not ask */
            !was_up[c] ->
#else
            (!was_up[c] || (left[c] && !lost[c] && ever_sent[c] > decided[c])) ->
#endif
        by_relay[c] = was_up[c];
        was_up[c] = 1;
#else
    :: atomic { !alive[c] && !child_up[c] && !parent_up[c] ->
#endif
        alive[c] = 1;
        child_up[c] = 1;
        parent_up[c] = 1;
        up[c] ! HELLO, decided[c];
        if /* what is complete and may have been lost */
        :: decided[c] < CALLS && COMPLETE(c, decided[c]) -> send_up(c, decided[c])
        :: else -> skip
        fi;
        if
        :: decided[c] + 1 < CALLS && COMPLETE(c, decided[c] + 1) -> send_up(c, decided[c] + 1)
        :: else -> skip
        fi;
        if
        :: asked[c] -> put(up[c], c, GIVE_UP, 0)
        :: else -> skip
        fi
    }
    od
}

init {
    atomic {
        run node(0);
        run node(1);
        run edge(1);
#if N > 2
        run node(2);
        run edge(2);
#endif
#if N > 3
        run node(3);
        run edge(3);
#endif
        skip
    }
#ifdef FREE
#if N > 2
    (out[0] && out[1] && out[2])
#else
    (out[0] && out[1])
#endif
#else
    (finished == N) /* an end before this is a deadlock */
#endif
}
