#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# tests/all with made-up suites: what passed on a commit is not run again on it, what failed is, the table
# keeps what is known. 1 s.
. "$CLV_TOP/tests/support/tap.sh"
command -v git >/dev/null || tap_skip_all "no git"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tests/quality" "$work/docs"
cp "$CLV_TOP/tests/all" "$work/tests/all"
mkdir "$work/apps" && cp -r "$CLV_TOP/apps/cli" "$work/apps"
printf 'before\n<!-- all -->\n| lint | old | old row |\n<!-- end -->\nafter\n' >"$work/docs/testing.md"
suite() { # name status words...: a script in place of one of the suites
    printf '#!/bin/sh\necho ran >>%s\nprintf "%%s\\n" "%s"\nexit %d\n' "$work/$1.runs" "$3" "$2" >"$work/tests/quality/$1.sh"
    chmod +x "$work/tests/quality/$1.sh"
}
commit() { git -C "$work" add tests && git -C "$work" -c user.name=x -c user.email=x commit -qm x; }
all() { said=$(CLV_ALL=$work/state "$work/tests/all" "$@" 2>&1); }
runs() { wc -l <"$work/$1.runs"; }
row() { grep "^| $1 |" "$work/docs/testing.md"; }

suite clang 0 '7 passed, 0 failed'
suite costs 1 'not ok 1 - dear'
git -C "$work" init -q 2>/dev/null && commit

all clang costs
tap_ok 'a suite that fails makes it fail' test $? -eq 1
tap_has 'the table says what passed' 'passed: 7 passed, 0 failed' "$(row clang)"
tap_has 'and what failed' 'failed: 0 passed, 1 failed' "$(row costs)"
tap_has 'an old row stays until there is a newer one' 'old row' "$(row lint)"
tap_has 'and the page around it' after "$(tail -n 1 "$work/docs/testing.md")"

suite costs 0 'not so dear'
all clang costs
tap_ok 'the one that failed is run again' test "$? $(runs costs)" = '0 2'
tap_ok 'the one that passed, too: the tree is another' test "$(runs clang)" -eq 2
commit
all clang clang
tap_ok 'on a commit that it passed on it is not' test "$(runs clang)" -eq 3
all --again clang
tap_ok 'but when told so' test "$(runs clang)" -eq 4
suite lint 0 'not ok 1 - a point alone'
all lint
tap_ok 'a point that fails makes a suite fail that ends as if it had not' test "$? $(row lint | grep -c 'failed: 0 passed, 1 failed')" = '1 1'
all nothing
tap_ok 'an unknown suite is wrong use' test $? -eq 2
tap_end
