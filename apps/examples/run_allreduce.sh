#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# ./clv run --allreduce: k-means with one rank that has more points than the others, under the
# installed Open MPI, its own ring forced by hand, and clv. Each result is compared with a serial run.
#
#   apps/examples/run_allreduce.sh [--hosts K] [--rate MBIT] [OPTIONS OF THE EXAMPLE...]
#
# On an emulated cluster (apps/bench/cluster, needs root); without one over this machine's shared memory,
# where figures show that it works, not how fast it is. About a minute.
# Exit status: 0 when the check passed in every run.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${CLV_BUILD:-$top/build}
hosts=8
rate_mbit=400
options=(--iterations 40 --points 12 --uneven 4 --pace 3000)

usage() { echo 'usage: ./clv run --allreduce [--hosts K] [--rate MBIT] [options of the example]'; }
. "$top/apps/examples/run_options.sh" "$@"

output=$(mktemp -d) || exit 1
trap 'rm -rf "$output"' EXIT
trap 'exit 130' INT TERM

# run_one NAME MCA...: everything to $output/NAME; on emulated hosts where that is possible.
emulated=yes
run_one() {
    local name=$1
    shift
    echo "running $name ..." >&2
    if [ $emulated = yes ] && "$top/apps/bench/cluster" with "$hosts" --rate "${rate_mbit}mbit" \
        --realtime --timeout 200 "$@" -- "$build/apps/examples/kmeans/kmeans" "${options[@]}" \
        >"$output/$name" 2>&1; then
        return
    fi
    [ "$name" = stock ] && emulated=no
    [ $emulated = yes ] || timeout 200 mpirun --oversubscribe -n "$hosts" "$@" \
        "$build/apps/examples/kmeans/kmeans" "${options[@]}" >"$output/$name" 2>&1
}

field() { sed -n "s/^kmeans-result .*\\b$2=\\([^ ]*\\).*/\\1/p" "$output/$1"; }

failed=0
row() { # NAME TITLE
    if [ "$(field "$1" check)" != ok ]; then
        printf '%-40s failed:\n' "$2"
        head -n 12 "$output/$1" | cut -c 1-200 | sed 's/^/    /'
        failed=1
        return
    fi
    printf '%-40s %12s %12s %12s\n' "$2" "$(field "$1" iteration_ms)" "$(field "$1" mean_ms)" \
        "$(field "$1" max_ms)"
}

# Stock runs must not even see our component: the path is given to the clv run alone.
eval "$("$top/clv" env 2>/dev/null)"
component_path=${OMPI_MCA_mca_base_component_path:-}
unset OMPI_MCA_mca_base_component_path
run_one stock
run_one ring --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_allreduce_algorithm 4
run_one clv --mca mca_base_component_path "$component_path" --mca coll clv \
    --mca coll_clv_collectives reduce,allreduce

if [ $emulated = yes ]; then
    echo "emulated cluster: $hosts hosts, links of $rate_mbit Mb/s"
else
    echo "No emulated cluster here: $hosts ranks share this machine's cores and memory."
fi
echo "k-means, $(field stock bytes) bytes in each allreduce, ${options[*]}; the last rank has the most points"
printf '\n%-40s %12s %12s %12s\n' '[ms]' 'iteration' 'in the call' 'worst rank'
row stock 'Open MPI as installed'
row ring 'Open MPI, its ring forced'
row clv '--mca coll clv'
exit $failed
