#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: what happens to clocks, processes, processors and memory of a host while a program reduces: right
# results, bounded calls, no flood of messages. 4 emulated hosts; each case beside Open MPI alone.
#
#   tests/suites/restart.sh [CASE ...]      all without
#
# A case passes when every sum is right, the job says no more than 20 lines, and the longest call (counted
# from when all ranks were in it) takes at most LIMIT seconds longer than Open MPI alone under the same. A rank
# may be stopped inside a call, which then takes as long, with and without clv.
# TAP and, last, the table of docs/guide/failures.md. CLV_STOP (60): seconds for which a rank is stopped.
# 9 minutes. Needs root and namespaces; for two cases also a cgroup that can be made.
export CLV_TOP=${CLV_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
export CLV_BUILD=${CLV_BUILD:-$CLV_TOP/build}
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
. "$CLV_TOP/tests/support/bed.sh"
stop=${CLV_STOP:-60}

# name | seconds | limit | bed options | run options | event | what it is | what the job must say, too, with clv
cases='
plain|8|1|||true|nothing happens
time_namespace|8|1|--clock-step 100000000||true|the clocks of two hosts are three years apart
clock_step|10|1||bent 4 0.5 0|true|a clock jumps half a second ahead, as after a suspension
clock_back|10|1||bent 4 -0.5 0|true|a clock jumps half a second back
clock_ppm|10|1||bent 0 0 500|true|a clock is 500 ppm fast
clock_slow|10|1||bent 0 0 -500|true|a clock is 500 ppm slow
suspended|STOP+10|STOP+2||bent 5 -STOP 0|suspended|a host is suspended for a minute: all of its job stands, and its clock
stopped|STOP+10|STOP+2|||stopped|a rank is stopped (SIGSTOP, a debugger, a host that sleeps)
crowd|12|2|--ranks-per-host 4||true|16 ranks on two processors, 8 x
cpu_limit|10|2|||cpu_limit|a cgroup lets a host have 10 % of a processor
memory|10|1|||memory|a process gets no more memory, its thread neither
memory_thread|10|1||short 3|true|the thread of one process gets no more memory|thread_memory: refused [1-9]
memory_cgroup|10|1|||memory_cgroup|a cgroup lets a host have 1 MiB more than it has
'
field() { sed '/^$/d' <<<"$cases" | awk -F'|' -v name="$1" -v n="$2" '$1 == name { print $n }'; }

# ---- events, on host 2 ----

ranks='$(pidof channel_down)'
stand() { # processes
    on_host 2 "kill -STOP $1"
    sleep "$stop"
    on_host 2 "kill -CONT $1"
}
stopped() { stand "$ranks"; }
suspended() { stand '$(pidof channel_down orted)'; }
# Version 1 or 2; none: the case is skipped.
group_root() { # controller
    local root=/sys/fs/cgroup
    [ ! -d "$root/$1" ] || { echo "$root/$1"; return; }
    grep -qw "$1" "$root/cgroup.subtree_control" 2>/dev/null && echo "$root"
}
in_group() { # controller file value
    group=$(group_root "$1")/clv-restart-$$
    mkdir -p "$group" && echo "$3" >"$group/$2" &&
        on_host 2 "for one in $ranks; do echo \$one >$group/cgroup.procs; done"
}
leave_group() { # the processes have ended
    local i
    [ -n "${group:-}" ] || return
    for ((i = 0; i < 50; i++)); do rmdir "$group" 2>/dev/null && break || sleep 0.1; done
    group=
}
cpu_limit() {
    if [ -d /sys/fs/cgroup/cpu ]; then
        in_group cpu cpu.cfs_quota_us 10000
    else
        in_group cpu cpu.max '10000 100000'
    fi
}
memory() { on_host 2 "for one in $ranks; do prlimit --as=\$((\$(awk /VmSize/{print\\ \\\$2} /proc/\$one/status) * 1024 + 1048576)) --pid \$one; done"; }
memory_cgroup() {
    local used file=memory.max
    [ ! -d /sys/fs/cgroup/memory ] || file=memory.limit_in_bytes
    used=$(on_host 2 "awk /VmRSS/{s+=\\\$2}END{print\\ s*1024} /proc/\$(pidof -s channel_down)/status")
    in_group memory "$file" $((used + 1048576))
}
can() { # case
    case $1 in
    cpu_limit) [ -n "$(group_root cpu)" ] && [ -w "$(group_root cpu)" ] ;;
    memory_cgroup) [ -n "$(group_root memory)" ] && [ -w "$(group_root memory)" ] ;;
    esac
}

