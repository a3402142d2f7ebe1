#!/usr/bin/env bash
# clv-plan: golden files, every scheduler and format, bad input; and that the drawings in the source
# and the documentation show the plan that is made. Prints TAP.
set -u
plan="$CLV_BUILD/apps/tools/clv-plan"
data="$CLV_TOP/tests/data/golden"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# A file for each instance, also for those of large.txt, each of which follows "# NAME".
golden=$scratch/golden
mkdir "$golden" && cp "$data"/[0-9]*.txt "$data"/goal-*.txt "$golden" &&
    awk -v folder="$golden" '/^# / { file = folder "/" $2 ".txt"; next } { print >file }' "$data/large.txt" || exit 1
n=0

ok() { # name, command...
    local name=$1
    shift
    n=$((n + 1))
    if "$@" > "$scratch/out" 2>&1; then
        echo "ok $n - $name"
    else
        echo "not ok $n - $name"
        sed 's/^/# /' "$scratch/out"
    fi
}

all_golden() { # scheduler
    local file
    for file in "$golden"/[0-9]*.txt; do
        "$plan" --scheduler "$1" --format hash --check < "$file" > "$scratch/hash" ||
            { echo "$file"; return 1; }
    done
}

goal_of() { # scheduler: the line of an instance
    case $1 in
    plain-ring | cut-ring | helper-trees) echo goal allreduce ;;
    bcast-chain) echo goal bcast ;;
    *) echo goal reduce ;;
    esac
}

question() { # file, scheduler: what it asks, without the answer
    sed "/^sends/,\$d;/^root/a $(goal_of "$2")" "$1"
}

hashes_of() { # scheduler: instance and hash, one a line
    awk -v name="$1" '/^#/ { next } $1 == "instance" { for (i = 2; i <= NF; i++) if ($i == name) column = i; next }
        column { print $1, $column }' "$data/hashes.txt"
}

golden_of() { # scheduler
    local instance want n_same=0
    while read -r instance want; do
        [ "$(question "$golden/$instance.txt" "$1" | "$plan" --scheduler "$1" --format hash)" = "$want" ] ||
            { echo "$instance differs"; return 1; }
        n_same=$((n_same + 1))
    done < <(hashes_of "$1")
    [ $n_same -eq "$(ls "$golden"/[0-9]*.txt | wc -l)" ]
}

same_tuples() { # the tuples of 02.txt are printed as they stand in the file
    diff <(sed '1,/^schedule/d' "$golden/02.txt") <("$plan" < "$golden/02.txt")
}

drawing() { # file: the lines between the markers, comment signs and spacing apart
    sed -n '/\[drawing: plan of 02.txt\]/,/\[end of drawing\]/p' "$1" |
        sed '1d;$d;s/^ \*//' | tr -s ' ' | sed 's/^ //;s/ $//' | grep -E '^(p0|s[0-9])'
}

same_drawing() { # file
    [ -n "$(drawing "$1")" ] &&
        diff <(drawing "$1") \
            <("$plan" --format text < "$golden/02.txt" | tr -s ' ' | sed 's/^ //;s/ $//')
}

refuses() { # text, pattern of the message: exit status 2 and exactly one line
    printf "$1" | "$plan" > "$scratch/stdout" 2> "$scratch/message"
    [ $? -eq 2 ] && [ ! -s "$scratch/stdout" ] && [ "$(wc -l < "$scratch/message")" -eq 1 ] &&
        grep -q "$2" "$scratch/message" || { cat "$scratch/message"; return 1; }
}

refuses_given() { # text, pattern
    printf "$1" | "$plan" --given > "$scratch/stdout" 2> "$scratch/message"
    [ $? -eq 2 ] && [ ! -s "$scratch/stdout" ] && grep -q "$2" "$scratch/message"
}

refuses_arguments() {
    "$plan" "$@" < "$golden/02.txt" > "$scratch/stdout" 2> "$scratch/message"
    [ $? -eq 2 ] && [ "$(wc -l < "$scratch/message")" -eq 1 ]
}

detects_wrong_hash() {
    sed 's/^fnv1a64 .*/fnv1a64 0123456789abcdef/' "$golden/02.txt" | "$plan" --check > /dev/null 2>&1
    [ $? -eq 1 ]
}

detects_wrong_count() {
    sed 's/^sends .*/sends 16/' "$golden/02.txt" | "$plan" --check > /dev/null 2>&1
    [ $? -eq 1 ]
}

