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
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kept=${1:-$work/kept}
mkdir -p "$kept"
status=0
say() { printf '%s: %s\n' "$1" "$2"; [ "$2" = right ] || status=1; }
# shellcheck source=tests/support/page.sh
. "$top/tests/support/page.sh"
page_ready || { echo 'there is no chromium'; exit 2; }

check() { # name nodes ranks calls pattern
    local page=$kept/$1.html facts
    "$CLV_BUILD/tests/support/clva-make" "$work/$1" "$2" "$3" "$4" "$5" &&
        "$CLV_BUILD/tools/clv-view" -o "$page" "$work/$1" || { say "$1: made" no; return; }
    say "$1: $(wc -c <"$page") bytes" "$([ "$(wc -c <"$page")" -lt 3000000 ] && echo right || echo 'too large')"
    page_draw "$page"
    say "$1: drawn to the end" "$(grep -q 'data-ready="yes"' "$work/dom" && echo right || echo no)"
    say "$1: console" "$(grep -q 'CONSOLE' "$work/log" && grep CONSOLE "$work/log" | head -n 1 || echo right)"
    facts=$(page_facts "$work/$1")
    say "$1: its numbers are $facts" "$(page_says fact-wait "${facts%|*}" && page_says fact-late "${facts#*|}" &&
        echo right || grep -o 'id="fact-[a-z]*">[^<]*' "$work/dom" | xargs)"
    page_browse --screenshot="$kept/$1.png" "file://$page" >/dev/null
    page_browse --blink-settings=preferredColorScheme=0 --screenshot="$kept/$1-dark.png" "file://$page" >/dev/null
    page_browse --print-to-pdf="$kept/$1.pdf" "file://$page" >/dev/null
    say "$1: pictures" "$([ -s "$kept/$1.png" ] && [ -s "$kept/$1-dark.png" ] && [ -s "$kept/$1.pdf" ] && echo right || echo no)"
}
check small 4 2 60 ascending
check large 16 64 10000 uniform
exit $status
