#!/bin/bash
# Parameters: ompi_info shows each with its level, bad values are refused with name and range, good
# ones are taken.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
probe=$CLV_BUILD/tests/mpi/coll_probe
list=(--mca coll clv,tuned,basic,libnbc,self,inter)

shown=$(timeout "$tap_limit" ompi_info --param coll clv --level 9 2>&1)
for name in $("$CLV_BUILD/tests/layout/params_doc" --names); do
    tap_has "ompi_info shows $name" "\"$name\"" "$shown"
done
tap_has 'ompi_info shows levels' 'level: 3 user/all' "$shown"
tap_ok 'ompi_info shows values' grep -qE '[0-9][:|]"?rabenseifner' <<<"$shown"

# parameter|bad value|what the message must say
while IFS='|' read -r name value words; do
    said=$(mpi_run -np 2 "${list[@]}" --mca "coll_clv_$name" "$value" "$probe" 10)
    tap_has "$name = $value is refused by name and range" "coll_clv_$name is $value; allowed: $words" \
        "$said"
    tap_lacks "$name = $value: the component is not used" 'calls=' "$said"
    tap_ok "$name = $value: and that is said once" test 1 -eq "$(grep -E 'allowed: |Valid values' <<<"$said" | sort -u | wc -l)"
done <<'BAD'
priority|101|0 to 100
priority|-1|0 to 100
min_ranks|1|2 to
reduce_min_bytes|0|1 to 2147483647 bytes
segment_bytes|-5|0 to 1073741824 bytes
segment_bytes|abc|0 to 1073741824 bytes
segment_bytes|12x|0 to 1073741824 bytes
round_time_ns|2000000000|0 to 1000000000 ns
sma_window|0|1 to 64 calls
sma_window|100000000000000|1 to 64 calls
verbose|-7|0 to 100
exchange|maybe|true or false
port_min|65536|0 to 65535
port_range|0|1 to 65535 ports
reduce_algorithm|fast|auto previous rank_chain chain
reduce_algorithm|plain_ring|auto previous rank_chain chain latest_first clairvoyant binomial rabenseifner ring host_chains two_levels
allreduce_algorithm|chain|auto previous plain_ring cut_ring helper_trees
bcast_algorithm|ring|auto previous out_chain
collectives|reduce,gather|reduce,allreduce
predictor|oracle|best periodic sma ewma median compute
reproducible|sometimes|off float always
print|everything|none forecast plan
BAD

said=$(mpi_run -np 2 --mca coll clv --mca coll_clv_sma_window 0 "$probe" 10)
tap_ok 'named alone and refused: MPI_Init fails' test 0 -eq "$(grep -c 'sums right' <<<"$said")"
tap_has 'and says why' 'coll_clv_sma_window is 0; allowed: 1 to 64 calls' "$said"
tap_has 'and that it does' 'MPI does not start' "$said"
said=$(mpi_run -np 2 --mca coll_clv_priority 45 --mca coll_clv_sma_window 0 "$probe" 10)
tap_has 'wanted by its priority and refused: the job runs without it' 'sums right' "$said"
tap_has 'and is told so' 'The component is not used' "$said"
said=$(mpi_run -np 2 --mca coll_clv_priority 45 --mca coll_clv_sma_window 0 "$CLV_BUILD/apps/bench/clv-bench" --algorithms clv --sizes 1K)
tap_has 'and clv-bench has no row for it' "the component 'clv' refused a parameter" "$said"

while IFS='|' read -r name value; do
    said=$(mpi_run -np 2 "${list[@]}" --mca "coll_clv_$name" "$value" "$probe" 10)
    tap_has "$name = $value is taken" 'calls=' "$said"
done <<'GOOD'
segment_bytes|64k
print|forecast,plan
print|none
exchange|0
reproducible|always
collectives|^allreduce
predictor|compute
predictor|sma
interface|lo
interface|127.0.0.0/8
port_min|47900
record|
record_ops|
interface|
GOOD

# What each collective can run, as ompi_info lists it: 2:"chain", from Open MPI 5 on 2|chain.
words_of() { grep -A 3 "parameter \"coll_clv_$1_algorithm\"" <<<"$shown" | grep -m 1 'Valid values' | tr -c 'a-z_\n' ' '; }
tap_has 'ompi_info: a reduce can be a chain' ' chain ' "$(words_of reduce)"
tap_lacks 'and no ring of allreduces' ' plain_ring ' "$(words_of reduce)"
tap_has 'an allreduce can be such a ring' ' plain_ring ' "$(words_of allreduce)"
tap_lacks 'and no chain' ' chain ' "$(words_of allreduce)"
tap_has 'a broadcast can be a chain from the root' ' out_chain ' "$(words_of bcast)"
tap_lacks 'and no ring' 'ring"' "$(words_of bcast)"

