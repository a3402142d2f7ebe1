#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# apps/bench/paper: its table is whole, its sums are right on made-up lines, every check can fail on the data there are,
# captions and labels are those of the data, one figure is made for real, a figure that was not made or has left its
# range fails, and docs/results/papers.md is what it writes. TAP. A minute; nothing is measured.
set -u
: "${CLV_TOP:?}" "${CLV_BUILD:?}"
. "$CLV_TOP/tests/support/tap.sh"
paper=$CLV_TOP/apps/bench/paper
table=$CLV_TOP/apps/bench/papers/table
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

# ---- the table
malformed() {
    awk '$1 == "#" || /^#/ || /^$/ { next }
        $1 !~ /^(name|place|shows|run|same|idea|cannot|check|value|lacks|draw|why)$/ { print "line " NR ": no such key: " $1 }
        NF < 2 { print "line " NR ": nothing behind " $1 }
        $1 == "name" { if ($2 in seen) print $2 " is there twice"; seen[$2] = 1; names[++n] = $2 }
        { has[names[n], $1]++ }
        $1 == "same" { same[names[n]] = $2 }
        $1 == "draw" && !(/ x=/ && / y=/) { print names[n] ": draw needs x= and y=" }
        END {
            for (i = 1; i <= n; i++) {
                s = names[i]
                if (has[s, "place"] != 1 || has[s, "shows"] != 1) print s ": one place, one line of what it shows"
                if ((has[s, "run"] > 0) + has[s, "same"] + has[s, "idea"] + has[s, "cannot"] != 1) print s ": one of run, same, idea, cannot"
                if ((has[s, "run"] > 0 || has[s, "same"]) != (has[s, "check"] + has[s, "value"] > 0)) print s ": checks where there are data, and nowhere else"
                if (s in same && !has[same[s], "run"]) print s ": " same[s] " does not run"
            }
        }' "$table"
}
tap_none 'every entry of the table is whole' malformed
count() { grep -cE "^name $1[0-9]+\$" "$table"; } # those at scale are besides
all_named() { # figures and tables of each paper
    [ "$(count ic-fig) $(count ic-table) $(count ic-lemma)" = '11 1 2' ] && [ "$(count hca3-fig) $(count hca3-table)" = '10 1' ] &&
        [ "$(count mbr-fig) $(count mbr-table)" = '44 6' ] && [ "$(count et-fig) $(count et-table)" = '16 2' ] &&
        [ "$(count clc-fig) $(count clc-table)" = '6 4' ]
}
tap_ok 'every figure and table of the five papers is named' all_named
loose() { # a check demands or compares something; no range that is demanded is wider than fourfold
    awk '$1 == "name" { name = $2 }
        $1 == "value" && / (in|paper) [^ ]+ [^ ]+$/ { print name ": a value has no range: " $0 }
        $1 != "check" { next }
        !/ (in|paper) [^ ]+ [^ ]+$/ { print name ": a check without a range: " $0 }
        { sub(/^[^:]*: /, "") }
        match($0, / in [^ ]+ [^ ]+( paper|$)/) { split(substr($0, RSTART + 4, RLENGTH - 4), b, " ")
            if (b[1] != "-" && b[2] != "-" && b[1] != b[2] && (b[1] <= 0 || b[2] > 4 * b[1])) print name ": so wide that nothing fails: " $0 }' "$table"
}
tap_none 'every check demands something that can fail' loose
sed -nE 's/^(check|value) //p' "$table" | sed 's/: /\t/' >"$work/checks"
unreadable() { # on no data every check fails, and none is a riddle
    : | awk -v checks="$work/checks" -f "$CLV_TOP/apps/bench/page/lines.awk" -f "$CLV_TOP/apps/bench/papers/values.awk" 2>&1 |
        awk -F'\t' '$2 != "none" || $5 != "fails"'
}
tap_none 'every check can be read, and none holds without data' unreadable

