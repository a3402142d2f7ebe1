# For tests of clv-correct under mpirun; source it behind tap.sh. It needs $correct and a folder to work in.
#
#   together N ARGUMENTS...        clv-correct by N processes
#   agrees N ARCHIVE ARGUMENTS...  whether they write, event by event, and say what one process does

together() {
    local n=$1
    shift
    tap_limited mpirun --oversubscribe --allow-run-as-root -np "$n" "$correct" "$@" </dev/null
}

# Everything but the archive's own number, when and how long.
told() { sed -E 's/"time":"[^"]*",|"(read|correct|write)_ns":[0-9.e+]*,|"scratch_bytes":[0-9]+//g; /^read .* written /d' "$1"; }
same_files() { diff -r --exclude=traces.otf2 "$1" "$2"; }

# What one process does is worked out once for each archive and its arguments.
agrees() {
    local n=$1 archive=$2 one=0 several
    shift 2
    if [ "$archive $*" != "${agreed:-}" ]; then
        rm -rf one
        "$correct" "$archive" -o one --json one.jsonl "$@" >one.txt 2>one.err || one=$?
        agreed="$archive $*"
    fi
    rm -rf several
    together "$n" "$archive" -o several --json several.jsonl "$@" >several.txt 2>several.err
    several=$?
    [ $one -eq 0 ] && [ $several -eq 0 ] || { echo "status $one, $several"; cat one.err several.err; return 1; }
    same_files one several && diff <(grep ^clv-correct: one.err) <(grep ^clv-correct: several.err) &&
        diff <(told one.txt) <(told several.txt) && diff <(told one.jsonl) <(told several.jsonl)
}

# Random traces of many shapes, each by N processes, from 1 to more than it has ranks.
random_traces() { # HOW MANY, SEED
    local i n ranks per_host ops shape fault counts
    local shapes=('' '--clock-per process' '--presync none' '--latency 4000,800' '--truth true_ns'
        '--clock-per process --presync none' '--memory 16' '--threads 2')
    local faults=(none none none threads threads cycle lost-receive lost-exit length empty-location names peers root one-host)
    RANDOM=$2
    for ((i = 0; i < $1; i++)); do
        ranks=$((2 + RANDOM % 9)) per_host=$((1 + RANDOM % 3)) ops=$((20 + RANDOM % 600))
        counts=(1 2 3 5 8 $((ranks + 2)))
        n=${counts[RANDOM % 6]} shape=${shapes[RANDOM % ${#shapes[@]}]} fault=${faults[RANDOM % ${#faults[@]}]}
        agreed=
        rm -rf random
        "$make" random $ranks $per_host $ops $(($2 * 100000 + i)) "$fault" >/dev/null 2>&1 ||
            { fault=none && "$make" random $ranks $per_host $ops $(($2 * 100000 + i)) >/dev/null; } || return
        # shellcheck disable=SC2086
        agrees $n random/traces.otf2 $shape ||
            { echo "trace $i: $n processes, $ranks ranks, $per_host per host, $ops, $fault, $shape"; return 1; }
        [ -z "${CLV_REPLAY_WATCH:-}" ] || [ $(((i + 1) % 50)) -ne 0 ] || echo "# $((i + 1)) traces" >&3
    done
}
