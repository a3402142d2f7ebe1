# SPDX-License-Identifier: BSD-3-Clause
#
# One line under a figure: how many processes, on which hosts, whose time. Runs after apps/bench/page/lines.awk on a
# figure's data. Processes, and the clock where the data have it, are the data's; hosts are those of `command`, what was
# run, whose words are those of apps/bench/paper.

function after(words,   at, rest) { # the word behind these in the command, or ""
    at = index(command, words); rest = substr(command, at + length(words)); sub(/^ */, "", rest); sub(/[ ;)].*/, "", rest)
    return at ? rest : "" }
function add(n) { if (n != "" && !(n in seen)) { seen[n] = 1; counts[++n_counts] = n + 0 } }
{
    add(number("ranks")); add(number("processes"))
    if (number("rank") != "") { n = number("rank") + 1; if (n > most) most = n }
    if (text("clock") != "" && !(text("clock") in of)) { of[text("clock")] = 1; clocks = clocks (clocks == "" ? "" : ", ") text("clock") }
}
function processes(   i, s) {
    if (!n_counts && most) add(most)
    sort(counts, n_counts)
    for (i = 1; i <= n_counts; i++) s = s (i > 1 ? ", " : "") counts[i]
    return s == "" ? "processes not recorded" : s " process" (s == 1 ? "" : "es") }
# All numbers behind "hosts", in words.
function all_hosts(   rest, s, w) {
    for (rest = command; match(rest, /(^| )hosts [0-9x]+/); rest = substr(rest, RSTART + RLENGTH)) { w = substr(rest, RSTART, RLENGTH); sub(/.* /, "", w); if (!(w in is_host)) { is_host[w] = 1; s = s (s == "" ? "" : ", ") w } }
    return s }
function hosts(   n) {
    if (command ~ /sim_clocks/) return (n_counts == 1 ? counts[1] / (after("--ranks-per-host") + 0 > 0 ? after("--ranks-per-host") : 1) " " : "") "simulated hosts" (after("--ranks-per-host") == "" ? "" : " of " after("--ranks-per-host"))
    if (command ~ /(^|;; )sim |sim\/configurations/) return "hosts simulated by SimGrid"
    if (command ~ /bench_plan|(^| )plan /) return "plans, no messages"
    if (command ~ /(^| )correct /) return "synthetic traces"
    if (command ~ /(^| )(ranks|libraries) [0-9]/) return "one host, shared memory"
    if (command ~ /(^| )reproduce /) return "emulated hosts"
    if (command ~ /hosts \$n/) return "as many emulated hosts"
    n = command ~ /(^| )compare [0-9]/ ? after("compare " after("compare")) : command ~ /(^| )bent [0-9]/ ? after("bent " after("bent")) : command ~ /(^| )charted / ? after("charted") : all_hosts()
    if (n ~ /x/) return substr(n, 1, index(n, "x") - 1) " emulated hosts of " substr(n, index(n, "x") + 1)
    return n " emulated hosts" }
function methods(   rest, s, w) { # all of --clock
    for (rest = command; match(rest, /--clock [^ ;]+/); rest = substr(rest, RSTART + RLENGTH)) { w = substr(rest, RSTART + 8, RLENGTH - 8); if (!(w in named)) { named[w] = 1; s = s (s == "" ? "" : ", ") w } }
    return s }
function time(   s, bent) {
    if (command ~ /sim_clocks/) return "clocks simulated, errors against the true time"
    if (command ~ /(^|;; )sim |sim\/configurations/) return "SimGrid's"
    if (command ~ /bench_plan/) return "the processor's time"
    if (command ~ /(^| )plan /) return "none"
    if (command ~ /(^| )correct /) return "synthetic ones, corrected"
    if (command ~ /(^| )charted /) return "the hosts' own, an hour apart, and clv's global one"
    if (command ~ /--truth realtime/) return "the methods named, with drifts of up to " after("--drift-ppm") " ppm put in; errors against CLOCK_REALTIME, which all hosts share"
    s = methods()
    if (command ~ /clv-clock/) return (s == "" ? "monotonic" : s) ", one crystal for all hosts"
    if (clocks == "" && s == "") return "CLOCK_REALTIME, one for all hosts"
    bent = command ~ /(^| )bent / ? ", one host fast by " after("bent") " ppm" : ""
    if (clocks != "") { sub(/(^|, )realtime/, "&, one for all hosts", clocks); sub(/realtime/, "CLOCK_REALTIME", clocks); return clocks bent }
    return s bent (command ~ /clv-bench --sync [^;]*--collective/ && command !~ /--clock [^;]*;; [^;]*--clock/ ? ", else CLOCK_REALTIME, one for all hosts" : "") }
END { print processes() "; " hosts() "; clock: " time() "." }
