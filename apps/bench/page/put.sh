# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
#
# How the programs of apps/bench/ write a page's tables, and what they compare in them; they source this.

# put_between PAGE MARK COMMAND...: what the command prints takes the place of what is between the
# page's lines "<!-- MARK -->" and "<!-- end -->". Status 1, and a word, when the page has no such mark.
put_between() {
    local page=$1 mark="<!-- $2 -->" status
    shift 2
    "$@" >"$page.tables" &&
        awk -v mark="$mark" -v tables="$page.tables" '
            $0 == mark { print; print ""; while ((getline line < tables) > 0) print line; print ""; skipping = found = 1 }
            $0 == "<!-- end -->" { skipping = 0 }
            !skipping { print }
            END { exit !found }' "$page" >"$page.new" && cat "$page.new" >"$page"
    status=$?
    rm -f "$page.new" "$page.tables"
    [ $status -eq 0 ] || { say "$page has no line $mark"; return 1; }
}

# best_stock COMPARE FILE: of what is in a JSON file of clv-bench --loop, the algorithm other than clv whose
# iteration is the shortest. COMPARE: clv-bench-compare.
best_stock() {
    "$1" --paired csv "$2" | awk -F, 'NR > 1 && $9 != "clv" && (least == "" || $12 + 0 < least) { least = $12 + 0; best = $9 } END { print best }'
}
