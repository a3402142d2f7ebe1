#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: the programs of others under coll_clv_record: OSU's benchmarks (blocking, nonblocking, persistent where
# they are built) and Intel's (MPI1, NBC). Each runs with Open MPI alone and recorded; its sizes and its own checks
# of results must be the same, every check passed, and every call of every rank recorded. Given are folders in which
# they were built, as their authors say; nothing of them is in this project. A minute for OSU's, one for Intel's.
# And LAMMPS, which melts a crystal: its result must be the same, and clv-view name the rank that causes most of the
# waiting, by a sum of its own over single calls. 10 s; as ranks share processors, more beside other work.
#
#   tests/suites/recorded.sh [--osu FOLDER] [--imb FOLDER] [--lammps lmp] [--ranks 4]
#
#   osu   OSU micro-benchmarks from 7.0 on (they check results): ./configure CC=mpicc CXX=mpicxx && make -C c/util
#         && make -C c/mpi/collective; FOLDER is their top
#   imb   github.com/intel/mpi-benchmarks: make IMB-MPI1 IMB-NBC CC=mpicc CXX=mpicxx CPPFLAGS=-DCHECK; likewise
#   lammps  Debian's package lammps (`lmp` where it is installed)
set -u
export LC_ALL=C CLV_TOP=${CLV_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
export CLV_BUILD=${CLV_BUILD:-$CLV_TOP/build}
. "$CLV_TOP/tests/support/tap.sh"
top=$CLV_TOP
usage() { sed -n '4,18s/^# \{0,1\}//p' "$0"; }
. "$CLV_TOP/apps/cli/options.sh" || exit 4
ranks=4
declare -A given
options_split "$@"
set -- "${options[@]}"
while [ $# -gt 0 ]; do
    case $1 in
        --ranks) options_value "$@"; ranks=$2; shift ;;
        --osu|--imb|--lammps) options_value "$@"; given[${1#--}]=$2; shift ;;
        *) options_other "$1" ;;
    esac
    shift
done
[[ $ranks =~ ^[1-9][0-9]?$ ]] || options_wrong "--ranks must be 1 to 99, not '$ranks'"
mpi_setup
view=$CLV_BUILD/apps/tools/clv-view
work=$(mktemp -d)
output=$work/alone
trap 'rm -rf "$work"' EXIT

# Lines of a size: it, and what its last column says of the check. Others (barriers) have no check.
checks() { awk '$1 ~ /^[0-9]+$/ && ($NF ~ /Pass|Fail/ || NF >= 6) { print $1, $NF }' "$1"; }
bad() { checks "$1" | grep -cvE ' (Pass|0\.00)$'; }
number() { "$view" --json "$work/record" 2>/dev/null | sed -n "1s/.*\"$1\":\([0-9]*\).*/\1/p"; }
lacking() { "$view" --json "$work/record" | sed -n 's/^{"stream".*"incomplete":\([0-9]*\).*/\1/p' | awk '{ n += $1 } END { print n + 0 }'; }

compare() { # name command...
    local name=$1 status
    shift
    rm -rf "$work/record"
    mpi_run -np "$ranks" --mca mpi_yield_when_idle 1 --mca coll '^clv' "$@" >"$work/alone"
    status=$?
    tap_report $status "$name runs alone"
    [ $status -eq 0 ] || return
    mpi_run -np "$ranks" --mca mpi_yield_when_idle 1 --mca coll_clv_record "$work/record" "$@" >"$work/recorded"
    tap_report $? "$name runs recorded"
    checks "$work/alone" >"$work/alone.checks"
    checks "$work/recorded" >"$work/recorded.checks"
    tap_ok "the same sizes and checks: $(wc -l <"$work/recorded.checks")" cmp "$work/alone.checks" "$work/recorded.checks"
    tap_ok 'and all are right' test "$(bad "$work/recorded")" -eq 0
    tap_ok "calls are recorded: $(number calls), and $(number requests) with a request" test "$(($(number calls) + $(number requests)))" -gt 0
    tap_ok 'of all ranks, none dropped' test "$(lacking) $(number dropped)" = '0 0'
}

if [ -n "${given[osu]:-}" ]; then
    # Of characters some of its own sums overflow.
    for program in "${given[osu]}"/c/mpi/collective/{blocking,non_blocking,persistent}/osu_*; do
        case $program in
            *.c|*.o|*alltoallw*|*neighbor*) continue ;;
        esac
        [ ! -x "$program" ] || [ -d "$program" ] ||
            compare "${program##*/}" "$program" -m 4:4096 -i 20 -x 2 $(case $program in *barrier*) ;; *) echo -c -T mpi_int ;; esac)
    done
else
    tap_skip "OSU's benchmarks" 'not given (--osu)'
fi
if [ -n "${given[imb]:-}" ]; then
    compare 'IMB-MPI1' "${given[imb]}/IMB-MPI1" -npmin "$ranks" -msglog 0:12 -iter 20 Bcast Reduce Allreduce Allgather \
        Allgatherv Alltoall Alltoallv Gather Gatherv Scatter Scatterv Reduce_scatter Reduce_scatter_block Barrier
    compare 'IMB-NBC' "${given[imb]}/IMB-NBC" -npmin "$ranks" -msglog 0:12 -iter 20 Ibcast Ireduce Iallreduce Iallgather \
        Iallgatherv Ialltoall Ialltoallv Igather Igatherv Iscatter Iscatterv Ireduce_scatter Ibarrier
else
    tap_skip "Intel's benchmarks" 'not given (--imb)'
fi

# ---- LAMMPS

melt() { # name options of mpirun...
    local name=$1
    shift
    (cd "$work" && mpi_run -np "$ranks" --mca mpi_yield_when_idle 1 "$@" "$lammps" -in "$top/tests/suites/recorded.lammps") >"$work/$name"
}
result() { grep -o '^result: .*' "$work/$1"; }
# Of each call all waits to who was last: the rank with most of it, and its part; the one that was last most often.
by_call() {
    "$view" --export jsonl "$work/record" | awk -F '[:,}]' '
        /"last"/ { key = $2 "," $4; wait[key] += $22; all += $22; if ($24) last[key] = $8 }
        END { for (key in last) { n[last[key]]++; caused[last[key]] += wait[key] }
              for (rank in n) { if (caused[rank] > most) { most = caused[rank]; worst = rank } if (n[rank] > often) { often = n[rank]; who = rank } }
              printf "rank %d causes %.1f %%; last most often is rank %d, which causes %.1f %%", worst, 100 * most / all, who, 100 * caused[who] / all }'
}
lammps=$(command -v "${given[lammps]:-lmp}")
if [ -n "$lammps" ]; then
    rm -rf "$work/record"
    melt alone --mca coll '^clv' && melt recorded --mca coll_clv_record "$work/record"
    tap_report $? 'LAMMPS runs, alone and recorded'
    tap_ok "its result is the same: $(result alone)" test "$(result alone)" = "$(result recorded)" -a -n "$(result alone)"
    "$view" "$work/record" >"$work/summary"
    truth=$(by_call)
    named=$(sed -n 's/^\(rank [0-9]*\) causes .*/\1/p' "$work/summary" | head -n 1)
    tap_ok "call by call $truth; named is $named" test "$named" = "${truth%% causes*}"
    sed 's/^/# /' "$work/summary"
else
    tap_skip 'LAMMPS' 'not installed (--lammps)'
fi
tap_end