# ---- the audit: what works, what does not, and why
audit=$CLV_TOP/apps/bench/papers/audit
unreasoned() {
    awk -F'|' '/^#/ { next } NF != 4 { print "line " NR ": not four fields" } $3 !~ /^[Yp-]$/ { print $1 ": no such state" }
        $3 == "p" && length($4) < 15 { print $1 ": partly, for what reason?" } $3 == "p" && $4 !~ /machine|differs:|tests\/|so in the simulation/ { print $1 ": partly: which machine, test or command would show it?" } $3 == "-" && $4 !~ /machine/ { print $1 ": absent, and no machine would help" }' "$audit"
    [ "$(grep -vc '^#' "$audit")" -eq 188 ] || echo 'not 188 rows'
    cut -d'|' -f4 "$audit" | grep -oE '\b(ic|hca3|mbr|et|clc)-(fig|table|lemma)[0-9]+(-scale)?' | sort -u |
        grep -vxFf <(sed -n 's/^name //p' "$table") | sed 's/^/there is no /'
    cut -d'|' -f4 "$audit" | grep -oE '\b(tests|apps|docs)/[a-z_/.-]+' | sed 's/[.]$//' | sort -u | while read -r path; do
        [ -e "$CLV_TOP/$path" ] || echo "there is no $path"
    done
}
tap_none 'every row of the audit works, or says why not, and names what is there' unreasoned
audited() { mkdir -p "$work/audited" && "$paper" audit "$work/audited/page.md" && diff "$work/audited/page.md" "$CLV_TOP/docs/results/papers-audit.md"; }
tap_none 'docs/results/papers-audit.md is what apps/bench/paper writes' audited

# ---- sums, on lines with known answers
{
    echo '{"algorithm":"a","ranks":2,"wait_ns":1000,"run_ns":[1,2,3,4,100],"usable":[1,1,1,1,0],"rank_exit_ns":[0,5,1,3]}'
    echo '{"algorithm":"b 1","ranks":2,"wait_ns":2e3,"run_ns":[10,20,30,40],"usable":[1,1,1,1],"p":0.5,"few":0.004}'
    echo '{"algorithm":"b 2","ranks":2,"wait_ns":2000,"run_ns":[2,4,6,8],"usable":[1,1,1,1],"p":null,"rank":1,"arrival_ns":5,"exit_ns":9}'
    echo '{"algorithm":"c","ranks":3,"u_ns":[1,2,3,4,5,6.5,7,8]}'
    echo '{"algorithm":"d","ranks":3,"u_ns":[0.1,0.2,0.3,0.4,0.5,0.6,0.7,4.5]}'
    echo '{"ranks":4,"delay_ns":0,"e_ns":[4,5,6,5]}'
    echo '{"ranks":4,"delay_ns":6,"e_ns":[9,8,9,8]}'
} >"$work/lines"
values() { # a line for each check on standard input, as values.awk says
    awk -v checks=- -f "$CLV_TOP/apps/bench/page/lines.awk" -f "$CLV_TOP/apps/bench/papers/values.awk" "$work/lines"
}
sums() {
    local rows=('median(run_ns{algorithm=a})=2.5' 'mean(run_ns{algorithm=b*})=15' 'count(run_ns{wait_ns=2000})=8' \
        'median(run_ns{algorithm=b 1}) / median(run_ns{algorithm=a})=10' 'largest(run_ns{wait_ns<1500})=4' 'least(run_ns)=1' \
        'spread(run_ns{algorithm=a})=0.6' 'sigma(run_ns{algorithm=a})=1.291' 'deviation(run_ns{algorithm=a})=0.5164' 'lag1(run_ns{algorithm=a})=0.25' \
        'drift(run_ns{algorithm=b 2})=4' 'imbalance(rank_exit_ns)=3.5' 'mean(p)=0.5' 'mean(usable{algorithm=a})=0.8' \
        'welch(run_ns{algorithm=b 1} run_ns{algorithm=b 2})=3.038' 'wilcoxon(x x)=none' \
        'wilcoxon(u_ns{algorithm=c} u_ns{algorithm=d})=0.001938' 'smirnov(u_ns{algorithm=c} u_ns{algorithm=d})=0.004375' \
        'kruskal(u_ns{ranks=3})=0.003424' 'normal(u_ns{algorithm=c})=0.8204' 'benefit(e_ns{ranks=4} 6)=0.25' 'median(nothing)=none' 'mean(p{algorithm=b 2})=none')
    diff <(printf '%s\n' "${rows[@]}") <(printf '%s\n' "${rows[@]}" | sed 's/\(.*\)=.*/\1\t\1 in - -/' | values | sed 's/\t/=/; s/\t.*//')
}
tap_none 'medians, ratios, autocorrelation, Welch and the rest' sums
bounds() { # whether a value of 2.5 holds and agrees, by its bounds
    local rows=('in 2 3:holds -' 'in - 2:fails -' 'in 3 -:fails -' 'in 2.5 2.5 paper 5 -:holds differs' 'paper - 5:holds agrees' \
        'paper 3 -:holds unclear' 'paper - 4:holds unclear' 'paper 1 4:holds agrees' 'paper 0 3:holds unclear')
    diff <(printf '%s\n' "${rows[@]}") <(printf '%s\n' "${rows[@]}" | sed 's/:.*//; s/.*/&\tmedian(run_ns{algorithm=a}) &/' |
        values | awk -F'\t' '{ print $1 ":" $5 " " $8 }')
}
tap_none 'ranges, open and closed, ours and the papers' bounds

