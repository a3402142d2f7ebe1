#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# clv-view's page in headless Chromium, where that is or can be installed: no error on the console, its numbers are those
# of --json. Large pages, printed, pictures, axe-core: tests/quality/view_page.sh. About 10 s.
. "$CLV_TOP/tests/support/tap.sh"
. "$CLV_TOP/tests/support/page.sh"
page_ready || tap_skip_all 'there is no chromium'
view=$CLV_BUILD/apps/tools/clv-view
make=$CLV_BUILD/tests/support/clva-make
work=$(mktemp -d)
output=$work/output
trap 'rm -rf "$work"' EXIT

"$make" "$work/job" 4 1 60 ascending "$work/truth" 2097152
# Chromium starts once a size: what is measured at the first is also the page as it is drawn.
sizes=('--window-size=1200,1900 --blink-settings=preferredColorScheme=0' '--window-size=600,1900')
# shellcheck disable=SC2086
"$view" --gbit 0.4 -o "$work/page.html" "$work/job" && seen=$(page_measure "$work/page.html" ${sizes[0]})
tap_ok 'the page is drawn to its end' grep -q 'data-ready="yes"' "$work/dom"
tap_none 'without a word on the console' grep CONSOLE "$work/log"
facts=$(page_facts "$work/job")
tap_ok "its head says $facts" page_says fact-wait "${facts%|*}"
tap_ok 'and who causes it' page_says fact-late "${facts#*|}"

# ---- as a reader sees it, narrow and wide, light and dark
measured() { sed -n "s/.*$1=\([0-9a-z-]*\).*/\1/p" <<<"$seen"; }
cp "$work/dom" "$work/drawn"
for options in "${sizes[@]}"; do
    # shellcheck disable=SC2086
    [ "$options" = "${sizes[0]}" ] || seen=$(page_measure "$work/page.html" $options)
    where=${options%%,*}
    where=${where#*=}
    tap_ok "no text is below 11 px at $where px ($seen)" test "$(measured font)" -ge 11
    tap_ok 'no band is empty' test "$(measured gap)" -le 45
    tap_ok 'nothing lies beside the window' test "$(measured beyond)" -eq 0
    tap_ok 'what is drawn has a contrast of 3' test "$(measured contrast)" -ge 3
    tap_ok 'nothing takes a mouse' test "$(measured clicks)" -eq 0
    tap_ok 'the map says what it is' test "$(measured canvas)" = img
done
mv "$work/drawn" "$work/dom"
tap_ok 'nothing is said of calls that are not taken, where there are none' grep -q '<p id="not-taken"></p>' "$work/dom"

# ---- what if: the pace of each way, in ms
pace() { # way
    "$view" --gbit 0.4 --json "$work/job" | tr -d '\n' |
        sed -n "s/.*\"way\":\"$1\",[^}]*},\"scaled\":{\"run_ns\":[0-9]*,\"pace_ns\":\([0-9]*\),.*/\1/p" | awk '{ printf "%.3f", $1 / 1e6 }'
}
shown() { grep -o "<tr id=\"what-$1\"[^>]*><td>[^<]*" "$work/dom" | sed 's/.*<td>//'; } # way
for way in default pipeline clv known bound; do
    tap_ok "$way takes $(pace $way) ms an iteration, there and here" test "$(shown $way)" = "$(pace $way)" -a -n "$(shown $way)"
done
tap_ok 'the one that ran is marked' grep -q '<tr id="what-default" class="on">' "$work/dom"
tap_ok 'a line for each, and for what was measured' test "$(grep -o '<polyline' "$work/dom" | wc -l)" -eq 6

tap_ok 'and waiting, in processor seconds' grep -q ' ms a rank, [0-9.]* CPU s<' "$work/dom"
"$make" "$work/balanced" 4 1 60 ascending "$work/truth" 2097152 0 0 allreduce
"$view" -o "$work/balanced.html" "$work/balanced" && page_draw "$work/balanced.html"
tap_ok 'what the imbalance costs' grep -q '<p id="balanced">Were every rank as fast as the mean, whatever runs in the calls: [0-9.]* s instead of [0-9.]* s, [0-9.]* % less.</p>' "$work/dom"

# ---- one of each
"$make" "$work/one" 1 2 1
"$view" --ranks 0,1 -o "$work/one.html" "$work/one" && page_draw "$work/one.html"
tap_ok 'one host and one call are no plurals' grep -q '>2 ranks on 1 host · 1 call in ' "$work/dom"
tap_none 'anywhere' grep -oE '[^0-9.]1 (ranks|hosts|nodes|calls|streams)\b' <(sed '/<script/,/<\/script>/d' "$work/dom")

# ---- a node that was not recorded
rm "$work/job/made.1.clva"
LC_ALL=C sed -i '1s/"parameters":""/"parameters":"collectives=allreduce"/' "$work"/job/*.clva
"$view" -o "$work/half.html" "$work/job" 2>/dev/null
page_draw "$work/half.html"
tap_ok 'a page without a node is drawn' grep -q 'data-ready="yes"' "$work/dom"
tap_none 'without a word on the console' grep CONSOLE "$work/log"
tap_ok 'and says so' grep -q '(1 not recorded)' "$work/dom"
tap_ok 'and what clv was not told to take' \
    grep -q '<p id="not-taken">60 reduces of 64 KiB or more not taken: coll_clv_collectives is allreduce</p>' "$work/dom"
tap_end
