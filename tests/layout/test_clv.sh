#!/bin/bash
# The script ./clv itself: through symbolic links, where nothing is built, in folders that no build can hold.
# Builds nothing. TAP. 2 s.
. "$CLV_TOP/tests/support/tap.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# ---- a link in a folder of PATH, and a link to that one
mkdir -p "$work/bin" "$work/other"
ln -s "$CLV_TOP/clv" "$work/bin/clv-here"
ln -s ../bin/clv-here "$work/other/clv"
same() { diff <("$CLV_TOP/clv" "$1" 2>&1) <(cd / && PATH=$work/other:$PATH clv "$1" 2>&1); }
tap_ok 'a symbolic link says the same version' same version
tap_ok 'and the same lines for eval' same env

# ---- nothing is built
said=$(CLV_BUILD=$work/none "$CLV_TOP/clv" env 2>"$work/errors")
tap_ok 'env fails where nothing is built' test $? -eq 1
tap_ok 'without a line for eval' test -z "$said"
tap_has 'and says what to do' 'clv build' "$(cat "$work/errors")"
mkdir -p "$work/built/apps/tools" && printf '#!/bin/sh\n' >"$work/built/apps/tools/clv-plan" && chmod +x "$work/built/apps/tools/clv-plan"
said=$(CLV_BUILD=$work/built "$CLV_TOP/clv" env 2>/dev/null)
tap_lacks 'no folder of components is named where there is none' component_path "$said"
tap_has 'but that of the tools' "$work/built/apps/tools" "$said"

# ---- configure is made again where its sources are newer, as after a pull
old_tree() { # FOLDER AGE OF A MODULE'S LIST: autogen.sh says when it is called
    mkdir -p "$1/util" && cp "$CLV_TOP/clv" "$1" || return
    printf '#!/bin/sh\necho made >"$(dirname "$0")/said"\n' >"$1/autogen.sh"
    printf '#!/bin/sh\nexit 1\n' >"$1/configure"
    chmod +x "$1/autogen.sh" "$1/configure"
    touch -d '2 hours ago' "$1/configure.ac"
    touch -d '1 hour ago' "$1/configure" "$1/Makefile.in"
    touch -d "$2" "$1/util/module.mk"
    "$1/clv" build >/dev/null 2>&1
    [ ! -e "$1/said" ] || cat "$1/said"
}
tap_ok 'an older list of a module asks for no new configure' test -z "$(old_tree "$work/kept" '2 hours ago')"
tap_ok 'a newer one does' test "$(old_tree "$work/pulled" now)" = made

# ---- names that make and libtool cannot hold
refused() { # FOLDER COMMAND...: in one line, and nothing is made there
    local folder=$1 said before
    mkdir -p "$folder" && cp "$CLV_TOP/clv" "$folder" && before=$(find "$folder") || return
    said=$("$folder/clv" "$2" 2>&1 >/dev/null)
    [ $? -eq 1 ] && [ "$(wc -l <<<"$said")" -eq 1 ] && [[ $said == *"cannot build in '$folder'"* ]] &&
        [ "$(find "$folder")" = "$before" ] || { echo "$said"; return 1; }
}
for name in 'a blank' 'a#hash' 'a:colon' 'a"quote' 'a$dollar' 'a(bracket)' 'a\backslash'; do
    for command in build env; do
        tap_ok "$command in a folder '$name'" refused "$work/$name" $command
    done
done
said=$(CLV_BUILD="$work/some where" "$CLV_TOP/clv" build 2>&1)
tap_ok 'a build folder with a blank' test "$? $([ -e "$work/some where" ] || echo none)" = '1 none'
tap_has 'is told by its name' "$work/some where" "$said"
configures() { # FOLDER: there, from here
    mkdir -p "$1" && cd "$1" && "$CLV_TOP/configure" 2>&1
}
tap_has 'configure refuses it, too' 'has a blank in its name' "$(configures "$work/some where")"
tap_end
