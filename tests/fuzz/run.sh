#!/bin/bash
# Opt-in: fuzzes what comes in from outside, with clang's libFuzzer under ASan and UBSan.
#
#   tests/fuzz/run.sh [--record] [SECONDS per target, 30] [TARGET ...]
#   tests/fuzz/run.sh --sum
#
# The targets and what they are made of: libfuzzer.sh. What a run found interesting is kept in CLV_FUZZ_CORPUS
# (~/.cache/clv/fuzz) for the next one to begin with. Findings stay in a folder that is named. An interrupt ends
# the target that runs, not as a finding.
# --record adds a row per target to docs/results/data/fuzz.csv, where executions add up: target, date,
# commit, seconds, executions, edges covered, outcome. --sum prints the sums.
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
record=
case ${1:-} in
--sum) sums; exit ;;
--record) record=yes; shift ;;
esac
seconds=${1:-30}
[ $# -eq 0 ] || shift
[[ $seconds =~ ^[0-9]+$ ]] || { sed -n '4,11p' "$0" >&2; exit 2; }
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

status=0
for name in "$@"; do
    [ -n "$(fuzz_row "$name" 1)" ] || { echo "no target $name" >&2; exit 2; }
    work=$folder/$name corpus=$corpora/$name
    mkdir -p "$work" "$corpus"
    fuzz_start "$name" "$corpus"
    fuzz_build "$name" || { cat "$work/log" >&2; exit 1; }
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
