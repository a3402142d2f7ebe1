#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Does ./clv test ever fail? It runs again and again in one fresh clone of this commit, every second time beside
# a loop that keeps a processor busy, and the table in docs/testing.md tells what each run said. The first run
# sets up and builds. Stopped, it goes on where it was as long as the commit is the same.
#
#   tests/quality/again.sh [RUNS, 10]
#
# Exit: 0 no run had a failure, 1 one had, 2 wrong use.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
runs=${1:-10}
[[ $runs =~ ^[1-9][0-9]*$ ]] || { sed -n '4,12p' "$0" >&2; exit 2; }
folder=${CLV_AGAIN:-$top/build-again} page=$top/docs/testing.md
commit=$(git -C "$top" rev-parse --short HEAD) || exit 2
say() { echo "again: $*" >&2; }
. "$top/apps/bench/page/pages.sh"

load=
trap '[ -z "$load" ] || kill "$load"' EXIT
trap 'exit 130' INT TERM

[ "$(cat "$folder/commit" 2>/dev/null)" = "$commit" ] || {
    rm -rf "$folder"
    mkdir -p "$folder" && git clone -q "$top" "$folder/clone" && echo "$commit" >"$folder/commit" || exit 1
}

said() { # LOG: the last "N passed, N failed"
    grep -E '^[0-9]+ passed, [0-9]+ failed$' "$1" | tail -n 1
}
one_run() { # NUMBER: its row, in a file that is there when it is through
    local log=$folder/$1.log beside=nothing start=$SECONDS
    [ $(($1 % 2)) -eq 1 ] || {
        beside='a busy loop'
        while :; do :; done &
        load=$!
    }
    (cd "$folder/clone" && ./clv test) >"$log" 2>&1 </dev/null
    [ -z "$load" ] || kill "$load"
    load=
    echo "| $1 | $beside | $(date +%F) | $((SECONDS - start)) | $(said "$log") | $(sed -n 's/^\([0-9]*\) skipped$/\1/p' "$log") |" >"$folder/$1.new" &&
        mv "$folder/$1.new" "$folder/$1.row"
    say "$(cat "$folder/$1.row")"
}
table() {
    printf '%s of ./clv test in a row, commit %s, %s processors:\n\n' "$runs" "$commit" "$(nproc)"
    printf '| run | beside | date | seconds | said | skipped |\n|---|---|---|---|---|---|\n'
    for ((run = 1; run <= runs; run++)); do cat "$folder/$run.row"; done
}
for ((run = 1; run <= runs; run++)); do
    [ -s "$folder/$run.row" ] || one_run $run
done
put_between "$page" again table
for ((run = 1; run <= runs; run++)); do
    [[ $(said "$folder/$run.log") == *', 0 failed' ]] || exit 1
done