if command -v gnuplot >/dev/null; then
    pictures() {
        local how n=0
        for how in 'x=wait_ns y=run_ns by=algorithm log' 'x=algorithm y=run_ns by=ranks' 'x=#call y=run_ns by=algorithm' 'x=#part y=run_ns by=algorithm' \
            'x=wait_ns y=run_ns by=algorithm deviation log' 'x=wait_ns y=run_ns by=algorithm frontier' 'x=wait_ns y=run_ns by=algorithm log stars=few' 'x=#gantt y=rank by=algorithm' \
            'x=#lag y=run_ns by=algorithm' 'x=#normal y=run_ns by=algorithm only=wait_ns=2000' 'x=#rank y=rank_exit_ns by=algorithm'; do
            n=$((n + 1))
            awk -v draw="$how" -v file="$work/f$n.svg" -v title=T -f "$CLV_TOP/apps/bench/page/lines.awk" \
                -f "$CLV_TOP/apps/bench/papers/draw.awk" "$work/lines" >"$work/f$n" || echo "$how"
            echo 'reset session' >>"$work/f$n"
        done
        gnuplot "$work"/f?{,?} 2>&1
        grep -L '</svg>' "$work"/f?{,?}.svg
        [ "$(ls "$work"/f*.svg | wc -l)" -eq 11 ] || echo 'not 11 pictures'
    }
    tap_none 'each kind of picture, and gnuplot has nothing to say' pictures
else
    tap_skip 'pictures' 'no gnuplot'
fi

# ---- every check can fail: were the data others, each would say so
unpack() { # folder: docs/results/data, unpacked there
    local folder=$CLV_TOP/docs/results/data top=$CLV_TOP unpacked
    . "$CLV_TOP/apps/bench/page/pages.sh"
    unpack_kept papers && cp -r "$unpacked" "$1" && rm -rf "$unpacked"
    trap 'rm -rf "$work"' EXIT
}
unpack "$work/data"
declare -A source_of checks_of # name: whose data it has, its checks
while read -r key text; do
    case $key in
    name) name=$text source_of[$name]=$text ;;
    same) source_of[$name]=$text ;;
    check) checks_of[$name]+=$text$'\n' ;;
    esac
done <"$table"
said() { # what the checks of all names say, of data mutated so; behind the name
    local name
    for name in "${!checks_of[@]}"; do
        echo "name $name"
        awk -v checks=- -v mutate="$1" -f "$CLV_TOP/apps/bench/page/lines.awk" -f "$CLV_TOP/apps/bench/papers/values.awk" \
            "$work/data/${source_of[$name]}.json" <<<"${checks_of[$name]}"
    done
}
unfailing() { # checks that hold and agree whatever the data
    # All of "same" come last: where the paper has one side larger, two equal sides do not agree.
    said 'up down rise fall swing half far same' | awk -F'\t' '
        function tell(c) {
            for (c in seen) if ((demanded[c] && !fails[c]) || (compared[c] && !differs[c])) print name ": " c
            split("", seen); split("", demanded); split("", compared)
            split("", fails); split("", differs); split("", times) }
        /^name / && NF == 1 { tell(); name = substr($0, 6); n_names++; next }
        { seen[$1] = 1; if ($5 == "fails") fails[$1] = 1; if ($8 == "differs") differs[$1] = 1
          if ($3 $4 != "--") demanded[$1] = 1; if ($8 != "-") compared[$1] = 1 }
        ++times[$1] == 8 && $8 == "agrees" && ($6 $7 == "1-" || $6 $7 == "-1") { print name ": agrees without a difference: " $1 }
        times[$1] > 8 { print name ": twice there: " $1 }
        END { tell(); if (n_names < 50) print "only " n_names " names have checks" }'
}
tap_none 'every check fails or differs on some other data, and none agrees with a difference that is none' unfailing

