#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: who else reads and writes OTF2. What clv-correct wrote opens in otf2-print, python3-otf2 and VITE; a
# trace of EZTrace, as far as it is complete, is corrected; without OTF2 configure says that the tool is not built.
#
#   tests/suites/otf2_readers.sh     1 minute; installs Debian's packages where they are missing, as root
set -u
CLV_TOP=$(cd "$(dirname "$0")/../.." && pwd)
CLV_BUILD=${CLV_BUILD:-$CLV_TOP/build}
export LC_ALL=C CLV_TOP CLV_BUILD
. "$CLV_TOP/tests/support/tap.sh"
correct=$CLV_BUILD/apps/tools/clv-correct
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

has() { # PROGRAM PACKAGE
    command -v "$1" >/dev/null || { [ "$(id -u)" -eq 0 ] &&
        apt-get -qq install -y --no-install-recommends "$2" >/dev/null 2>&1 && command -v "$1" >/dev/null; }
}
has_python() {
    /usr/bin/python3 -c 'import otf2' 2>/dev/null || { [ "$(id -u)" -eq 0 ] &&
        apt-get -qq install -y --no-install-recommends python3-otf2 >/dev/null 2>&1 && /usr/bin/python3 -c 'import otf2'; }
}

# ---- what was written opens
read -r _ events _ < <("$CLV_BUILD/tests/support/otf2_make" in 8 2 300 1)
"$correct" in/traces.otf2 -o out --quiet
tap_ok 'a trace is corrected' [ $? -eq 0 ]
if has otf2-print otf2-tools; then
    shown() { otf2-print "$1/traces.otf2" 2>/dev/null | grep -cE '^[A-Z_]+ +[0-9]+ +[0-9]+'; }
    tap_ok 'otf2-print shows as many events as before' test "$(shown out)" = "$(shown in)"
    tap_ok 'which are some' test "$(shown out)" -gt 2000
else
    tap_skip 'otf2-print shows as many events as before' 'it is not there'
fi
if has_python; then
    counted=$(/usr/bin/python3 - <<'PY'
import otf2
with otf2.reader.open("out/traces.otf2") as trace:
    last, n = {}, 0
    for location, event in trace.events:
        assert event.time >= last.get(location, 0)
        last[location] = event.time
        n += 1
print(n)
PY
    )
    tap_ok 'python3-otf2 reads every event, in order' test "$counted" = "$events"
else
    tap_skip 'python3-otf2 reads every event, in order' 'it is not there'
fi
if has vite vite; then
    QT_QPA_PLATFORM=offscreen timeout 120 vite -e picture.svg out/traces.otf2 >vite.txt 2>&1
    tap_ok 'VITE draws it' grep -q '<svg' picture.svg
else
    tap_skip 'VITE draws it' 'it is not there'
fi

# ---- EZTrace
if has eztrace eztrace; then
    mpi_setup
    cat >ring.c <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
    int rank, n, in = 0, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    for (int i = 0; i < 100; i++) {
        if (rank > 0) MPI_Recv(&in, 1, MPI_INT, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&in, 1, MPI_INT, (rank + 1) % n, 7, MPI_COMM_WORLD);
        if (rank == 0) MPI_Recv(&in, 1, MPI_INT, n - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    return MPI_Finalize();
}
END
    mpicc -o ring ring.c
    mpi_run -np 3 eztrace -t openmpi -o "$scratch/ez" ./ring >ez.txt 2>&1
    archive=$(find ez* -name '*.otf2' 2>/dev/null | head -n 1)
    tap_ok 'EZTrace records' [ -n "$archive" ]
    # Each process counts from its own zero.
    "$correct" "$archive" -o ez.out --clock-per process >ez.report 2>&1
    tap_ok 'its trace is corrected' [ $? -eq 0 ]
    tap_ok 'nothing is violated in what is complete' grep -qE '^  all .* 0 +0$' ez.report
    sed 's/^/# /' ez.report | head -n 12
else
    tap_skip 'EZTrace records' 'it is not there'
fi

# ---- without OTF2
mkdir bare
(cd bare && "$CLV_TOP/configure" --without-otf2 >said 2>&1)
tap_ok 'configure without OTF2 ends well' [ $? -eq 0 ]
tap_has 'and says that clv-correct is not built' 'clv-correct is not built' "$(cat bare/said)"
tap_ok 'which it is not' test "$(make -C bare -n all 2>/dev/null | grep -c 'apps/tools/correct/correct_run')" -eq 0
tap_end
