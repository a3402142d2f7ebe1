/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The agreement of docs/design/protocol.md as a Promela model: one lane, one rank per node, K = 1; with
 * OPEN > 1 calls overlap, and each forecast says K = 1 or 2.
 *
 * In it: records up, decisions down, connections that are cut at any moment with any suffix of
 * what was on the way lost, each side noticing at its own time, HELLO and sending again on a new
 * connection, the top giving up on a silent child, a cut-off node leaving when that is certain.
 * Not in it: clocks (a time-out may fire whenever its condition holds), streams, what forecasts
 * contain, and abandoning in the window (the one guess the protocol may make without a detour).
 *
 * DETOUR: a connection that was cut never comes back. A node that left in doubt asks its parent over MPI: a
 * connection that is never cut.
 *
 * Void record sets: a rank that waits for one asks, at any time (an ASK that is lost is one that was not
 * sent), so node 0 may decide the next one void whenever some rank waits for it.
 *
 * Overlapping calls: a rank has begun up to OPEN that have not ended, asks and ends in any order and
 * at any time. A call's turn comes when all before it are answered; what it is, it learns then.
 *
 * Checked: assertions marked INVARIANT, and that no run ends before every rank made every call.
 * Tree: TREE 0 is a chain 0 - 1 - 2 (N = 2: one edge), TREE 1 is a top with two children.
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

#if TREE == 0
#define PARENT(i)      (i - 1)
#define IS_CHILD(c, i) (c == i + 1)
#else
#define PARENT(i)      0
#define IS_CHILD(c, i) (i == 0 && c > 0)
#endif

mtype = { HELLO, UP, DOWN, LOST, GIVE_UP, VOID };

chan up[N] = [8] of { mtype, byte };   /* of the edge above node i */
chan down[N] = [8] of { mtype, byte };

bit alive[N];      /* the connection of the edge above node i works */
bit child_up[N];   /* the child believes in it */
bit parent_up[N];  /* the parent believes in it ... */
bit greeted[N];    /* ... and has heard HELLO on it */
#ifdef DETOUR
bit was_up[N];     /* the edge above node i had its connection */
bit by_detour[N];  /* its messages go over MPI */
#define MAY_CUT(c) (!by_detour[c])
#else
#define MAY_CUT(c) 1
#endif
byte cuts;

byte given[N];     /* records its rank gave = calls it began */
byte in_call[N];   /* 1: its rank looks for its forecast */
byte decided[N];
byte got[N];       /* record sets whose UP came over the edge above node i */
byte sent[N];      /* ... were sent on the present connection */
byte ever_sent[N];
bit lost[N];
bit left[N];
bit asked[N];      /* to end predictions */
bit asked_sent[N]; /* on the present connection */
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
    c = 1;
    do
    :: c < N ->
        if
        :: IS_CHILD(c, i) && parent_up[c] && greeted[c] -> put(down[c], c, kind, value)
        :: else -> skip
        fi;
        c++
    :: else -> break
    od
}

#define DUE(i)      (given[i] > decided[i] || (i + 1 < N && IS_CHILD(i + 1, i) && got[i + 1] > decided[i]) || \
                     (i + 2 < N && IS_CHILD(i + 2, i) && got[i + 2] > decided[i]))
#define CHILDREN(i, q) ((i + 1 >= N || !IS_CHILD(i + 1, i) || got[i + 1] > q) && \
                        (i + 2 >= N || !IS_CHILD(i + 2, i) || got[i + 2] > q))
#define COMPLETE(i, q) (given[i] > q && CHILDREN(i, q))

/* INVARIANT: the place of version v - 2 is free when version v is published, two places suffice. */
inline accept(i) {
    assert(given[i] > decided[i]);
    decided[i]++;
#if OPEN > 1
    assert(decided[i] < 3 || !HOLDS(i, decided[i] - 2));
#endif
    pass_down(i, DOWN, decided[i] - 1)
}

inline accept_void(i) {
    decided[i]++;
    pass_down(i, VOID, decided[i] - 1)
}

#define ASKS(i, q) (in_call[i] && given[i] == q + 2)
#if N > 2
#define SOME_ASKS(q) (ASKS(0, q) || ASKS(1, q) || ASKS(2, q))
#else
#define SOME_ASKS(q) (ASKS(0, q) || ASKS(1, q))
#endif

inline end_here(i) {
    lost[i] = 1;
    pass_down(i, LOST, decided[i])
}

