#!/bin/bash
# Unchanged programs in C, Fortran and Python: as installed, with the pipeline forced and with clv their
# results are right, and a page gets their times; and clv.h's functions from Fortran and Python. TAP; what is not
# installed is left out. 25 s.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
source=$CLV_TOP/apps/examples/languages
export OMPI_MCA_mpi_yield_when_idle=1

printf '%s\n' above '<!-- languages -->' old '<!-- end -->' below >"$work/page.md"
said=$("$CLV_TOP/apps/examples/run_languages.sh" --no-install --hosts=3 --calls 4 --page "$work/page.md" 2>&1)
tap_point $? 'programs in three languages are right in every way'
echo "$said" | grep -v '^|' | sed 's/^/# /'
rows() { grep -cE '^\| [A-Z][^|]* \|( [0-9.]+ \|){6}$' "$work/page.md"; }
tap_ok 'C at least is there' test "$(rows)" -ge 1
tap_ok 'the page has a row for each, between its marks' test "$(rows)" -eq "$(grep -c '^| [A-Z]' <<<"$said")"
tap_ok 'and nothing else is changed' test "$(grep -xE 'above|old|below|<!-- .* -->' "$work/page.md" | xargs)" = 'above <!-- languages --> <!-- end --> below'

# ---- hints: with one before every call of a few, some are taken.
if command -v mpifort >/dev/null && mpicc -I"$CLV_TOP" -c -o "$work/hint.o" "$source/clv_hint.c" &&
    cat "$source/clv_hint.f90" - >"$work/try.f90" <<'END' && (cd "$work" && mpifort -o try try.f90 hint.o -ldl) >"$work/log" 2>&1
program try
    use mpi_f08
    use clv_hint
    use, intrinsic :: iso_c_binding, only: c_long_long
    implicit none
    double precision :: mine(65536) = 1, total(65536)
    integer :: i, rank, taken = 0, told = 0, step
    integer(c_long_long) :: expected = -1
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    do i = 1, 12
        taken = taken + clv_hint_arrival(MPI_COMM_WORLD%MPI_VAL, 2000000_c_long_long)
        call MPI_Reduce(mine, total, size(mine), MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD)
        expected = clv_expected_wait_ns(MPI_COMM_WORLD%MPI_VAL)
    end do
    do i = 1, 12
        do step = 0, 9
            told = told + clv_hint_progress(MPI_COMM_WORLD%MPI_VAL, dble(step), 10d0)
        end do
        call MPI_Reduce(mine, total, size(mine), MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD)
    end do
    if (rank == 0) print '(a,i0)', 'taken ', taken
    if (rank == 0) print '(a,i0)', 'told ', told
    if (rank == 0) print '(a,i0)', 'expected ', expected
    call MPI_Finalize()
end program
END
then
    said=$(mpi_run -np 3 --mca coll clv "$work/try")
    tap_ok 'a Fortran program announces its arrivals' grep -qE '^ *taken [1-9]' <<<"$said"
    tap_ok 'and reports its progress' grep -qE '^ *told [1-9]' <<<"$said"
    tap_ok 'and asks how long it will wait' grep -qE '^ *expected -?[0-9]' <<<"$said"
    said=$(mpi_run -np 3 "$work/try")
    tap_ok 'to nobody where clv is not used' grep -qx ' *taken 0' <<<"$said"
else
    tap_skip 'a Fortran program announces its arrivals' 'no Fortran compiler of Open MPI'
fi
python=$(for each in $(type -ap python3); do "$each" -c 'import mpi4py, numpy' 2>/dev/null && echo "$each" && break; done)
if [ -n "$python" ]; then
    cat >"$work/try.py" <<'END'
import time
import numpy
from mpi4py import MPI
from clv_hint import expected_wait_ns, hint_arrival, hint_progress
mine, total, taken, told, known = numpy.ones(65536), numpy.zeros(65536), 0, 0, 0
for _ in range(12):
    taken += hint_arrival(MPI.COMM_WORLD, 2_000_000)
    if MPI.COMM_WORLD.rank == 1:
        time.sleep(0.01)
    MPI.COMM_WORLD.Allreduce(numpy.ones(1), numpy.zeros(1))
    MPI.COMM_WORLD.Reduce(mine, total, root=0)
    known += expected_wait_ns(MPI.COMM_WORLD) is not None
for _ in range(12):
    told += sum(hint_progress(MPI.COMM_WORLD, step, 10) for step in range(10))
    MPI.COMM_WORLD.Reduce(mine, total, root=0)
if MPI.COMM_WORLD.rank == 0:
    print("taken", taken)
    print("told", told)
    print("known", known)
END
    said=$(PYTHONPATH=$source PYTHONDONTWRITEBYTECODE=1 mpi_run -np 3 --mca coll clv --mca coll_clv_wait sleep "$python" "$work/try.py")
    tap_ok 'a Python program announces its arrivals' grep -qE '^taken [1-9]' <<<"$said"
    tap_ok 'and reports its progress' grep -qE '^told [1-9]' <<<"$said"
    tap_ok 'and asks how long it will wait' grep -qE '^known [0-9]' <<<"$said"
else
    tap_skip 'a Python program announces its arrivals' 'no Python with mpi4py'
fi
tap_end
