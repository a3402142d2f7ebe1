# SPDX-License-Identifier: BSD-3-Clause
#
# The claims of this project, held against the lines of one apps/bench/show, which runs it after
# lines.awk. Exit 1: one does not hold, or clv did not run.

function claim(what, value, limit,   holds) { # a figure that is missing holds nothing
    holds = value != "" && value + 0 <= limit
    printf "  %-72s %7.3f  limit %5.2f  %s\n", what, value, limit, holds ? "holds" : "DOES NOT HOLD"
    failed += !holds }
function quotient(a, b) { return a != "" && b > 0 ? a / b : "" }
{ id = text("pattern") " " number("bytes") " " text("algorithm")
  after[id] = number("after_median_ns"); mpi[id] = number("in_mpi_mean_median_ns")
  first[id] = number("ratio_first"); bound[id] = number("ratio_bound")
  cpu_bound += index($0, "\"network_bound\":false") > 0
  if (text("algorithm") == "clv") { clv = 1; if (text("part") == "small") tiny[++n] = id } }
END {
    if (!clv) exit 1
    print "\nclaims (paired ratios, medians; times in MPI as ratios of medians):"
    big = " 2097152 "
    claim("repeated pattern: after / bound", bound["repeated" big "clv"], 1.15)
    claim("repeated pattern: after / default", first["repeated" big "clv"], 0.5)
    claim("repeated pattern: mean time in MPI / pipeline", quotient(mpi["repeated" big "clv"], mpi["repeated" big "pipeline"]), 1)
    claim("fresh pattern: after / default", first["uniform" big "clv"], 1.1)
    claim("balanced: after / default", first["balanced" big "clv"], 1.03)
    for (i = 1; i <= n; i++) {
        split(tiny[i], w, " ")
        printf "  %-72s %7.3f  the default against itself %.3f\n", w[1] ", " w[2] " bytes: after / default",
            first[tiny[i]], first[w[1] " " w[2] " again"]
        small[i] = first[tiny[i]]
        for (k = i; k > 1 && small[k] < small[k - 1]; k--) { t = small[k]; small[k] = small[k - 1]; small[k - 1] = t }
    }
    claim("small messages: median of these", (small[int((n + 1) / 2)] + small[int(n / 2) + 1]) / 2, 1.03)
    if (cpu_bound) print "  bound by the processors in " cpu_bound " rows; small balanced calls are always, on fewer cores than hosts"
    exit failed > 0 }
