#!/bin/bash
# Opt-in, about ten minutes: every legal reduce with 1 to 16 ranks under every algorithm, many
# iterations with random late ranks, and a vector of more than 2 GiB. TAP.
#
#   tests/mpi/long_reduce.sh      builds first
#
# CLV_SEED: of the random cases. The vector of more than 2 GiB takes 9 GiB of memory and is left out
# where there is less.
export CLV_TOP=${CLV_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
export CLV_BUILD=${CLV_BUILD:-$CLV_TOP/build}
"$CLV_TOP/clv" build >&2 || exit 2
. "$CLV_TOP/tests/mpi/reduce_common.sh"
cases=$CLV_BUILD/tests/mpi/reduce_cases
direct=$CLV_BUILD/tests/mpi/execute_cases
clv="--mca coll clv --mca coll_clv_reduce_min_bytes 1 --mca coll_clv_min_ranks 2"
algorithms='auto clairvoyant latest_first chain ring'
seed=${CLV_SEED:-$RANDOM}
seconds=300
all_counts=1,2,3,5,15,16,17,31,100,4099,65536,300001

echo "# CLV_SEED=$seed"
echo 1..$((16 + 5 * 5 + 5 + 2))
for p in $(seq 16); do
    launch "$p" "$direct" -i 20 -s $all_counts -e "$seed" && has "$all_right"
    report $? "the executor alone, $p ranks"
done
for algorithm in $algorithms; do
    for p in 3 4 7 11 16; do
        launch "$p" $clv --mca coll_clv_reduce_algorithm $algorithm "$cases" -i 20 \
            -s $all_counts -e "$seed" && has "$all_right"
        report $? "$algorithm, $p ranks"
    done
done
for algorithm in $algorithms; do
    launch 6 $clv --mca coll_clv_reduce_algorithm $algorithm "$cases" -c random_late_ranks \
        -i 1000 -e "$seed" && has "$all_right"
    report $? "$algorithm, 4000 reduces with random late ranks"
done

free_kib=$(awk '/^MemAvailable/ {print $2}' /proc/meminfo)
for program in "$direct" "$cases"; do
    name="more than 2 GiB, $(basename "$program")"
    if [ "$free_kib" -lt $((10 * 1024 * 1024)) ]; then
        skip "$name" "needs 10 GiB of memory"
        continue
    fi
    # shellcheck disable=SC2086
    launch 2 $clv --mca coll_clv_reduce_algorithm clairvoyant "$program" -c more_than_two_gib &&
        has "$all_right"
    report $? "$name"
done
