#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: the page of clv-view in headless Chromium: no console error, the facts of its head are those of
# --json, light, dark and printed; pictures of 8 x 60 and 1,024 x 10,000 calls to look at. About a minute;
# installs Debian's chromium where it is missing and we are root.
#
#   tests/quality/view_page.sh [FOLDER]     keeps pages and pictures there
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
export CLV_BUILD=${CLV_BUILD:-$top/build}
"$top/clv" build || exit 2
if ! command -v chromium >/dev/null; then
    [ "$(id -u)" = 0 ] || { echo 'no chromium'; exit 2; }
    { apt-get install -y --no-install-recommends chromium || { apt-get update && apt-get install -y --no-install-recommends chromium; }; } >/dev/null 2>&1 ||
        { echo 'chromium cannot be installed'; exit 2; }
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kept=${1:-$work/kept}
mkdir -p "$kept"
status=0
say() { printf '%s: %s\n' "$1" "$2"; [ "$2" = right ] || status=1; }
browse() { # options...
    timeout 120 chromium --headless --no-sandbox --disable-gpu --no-first-run --user-data-dir="$work/profile" \
        --virtual-time-budget=20000 --enable-logging=stderr --v=0 --window-size=1240,1600 "$@" 2>"$work/log"
}

check() { # name nodes ranks calls pattern
    local page=$kept/$1.html facts
    "$CLV_BUILD/tests/support/clva-make" "$work/$1" "$2" "$3" "$4" "$5" &&
        "$CLV_BUILD/tools/clv-view" -o "$page" "$work/$1" || { say "$1: made" no; return; }
    say "$1: $(wc -c <"$page") bytes" "$([ "$(wc -c <"$page")" -lt 3000000 ] && echo right || echo 'too large')"
    browse --dump-dom "file://$page" >"$work/dom"
    say "$1: drawn to the end" "$(grep -q 'data-ready="yes"' "$work/dom" && echo right || echo no)"
    say "$1: console" "$(grep -q 'CONSOLE' "$work/log" && grep CONSOLE "$work/log" | head -n 1 || echo right)"
    # wait % and who is late, as the page shows them and as the numbers say
    facts=$("$CLV_BUILD/tools/clv-view" --json "$work/$1" | awk '
        match($0, /"named":[0-9]+,"dropped"/) { named = substr($0, RSTART + 8) + 0 }
        match($0, /"run_ns":[0-9]+,"wait_ns":[0-9]+,"in_mpi_ns":[0-9]+/) && !done {
            split(substr($0, RSTART, RLENGTH), part, /[:,]/); wait = part[4]; mpi = part[6]; done = 1 }
        /^{"rank"/ { match($0, /"last":[0-9]+/); last = substr($0, RSTART + 7, RLENGTH - 7) + 0
                     match($0, /"rank":[0-9]+/); if (last > most) { most = last; rank = substr($0, RSTART + 7, RLENGTH - 7) } }
        END { printf "%.1f %%|rank %d", 100 * wait / mpi, rank }')
    say "$1: its numbers are $facts" "$(grep -q "id=\"fact-wait\">${facts%|*}<" "$work/dom" &&
        grep -q "id=\"fact-late\">${facts#*|}<" "$work/dom" && echo right || grep -o 'id="fact-[a-z]*">[^<]*' "$work/dom" | xargs)"
    browse --screenshot="$kept/$1.png" "file://$page" >/dev/null
    browse --blink-settings=preferredColorScheme=0 --screenshot="$kept/$1-dark.png" "file://$page" >/dev/null
    browse --print-to-pdf="$kept/$1.pdf" "file://$page" >/dev/null
    say "$1: pictures" "$([ -s "$kept/$1.png" ] && [ -s "$kept/$1-dark.png" ] && [ -s "$kept/$1.pdf" ] && echo right || echo no)"
}
check small 4 2 60 ascending
check large 16 64 10000 uniform
exit $status
