# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What the programs of apps/bench/ that measure and make pages share; they source this.

# ---- a page's tables

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

# best_stock COMPARE FILE...: of what is in JSON files of clv-bench --loop, the algorithm other than clv whose
# iteration is the shortest. COMPARE: clv-bench-compare.
best_stock() {
    "$1" --paired csv "${@:2}" | awk -F, 'NR > 1 && $9 != "clv" && (least == "" || $12 + 0 < least) { least = $12 + 0; best = $9 } END { print best }'
}

# ---- a pattern that clv-bench does not draw by itself: a host whose ranks are all late

# write_node_late FILE CLUSTER MS: a trace of 200 calls for the ranks that "apps/bench/cluster with CLUSTER" starts,
# those of the last host MS later than all others, give or take a hundredth.
write_node_late() {
    awk -v hosts="$2" -v ms="$3" 'BEGIN {
        n = hosts + 0; each = 1
        if (match(hosts, /--ranks-per-host [0-9]+/)) each = substr(hosts, RSTART + 17, RLENGTH - 17) + 0
        print "clv-trace 1"; print "ranks", n * each; srand(1)
        for (i = 0; i < 200; i++) {
            times = ""
            for (r = 0; r < n * each; r++) {
                host = hosts ~ /by-node/ ? r % n : int(r / each)
                times = times sprintf(" %d", r ? 1e6 * ms * ((host == n - 1) + 0.01 * rand()) : 0) }
            print "call", i, "|" times " |" times } }' >"$1"
}

# ---- what is kept of measurements
#
# Tables as they are kept in docs/results/data: of a folder of measurements the keys that a table is made from,
# in one file of JSON lines.
#
# A line {"table":NAME,...} opens a table and has what all of its lines have alike. Each other line is a line of
# the measurement with the rest; "part" names the file that it came from (PART.json), "command", "date" and
# "about" are what stood in files beside it, of the part or of the set, which is NAME without its first word.
# A file has the tables of one page, one after the other, and the page's name; or one table, and its name.

# keep_table NAME KEYS FILE...: prints the table; no KEYS: all.
keep_table() {
    local name=$1 keys=$2
    shift 2
    awk -v name="$name" -v keys="$keys" '
        function put(key, value) {
            if (!(key in seen)) { seen[key] = 1; order[++n_keys] = key }
            values[n, key] = value; times[key]++
            if (!((key, value) in alike)) alike[key, value] = ++kinds[key] }
        function quoted(text) { gsub(/["\\]/, "\\\\&", text); return "\"" text "\"" }
        function put_beside(kind,   text) {
            if ((getline text < (stem "." kind)) > 0 || (getline text < (folder set "." kind)) > 0) beside[kind] = quoted(text)
            close(stem "." kind); close(folder set "." kind) }
        function shown(i, is_alike,   k, key, text) {
            for (k = 1; k <= n_keys; k++) { key = order[k]
                if ((i, key) in values && (times[key] == n && kinds[key] == 1) == is_alike) text = text ",\"" key "\":" values[i, key] }
            return text }
        BEGIN { n = split(keys, parts, " "); for (i = 1; i <= n; i++) wanted[parts[i]] = 1; n = 0; set = name; sub(/^[a-z]+-/, "", set) }
        FNR == 1 {
            stem = part = FILENAME; sub(/[.]jsonl?$/, "", stem); sub(/.*\//, "", part); sub(/[.]jsonl?$/, "", part)
            folder = substr(stem, 1, length(stem) - length(part)); split("", beside)
            put_beside("command"); put_beside("date"); put_beside("about") }
        {
            n++; put("part", quoted(part)); for (kind in beside) put(kind, beside[kind])
            rest = $0
            while (match(rest, /^[{,]"[^"]*":("([^"\\]|\\.)*"|\[[^]]*\]|[^],}]*)/)) {
                one = substr(rest, 3, RLENGTH - 2); rest = substr(rest, RLENGTH + 1)
                at = index(one, "\":"); key = substr(one, 1, at - 1)
                if (keys == "" || key in wanted) put(key, substr(one, at + 2))
            }
            if (rest != "}") { print "kept: " FILENAME ": not a flat object: " substr(rest, 1, 60) > "/dev/stderr"; exit bad = 1 }
        }
        END {
            if (bad) exit 1
            print "{\"table\":" quoted(name) shown(1, 1) "}"
            for (i = 1; i <= n; i++) print "{" substr(shown(i, 0), 2) "}"
        }' "$@"
}

file_with() { grep -lE "^[{]\"table\":\"$2\"[,}]" "$1"/*.jsonl 2>/dev/null | head -n 1; } # folder table

# put_table DIR NAME KEYS FILE...: the table takes the place of the one of that name in DIR, or becomes DIR/NAME.jsonl.
put_table() {
    local file status
    file=$(file_with "$1" "$2")
    file=${file:-$1/$2.jsonl}
    keep_table "${@:2}" >"$file.table" && touch "$file" &&
        awk -v opening="{\"table\":\"$2\"" -v table="$file.table" '
            function put(   line) { while ((getline line < table) > 0) print line; done = 1 }
            /^[{]"table":/ { replaced = index($0, opening) == 1; if (replaced) put() }
            !replaced
            END { if (!done) put() }' "$file" >"$file.new" && cat "$file.new" >"$file"
    status=$?
    rm -f "$file.table" "$file.new"
    return $status
}

# unpack_kept NAME...: if a file in $folder has such tables, or such a name, a folder with the parts of these tables
# takes the place of $folder until the program ends, which then removes $unpacked.
unpack_kept() {
    local name files=()
    for name; do
        if [ -s "$folder/$name.jsonl" ]; then files+=("$folder/$name.jsonl"); else files+=("$(file_with "$folder" "$name")"); fi
    done
    mapfile -t files < <(printf '%s\n' "${files[@]}" | sed '/^$/d' | sort -u)
    [ ${#files[@]} -gt 0 ] || return 0
    unpacked=$(mktemp -d) || return
    trap 'rm -rf "$unpacked"' EXIT
    awk -v folder="$unpacked" -v names="$*" -f "$top/apps/bench/page/lines.awk" -f - "${files[@]}" <<'END' && folder=$unpacked
        function beside(stem, kind) { if (text(kind) != "") { print text(kind) > (stem "." kind); close(stem "." kind) } }
        BEGIN { split(names, parts, " "); for (i in parts) wanted[parts[i]] = 1 }
        FNR == 1 { page = FILENAME; sub(/.*\//, "", page); sub(/[.]jsonl$/, "", page); all = page in wanted }
        /^[{]"table":/ {
            set = text("table"); skipping = !all && !(set in wanted); sub(/^[a-z]+-/, "", set)
            alike = $0; sub(/^[{]"table":"[^"]*"/, "", alike); next }
        !skipping {
            $0 = substr($0, 1, length($0) - 1) alike; sub(/^[{],/, "{")
            file = folder "/" text("part") ".json"
            if (file != last) {
                if (last) close(last)
                last = file; stem = substr(file, 1, length(file) - 5)
                beside(stem, "command"); beside(stem, "date"); beside(stem, "about"); beside(folder "/" set, "command")
            }
            print > file
        }
END
}
