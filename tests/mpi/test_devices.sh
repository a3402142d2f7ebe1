#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Where a rank may give clv device memory all ranks take the previous function, and only there: Open MPI 4.1 is made
# to believe in CUDA on some ranks (fake_cuda.c). Memory of a fake device, and Open MPI 5.0: tests/versions/devices.sh.
# TAP. 10 s.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
[[ $(mpirun --version) == *' 4.1.'* ]] || tap_skip_all 'made for Open MPI 4.1'
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_mca_base_component_path=$work:$OMPI_MCA_mca_base_component_path
# shellcheck disable=SC2046 # words
(cd "$CLV_BUILD" && mpicc -shared -fPIC $(make -s show-ompi-cppflags | tail -n 1) -o "$work/mca_coll_cuda.so" "$CLV_TOP/tests/mpi/fake_cuda.c") &&
    mpicc -std=gnu11 -I"$CLV_TOP" -o "$work/devices" "$CLV_TOP/tests/versions/devices.c" "$CLV_TOP/tests/mpi/pvar_look.c" ||
    tap_skip_all 'they do not compile here'

# run RANKS-WITH-IT PRIORITY OPTIONS... -- COLLECTIVES
run() {
    local options=()
    export CLV_FAKE_CUDA=$1 CLV_FAKE_PRIORITY=$2
    shift 2
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    said=$(mpi_run -np 3 --mca coll clv --mca coll_clv_collectives reduce,allreduce,bcast \
        --mca coll_clv_reduce_algorithm chain --mca coll_clv_allreduce_algorithm plain_ring \
        --mca coll_clv_bcast_algorithm out_chain "${options[@]}" "$work/devices" open "${@:2}")
}
run none 0 -- reduce allreduce bcast
tap_has 'nobody has a device: plans run' 'calls=180 wrong=0 left_least=0 left_most=0 planned=180' "$said"
run 1 0 -- reduce allreduce bcast
tap_has 'rank 1 has: every rank takes the previous function, in every call' \
    'calls=180 wrong=0 left_least=180 left_most=180 planned=0' "$said"
run 1 78 -- reduce allreduce
tap_has 'who copies vectors stands above clv: plans run' 'calls=120 wrong=0 left_least=0 left_most=0 planned=120' "$said"
run all 78 -- bcast
tap_has 'but those of broadcasts, which 4.1 does not copy' 'calls=60 wrong=0 left_least=60 left_most=60 planned=0' "$said"
run all 78 --mca coll_clv_priority 90 -- reduce
tap_has 'clv above who copies: the previous function' 'wrong=0 left_least=60 left_most=60 planned=0' "$said"
run all 0 --mca coll_clv_devices 0 -- bcast
tap_has 'the user promises: plans run' 'wrong=0 left_least=0 left_most=0 planned=60' "$said"
tap_end
