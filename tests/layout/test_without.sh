#!/bin/bash
# Without OTF2 and XDR every tool that needs none still links and runs: on a copy of the build whose makefile is
# made anew, as configure makes it where there is no OTF2, so only what differs is compiled. And no module
# sets in a condition what a program outside of it is linked with. TAP. 5 s. Each optional library missing,
# from the first file on: tests/quality/without.sh.
. "$CLV_TOP/tests/support/tap.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# A target's own LDADD, LDFLAGS, CPPFLAGS or CFLAGS in a condition, of a target whose sources lie outside:
# automake then takes nothing where the condition does not hold, not what is for all. Prints them.
conditional_flags() {
    awk 'FNR == 1 { depth = 0; delete inside }
        /^if / { depth++ }
        /^endif/ { depth-- }
        match($0, /^[a-z0-9_]+_(SOURCES|LDADD|LIBADD|LDFLAGS|CPPFLAGS|CFLAGS) *=/) {
            target = what = $1
            sub(/_[A-Z]+$/, "", target)
            sub(/.*_/, "", what)
            if (what == "SOURCES") is_inside[target] = depth > 0
            else if (depth > 0) place[target] = FILENAME ":" FNR ": " $1
        }
        END { for (target in place) if (is_inside[target] == 0) print place[target] }' "$@"
}
cat >"$work/sample.mk" <<'END'
one_SOURCES = one.c
if CLV_HAVE_X
one_LDADD = $(X_LIBS)
two_SOURCES = two.c
two_LDADD = $(X_LIBS)
endif
END
tap_ok 'flags that a condition sets for a program outside of it are seen' \
    test "$(conditional_flags "$work/sample.mk")" = "$work/sample.mk:3: one_LDADD"
tap_none 'and no module has any' conditional_flags "$CLV_TOP"/*/module.mk "$CLV_TOP"/apps/*/module.mk

# ---- the same build without OTF2
copy_build() {
    local name
    mkdir "$work/build" && cd "$CLV_BUILD" || return
    for name in .libs *; do
        case $name in tests | *.log) continue ;; esac
        [ -e "$CLV_TOP/$name/module.mk" ] || [ ! -d "$name" ] || [ "$name" = .libs ] || [ "$name" = apps ] || continue
        cp -a "$name" "$work/build" || return
    done
}
without_otf2() { # what was compiled stays, whatever it was made of
    cd "$work/build" && rm -f apps/tools/clv-view apps/tools/clv-correct apps/bench/clv-bench apps/bench/measure/*-bench_xdr.o && find . -name '*.P*o' -delete &&
        sed -i -e "s|^srcdir='.*'|srcdir='$CLV_TOP'|" \
            -e 's/^S\["CLV_HAVE_OTF2_TRUE"\]=.*/S["CLV_HAVE_OTF2_TRUE"]="#"/' \
            -e 's/^S\["CLV_HAVE_OTF2_FALSE"\]=.*/S["CLV_HAVE_OTF2_FALSE"]=""/' \
            -e 's/^S\["\(\(OTF2\|XDR\)_[A-Z]*\)"\]=.*/S["\1"]=""/' config.status &&
        ./config.status Makefile depfiles
}
made_anew() { copy_build && without_otf2; }
links() { timeout "$tap_limit" make -s -C "$work/build" apps/tools/clv-view apps/tools/clv-plan apps/tools/clv-predict; }
tap_ok 'the makefile for a machine without OTF2' made_anew
tap_ok 'every tool links' links
"$CLV_BUILD/tests/support/clva-make" "$work/record" 2 2 4
tap_has 'clv-view shows a record' 'stream, by time ranks waited' "$("$work/build/apps/tools/clv-view" "$work/record" 2>&1)"
said=$("$work/build/apps/tools/clv-view" --export otf2 -o "$work/archive" "$work/record" 2>&1)
tap_ok 'and fails where it would need OTF2' test $? -eq 2
tap_has 'in words' 'built without OTF2' "$said"
if [ -x "$CLV_BUILD/apps/bench/clv-bench" ]; then
    tap_ok 'clv-bench links without XDR' timeout "$tap_limit" make -s -C "$work/build" apps/bench/clv-bench
    said=$("$work/build/apps/bench/clv-bench" --xdr "$work/xdr" 2>&1 </dev/null)
    tap_ok 'and refuses to write it' test $? -eq 2
    tap_has 'in words, too' 'this build has no XDR' "$said"
fi
tap_end