every_scheduler_is_valid() {
    local name file
    for name in $("$plan" --help | sed -n '/^schedulers/,/^$/s/^  \([a-z-]*\) .*/\1/p'); do
        for file in "$golden"/{00,02,07,09,17,20,25,29}.txt; do
            question "$file" "$name" | "$plan" --scheduler "$name" --check > /dev/null ||
                { echo "$name $file"; return 1; }
        done
    done
}

dot_is_graph() {
    "$plan" --format dot < "$golden/02.txt" > "$scratch/dot" &&
        [ "$(grep -c -- '->' "$scratch/dot")" -eq 15 ] && head -1 "$scratch/dot" | grep -q '^digraph'
}

gantt_is_svg() { # two boxes per send and a bar per rank, and well-formed as far as tags go
    "$plan" --format gantt < "$golden/02.txt" > "$scratch/svg" &&
        [ "$(grep -o '<rect' "$scratch/svg" | wc -l)" -eq 34 ] &&
        [ "$(grep -o '<text' "$scratch/svg" | wc -l)" -eq \
            "$(grep -o '</text>' "$scratch/svg" | wc -l)" ] && tail -1 "$scratch/svg" | grep -q '</svg>' &&
        # the caption has room, and the axis a mark for each of the six rounds and their end
        [ "$(sed -n 's/.*<svg.* width="\([0-9]*\)".*/\1/p' "$scratch/svg")" -ge 390 ] &&
        [ "$(grep -c 'text-anchor="middle">[0-6]<' "$scratch/svg")" -eq 7 ]
}

summary_is_right() {
    diff <(printf 'rounds 6\nsends 15\nrounds after the last arrival 5\n') \
        <("$plan" --format summary < "$golden/02.txt")
}

golden_goals() { # the plans that the files state are valid and have the hash there stated
    local goal
    for goal in reduce allreduce bcast reduce-scatter; do
        "$plan" --given --check --format hash < "$golden/goal-$goal.txt" ||
            { echo "$goal"; return 1; }
    done
}

given_tuples() { # are printed as they stand in the file, copies too
    local file
    for file in "$golden"/goal-*.txt; do
        diff <(sed '1,/^schedule/d' "$file") <("$plan" --given < "$file") || return 1
    done
}

given_table() { # places below the ranks, copies marked
    diff <(printf '%s\n' '        p0   p1   p2   p3   p4' 'place    0    0    1    1    1' \
        's0      1c    . 0c,2c   3c    .' 's1      2c    . 1c,3c   4c    .') \
        <("$plan" --given --format text < "$golden/goal-bcast.txt")
}

given_summary() {
    diff <(printf '%s\n' 'goal allreduce' 'rounds 6' 'sends 24' 'rounds after the last arrival 6' \
        'sends between places 12') \
        <("$plan" --given --format summary < "$golden/goal-allreduce.txt")
}

given_pictures() { # dot and gantt: a box for each place, a dashed line for each copy
    "$plan" --given --format dot < "$golden/goal-allreduce.txt" > "$scratch/dot" &&
        [ "$(grep -c 'subgraph' "$scratch/dot")" -eq 2 ] &&
        [ "$(grep -c -- '->' "$scratch/dot")" -eq 24 ] &&
        [ "$(grep -c 'dashed' "$scratch/dot")" -eq 12 ] &&
        "$plan" --given --format gantt < "$golden/goal-allreduce.txt" > "$scratch/svg" &&
        [ "$(grep -c 'dasharray' "$scratch/svg")" -eq 24 ] && grep -q '>p3@1<' "$scratch/svg"
}

fails_with() { # pattern of the message, command...: exit status 1 and exactly one line
    local pattern=$1
    shift
    "$@" > "$scratch/stdout" 2> "$scratch/message"
    [ $? -eq 1 ] && [ ! -s "$scratch/stdout" ] && [ "$(wc -l < "$scratch/message")" -eq 1 ] &&
        grep -q -- "$pattern" "$scratch/message" || { cat "$scratch/message"; return 1; }
}

no_scheduler_for_it() { # what today's schedulers cannot make is said, not made
    fails_with 'no scheduler makes plans of a reduce_scatter; --given' "$plan" < "$golden/goal-reduce-scatter.txt" &&
        fails_with 'scheduler chain makes no plans of a bcast; bcast-chain does' \
            "$plan" --scheduler chain < "$golden/goal-bcast.txt"
}

default_of_goal() { # without --scheduler the first that has the goal
    local goal
    for goal in allreduce:plain-ring bcast:bcast-chain reduce:bitset; do
        diff <(question "$golden/02.txt" "${goal#*:}" | "$plan") \
            <(question "$golden/02.txt" "${goal#*:}" | "$plan" --scheduler "${goal#*:}") || return 1
    done
}

