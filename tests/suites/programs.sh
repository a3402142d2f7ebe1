#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: programs of others, unchanged, on emulated hosts: Open MPI alone and clv (reduce, allreduce and bcast) in
# paired turns, their times and their own results; once also with clv for vectors of any size. Given are programs
# that were built before, each as its authors say; what is not given is skipped. Nothing of them is in this project.
#
#   tests/suites/programs.sh [--turns 7] [--only NAME,...] [--folder DIR] [--page FILE] [--realtime]
#       [--prk .../MPI1/Reduce/reduce] [--minife .../miniFE.x] [--hpcg .../xhpcg] [--comd .../CoMD-mpi] [--lammps lmp]
#
#   prk      Parallel Research Kernels, github.com/ParRes/Kernels, MPI1/Reduce: reduces of 2 MiB and nothing else
#   minife   github.com/Mantevo/miniFE, ref/src      hpcg   github.com/hpcg-benchmark/hpcg
#   comd     github.com/ECP-copa/CoMD, src-mpi       lammps Debian's package lammps (`lmp` where it is installed)
#   transport  the example of this project, reduces of 2 MiB and the root's word after some
#   train    apps/examples/python/train.py of this project, with mpi4py: allreduces of 2 MiB, one rank always late
#
# A run leaves its output in the folder (the build's has one for each commit) and is not repeated while that is
# there. TAP: a program's results are those of Open MPI alone, always; and a table: the paired ratio of times
# (clv / alone) with its limits, and the upstream commit. Two minutes a program and bed with --turns 7; to see one
# per cent it takes a quiet machine, --realtime and 24 turns or more. Needs root, namespaces and a build; mpi4py and numpy for train.
set -u
export LC_ALL=C CLV_TOP=${CLV_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
export CLV_BUILD=${CLV_BUILD:-$CLV_TOP/build}
top=$CLV_TOP
. "$CLV_TOP/tests/support/tap.sh"
. "$CLV_TOP/apps/bench/page/pages.sh"
turns=7 only='' page='' folder=$CLV_BUILD/programs-$(git -C "$CLV_TOP" rev-parse --short HEAD)
realtime=() lammps=$(command -v lmp)
declare -A given

# name | hosts | ranks on each (--by-node: dealt out host by host in turn) | what its time stands behind, with a /
# before it a rate instead | its results, a comma for "or" | arguments
here=$CLV_TOP/tests/suites
table="
prk|8|1|Avg time .s.:|Solution validates|40 262144
prk|4|4|Avg time .s.:|Solution validates|40 262144
transport|4|4|iteration_ms=|check=[a-z]+|--quiet --batches 25 --warmup 10 --particles 800 --pace 200 --common-clock
prk|4|4 --by-node|Avg time .s.:|Solution validates|40 262144
transport|4|4 --by-node|iteration_ms=|check=[a-z]+|--quiet --batches 25 --warmup 10 --particles 800 --pace 200 --common-clock
train|8|1|step_ms=|loss=[0-9.e+-]+ check=[a-z]+|--pace 2500
train|4|4|step_ms=|loss=[0-9.e+-]+ check=[a-z]+|--pace 2500
minife|8|1|Total CG Time:|Iteration = 60 +Residual = [0-9.e-]+,solution matches|-nx 40 -ny 40 -nz 40 -verify_solution 1
hpcg|8|1|/GFLOP/s rating of=|(HPCG result is [A-Z]+,Result=[A-Z]+)|--nx=16 --ny=16 --nz=16 --rt=5
comd|8|1|loop +1|Final energy .*|-i 4 -j 2 -k 1 -x 20 -y 20 -z 20 -N 40
lammps|8|1|Loop time of|result: .*|-in $here/programs.lammps
"

usage() { sed -n '4,22s/^# \{0,1\}//p' "$0"; }
. "$CLV_TOP/apps/cli/options.sh" || exit 4
options_split "$@"
set -- "${options[@]}"
while [ $# -gt 0 ]; do
    case $1 in
        --turns|--only|--folder|--page)
            options_value "$@"
            declare "${1#--}=$2"; shift ;;
        --prk|--minife|--hpcg|--comd|--lammps)
            options_value "$@"
            given[${1#--}]=$2; shift ;;
        --realtime) realtime=(--realtime) ;;
        *) options_other "$1" ;;
    esac
    shift
