#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: ranks that share processors are no slower with clv than without. apps/examples/languages/reduce.c, 2, 4 and 8 ranks
# on two processors of this machine, with and without mpi_yield_when_idle, and the same under a quota of one
# processor (a control group): Open MPI alone and clv in pairs whose order alternates.
#
#   tests/quality/shared_cores.sh [--pairs 7] [--calls 60] [--data FILE] [--page FILE]
#
# Two minutes a pair of all cells. Prints a line per cell: medians of the run's time, the median of the pairs' ratios
# with its limits (least and most; of seven pairs they hold the true median in 98 of 100 cases). --data: writes
# them as JSON lines. --page: writes the table between the page's marks.
# TAP: the median ratio is at most 1.02, or the limits hold 1.
# Other work disturbs less where control groups can be made: ranks then come before everybody else's.
# Needs a build; for the quota root or the right to make control groups, else those cells are skipped.
set -u
export LC_ALL=C CLV_TOP=${CLV_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
export CLV_BUILD=${CLV_BUILD:-$CLV_TOP/build}
. "$CLV_TOP/tests/support/tap.sh"
top=$CLV_TOP pairs=7 calls=60 data= page=
. "$CLV_TOP/apps/cli/options.sh" || exit 4
usage() { sed -n '8,15s/^# \{0,1\}//p' "$0"; }
options_split "$@"
set -- "${options[@]}"
while [ $# -gt 0 ]; do
    case $1 in
        --pairs | --calls | --data | --page)
            options_value "$@"
            declare "${1#--}=$2"; shift ;;
        *) options_other "$1" ;;
    esac
    shift
done
mpi_setup
unset OMPI_MCA_coll_clv_setup_bytes OMPI_MCA_coll_clv_shared_processors # as users have it
work=$(mktemp -d) || exit 2
groups=()
end() {
    local group
    for group in "${groups[@]}"; do rmdir "$group"; done
    rm -rf "$work"
}
trap end EXIT
trap 'exit 130' INT TERM
mpicc -O2 -o "$work/reduce" "$CLV_TOP/apps/examples/languages/reduce.c" || tap_skip_all 'the program does not compile here'
[ "$(nproc)" -ge 2 ] || tap_skip_all 'there is one processor'
processors=$(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' |
    while IFS=- read -r first last; do seq "$first" "${last:-$first}"; done | head -n 2 | paste -sd,)

# group_of WORD: a control group that comes before all others; quota: with one processor. Its path, or nothing.
group_of() {
    local folder group
    for folder in /sys/fs/cgroup/cpu /sys/fs/cgroup; do
        group=$folder/clv-shared-cores-$1-$$
        { mkdir "$group"; } 2>/dev/null || continue
        if [ -w "$group/cpu.shares" ]; then
            echo 262144 >"$group/cpu.shares"
            [ "$1" != quota ] || echo 100000 >"$group/cpu.cfs_quota_us" || { rmdir "$group"; continue; }
        elif [ -w "$group/cpu.weight" ]; then
            echo 10000 >"$group/cpu.weight"
            [ "$1" != quota ] || echo '100000 100000' >"$group/cpu.max" || { rmdir "$group"; continue; }
        else
            rmdir "$group"
            continue
        fi
        echo "$group"
        return
    done
}

run() { # group ranks yield selection: seconds
    (
        [ -z "$1" ] || echo "$BASHPID" >"$1/cgroup.procs"
        exec timeout -k 5 120 taskset -c "$processors" mpirun --oversubscribe --bind-to none -n "$2" \
            --mca mpi_yield_when_idle "$3" --mca coll "$4" "$work/reduce" "$calls"
    ) 2>&1 </dev/null | sed -n 's/.* run_s=\([0-9.]*\) .*check=ok$/\1/p'
}
median() { sort -g | awk '{ a[NR] = $1 } END { print (a[int((NR + 1) / 2)] + a[int(NR / 2) + 1]) / 2 }'; }

cell() { # limit group yield ranks
    local i alone ours
    : >"$work/pairs"
    for i in $(seq "$pairs"); do
        if [ $((i % 2)) -eq 1 ]; then
            alone=$(run "$2" "$4" "$3" ^clv)
            ours=$(run "$2" "$4" "$3" clv)
        else
            ours=$(run "$2" "$4" "$3" clv)
            alone=$(run "$2" "$4" "$3" ^clv)
        fi
        [ -n "$alone" ] && [ -n "$ours" ] || return 1
        echo "$alone $ours" >>"$work/pairs"
    done
    awk '{ print $2 / $1 }' "$work/pairs" | sort -g >"$work/ratios"
    printf '{"limit":"%s","waits":"%s","ranks":%d,"pairs":%d,"alone_s":%.3f,"clv_s":%.3f,"ratio":%.3f,"least":%.3f,"most":%.3f}\n' \
        "$1" "$([ "$3" = 1 ] && echo yield || echo spin)" "$4" "$pairs" "$(cut -d' ' -f1 "$work/pairs" | median)" \
        "$(cut -d' ' -f2 "$work/pairs" | median)" "$(median <"$work/ratios")" "$(head -n 1 "$work/ratios")" \
        "$(tail -n 1 "$work/ratios")" >"$work/line"
}
value() { sed -n "s/.*\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/p" "$work/line"; }
is_no_slower() { awk -v r="$(value ratio)" -v l="$(value least)" 'BEGIN { exit !(r <= 1.02 || l <= 1) }'; }

: >"$work/lines"
for limit in two quota; do
    group=$(group_of $limit)
    [ -z "$group" ] || groups+=("$group")
    for yield in 0 1; do
        for ranks in 2 4 8; do
            name="$limit, $([ $yield = 1 ] && echo yield || echo spin), $ranks ranks"
            if [ "$limit" = quota ] && [ -z "$group" ]; then
                tap_skip "$name" 'no control group can be made here'
            elif cell $limit "$group" $yield $ranks; then
                cat "$work/line" >>"$work/lines"
                tap_ok "$name: $(value alone_s) s alone, clv / alone $(value ratio) ($(value least) to $(value most))" is_no_slower
            else
                tap_point 1 "$name: a run failed"
            fi
        done
    done
done
[ -z "$data" ] || cp "$work/lines" "$data"
if [ -n "$page" ]; then
    {
        printf '\n%d pairs, %d calls, %s; load of the machine at the end %s.\n\n' "$pairs" "$calls" "$(date +%F)" "$(cut -d' ' -f1 /proc/loadavg)"
        echo '| processors | waits | ranks | alone [s] | clv [s] | clv / alone | limits |'
        echo '|---|---|---|---|---|---|---|'
        sed 's/"limit":"two"/"limit":"two"/; s/"limit":"quota"/"limit":"quota of one"/; s/[{}"]//g; s/[a-z_]*://g' "$work/lines" |
            awk -F, '{ printf "| %s | %s | %d | %.3f | %.3f | %.3f | %.3f to %.3f |\n", $1, $2, $3, $5, $6, $7, $8, $9 }'
        echo
    } >"$work/table"
    sed -i -e "/<!-- shared cores -->/r $work/table" -e '/<!-- shared cores -->/,/<!-- end -->/{/<!--/!d}' "$page"
fi
tap_end
