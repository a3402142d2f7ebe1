#!/bin/bash
# What `make install` puts where, and that `make uninstall` takes all of it away: pages without a dead link,
# hints for other languages, a pkg-config file that a plain compiler can use, manuals with a date, completion
# that knows every option. Into a folder, from this build. TAP. 10 s.
. "$CLV_TOP/tests/support/tap.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
root=$work/root
make_here() { timeout "$tap_limit" make -s -C "$CLV_BUILD" "$@" DESTDIR="$root"; }
variable() { sed -n "s/^$1 = //p" "$CLV_BUILD/Makefile"; }
prefix=$(variable prefix)
at=$root$prefix
mapfile -t tools < <(cd "$CLV_BUILD" && ls apps/tools/clv-* apps/bench/clv-* 2>/dev/null | grep -vE '\.|/clv-.*-$' | sed 's|.*/||')

tap_ok 'make install' make_here install
tap_ok 'seven tools' test "$(cd "$at/bin" && echo *)" = "$(printf '%s\n' "${tools[@]}" | sort | xargs)"

# ---- pages
pages=$at/share/doc/clv
grep -roE --include='*.md' '\]\([^)# ]+' "$pages" | sed 's/:](/ /' | grep -v '://' >"$work/links"
n_links=$(wc -l <"$work/links")
dead_links() {
    local page link
    while read -r page link; do [ -e "${page%/*}/$link" ] || echo "$page: $link"; done <"$work/links"
}
tap_none 'no link of an installed page is dead' dead_links
tap_ok 'and there are some' test "$n_links" -gt 100
using=$(find "$pages" -name using.md)
tap_has 'a link to what is not installed is its text' 'clv.h, header only' "$(grep 'clv_hint_arrival(comm' "$using")"
tap_has 'one to a manual names it' 'what an instance is: clv-plan(1)' "$(cat "$using")"

# ---- for programs
export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=$at/lib/pkgconfig
known() { PKG_CONFIG_SYSROOT_DIR= pkg-config "$@" clv; }
if command -v pkg-config >/dev/null && pkg-config --exists ompi-c 2>/dev/null; then
    printf '#include <clv.h>\nint main(void) { return MPI_Init(0, 0) + (int) clv_hint_arrival(MPI_COMM_WORLD, 1); }\n' >"$work/a.c"
    compiles() { # with nothing but what pkg-config says
        # shellcheck disable=SC2046
        ${CC:-gcc} -o "$work/a" "$work/a.c" -I"$at/include" $(PKG_CONFIG_SYSROOT_DIR= pkg-config --cflags --libs clv)
    }
    tap_ok 'a plain compiler finds header and MPI' compiles
else
    tap_skip 'a plain compiler finds header and MPI' 'pkg-config knows no ompi-c'
fi
tap_has 'clv.pc requires ompi-c' ompi-c "$(known --print-requires)"
hints=$root$(known --variable=languagesdir)
same_hints() { for name in clv_hint.c clv_hint.f90 clv_hint.py; do cmp "$hints/$name" "$CLV_TOP/apps/examples/languages/$name" || return 1; done; }
tap_ok 'hints for Fortran and Python are where it says' same_hints

