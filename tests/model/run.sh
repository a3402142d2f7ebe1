#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Checks the protocol's model with Spin: trees of three nodes and of four must be free of errors, with up to
# four calls and three cuts; so must one edge alone, cut four times; and broken variants must be found
# out. So must connections cut for good, where who is in doubt asks over MPI, and ranks that free the
# communicator meanwhile. Opt-in: CLV_MODEL=1 (a few
# minutes and 1.5 GB); skips without spin.
# MEMORY_MB (3000) and SECONDS_EACH (900) bound each search: one that ends by a bound is no proof and
# fails, with how far it came. CLV_CHECKS: a regular expression of the numbers to run; all without.
set -u
here=$(cd "$(dirname "$0")" && pwd)

if [ "${CLV_MODEL:-0}" = 0 ] || ! command -v spin > /dev/null; then
    echo "1..0 # SKIP set CLV_MODEL=1 and install spin to check the model"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

# check NUMBER NAME EXPECTED-ERRORS(0|some) DEFINES...
check() {
    local number=$1 name=$2 expected=$3 errors
    shift 3
    [[ $number =~ ^(${CLV_CHECKS:-.*})$ ]] || return 0
    cp "$here/pap.pml" .
    : > pan.log
    spin -a "$@" pap.pml > spin.log 2>&1 &&
        cc -O2 -DMEMLIM="${MEMORY_MB:-3000}" -DSAFETY -DCOLLAPSE -DVECTORSZ=2048 -w -o pan pan.c &&
        timeout "${SECONDS_EACH:-900}" ./pan -m2000000 > pan.log 2>&1
    errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.log)
    sed -n 's/^ *\([0-9.e+]*\) states, stored.*/# \1 states/p; s/.*\(depth reached [0-9]*\).*/# \1/p
        s/^\(.*total actual memory usage.*\)/# \1/p' pan.log
    grep -E "max search depth|out of memory|truncated" pan.log | sed 's/^/# /'
    if { [ "$expected" = 0 ] && [ "$errors" = 0 ] && ! grep -q "Search not completed" pan.log; } ||
        { [ "$expected" = some ] && [ -n "$errors" ] && [ "$errors" != 0 ]; }; then
        echo "ok $number - $name"
    else
        echo "not ok $number - $name"
        sed 's/^/# /' spin.log pan.log | head -40
        failed=1
    fi
}

