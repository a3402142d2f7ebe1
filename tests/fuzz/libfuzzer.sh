# For scripts that fuzz one target with libFuzzer, address and undefined-behaviour checks, as one TAP
# point. CLV_FUZZ_SECONDS (8) makes it long; without clang and its fuzzer the point is skipped.
#   libfuzzer TARGET.c MAX_LEN SOURCES... -- [FILES TO START FROM...]

cannot_fuzz() {
    ! echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { (void) d; (void) n; return 0; }' |
        clang -x c -fsanitize=fuzzer -o "$work/probe" - 2>"$work/log"
}

fuzz_flags='-std=gnu11 -g -D_GNU_SOURCE -DCLV_FUZZ_ENGINE -I. -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all'

# One file, unrolled for every register's width, takes clang most of a minute to optimise with all checks in it.
fuzz_object() { # source
    local level=-O1
    [[ $1 != */sched_bitset.c ]] || level=-O0
    # shellcheck disable=SC2086
    clang $fuzz_flags $level -c -o "$work/${1//\//_}.o" "$1"
}

fuzz_build() { # target, sources...: compiled side by side
    rm -f "$work"/*.o
    # shellcheck disable=SC2016,SC2086
    (export -f fuzz_object && export work fuzz_flags &&
        printf '%s\n' "$@" | xargs -P "$(nproc)" -I{} bash -c 'fuzz_object "$1"' bash {}) >"$work/log" 2>&1 &&
        clang $fuzz_flags -o "$work/fuzz" "$work"/*.o -lm >>"$work/log" 2>&1
}

fuzz_run() { # max_len
    (cd "$work" && timeout $((seconds + 300)) ./fuzz -max_total_time="$seconds" -max_len="$1" \
        -timeout=120 -rss_limit_mb=2048 -print_final_stats=1 corpus >log 2>&1)
}

libfuzzer() {
    local target=$1 max_len=$2 seconds=${CLV_FUZZ_SECONDS:-8} sources=() work
    shift 2
    while [ "$1" != -- ]; do sources+=("$1"); shift; done
    shift
    work=$(mktemp -d)
    trap "rm -rf '$work'" EXIT
    cd "$CLV_TOP" || return 1
    echo 1..1
    if cannot_fuzz; then
        echo "ok 1 - fuzz $target # SKIP no clang with libFuzzer"
        return
    fi
    mkdir "$work/corpus"
    [ $# -eq 0 ] || cp "$@" "$work/corpus"
    if fuzz_build "tests/fuzz/$target" "${sources[@]}" && fuzz_run "$max_len"; then
        sed -n 's/^stat::number_of_executed_units: */# runs: /p; s/^stat::peak_rss_mb: */# MB: /p' \
            "$work/log"
        echo "ok 1 - libFuzzer finds nothing in $target in $seconds seconds"
    else
        { grep 'INFO: Seed' "$work/log"; tail -n 30 "$work/log"; } | sed 's/^/# /'
        echo "not ok 1 - fuzz $target"
        return 1
    fi
}
