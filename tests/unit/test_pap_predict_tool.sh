#!/bin/bash
# clv-predict over all traces of tests/data/traces: the default is close to the best predictor for
# each, its sigma is honest, and the pure predictors' errors are those of tests/data/predictor-errors.txt.
# `--table` prints that file anew. About 1 s.
. "$CLV_TOP/tests/support/tap.sh"
expected=$CLV_TOP/tests/data/predictor-errors.txt
traces=$CLV_TOP/tests/data/traces
scores=$("$CLV_BUILD/tools/clv-predict" --csv "$traces"/*.txt)

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
tap_end
