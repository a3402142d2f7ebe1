#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: proves the in-tree build, and the standalone build for an Open MPI from source. Links this folder
# into an Open MPI source tree as ompi/mca/coll/clv, runs that tree's autogen, configure and make, reduces
# with what came out and looks at what it exports. Then the component goes, and is built outside the tree
# for the prefix that was installed, which has no internal headers: installed into it, used, uninstalled.
#
#   tests/versions/in-tree.sh [--suite SUITE] [--source DIR] [--work DIR]
#
# --suite SUITE in that Debian: bookworm (4.1), trixie (5.0), sid (6.0); see debian_root.sh.
# --source DIR  an unpacked Open MPI source tree; it is copied, not touched. Without it Debian's
#               source package of the openmpi that apt offers is fetched.
# --work DIR    keep the tree and its build there and use them again: then autogen and configure are
#               not repeated and only the component is compiled anew (make itself repeats them
#               where configure.m4 or Makefile.am ask for it). Without it a temporary folder is
#               used and removed.
#
# Configures the smallest Open MPI that still has what we meet: ob1, tcp, shared memory, tuned, han, adapt.
# Open MPI is compiled with CFLAGS, or -O1. First run about 10 minutes on 2 idle cores, with a kept --work about 3.
# Needs what $packages names; in the Debian of a --suite it is installed. Prints TAP.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
limit=${CLV_TIMEOUT:-3600} # seconds for each of configure and make
ranks=4
source_tree=
work=
keep=no
suite=
packages='gcc g++ make pkg-config autoconf automake libtool flex perl python3 dpkg-dev libhwloc-dev
    libevent-dev libpmix-dev zlib1g-dev'

. "$top/tests/versions/trees.sh"
say() { printf 'in-tree: %s\n' "$*" >&2; }
die() { say "$*"; exit 2; }

while [ $# -gt 0 ]; do
    case $1 in
    --suite) suite=${2:?}; shift 2 ;;
    --source) source_tree=$(cd "${2:?}" && pwd) || exit 2; shift 2 ;;
    --work) mkdir -p "${2:?}" && work=$(cd "$2" && pwd) && keep=yes; shift 2 ;;
    *) die 'usage: tests/versions/in-tree.sh [--suite SUITE] [--source DIR] [--work DIR]' ;;
    esac
done

# In another Debian: the same script there, in a folder that goes with it.
run_elsewhere() {
    . "$top/tests/versions/debian_root.sh"
    ready_root "$suite"
    folder=/root/clv-in-tree-$$
    trap 'rm -rf "${root:?}$folder"' EXIT
    trap 'exit 130' INT TERM
    copy_tree "$top" "$root$folder/clv"
    (cd "$root$folder/clv" && git init -q && git add -A) # what the script there asks for its files
    limit=$((3 * limit)) run_inside "$root" sh -c "apt-get -qq install -y --no-install-recommends git \$2 >&2 &&
        \$1/clv/tests/versions/in-tree.sh --work \$1/work" sh "$folder" "$packages"
}
if [ -n "$suite" ]; then
    status=0
    run_elsewhere || status=$?
    exit $status
fi

[ -n "$work" ] || work=$(mktemp -d)
tree=$work/openmpi
build=$work/build
prefix=$work/prefix
log=$work/log
mkdir -p "$log"