# ---- a case ----

yield_library() {
    local yield=$CLV_BUILD/apps/bench/cluster_yield.so
    [ -e "$yield" ] || yield=$(ls "$CLV_CLUSTER_STATE"/.yield-*.so)
    echo "$yield"
}
bent() { # after step ppm
    local yield
    yield=$(yield_library)
    options+=(--env "LD_PRELOAD=$CLV_CLUSTER_STATE/bend.so:$yield"
        --env CLV_BEND_HOST=h2 --env "CLV_BEND_AFTER=$1" --env "CLV_BEND_STEP=$2" --env "CLV_BEND_PPM=$3")
}
short() { # after
    local yield
    yield=$(yield_library)
    options+=(--env "LD_PRELOAD=$CLV_CLUSTER_STATE/memory.so:$yield" --env CLV_SHORT_HOST=h2 --env "CLV_SHORT_AFTER=$1")
}
run_one() { # case mode
    local seconds=$(($(field "$1" 2 | sed "s/STOP/$stop/"))) change
    options=(--mca coll '^clv')
    [ "$2" = stock ] || options=(--mca coll_clv_priority 50 --mca coll_clv_reduce_min_bytes 1
        --mca coll_clv_reduce_algorithm clairvoyant)
    change=$(field "$1" 5 | sed "s/STOP/$stop/")
    [ -z "$change" ] || $change
    bed_job "$seconds" coupled "${options[@]}" -- "$(field "$1" 6)"
    status=$?
    leave_group
    lines=$(grep -cvE '^(channel_down:|under way|cluster: cpu)' "$output")
}
judge() { # case stock's worst
    [ $status -eq 0 ] && [ "$(number wrong)" = 0 ] && [ "$lines" -le 20 ] && grep -q "$(field "$1" 8)" "$output" &&
        [ "$(number worst_ms)" -le $(($2 + 1000 * ($(field "$1" 3 | sed "s/STOP/$stop/")))) ]
}
try() { # case
    local name=$1 stock_worst stock_said clv_said
    if ! can "$name"; then
        tap_skip "$name" 'no cgroup can be made here'
        return
    fi
    # shellcheck disable=SC2046 # words
    bed_up 4 --rate 1gbit $(field "$name" 4)
    run_one "$name" stock
    stock_worst=$(number worst_ms) stock_said="$(number worst_ms) ms"
    [ $status -eq 0 ] || stock_worst='' stock_said="ends ($status)"
    run_one "$name" clv
    if [ -z "$stock_worst" ]; then
        tap_skip "$name" "Open MPI alone $stock_said; with clv it ended with $status"
    else
        judge "$name" "$stock_worst"
        tap_report $? "$name: $(field "$name" 7): $(number worst_ms) ms, Open MPI alone $stock_worst"
    fi
    clv_said="$(number worst_ms) ms, $(number calls) calls, $(number forecasts) with a forecast on rank 0"
    [ -n "$said" ] || clv_said="ends ($status)"
    rows+=("| $(field "$name" 7) | $stock_said | $clv_said | $lines |")
    "$cluster" down --name tests >/dev/null 2>&1
}

gcc -O1 -shared -fPIC -o "$CLV_CLUSTER_STATE/bend.so" "$CLV_TOP/tests/support/clock_bend.c" -ldl &&
    gcc -O1 -shared -fPIC -o "$CLV_CLUSTER_STATE/memory.so" "$CLV_TOP/tests/support/thread_memory.c" || exit 2
[ $# -gt 0 ] || mapfile -t all < <(sed '/^$/d' <<<"$cases" | cut -d'|' -f1)
rows=()
for name in "$@" "${all[@]}"; do
    [ -n "$(field "$name" 1)" ] || { echo "there is no case $name" >&2; exit 2; }
    try "$name"
done
printf '\n| what happens on one host | longest call, Open MPI alone | with clv | lines said |\n|---|---|---|---|\n'
printf '%s\n' "${rows[@]}"
tap_end
