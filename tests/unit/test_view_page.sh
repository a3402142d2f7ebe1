#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# clv-view's page in headless Chromium, where that is or can be installed: no error on the console, its numbers are those
# of --json. Large pages, dark, printed, pictures: tests/quality/view_page.sh. About 10 s.
. "$CLV_TOP/tests/support/tap.sh"
. "$CLV_TOP/tests/support/page.sh"
page_ready || tap_skip_all 'there is no chromium'
view=$CLV_BUILD/tools/clv-view
make=$CLV_BUILD/tests/support/clva-make
work=$(mktemp -d)
output=$work/output
trap 'rm -rf "$work"' EXIT

"$make" "$work/job" 4 1 60 ascending "$work/truth" 2097152
"$view" --gbit 0.4 -o "$work/page.html" "$work/job" && page_draw "$work/page.html"
tap_ok 'the page is drawn to its end' grep -q 'data-ready="yes"' "$work/dom"
tap_none 'without a word on the console' grep CONSOLE "$work/log"
facts=$(page_facts "$work/job")
tap_ok "its head says $facts" page_says fact-wait "${facts%|*}"
tap_ok 'and who is late' page_says fact-late "${facts#*|}"

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

# ---- a node that was not recorded
rm "$work/job/made.1.clva"
"$view" -o "$work/half.html" "$work/job" 2>/dev/null
page_draw "$work/half.html"
tap_ok 'a page without a node is drawn' grep -q 'data-ready="yes"' "$work/dom"
tap_none 'without a word on the console' grep CONSOLE "$work/log"
tap_ok 'and says so' grep -q '(1 not recorded)' "$work/dom"
tap_end
