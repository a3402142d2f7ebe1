#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The channel beside what programs do: each level of threads, fork and system, processes that are spawned,
# 4,000 communicators, sessions that open the library again; on one node, and on two (process namespaces), whose leaders
# are connected. Both ways the exchange runs: the program's calls have forecasts.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
program=$CLV_BUILD/tests/mpi/life_cases
on=(--mca mpi_yield_when_idle 1 --mca coll clv --mca coll_clv_min_ranks 2 --mca coll_clv_verbose 10
    --mca coll_clv_print forecast)
tcp=(--mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include lo)
apart=(unshare --pid --fork --kill-child --mount-proc)

# lives NAME RUN-OPTIONS...: right, and with predictions
lives() {
    local name=$1 said
    shift
    said=$(mpi_run -np 2 "${on[@]}" "$@")
    tap_has "$name: every sum is right" 'life_cases: all right' "$said"
    tap_has "$name: there were forecasts" ', forecast ' "$said"
}

for level in single funneled serialized multiple; do
    lives "threads $level" "$program" $level
done
# A tool that lowers the level: told once for both processes of the host, and only then. Open MPI 6.0 keeps
# the level of the program.
told() { grep -c 'MPI_T_init_thread asked for less' <<<"$said"; }
said=$(mpi_run -np 2 "${on[@]}" "$program" lowered)
tap_has 'the program knows its level of threads' 'life_cases: level ' "$said"
tap_ok 'a tool that lowers it is told of, once' \
    test "$(told)" -eq "$(grep -c 'life_cases: level lowered' <<<"$said")"
said=$(mpi_run -np 2 "${on[@]}" "$program" multiple)
tap_ok 'and only where one does' test "$(told)" -eq 0
lives 'fork and system' "$program" children
# A child makes its first collective calls within MPI_Init; with all of them taken over, one is set up there.
all=(coll=clv coll_clv_min_ranks=2 coll_clv_min_bytes=1 coll_clv_allreduce_min_bytes=1
    coll_clv_bcast_min_bytes=1 coll_clv_collectives='reduce,allreduce,bcast' mpi_yield_when_idle=1)
spawns() { # NAME PARAMETERS COMMAND...: skipped where Open MPI alone cannot spawn so
    local name=$1 said there=(PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe OMPI_MCA_rmaps_base_oversubscribe=1)
    shift
    # Where it cannot, Open MPI 5 waits on.
    if [[ $(timeout -k 5 60 env "${there[@]}" "$@" 2>&1 </dev/null) != *'all right'* ]]; then
        tap_skip "$name" 'Open MPI alone cannot do that here within a minute'
    else
        said=$(tap_limited env "${there[@]}" "${all[@]/#/OMPI_MCA_}" "$@" 2>&1 </dev/null)
        tap_has "$name" 'life_cases: all right' "$said"
    fi
}
spawns 'a program started alone spawns others' "$program" spawn
spawns 'a program under mpirun does' mpirun -np 1 "$program" spawn
# As many as there is time for; tests/pap_predict/test_pap_hostile makes 4,000 groups always.
lives 'up to 4,000 communicators come and go' "$program" copies 4000
if "${apart[@]}" true 2>/dev/null; then
    lives 'fork and system, two nodes' "${tcp[@]}" "${apart[@]}" "$program" children
    lives 'up to 200 communicators, two nodes' "${tcp[@]}" "${apart[@]}" "$program" copies 200
else
    tap_skip 'two nodes' 'no process namespaces here'
fi
said=$(mpi_run -np 2 "${on[@]}" "$program" sessions)
case $said in
*'has no sessions'*) tap_skip 'sessions open and close the library three times' 'MPI before 4' ;;
*) tap_has 'sessions open and close the library three times' 'life_cases: all right' "$said" ;;
esac
tap_end
