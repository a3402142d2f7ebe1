#!/bin/bash
# Every program and script answers --help and --version, refuses what it does not know in one line with
# exit 2, and takes --option=value as --option value. TAP. No mpirun; 5 s.
. "$CLV_TOP/tests/support/tap.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
version=$("$CLV_TOP/clv" --version | cut -d' ' -f2)

answers() { # PROGRAM: with what to ask it
    local program=$1 said
    shift
    said=$("$program" "$@" --help 2>"$work/errors") && [ ! -s "$work/errors" ] && [[ $said == usage:* ]] ||
        { echo "--help: $said"; return 1; }
    said=$("$program" "$@" --version 2>&1) && [ "$said" = "${program##*/} (clv) $version" ] ||
        { echo "--version: $said"; return 1; }
    said=$("$program" "$@" --no-such-option 2>&1 >/dev/null </dev/null)
    [ $? -eq 2 ] && [ "$(wc -l <<<"$said")" -eq 1 ] && [[ $said == *"unknown option '--no-such-option'"* ]] ||
        { echo "an unknown option: $said"; return 1; }
}
for program in apps/tools/clv-plan apps/tools/clv-predict apps/tools/clv-clock apps/tools/clv-correct apps/bench/clv-bench \
    apps/bench/clv-bench-compare apps/bench/bench_plan apps/bench/plan_quality apps/bench/bench_decide apps/bench/bench_nodes apps/bench/bench_copies; do
    [ -x "$CLV_BUILD/$program" ] || { tap_skip "$program" 'it is not built'; continue; }
    tap_ok "$program answers --help and --version, and refuses what it does not know" answers "$CLV_BUILD/$program"
done
# Help that does not arrive is an error; a file that nobody writes to is not waited for.
is_told() { # PROGRAM
    local said
    said=$("$1" --help 2>&1 >/dev/full </dev/null)
    [ $? -eq 1 ] && [[ $said == *'standard output: No space left on device' ]] || { echo "$said"; return 1; }
}
for program in apps/tools/clv-view apps/tools/clv-plan apps/tools/clv-predict apps/tools/clv-clock apps/tools/clv-correct apps/bench/clv-bench apps/bench/clv-bench-compare; do
    [ ! -x "$CLV_BUILD/$program" ] || tap_ok "$program --help on a full disk" is_told "$CLV_BUILD/$program"
done
mkdir "$work/record"
mkfifo "$work/fifo.otf2" "$work/record/a.clva"
no_wait() { # PROGRAM ARGUMENTS...
    local said
    said=$(timeout 20 "$@" 2>&1 </dev/null)
    [ $? -eq 2 ] && [[ $said == *'FIFO'* ]] || { echo "$said"; return 1; }
}
while read -r program arguments; do
    # shellcheck disable=SC2086
    [ ! -x "$CLV_BUILD/$program" ] || tap_ok "$program does not wait for a FIFO" no_wait "$CLV_BUILD/$program" $arguments
done <<END
apps/tools/clv-view $work/record
apps/tools/clv-correct $work/fifo.otf2 --check
apps/bench/clv-bench-compare $work/fifo.otf2
END

for script in apps/bench/cluster apps/bench/show apps/bench/results apps/bench/grid apps/bench/loop apps/bench/sim/run tests/all; do
    tap_ok "$script, too" answers "$CLV_TOP/$script"
done

