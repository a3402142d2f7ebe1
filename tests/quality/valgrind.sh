#!/bin/bash
# Opt-in: MPI programs with the component under valgrind's memcheck, with the suppressions that
# Open MPI ships for its own memory. Invalid accesses, uses of undefined values and leaks whose
# stack has one of our functions fail. TAP; about 5 minutes.
#
#   tests/quality/valgrind.sh [PROGRAM [ARGUMENTS...]]     without: the example, the reduce cases, and
#                                                          operations that write whole structs
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${CLV_BUILD:-$top/build}
ranks=${CLV_RANKS:-3}
"$top/clv" build || exit 1
eval "$("$top/clv" env)"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
logs=$(mktemp -d) || exit 2
trap 'rm -rf "$logs"' EXIT

# Open MPI installs its suppressions in its data folder.
suppressions() {
    local folder
    folder=$(ompi_info --path pkgdatadir --parsable 2>/dev/null | sed -n 's/^path:pkgdatadir://p')
    for file in "$folder/openmpi-valgrind.supp" /etc/openmpi/openmpi-valgrind.supp; do
        [ ! -f "$file" ] || echo "--suppressions=$file"
    done
}

# Errors of others (libraries that valgrind does not know) are not ours to fix: keep the records
# that name a function of ours.
our_errors() {
    cat "$logs"/*.log 2>/dev/null | sed 's/^==[0-9]*== \{0,1\}//' |
        awk -v RS= '/(mca_coll_clv|coll_clv_|clv_[a-z]+_)/ && !/^Memcheck|^Command/'
}

# A program's own malloc (guarded_heap.h) gives way to valgrind's.
under_valgrind() {
    rm -f "$logs"/*.log
    timeout 600 mpirun --oversubscribe -n "$ranks" --mca coll clv --mca coll_clv_setup_bytes 0 \
        --mca coll_clv_shared_processors no --mca btl self,vader,tcp "${more[@]}" \
        valgrind -q --leak-check=full --show-leak-kinds=definite --num-callers=30 --soname-synonyms=somalloc=NONE \
        --log-file="$logs/%p.log" "$(suppressions | head -n 1)" "$@"
}

n=0 failed=0 more=()
check() {
    local name=$1 output status errors
    shift
    n=$((n + 1))
    output=$(under_valgrind "$@" 2>&1)
    status=$?
    errors=$(our_errors)
    if [ $status -eq 0 ] && [ -z "$errors" ]; then
        echo "ok $n - $name: no error in our functions"
    else
        printf '%s\n%s\n' "$output" "$errors" | head -n 80 | sed 's/^/# /'
        echo "not ok $n - $name: exit status $status"
        failed=1
    fi
}

if [ $# -gt 0 ]; then
    echo 1..1
    check "$(basename "$1")" "$@"
else
    echo 1..4
    check 'the example' "$build/apps/examples/transport/transport" --quiet --batches 6 --warmup 1 \
        --particles 2000
    check 'the reduce cases' "$build/tests/mpi/reduce_cases"
    # Not Open MPI's own algorithms, whose buffers end with what the type describes.
    more=(--mca coll_clv_collectives reduce,allreduce --mca coll_clv_segment_bytes 1000)
    check 'whole structs, reduce' "$build/tests/mpi/padded_cases" reduce ring chain rank_chain latest_first clairvoyant host_chains
    check 'whole structs, allreduce' "$build/tests/mpi/padded_cases" allreduce plain_ring cut_ring helper_trees
fi
exit $failed
