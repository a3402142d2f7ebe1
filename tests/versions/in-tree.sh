#!/bin/bash
# Opt-in: proves the in-tree build. Links this folder into an Open MPI source tree as
# ompi/mca/coll/clv, runs that tree's autogen, configure and make, and reduces with what came out.
#
#   tests/versions/in-tree.sh [--source DIR] [--work DIR]
#
# --source DIR  an unpacked Open MPI source tree; it is copied, not touched. Without it Debian's
#               source package of the openmpi that apt offers is fetched.
# --work DIR    keep the tree and its build there and use them again: then autogen and configure are
#               not repeated and only the component is compiled anew (make itself repeats them
#               where configure.m4 or Makefile.am ask for it). Without it a temporary folder is
#               used and removed.
#
# Configures the smallest Open MPI that still has what we meet: ob1, tcp, vader, tuned, han, adapt.
# First run about 10 minutes on 2 idle cores, with a kept --work about 2. Needs autoconf, automake,
# libtool, flex, perl, libhwloc-dev, libevent-dev, libpmix-dev. Prints TAP.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
limit=${CLV_TIMEOUT:-3600} # seconds for each of configure and make
ranks=4
source_tree=
work=
keep=no

say() { printf 'in-tree: %s\n' "$*" >&2; }
die() { say "$*"; exit 2; }

while [ $# -gt 0 ]; do
    case $1 in
    --source) source_tree=$(cd "${2:?}" && pwd) || exit 2; shift 2 ;;
    --work) mkdir -p "${2:?}" && work=$(cd "$2" && pwd) && keep=yes; shift 2 ;;
    *) die 'usage: tests/versions/in-tree.sh [--source DIR] [--work DIR]' ;;
    esac
done
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

# Debian's source package, from the mirrors that apt uses here, without changing apt's own sources.
fetch_source() {
    local apt=$work/apt sources
    mkdir -p "$apt/lists/partial" "$apt/parts"
    sources=$apt/parts/clv.list
    apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) main' 'Created-By: Packages' \
        'Origin: Debian' 'Component: main' | sort -u >"$sources"
    [ -s "$sources" ] || die 'apt on this machine has no Debian mirror'
    local options=(-o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$apt/parts"
        -o "Dir::State::lists=$apt/lists" -o APT::Sandbox::User=root)
    (cd "$work" && timeout 600 apt-get -qq "${options[@]}" update &&
        timeout 600 apt-get -qq "${options[@]}" source --only-source openmpi) \
        >"$log/fetch" 2>&1 || die "fetching the source failed, see $log/fetch"
    mv "$work"/openmpi-[0-9]*/ "$tree"
}

# Our files as git knows them: building in the link must not leave anything in the working tree.
copy_ourselves() {
    mkdir -p "$work/clv"
    git -C "$top" ls-files -z --cached --others --exclude-standard |
        (cd "$top" && while IFS= read -r -d '' file; do
            [ ! -e "$file" ] || printf '%s\0' "$file"
        done | tar -c --null -T -) | tar -x -C "$work/clv"
    ln -sfn "$work/clv" "$tree/ompi/mca/coll/clv"
}

# The release tarball leaves a generated file out that Debian's packaging makes first.
run_autogen() {
    (cd "$tree/config" &&
        autom4te --language=m4sh opal_get_version.m4sh -o opal_get_version.sh) &&
        (cd "$tree" && timeout "$limit" ./autogen.pl --force)
}

run_configure() {
    mkdir -p "$build"
    (cd "$build" && timeout "$limit" "$tree/configure" --prefix="$prefix" CFLAGS=-O1 \
        --disable-mpi-fortran --disable-mpi-cxx --disable-oshmem --disable-io-romio \
        --disable-man-pages --with-hwloc=external --with-libevent=external \
        --with-pmix="$(pkg-config --variable=prefix pmix)" --without-ucx --without-libfabric \
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
    (cd "$work/clv" && with_prefix mpicc -std=gnu11 -D_GNU_SOURCE -O2 -I. examples/transport/*.c \
        trace/trace.c util/*.c -lm \
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

[ -d "$tree" ] || if [ -n "$source_tree" ]; then
    cp -a "$source_tree" "$tree"
else
    say 'fetching the source package ...'
    fetch_source
fi

copy_ourselves
if [ -x "$prefix/bin/mpirun" ]; then
    echo 1..10
    step 'make and install the component' make_component
else
    echo 1..12
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
say "$n of $n steps, $(with_prefix ompi_info --version | head -n 1)"