done
[[ $turns =~ ^[1-9][0-9]?$ ]] || options_wrong "--turns must be 1 to 99, not '$turns'"
[ -z "$page" ] || grep -qx '<!-- programs -->' "$page" || options_wrong "$page has no line <!-- programs -->"
given[lammps]=${given[lammps]:-$lammps}
mkdir -p "$folder" && folder=$(cd "$folder" && pwd) || exit 2
mpi_setup


# ---- one run ----

python() {
    local each
    for each in $(type -ap python3); do "$each" -c 'import mpi4py, numpy' 2>/dev/null && echo "$each" && return; done
}
# The words that start it; none: it was not given.
command_of() { # name
    local python
    case $1 in
        transport) echo "$CLV_BUILD/apps/examples/transport/transport" ;;
        train) python=$(python) && echo "$python $CLV_TOP/apps/examples/python/train.py" ;;
        *) [ -z "${given[$1]:-}" ] || readlink -f "${given[$1]}" ;;
    esac
}
upstream_of() { # name
    local program folder
    [[ $1 != t* ]] || { echo 'this project'; return; }
    program=$(command_of "$1") folder=${program%/*}
    git -C "$folder" log -1 --format=%h 2>/dev/null ||
        dpkg-query -W -f '${binary:Package} ${Version}' "$(dpkg -S "$program" 2>/dev/null | cut -d: -f1)" 2>/dev/null ||
        echo 'not in git'
}

# alone; clv, as a user asks for it; any: vectors of any size, two ranks enough.
options_of() { # mode
    options=(--mca coll '^clv')
    [ "$1" != alone ] || return
    options=(--mca coll clv --mca coll_clv_collectives reduce,allreduce,bcast)
    [ "$1" = any ] || return
    options+=(--mca coll_clv_reduce_min_bytes 1 --mca coll_clv_allreduce_min_bytes 1 --mca coll_clv_bcast_min_bytes 1
        --mca coll_clv_min_ranks 2 --mca coll_clv_verbose 10)
}

# Where it writes files beside what it prints, they are added: the folder it runs in is its own.
run_one() { # mode turn, of the row in $name, $hosts ...
    local stem=$folder/$name-${hosts}x${ranks// /}-$1-$2 work status options by_node=
    [ ! -s "$stem.out" ] || return 0
    bed_is_up
    work=$(mktemp -d) || return
    options_of "$1"
    [[ $ranks != *by-node ]] || by_node=--by-node
    # shellcheck disable=SC2046,SC2086 # words
    (cd "$work" && "$CLV_TOP/apps/bench/cluster" run --name "$bed" $by_node --timeout 300 "${realtime[@]}" --env OMP_NUM_THREADS=1 \
        --env OPENBLAS_NUM_THREADS=1 "${options[@]}" -- $(command_of "$name") $arguments) >"$stem.log" 2>&1 </dev/null
    status=$?
    cat "$work"/* >>"$stem.log" 2>/dev/null
    rm -rf "$work"
    [ $status -ne 0 ] || mv "$stem.log" "$stem.out"
    return $status
}
bed=
bed_is_up() {
    [ -z "$bed" ] || return 0
    bed=programs-$$
    "$CLV_TOP/apps/bench/cluster" up "$hosts" --rate 400mbit --ranks-per-host "${ranks%% *}" --name "$bed" >"$folder/bed.log" 2>&1 ||
        { bed= && tap_skip_all "$(sed -n 's/^cluster: //p' "$folder/bed.log" | head -n 1)"; }
}
bed_down() {
    [ -z "$bed" ] || "$CLV_TOP/apps/bench/cluster" down --name "$bed" >/dev/null 2>&1
    bed=
}
trap bed_down EXIT
trap 'exit 130' INT TERM

# ---- what runs say ----

time_of() { # file
    local number
    number=$(grep -aoE "${behind#/} *[0-9.eE+-]+" "$1" | tail -n 1 | grep -oE '[0-9.eE+-]+$')
    [ "${behind#/}" = "$behind" ] && echo "$number" || awk -v rate="$number" 'BEGIN { print 1 / rate }'
}
results_of() { grep -aoE "${results//,/|}" "$1" | sort | xargs; } # file; lines of several ranks come in any order

# Word by word; numbers may differ in the seventh digit, since sums of other orders do.
are_alike() { # one's results, other's
    [ -n "$1" ] && paste -d '\n' <(xargs -n 1 <<<"$1") <(xargs -n 1 <<<"$2") | awk '
        NR % 2 { one = $0; next }
        one != $0 && !(one + 0 && (one - $0) ^ 2 <= (1e-6 * one) ^ 2) { differ = 1 }
        END { exit differ }'
}

times_of() { # mode: of its turns, in ns
    local k
    for ((k = 1; k <= turns; k++)); do time_of "$stem-$1-$k.out"; done | awk '{ printf("%s%.0f", NR > 1 ? "," : "", 1e9 * $1) }'
}
# Of the paired turns and its limits at 95 %, by clv-bench-compare, whose lines these are; "-" where there are too
# few turns. The limits of the signed rank test lie closer together than those of the sign test.
ratio() {
    local mode
    for mode in alone clv; do
        printf '{"mode":"loop","collective":"%s","pattern":"as is","algorithm":"%s","ranks":%d,"bytes":0,"delay_ns":0,"iteration_ns":[%s]}\n' \
            "$name" "$mode" $((hosts * ${ranks%% *})) "$(times_of "$mode")"
    done >"$stem.json"
    "$CLV_BUILD/apps/bench/clv-bench-compare" --paired csv --baseline alone "$stem.json" |
        awk -F, '$9 == "clv" { printf "%.3f | %s", $13, $14 ~ /nan/ ? "-" : sprintf("%.3f to %.3f", $14, $15) }'
}
median_time() { # mode
    local k
    for ((k = 1; k <= turns; k++)); do time_of "$stem-$1-$k.out"; done | sort -g | awk '{ t[NR] = $1 } END { printf "%.4g", t[int((NR + 1) / 2)] }'
}

# ---- a row ----

all_alike() {
    local k mode wanted said=0
    wanted=$(results_of "$stem-alone-1.out")
    for k in $(seq "$turns") any; do
        for mode in alone clv; do
            [ "$k" != any ] && file=$stem-$mode-$k.out || file=$stem-any-1.out
            are_alike "$wanted" "$(results_of "$file")" || { echo "$file: $(results_of "$file"), not $wanted"; said=1; }
        done
    done
    return $said
}
# Did a plan run? Of those of any size, which tell.
planned() { grep -aE 'coll:clv: .*: [a-z_]+, because ' "$stem-any-1.out" | grep -vc ': previous, because'; }

try() {
    local k first status=0 stem=$folder/$name-${hosts}x${ranks// /}
    for ((k = 1; k <= turns && status == 0; k++)); do
        if [ $((k % 2)) = 1 ]; then first='alone clv'; else first='clv alone'; fi
        for mode in $first; do run_one "$mode" "$k" || status=1; done
    done
    [ $status = 0 ] && run_one any 1 || status=1
    [ $status = 0 ] || { output=$(ls -t "$stem"-*.log | head -n 1) && tap_report 1 "$name, $hosts x $ranks: runs"; return; }
    tap_ok "$name, $hosts x $ranks: results are those of Open MPI alone" all_alike
    lines+=("| $name | $hosts x $ranks | \`${arguments/$CLV_TOP\//}\` | $(upstream_of "$name") | $(median_time alone) | $(ratio) | $(planned) |")
}

tables() {
    printf '%s turns, %s. Times as the program prints them; for hpcg seconds per GFLOP.\n\n' "$turns" "$(date -u +%F)"
    echo '| program | hosts | arguments | upstream | alone, median | clv / alone | limits | plans told, any size |'
    echo '|---|---|---|---|---|---|---|---|'
    printf '%s\n' "${lines[@]}"
}

# In braces: read as a whole before it runs, so an edit of this file meanwhile does no harm.
{
    lines=()
    while IFS='|' read -r name hosts ranks behind results arguments; do
        [[ ,${only:-$name}, == *,$name,* ]] || continue
        [ -n "$(command_of "$name")" ] || { tap_skip "$name, $hosts x $ranks" 'not given'; continue; }
        try </dev/null
        bed_down
    done < <(sed '/^$/d' <<<"$table")
    [ ${#lines[@]} -eq 0 ] || { echo && tables; }
    [ -z "$page" ] || put_between "$page" programs tables || exit 2
    tap_end
}
