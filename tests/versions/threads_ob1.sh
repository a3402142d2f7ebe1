#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: shows that ob1 of Open MPI 4.1 uses receive requests that it has given back, without us
# (packaging/openmpi/issues.md). Debian's source package is fetched, its ob1 built twice: with moments in which a
# thread stands still (nothing else is changed, and any system may do that), and with these and a mend. A program
# without collectives (threads_ob1.c) takes both in turns. TAP; 4 minutes.
#
#   tests/versions/threads_ob1.sh [MPIRUNS]     of each; 6
#
# Needs what the package openmpi is built with, Debian 12 and its Open MPI 4.1; leaves nothing.
set -u
export CLV_TOP=${CLV_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
export CLV_BUILD=${CLV_BUILD:-$CLV_TOP/build}
. "$CLV_TOP/tests/support/tap.sh"
. "$CLV_TOP/tests/versions/trees.sh"
mpi_setup
n_runs=${1:-6}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
headers=$(mpicc --showme:incdirs | tr ' ' '\n' | grep -m 1 'include$')
plugins=$(ompi_info --parsable --path pkglibdir | sed 's/.*://')

# One of ten times for up to 2 ms.
stand_still() {
    cat <<'END'
#include <stdlib.h>
#include <time.h>
static inline void stand_still(void)
{
    static __thread unsigned draws;
    const struct timespec pause = {.tv_nsec = 1000L * (rand_r(&draws) % 2000)};
    if (rand_r(&draws) % 10 == 0) { nanosleep(&pause, NULL); }
}
END
}

# Where bytes have just been counted, between the look whether they are all and the lock, and where a request that was
# used before is posted anew.
add_moments() { # folder of ob1
    stand_still >"$1/stand_still.h"
    sed -i -e '/OPAL_THREAD_ADD_FETCH_SIZE_T(&recvreq->req_bytes_received/a stand_still();' \
        -e '/MCA_PML_BASE_RECV_START(&req->req_recv)/a stand_still();' "$1/pml_ob1_recvreq.c"
    sed -i -e 's/^#include "pml_ob1.h"/&\n#include "stand_still.h"/' \
        -e 's/^\( *\)lock_recv_request(recvreq)) {/\1(stand_still(), lock_recv_request(recvreq))) {/' "$1/pml_ob1_recvreq.h"
    [ "$(grep -c 'stand_still()' "$1/pml_ob1_recvreq.c")" -eq 6 ] && grep -q 'stand_still(),' "$1/pml_ob1_recvreq.h"
}

# Of those who count bytes only the one that makes them complete looks at the request again. Enough for messages that
# come in fragments, as these do; who puts or gets has more to do there.
add_mend() { # folder of ob1
    local counts='OPAL_THREAD_ADD_FETCH_SIZE_T\(&recvreq->req_bytes_received, .*\)'
    sed -i -E "s/^( *)($counts);/\\1const size_t n_all = recvreq->req_recv.req_bytes_packed;\\n\\1if (\\2 < n_all) { return; }/" \
        "$1/pml_ob1_recvreq.c"
}

build_ob1() { # folder of ob1
    local file
    for file in "$1"/*.c; do
        gcc -c -fPIC -O2 -w -mcx16 -fno-strict-aliasing -DNDEBUG -pthread -DHAVE_CONFIG_H -I"$1" -I"$headers/openmpi" -I"$headers" \
            -I"$headers/openmpi/opal/include" -idirafter "$work/openmpi" -idirafter "$work/openmpi/opal/include" \
            -idirafter "$work/openmpi/ompi/include" -idirafter "$CLV_TOP/coll_clv/shim" -o "${file%.c}.o" "$file" || return
    done
    # shellcheck disable=SC2046
    gcc -shared -pthread -o "$1/mca_pml_ob1.so" "$1"/*.o $(ldconfig -p | sed -n 's/.*=> \(.*lib\(mpi\|open-pal\).so.40\)$/\1/p')
}

make_ob1() { # name, edits
    local folder=$work/$1 edit
    cp -r "$work/openmpi/ompi/mca/pml/ob1" "$folder"
    for edit in "${@:2}"; do "$edit" "$folder" || return; done
    build_ob1 "$folder"
}

# What its output says of the first thing that is wrong; nothing: it ended right.
run_program() { # name seed
    timeout 60 env OMPI_MCA_mca_base_component_path="$work/$1:$plugins" \
        mpirun --oversubscribe -n 2 --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include lo --mca coll ^clv \
        --mca mpi_yield_when_idle 1 "$work/program" 20 5 "$2" >"$work/said" 2>&1 </dev/null
    grep -q ' rounds, 0 wrong$' "$work/said" || grep -m 1 -E 'WRONG|Signal:' "$work/said" || echo 'no end'
}

# The sources of another release are not searched for the same lines.
prepare() {
    fetch_openmpi "$work" && grep -q '^major=4$' "$work/openmpi/VERSION" &&
        mpicc -O2 -pthread -o "$work/program" "$CLV_TOP/tests/versions/threads_ob1.c" &&
        make_ob1 moments add_moments && make_ob1 mended add_mend add_moments
}
prepare >"$work/log" 2>&1
is_ready=$?
tap_point $is_ready "Open MPI's ob1 is there with moments to stand still, without and with a mend"
[ $is_ready -eq 0 ] || { tail -n 5 "$work/log" | sed 's/^/# /'; tap_end; }

declare -A n_wrong=([moments]=0 [mended]=0)
for ((seed = 1; seed <= n_runs; seed++)); do
    for name in moments mended; do
        said=$(run_program $name $seed)
        echo "# $name, seed $seed: ${said:-right}"
        case $name:$said in
        *: | moments:'no end') ;; # what did not even run shows no fault
        *) n_wrong[$name]=$((n_wrong[$name] + 1)) ;;
        esac
    done
done
tap_ok "without the mend contents or status are wrong: in ${n_wrong[moments]} of $n_runs mpiruns" test "${n_wrong[moments]}" -gt 0
tap_ok "with it they are right: wrong in ${n_wrong[mended]} of $n_runs" test "${n_wrong[mended]}" -eq 0
tap_end
