#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: a connection of MPI's own breaks in the middle of reduces under MPI_ERRORS_RETURN, and what each rank
# sees of that within 30 s: an error, the end of the job, or nothing. Open MPI alone beside clv, with and
# without MPI's fault tolerance where there is one. Prints rows of docs/guide/failures.md; a measurement, not a
# judgement: it fails only where clv leaves ranks without an answer and Open MPI alone does not.
#
#   tests/versions/pml_error.sh trixie|sid|here [MODE ...]       MODE: as for ulfm.sh; stock clairvoyant
#
# Needs what debian_root.sh says. 2 minutes, and a build.
set -uo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
limit=${CLV_TIMEOUT:-3000}
say() { printf 'pml_error: %s\n' "$*" >&2; }
. "$top/tests/versions/debian_root.sh"

# What the four ranks saw. Open MPI ends a rank that others take for dead, as it is told so.
summary() { # status
    local errors none ended
    errors=$(grep -c 'error class' "$output") none=$(grep -c 'no error in' "$output")
    ended=$(grep -c 'I have been reported dead by someone else' "$output")
    if [ $((errors + none)) -eq 4 ]; then
        echo "errors on $errors of 4 ranks ($(sed -n 's/.*error class \([0-9]*\) after \(.*\) s/class \1 after \2 s/p' "$output" | sort -u | paste -sd';'))"
    elif [ "$1" -ne 124 ] && [ "$1" -ne 137 ]; then
        echo "Open MPI ends the job ($errors ranks had an error before)"
    else
        echo "errors on $errors of 4 ranks, $ended ended by Open MPI's failure detector, $((4 - errors - none - ended)) wait on"
    fi
}

run_here() {
    local build=${CLV_BUILD:-$top/build} mode ft status options waits failed=0
    declare -A waiting
    [ $# -gt 0 ] || set -- stock clairvoyant
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
    export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
    eval "$(CLV_BUILD=$build "$top/clv" env | grep component_path)"
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    output=$scratch/output
    mpicc -std=gnu11 -O1 -o "$scratch/pml_error" "$top/tests/versions/pml_error.c" || exit 2
    echo '| Open MPI | fault tolerance | mode | what the ranks see |'
    echo '|---|---|---|---|'
    for ft in no yes; do
        if [ $ft = yes ] && ! ompi_info --all 2>/dev/null | grep -qiE 'FT MPI|with-ft|mpi_ft_enable'; then continue; fi
        for mode in "$@"; do
            options=(--mca coll '^clv')
            [ "$mode" = stock ] || options=(--mca coll clv --mca coll_clv_reduce_algorithm "$mode")
            [ $ft = no ] || options+=(--with-ft ulfm)
            timeout -k 5 30 mpirun --oversubscribe -n 4 --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include lo \
                --mca btl_tcp_port_min_v4 40000 --mca btl_tcp_port_range_v4 1000 "${options[@]}" \
                "$scratch/pml_error" >"$output" 2>&1 </dev/null
            status=$?
            waits=$(summary $status)
            echo "| $(ompi_info --version | sed -n '1s/.* v//p') | $ft | $mode | $waits |"
            [[ $waits != *', '[1-4]' wait on'* ]] || waiting[$mode,$ft]=yes
            [ "$mode" = stock ] || [ -z "${waiting[$mode,$ft]:-}" ] || [ -n "${waiting[stock,$ft]:-}" ] || failed=1
        done
    done
    exit $failed
}

suite=${1:-here}
[ $# -eq 0 ] || shift
case $suite in
here) run_here "$@" ;;
trixie | sid) go_inside pml_error "$suite" "$@" ;;
*) die 'usage: tests/versions/pml_error.sh trixie|sid|here [MODE ...]' ;;
esac
