# SPDX-License-Identifier: BSD-3-Clause
#
# The page of apps/bench/grid. In: a line for each cell, worst first: cell, ratio to the default, its limits,
# verdict, best stock setting, ratio to it, its limits, verdict or "-", whether ranks waited for
# processors, file, "fixed" or "other". Out: counts, the ten worst, losses, what is undecided.

function row(i) {
    printf "| %s | %.3f | %.3f - %.3f | %s | %s | %.3f | %.3f - %.3f | %s |%s\n", cell[i], ratio[i], low[i], high[i], verdict[i],
        best[i], stock_ratio[i], stock_low[i], stock_high[i], stock_verdict[i], cpu[i] ? " processors" : "" }
function heading() {
    print "| cell: hosts, bytes, pattern, coupling, c | / default | limits | | best stock | / it | limits | |\n|---|---|---|---|---|---|---|---|" }
function wanted(i, which) {
    return which == "worst" ? i <= 10 : which == "lost" ? verdict[i] == "fails" || stock_verdict[i] == "fails" : verdict[i] == "undecided" }
function section(title, which,   i, any) {
    print "\n" title "\n"
    for (i = 1; i <= n; i++) if (wanted(i, which)) { if (!any++) heading(); row(i) }
    if (!any) print "- none" }

{
    n++; cell[n] = $1; ratio[n] = $2; low[n] = $3; high[n] = $4; verdict[n] = $5
    best[n] = $6; stock_ratio[n] = $7; stock_low[n] = $8; stock_high[n] = $9; stock_verdict[n] = $10
    cpu[n] = $11; count[$5]++; stock[$10]++; bound += $11; again += ($12 ~ /again/); if ($13 == "other") { n_others++; others[$5]++ } }

END {
    if (!n) { print "Not measured yet: `apps/bench/grid`."; exit }
    printf "%d cells: **%d fail**, %d undecided, %d hold (ratio of an iteration to default above %s). ", n, count["fails"], count["undecided"], count["holds"], limit
    printf "Against the best stock setting, from 256 KiB on: %d fail, %d undecided, %d hold (above %s). ", stock["fails"], stock["undecided"], stock["holds"], stock_limit
    printf "%d were measured again; in %d ranks waited for processors.\n", again, bound
    if (n_others) printf "\nOf the cells that are not fixed, %d are among them: %d fail, %d undecided, %d hold.\n",
        n_others, others["fails"], others["undecided"], others["holds"]
    section("The ten with the largest ratio to default:", "worst")
    section("Losses, against either:", "lost")
    section("Undecided against default:", "undecided")
}