clean_up() {
    [ "$keep" = yes ] || rm -rf "${work:?}"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# Our files as git knows them: building in the link must not leave anything in the working tree.
copy_ourselves() {
    copy_tree "$top" "$work/clv"
    ln -sfn "$work/clv" "$tree/ompi/mca/coll/clv"
}

# The release tarball of 4.1 leaves a generated file out that Debian's packaging makes first.
run_autogen() {
    (cd "$tree/config" && { [ ! -f opal_get_version.m4sh ] ||
        autom4te --language=m4sh opal_get_version.m4sh -o opal_get_version.sh; }) &&
        (cd "$tree" && timeout "$limit" ./autogen.pl --force)
}

# Later ones put components into the library unless told, and want more of PMIx than is installed.
of_its_release() {
    if [ "$(sed -n 's/^major=//p' "$tree/VERSION")" -ge 5 ]; then
        echo --enable-mca-dso=coll-clv --disable-sphinx --with-pmix=internal --with-prrte=internal
    else
        echo "--with-pmix=$(pkg-config --variable=prefix pmix)"
    fi
}

run_configure() {
    mkdir -p "$build"
    (cd "$build" && timeout "$limit" "$tree/configure" --prefix="$prefix" CFLAGS="${CFLAGS:--O1}" $(of_its_release) \
        --disable-mpi-fortran --disable-mpi-cxx --disable-oshmem --disable-io-romio \
        --disable-man-pages --with-hwloc=external --with-libevent=external \
        --without-ucx --without-libfabric \
        --without-verbs --without-psm --without-psm2 \
        --enable-mca-no-build=coll-cuda,coll-hcoll,coll-fca,coll-portals4,fcoll,fs,fbtl,sharedfp,mtl,crs,snapc,sstore,vprotocol,pml-v,pml-yalla,osc-portals4,btl-portals4)
}

run_make() {
    timeout "$limit" make -C "$build" -j"$(nproc)" && make -C "$build" install
}

make_component() {
    timeout "$limit" make -C "$build/ompi/mca/coll/clv" -j"$(nproc)" all install
}

# step NAME FUNCTION: one TAP line; what follows a failure makes no sense, so it ends the script.
n=0
step() {
    local started=$SECONDS
    n=$((n + 1))
    say "$1 ..."
    if "$2" >"$log/$2" 2>&1; then
        echo "ok $n - $1 ($((SECONDS - started)) s)"
    else
        echo "not ok $n - $1"
        tail -n 30 "$log/$2" | sed 's/^/# /'
        keep=yes
        say "everything is kept in $work"
        exit 1
    fi
}

with_prefix() {
    PATH=$prefix/bin:$PATH LD_LIBRARY_PATH=$prefix/lib OMPI_ALLOW_RUN_AS_ROOT=1 \
        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$@"
}

# Debian numbers the folder of components.
clv_is_installed() {
    ls -l "$prefix"/lib/openmpi*/mca_coll_clv.so
}

ompi_info_shows_it() {
    local output
    output=$(with_prefix ompi_info --param coll clv --level 9) && echo "$output" &&
        [[ $output == *coll_clv_reduce_algorithm* ]]
}

build_the_example() {
    (cd "$work/clv" && with_prefix mpicc -std=gnu11 -D_GNU_SOURCE -O2 -I. apps/examples/transport/*.c \
        apps/trace/trace.c util/*.c -lm \
        -o "$work/transport")
}

# The example checks its tally and physics itself and says so.
reduces() {
    local output
    output=$(with_prefix timeout 120 mpirun --oversubscribe -n $ranks "$@" "$work/transport" \
        --quiet --batches 12 --particles 20000 2>&1)
    echo "$output"
    [[ $output == *check=ok* ]]
}

reduces_with() {
    reduces --mca coll clv --mca coll_clv_reduce_algorithm "$1" --mca coll_clv_verbose 30
}
reduces_auto() { reduces_with auto; }
reduces_clairvoyant() { reduces_with clairvoyant; }
reduces_ring() { reduces_with ring; }
reduces_previous() { reduces_with previous; }
reduces_by_priority() { reduces --mca coll_clv_priority 40; }
reduces_without() { reduces --mca coll ^clv; }

# ---- what a component shows to others, and whose hwloc it takes
exports_nothing_else() {
    local found
    found=$(nm -D --defined-only "$prefix"/lib/openmpi*/mca_coll_clv.so | awk '{ print $3 }' |
        grep -vxE 'mca_coll_clv_component|ompi_coll_clv_component_ptr|coll_clv_hint_arrival|coll_clv_hint_progress|coll_clv_expected_wait_ns|_init|_fini')
    echo "$found"
    [ -z "$found" ]
}
has_hwloc() { nm -D --undefined-only "$prefix"/lib/openmpi*/mca_coll_clv.so | grep 'hwloc.*topology_load'; }

# ---- standalone, for the same prefix: Open MPI as most sites have it
outside=$work/outside
standalone() { # configure's options
    mkdir -p "$outside" && rm -rf "$outside"/* && cd "$outside" && with_prefix "$work/standalone/configure" "$@"
}
is_refused_without_headers() {
    rm -f "$prefix"/lib/openmpi*/mca_coll_clv.so
    copy_tree "$top" "$work/standalone" && "$work/standalone/autogen.sh" || return
    ! standalone --with-ompi="$prefix" >"$outside.said" 2>&1
    cat "$outside.said"
    grep -q 'error: the component needs .*--with-devel-headers.*--with-ompi-src=DIR' "$outside.said"
}
builds_with_their_tree() {
    standalone --with-ompi="$prefix" --with-ompi-src="$build" --prefix="$prefix" &&
        make -C "$outside" -j"$(nproc)" && find "$prefix" | sort >"$work/before" && make -C "$outside" install
}
is_uninstalled() {
    make -C "$outside" uninstall && find "$prefix" ! -type d | sort >"$work/after" &&
        ! comm -13 "$work/before" "$work/after" | grep .
}

[ -d "$tree" ] || if [ -n "$source_tree" ]; then
    cp -a "$source_tree" "$tree"
else
    say 'fetching the source package ...'
    fetch_openmpi "$work" >"$log/fetch" 2>&1 || die "fetching the source failed, see $log/fetch"
fi

copy_ourselves
if [ -x "$prefix/bin/mpirun" ]; then
    echo 1..16
    step 'make and install the component' make_component
else
    echo 1..18
    step 'autogen finds the component' run_autogen
    step 'configure' run_configure
    step 'make and install' run_make
fi
step 'mca_coll_clv.so is a component of this Open MPI' clv_is_installed
step 'ompi_info shows its parameters' ompi_info_shows_it
step 'the example builds' build_the_example
step '--mca coll clv reduces' reduces_auto
step '--mca coll clv, clairvoyant forced' reduces_clairvoyant
step '--mca coll clv, ring forced' reduces_ring
step '--mca coll clv, previous forced' reduces_previous
step '--mca coll_clv_priority 40 reduces' reduces_by_priority
step '--mca coll ^clv still works' reduces_without
step 'it shows itself and the hint, nothing else' exports_nothing_else
step "it uses Open MPI's hwloc" has_hwloc
step 'outside the tree: refused without headers, in words that help' is_refused_without_headers
step '--with-ompi-src: it builds, and is installed into that Open MPI' builds_with_their_tree
step 'and reduces' reduces_auto
step 'uninstalled without a rest' is_uninstalled
say "$n of $n steps, $(with_prefix ompi_info --version | head -n 1)"
