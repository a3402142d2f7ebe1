#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Ranks of a host that share processors are seen, by affinity and by quota, on one host and on any of several; they
# give processors away while they wait, and communicators of one such host are left alone. By counters, not by time.
# TAP. 10 s.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
unset OMPI_MCA_coll_clv_shared_processors # as users have it
probe=$CLV_BUILD/tests/mpi/coll_probe
read -r -a all <<<"$(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' |
    while IFS=- read -r first last; do seq "$first" "${last:-$first}"; done | tr '\n' ' ')"

# probes RANKS PROCESSOR-OF-EACH OPTIONS...: rank r may use the (r mod their number)-th of these alone; mpirun binds
# nobody. What rank 0 counted in $said.
on_its_own='set -- $OWN "$@"; i=$((OMPI_COMM_WORLD_RANK % $OF)); shift $i; own=$1; shift $((OF - i));
    exec taskset -c "$own" "$@"'
probes() {
    local ranks=$1 own=($2)
    shift 2
    said=$(mpi_run -np "$ranks" --bind-to none --mca mpi_yield_when_idle 0 --mca coll clv --mca coll_clv_min_ranks 2 "$@" \
        env OWN="${own[*]}" OF=${#own[@]} sh -c "$on_its_own" sh "$probe" 16384 2 2>&1)
}
# Whether this script itself is under a quota, so that hosts are smaller than they look.
is_limited() {
    ! grep -qs '^max' /sys/fs/cgroup/cpu.max && [ -e /sys/fs/cgroup/cpu.max ] ||
        grep -qs '^[0-9]' /sys/fs/cgroup/cpu/cpu.cfs_quota_us
}
few='there is one processor'
if is_limited; then
    few='there is a quota'
    all=("${all[0]}")
fi
right() { tap_has "$1: sums are right" 'sums right' "$said"; }
left() { tap_has "$1: all calls are left to the previous function" " fell_back_shared_processors=$2" "$said"; }
yields() { tap_has "$1: processors are given away in all calls" " yielding=$2 " "$said"; }
alone() {
    tap_lacks "$1: none is left for it" 'fell_back_shared_processors' "$said"
    tap_lacks "$1: none gives a processor away" 'yielding' "$said"
}

probes 3 "${all[0]}"
right 'three ranks on one processor'
left 'three ranks on one processor' 6
yields 'three ranks on one processor' 6
tap_has 'and why is a word of the summary' 'ranks share processors (coll_clv_shared_processors)' \
    "$(probes 3 "${all[0]}" --mca coll_clv_print summary && echo "$said")"

probes 3 "${all[0]}" --mca coll_clv_reduce_algorithm chain
right 'an algorithm that is asked for'
tap_has 'it runs all the same' ' ran_chain=6' "$said"
yields 'an algorithm that is asked for' 6
probes 3 "${all[0]}" --mca coll_clv_shared_processors no
alone 'the user says no'

if [ ${#all[@]} -ge 2 ]; then
    probes 2 "${all[*]:0:2}"
    right 'a processor for each of two'
    alone 'a processor for each of two'
    probes 2 "${all[*]:0:2}" --mca coll_clv_shared_processors yes
    left 'the user says yes' 4
else
    tap_skip 'a processor for each of two' "$few"
fi

# A quota of one processor, for two ranks that may use all.
quota() {
    local folder
    for folder in /sys/fs/cgroup/cpu /sys/fs/cgroup; do
        group=$folder/clv-processors-$$
        { mkdir "$group"; } 2>/dev/null || continue
        if [ -w "$group/cpu.max" ]; then
            echo '100000 100000' >"$group/cpu.max" && return
        elif [ -w "$group/cpu.cfs_quota_us" ]; then
            echo 100000 >"$group/cpu.cfs_quota_us" && return
        fi
        rmdir "$group"
    done
    return 1
}
if [ ${#all[@]} -ge 2 ] && quota; then
    trap 'rmdir "$group"' EXIT
    said=$(echo "$BASHPID" >"$group/cgroup.procs" && mpi_run -np 2 --bind-to none --mca coll clv \
        --mca coll_clv_min_ranks 2 "$probe" 16384 2 2>&1)
    right 'a quota of one processor'
    left 'a quota of one processor' 4
    until rmdir "$group" 2>/dev/null; do sleep 0.05; done # its last process has gone
    trap - EXIT
else
    tap_skip 'a quota of one processor' "no control group can be made here, or $few"
fi

# Two hosts, of which the second has one processor for two ranks: all agree that some share, and plan.
. "$CLV_TOP/tests/support/bed.sh"
hosts() {
    with 2 --ranks-per-host 2 --mca coll_clv_priority 50 \
        --mca coll_clv_print forecast --mca coll_clv_reduce_algorithm chain "$@" -- \
        env OWN="${all[0]}" ALL="${all[0]},${all[1]:-}" sh -c \
        '[ "$OMPI_COMM_WORLD_RANK" -lt 2 ] && exec taskset -c "$ALL" "$@"; exec taskset -c "$OWN" "$@"' sh \
        "$probe" 16384 2
}
agreed=': ranks of a host share processors (coll_clv_shared_processors)'
if [ ${#all[@]} -lt 2 ]; then
    tap_skip 'two hosts' "$few"
elif hosts; [ $? -eq 4 ]; then
    tap_skip 'two hosts' "$(sed -n 's/^cluster: //p' <<<"$said" | head -1)"
else
    tap_lacks 'an emulated host counts as large enough' "$agreed" "$said"
    hosts --mca coll_clv_shared_processors detect
    right 'one of two hosts is too small'
    tap_has 'one of two hosts is too small: known on the other, too' "$agreed" "$said"
    tap_has 'one of two hosts is too small: plans run' ' ran_chain=8' "$said"
    tap_lacks 'one of two hosts is too small: ranks of the other keep their processors' 'yielding' "$said"
fi
tap_end
