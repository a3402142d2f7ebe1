#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: MPICH's own tests of collectives (test/mpi/coll of Debian's source package, fetched here, never
# committed), compiled against this machine's Open MPI: Open MPI alone, then clv with every algorithm.
# A test fails with clv where it passes without and ends in another way with.
#
#   tests/suites/mpich.sh [--modes WORD] [--tests WORD]     regular expressions; all without
#
# Modes: stock (Open MPI alone), auto (clv chooses), and every algorithm that ompi_info knows forced for
# the collectives that have it, with the others taking turns, so that each mode forces all three
# collectives. Each call from 1 byte and 2 ranks on is clv's. stock and auto run the whole list, the
# others (and stock without auto) what calls one of our collectives itself. TAP: a point per mode, and a
# table last.
# What Open MPI itself does not pass or does not have (persistent collectives before 5.0) is counted apart.
# Needs a Debian machine with its sources reachable, and a compiler; 20 minutes on two cores, 60 MB in
# CLV_SUITES (~/.cache/clv/suites), kept for the next time.
set -uo pipefail
export CLV_TOP=${CLV_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
export CLV_BUILD=${CLV_BUILD:-$CLV_TOP/build}
. "$CLV_TOP/tests/support/tap.sh"
suites=${CLV_SUITES:-${XDG_CACHE_HOME:-$HOME/.cache}/clv/suites}
tap_limit=${CLV_LIMIT:-60} wanted=. tests=.
while [ $# -gt 0 ]; do
    case $1 in
    --modes) wanted=${2:?}; shift ;;
    --tests) tests=${2:?}; shift ;;
    *) sed -n '4,18p' "$0" >&2; exit 2 ;;
    esac
    shift
done
mpi_setup
export OMPI_MCA_mpi_yield_when_idle=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
give_up() { printf 'mpich: %s\n' "$*" >&2; exit 4; }

# ---- the source, and programs made of it ----

# Debian's mirror as apt here knows it, asked for sources in lists of our own: nothing of apt changes.
fetch() {
    local from suite folder=$suites/source
    command -v apt-get >/dev/null || give_up 'needs a Debian machine'
    from=$(apt-get indextargets --format '$(REPO_URI) $(SUITE) $(RELEASE)' 'Created-By: Packages' \
        'Origin: Debian' 'Component: main' | grep -v security | head -n 1)
    suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-sid}")
    mkdir -p "$folder/lists/partial" "$folder/archives/partial" && cd "$folder" || exit 2
    echo "deb-src ${from%% *} $suite main" >list
    local options=(-qq -o "Dir::Etc::sourcelist=$folder/list" -o Dir::Etc::sourceparts=-
        -o "Dir::State::lists=$folder/lists" -o "Dir::Cache=$folder" -o APT::Sandbox::User=root)
    apt-get "${options[@]}" update && apt-get "${options[@]}" source --download-only mpich >&2 &&
        tar -xf mpich_*.orig.tar.* && mv mpich-*/ mpich || give_up 'the source package cannot be fetched'
}

# With the declarations of MPI-1 that its helpers still name.
make_programs() {
    local make=(make -k -j2 CPPFLAGS=-DOMPI_OMIT_MPI1_COMPAT_DECLS=0)
    mkdir -p "$programs" && cd "$programs" || exit 2
    "$suites/source/mpich/test/mpi/configure" --enable-strictmpi --disable-fortran --disable-cxx \
        --disable-spawn --with-mpi=/usr CC=mpicc MPICC=mpicc >configure.log 2>&1 ||
        give_up "configure failed, see $programs/configure.log"
    { "${make[@]}" -C util; "${make[@]}" -C dtpools; "${make[@]}" -C coll check TESTS=; } >make.log 2>&1
    [ -x coll/allred ] || give_up "nothing was made, see $programs/make.log"
    : >made
}

# ---- a test ----

# Its own words for all right, or how it ended. What clv says (which plan ran) is among them.
how_it_ends() { # program ranks arguments...
    local program=$1 ranks=$2 status=0
    shift 2
    mpi_run -n "$ranks" "${options[@]}" "./$program" "$@" >"$work/said" || status=$?
    if [ $status -eq 124 ] || [ $status -eq 137 ]; then
        echo "stands still after $tap_limit s"
    elif [ $status -eq 0 ] && grep -q 'No Errors' "$work/said" && ! grep -q 'Found [0-9]* errors' "$work/said"; then
        echo passes
    else
        echo fails
    fi
}