goal_format() { # each send has its receive, each label is there before it is required
    "$plan" --format goal < "$golden/02.txt" | awk '
        $1 == "rank" { rank = $2; n_ranks++; split("", known) }
        /: send/ { open[rank, $5, $7]++ } /: recv/ { open[$5, rank, $7]-- }
        /^l[0-9]*: / { sub(":", "", $1); known[$1] = 1 }
        $2 == "requires" && !($1 in known && $3 in known) { bad++ }
        END { for (k in open) bad += open[k] != 0; exit n_ranks == 0 || length(open) == 0 || bad }'
}

windows_lines() { # CR LF, tabs, and the byte-order mark of some editors
    local file
    for file in "$golden"/0[0-9].txt "$golden"/goal-*.txt; do
        diff <("$plan" --given --check < "$file") <(sed 's/ /\t/; s/$/\r/' "$file" | "$plan" --given --check) ||
            { echo "$file"; return 1; }
    done
    diff <("$plan" < "$golden/02.txt") <(printf '\xef\xbb\xbf' | cat - "$golden/02.txt" | "$plan")
}

large() { # ranks and segments: an instance
    printf 'P %d\nN %d\nroot 0\nd 1000\narrival%s\n' "$1" "$2" "$(seq -s '' -f ' %g' "$1")"
}

first_words() { # scheduler: the line that it says before it begins, in message; it is not waited for
    local pid
    : > "$scratch/message"
    "$plan" --scheduler "$1" < "$scratch/large" > /dev/null 2> "$scratch/message" &
    pid=$!
    until [ -n "$(tail -n 1 "$scratch/message")" ] || ! kill -0 $pid 2> /dev/null; do sleep 0.02; done
    kill -KILL $pid
    wait $pid 2> /dev/null
    [ "$(wc -l < "$scratch/message")" -eq 1 ] && cat "$scratch/message"
}

long_is_told() { # with what is faster; a short one says nothing
    large 4096 4096 > "$scratch/large"
    first_words latest-first-linear | grep -E 'takes [0-9]+ s or more.* --scheduler latest-first makes the same' &&
        first_words linear | grep -- '--scheduler bitset makes the same' &&
        [ -z "$(large 64 64 | "$plan" --scheduler linear 2>&1 > /dev/null)" ]
}

no_memory() { # says how much it would take
    large 4096 4096 > "$scratch/large"
    (ulimit -v 100000 && fails_with '4096 segments make up to 16777216 sends, 192 MiB.*fewer segments' \
        "$plan" < "$scratch/large")
}

no_output() { # a full disk, a closed stream
    "$plan" < "$golden/02.txt" 2> "$scratch/message" > /dev/full
    [ $? -eq 1 ] && grep -q 'standard output: No space' "$scratch/message" || return 1
    "$plan" < "$golden/02.txt" 2> "$scratch/message" >&-
    [ $? -eq 1 ] && grep -q 'standard output: ' "$scratch/message"
}

no_input() {
    "$plan" < "$scratch" > "$scratch/stdout" 2> "$scratch/message"
    [ $? -eq 2 ] && grep -q 'standard input: Is a directory' "$scratch/message" || return 1
    "$plan" > "$scratch/stdout" 2> "$scratch/message" <&-
    [ $? -eq 2 ] && grep -q 'standard input: ' "$scratch/message"
}

wrong_kind_is_seen() { # a copy of an incomplete segment
    sed 's/^0 0 1 0$/0 0 1 0 copy/' "$golden/goal-reduce.txt" |
        "$plan" --given --check > /dev/null 2> "$scratch/message"
    [ $? -eq 1 ] && grep -q 'cannot be copied' "$scratch/message"
}

head4='P 2\nN 1\nroot 0\nd 10\n'
ok 'bitset reproduces all golden files' all_golden bitset
ok 'segtree reproduces all golden files' all_golden segtree
ok 'linear reproduces all golden files' all_golden linear
for scheduler in latest-first latest-first-rns plain-ring cut-ring helper-trees bcast-chain; do
    ok "$scheduler reproduces its golden hashes" golden_of $scheduler
done
ok 'every scheduler makes valid plans' every_scheduler_is_valid
ok 'tuples are printed as in the golden file' same_tuples
ok 'the drawing in the source shows the real plan' \
    same_drawing "$CLV_TOP/schedule/generators/sched_clairvoyant.c"
