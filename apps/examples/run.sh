#!/bin/bash
# ./clv run: the example under the installed Open MPI and under clv, side by side.
#
#   apps/examples/run.sh [--allreduce | --languages] [--hosts K] [--rate RATE] [OPTIONS OF THE EXAMPLE...]
#
# --allreduce, --languages: other examples, run_allreduce.sh and run_languages.sh. This one:
# On an emulated cluster (apps/bench/cluster, needs root) of K hosts, where the links decide; without one
# over this machine's shared memory, where figures show that it works, not how fast it is.
# The program runs twice with each: free (what binds the ranks is the reduce alone) and coupled (all
# wait for the root's word after each batch). What its user feels is the time of an iteration.
# "bound" is what the last rank needs to send its vector over its link, and nothing else.
# 20 s. Exit status: 0 when the example's self-check passed in every run.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${CLV_BUILD:-$top/build}
program=$build/apps/examples/transport/transport
hosts=8
rate_mbit=400
options=(--quiet --batches 10 --warmup 6 --particles 800 --pace 120)

case ${1:-} in
--allreduce | --languages)
    other=$top/apps/examples/run_${1#--}.sh
    shift
    exec "$other" "$@" ;;
esac

usage() {
    echo "usage: ./clv run [--allreduce | --languages] [--hosts K] [--rate MBIT] [options of the example]"
}
. "$top/apps/examples/run_options.sh" "$@"

output=$(mktemp -d) || exit 1
bed=run-$$
emulated=no
running= # process id of the run under way
clean_up() {
    [ -z "$running" ] || kill "$running" 2>/dev/null
    [ "$emulated" = no ] || "$top/apps/bench/cluster" down --name "$bed" >/dev/null 2>&1
    rm -rf "$output"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

say() { printf '%s\n' "$*" >&2; }

come_up() {
    if "$top/apps/bench/cluster" up "$hosts" --rate "${rate_mbit}mbit" --name "$bed" \
        >"$output/up" 2>&1; then
        emulated=yes
        options=(--common-clock "${options[@]}")
        echo "emulated cluster: $hosts hosts, links of $rate_mbit Mb/s"
    else
        sed 's/^/  /' "$output/up"
        echo "No emulated cluster here: $hosts ranks share this machine's cores and memory."
        echo 'The figures below show that it works, not how fast it is.'
    fi
}

# run_one NAME TITLE MCA...: the free and the coupled program under mpirun with these parameters,
# everything to $output/NAME-free and $output/NAME; then its row.
run_one() {
    local name=$1 title=$2
    shift 2
    options+=(--free)
    run_form "$name-free" "$@"
    unset 'options[-1]'
    say "$title, free: an iteration takes $(field "$name-free" iteration_ms) ms"
    run_form "$name" "$@"
    [ "$name" != stock ] || heading
    row "$name" "$title"
}

run_form() { # NAME MCA...
    local name=$1
    shift
    if [ $emulated = yes ]; then
        "$top/apps/bench/cluster" run --name "$bed" --realtime --timeout 200 "$@" -- \
            "$program" "${options[@]}"
    else
        timeout 200 mpirun --oversubscribe -n "$hosts" "$@" "$program" "${options[@]}"
    fi >"$output/$name" 2>&1 &
    running=$!
    tell_while $running "running $name ..."
    wait $running
    running=
}

# tell_while PID TEXT: at once, and every 4 s as long as that process is there.
tell_while() {
    local started=$SECONDS
    say "$2"
    while kill -0 "$1" 2>/dev/null; do
        read -rt 0.1 <> <(:)
        [ $((SECONDS - started)) -lt 4 ] || { say "$2"; started=$SECONDS; }
    done
}

field() { # NAME KEY
    sed -n "s/^transport-result .*\\b$2=\\([^ ]*\\).*/\\1/p" "$output/$1"
}

failed=0
complain() { # NAME TITLE
    printf '%-36s failed:\n' "$2"
    head -n 12 "$output/$1" | cut -c 1-200 | sed 's/^/    /'
    failed=1
}
row() { # NAME TITLE
    local form
    for form in "$1" "$1-free"; do
        [ "$(field "$form" check)" = ok ] || { complain "$form" "$2"; return; }
    done
    printf '%-36s %9s %9s %11s %10s %12s\n' "$2" "$(field "$1-free" iteration_ms)" \
        "$(field "$1" iteration_ms)" "$(field "$1" reduce_mean_ms)" \
        "$(field "$1" reduce_max_ms)" "$(field "$1" after_ms)"
}

heading() {
    grep -h '^transport: ' "$output/stock"
    printf '\n%-36s %19s %22s %12s\n' '[ms]' 'an iteration' 'time in MPI_Reduce' 'after last'
    printf '%-36s %9s %9s %11s %10s %12s\n' '' 'free' 'coupled' 'mean rank' 'worst rank' 'arrival'
}

# Here and not before, so that the first figure comes sooner.
build_bench() {
    make -C "$build" -j"${CLV_JOBS:-$(nproc)}" apps/bench/clv-bench >"$output/make" 2>&1 &
    running=$!
    tell_while $running 'building clv-bench ...'
    wait $running
    local status=$?
    running=
    [ $status -eq 0 ] || { tail -n 5 "$output/make"; failed=1; return 1; }
}

# The bound, measured on the same hosts: only the last arriver sends its tally to the root.
measure_bound() {
    local bytes
    build_bench || return
    bytes=$(awk 'match($0, /tally of [0-9.]+/) {
        printf "%d", substr($0, RSTART + 9) * 1048576; exit }' "$output/stock")
    say 'measuring the bound ...'
    "$top/apps/bench/cluster" run --name "$bed" --realtime --timeout 60 -- "$build/apps/bench/clv-bench" \
        --algorithms bound --patterns balanced --sizes "$bytes" --iterations 9 --warmup 3 \
        --balanced-calls 0 >"$output/bound" 2>&1
    bound=$(awk '$1 == "bound" { print $2 }' "$output/bound")
    printf '%-36s %9s %9s %11s %10s %12s\n' 'bound: only the last arriver sends' '' '' '' '' "${bound:-unknown}"
}

compare() {
    awk -v bound="${bound:-0}" -v clv="$(field clv after_ms)" -v stock="$(field stock after_ms)" \
        -v free="$(field clv-free iteration_ms)" -v stock_free="$(field stock-free iteration_ms)" '
        BEGIN { if (bound > 0 && clv > 0 && stock > 0 && free > 0 && stock_free > 0)
            printf "\nan iteration, free: clv / as installed %.2f; after the last arrival, coupled: clv / bound %.2f, clv / as installed %.2f\n",
                free / stock_free, clv / bound, clv / stock }'
}

# Stock runs must not even see our component: the path is given to the clv run alone.
eval "$("$top/clv" env 2>/dev/null)"
component_path=${OMPI_MCA_mca_base_component_path:-}
unset OMPI_MCA_mca_base_component_path

come_up
run_one stock 'Open MPI as installed'
run_one pipeline 'Open MPI, pipeline of 32 KiB forced' --mca coll_tuned_use_dynamic_rules 1 \
    --mca coll_tuned_reduce_algorithm 3 --mca coll_tuned_reduce_algorithm_segmentsize 32768
run_one clv '--mca coll clv' --mca mca_base_component_path "$component_path" --mca coll clv
if [ $emulated = yes ]; then
    measure_bound
    compare
fi
grep -h 'NOT network-bound' "$output"/{stock,pipeline,clv}{,-free} | sort -u
exit $failed
