#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# apps/bench/paper: its table is whole, its sums are right on made-up lines, one figure is made for real, a figure
# that was not made or has left its range fails, and docs/results/papers.md is what it writes. TAP. 20 s;
# nothing is measured.
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
        $1 !~ /^(name|place|shows|run|same|idea|cannot|check|draw|why)$/ { print "line " NR ": no such key: " $1 }
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
                if ((has[s, "run"] > 0 || has[s, "same"]) != (has[s, "check"] > 0)) print s ": checks where there are data, and nowhere else"
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
sed -n 's/^check //p' "$table" | sed 's/: /\t/' >"$work/checks"
unreadable() { # on no data every check fails, and none is a riddle
    : | awk -v checks="$work/checks" -f "$CLV_TOP/apps/bench/page/lines.awk" -f "$CLV_TOP/apps/bench/papers/values.awk" 2>&1 |
        awk -F'\t' '$2 != "none" || $5 != "fails"'
}
tap_none 'every check can be read, and none holds without data' unreadable

# ---- the audit: what works, what does not, and why
audit=$CLV_TOP/apps/bench/papers/audit
unreasoned() {
    awk -F'|' '/^#/ { next } NF != 4 { print "line " NR ": not four fields" } $3 !~ /^[Yp-]$/ { print $1 ": no such state" }
        $3 == "p" && length($4) < 15 { print $1 ": partly, for what reason?" } $3 == "-" && $4 !~ /machine/ { print $1 ": absent, and no machine would help" }' "$audit"
    [ "$(grep -vc '^#' "$audit")" -eq 188 ] || echo 'not 188 rows'
    cut -d'|' -f4 "$audit" | grep -oE '\b(ic|hca3|mbr|et|clc)-(fig|table|lemma)[0-9]+(-scale)?' | sort -u | while read -r name; do
        grep -qx "name $name" "$table" || echo "there is no $name"
    done
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
} >"$work/lines"
value() { # expression
    printf 'x\t%s in - -\n' "$1" >"$work/one"
    awk -v checks="$work/one" -f "$CLV_TOP/apps/bench/page/lines.awk" -f "$CLV_TOP/apps/bench/papers/values.awk" "$work/lines" | cut -f2
}
sums() {
    local row
    for row in 'median(run_ns{algorithm=a})=2.5' 'mean(run_ns{algorithm=b*})=15' 'count(run_ns{wait_ns=2000})=8' \
        'median(run_ns{algorithm=b 1}) / median(run_ns{algorithm=a})=10' 'largest(run_ns{wait_ns<1500})=4' 'least(run_ns)=1' \
        'spread(run_ns{algorithm=a})=0.6' 'sigma(run_ns{algorithm=a})=1.291' 'deviation(run_ns{algorithm=a})=0.5164' 'lag1(run_ns{algorithm=a})=0.25' \
        'drift(run_ns{algorithm=b 2})=4' 'imbalance(rank_exit_ns)=3.5' 'mean(p)=0.5' 'mean(usable{algorithm=a})=0.8' \
        'welch(run_ns{algorithm=b 1} run_ns{algorithm=b 2})=3.038' 'median(nothing)=none' 'mean(p{algorithm=b 2})=none'; do
        [ "$(value "${row%=*}")" = "${row##*=}" ] || echo "${row%=*} is $(value "${row%=*}"), not ${row##*=}"
    done
}
tap_none 'medians, ratios, autocorrelation, Welch and the rest' sums
bounds() { # whether a value of 2.5 holds and agrees, by its bounds
    local row
    for row in '2 3:holds -' '- 2:fails -' '3 -:fails -' '2.5 2.5 paper 3 -:holds differs' '- - paper - 3:holds agrees'; do
        printf 'x\tmedian(run_ns{algorithm=a}) in %s\n' "${row%:*}" >"$work/one"
        [ "$(awk -v checks="$work/one" -f "$CLV_TOP/apps/bench/page/lines.awk" -f "$CLV_TOP/apps/bench/papers/values.awk" "$work/lines" | cut -f5,8 | tr '\t' ' ')" = "${row#*:}" ] || echo "$row"
    done
}
tap_none 'ranges, open and closed, ours and the papers' bounds

if command -v gnuplot >/dev/null; then
    pictures() {
        local how
        for how in 'x=wait_ns y=run_ns by=algorithm log' 'x=algorithm y=run_ns by=ranks' 'x=#call y=run_ns by=algorithm' 'x=#part y=run_ns by=algorithm' \
            'x=wait_ns y=run_ns by=algorithm deviation log' 'x=wait_ns y=run_ns by=algorithm frontier' 'x=wait_ns y=run_ns by=algorithm log stars=few' 'x=#gantt y=rank by=algorithm' \
            'x=#lag y=run_ns by=algorithm' 'x=#normal y=run_ns by=algorithm only=wait_ns=2000' 'x=#rank y=rank_exit_ns by=algorithm'; do
            rm -f "$work/f.svg"
            awk -v draw="$how" -v file="$work/f.svg" -v title=T -f "$CLV_TOP/apps/bench/page/lines.awk" -f "$CLV_TOP/apps/bench/papers/draw.awk" "$work/lines" >"$work/f" &&
                gnuplot "$work/f" 2>&1 && grep -q '</svg>' "$work/f.svg" || echo "$how"
        done
    }
    tap_none 'each kind of picture, and gnuplot has nothing to say' pictures
else
    tap_skip 'pictures' 'no gnuplot'
fi

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
trusted_anyway() {
    local name
    [ -n "$untrusted" ] || echo 'no figure is marked'
    for name in $untrusted; do
        grep -F "| [$name](#$name) |" "$CLV_TOP/docs/results/papers.md" | grep -v 'not measurable here: .* rows NOT network-bound |$'
        sed -n "/^## $name\$/,/^<!-- end/p" "$CLV_TOP/docs/results/papers.md" | grep -E '[|] (agrees|differs) [|]$'
    done
}
tap_none 'a figure with a row that the processors set neither agrees nor differs' trusted_anyway
claimed_anyway() { # rows of the audit that are about a figure and have nothing else
    awk -F'|' -v names="$untrusted" 'BEGIN { n = split(names, name, /[ \n]/) }
        $3 == "Y" && $2 ~ /Figs?[.]/ && $4 !~ /test|--/ { for (i = 1; i <= n; i++) if ((" " $4 " ") ~ ("[ ,;]" name[i] "[ ,;]")) { print; next } }' \
        "$CLV_TOP/apps/bench/papers/audit"
}
tap_none 'and no row of the audit rests on it alone' claimed_anyway
tap_end