# The name of before still says from which size on a reduce is planned; the new one goes first.
old=(--mca coll_clv_min_ranks 2 --mca coll_clv_min_bytes)
said=$(mpi_run -np 2 "${list[@]}" "${old[@]}" 8 "$probe" 10)
tap_lacks 'coll_clv_min_bytes is taken as coll_clv_reduce_min_bytes' 'too_small' "$said"
tap_has 'calls are not left alone' 'exchange_calls=4' "$said"
tap_lacks 'without a word' 'not a parameter' "$said"
said=$(mpi_run -np 2 "${list[@]}" "${old[@]}" 8 --mca coll_clv_reduce_min_bytes 1m "$probe" 10)
tap_has 'beside the new name it does not count' 'fell_back_too_small=4' "$said"
said=$(mpi_run -np 2 "${list[@]}" "${old[@]}" none "$probe" 10)
tap_has 'and what is no number is refused' 'coll_clv_reduce_min_bytes is none; allowed: 1 to' "$said"

# Misspelt names, by every way to ask for clv and to give a parameter: told once a job, with the
# nearest name.
misspelt() { # WHAT WORDS
    tap_ok "misspelt, $1: told once" test 1 -eq "$(grep -cF "$2" <<<"$said")"
    tap_has "misspelt, $1: the job runs" 'sums right' "$said"
}
segmnt='coll_clv_segmnt_bytes is not a parameter of clv; did you mean coll_clv_segment_bytes?'
while IFS='|' read -r way options; do
    # shellcheck disable=SC2086
    said=$(mpi_run -np 3 $options --mca coll_clv_segmnt_bytes 4096 "$probe" 10)
    misspelt "$way" "$segmnt"
done <<WAYS
clv alone|--mca coll clv
the list|${list[*]}
its priority|--mca coll_clv_priority 40
WAYS
said=$(OMPI_MCA_coll_clv_segmnt_bytes=4096 OMPI_MCA_coll_clv_fastest=1 mpi_run -np 3 --mca coll clv "$probe" 10)
misspelt 'in the environment' "$segmnt"
misspelt 'beyond recognition' 'coll_clv_fastest is not a parameter of clv; ompi_info --param coll clv --level 9 lists them'
# shellcheck disable=SC2016
said=$(mpi_run -np 3 --mca coll clv sh -c '[ "$OMPI_COMM_WORLD_RANK" != 1 ] ||
    export OMPI_MCA_coll_clv_segmnt_bytes=4096; exec "$@"' sh "$probe" 10)
misspelt 'on one rank alone' "$segmnt"
files=$(mktemp -d)
printf '# ours\n coll_clv_segmnt_bytes=4096\ncoll_clv_verbose = 0\n' >"$files/mca.conf"
said=$(OMPI_MCA_mca_base_param_files=$files/mca.conf mpi_run -np 3 --mca coll clv "$probe" 10)
misspelt 'in a file of parameters' "$segmnt (in $files/mca.conf)"
said=$(OMPI_MCA_mca_base_param_file_prefix=$files/mca.conf mpi_run -np 3 --mca coll clv "$probe" 10) # what --am sets
misspelt 'in a file of --am' "$segmnt (in $files/mca.conf)"
printf '# -mca coll_clv_comment 1\n-x A=-mca --mca coll_clv_segmnt_bytes 4096 -mca coll_clv_verbose 0\n' >"$files/tuned"
if mpirun --version | grep -q ' 4\.'; then # later ones put what it names into the environment
    said=$(mpi_run -np 3 --tune "$files/tuned" --mca coll clv "$probe" 10)
    misspelt 'in a file of --tune' "$segmnt (in $files/tuned)"
    tap_ok 'and nothing else of it' test 1 -eq "$(grep -c 'is not a parameter of clv' <<<"$said")"
fi
rm -r "$files"
said=$(mpi_run -np 3 --mca coll_clv_segmnt_bytes 4096 "$probe" 10)
tap_lacks 'not where clv is only installed' 'not a parameter of clv' "$said"

# The word reaches the forecasts; best says whom it follows.
forecasts=(--mca coll_clv_reduce_min_bytes 1 --mca coll_clv_print forecast "$probe" 1000 20)
said=$(mpi_run -np 3 "${list[@]}" --mca coll_clv_predictor sma "${forecasts[@]}")
tap_has 'predictor = sma: forecasts come from it' 'predicted by sma from' "$said"
tap_lacks 'and from no other' 'predicted by periodic' "$said"
said=$(mpi_run -np 3 "${list[@]}" "${forecasts[@]}")
tap_ok 'by default best names whom it follows' \
    grep -qE 'predicted by (periodic|last|sma|ewma|median|compute) from' <<<"$said"
tap_lacks 'and not itself' 'predicted by best' "$said"
tap_end