# The same with a blank and with an equals sign: what is refused names the value.
both_ways() { # PROGRAM OPTION VALUE: a value that is refused
    local blank equals
    blank=$("$1" "$2" "$3" 2>&1 >/dev/null </dev/null)
    [ $? -eq 2 ] && equals=$("$1" "$2=$3" 2>&1 >/dev/null </dev/null)
    [ $? -eq 2 ] && [ "$blank" = "$equals" ] && [[ $blank == *"$3"* ]] || { echo "$blank"; echo "$equals"; return 1; }
}
while read -r program option value; do
    [ -x "$CLV_BUILD/$program" ] || program=$CLV_TOP/$program
    [[ $program == /* ]] || program=$CLV_BUILD/$program
    [ -x "$program" ] || continue
    tap_ok "${program##*/}: $option=$value as $option $value" both_ways "$program" "$option" "$value"
done <<'END'
apps/tools/clv-plan --format tex
apps/tools/clv-predict --ranks none
apps/tools/clv-clock --runs 0
apps/tools/clv-clock --clock x
apps/tools/clv-correct --threads 0
apps/bench/clv-bench --iterations 0
apps/bench/clv-bench --blocks 0
apps/bench/clv-bench-compare --runs 0
apps/bench/bench_plan --instances 0
apps/bench/plan_quality --ranks 1
apps/bench/bench_decide --forecasts 2
apps/bench/bench_nodes --arrivals 2
apps/bench/bench_copies --kib 1
apps/bench/results --hosts 7
apps/bench/grid --blocks few
apps/bench/loop --hosts few
apps/bench/sim/run --metrics speed
tests/all --minutes many
END

odd_value() { # bytes that a terminal would obey, or that are no UTF-8
    local said
    said=$("$CLV_BUILD/apps/tools/clv-view" --stream $'\n\e\xff' x 2>&1)
    [ "$said" = "clv-view: --stream must be a whole number, 0 to 2147483646, not '  ?'" ] || { echo "$said"; return 1; }
}
tap_ok 'a value of odd bytes is told in one line' odd_value

# A file that meets ulimit -f, or a full disk: no signal, one line with the file and why, and no half of a page.
tells() { # REASON FILE COMMAND...
    local reason=$1 file=$2 said status
    said=$( (ulimit -f 1; "${@:3}") 2>&1 >"$work/output")
    status=$?
    said=$(grep -v '^libgcov profiling error:' <<<"$said") # of gcov, where coverage is measured: its files meet the limit, too
    [ $status -eq 1 ] && [ "$(wc -l <<<"$said")" -eq 1 ] && [[ $said == *"$file: $reason"* ]] || { echo "$status: $said"; return 1; }
}
"$CLV_BUILD/tests/support/clva-make" "$work/job" 4 3 50 ascending "$work/truth"
view=$CLV_BUILD/apps/tools/clv-view
tap_ok 'clv-view -o: ulimit -f is an error' tells 'File too large (raise ulimit -f)' "$work/page" "$view" -o "$work/page" "$work/job"
tap_ok 'and half a page is not left' test ! -e "$work/page"
tap_ok 'clv-view > file, too' tells 'File too large (raise ulimit -f)' 'standard output' "$view" --export trace "$work/job"
tap_ok 'clv-view on a full disk' tells 'No space left on device' /dev/full "$view" -o /dev/full "$work/job"
plan() { "$CLV_BUILD/apps/tools/clv-plan" --scheduler chain "$@" <"$CLV_TOP/tests/data/golden/02.txt"; }
tap_ok 'clv-plan --json' tells 'File too large (raise ulimit -f)' "$work/plan" plan --json "$work/plan"
# A full disk is an error of whoever writes to it, with the reason: standard output, --json, a page.
"$CLV_BUILD/tests/support/clva-make" "$work/made" 2 2 4 2>/dev/null
printf 'clv-trace 1\nranks 2\ncall 0 | 0 1000 | 9000 9000\ncall 1 | 0 1000 | 9000 9000\n' >"$work/trace"
for algorithm in a b; do
    echo '{"collective":"reduce","ranks":8,"bytes":1024,"pattern":"uniform","delay_ns":5,"algorithm":"'$algorithm'","after_ns":[1,2,3],"usable":[1,1,1]}'
done >"$work/results"
full() { # COMMAND LINE, in the build folder
    local said
    said=$(cd "$CLV_BUILD" && eval "$1" 2>&1 </dev/null)
    [ $? -ne 0 ] && [[ $said == *clv-*': No space left on device'* ]] || { echo "$said"; return 1; }
}
while read -r line; do
    [ -x "$CLV_BUILD/${line%% *}" ] || continue
    tap_ok "a full disk: ${line//$work\//}" full "$line"
done <<END
apps/tools/clv-plan < $CLV_TOP/tests/data/golden/02.txt >/dev/full
apps/tools/clv-plan --json /dev/full < $CLV_TOP/tests/data/golden/02.txt
apps/tools/clv-plan --json - < $CLV_TOP/tests/data/golden/02.txt >/dev/full
apps/tools/clv-plan --help >/dev/full
apps/tools/clv-predict $work/trace >/dev/full
apps/tools/clv-predict --json /dev/full $work/trace
apps/tools/clv-predict --make uniform >/dev/full
apps/tools/clv-view $work/made >/dev/full
apps/tools/clv-view --json $work/made >/dev/full
apps/tools/clv-view --export jsonl $work/made >/dev/full
apps/tools/clv-view -o /dev/full $work/made
apps/tools/clv-clock --wait 0.001 >/dev/full
apps/tools/clv-clock --wait 0.001 --json /dev/full
apps/bench/clv-bench-compare $work/results >/dev/full
apps/bench/clv-bench-compare --json /dev/full $work/results
END

# What clv env says is enough to find them.
found() {
    local tool
    clv_environment
    for tool in clv-plan clv-predict clv-clock clv-correct clv-bench clv-bench-compare; do
        [ ! -x "$CLV_BUILD/apps/tools/$tool" ] && [ ! -x "$CLV_BUILD/apps/bench/$tool" ] || command -v $tool >/dev/null || echo $tool
    done
}
tap_none 'after eval "$(clv env)" every tool is in PATH' found

# Of the ranks of a job one speaks, before MPI has started; the others leave after it, since a launcher
# ends the job with the first that fails.
one_speaks() {
    local said start=${EPOCHREALTIME/./}
    said=$(OMPI_COMM_WORLD_RANK=1 "$CLV_BUILD/apps/bench/clv-bench" --what 2>&1)
    [ $? -eq 2 ] && [ $((${EPOCHREALTIME/./} - start)) -ge 1000000 ] && [ -z "$said" ] && [ -z "$(PMIX_RANK=3 "$CLV_BUILD/apps/bench/clv-bench" --help)" ]
}
[ ! -x "$CLV_BUILD/apps/bench/clv-bench" ] || tap_ok 'only rank 0 of a job speaks' one_speaks
tap_end
