#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: the page of clv-view in headless Chromium: no console error, the facts of its head are those of
# --json, nothing that axe-core complains about, text of 11 px at least and contrasts of 3 at 600 and 1,200 px;
# pictures of 8 x 60 and 1,024 x 10,000 calls, light, dark, narrow and printed, to look at. About two minutes;
# installs Debian's chromium where it is missing and we are root, and asks npm for axe-core.
#
#   tests/quality/view_page.sh [FOLDER]     keeps pages and pictures there
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
export CLV_TOP=$top CLV_BUILD=${CLV_BUILD:-$top/build}
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

look() { # name page options
    local seen complaints
    # shellcheck disable=SC2086 # words
    seen=$(page_measure "$2" $3)
    say "$1: $seen" "$(awk -F '[ =]' '$2 >= 11 && $4 <= 45 && $6 == 0 && $8 >= 3 && $10 == 0 && $12 == "img" { print "right"; f = 1 } END { if (!f) print "no" }' <<<"$seen")"
    # shellcheck disable=SC2086
    complaints=$(page_axe "$2" $3) || complaints='it cannot be had'
    say "$1: axe-core" "$([ "$complaints" = done ] && echo right || echo "$complaints")"
}

check() { # name nodes ranks calls pattern
    local page=$kept/$1.html facts options
    "$CLV_BUILD/tests/support/clva-make" "$work/$1" "$2" "$3" "$4" "$5" &&
        "$CLV_BUILD/apps/tools/clv-view" -o "$page" "$work/$1" || { say "$1: made" no; return; }
    say "$1: $(wc -c <"$page") bytes" "$([ "$(wc -c <"$page")" -lt 3000000 ] && echo right || echo 'too large')"
    page_draw "$page"
    say "$1: drawn to the end" "$(grep -q 'data-ready="yes"' "$work/dom" && echo right || echo no)"
    say "$1: console" "$(grep -q 'CONSOLE' "$work/log" && grep CONSOLE "$work/log" | head -n 1 || echo right)"
    facts=$(page_facts "$work/$1")
    say "$1: its numbers are $facts" "$(page_says fact-wait "${facts%|*}" && page_says fact-late "${facts#*|}" &&
        echo right || grep -o 'id="fact-[a-z]*">[^<]*' "$work/dom" | xargs)"
    for options in --window-size=600,1900 --window-size=1200,1900 '--window-size=1200,1900 --blink-settings=preferredColorScheme=0'; do
        look "$1 at ${options#*=}" "$page" "$options"
    done
    page_browse --screenshot="$kept/$1.png" "file://$page" >/dev/null
    page_browse --window-size=600,2400 --screenshot="$kept/$1-narrow.png" "file://$page" >/dev/null
    page_browse --blink-settings=preferredColorScheme=0 --screenshot="$kept/$1-dark.png" "file://$page" >/dev/null
    page_browse --print-to-pdf="$kept/$1.pdf" "file://$page" >/dev/null
    say "$1: pictures" "$([ -s "$kept/$1.png" ] && [ -s "$kept/$1-dark.png" ] && [ -s "$kept/$1.pdf" ] && echo right || echo no)"
}
check small 4 2 60 ascending
check large 16 64 10000 uniform
exit $status
