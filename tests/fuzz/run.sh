#!/bin/bash
# Opt-in: fuzzes what comes in from outside, with clang's libFuzzer under ASan and UBSan.
#
#   tests/fuzz/run.sh [--record] [SECONDS per target, 30] [TARGET ...]
#   tests/fuzz/run.sh --sum
#   tests/fuzz/run.sh --cover [TARGET ...]
#
# The targets and what they are made of: libfuzzer.sh. What a run found interesting is kept in CLV_FUZZ_CORPUS
# (~/.cache/clv/fuzz) for the next one to begin with. Findings stay in a folder that is named. An interrupt ends
# the target that runs, not as a finding. CLV_FUZZ_LENGTH: the longest input; short ones are several times as many.
# --record adds a row per target to docs/results/data/fuzz.csv, where executions add up: target, date,
# commit, seconds, executions, edges covered, outcome. --sum prints the sums.
# --cover runs what is kept once more in a build that counts lines, and prints for each decoder's source how
# many of them any input has reached (llvm-cov); with CLV_FUZZ_LINES=yes also the lines that none has.
set -eu
export CLV_TOP=${CLV_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$CLV_TOP"
. tests/fuzz/libfuzzer.sh
page=docs/results/data/fuzz.csv
sums() {
    awk -F, 'NR > 1 { runs[$1] += $5; seconds[$1] += $4; bad[$1] += $7 != "clean"; edges[$1] = $6; all += $5 }
        END { for (one in runs) printf "%s: %.0f executions in %d s, %d edges, %d runs with a finding\n", one, runs[one],
                  seconds[one], edges[one], bad[one]
              printf "all: %.0f executions\n", all }' "$page" | sort
}
record= cover= seconds=0
case ${1:-} in
--sum) sums; exit ;;
--cover) cover=yes; shift ;;
--record) record=yes; shift ;;
esac
if [ -z "$cover" ]; then
    seconds=${1:-30}
    [ $# -eq 0 ] || shift
fi
[[ $seconds =~ ^[0-9]+$ ]] || { sed -n '4,15p' "$0" >&2; exit 2; }
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(cut -d'|' -f1 <<<"$fuzz_targets")
corpora=${CLV_FUZZ_CORPUS:-${XDG_CACHE_HOME:-$HOME/.cache}/clv/fuzz}
folder=$(mktemp -d) work=$folder
! cannot_fuzz || { echo 'no clang with libFuzzer' >&2; exit 77; }
commit=$(git rev-parse --short HEAD 2>/dev/null || echo -)

# The newest number that libFuzzer printed: "#12345 DONE cov: 678 ..."
number() { # pattern
    grep -oE "$1" "$work/log" | tail -n 1 | grep -oE '[0-9]+' || echo 0
}

# The decoder's sources, and how many lines of each some input of the corpus has reached.
show_cover() { # target corpus
    local sources
    sources=$(eval "echo $(fuzz_row "$1" 3)")
    (cd "$work" && LLVM_PROFILE_FILE=$work/raw ./fuzz -runs=0 "$2" >log 2>&1 && llvm-profdata merge -o all raw) || {
        tail -n 5 "$work/log" >&2
        return 1
    }
    # shellcheck disable=SC2086
    llvm-cov report "$work/fuzz" -instr-profile="$work/all" $sources 2>/dev/null |
        awk -v name="$1" -v inputs="$(ls "$2" | wc -l)" '
            NF >= 10 && $1 ~ /[.]c$|^TOTAL$/ { printf "%s (%d inputs): %s: %s of %s lines\n", name, inputs, $1, $10, $8 }'
    # shellcheck disable=SC2086
    [ -z "${CLV_FUZZ_LINES:-}" ] || llvm-cov show "$work/fuzz" -instr-profile="$work/all" $sources |
        grep -E '^(/|.*[.]c:$)|^ *[0-9]+\| +0\|' || true
}

status=0
[ -z "$cover" ] || {
    command -v llvm-cov >/dev/null && command -v llvm-profdata >/dev/null || { echo 'no llvm-cov' >&2; exit 77; }
    fuzz_flags+=' -fprofile-instr-generate -fcoverage-mapping'
}
for name in "$@"; do
    [ -n "$(fuzz_row "$name" 1)" ] || { echo "no target $name" >&2; exit 2; }
    work=$folder/$name corpus=$corpora/$name
    mkdir -p "$work" "$corpus"
    fuzz_start "$name" "$corpus"
    fuzz_build "$name" || { cat "$work/log" >&2; exit 1; }
    if [ -n "$cover" ]; then
        show_cover "$name" "$corpus" || status=1
        continue
    fi
    began=$SECONDS ended=0
    fuzz_run "$name" "$seconds" "$corpus" || ended=$?
    runs=$(number '^#[0-9]+') edges=$(number 'cov: [0-9]+') outcome=clean
    if [ $ended -eq 0 ] || [ $ended -eq 72 ]; then # 72: interrupted
        echo "ok - $name, $runs executions, $edges edges"
    else
        outcome=finding status=1
        echo "not ok - $name, $runs executions, see $work/log"
    fi
    [ -z "$record" ] ||
        echo "$name,$(date -u +%F),$commit,$((SECONDS - began)),$runs,$edges,$outcome" >>"$page"
done
[ $status -ne 0 ] || rm -rf "$folder"
exit $status
