#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The release: the tarball has what git has, builds and checks itself (make distcheck), builds the same
# bytes in any folder, works with source and build gone, is uninstalled without a rest. And what is said
# where the component cannot be built, and which Open MPI is taken where there are several.
#
#   tests/quality/dist.sh [--keep FOLDER]    FOLDER: leave the tarball there
#
# On a copy of the tree in a temporary folder. Needs what `./clv build` needs. Prints TAP; 4 minutes.
set -u
export LC_ALL=C
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/support/tap.sh"
. "$top/tests/versions/trees.sh"
keep=
[ "${1:-}" != --keep ] || keep=$(mkdir -p "${2:?}" && cd "$2" && pwd) || exit 2
work=$(mktemp -d) || exit 2
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
limit=900 # seconds for a make
jobs=${CLV_JOBS:-2}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# What follows a failure makes no sense.
must() {
    local before=$tap_failed
    tap_ok "$@"
    [ $tap_failed -eq "$before" ] || tap_end
}
make_in() { timeout "$limit" make -s -j"$jobs" -C "$@"; }

# ---- the tarball
make_tarball() {
    copy_tree "$top" "$work/copy" && (cd "$work/copy" && find . -type f | sort) >"$work/files" &&
        "$work/copy/autogen.sh" && mkdir "$work/first" && cd "$work/first" && "$work/copy/configure" &&
        make_in . dist
}
must 'make dist' make_tarball
mv "$work"/first/clv-*.tar.gz "$work"
tarball=$(echo "$work"/clv-*.tar.gz)
name=$(basename "$tarball" .tar.gz)
version=${name#clv-}
[ -z "$keep" ] || cp "$tarball" "$keep"
missing() {
    tar -tzf "$tarball" | sed "s|^$name/|./|" | sort | comm -13 - "$work/files" | grep -vx './.gitignore'
}
tap_none 'it has every file of the tree' missing
# The tests of the suite have their own runs; a few of them show that they work from a release.
must 'make distcheck' make_in "$work/first" distcheck \
    TESTS='tests/util/test_util tests/apps/test_bench_stats tests/apps/test_trace'
rm -rf "$work/first" "$work/copy"

# ---- the same bytes wherever it is built
build_in() { # folder
    mkdir -p "$1" && tar -xzf "$tarball" -C "$1" && cd "$1/$name" &&
        ./configure --prefix=/usr/local --with-component-dir=/usr/local/lib/openmpi && make_in . all &&
        make_in . install DESTDIR="$1/root"
}
must 'the tarball builds and installs' build_in "$work/a"
must 'in another folder, too' build_in "$work/somewhere/else"
same_files() { # in a tarball made where everything is built
    make_in "$work/a/$name" dist && tar -tzf "$work/a/$name/$name.tar.gz" | sort >"$work/again" &&
        tar -tzf "$tarball" | sort | diff - "$work/again"
}
tap_ok 'a tarball that is made after building has nothing that was built' same_files
first=$work/a/root second=$work/somewhere/else/root
tap_none 'what they install is the same, byte for byte' diff -rq "$first" "$second"
tap_none 'and names neither folder' grep -rlaE "$work/(a|somewhere)" "$first"

# ---- what is installed
prefix=$first/usr/local
tools=$(cd "$prefix/bin" && echo *)
says_version() { for tool in $tools; do [[ $("$prefix/bin/$tool" --version) == *"$version"* ]] || return 1; done; }
has_manuals() { for tool in $tools; do man -l "$prefix/share/man/man1/$tool.1" >/dev/null || return 1; done; }
compiles() {
    local flags
    flags=$(PKG_CONFIG_SYSROOT_DIR=$first PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags clv) &&
        printf '#include "clv.h"\nint main(void) { return 0; }\n' >"$work/hint.c" &&
        mpicc $flags -o "$work/hint" "$work/hint.c"
}
module_folders() { # of the module file, the first of each list; prints those that are not there
    sed -n 's|^set prefix "\(.*\)"|p=\1|p; s|^prepend-path [A-Z_]* *"$prefix/\(.*\)"|[ -d "$1$p/\1" ] \|\| echo "\1"|p
        s|^setenv .*_component_path "\([^:]*\).*"|[ -d "$1\1" ] \|\| echo "\1"; found=yes|p
        $a [ -n "$found" ] \|\| echo "no folder of the component"' "$prefix/share/clv/modulefiles/clv.module" |
        sh -s "$first"
}
reduces() { # OPTIONS...: the example under the installed component
    timeout 120 mpirun --oversubscribe -np 4 --mca mca_base_component_path "$components" "$@" \
        "$work/transport" --quiet --batches 12 --particles 2000 2>&1 </dev/null
}
works() { [[ $(reduces --mca coll clv --mca coll_clv_verbose 10) == *': reduce of '*check=ok* ]]; }

own=$(ompi_info --path pkglibdir --parsable | sed -n 's/^path:pkglibdir://p')
[ ! -f "$own/mca_coll_tuned.so" ] || own=:$own
components=$prefix/lib/openmpi${own##[!:]*}
cp "$work/a/$name/apps/examples/transport/transport" "$work/transport" # the example is not installed
rm -rf "$work/a/$name"
mv "$work/somewhere/else/$name" "$work/away"
tap_ok "every program says $version" says_version
tap_ok 'and has a manual' has_manuals
tap_ok 'pkg-config finds the header' compiles
tap_none 'the folders of the module file are there' module_folders
tap_ok 'without source and build the component reduces' works
tap_has 'and has its texts' 'allowed: 1 to 64 calls' "$(reduces --mca coll clv --mca coll_clv_sma_window 0)"
tap_lacks 'not asked for, nobody hears of it' clv \
    "$(reduces | grep -v 'mca:base:process_repository_item')"
mv "$work/away" "$work/somewhere/else/$name"
must 'make uninstall' make_in "$work/somewhere/else/$name" uninstall DESTDIR="$first"
tap_none 'leaves nothing, no folder either' find "$first" -mindepth 1

# ---- which Open MPI, and what is said where there is none to build for
tree=$work/somewhere/else/$name
other=$work/other
mkdir -p "$other/bin" "$other/include" "$other/none" "$work/config"
real=$(command -v mpicc.openmpi || command -v mpicc)
for folder in $("$real" --showme:incdirs); do # what programs include; nothing internal
    cp "$folder"/*.h "$other/include"
    [ ! -d "$folder/openmpi/mpiext" ] || { mkdir -p "$other/include/openmpi" && cp -r "$folder/openmpi/mpiext" "$other/include/openmpi"; }
done
cat >"$other/bin/mpicc" <<END
#!/bin/sh
case \$1 in
--showme:incdirs) echo "$other/include" ;;
*) exec "$real" "\$@" ;;
esac
END
printf '#!/bin/sh\necho "another MPI"; exit 1\n' >"$other/none/mpicc"
chmod +x "$other/bin/mpicc" "$other/none/mpicc"
ln -s "$(command -v ompi_info)" "$other/bin/ompi_info"
configure() { # PATH OPTIONS...
    (cd "$work/config" && rm -rf ./* && PATH=$1 "$tree/configure" "${@:2}" 2>&1)
}
make_in "$tree" distclean >/dev/null 2>&1 # or it could not be configured elsewhere
said=$(configure "$PATH" --with-ompi="$other")
complaint=$(grep 'error:' <<<"$said")
tap_ok 'without internal headers: one line' test "$(wc -l <<<"$complaint")" -eq 1
for way in --with-devel-headers --with-ompi-src=DIR --without-component; do
    tap_has "it names $way" "$way" "$complaint"
done
said=$(configure "$other/bin:$PATH" --without-component)
tap_has 'the first mpicc in PATH is taken' "of $other/bin/mpicc" "$said"
said=$(configure "$other/none:$PATH")
tap_has "unless it is none of Open MPI's" "of $real" "$said"
said=$(configure "$PATH" --with-ompi-src="$other")
tap_has 'a source tree that was not configured is refused' "Open MPI was not configured in $other" "$said"
said=$(configure "$PATH" --with-ompi="$other/none")
tap_has 'a folder without Open MPI is refused' "there is no Open MPI in $other/none" "$said"
said=$(CLV_BUILD=$work/built CLV_CONFIGURE="--with-ompi=$other --without-component" "$tree/clv" build 2>&1)
tap_has './clv build: there is no component, and that is what it says' 'without the component' "$said"
tap_has './clv env, too' 'there is no component' "$(CLV_BUILD=$work/built "$tree/clv" env 2>&1)"
said=$(CLV_BUILD=$work/failed CLV_CONFIGURE="--with-ompi=$other" "$tree/clv" build 2>&1)
tap_ok './clv build fails where configure does' test $? -ne 0
tap_lacks 'and does not say that anything was built' 'built in' "$said"
tap_end
