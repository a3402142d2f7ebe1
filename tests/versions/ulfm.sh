#!/bin/bash
# Opt-in: a rank dies, or the communicator is revoked, in the middle of reduces (MPI's fault
# tolerance, ULFM: Open MPI 5.0 and later under `mpirun --with-ft ulfm`). The rest of the job must
# have an error, revoke, shrink and reduce a hundred times more: with us, whatever we run, in all
# cases in which Open MPI alone does. Prints TAP and, last, the table of docs/guide/failures.md.
#
#   tests/versions/ulfm.sh [trixie|sid] [MODE ...]
#   tests/versions/ulfm.sh here [MODE ...]
#
# MODE  stock (without us), auto, or a value of coll_clv_reduce_algorithm; by default stock, auto and
#       every one that makes plans. here: this machine's Open MPI and the build in CLV_BUILD.
#
# The cases: 4 ranks on this node; 8 ranks on 4 nodes (process namespaces, which is what makes a node
# for us; messages over TCP). Victims there: rank 0, which is also the leader of node 0; the leader
# of node 1; a rank that leads nothing. Each case has a time limit; one that meets it stands still.
# Needs what debian_root.sh says. About 4 minutes per 4 modes on 2 idle cores.
set -uo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
limit=${CLV_TIMEOUT:-3000}
case_limit=${CLV_LIMIT:-30}

say() { printf 'ulfm: %s\n' "$*" >&2; }
. "$top/tests/versions/debian_root.sh"

# ---- here ----

nodes=4
node_pids=()

# A namespace lives as long as its first process.
make_nodes() {
    local i
    for ((i = 0; i < nodes; i++)); do
        unshare --pid --fork --kill-child --mount-proc sleep "$limit" &
        node_pids[i]=$!
    done
    sleep 0.5
    cat >"$scratch/on_node" <<'END'
#!/bin/bash
# on_node PIDS PROGRAM...: two ranks of the job on each node
read -ra pids <<<"$1"
shift
holder=${pids[OMPI_COMM_WORLD_RANK / 2]}
of=/proc/$holder
exec nsenter --pid="$of/ns/pid_for_children" --mount="$of/ns/mnt" --root="$of/root" --wd=/ -- \
    setpriv --pdeathsig KILL "$@"
END
    chmod +x "$scratch/on_node"
}