/* INVARIANT: one answer per call. */
inline agree_on(call, what) {
    if
    :: known[call] -> assert(truth[call] == what)
    :: else -> known[call] = 1; truth[call] = what
    fi
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

inline answer(i, what) {
    agree_on(given[i] - 1, what);
    in_call[i] = 0;
    if
    :: given[i] == CALLS -> finished++
    :: else -> skip
    fi
}

proctype node(byte i) {
    byte c;
    byte value;
    mtype kind;
end:
    do
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
        in_call[i] = 1
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
    :: atomic { !in_call[i] && given[i] < CALLS -> given[i]++; in_call[i] = 1 }
    :: atomic { in_call[i] && given[i] == 1 -> answer(i, NONE) }
    :: atomic { in_call[i] && given[i] > 1 && decided[i] >= given[i] - 1 && !voided[given[i] - 2] ->
        answer(i, given[i] - 1)
    }
    :: atomic { in_call[i] && given[i] > 1 && decided[i] >= given[i] - 1 && voided[given[i] - 2] ->
        answer(i, NONE)
    }
    :: atomic { in_call[i] && given[i] > 1 && decided[i] < given[i] - 1 && lost[i] -> answer(i, NONE) }
#endif

    /* the top decides */
    :: atomic { i == 0 && !lost[i] && COMPLETE(i, decided[i]) && decided[i] < CALLS -> accept(i) }

#if VOIDS > 0
    :: atomic { i == 0 && !lost[i] && voids < VOIDS && decided[i] < CALLS && SOME_ASKS(decided[i]) &&
            !COMPLETE(i, decided[i]) ->
#ifdef HASTY /* what must be found: one node that decides so by itself */
        accept_void(i); voids++
#else
        voids++;
        voided[decided[i]] = 1;
        accept_void(i)
#endif
    }
    :: atomic { i > 0 && sent[i] < decided[i] -> sent[i] = decided[i] } /* nobody needs those */
#ifdef HASTY
    :: atomic { i > 0 && !lost[i] && voids < VOIDS && ASKS(i, decided[i]) -> voids++; answer(i, NONE) }
#endif
#endif

    /* a complete subtree goes up, in order */
    :: atomic {
        i > 0 && child_up[i] && !left[i] && !lost[i] && sent[i] < decided[i] + 2 &&
            (VOIDS == 0 || sent[i] >= decided[i]) && COMPLETE(i, sent[i]) ->
        put(up[i], i, UP, sent[i]);
        sent[i]++;
        if
        :: ever_sent[i] < sent[i] -> ever_sent[i] = sent[i]
        :: else -> skip
        fi
    }
    :: atomic { i > 0 && child_up[i] && asked[i] && !asked_sent[i] ->
        put(up[i], i, GIVE_UP, 0);
        asked_sent[i] = 1
    }

    /* from the parent */
    :: atomic {
        i > 0 && child_up[i] && len(down[i]) > 0 ->
        down[i] ? kind, value;
        if
        :: lost[i] -> skip
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
            end_here(i)
        fi
    }

    /* from a child */
    :: atomic {
        i + 1 < N && IS_CHILD(i + 1, i) && parent_up[i + 1] && len(up[i + 1]) > 0 -> c = i + 1;
        goto from_child
    }
    :: atomic {
        i + 2 < N && IS_CHILD(i + 2, i) && parent_up[i + 2] && len(up[i + 2]) > 0 -> c = i + 2;
        goto from_child
    }

    /* time-outs: a silent child, a silent parent */
    :: atomic {
        i + 1 < N && IS_CHILD(i + 1, i) && !greeted[i + 1] && DUE(i) && !lost[i] && !asked[i] ->
        asked[i] = 1;
        if
        :: i == 0 -> end_here(i)
        :: else -> skip
        fi
    }
    :: atomic {
        i + 2 < N && IS_CHILD(i + 2, i) && !greeted[i + 2] && DUE(i) && !lost[i] && !asked[i] ->
        asked[i] = 1;
        if
        :: i == 0 -> end_here(i)
        :: else -> skip
        fi
    }
    :: atomic { i > 0 && !child_up[i] && DUE(i) && !lost[i] && !left[i] ->
        left[i] = 1;
        asked[i] = 1
    }
#ifdef BROKEN /* what must be found: leaving although something was sent */
    :: atomic { i > 0 && left[i] && !lost[i] && !child_up[i] -> end_here(i) }
#else
    :: atomic { i > 0 && left[i] && !lost[i] && !child_up[i] && ever_sent[i] <= decided[i] ->
        end_here(i)
    }
#endif
    od;

from_child:
    atomic {
        if
        :: len(up[c]) > 0 -> up[c] ? kind, value
        :: else -> goto nothing /* the connection was lost between the two */
        fi;
        if
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
            :: value >= got[c] -> got[c] = value + 1
            :: else -> skip
            fi
        :: kind == GIVE_UP ->
            if
            :: !lost[i] && !asked[i] ->
                asked[i] = 1;
                if
                :: i == 0 -> end_here(i)
                :: else -> skip
                fi
            :: else -> skip
            fi
        fi;
nothing:
        c = 0; value = 0; kind = HELLO;
        goto end
    }
}

/* The network: cuts, each side noticing, new connections. */
proctype edge(byte c) {
    mtype kind;
    byte value;
end:
    do
    :: atomic { alive[c] && MAY_CUT(c) && cuts < CUTS && finished < N -> cuts++; alive[c] = 0 }
    :: atomic { !alive[c] && child_up[c] ->
        child_up[c] = 0;
        do
        :: len(down[c]) > 0 -> down[c] ? kind, value
        :: else -> break
        od
    }
    :: atomic { !alive[c] && parent_up[c] ->
        parent_up[c] = 0;
        greeted[c] = 0;
        do
        :: len(up[c]) > 0 -> up[c] ? kind, value
        :: else -> break
        od
    }
#ifdef DETOUR
    :: atomic { !alive[c] && !child_up[c] && !parent_up[c] &&
#ifdef SHY /* what must be found: a node in doubt does not ask */
            !was_up[c] ->
#else
            (!was_up[c] || (left[c] && !lost[c] && ever_sent[c] > decided[c])) ->
#endif
        by_detour[c] = was_up[c];
        was_up[c] = 1;
#else
    :: atomic { !alive[c] && !child_up[c] && !parent_up[c] ->
#endif
        kind = HELLO; value = 0; /* leave no trace in the state */
        alive[c] = 1;
        child_up[c] = 1;
        parent_up[c] = 1;
        sent[c] = decided[c];
        asked_sent[c] = 0;
        up[c] ! HELLO, decided[c]
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
        run edge(2)
#endif
    }
    (finished == N) /* an end before this is a deadlock */
}
