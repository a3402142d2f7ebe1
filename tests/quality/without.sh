#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What a build may lack: OTF2, hwloc, cmocka, XDR, all four; the component; Open MPI. Each is configured without,
# built whole, and what it has is run: plans, a record shown, a reduce, a unit test, make install.
#
#   tests/quality/without.sh [NAME ...]    otf2 hwloc xdr cmocka four component ompi; all without names
#
# In a temporary folder. Needs what `./clv build` needs, and the libraries that it goes without. Prints TAP;
# 12 minutes, with a warm ccache 3.
set -u
export LC_ALL=C
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/support/tap.sh"
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
jobs=${CLV_JOBS:-2}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1

# name | options | what configure then says it has not
builds='
otf2|--without-otf2|OTF2: no
hwloc|--without-hwloc|hwloc: no
xdr|--without-xdr|XDR: no
cmocka|--without-cmocka|cmocka: no
four|--without-otf2 --without-hwloc --without-cmocka --without-xdr|cmocka: no, hwloc: no
component|--without-component|component: no
ompi|--without-ompi --without-component|MPI programs: no
'
[ $# -gt 0 ] || set -- $(sed '/^$/d; s/|.*//' <<<"$builds")
field() { awk -F'|' -v name="$1" -v n="$2" '$1 == name { print $n }' <<<"$builds"; }

configured() { # name
    # shellcheck disable=SC2046 # a list of options
    mkdir "$work/$1" && cd "$work/$1" && "$top/configure" --prefix="$work/$1/root" \
        --with-component-dir="$work/$1/root/lib/openmpi" $(field "$1" 2) >configured 2>&1 &&
        grep -F "$(field "$1" 3)" configured || { tail -n 5 configured; return 1; }
}
built() { timeout 1800 make -s -j"$jobs" -C "$work/$1" programs; }
plans() { # the rounds of a golden plan, the record of a job
    "$work/$1/apps/tools/clv-plan" --check <"$top/tests/data/golden/02.txt" && "$work/$1/tests/support/clva-make" "$work/$1/record" 2 2 4 &&
        "$work/$1/apps/tools/clv-view" "$work/$1/record" | grep 'ranks waited'
}
# Without OTF2 it says so; with it the archive is there.
exports() {
    local said
    said=$("$work/$1/apps/tools/clv-view" --export otf2 -o "$work/$1/archive" "$work/$1/record" 2>&1)
    case $? in
    0) [ -f "$work/$1/archive/traces.otf2" ] && [ -x "$work/$1/apps/tools/clv-correct" ] ;;
    2) [[ $said == *'built without OTF2'* ]] && [ ! -e "$work/$1/apps/tools/clv-correct" ] ;;
    *) echo "$said"; false ;;
    esac
}
# clv-bench has the option, or says why not.
tells_of_xdr() {
    local said
    said=$("$work/$1/apps/bench/clv-bench" --xdr - 2>&1 </dev/null)
    [ $? -eq 2 ] && [[ $said == *'this build has no XDR'* || $(field "$1" 2) != *--without-xdr* ]] || { echo "$said"; return 1; }
}
reduces() {
    local said components
    components=$(CLV_BUILD=$work/$1 "$top/clv" env 2>/dev/null | sed -n "s/^export OMPI_MCA_mca_base_component_path='\(.*\)'/\1/p")
    said=$(timeout -k 5 300 mpirun --oversubscribe -np 3 --mca mca_base_component_path "$components" --mca coll clv \
        --mca coll_clv_verbose 10 "$work/$1/apps/examples/transport/transport" --quiet --batches 12 --particles 2000 2>&1 </dev/null | tr -d '\0')
    [[ $said == *': reduce of '*check=ok* ]] || { echo "$said"; return 1; }
}
installs() { timeout 600 make -s -C "$work/$1" install && "$work/$1/root/bin/clv-plan" --version; }

[ -x "$top/configure" ] || "$top/autogen.sh" >/dev/null 2>&1
for name in "$@"; do
    [ -n "$(field "$name" 1)" ] || { echo "Bail out! there is no build '$name'"; exit 2; }
    before=$tap_failed
    tap_ok "without $name: configured" configured "$name"
    tap_ok "without $name: built" built "$name"
    [ $tap_failed -eq "$before" ] || continue
    tap_ok "without $name: plans are made, a record is shown" plans "$name"
    tap_ok "without $name: OTF2 is written, or refused in words" exports "$name"
    [ ! -x "$work/$name/apps/bench/clv-bench" ] || tap_ok "without $name: XDR is written, or refused in words" tells_of_xdr "$name"
    if [ -f "$work/$name/component/mca_coll_clv.so" ]; then
        tap_ok "without $name: a program reduces by clv" reduces "$name"
    fi
    if [ -x "$work/$name/tests/util/test_util" ]; then
        tap_ok "without $name: a unit test" "$work/$name/tests/util/test_util"
    fi
    tap_ok "without $name: installed" installs "$name"
    rm -rf "${work:?}/$name"
done
tap_end