ok 'the drawing in the documentation shows the real plan' same_drawing "$CLV_TOP/docs/design/schedule.md"
ok 'summary' summary_is_right
ok 'dot has an edge per send' dot_is_graph
ok 'gantt is an SVG with two boxes per send' gantt_is_svg
ok 'check detects a wrong hash' detects_wrong_hash
ok 'check detects a wrong number of sends' detects_wrong_count
ok 'empty input' refuses '' "line 1: expected 'P'"
ok 'a missing line' refuses 'P 2\nroot 0\n' "line 2: expected 'N'"
ok 'a missing number' refuses 'P\n' 'line 1: a number is missing'
ok 'not a number' refuses 'P 2x\n' 'line 1: not a decimal'
ok 'zero ranks' refuses 'P 0\n' 'line 1: 0 is outside 1 .. 4096'
ok 'too many ranks' refuses 'P 4097\n' 'line 1: 4097 is outside'
ok 'too many segments' refuses 'P 2\nN 5000\n' 'line 2: 5000 is outside'
ok 'a root that is no rank' refuses 'P 2\nN 1\nroot 2\n' 'line 3: 2 is outside 0 .. 1'
ok 'a round of nothing' refuses 'P 2\nN 1\nroot 0\nd 0\n' 'line 4: 0 is outside'
ok 'a number beyond 64 bits' refuses 'P 2\nN 1\nroot 0\nd 9999999999999999999\n' 'line 4: .*64 bits'
ok 'a missing arrival' refuses "${head4}arrival 1\n" 'line 5: a number is missing'
ok 'an arrival too many' refuses "${head4}arrival 1 2 3\n" 'line 5: something follows'
ok 'a negative arrival' refuses "${head4}arrival 1 -2\n" 'line 5: -2 is outside'
ok 'arrivals that overflow the rounds' refuses "${head4}arrival 0 9000000000000000000\n" \
    'line 5: .*2^30 rounds'
ok 'an unknown key' refuses "${head4}arrival 1 2\ncolour 3\n" "line 6: unexpected 'colour'"
ok 'a key that a terminal would obey or that is no UTF-8' refuses "${head4}arrival 1 2\nco\033l\377ur\n" "line 6: unexpected 'co l?ur'"
ok 'a tuple out of range' refuses "${head4}arrival 1 2\nschedule\n0 2 0 0\n" 'line 7: 2 is outside'
ok 'golden plans of the four goals' golden_goals
ok 'given tuples are printed as they stand' given_tuples
ok 'a table shows places and copies' given_table
ok 'a summary shows goal and crossings' given_summary
ok 'dot and gantt show places and copies' given_pictures
ok 'a goal without a scheduler' no_scheduler_for_it
ok 'each goal has its default' default_of_goal
ok 'GOAL, for LogGOPSim' goal_format
ok 'lines that end as on Windows' windows_lines
ok 'a long search is told' long_is_told
if grep -qa '__asan_init\|__tsan_init' "$plan"; then # a sanitizer needs more address space than the limit
    n=$((n + 1))
    echo "ok $n - a lack of memory # SKIP built with a sanitizer"
else
    ok 'so is a lack of memory' no_memory
fi
ok 'output that does not arrive' no_output
ok 'input that cannot be read' no_input
ok 'check detects a wrong kind' wrong_kind_is_seen
ok 'no plan where one is to be given' refuses_given "${head4}arrival 1 2\n" 'states no plan'
ok 'an unknown goal' refuses 'P 2\nN 1\nroot 0\ngoal gather\n' 'line 4: no such goal'
ok 'segments that ranks cannot share' \
    refuses 'P 2\nN 3\nroot 0\ngoal reduce_scatter\nd 1\narrival 0 0\n' 'line 6: .*equally'
ok 'a place out of range' refuses "${head4}arrival 1 2\nplace 0 2\n" 'line 6: 2 is outside 0 .. 1'
ok 'a kind that is none' refuses "${head4}arrival 1 2\nschedule\n0 1 0 0 move\n" 'line 7: something'
ok 'an unknown scheduler' refuses_arguments --scheduler fastest
ok 'an unknown format' refuses_arguments --format tex
ok 'an unknown argument' refuses_arguments --please
nameless() {
    "$plan" --json '' < "$golden/02.txt" 2> "$scratch/message"
    [ $? -eq 1 ] && grep -qxF "clv-plan: --json '': No such file or directory" "$scratch/message"
}
ok 'a nameless file of --json is told with its option' nameless
echo "1..$n"
