#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: what coll_clv_wait sleep saves and what it costs. tests/mpi/wait_cases, each cell in pairs whose order
# alternates: ranks that spin (Open MPI alone) and ranks that sleep.
#
#   tests/quality/waiting.sh [--pairs 7] [--cells PATTERN] [--data FILE] [--page FILE]
#
# Half an hour for all. --cells: those whose name matches (grep -E; --cells list names them). Prints a line per cell:
# medians, the median of the pairs' ratios of iteration times with its limits (least and most), the processor time of a
# second of waiting of both, and of sleeping calls how many may have woken more than 0.1 ms late. --data: writes them as
# JSON lines. --page: writes the table between the page's marks.
# No joule is measured: processor time and time are. Figures mean something only on a quiet machine; each line has the
# load at its end. Hosts are emulated without the library that lets waiting ranks sleep; that needs root, else those cells
# are skipped.
# TAP: the targets of each kind of cell.
set -u
export LC_ALL=C CLV_TOP=${CLV_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
export CLV_BUILD=${CLV_BUILD:-$CLV_TOP/build}
. "$CLV_TOP/tests/support/tap.sh"
pairs=7 cells=. data= page=
. "$CLV_TOP/apps/cli/options.sh" || exit 4
usage() { sed -n '7,15s/^# \{0,1\}//p' "$0"; }
options_split "$@"
set -- "${options[@]}"
while [ $# -gt 0 ]; do
    case $1 in
        --pairs | --cells | --data | --page)
            options_value "$@"
            declare "${1#--}=$2"; shift ;;
        *) options_other "$1" ;;
    esac
    shift
done
mpi_setup
unset OMPI_MCA_coll_clv_setup_bytes
program=$CLV_BUILD/tests/mpi/wait_cases
cluster=$CLV_TOP/apps/bench/cluster
work=$(mktemp -d) || exit 2
bed=
end() {
    [ -z "$bed" ] || "$cluster" down --name "$bed" >/dev/null 2>&1
    rm -rf "$work"
}
trap end EXIT
trap 'exit 130' INT TERM

# kind name place ranks arguments of wait_cases. Kinds: cpu, loop, crowd, balanced.
all_cells() {
    local delay bytes pattern
    for delay in 5000 20000; do
        echo "cpu late-$delay bed 8 allreduce late 300 8 $delay"
    done
    for pattern in late twos drawn; do
        for bytes in 8 4096; do
            for delay in 100 1000 5000 50000; do
                echo "loop $pattern-$bytes-$delay bed 8 allreduce $pattern $((delay > 20000 ? 100 : 300)) $bytes $delay"
            done
        done
    done
    echo 'loop reduce-2m bed 8 reduce drawn 100 2097152 50000'
    echo 'crowd crowd-8 here 8 allreduce late 60 8 10000 work'
    echo 'crowd crowd-4096 here 8 allreduce late 60 4096 10000 work'
    for bytes in 8 64 512 4096; do
        echo "balanced balanced-$bytes here 2 allreduce balanced 200000 $bytes 0"
        echo "balanced balanced-tcp-$bytes tcp 2 allreduce balanced 30000 $bytes 0"
    done
    echo 'balanced barrier here 2 barrier balanced 200000 8 0'
}
if [ "$cells" = list ]; then all_cells | cut -d' ' -f2; exit; fi

up() { # eight hosts, once
    [ -z "$bed" ] || return 0
    bed=wait$$
    echo | gcc -shared -fPIC -x c -o "$work/none.so" - &&
        CLV_YIELD_LIBRARY=$work/none.so "$cluster" up 8 --name $bed >"$work/up" 2>&1 || { bed=; return 1; }
}

run() { # place ranks selection arguments of mpirun -- arguments of the program: its line
    local place=$1 ranks=$2 mca=()
    shift 2
    while [ "$1" != -- ]; do mca+=(--mca "$1" "$2"); shift 2; done
    shift
    case $place in
        bed) CLV_YIELD_LIBRARY=$work/none.so "$cluster" run --name "$bed" --np "$ranks" "${mca[@]}" -- "$program" "$@" ;;
        tcp) mpi_run -np "$ranks" --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include lo "${mca[@]}" "$program" "$@" ;;
        *) mpi_run -np "$ranks" --bind-to none --mca mpi_yield_when_idle 0 "${mca[@]}" "$program" "$@" ;;
    esac 2>&1 </dev/null | grep -a '"wrong":0}$'
}
alone() { run "$1" "$2" coll ^clv -- "${@:3}"; }
asleep() { run "$1" "$2" coll clv coll_clv_min_ranks 2 coll_clv_wait sleep -- "${@:3}"; }
of() { sed -n "s/.*\"$1\":\([0-9.]*\).*/\1/p" <<<"$2"; }
median() { sort -g | awk '{ a[NR] = $1 } END { print (a[int((NR + 1) / 2)] + a[int(NR / 2) + 1]) / 2 }'; }
column() { cut -d' ' -f"$1" "$work/pairs" | median; }

