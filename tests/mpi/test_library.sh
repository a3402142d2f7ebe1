#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The component stays out of another Open MPI than it was built for, and says so.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
program=$CLV_BUILD/tests/mpi/other_library

# loaded_by WORDS OPTIONS...: two ranks in a library that says WORDS of itself
loaded_by() {
    local words=$1
    shift
    mpi_run -np 2 --mca mpi_yield_when_idle 1 "$@" env CLV_TEST_LIBRARY="$words" "$program"
}
own=$(ompi_info --version | sed -n 's/^Open MPI v//p')
low=--mca\ coll_clv_priority\ 40

# shellcheck disable=SC2086
said=$(loaded_by "$own" $low)
tap_has 'in its own library it is used' 'sum right, component used' "$said"
for other in 99.0.0 "${own%.*}.99"; do
    # shellcheck disable=SC2086
    said=$(loaded_by "$other" $low)
    tap_has "loaded by $other: it is not used, the job runs" 'sum right, component not used' "$said"
    tap_has "loaded by $other: it says why" "built for $own, loaded by $other" "$said"
done
# shellcheck disable=SC2086
said=$(loaded_by 'Some MPI 3' $low)
tap_has 'in one with words of a vendor that were not those of the headers it is not used, either' 'component not used' "$said"
said=$(loaded_by 99.0.0 --mca coll clv)
tap_lacks 'named alone in a wrong library: the job does not run without it' 'sum right' "$said"

# Installed but not asked for it has nothing to say; asked for, it says it once on a node.
said=$(mpi_run -np 4 env CLV_TEST_LIBRARY=99.0.0 "$program")
tap_has 'not asked for, in a wrong library: the job runs' 'sum right, component not used' "$said"
# (PMIx 5 looks through the same folder and names each file that is none of its own.)
heard=$(grep -v 'mca:base:process_repository_item' <<<"${said//component not used/}")
tap_lacks 'and nobody hears of clv' 'clv' "$heard"
said=$(mpi_run -np 4 --mca coll_clv_sma_window 0 env CLV_TEST_LIBRARY="$own" "$program")
tap_lacks 'nor of a bad parameter of it' 'sma_window' "$said"
# shellcheck disable=SC2086
said=$(mpi_run -np 4 $low env CLV_TEST_LIBRARY=99.0.0 "$program")
tap_ok 'asked for: one of four ranks tells' test 1 -eq "$(grep -c 'built for [0-9]' <<<"$said")"
tap_has 'with what to do' './clv build' "$said"
tap_end