# ---- labels: how many, where, and whose time are the data's
# Lines "name TAB caption TAB data": typed numbers that the caption has not; a caption that the data have not.
mislabelled() {
    awk -F'\t' '
        function add(list, n, value,   i) { # sorted, once each
            for (i = 1; i <= n; i++) if (list[i] == value) return n
            for (i = n++; i > 0 && list[i] > value; i--) list[i + 1] = list[i]
            list[i + 1] = value; return n }
        function joined(list, n, gap,   i, s) { for (i = 1; i <= n; i++) s = s (i > 1 ? gap : "") list[i]; return s }
        function look_at(data,   row, rest, value, n, counts, n_clocks, clocks) {
            while ((getline row < data) > 0) {
                for (rest = row; match(rest, /"(ranks|processes)":[0-9]+/); rest = substr(rest, RSTART + RLENGTH)) {
                    value = substr(rest, RSTART, RLENGTH); sub(/.*:/, "", value); n = add(counts, n, value + 0) }
                for (rest = row; match(rest, /"clock":"[^"]*"/); rest = substr(rest, RSTART + RLENGTH)) {
                    value = substr(rest, RSTART + 9, RLENGTH - 10); n_clocks = add(clocks, n_clocks, value "") }
            }
            close(data); processes = joined(counts, n, ", "); clock = joined(clocks, n_clocks, " ") }
        BEGIN { split("2 two 3 three 4 four 8 eight 16 sixteen", w, " "); for (i = 1; i < 10; i += 2) number[w[i + 1]] = w[i] }
        NR == FNR {
            if (/^name /) name = substr($0, 6)
            else if (/^(place|shows|why) /) typed[name] = typed[name] substr($0, index($0, " ")) "\n"; next }
        {
            name = $1; caption = $2; look_at($3)
            if (processes != "" && index(caption, processes " process") != 1)
                print name ": the data have " processes " processes, the caption says: " caption
            at = index(caption, "clock: ")
            for (i = split(clock, each, " "); i > 0; i--) {
                said = each[i]; sub(/^realtime/, "CLOCK_REALTIME", said)
                if (said ~ /^(CLOCK_REALTIME|hca|jk|skampi|netgauge)/ && !(at && index(substr(caption, at + 7), said)))
                    print name ": the data\047s clock is " said ", the caption says: " caption
            }
            numbers = " " caption " "; gsub(/[^0-9]+/, " ", numbers)
            rest = tolower(typed[name]); gsub(/[.;] /, "\n", rest); n = split(rest, sentences, "\n")
            for (i = 1; i <= n; i++) {
                if (sentences[i] ~ /paper|not measured/) continue
                for (rest = sentences[i]; match(rest, /(^|[^a-z0-9_])([0-9][0-9,]*|two|three|four|eight|sixteen) (processes|ranks|hosts)/); rest = substr(rest, RSTART + RLENGTH)) {
                    if (substr(rest, RSTART + RLENGTH, 1) ~ /[a-z0-9_]/) continue
                    said = substr(rest, RSTART, RLENGTH); sub(/^[^a-z0-9_]/, "", said)
                    count = said; sub(/ .*/, "", count); sub(/.* /, "", said)
                    gsub(/,/, "", count); if (count in number) count = number[count]
                    if (!index(numbers, " " count " ")) print name ": says " count " " said ", the data: " caption
                }
            }
        }' "$table" -
}
labels() {
    local name caption
    awk '/^## / { name = $2 } /^[0-9a-z].*; clock: / && name { print name "\t" $0; name = "" }' "$CLV_TOP/docs/results/papers.md" >"$work/captions"
    [ "$(wc -l <"$work/captions")" -eq "$(grep -c '^## ' "$CLV_TOP/docs/results/papers.md")" ] || echo 'not every figure says how many processes and which clock'
    while IFS=$'\t' read -r name caption; do
        printf '%s\t%s\t%s\n' "$name" "$caption" "$work/data/${source_of[$name]}.json"
    done <"$work/captions" | mislabelled
}
tap_none 'every caption and label has the processes and the clock of its data' labels
relabelled() { # other data: another caption; and a typed label is found out
    mkdir -p "$work/other" && cp "$work/data/mbr-fig12".* "$work/other" && sed -i 's/"ranks":2/"ranks":9/; s/"clock":"realtime"/"clock":"hca3"/' "$work/other/mbr-fig12.json"
    "$paper" --folder "$work/other" tell mbr-fig12 | grep -qxF '9 processes; 2 emulated hosts; clock: hca3.' || echo 'the caption is not of the data'
    printf 'mbr-fig12\t2 processes; 2 emulated hosts; clock: CLOCK_REALTIME, one for all hosts.\t%s\n' "$work/other/mbr-fig12.json" |
        mislabelled | grep -c . | grep -qx 2 || echo 'a caption of other data passes'
    printf 'mbr-fig33\t16 processes; 16 emulated hosts; clock: x.\t/dev/null\n' |
        mislabelled | grep -q 'says 8 processes' || echo 'a typed number passes'
}
tap_none 'which change with the data, and are found out where they do not' relabelled