# What is compared: the iteration; of balanced calls the best block, which no other process disturbed.
cell() { # kind name place ranks arguments
    local i ours theirs what=iteration_us
    [ "$1" != balanced ] || what=best_us
    : >"$work/pairs"
    for i in $(seq "$pairs"); do
        if [ $((i % 2)) -eq 1 ]; then
            theirs=$(alone "${@:3}") ours=$(asleep "${@:3}")
        else
            ours=$(asleep "${@:3}") theirs=$(alone "${@:3}")
        fi
        [ -n "$theirs" ] && [ -n "$ours" ] || return 1
        echo "$(of $what "$theirs") $(of $what "$ours") $(of cpu "$theirs") $(of cpu "$ours") $(of late_wakes "$ours")" \
            "$(of asleep_ns "$ours") $(of waited_ns "$ours") $(of late "$theirs") $(of late "$ours")" >>"$work/pairs"
    done
    awk '{ print $2 / $1 }' "$work/pairs" | sort -g >"$work/ratios"
    printf '{"kind":"%s","cell":"%s","place":"%s","ranks":%d,"calls":%d,"pairs":%d,"spin_us":%s,"sleep_us":%s,"ratio":%.4f,"least":%.4f,"most":%.4f,"spin_cpu":%s,"sleep_cpu":%s,"woken_late":%s,"asleep":%.3f,"load":%s}\n' \
        "$1" "$2" "$3" "$4" "$7" "$pairs" "$(column 1)" "$(column 2)" "$(median <"$work/ratios")" "$(head -n 1 "$work/ratios")" \
        "$(tail -n 1 "$work/ratios")" "$(column 3)" "$(column 4)" "$(awk '{ n += $5 } END { print n + 0 }' "$work/pairs")" \
        "$(awk '{ a += $6; w += $7 } END { print (w > 0 ? a / w : 0) }' "$work/pairs")" "$(cut -d' ' -f1 /proc/loadavg)" >"$work/line"
}
value() { sed -n "s/.*\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/p" "$work/line"; }
meets() { # kind: the target of waiting that costs nothing
    case $1 in
        cpu) awk -v s="$(value sleep_cpu)" -v o="$(value spin_cpu)" 'BEGIN { exit !(s <= 0.15 * o) }' ;;
        loop) awk -v r="$(value ratio)" -v l="$(value least)" 'BEGIN { exit !(r <= 1.005 || l <= 1) }' ;;
        crowd) awk -v r="$(value ratio)" 'BEGIN { exit !(r <= 0.6) }' ;;
        *) awk -v r="$(value ratio)" -v l="$(value least)" 'BEGIN { exit !(r <= 1.01 || l <= 1) }' ;;
    esac
}

: >"$work/lines"
while read -r kind name place rest; do
    if [ "$place" = bed ] && ! up; then
        tap_skip "$name" 'no emulated hosts here'
    elif cell "$kind" "$name" "$place" $rest; then
        cat "$work/line" >>"$work/lines"
        tap_ok "$kind $name: sleep / spin $(value ratio) ($(value least) to $(value most)), cpu $(value spin_cpu) and $(value sleep_cpu), $(value woken_late) may have woken late" meets "$kind"
    else
        tap_point 1 "$name: a run failed"
    fi
done < <(all_cells | grep -E -- "^[a-z]* [^ ]*$cells")
[ -z "$data" ] || cp "$work/lines" "$data"
if [ -n "$page" ]; then
    {
        printf '\n%d pairs, %s, commit %s.\n\n' "$pairs" "$(date +%F)" "$(git -C "$CLV_TOP" rev-parse --short HEAD)"
        echo '| cell | where | ranks | spin [us] | sleep [us] | sleep / spin | limits | cpu of a second waited, spin | sleep | may have woken late, of calls | load |'
        echo '|---|---|---|---|---|---|---|---|---|---|---|'
        sed 's/[{}"]//g; s/[a-z_]*://g' "$work/lines" |
            awk -F, '{ printf "| %s | %s | %d | %.2f | %.2f | %.3f | %.3f to %.3f | %.2f | %.2f | %d of %d | %.1f |\n", $2, $3, $4, $7, $8, $9, $10, $11, $12, $13, $14, $4 * $5 * $6, $16 }'
        echo
    } >"$work/table"
    sed -i -e "/<!-- waiting -->/r $work/table" -e '/<!-- waiting -->/,/<!-- end -->/{/<!--/!d}' "$page"
fi
tap_end
