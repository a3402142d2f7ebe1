#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: vectors in the memory of a device, on no, one, some or all ranks of a call. Open MPI 5.0 and 6.0 find a fake
# accelerator (fake_accelerator.c), below and without a component that copies its memory to the host
# (fake_copier.c); Open MPI 4.1, which knows no device here, dies of such memory with and without clv. TAP.
#
#   tests/versions/devices.sh trixie|sid|here
#
# Needs what debian_root.sh says. Half a minute, and a build.
set -uo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
limit=${CLV_TIMEOUT:-1800}
say() { printf 'devices: %s\n' "$*" >&2; }
. "$top/tests/versions/debian_root.sh"

# component KIND: mca_KIND_NAME.so of fake_FILE.c, beside ours.
component() { # file name flags...
    mpicc -std=gnu11 -O1 -shared -fPIC -Wall -Wextra -I"$top" "${@:3}" -o "$fakes/mca_$2.so" \
        "$top/tests/versions/$1.c" || die "$1.c does not compile"
}
run() { # options of mpirun... -- arguments of devices
    local options=()
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    said=$(mpi_run -np 4 --mca coll_clv_collectives reduce,allreduce,bcast "${options[@]}" "$program" "${@:2}")
}
says() { # name WORD...: of the line of rank 0
    local name=$1 word line
    shift
    line=" $(grep '^devices:' <<<"$said" | tail -n 1) "
    for word in "$@"; do
        [[ $line == *" $word "* ]] || { tap_has "$name" " $word " "$said"; return; }
    done
    tap_point 0 "$name:$line"
}
planned() { [[ $said =~ planned=[1-9] ]]; }

all=(reduce allreduce bcast)
only_first='[ "$OMPI_COMM_WORLD_RANK" = 1 ] || export OMPI_MCA_accelerator=null; exec "$@"'

with_devices() {
    local way both=(--mca coll clv,accelerator,basic,libnbc,tuned)
    component fake_accelerator accelerator_fake "${internals[@]}"
    run --mca coll clv -- open "${all[@]}"
    says 'an accelerator, nobody copies: every call of every rank takes the previous function' \
        wrong=0 left_least=180 left_most=180 planned=0
    run --mca coll clv --mca coll_clv_reduce_algorithm ring -- open reduce
    says 'also where an algorithm is forced' wrong=0 left_least=60 left_most=60
    said=$(mpi_run -np 4 --mca coll clv --mca coll_clv_collectives reduce,allreduce,bcast \
        sh -c "$only_first" sh "$program" open "${all[@]}")
    says 'an accelerator on one rank only: all ranks do' wrong=0 left_least=180 left_most=180 planned=0
    run --mca coll clv --mca coll_clv_devices 0 -- open "${all[@]}"
    says 'coll_clv_devices 0, memory that the processor may touch: plans run' wrong=0 left_most=0
    tap_ok 'with results of plans' planned
    run --mca coll clv --mca accelerator null -- open "${all[@]}"
    says 'no accelerator in use: nothing is left to others' wrong=0 left_most=0
    tap_ok 'and plans run' planned
    run --mca coll clv -- locked bcast
    says 'memory that nobody may touch: a broadcast of Open MPI gets there' wrong=0 left_least=60
    run --mca coll clv --mca coll_clv_devices 0 --mca coll_clv_bcast_algorithm out_chain -- locked bcast
    says 'and one of clv, too' wrong=0 left_most=0
    tap_ok 'by plans' planned

    component fake_copier coll_accelerator "${internals[@]}"
    for way in '' "${both[*]} --mca coll_clv_priority 45"; do
        # shellcheck disable=SC2086 # words
        run ${way:---mca coll clv} -- locked "${all[@]}"
        says 'somebody above copies: right for every mix of ranks' wrong=0 left_most=0
        tap_ok 'by plans' planned
    done
    run "${both[@]}" --mca coll_clv_priority 90 -- locked "${all[@]}"
    says 'clv above who copies: all is left to that one' wrong=0 left_least=180 left_most=180 planned=0
}

# Nothing tells 4.1 without CUDA that memory is a device's.
without_devices() {
    local how
    run --mca coll clv -- open "${all[@]}"
    says 'no device is known: plans run' wrong=0 left_most=0
    for how in '^clv' clv; do
        run --mca coll "$how" -- locked allreduce
        tap_ok "memory that nobody may touch, --mca coll $how: the job ends by a signal" \
            grep -qi 'signal' <<<"$said"
    done
}

run_here() {
    local version
    export CLV_TOP=$top CLV_BUILD=${CLV_BUILD:-$top/build}
    . "$top/tests/support/tap.sh"
    mpi_setup
    export OMPI_MCA_mpi_yield_when_idle=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
    fakes=$(mktemp -d)
    trap 'rm -rf "$fakes"' EXIT
    OMPI_MCA_mca_base_component_path=$fakes:$OMPI_MCA_mca_base_component_path
    # shellcheck disable=SC2207 # words
    internals=($(make -s -C "$CLV_BUILD" show-ompi-cppflags | tail -n 1))
    program=$fakes/devices
    mpicc -std=gnu11 -O1 -I"$top" -o "$program" "$top/tests/versions/devices.c" "$top/tests/mpi/pvar_look.c" ||
        die 'devices.c does not compile'
    version=$(mpirun --version | sed -n '1s/.*[ v]\([0-9]*\)\.[0-9].*/\1/p')
    if [ "$version" -ge 5 ]; then with_devices; else without_devices; fi
    tap_end
}

case ${1:-here} in
here) run_here ;;
trixie | sid) go_inside devices "$1" ;;
*) die 'usage: tests/versions/devices.sh trixie|sid|here' ;;
esac
