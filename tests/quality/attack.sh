#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: the run time of a job while a process without the key connects to it, against the same job at peace.
#
#   tests/quality/attack.sh [garbage|key|flood]...      all three without arguments; 40 s each
#
# Two ranks on two nodes (process namespaces of their own) nap 1 ms, compute 0.5 ms and reduce
# 64 KiB, over and over. Time is cut into slots of 500 ms: peace, an attacker who connects about a
# thousand times a second to the job's ports, the same to a port of its own. Each slot's
# median time of a round is compared with that of the slots beside it: attack / peace is what it
# does to the job with all that the attacker's own work costs on this machine; attack / decoy what
# the listener adds to that. Median of the ratios, and their quartiles. Sums are checked.
# CLV_LOCK: a file to lock around each measurement. Needs root, unshare and ss.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
export CLV_BUILD=${CLV_BUILD:-$top/build}
"$top/clv" build || exit 1
eval "$("$top/clv" env)"
export OMPI_MCA_coll_clv_shared_processors=no
export OMPI_MCA_coll_clv_setup_bytes=0 # the channel is there from the first call on
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
seconds=${CLV_SECONDS:-40}
unshare --pid --fork true || { echo 'no process namespaces here (not root?)'; exit 4; }

# The ports on which ranks listen; the other sockets are Open MPI's own.
ports() {
    for _ in $(seq 50); do
        sed -n 's/^port //p' "$scratch/job" | sort -un | xargs | grep . && return
        sleep 0.2
    done
}

run_job() {
    timeout -k 5 $((seconds + 60)) mpirun --oversubscribe -np 2 --mca coll clv \
        --mca coll_clv_min_ranks 2 --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include lo \
        unshare --pid --fork --kill-child --mount-proc "$CLV_BUILD/tests/mpi/costs" slots \
        "$seconds" 500 1000 >"$scratch/job" 2>"$scratch/errors" </dev/null
}

# "slot median_us" lines to the ratios of each slot of attack with the ones before and after it.
ratios() { # KIND-OF-THE-OTHER-SLOTS (0 peace, 2 decoy)
    awk -v other="$1" '$1 == "slot" { t[$2] = $3 }
        END { for (s in t) if (s % 3 == 1) {
            b = other == 0 ? s - 1 : s + 1
            if (b in t && t[b] > 0) print t[s] / t[b] } }' "$scratch/job" | sort -g |
        awk '{ v[NR] = $1 }
            END { if (NR) printf "%.3f (%.3f to %.3f, %d pairs)", v[int((NR + 1) / 2)],
                      v[int((NR + 3) / 4)], v[int((3 * NR + 3) / 4)], NR; else printf "none" }'
}

measure() { # KIND
    local job
    run_job &
    job=$!
    # shellcheck disable=SC2046
    "$CLV_BUILD/tests/support/pap-attacker" "$1" "$seconds" $(ports) >"$scratch/connections"
    wait $job || { echo "$1: the job failed"; tail -n 5 "$scratch/errors"; return 1; }
    printf '%s: attack / peace %s, attack / decoy %s; %s; %s\n' "$1" "$(ratios 0)" "$(ratios 2)" \
        "$(cat "$scratch/connections")" "$(sed -n 's/^end //p' "$scratch/job")"
}

locked() {
    if [ -n "${CLV_LOCK:-}" ]; then
        (flock 9 && "$@") 9>"$CLV_LOCK"
    else
        "$@"
    fi
}

[ $# -gt 0 ] || set -- garbage key flood
for kind in "$@"; do
    locked measure "$kind"
done
