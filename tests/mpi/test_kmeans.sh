#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The k-means example: the same centres as a serial run, bit by bit, without clv and with each of
# its allreduces; and that a wrong allreduce is noticed. TAP.
. "$CLV_TOP/tests/mpi/reduce_common.sh"
program=$CLV_BUILD/apps/examples/kmeans/kmeans
small=(--iterations 20 --points 3 --clusters 63 --dimensions 256)

launch 4 "$program" "${small[@]}" && has 'bytes=129528' && has 'check=ok'
report $? 'four ranks without clv: as in a serial run'
launch 1 "$program" "${small[@]}" && has 'check=ok'
report $? 'one rank'
for algorithm in auto plain_ring cut_ring; do
    launch 5 --mca coll clv --mca coll_clv_collectives allreduce \
        --mca coll_clv_allreduce_algorithm $algorithm "$program" "${small[@]}" --pace 200 &&
        has 'check=ok'
    report $? "five ranks with clv, $algorithm: as in a serial run"
done
launch 3 "$CLV_BUILD/tests/mpi/kmeans_broken" "${small[@]}"
[ $? -ne 0 ] && has 'check=failed'
report $? 'an allreduce that loses a part of one sum is noticed'
launch 2 "$program" --clusters=0
[ $? -ne 0 ] && has 'clusters wants a whole number from 1'
report $? 'a bad value names the option and the range'
echo "1..$n"
