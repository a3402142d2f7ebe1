#!/bin/bash
# clv-predict over all traces of tests/data/traces: the default is close to the best predictor for
# each, its sigma is honest, and the pure predictors' errors are those of tests/data/predictor-errors.txt.
# `--table` prints that file anew. About 1 s.
. "$CLV_TOP/tests/support/tap.sh"
expected=$CLV_TOP/tests/data/predictor-errors.txt
traces=$CLV_TOP/tests/data/traces
scores=$("$CLV_BUILD/apps/tools/clv-predict" --csv "$traces"/*.txt)

# A line per trace and pure predictor: root of the mean squared error in us. `best` follows the others, so
# its figures change with each that is added.
errors() {
    awk -F, 'NR > 1 && $2 != "best" { sub(/\.txt$/, "", $1); printf "%s %s %.0f\n", $1, $2, $4 }' <<<"$scores"
}

if [ "${1:-}" = --table ]; then
    errors
    exit
fi

# The predictors that the default was decided by. Not all there are: who adds one that is better
# somewhere must not find `best` bounded by it, which has to see its errors before it follows.
yardsticks='periodic sma ewma median compute'

# Per trace: rms and sigma of best, rms of the best yardstick, its name.
summary=$(awk -F, -v yardsticks=" $yardsticks " '
    NR > 1 && $2 == "best" { rms[$1] = $4; sigma[$1] = $7; least[$1] = 1e18 }
    NR > 1 && index(yardsticks, " " $2 " ") && $4 < least[$1] { least[$1] = $4; name[$1] = $2 }
    END { for (t in rms) print t, rms[t], sigma[t], least[t], name[t] }' <<<"$scores" | sort)

at_most() { # value factor bound
    awk -v value="$1" -v factor="$2" -v bound="$3" 'BEGIN { exit !(value <= factor * bound) }'
}

while read -r trace rms sigma least name; do
    # Right after a change nobody can know who will recover fastest.
    allowed=1.07
    [ "$trace" != changing.txt ] || allowed=1.2
    tap_ok "$trace: best ($rms us) within $allowed of $name ($least us)" \
        at_most "$rms" "$allowed" "$least"
    tap_ok "$trace: sigma of best ($sigma us) is not below its error" at_most "$rms" 1 "$sigma"
done <<<"$summary"

n_traces=$(find "$traces" -name '*.txt' | wc -l)
tap_ok 'every trace was replayed' test "$n_traces" -eq "$(grep -c . <<<"$summary")"
# Of predictors that are newer than the file there is nothing to compare.
changed() { errors | sort | comm -13 - <(sort "$expected"); }
tap_none 'the pure predictors err as much as ever' changed
# ---- odd files: names of any bytes, lines that end as on Windows, what is no file
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
predict=$CLV_BUILD/apps/tools/clv-predict
odd=$work/$'a "b",\xff\xc3\x1b[1m.txt'
sed 's/$/\r/' "$traces/changing.txt" >"$odd"
figures() { "$predict" --csv "$1" | sed '1d; s/.*txt"*,//'; }
tap_ok 'CR LF reads as LF' diff <(figures "$odd") <(figures "$traces/changing.txt")
tap_ok '--csv is CSV of eight columns, and UTF-8' python3 -c 'import csv, sys
rows = list(csv.reader(open(sys.argv[1], encoding="utf-8"))); assert len(rows) > 5 and all(len(r) == 8 for r in rows), rows' <("$predict" --csv "$odd")
tap_ok '--json is JSON' python3 -c 'import json, sys; [json.loads(l) for l in open(sys.argv[1], encoding="utf-8")]' <("$predict" --json - "$odd")
tap_none 'the table has no control characters' grep -nP '[\x00-\x09\x1b]' <("$predict" "$odd")
said=$("$predict" "$work" 2>&1 >"$work/out")
tap_ok 'a folder is wrong' test $? -eq 2
tap_has 'in words' 'Is a directory' "$said"
tap_ok 'and without an empty table' test ! -s "$work/out"
said=$("$predict" --json '' "$odd" 2>&1)
tap_ok 'a nameless file of --json is told by the program' test "$said" = "clv-predict: --json '': No such file or directory"
for other in --csv "--json $work/none"; do
    # shellcheck disable=SC2086
    said=$("$predict" --make uniform $other 2>&1)
    tap_ok "--make and ${other%% *} contradict" test $? -eq 2 -a "$said" = 'clv-predict: --make prints a trace: no --csv, no --json'
done
mkfifo "$work/fifo"
for arguments in "$work/fifo" "--make trace:$work/fifo --ranks 2"; do
    # shellcheck disable=SC2086
    said=$(timeout 20 "$predict" $arguments 2>&1 >"$work/out")
    tap_ok 'a FIFO is refused' test $? -eq 2
    tap_has 'with what helps' 'a FIFO: hand it in as standard input' "$said"
done
tap_ok 'a pipe of the shell is read' diff <(figures "$traces/changing.txt") <("$predict" --csv <(cat "$traces/changing.txt") | sed 1d | cut -d, -f2-)
said=$("$predict" --make uniform --ranks 65536 --calls 1000000 2>&1)
tap_ok 'more calls than a trace can have: refused' test $? -eq 2
tap_has 'with how many' 'calls must be at most' "$said"
for arguments in '' --csv '--json -' '--make uniform'; do
    set -- $arguments
    [ "${1:-}" = --make ] || set -- "$@" "$traces/changing.txt"
    "$predict" "$@" >/dev/full 2>"$work/errors"
    tap_ok "${arguments:-the table}: a full disk is an error" test $? -eq 1 -a "$(wc -l <"$work/errors")" -eq 1
done
"$predict" --make uniform "$odd" >"$work/out" 2>&1
tap_ok '--make with a trace is refused' test $? -eq 2
tap_end
