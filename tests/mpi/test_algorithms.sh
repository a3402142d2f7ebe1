#!/bin/bash
# Each algorithm that can be forced without a prediction runs, says so, and is right for every
# datatype and operation of the case matrix; what it cannot do goes to the previous reduce.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
probe=$CLV_BUILD/tests/mpi/coll_probe
cases=$CLV_BUILD/tests/mpi/reduce_cases

# What is not ours needs no matrix at every size.
ranks_for() { [ "$1" = ring ] && echo 2 3 4 || echo 3; }

for algorithm in previous binomial rabenseifner ring; do
    forced=(--mca coll clv --mca coll_clv_reduce_algorithm $algorithm --mca coll_clv_verbose 10)
    for ranks in $(ranks_for $algorithm); do
        tap_ok "$algorithm, $ranks ranks: the case matrix" mpi_run -np $ranks "${forced[@]}" "$cases"
    done
    said=$(mpi_run -np 5 "${forced[@]}" "$probe" 4099)
    tap_has "$algorithm, 5 ranks: sums" 'sums right' "$said"
    tap_has "$algorithm ran every call" "ran_$algorithm=10" "$said"
    tap_has "$algorithm is named with its reason" \
        "$algorithm, because an algorithm parameter forces it" "$said"
    tap_ok "$algorithm is told once per shape of call" \
        test "$(grep -c 'because' <<<"$said")" -eq 5
done

# At 30 each rank tells each call, with its rank and the number of the call.
said=$(mpi_run -np 3 --mca coll clv --mca coll_clv_reduce_algorithm ring --mca coll_clv_verbose 30 "$probe" 4099)
numbered() { grep -oE 'coll:clv: rank [0-2], call [0-9]+: reduce of' <<<"$said" | sort -u | wc -l; }
tap_ok 'every rank tells every call, by rank and number' test "$(numbered)" -eq "$(grep -c 'because' <<<"$said")"
tap_ok 'all of them' test "$(numbered)" -ge 18

forced=(--mca coll clv --mca coll_clv_verbose 10 --mca coll_clv_reduce_algorithm)
said=$(mpi_run -np 5 "${forced[@]}" ring "$probe" 3)
tap_has 'ring with fewer elements than ranks' 'ran_ring=10' "$said"
tap_has 'ring with fewer elements than ranks: sums' 'sums right' "$said"
said=$(mpi_run -np 5 "${forced[@]}" rabenseifner "$probe" 3)
tap_has 'rabenseifner with too few elements says that it cannot' \
    'previous, because the vector has fewer elements' "$said"
said=$(mpi_run -np 3 "${forced[@]}" binomial --mca coll_clv_segment_bytes 1000 "$probe" 5000)
tap_has 'binomial in segments: the sums are right' 'sums right' "$said"
tap_has 'binomial in segments is what ran' ' ran_binomial=6 ' "$said"
# A plan has no more segments than the call has elements.
said=$(mpi_run -np 4 --mca coll clv --mca coll_clv_reduce_algorithm chain \
    "$CLV_BUILD/tests/mpi/user_operations" long 20)
tap_has 'four elements of 512 KiB: the forced chain runs every call' 'sums right, chains 20 of 20' \
    "$said"

# An operation that takes its length for the whole vector's: what docs/guide/faq.md says that helps.
operations=$CLV_BUILD/tests/mpi/user_operations
clv=(--mca mpi_yield_when_idle 1 --mca coll clv)
tap_has 'an operation that wants whole vectors gets parts by plan' '8 of 8 results wrong' \
    "$(mpi_run -np 4 "${clv[@]}" --mca coll_clv_reduce_algorithm chain "$operations" whole)"
while IFS='|' read -r name argument options; do
    # shellcheck disable=SC2086
    tap_has "and the whole with $name" 'whole: 0 of 24 calls of the operation got a part, 0 of 8 results wrong' \
        "$(mpi_run -np 4 "${clv[@]}" $options "$operations" whole $argument)"
done <<'END'
the previous function||--mca coll_clv_reduce_algorithm previous
one segment||--mca coll_clv_reduce_algorithm chain --mca coll_clv_segment_bytes 1073741824
a vector that is one element|element|--mca coll_clv_reduce_algorithm chain
END
tap_end
