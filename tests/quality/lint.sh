#!/bin/bash
# Opt-in: clang-tidy (rules in .clang-tidy) and cppcheck over every C file. A finding fails. TAP;
# about 3 minutes on 2 cores.
#
#   tests/quality/lint.sh [FILE...]      all .c files without arguments
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top" || exit 2
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
mapfile -t includes < <(mpi_includes)

tidy_one() {
    clang-tidy --quiet --warnings-as-errors='*' "$1" -- -std=gnu11 -D_GNU_SOURCE -I. \
        -DCLV_HELP_DIR='""' "${@:2}" 2>/dev/null
}
export -f tidy_one

tidy() {
    printf '%s\0' "${sources[@]}" |
        xargs -0 -P "$(nproc)" -I{} bash -c 'tidy_one "$@"' bash {} "${includes[@]}"
}

# Outputs written on success only look uninitialised to cppcheck; clang's analyser follows them.
check() {
    cppcheck --quiet --std=c11 --inline-suppr --error-exitcode=1 -j "$(nproc)" -I. \
        --enable=warning,performance,portability \
        --suppress=missingIncludeSystem --suppress=internalAstError --suppress=uninitStructMember --suppress=uninitdata --suppress='*:*openmpi/*' \
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
