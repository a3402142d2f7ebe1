# SPDX-License-Identifier: BSD-3-Clause
#
# Rows of apps/bench/loop's tables, behind lines.awk. In: the lines of clv-bench-compare --paired csv, then the
# JSON lines of clv-bench --loop, of one program; out: a row for each algorithm. With factors=1 only
# JSON lines come in, of all programs, and one line about the machine goes out. With brief=1 one row: clv
# against the baseline.

function largest(key,   v, n, i, most) {
    n = list(key, v)
    for (i = 1; i <= n; i++) if (v[i] + 0 > most) most = v[i] + 0
    return most / 1e6 }
function middle(key,   v, n, i) {
    n = list(key, v)
    for (i = 1; i <= n; i++) v[i] += 0
    sort(v, n)
    return n ? quantile(v, n, 0.5) : 0 }

!/^{/ { split($0, f, ","); ratio[f[9]] = f[13]; low[f[9]] = f[14]; high[f[9]] = f[15]; next }
factors {
    wrong += number("wrong"); load = number("load")
    if (load > most) most = load
    if (least == "" || load < least) least = load
    mpi = text("mpi"); sub(/,.*/, "", mpi)
    machine = mpi "; Linux " text("system") "; " number("processors") " processors"
    next }
{
    a = text("algorithm"); names[++n] = a; first[a] = number("first_median_ns") / 1e6
    it[a] = number("iteration_median_ns") / 1e6
    row[a] = sprintf("%.1f | %.1f - %.1f", it[a], number("iteration_q1_ns") / 1e6, number("iteration_q3_ns") / 1e6)
    call[a] = middle("in_call_ns") / 1e6; worst[a] = largest("worst_ns")
    rest[a] = sprintf("%.1f | %g | %.0f | %.0f", call[a], middle("ahead_calls"), worst[a], largest("first_worst_ns"))
    if (index($0, "\"network_bound\":false")) bound = " NOT network-bound" }

END {
    if (factors) printf "%s, load with these runs %.1f to %.1f. Every result was checked, %d were wrong.\n", machine, least, most, wrong
    if (brief) {
        printf "| %s | %s | %.1f | %.1f | %.3f | %.3f - %.3f | %.2f | %.1f | %.1f | %.0f | %.0f |%s\n", program, baseline, it[baseline], it["clv"],
            ratio["clv"], low["clv"], high["clv"], first["clv"] / first[baseline], call[baseline], call["clv"], worst[baseline], worst["clv"], bound
        exit }
    for (i = 1; i <= n; i++) {
        a = names[i]
        printf "| %s | %s | %s | %.2f | %.2f - %.2f | %.1f | %.2f | %s |%s\n", i == 1 ? program : "", a, row[a], ratio[a], low[a], high[a],
            first[a], first[baseline] ? first[a] / first[baseline] : 0, rest[a], bound }
}
