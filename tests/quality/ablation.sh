#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: which numbers and mechanisms of the choice anything notices. Each row of tests/quality/ablation.txt
# is moved or switched off in a copy of its file, and the closed loop (tests/support/choose_ablate.c: all programs
# under all conditions) and the recorded histories run with it. A line of JSON per variant, then a table.
#
#   tests/quality/ablation.sh [--seeds N] [--first N] [--only off] [--folder DIR] [--table] [NAME ...]
#
# --seeds: of a variant that decides anything else in the first seeds (--first, 2); others end there. --only off:
# without the numbers that are moved. What is done in the folder stays: a run that was stopped goes on. --table: only
# the table of what is there. A variant takes 6 s that nothing notices, else 2 s a seed, of one processor.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${CLV_BUILD:-$top/build}
data=$top/docs/results/data/ablation.jsonl
seeds=20 first=2 folder=$build/ablation table_only="" only=""
while [ $# -gt 0 ]; do
    case $1 in
        --seeds | --first | --folder | --only) [ $# -gt 1 ] || { echo "$1 needs a value" >&2; exit 2; }
            declare "${1#--}=$2"; shift 2 ;;
        --table) table_only=1; shift ;;
        -*) sed -n '/^#   tests/s/^# *//p' "$0"; exit 2 ;;
        *) break ;;
    esac
done
mkdir -p "$folder/work" && folder=$(cd "$folder" && pwd) || exit 2
export CLV_TOP=$top
cd "$top" || exit 2
flags=(-O2 -march=native -std=gnu11 -D_GNU_SOURCE -DHAVE_CONFIG_H "-I$build")
libraries=("$build/libclvtrace.a" "$build/libclvread.a" "$build/.libs/libclvcore.a" -lhwloc -lpthread -lm -lcmocka)
loop=("$top"/tests/support/choose_{ablate,loop,programs}.c)

# objects_of FOLDER SOURCES...: compiles those that are not there yet; their names are in objects.
objects_of() {
    local to=$1 file
    shift
    objects=()
    for file in "$@"; do
        objects+=("$to/${file##*/}.o")
        [ -e "$to/${file##*/}.o" ] ||
            gcc "${flags[@]}" -I"$source" -I"$top" -c "$file" -o "$to/${file##*/}.o" || return 1
    done
}

