#!/bin/bash
# Opt-in: clang-tidy (rules in .clang-tidy) and cppcheck over every C file. A finding fails. Builds first,
# since some sources are made. TAP; about 3 minutes on 2 cores.
#
#   tests/quality/lint.sh [FILE...]      all .c files without arguments
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top" || exit 2
"$top/clv" build >&2 || exit 2
[ $# -gt 0 ] || mapfile -t sources < <(git ls-files --cached --others --exclude-standard '*.c')
[ $# -eq 0 ] || sources=("$@")

# Where mpi.h and Open MPI's internal headers are; nothing when there is no Open MPI.
mpi_includes() {
    local folder
    for folder in $(mpicc --showme:incdirs 2>/dev/null); do
        printf '%s\n' -isystem "$folder" -isystem "$folder/openmpi"
    done
    printf '%s\n' -idirafter coll_clv/shim
}
mapfile -t includes < <(mpi_includes; printf "%s\n" "-I${CLV_BUILD:-build}")
[ ! -e /usr/include/hwloc.h ] || includes+=('-DCLV_HAVE_HWLOC=<hwloc.h>')

tidy_one() {
    clang-tidy --quiet --warnings-as-errors='*' "$1" -- -std=gnu11 -D_GNU_SOURCE -I. \
        "${@:2}" 2>/dev/null
}
export -f tidy_one

# Headlines that are not in known-findings.txt; fails when there is one.
tidy() {
    local headlines
    headlines=$(printf '%s\0' "${sources[@]}" |
        xargs -0 -P "$(nproc)" -I{} bash -c 'tidy_one "$@"' bash {} "${includes[@]}" |
        grep -E ': (error|warning): ' | sed "s|^$top/||" | sort -u)
    while read -r file check _; do
        case $file in '' | '#'*) continue ;; esac
        headlines=$(grep -vE "^${file//./\\.}:.*\\[${check//./\\.}[],]" <<<"$headlines")
    done <"$top/tests/quality/known-findings.txt"
    [ -z "$headlines" ] || { echo "$headlines"; return 1; }
}

# Outputs written on success only look uninitialised to cppcheck; clang's analyser follows them. A job points at
# a variable of the call it is part of.
check() {
    cppcheck --quiet --std=c11 --inline-suppr --error-exitcode=1 -j "$(nproc)" -I. '-DCLV_HAVE_HWLOC=<hwloc.h>' \
        --enable=warning,performance,portability \
        --suppress=missingIncludeSystem --suppress=internalAstError --suppress=uninitStructMember --suppress=uninitdata --suppress=uninitvar --suppress=ctuuninitvar --suppress='*:*openmpi/*' \
        --suppress=objectIndex:pap_predict/pap_leader.c --suppress=autoVariables:coll_clv/coll_clv_bcast.c \
        "${sources[@]}" 2>&1
}

echo 1..2
failed=0
report() {
    local status=$1 name=$2 output=$3
    [ -z "$output" ] || echo "$output" | sed 's/^/# /'
    [ "$status" -eq 0 ] || { failed=1; printf 'not '; }
    echo "ok $name"
}
output=$(tidy); report $? "1 - clang-tidy, ${#sources[@]} files" "$output"
output=$(check); report $? "2 - cppcheck, ${#sources[@]} files" "$output"
exit $failed