# The lines of a list whose program calls one of our collectives; all call a reduce of the test library's
# at their end.
calls_ours() {
    local line object
    while read -r line; do
        for object in "${line%% *}".o "${line%% *}"-*.o; do
            ! nm -u "$object" 2>/dev/null | grep -qE ' MPI_(Reduce|Allreduce|Bcast)$' || echo "$line"
        done
    done
}

# A line of the list: program, ranks, then arg=... and what is not for us.
arguments_of() { printf '%s\n' "$@" | sed -n 's/^arg=//p'; }

run_mode() { # mode
    local mode=$1 program ranks rest name how runs=0 passes=0 better=0 with=0 differ=()
    while read -r program ranks rest; do
        [ -x "$programs/coll/$program" ] || continue
        # shellcheck disable=SC2046,SC2086 # words
        how=$(how_it_ends "$program" "$ranks" $(arguments_of $rest))
        name="$program $ranks${rest:+ $rest}"
        [ "$mode" != stock ] || stock[$name]=$how
        runs=$((runs + 1))
        [[ $how != passes ]] || passes=$((passes + 1))
        ! grep -qE 'coll:clv: .*: [a-z_]+, because ' <(grep -v ': previous, because' "$work/said") ||
            with=$((with + 1))
        [ "$how" != "${stock[$name]:=not run}" ] || continue
        [[ ${stock[$name]} == passes ]] || { better=$((better + 1)); continue; }
        differ+=("$name: $how; stock: ${stock[$name]}")
        tail -n 15 "$work/said" | sed 's/^/#   /'
    done <"$work/list"
    rows+=("| \`$mode\` | $runs | $passes | $((runs - better - ${#differ[@]})) | $better | $with |")
    [ "$mode" = stock ] || [ "$mode" = auto ] || [ $with -gt 0 ] || differ+=('no plan or algorithm of clv ran')
    [ ${#differ[@]} -eq 0 ]
    tap_point $? "$mode: $passes of $runs pass, clv ran its own in $with"
    [ ${#differ[@]} -eq 0 ] || printf '#   %s\n' "${differ[@]}"
}

# ---- modes ----

# The words of one collective's algorithms that make plans or run one of its own: read from Open MPI.
words() { # collective
    sed -n "s/.*coll_clv_$1_algorithm:enumerator:value:[0-9]*://p" "$work/parameters" | grep -v '^previous$'
}
ours() { # reduce allreduce bcast
    options=(--mca coll clv --mca coll_clv_collectives reduce,allreduce,bcast --mca coll_clv_min_ranks 2
        --mca coll_clv_verbose 10)
    local name
    for name in reduce allreduce bcast; do options+=(--mca "coll_clv_${name}_min_bytes" 1); done
    for name in reduce allreduce bcast; do options+=(--mca "coll_clv_${name}_algorithm" "$1"); shift; done
}
run_forced() {
    local all_of_all=(plain_ring cut_ring helper_trees) one i=0
    for one in $(words reduce | grep -vxE 'plain_ring|cut_ring|helper_trees|out_chain'); do
        ours "$one" "${all_of_all[i++ % 3]}" out_chain
        [[ $one =~ $wanted ]] && run_mode "$one"
    done
}

programs=$suites/mpich-$(mpirun --version | sed -n '1s/.* v\{0,1\}//p')
[ -d "$suites/source/mpich" ] || fetch
[ -e "$programs/made" ] || make_programs
cd "$programs/coll" || exit 2
sed -E '/^#/d; /^ *$/d; /^@/d' "$suites/source/mpich/test/mpi/coll/testlist.in" | grep -E "$tests" >"$work/list"
ompi_info --param coll clv --level 9 --parsable >"$work/parameters" 2>/dev/null
declare -A stock
missing=$(cut -d' ' -f1 "$work/list" | while read -r one; do [ -x "$one" ] || echo; done | wc -l)
rows=()
options=(--mca coll '^clv')
mv "$work/list" "$work/all"
calls_ours <"$work/all" >"$work/ours"
cp "$work/ours" "$work/list"
[[ ! auto =~ $wanted ]] || cp "$work/all" "$work/list"
run_mode stock
ours auto auto auto
[[ ! auto =~ $wanted ]] || run_mode auto
cp "$work/ours" "$work/list"
run_forced
printf '\n| mode | tests | pass | as stock | stock fails, this passes | ran an algorithm of clv |\n|---|---|---|---|---|---|\n'
printf '%s\n' "${rows[@]}" "$missing tests of the list are not in this Open MPI" "$(ompi_info --version | head -n 1), MPICH $(sed -n 's/^MPICH_VERSION_m4=//p; s/.*\[MPICH_VERSION_m4\],\[\(.*\)\].*/\1/p' "$suites/source/mpich/maint/version.m4" | head -n 1)"
tap_end
