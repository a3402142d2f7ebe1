#!/bin/bash
# How the code is written (docs/design/style.md): as clang-format sets it, functions that fit a
# screen, lines that fit a window, one dialect. About 5 s.
. "$CLV_TOP/tests/support/tap.sh"
cd "$CLV_TOP" || exit 1

longest=42 # lines of a function, from its first line to its brace
widest=100 # columns

mapfile -t files < <(find . -name '.*' ! -name . -prune -o -path './build*' -prune -o \
    \( -name '*.[ch]' -o -name '*.inc' \) -printf '%P\n' | LC_ALL=C sort)
mapfile -t ours < <(printf '%s\n' "${files[@]}" | grep -v '^coll_clv/')

# A function ends with a brace in the first column, as nothing else does but what begins with one:
# clang-format sees to it, so macros and #if cannot hide a length from this. Prints LINES FILE:LINE.
lengths() {
    awk 'FNR == 1 { first = inside = 0 }
        inside { if (/^}/) { print FNR - first + 1, FILENAME ":" first; inside = first = 0 } next }
        /^{/ { inside = 1; if (!first) first = FNR; next }
        /^[ \t]*$/ || /^#/ || /^[ \t]*\/?\*/ || /[;}][ \t]*$/ || /\*\/[ \t]*$/ || /\\$/ { first = 0; next }
        !first { first = FNR }' "$@"
}
too_long() { lengths "${files[@]}" | awk -v longest=$longest '$1 > longest'; }

too_wide() { # tables set by hand may be wider
    awk -v widest=$widest 'FNR == 1 { table = 0 }
        /clang-format off/ { table = 1 } /clang-format on/ { table = 0 }
        length > widest && !table { print FILENAME ":" FNR ": " length " columns" }' "${files[@]}"
}

# Comparisons that begin with a constant: what stands before decides whether the name is all of the
# left side. Not in comments and not for the preprocessor; a constant against a constant may stand.
constant="(NULL|-?[0-9][0-9A-Fa-fxXuUlL.]*|[A-Z][A-Z0-9_]+|'[^']+')"
constants_left() {
    grep -HnP "(^\\s*|[(!,;?:]\\s*|&&\\s*|\\|\\|\\s*|\\breturn\\s+|[^=!<>]=\\s+)$constant\\s*(==|!=|<=|>=|<|>)\\s" "$@" |
        grep -vP '^[^:]*:\d+:\s*(#|/?\*|//|_Static_assert)'
}

tap_ok 'the sources were found' test "${#files[@]}" -gt 200
tap_none "functions of at most $longest lines" too_long
tap_none "lines of at most $widest columns" too_wide
no_opening() {
    awk '/SPDX-License-Identifier: BSD-3-Clause/ { opened[FILENAME] = 1 } { nextfile }
        END { for (i = 1; i < ARGC; i++) if (!(ARGV[i] in opened)) print ARGV[i] }' "${files[@]}"
}
tap_none 'each file opens with its licence' no_opening
# Of this branch's newest commits (CONTRIBUTING.md); in a release there are none.
long_subjects() { git log -n 30 --no-merges --format=%s 2>/dev/null | awk 'length > 72 || !/^[A-Za-z_.]+: /'; }
tap_none 'subjects of commits: "module: imperative", at most 72 characters' long_subjects

# The checks themselves, on what they must see.
sample=$(mktemp --suffix=.c)
trap 'rm -f "$sample"' EXIT
{
    echo 'static int f(int a,'
    echo '             int b)'
    echo '{'
    yes '    a += b;' | head -n 40
    echo '}'
    echo 'int g(void) { return NULL == f && 0 != a ? A_B : a; }'
} >"$sample"
sees_length() { [ "$(lengths "$sample")" = "44 $sample:1" ]; }
tap_ok 'a long function is seen' sees_length
sees_constant() { constants_left "$sample" | grep -q ':45:'; }
tap_ok 'a constant on the left is seen' sees_constant
tap_none 'constants stand on the right of comparisons outside coll_clv' constants_left "${ours[@]}"

# Versions of clang-format differ in details; the tree is set by the one of Debian 12.
formatter=$(command -v clang-format-14 || command -v clang-format)
if [ -z "$formatter" ]; then
    tap_skip 'the code is as clang-format sets it' 'there is no clang-format'
elif [[ $("$formatter" --version) != *'version 14.'* ]]; then
    tap_skip 'the code is as clang-format sets it' "$("$formatter" --version) is not version 14"
else
    unformatted() { "$formatter" --dry-run --Werror "${files[@]}" 2>&1; }
    tap_none 'the code is as clang-format sets it' unformatted
fi
tap_end