# ---- one figure for real
run() { output=$("$paper" --folder "$work/made" "$@" 2>&1); }
run check ic-fig1
tap_ok 'what was not executed fails' test $? -eq 1
tap_has 'and says so' 'ic-fig1 was not executed' "$output"
run run ic-fig1
tap_ok 'a figure is made' test $? -eq 0
tap_has 'with a paragraph' 'The paper and this: agrees' "$output"
tap_has 'the list knows' 'made, agrees' "$("$paper" --folder "$work/made" list | grep '^ic-fig1 ')"
mkdir "$work/kept"
keeps() { "$paper" --folder "$work/made" keep "$work/kept" && "$paper" --folder "$work/kept" check ic-fig1 && [ "$(ls "$work/kept")" = papers.jsonl ]; }
tap_ok 'and kept with all that its checks read' keeps
stamp=$(cat "$work/made/ic-fig1.json")
run run ic-fig1
tap_ok 'and is not made again' test "$stamp" = "$(cat "$work/made/ic-fig1.json")"
sed -i '/"segment":3,.*/{/"round":10,/d}' "$work/made/ic-fig1.json"
run check ic-fig1
tap_ok 'a figure that has left its range fails' test $? -eq 1
tap_has 'and says where' 'of segment 3: 8 is not in 9 to 9' "$output"
run run no-such-figure
tap_ok 'an unknown name is wrong use' test $? -eq 2
run run mbr-fig23
tap_ok 'what cannot be made says why' test $? -eq 1
tap_has 'in words' 'not ours to set' "$output"

# ---- the page
page=$CLV_TOP/docs/results/papers.md
if [ -s "$page" ]; then
    differs() {
        mkdir -p "$work/results/data" && cp "$CLV_TOP/docs/results/data/papers.jsonl" "$work/results/data" &&
            "$paper" --folder "$work/results/data" page "$work/results/papers.md" && diff "$page" "$work/results/papers.md"
    }
    tap_none 'docs/results/papers.md is what apps/bench/paper writes' differs
    failing() { "$paper" --folder "$CLV_TOP/docs/results/data" check all 2>&1; }
    tap_none 'every name was executed, and every check holds' failing
    undrawn() { # those with a picture that what is kept does not make
        (cd "$work/results" && "$paper" --folder "$CLV_TOP/docs/results/data" draw all 2>&1 && ls -- *.svg) |
            diff - <(awk '$1 == "name" { name = $2 } $1 == "draw" { print name ".svg" }' "$table" | sort)
    }
    if command -v gnuplot >/dev/null; then tap_none 'and every picture can be drawn' undrawn; else tap_skip 'pictures of what is kept' 'no gnuplot'; fi
fi
# ---- what clv-bench does not trust is no evidence, for or against a paper
untrusted=$(sed -n 's/^{"table":"\([^"]*\)".* rows NOT network-bound.*/\1/p' "$CLV_TOP/docs/results/data/papers.jsonl")
untrusted+=$'\n'$(awk -v names="$untrusted" 'BEGIN { split(names, w, /[ \n]/); for (i in w) bad[w[i]] = 1 } $1 == "name" { name = $2 } $1 == "same" && $2 in bad { print name }' "$table")
trusted_anyway() {
    [ -n "$untrusted" ] || echo 'no figure is marked'
    awk -v names="$untrusted" 'BEGIN { n = split(names, w, /[ \n]/); for (i = 1; i <= n; i++) if (w[i] != "") bad[w[i]] = 1 }
        match($0, /^[|] \[[^]]*\]\(#/) && substr($0, 4, RLENGTH - 6) in bad && !/not measurable here: .* rows NOT network-bound [|]$/
        /^## / { name = $2 }
        /^<!-- end/ { name = "" }
        name in bad && /[|] (agrees|differs) [|]$/' "$CLV_TOP/docs/results/papers.md"
}
tap_none 'a figure with a row that the processors set neither agrees nor differs' trusted_anyway
claimed_anyway() { # rows of the audit that are about a figure and have nothing else
    awk -F'|' -v names="$untrusted" 'BEGIN { n = split(names, name, /[ \n]/) }
        $3 == "Y" && $2 ~ /Figs?[.]/ && $4 !~ /test|--/ { for (i = 1; i <= n; i++) if (name[i] != "" && (" " $4 " ") ~ ("[ ,;]" name[i] "[ ,;]")) { print; next } }' \
        "$CLV_TOP/apps/bench/papers/audit"
}
tap_none 'and no row of the audit rests on it alone' claimed_anyway
tap_end
