# SPDX-License-Identifier: BSD-3-Clause
#
# The ways of running a program's reduces that are compared, and their options of mpirun. Source it.
# The words are clv-view's.

# shellcheck disable=SC2034 # used by those who source it
declare -A ways=([default]='--mca coll ^clv'
    [pipeline]='--mca coll ^clv --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_reduce_algorithm 3 --mca coll_tuned_reduce_algorithm_segmentsize 32768'
    [clv]='--mca coll clv,tuned,basic,libnbc,self,sm,inter,sync')