# make_variant FILE SCRIPT: the programs with this file so changed. A header takes all with it.
make_variant() {
    local source=$folder/work/source sources=("$1") files=() file own=$folder/work/own tests=$folder/work/tests
    rm -rf "$source" "$own"
    mkdir -p "$source/${1%/*}" "$own" "$tests"
    sed -E "$2" "$top/$1" >"$source/$1"
    ! cmp -s "$top/$1" "$source/$1" || { echo "ablation: nothing to change in $1: $2" >&2; return 1; }
    if [[ $1 == *.h ]]; then
        mapfile -t sources < <(cd "$top" && ls choose/*.c "${1%/*}"/*.c | sort -u)
        tests=$own
    fi
    for file in "${sources[@]}"; do
        [ -e "$source/$file" ] || cp --parents "$file" "$source"
        files+=("$source/$file")
    done
    objects_of "$own" "${files[@]}" || return 1
    link_programs variant "$tests" "${objects[@]}"
}

# link_programs NAME FOLDER OBJECTS...: of the tests in the folder, with these in place of the library's.
link_programs() {
    local name=$1 tests=$2
    shift 2
    objects_of "$tests" "${loop[@]}" &&
        gcc "${objects[@]}" "$@" "${libraries[@]}" -o "$folder/work/$name-loop" &&
        objects_of "$tests" "$top/tests/choose/test_choose_replay.c" &&
        gcc "${objects[@]}" "$@" "${libraries[@]}" -o "$folder/work/$name-replay"
}

# compare BASE FORCED VARIANT: what is worse, and how often something else ran.
compare() {
    paste -d'|' "$1" "$2" "$3" | awk -F'|' '
        { end = $18 / $11; half = $19 / $12; was = $4 / $11; n++; sum += end; sum_was += was; halves += half; halves_was += $5 / $12
          other += $7 != $21; if (end > worst) { worst = end; where = $1 ", " $2 " (" $3 ")" }
          if (was > worst_was) worst_was = was
          if (half > worst_half) worst_half = half
          if ($2 !~ /later|changing/ && $1 != "void" && $20 > regret) regret = $20
          by[$1] += end - was; of[$1]++ }
        END { printf "\"runs\":%d,\"other\":%d,\"mean\":%.5f,\"mean_was\":%.5f,\"worst\":%.4f,\"worst_was\":%.4f,", n, other, sum / n, sum_was / n, worst, worst_was
              printf "\"half\":%.5f,\"half_was\":%.5f,\"worst_half\":%.4f,\"regret\":%.2f,\"where\":\"%s\"", halves / n, halves_was / n, worst_half, regret, where
              for (c in by) printf ",\"%s\":%.5f", c, by[c] / of[c] }'
}

# run_variant NAME VARIANT FILE SCRIPT
run_variant() {
    local out=$folder/$1.$2.json n=$first histories said
    [ ! -s "$out" ] || return 0
    [[ -z $only || $2 == off* ]] || return 0
    make_variant "$3" "$4" || return 0
    "$folder/work/variant-loop" auto 1 "$first" >"$folder/work/said" || { echo "ablation: $1 $2 fails" >&2; return 0; }
    if ! cmp -s "$folder/work/said" "$folder/base-$first"; then
        n=$seeds
        "$folder/work/variant-loop" auto $((first + 1)) $((seeds - first)) >>"$folder/work/said" || return 0
    fi
    said=$("$folder/work/variant-replay" 2>&1)
    histories=$(grep -c '^# was' <<<"$said")
    echo "{\"name\":\"$1\",\"variant\":\"$2\",\"file\":\"$3\",\"seeds\":$n,\"histories\":$histories,$(compare "$folder/base-$n" "$folder/forced-$n" "$folder/work/said")}" >"$out.new"
    mv "$out.new" "$out"
    cat "$out"
}

value_of() { sed -nE "s/^(#define |    XX\()$1,? +\(?([0-9]+).*/\2/p" "$top/$2" | head -n 1; }
scaled() { # value percent: at least one more or less
    local to=$((($1 * $2 + 50) / 100))
    [ "$to" -ne "$1" ] || to=$(($2 < 100 ? $1 - 1 : $1 + 1))
    echo "$to"
}
set_script() { echo "s/^((#define |    XX\()$1,? +\(?)[0-9]+/\1$2/"; }

run_row() { # name file how off
    local now low high
    if [ "$3" = off ]; then
        run_variant "$1" off "$2" "$4"
        return
    fi
    now=$(value_of "$1" "$2")
    [ -n "$now" ] || { echo "ablation: no number $1 in $2" >&2; return; }
    if [ "$3" = share ]; then
        low=$((1000 - (1000 - now) * 3 / 10)) high=$((1000 - (1000 - now) * 2))
    else
        low=$(scaled "$now" 60) high=$(scaled "$now" 160)
    fi
    [ "$4" = - ] || run_variant "$1" "off=$4" "$2" "$(set_script "$1" "$4")"
    run_variant "$1" "$low" "$2" "$(set_script "$1" "$low")"
    run_variant "$1" "$high" "$2" "$(set_script "$1" "$high")"
}

base() {
    [ ! -s "$folder/forced-$seeds" ] || return 0
    rm -rf "$folder/work"
    source=$folder/work/source
    mkdir -p "$folder/work/tests"
    link_programs base "$folder/work/tests" && "$folder/work/base-loop" auto 1 "$seeds" >"$folder/base-$seeds" &&
        "$folder/work/base-loop" forced 1 "$seeds" >"$folder/work/forced" || return 1
    awk -F'|' -v n="$first" '$3 <= n' "$folder/base-$seeds" >"$folder/base-$first"
    awk -F'|' -v n="$first" '$3 <= n' "$folder/work/forced" >"$folder/forced-$first"
    mv "$folder/work/forced" "$folder/forced-$seeds"
}

# The rows of the page, of what is kept in docs/results/data.
table() {
    echo '| moved | to | seeds | runs otherwise | histories | last quarter / best | worst | regret, permille | today |'
    echo '|---|---|---|---|---|---|---|---|---|'
    awk -v rows="$top/tests/quality/ablation.txt" '
        function text(name) { return match($0, "\"" name "\":\"[^\"]*\"") ? substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 5) : "" }
        function number(name) { return match($0, "\"" name "\":[0-9.-]*") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) : 0 }
        BEGIN { while ((getline line < rows) > 0) { split(line, part, "|"); stays[part[1]] = 1 } }
        { printf "| %s | %s | %d | %d of %d | %d | %.5f (%+.5f) | %.4f (%+.4f) | %.1f | %s |\n", text("name"), text("variant"), number("seeds"),
                 number("other"), number("runs"), number("histories"), number("mean"), number("mean") - number("mean_was"),
                 number("worst"), number("worst") - number("worst_was"), number("regret"), text("now") != "" ? text("now") : text("name") in stays ? "stays" : "gone" }' "$data"
}
if [ -n "$table_only" ]; then
    page=$top/docs/design/ablation.md
    { sed '/^| moved/,$d' "$page"; table; } >"$folder/page" && cp "$folder/page" "$page"
    exit
fi
base || exit 1
while IFS='|' read -r name file how off; do
    [[ -n $name && $name != \#* ]] || continue
    [ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
    run_row "$name" "$file" "$how" "$off"
done <"$top/tests/quality/ablation.txt"
