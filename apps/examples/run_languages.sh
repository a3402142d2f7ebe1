#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# ./clv run --languages: one program in C, Fortran (mpi_f08) and Python (mpi4py), unchanged, under the
# installed Open MPI, with the pipeline forced by hand, and with clv; run times side by side.
#
#   apps/examples/run_languages.sh [--hosts K] [--rate MBIT] [--calls N] [--no-install] [--page FILE]
#
# Installs gfortran and python3-mpi4py where they are missing and it may (root, Debian); leaves out a
# language that is not there. On an emulated cluster (apps/bench/cluster, needs root); without one over this machine's shared
# memory, where figures show that it works, not how fast it is. --page puts the table between the marks
# "<!-- languages -->" and "<!-- end -->" of a page. About a minute and a half.
# Exit status: 0 when every run's results were right.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${CLV_BUILD:-$top/build}
hosts=8
rate_mbit=400
calls=60
installs=yes
page=

usage() { echo 'usage: ./clv run --languages [--hosts K] [--rate MBIT] [--calls N] [--no-install] [--page FILE]'; }
. "$top/apps/cli/options.sh" || exit 4
options_split "$@"
set -- "${options[@]}"
while [ $# -gt 0 ]; do
    case $1 in
    --hosts | --rate | --calls | --page) options_value "$@" ;;&
    --hosts) hosts=$2; shift 2 ;;
    --rate) rate_mbit=$2; shift 2 ;;
    --calls) calls=$2; shift 2 ;;
    --no-install) installs=; shift ;;
    --page) page=$2; shift 2 ;;
    *) options_other "$1" ;;
    esac
done
case $hosts$rate_mbit$calls in *[!0-9]*) options_wrong 'hosts, rate and calls are numbers' ;; esac
[ -z "$page" ] || grep -q '^<!-- languages -->$' "$page" || options_wrong "$page has no line <!-- languages -->"

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
say() { printf 'run_languages.sh: %s\n' "$*" >&2; }

install_missing() {
    local packages
    command -v dpkg-query apt-get >/dev/null && [ "$(id -u)" -eq 0 ] || return 0
    packages=$(for package in gfortran python3-mpi4py python3-numpy; do
        dpkg-query -W -f '${Status}' $package 2>/dev/null | grep -q 'ok installed' || echo $package
    done)
    [ -n "$packages" ] || return 0
    say "installing" $packages
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages >"$work/install" 2>&1 ||
        { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages; } >"$work/install" 2>&1
}

python_with_mpi4py() {
    local python
    for python in $(type -ap python3); do
        "$python" -c 'import mpi4py, numpy' 2>/dev/null && { echo "$python"; return; }
    done
    return 1
}

# The programs that this machine can make: languages, and command_of.
languages=()
declare -A command_of title_of
make_programs() {
    local source=$top/apps/examples/languages python
    title_of=([c]='C' [fortran]='Fortran, `use mpi_f08`' [python]='Python, mpi4py')
    if mpicc -O2 -o "$work/reduce_c" "$source/reduce.c" >"$work/log" 2>&1; then
        languages+=(c) command_of[c]=$work/reduce_c
    else
        say "no C: $(tail -n 1 "$work/log")"
    fi
    if mpifort -O2 -J "$work" -o "$work/reduce_f" "$source/reduce.f90" >"$work/log" 2>&1; then
        languages+=(fortran) command_of[fortran]=$work/reduce_f
    else
        say "no Fortran: $(tail -n 1 "$work/log")"
    fi
    if python=$(python_with_mpi4py); then
        languages+=(python) command_of[python]="$python $source/reduce.py"
    else
        say 'no Python with mpi4py and numpy'
    fi
}

emulated=yes
run_one() { # LANGUAGE NAME MCA...
    local language=$1 name=$2
    shift 2
    say "running $language, $name ..."
    # shellcheck disable=SC2086
    if [ $emulated = yes ] && "$top/apps/bench/cluster" with "$hosts" --rate "${rate_mbit}mbit" --realtime --timeout 200 "$@" \
        -- ${command_of[$language]} $calls >"$work/$language-$name" 2>&1; then
        return
    fi
    [ -s "$work/c-stock" ] && grep -q '^reduce-result' "$work/c-stock" || emulated=no
    # shellcheck disable=SC2086
    [ $emulated = yes ] || timeout 200 mpirun --oversubscribe -n "$hosts" "$@" ${command_of[$language]} $calls \
        >"$work/$language-$name" 2>&1
}

field() { sed -n "s/^reduce-result .*\\b$2=\\([^ ]*\\).*/\\1/p" "$work/$1"; }

table() {
    local language name cells
    echo '| program | run [s]: as installed | pipeline forced | clv | mean time in MPI_Reduce [ms]: as installed | pipeline forced | clv |'
    echo '|---|---|---|---|---|---|---|'
    for language in "${languages[@]}"; do
        cells="| ${title_of[$language]} |"
        for name in stock pipeline clv; do cells+=" $(field "$language-$name" run_s) |"; done
        for name in stock pipeline clv; do cells+=" $(field "$language-$name" in_reduce_ms) |"; done
        echo "$cells"
    done
}

write_page() {
    awk -v table="$work/table" '
        $0 == "<!-- languages -->" { print; print ""; while ((getline line < table) > 0) print line; print ""; skipping = 1 }
        $0 == "<!-- end -->" { skipping = 0 }
        !skipping { print }' "$page" >"$work/page" && cat "$work/page" >"$page"
}

[ -z "$installs" ] || install_missing
# Stock runs must not even see our component: the path is given to the clv run alone.
eval "$("$top/clv" env 2>/dev/null)"
component_path=${OMPI_MCA_mca_base_component_path:-}
unset OMPI_MCA_mca_base_component_path
export OMPI_MCA_mpi_yield_when_idle=1
make_programs
failed=0
for language in "${languages[@]}"; do
    run_one "$language" stock
    run_one "$language" pipeline --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_reduce_algorithm 3 \
        --mca coll_tuned_reduce_algorithm_segmentsize 65536
    run_one "$language" clv --mca mca_base_component_path "$component_path" --mca coll clv
    for name in stock pipeline clv; do
        [ "$(field "$language-$name" check)" = ok ] || { failed=1; head -n 12 "$work/$language-$name" >&2; }
    done
done
table >"$work/table"
if [ $emulated = yes ]; then
    echo "emulated cluster: $hosts hosts, links of $rate_mbit Mb/s"
    grep -h 'NOT network-bound' "$work"/*-stock "$work"/*-pipeline "$work"/*-clv | sort -u
else
    echo "No emulated cluster here: $hosts ranks share this machine's cores and memory."
fi
cat "$work/table"
[ -z "$page" ] || [ $failed -ne 0 ] || write_page
exit $failed
