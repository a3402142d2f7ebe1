# For scripts that fuzz with clang's libFuzzer, address and undefined-behaviour checks.
#   libfuzzer TARGET    a TAP point; CLV_FUZZ_SECONDS (2) makes it long; skipped without clang and its fuzzer
# tests/fuzz/run.sh uses the rest: what a target is made of, and how.

# target | longest input | sources beside the target's own
fuzz_targets='
fuzz_clc_records|1024|apps/clc/*.c
fuzz_clva|1024|record/record_clva{,_read}.c util/util_list.c
fuzz_pap_agree|2048|pap_predict/agree/pap_{record_set,tree,wire,agree{,_end,_links,_receive,_records,_send}}.c
fuzz_pap_pending|512|pap_predict/pap_endpoint.c pap_predict/net/net_{channel,interface,mac}.c util/util_{place,secret}.c
fuzz_pap_wire|2048|pap_predict/agree/pap_{record_set,tree,wire,agree{,_end,_links,_receive,_records,_send}}.c
fuzz_sched|2048|tests/support/random_plan.c schedule/{sched_[!g]*,sched_goal,generators/*}.c
fuzz_trace|512|apps/trace/trace{,_read}.c
'
fuzz_all='tests/fuzz/fuzz_alloc.c util/util_log.c util/util_status.c'
fuzz_flags='-std=gnu11 -g -D_GNU_SOURCE -DCLV_FUZZ_ENGINE -I. -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all'

fuzz_row() { # target, which column
    awk -F'|' -v name="$1" -v n="$2" '$1 == name { print $n }' <<<"$fuzz_targets"
}

# The agreement's messages (pap_wire.h), all of zeros behind the header; bytes in octal.
octets() { # numbers below 256
    # shellcheck disable=SC2059
    printf "$(printf '\\%03o' "$@")"
}
wire() { # kind slot reason items sequence bytes-of-items
    octets $((24 + $6)) 0 0 0 "$1" "$2" "$3" 0 0 0 0 0 "$4" 0 0 0 "$5" 0 0 0 0 0 0 0
    head -c "$6" /dev/zero
}
# A conversation of a node with its child (from 1) and its parent (from 0): each message after what step prints.
conversation() { # step
    local kind=()
    while read -r from kind[1] kind[2] kind[3] kind[4] kind[5] kind[6]; do
        "$1" "$from" $((24 + kind[6]))
        wire "${kind[@]:1}"
    done <<'END'
1 1 0 0 16 0 128
0 1 0 0 16 0 128
1 2 0 0 1 0 48
0 3 0 0 4 0 192
1 2 2 0 1 0 48
0 3 2 0 4 0 192
1 8 2 0 0 1 0
0 7 2 0 0 5 0
1 5 0 3 0 0 0
0 4 0 1 16 0 128
0 4 0 6 16 0 128
1 6 0 0 0 0 0
END
}
step_of_agree() { octets "$2" $((1 - $1)); }
step_of_wire() { octets "$1" 5 "$2"; }

# Valid inputs to begin with.
fuzz_start() { # target, folder
    case $1 in
    fuzz_clc_records)
        printf '{"clv_clock":1,"host":"a","boot_id":"b","time_namespace":"c","clock":"raw"}\n%s\n%s\n' \
            '{"local_ns":1,"offset_ns":-2,"bound_ns":3,"round_trip_ns":4}' '{"local_ns":9,"offset_ns":2.5}' >"$2/plain" ;;
    fuzz_clva)
        {
            echo '{"clva":1,"n_ranks":2,"n_local":1,"n_nodes":1}'
            printf '\4\0\0\0\10\0\0\0\1\0\0\0\1\0\0\0' # the ranks of the node
            printf '\6\0\0\0\20\0\0\0\1\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0' # calls that were dropped
        } >"$2/plain" ;;
    fuzz_pap_agree) conversation step_of_agree >"$2/conversation" ;;
    fuzz_pap_wire)
        {
            octets 0 0 0 1 0 0 0 2 0 # both links up, a record of its own
            conversation step_of_wire
        } >"$2/conversation" ;;
    fuzz_sched) cp tests/data/golden/{00,01,02,03,05,07,09,12,15,17,29,goal-*}.txt "$2" ;;
    fuzz_trace)
        printf 'clv-trace 1\nranks 2\ncall 0 | 0 1 | 2 3\ncall 5 | 9 -8 | 10 11\n' >"$2/plain"
        printf '# by hand\nclv-trace 1\r\nranks 1\nabout root 0\n\ncall 0|7|7' >"$2/odd" ;;
    esac
}

cannot_fuzz() {
    ! echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { (void) d; (void) n; return 0; }' |
        clang -x c -fsanitize=fuzzer -o "$work/probe" - 2>"$work/log"
}

# sched_bitset.c, unrolled for every width of registers, takes clang most of a minute to optimise with all checks in it.
# fuzz_quickly, for seconds of fuzzing: nothing is optimised, and that file has the plain width alone, which
# test_sched_agreement compares with the others bit for bit.
fuzz_quickly=
fuzz_object() { # source
    local level=-O1
    [ -z "$fuzz_quickly" ] && [[ $1 != */sched_bitset.c ]] || level=-O0
    # shellcheck disable=SC2086
    clang $fuzz_flags ${fuzz_quickly:+-DCLV_SIMD_X86=0} $level -c -o "$work/${1//\//_}.o" "$1"
}

fuzz_build() { # target: $work/fuzz, its sources compiled side by side
    local sources
    sources=$(eval "echo tests/fuzz/$1.c $fuzz_all $(fuzz_row "$1" 3)")
    rm -f "$work"/*.o
    # shellcheck disable=SC2016,SC2086
    (export -f fuzz_object && export work fuzz_flags fuzz_quickly &&
        printf '%s\n' $sources | xargs -P "$(nproc)" -I{} bash -c 'fuzz_object "$1"' bash {}) >"$work/log" 2>&1 &&
        clang $fuzz_flags -o "$work/fuzz" "$work"/*.o -lm >>"$work/log" 2>&1
}

fuzz_run() { # target seconds corpus: what libFuzzer says is in $work/log
    (cd "$work" && timeout $(($2 + 300)) ./fuzz -max_total_time="$2" -max_len="${CLV_FUZZ_LENGTH:-$(fuzz_row "$1" 2)}" \
        -timeout=120 -rss_limit_mb=2048 -print_final_stats=1 "$3" >log 2>&1)
}

libfuzzer() { # target
    local seconds=${CLV_FUZZ_SECONDS:-2} work
    [ "$seconds" -gt 60 ] || fuzz_quickly=yes fuzz_flags=${fuzz_flags/ -g / -gline-tables-only }
    work=$(mktemp -d)
    trap "rm -rf '$work'" EXIT
    cd "$CLV_TOP" || return 1
    echo 1..1
    if cannot_fuzz; then
        echo "ok 1 - fuzz $1 # SKIP no clang with libFuzzer"
        return
    fi
    mkdir "$work/corpus"
    fuzz_start "$1" "$work/corpus"
    if fuzz_build "$1" && fuzz_run "$1" "$seconds" corpus; then
        sed -n 's/^stat::number_of_executed_units: */# runs: /p; s/^stat::peak_rss_mb: */# MB: /p' "$work/log"
        echo "ok 1 - libFuzzer finds nothing in $1 in $seconds seconds"
    else
        { grep 'INFO: Seed' "$work/log"; tail -n 30 "$work/log"; } | sed 's/^/# /'
        echo "not ok 1 - fuzz $1"
        return 1
    fi
}
