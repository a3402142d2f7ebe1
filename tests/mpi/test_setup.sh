#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A communicator is set up as soon as its calls have carried coll_clv_setup_bytes, in the same call
# on all ranks: not sooner, each communicator by itself, and at once for who asks for an algorithm.
# Until then its sums are right, nothing is measured and no thread runs. TAP.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
unset OMPI_MCA_coll_clv_setup_bytes # as users have it
on=(--mca mpi_yield_when_idle 1 --mca coll clv --mca coll_clv_collectives reduce,allreduce)
ranks=4

lives() { said=$(mpi_run "${on[@]}" -np "$ranks" "$@" 2>&1); }
right() { tap_has "$1: sums are right, and all ranks say the same" 'setup_cases: right' "$said"; }
call_of() { tap_has "$1: set up in call $2" "life $1 set up in call $2," "$said"; }
times() { printf "$1%.0s," $(seq "$2"); }
program=$CLV_BUILD/tests/mpi/setup_cases

lives "$program" "short:$(times 65536 20)"
right 'little carried'
call_of short 0

lives "$program" "enough:$(times 65536 60)"
right 'enough carried'
call_of enough 55
before=$(sed -n 's/.* \([0-9]*\) threads before.*/\1/p' <<<"$said")
tap_has 'the leader has its thread since' ", $before threads before and $((before + 1)) behind" "$said"

lives "$program" 'long:65536,1802240,65536'
right 'a vector of half of it'
call_of long 2

lives "$program" 'mixed:1802232,1024,1048576,1024,600000,65536,131072,8192,262144'
right 'what is too small does not count'
call_of mixed 7

lives "$program" "reduces:$(times 262144 30)+allreduces:$(times 1048576 30):allreduce"
right 'two communicators in turn'
call_of allreduces 4
call_of reduces 0
tap_has 'the other knows those links by then' 'life reduces set up in call 0, 0 threads' "$said"

ranks=12
lives "$program" "many:$(times 262144 20)"
ranks=4
right 'more than ten ranks'
call_of many 17

lives --mca coll_clv_setup_bytes 0 "$program" 'asked:65536,65536'
right 'at once where 0 bytes are enough'
call_of asked 1

lives --mca coll_clv_reduce_algorithm chain "$program" 'forced:65536,65536'
right 'at once where an algorithm is asked for'
call_of forced 1

lives --mca coll_clv_reproducible float "$program" 'fixed:65536,65536:allreduce'
right 'at once where one order is asked for'
call_of fixed 1

said=$(mpi_run "${on[@]}" -np "$ranks" --mca coll_clv_verbose 30 "$CLV_BUILD/tests/mpi/coll_probe" 40000 3)
tap_has 'until then calls say so' 'the communicator has carried too few bytes yet' "$said"
tap_end