end_nodes() {
    [ ${#node_pids[@]} -eq 0 ] || { kill -KILL "${node_pids[@]}"; wait "${node_pids[@]}"; } 2>/dev/null
    rm -rf "${scratch:?}"
}

job() { # mode ranks transport command...
    local mode=$1 ranks=$2 transport=$3 ours=(--mca coll '^clv')
    shift 3
    [ "$mode" = stock ] || ours=(--mca coll clv --mca coll_clv_setup_bytes 0 --mca coll_clv_shared_processors no --mca coll_clv_reduce_algorithm "$mode")
    timeout -k 5 "$case_limit" mpirun --with-ft ulfm --oversubscribe -n "$ranks" --mca btl "$transport" \
        --mca btl_tcp_if_include lo --mca mpi_yield_when_idle 1 "${ours[@]}" "$@" \
        </dev/null >"$output" 2>&1
}

# What a process may have more of our heap in bytes: our part of a communicator that failed, which Open MPI may keep for
# good (1.6 KiB), and what a thread needs that leads a node now.
own_limit=4096

# Everything a case must leave: the rest went on without a wrong sum, and has nothing more of files, threads, tables
# and of our memory than before; and nothing is left on the machine.
went_on() {
    grep -Eq 'went on: .* files=\+?-?[0-9]+ ' "$output" && ! grep -q 'WRONG' "$output" &&
        grep -Eq 'files=(\+0|-[0-9]+) threads=(\+0|-[0-9]+) tables=\+0 wrong=0' "$output" &&
        [ "$(number own_bytes)" -le $own_limit ]
}

# number NAME: of the line that says how it went on.
number() { sed -n "s/.* $1=+\{0,1\}\(-\{0,1\}[0-9]*\).*/\1/p" "$output"; }

# What MPI_Finalize and mpirun make of a job with a dead rank is their business, and only counted.
how_it_ended() { # mode status survivors
    if ! grep -q 'went on' "$output"; then
        [ "$2" -eq 124 ] || [ "$2" -eq 137 ] && echo 'stands still' || echo "dies ($2)"
    elif ! went_on; then
        echo 'leaves something'
    elif [ "$1" != stock ] && ! grep -Eq 'forecasts=[1-9]' "$output"; then
        echo 'learns nothing'
    elif [ "$(grep -Ec 'ulfm: (finalized|MPI_Finalize)' "$output")" -lt "$3" ]; then
        echo 'stands still at the end'
    else
        echo 'goes on'
    fi
}

n=0 failed=0
declare -A ended good unfinished # by mode and case, by mode, by mode
declare -A owns heaps pools      # what is left of the heap in each case, by mode
cases=()

try() { # mode "CASE"
    local mode=$1 name=$2 place how call victim numbers status=0 before survivors=4
    read -r place how call victim numbers <<<"$name"
    [ "$place" = one ] || survivors=$((2 * nodes))
    [ "$how" = revoke ] || survivors=$((survivors - 1))
    before=$(ls /dev/shm | wc -l)
    if [ "$place" = one ]; then
        job "$mode" 4 sm,self "$program" "$how" "$call" "$victim" "$numbers" || status=$?
    else
        job "$mode" $((2 * nodes)) tcp,self "$scratch/on_node" "${node_pids[*]}" "$program" "$how" \
            "$call" "$victim" "$numbers" || status=$?
    fi
    ended[$mode,$name]=$(how_it_ended "$mode" "$status" "$survivors")
    [ "$(ls /dev/shm | wc -l)" -le "$before" ] || ended[$mode,$name]+=', leaves files in /dev/shm'
    ! grep -q 'MPI_Finalize stands still' "$output" ||
        unfinished[$mode]=$((${unfinished[$mode]:-0} + 1))
    owns[$mode]+=" $(number own_bytes)" heaps[$mode]+=" $(number heap_kib)" pools[$mode]+=" $(number pool_kib)"
    n=$((n + 1))
    if [ "${ended[$mode,$name]}" = 'goes on' ]; then
        good[$mode]=$((${good[$mode]:-0} + 1))
        echo "ok $n - $mode: $name $(grep -o 'error_s=.*' "$output")"
    elif [ "$mode" != stock ] && [ "${ended[stock,$name]:-goes on}" != 'goes on' ]; then
        echo "ok $n - $mode: $name # SKIP stock ${ended[stock,$name]}, this ${ended[$mode,$name]}"
    else
        failed=$((failed + 1))
        echo "not ok $n - $mode: $name: ${ended[$mode,$name]}"
        tail -n 15 "$output" | sed 's/^/#   /'
    fi
}

list_cases() {
    local how call numbers victim
    for how in die late revoke; do
        for call in 3 60; do
            for numbers in 8192 524288; do
                cases+=("one $how $call 2 $numbers")
            done
        done
    done
    for how in die late revoke; do
        for call in 3 60; do
            for victim in 0 2 5; do
                cases+=("four $how $call $victim 16384")
            done
        done
    done
}

middle_and_most() { # numbers
    printf '%s\n' "$@" | sort -n | awk '{ v[NR] = $1 } END { printf "%d, %d", v[int((NR + 1) / 2)], v[NR] }'
}

# All that is left but for Open MPI's pools, which serve whoever sends next: what a failure with us costs Open MPI as
# well, in requests and communicators that never end. That ours alone is nothing, each case has judged.
judge_heap() { # mode
    local ours stock verdict=ok
    # shellcheck disable=SC2086
    ours=$(middle_and_most ${heaps[$1]:-}) stock=$(middle_and_most ${heaps[stock]:-})
    n=$((n + 1))
    if [ "${ours%,*}" -gt $((${stock%,*} + 64)) ]; then
        verdict='not ok'
        failed=$((failed + 1))
    fi
    echo "$verdict $n - $1: KiB of the heap left but for pools, median and most: $ours, Open MPI alone $stock"
}

show_left() { # "TEXT" ARRAY
    local mode
    local -n left=$2
    printf '\n| %s | | | | |' "$1"
    # shellcheck disable=SC2086
    for mode in "${modes[@]}"; do printf ' %s |' "$(middle_and_most ${left[$mode]:-})"; done
}

show_table() {
    local name mode
    printf '\n| nodes | how | call | victim | doubles |'
    printf ' %s |' "${modes[@]}"
    printf '\n|---|---|---|---|---|'
    printf -- '---|%.0s' "${modes[@]}"
    for name in "${cases[@]}"; do
        printf '\n| %s |' "$(echo "$name" | sed 's/ / | /g')"
        for mode in "${modes[@]}"; do printf ' %s |' "${ended[$mode,$name]:--}"; done
    done
    printf '\n| all | | | | |'
    for mode in "${modes[@]}"; do printf ' %d of %d |' "${good[$mode]:-0}" ${#cases[@]}; done
    show_left 'bytes of our heap left: median, most' owns
    show_left 'KiB of the heap left, Open MPI included, but for its pools: median, most' heaps
    show_left "KiB more in Open MPI's pools: median, most" pools
    printf '\n| afterwards stood in MPI_Finalize | | | | |'
    for mode in "${modes[@]}"; do printf ' %d of %d |' "${unfinished[$mode]:-0}" ${#cases[@]}; done
    printf '\n'
}

run_here() {
    local build=${CLV_BUILD:-$top/build} mode name
    modes=("$@")
    [ $# -gt 0 ] || modes=(stock auto clairvoyant latest_first chain)
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
    eval "$(CLV_BUILD=$build "$top/clv" env | grep component_path)"
    scratch=$(mktemp -d)
    trap end_nodes EXIT
    trap 'exit 130' INT TERM
    output=$scratch/output program=$scratch/ulfm
    mpicc -std=gnu11 -O1 -I"$top" -o "$program" "$top/tests/versions/ulfm.c" \
        "$top/tests/versions/own_heap.c" "$top/tests/mpi/pvar_look.c" 2>"$output" || { cat "$output"; die 'this Open MPI has no ULFM'; }
    make_nodes
    list_cases
    if [ -n "${CLV_CASES:-}" ]; then
        mapfile -t cases < <(printf '%s\n' "${cases[@]}" | grep -E "$CLV_CASES")
    fi
    for mode in "${modes[@]}"; do
        for name in "${cases[@]}"; do try "$mode" "$name"; done
        [ "$mode" = stock ] || [ "${modes[0]}" != stock ] || judge_heap "$mode"
    done
    echo "1..$n"
    show_table
    ompi_info --version | head -n 1
    exit $((failed > 0))
}

suite=${1:-trixie}
[ $# -eq 0 ] || shift
case $suite in
here) run_here "$@" ;;
trixie | sid) go_inside ulfm "$suite" "$@" ;;
*) die 'usage: tests/versions/ulfm.sh trixie|sid|here [MODE ...]' ;;
esac
