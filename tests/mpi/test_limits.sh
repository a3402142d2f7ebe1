#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Limits of the processes (ulimit), those that the kernel tells by a signal among them: the job goes on without
# predictions, its results are right, it hears of no signal, and one line says which limit it was. TAP. 10 s.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
right='limit_cases: 60 calls, wrong=0 heard=0 changed=0'

run() { # options... -- arguments
    local options=()
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    said=$(mpi_run -np 4 --mca mpi_yield_when_idle 1 --mca coll clv "${options[@]}" \
        "$CLV_BUILD/tests/mpi/limit_cases" "${@:2}")
}
once() { [ "$(grep -c "$1" <<<"$said")" -eq 1 ]; }

run --mca coll_clv_print summary -- none
tap_has 'without a limit all calls are right' "$right" "$said"
tap_lacks 'and nothing is told' 'on this host' "$said"

limits() ( # what bash's ulimit takes, then as run
    ulimit "$1" "$2" && shift 2 && run "$@" && printf '%s\n' "$said"
)
said=$(limits -f 20000 -- none)
tap_has 'ulimit -f 20000: the job ends right' "$right" "$said"
tap_ok 'and one line names it' once 'File too large (raise ulimit -f, or set coll_clv_exchange 0)'

while IFS='|' read -r what amount line; do
    run --mca coll_clv_print summary -- "$what" "$amount"
    tap_has "$what $amount: the job ends right" "$right" "$said"
    tap_ok 'and one line names it' once "$line"
    tap_lacks 'of predictions, which nothing else here needs' recording "$said"
    tap_has 'as does the summary' "times a host refused a rank shared memory, a thread or a descriptor" "$said"
done <<'END'
file|1000|File too large (raise ulimit -f
space|8000|Cannot allocate memory (raise ulimit -v
files|0|Too many open files (raise ulimit -n
files|4|Too many open files (raise ulimit -n
END

# The kernel picks any thread of a process that does not block the signal: clv's do.
run -- cpu 1
tap_has 'cpu 1: the job ends right' "$right" "$said"
tap_has "and the program's own thread hears of it" 'limit_cases: rank 0 heard of its CPU limit' "$said"

# A record that meets the limit ends; one that knew it before stays below.
run --mca coll_clv_record "$scratch/short" --mca coll_clv_exchange 0 -- file 2000
tap_has 'file 2000, recorded: the job ends right' "$right" "$said"
tap_ok 'and is told once where its record ends' once 'recording of arrivals ends here: File too large (raise ulimit -f)'
# Below these, Open MPI 5 and later cannot start either.
stock() { ulimit -f 5000 && mpi_run -np 4 --mca mpi_yield_when_idle 1 --mca coll ^clv "$CLV_BUILD/tests/mpi/limit_cases" none; }
if [[ $(stock) == *"$right"* ]]; then
    said=$(limits -f 5000 --mca coll_clv_record "$scratch/whole" -- none)
    tap_ok 'one line names what is lost, and no more' once 'no shared memory of [0-9]* MiB for predictions on this host: File too large'
    tap_has 'ulimit -f 5000: the table is refused, the record is not' "$right" "$said"
    tap_ok 'and can be read' "$CLV_BUILD/apps/tools/clv-view" "$scratch/whole"
else
    tap_skip 'ulimit -f 5000' 'Open MPI alone cannot start with it here'
fi
small() { # options...: the ranks, not the launcher, have the limit
    said=$(mpi_run -np 4 --mca mpi_yield_when_idle 1 --mca btl self,tcp "$@" \
        sh -c 'ulimit -f 1000; exec "$@"' sh "$CLV_BUILD/tests/mpi/limit_cases" none)
    [[ $said == *"$right"* ]]
}
if small --mca coll ^clv; then
    small --mca coll clv --mca coll_clv_record "$scratch/none"
    tap_has 'ulimit -f 1000: neither table fits, the job ends right' "$right" "$said"
    tap_ok 'what recording lacks is told with what helps' once 'for recording on this host: File too large (raise ulimit -f, or leave coll_clv_record empty)'
    tap_ok 'and what predictions lack' once 'for predictions on this host: File too large (raise ulimit -f, or set coll_clv_exchange 0)'
else
    tap_skip 'ulimit -f 1000' 'Open MPI alone cannot start with it over TCP here'
fi
tap_end