echo "1..35"
chain=(-DTREE=0) star=(-DTREE=1) edge=(-DN=2 -DTREE=0) four=(-DN=4 -DTREE=2)
check 1 "chain of three, 4 calls, 2 cuts: one answer per call, no deadlock" 0 "${chain[@]}" -DCALLS=4 -DCUTS=2
check 2 "chain of three, 3 calls, 3 cuts: the same" 0 "${chain[@]}" -DCALLS=3 -DCUTS=3
check 3 "top with two children, 4 calls, 2 cuts: the same" 0 "${star[@]}" -DCALLS=4 -DCUTS=2
check 4 "top with two children, 3 calls, 3 cuts: the same" 0 "${star[@]}" -DCALLS=3 -DCUTS=3
check 5 "one edge, 4 calls, 4 cuts: the same" 0 "${edge[@]}" -DCALLS=4 -DCUTS=4
check 6 "leaving although a record was sent is found out" some "${chain[@]}" -DCALLS=2 -DCUTS=1 -DBROKEN
check 7 "one edge, 4 calls, 3 of them open, 2 cuts: the same" 0 "${edge[@]}" -DCALLS=4 -DCUTS=2 -DOPEN=3
check 8 "chain of three, 3 calls, 2 of them open, no cut: the same" 0 "${chain[@]}" -DCALLS=3 -DCUTS=0 -DOPEN=2
check 9 "top with two children, 3 calls, 2 of them open, no cut: the same" 0 "${star[@]}" -DCALLS=3 -DCUTS=0 -DOPEN=2
check 10 "a call that is taken for not sampled because it was begun early is found out" some "${edge[@]}" -DCALLS=4 -DCUTS=0 -DOPEN=3 -DIMPATIENT
check 11 "a record given while its forecast's place is in use is found out" some "${edge[@]}" -DCALLS=4 -DCUTS=0 -DOPEN=3 -DGRASPING
check 12 "one edge, 4 calls, 2 cuts, 2 record sets void: the same" 0 "${edge[@]}" -DCALLS=4 -DCUTS=2 -DVOIDS=2
check 13 "chain of three, 4 calls, no cut, 2 void: the same" 0 "${chain[@]}" -DCALLS=4 -DCUTS=0 -DVOIDS=2
check 14 "top with two children, 4 calls, no cut, 2 void: the same" 0 "${star[@]}" -DCALLS=4 -DCUTS=0 -DVOIDS=2
check 15 "chain of three, 3 calls, 2 cuts, 1 void: the same" 0 "${chain[@]}" -DCALLS=3 -DCUTS=2 -DVOIDS=1
check 16 "one edge, 4 calls, 3 of them open, 2 void: the same" 0 "${edge[@]}" -DCALLS=4 -DCUTS=0 -DVOIDS=2 -DOPEN=3
check 17 "a node that goes without by its own word is found out" some "${edge[@]}" -DCALLS=3 -DCUTS=0 -DVOIDS=1 -DHASTY
check 18 "chain of three, 3 calls, 2 connections cut for good: who is in doubt asks over MPI: the same" 0 "${chain[@]}" -DCALLS=3 -DCUTS=2 -DDETOUR
check 19 "top with two children, 3 calls, 2 cut for good: the same" 0 "${star[@]}" -DCALLS=3 -DCUTS=2 -DDETOUR
check 20 "one edge, 4 calls, 3 of them open, cut for good: the same" 0 "${edge[@]}" -DCALLS=4 -DCUTS=1 -DOPEN=3 -DDETOUR
check 21 "chain of three, 3 calls, 2 cut for good, 1 void: the same" 0 "${chain[@]}" -DCALLS=3 -DCUTS=2 -DVOIDS=1 -DDETOUR
check 22 "a node in doubt that does not ask is found out" some "${edge[@]}" -DCALLS=2 -DCUTS=1 -DDETOUR -DSHY
check 23 "four nodes, 3 calls, 1 cut: the same" 0 "${four[@]}" -DCALLS=3 -DCUTS=1
check 24 "four nodes, 2 calls, 1 cut for good: the same" 0 "${four[@]}" -DCALLS=2 -DCUTS=1 -DDETOUR
check 25 "four nodes, 2 calls, no cut, 1 void: the same" 0 "${four[@]}" -DCALLS=2 -DCUTS=0 -DVOIDS=1
free=("${edge[@]}" -DFREE -DCALLS=2 -DCUTS=2 -DCOMES=2)
check 26 "one edge, 2 calls, 2 cuts, 2 new connections, then for good; the ranks free: every one gets out" 0 "${free[@]}"
check 27 "one edge, 3 calls, 3 cuts, 3 new connections: the same" 0 "${edge[@]}" -DFREE -DCALLS=3 -DCUTS=3 -DCOMES=3
check 28 "the child dies: the same for its parent" 0 "${free[@]}" -DDIES
check 29 "a child that died holds a parent that waits without limit: found out" some "${free[@]}" -DDIES -DUNBOUNDED
check 30 "nobody waits for a child that is away: found out" some "${free[@]}" -DHASTE
check 31 "a child is told THROUGH before it has what it lacks: found out" some "${free[@]}" -DEARLY
check 32 "a child counts on a connection of which its parent has not heard: found out" some "${free[@]}" -DFORWARD
check 33 "what the kernel has is thrown away with the connection: found out" some "${free[@]}" -DHURRIED
check 34 "the first word of a parent that has left is not THROUGH: found out" some "${free[@]}" -DSILENT
check 35 "records go to a parent that is through: found out" some "${free[@]}" -DEAGER
exit $failed