# ---- manuals
undated() {
    local tool page version
    version=$("$CLV_TOP/clv" version | sed 's/^clv //')
    for tool in "${tools[@]}"; do
        [ -f "$at/share/man/man1/$tool.1" ] || echo "there is no manual of $tool"
    done
    for page in "$CLV_TOP"/docs/man/*.1; do
        grep -qE "^\.TH $(basename "$page" .1 | tr a-z- A-Z-) 1 \"20[0-9]{2}-[01][0-9]-[0-3][0-9]\" \"clv $version\" \"User Commands\"\$" "$page" ||
            echo "$page: $(grep '^\.TH' "$page")"
    done
}
tap_none 'every tool has a manual, every manual a date and the version' undated

# ---- texts of packages; the rpm is built without OTF2
unnamed() {
    local tool text
    for text in packaging/debian/control packaging/rpm/openmpi-clv.spec packaging/spack/packages/clv/package.py; do
        for tool in "${tools[@]}"; do
            [[ $text:$tool == *.spec:clv-correct ]] || tr -s ' \n' ' ' <"$CLV_TOP/$text" | grep -q "$tool[ ,.)]" || echo "$text does not name $tool"
        done
    done
}
tap_none "packages' texts name every tool" unnamed

# ---- completion: what bash offers is what the help and the table of options have
completions=$at/share/bash-completion/completions
offered() { # WORDS...: what is offered in place of the last one
    bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _clv_complete "$1"; printf "%s\n" "${COMPREPLY[@]}"' \
        bash "$completions/$(basename "$1")" "$@" | sort
}
where() { ls "$CLV_BUILD"/apps/{tools,bench}/"$1" 2>/dev/null; }
sources_of() { # of the tool's table of options
    case $1 in clv-bench) echo apps/bench/measure/bench_options.c ;; clv-bench-compare) echo apps/bench/compare/clv_bench_compare.c ;; *) echo "apps/tools/$1.c" ;; esac
}
differing() {
    local tool
    for tool in "${tools[@]}"; do
        diff <({ tr -s ' \n' ' ' <"$CLV_TOP/$(sources_of "$tool")" | grep -oE '(CLV_ROW_[A-Z0-9]+\( ?|\.name = )"[a-z-]+"' |
            sed 's/.*"\(.*\)"/--\1/' | grep -vx -- "--$tool"; printf '%s\n' --help --version; } | sort) <(offered "$(where "$tool")" --) | sed -n "s/^[<>]/$tool: &/p"
    done
}
tap_none 'every option of every tool is offered, and no other' differing
tap_ok 'clv-plan --format offers its formats' test "$(offered "$(where clv-plan)" --format '' | xargs)" = 'dot gantt goal hash summary text tuples'
tap_ok 'behind an equals sign, too' test "$(offered "$(where clv-plan)" --format = te)" = text
tap_ok 'a second word of a list' test "$(offered "$(where clv-bench)" --patterns balanced,one-l)" = balanced,one-late
tap_ok 'a section that is named after the value' test "$(offered "$(where clv-predict)" --make rep)" = repeated
tap_ok 'or after the option' test "$(offered "$(where clv-predict)" --couple '' | xargs)" = 'allreduce barrier none'
tap_ok 'words, not how a line goes on' test -z "$(offered "$(where clv-bench)" --algorithms it)"
tap_ok 'nothing for a number' test -z "$(offered "$(where clv-bench)" --window '')"
tap_ok 'a value that is one word' test "$(offered "$(where clv-correct)" --alltoallv '')" = dense
tap_ok 'commands of ./clv' test "$(offered "$CLV_TOP/clv" '' | xargs)" = '--help --version build env help params run test'

# ---- and gone
touch "$at/share/clv/of-others"
tap_ok 'make uninstall' make_here uninstall
tap_ok 'what others put into its folders stays' test "$(find "$root" ! -type d)" = "$at/share/clv/of-others"
rm -f "$at/share/clv/of-others"
sh "$CLV_TOP/packaging/install/rmdirs.sh" "$root" "$prefix" "$prefix/share/clv"
tap_none 'and leaves nothing, no folder either' find "$root" -mindepth 1
# Without DESTDIR: a prefix of its own is empty then, one of the machine's keeps its folders.
folders() { # PREFIX: what is left of it
    mkdir -p "$1/bin" "$1/share/clv/languages" "$1/share/doc/clv"
    HOME=$work/home sh "$CLV_TOP/packaging/install/rmdirs.sh" '' "$1" "$1/bin" "$1/share/clv/languages" "$1/share/doc/clv"
    find "$1" 2>/dev/null | wc -l
}
mkdir -p "$work/home"
tap_ok 'a prefix of its own is empty' test "$(folders "$work/own")" -eq 1
tap_ok "a user's own keeps bin and share" test "$(folders "$work/home/.local")" -eq 4
tap_end
