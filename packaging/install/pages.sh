#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The pages and examples that are installed, in the folders that they have here, so that links between them
# hold. A link to a file that is not installed becomes its text.
#
#   pages.sh list                 their names, one a line
#   pages.sh install FOLDER       copies them
#   pages.sh uninstall FOLDER     removes them, and the folders that are empty then
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)

names() {
    cd "$top"
    ls README.md SECURITY.md
    find docs -path docs/results/data -prune -o -type f \( -name '*.md' -o -name '*.png' -o -name '*.svg' \) -print
    find apps/examples/languages apps/examples/python -type f ! -name '.*' ! -name '*.pyc'
}

# Where they are installed.
places() { names | sed 's|^apps/||'; }

# The text of a page, with the links that lead to one of the names in `names` (or a folder of some, or out).
held_links() { # PAGE
    awk -v page="$1" -v names="$names" '
        function folder(path) { return sub(/\/[^\/]*$/, "", path) ? path : "" }
        function place(path, target,   parts, n, i, kept, whole) { # of the target, seen from the top
            n = split((path == "" ? "" : path "/") target, parts, "/")
            for (i = 1; i <= n; i++) {
                if (parts[i] == ".." && kept > 0) kept--
                else if (parts[i] != "." && parts[i] != "") parts[++kept] = parts[i]
            }
            for (i = 1; i <= kept; i++) whole = whole (i > 1 ? "/" : "") parts[i]
            return whole
        }
        function holds(target) {
            if (target ~ /^[a-z]+:/ || target ~ /^#/) return 1
            sub(/#.*/, "", target)
            return place(folder(page), target) in known
        }
        function manual(target, text) { # of a tool, which is installed elsewhere
            return sub(/^.*\/man\//, "", target) && sub(/\.1$/, "(1)", target) &&
                text "(1)" != "[" target ? ": " target : ""
        }
        BEGIN {
            n = split(names, list, "\n")
            for (i = 1; i <= n; i++) for (path = list[i]; path != ""; path = folder(path)) known[path] = 1
        }
        {
            rest = $0
            while (match(rest, /\[[^][]*\]\([^() ]*\)/)) {
                link = substr(rest, RSTART, RLENGTH)
                split(link, both, /\]\(/)
                target = substr(both[2], 1, length(both[2]) - 1)
                before = substr(rest, 1, RSTART - 1)
                rest = substr(rest, RSTART + RLENGTH)
                printf "%s%s", before, holds(target) ? link : substr(both[1], 2) manual(target, both[1])
            }
            print rest
        }' "$top/$1"
}

case ${1-} in
list) places ;;
install)
    names=$(names)
    for name in $names; do
        at=$2/${name#apps/}
        mkdir -p "${at%/*}"
        case $name in
        *.md) held_links "$name" | sed 's|apps/examples/|examples/|g' >"$at" ;;
        *) cp "$top/$name" "$at" ;;
        esac
        chmod 644 "$at"
    done ;;
uninstall)
    [ -d "$2" ] || exit 0
    places | (cd "$2" && xargs rm -f)
    for name in docs examples; do [ ! -d "$2/$name" ] || find "$2/$name" -depth -type d -exec rmdir {} + 2>/dev/null || :; done
    rmdir "$2" 2>/dev/null || : ;;
*) sed -n '4,10s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
