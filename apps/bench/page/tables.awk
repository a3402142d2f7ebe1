# SPDX-License-Identifier: BSD-3-Clause
#
# The tables of docs/results/single-calls.md for so many hosts, from the lines of clv-bench: apps/bench/results
# runs it after lines.awk, with the command that was measured as `command`.

function ms(ns) { return ns == "" ? "-" : sprintf("%.1f", ns / 1e6) }
function ratio(r) { return r == "" || r == 0 ? "-" : sprintf("%.2f", r) }
# Against those that a user would have instead: "; clv after 1.05 x pipeline, in MPI 1.17 x default"
function loss(what, mine, other, name,   r) { r = other + 0 > 0 ? mine / other : 0
    return r > 1.03 ? sprintf(", %s %.2f x %s", what, r, name) : "" }
function losses(p, name,   id, s, all) { id = p " " name
    for (s = 1; s <= n_stock; s++) all = all loss("after", after[id], after[p " " stock[s]], stock[s]) loss("in MPI", mpi[id], mpi[p " " stock[s]], stock[s])
    return all == "" ? "" : "; " name " " substr(all, 3) }
# Of the words those that were measured, in this order.
function measured(words, into,   all, n, i, m) { n = split(words, all, " ")
    for (i = 1; i <= n; i++) if (all[i] in seen_a) into[++m] = all[i]
    return m + 0 }
function columns(heading,   s, row) { for (s = 1; s <= n_s; s++) row = row (s == 1 ? " " heading ": " : " ") chosen[s] " |"
    return row }
# A row's figures: the median of what its mpiruns say, each of which has a line; quartiles of all their usable calls.
function keep(id,   n, m, i, r) {
    n = list("after_ns", all); list("usable", ok); m = 0; r = ++n_runs[id]
    for (i = 1; i <= n; i++) if (ok[i] == 1) { kept[++m] = all[i] + 0; pool[id, ++n_pool[id]] = all[i] + 0 }
    sort(kept, m); run_after[id, r] = m ? quantile(kept, m, 0.5) : ""
    run_mpi[id, r] = number("in_mpi_mean_median_ns"); run_bound[id, r] = number("ratio_bound"); run_first[id, r] = number("ratio_first")
    unusable += n - m; if (r > most_runs) most_runs = r }
function at(what, n, id, q,   i, m, v) { # the quantile of those of an id that are there
    for (i = 1; i <= n; i++) if (what[id, i] != "") v[++m] = what[id, i]
    if (!m) return ""
    sort(v, m); return quantile(v, m, q) }
function summarise(id,   n) { n = n_runs[id]
    after[id] = at(run_after, n, id, 0.5); mpi[id] = at(run_mpi, n, id, 0.5); bound[id] = at(run_bound, n, id, 0.5); first[id] = at(run_first, n, id, 0.5)
    q1[id] = at(pool, n_pool[id], id, 0.25); q3[id] = at(pool, n_pool[id], id, 0.75)
    if (most_runs > 1) runs[id] = sprintf(" %s - %s |", ms(at(run_after, n, id, 0)), ms(at(run_after, n, id, 1))) }
{ p = text("pattern"); a = text("algorithm"); id = p " " a
  if (!(p in seen_p)) { seen_p[p] = 1; patterns[++n_p] = p }
  if (!(a in seen_a)) { seen_a[a] = 1; names[++n_a] = a }
  keep(id)
  error = number("arrival_error_median_ns"); if (error > worst_error) worst_error = error
  if (index($0, "\"network_bound\":false")) not_bound[p] = 1
  if (number("right") != number("calls")) wrong++
  calls = number("calls")
  load = number("load"); if (load != "") { if (load > most_load) most_load = load; if (least_load == "" || load < least_load) least_load = load }
  factors = sprintf("%s; Linux %s; %d ranks, %d bytes, %s, %s, root %d, delay %g ms, jitter %g; clock %s, sync %s, seed %d; %d calls before",
      text("mpi"), text("system"), number("ranks"), number("bytes"), text("type"), text("op"), number("root"),
      number("delay_ns") / 1e6, number("jitter"), text("clock"), text("sync"), number("seed"), number("warmup"))
  if (calls > most_calls) most_calls = calls
  if (least_calls == "" || calls < least_calls) least_calls = calls }
function from_to(least, most) { return least == most ? most : least " to " most }
END {
    sub(/, package[^;]*/, "", factors)
    least_runs = most_runs
    for (id in n_runs) { summarise(id); if (n_runs[id] < least_runs) least_runs = n_runs[id] }
    factors = factors ", " from_to(least_calls, most_calls) " measured"
    if (most_runs > 1) factors = factors " in each of " from_to(least_runs, most_runs) " mpiruns"
    print "Command, once for each pattern (`apps/bench/results` runs them):\n`" command " PATTERN`\n"
    if (least_load != "") factors = factors sprintf("; %d processors, load with this run %.1f to %.1f", number("processors"), least_load, most_load)
    print factors ". Largest median arrival error " sprintf("%.2f", worst_error / 1e6) " ms; " unusable + 0 " calls started late and left out; " wrong + 0 " rows with a wrong result.\n"
    n_stock = measured("default pipeline han tuned:4 tuned:3:32768", stock)
    n_s = measured("default pipeline han tuned:4 tuned:3:32768 clv:plain_ring clv:cut_ring clv clv+hint", chosen)
    print "| |" columns("after / bound") columns("in MPI [ms]")
    printf "|---|"
    for (s = 1; s <= 2 * n_s; s++) printf "---|"
    print ""
    for (i = 1; i <= n_p; i++) {
        printf "| %s |", patterns[i]
        for (s = 1; s <= n_s; s++) printf " %s |", ratio(bound[patterns[i] " " chosen[s]])
        for (s = 1; s <= n_s; s++) printf " %s |", ms(mpi[patterns[i] " " chosen[s]])
        print (patterns[i] in not_bound) ? " NOT network-bound" : ""
    }
    print "\nWhere clv loses by more than 3 % (ratios of medians):\n"
    for (i = 1; i <= n_p; i++) {
        lost = losses(patterns[i], "clv") losses(patterns[i], "clv+hint")
        if (lost != "") print "- " patterns[i] ": " substr(lost, 3)
        n_lost += lost != ""
    }
    if (!n_lost) print "- nowhere"
    for (i = 1; i <= n_p; i++) {
        print "\n**" patterns[i] "**" ((patterns[i] in not_bound) ? " (NOT network-bound: ranks waited for processors)" : "") "\n"
        print "| | after [ms] | quartiles |" (most_runs > 1 ? " mpiruns |" : "") " / bound | / default | in MPI [ms] |\n|---|---|---|" (most_runs > 1 ? "---|" : "") "---|---|---|"
        for (a = 1; a <= n_a; a++) {
            id = patterns[i] " " names[a]
            if (id in after) printf "| %s | %s | %s - %s |%s %s | %s | %s |\n", names[a], ms(after[id]), ms(q1[id]), ms(q3[id]), runs[id], ratio(bound[id]), ratio(first[id]), ms(mpi[id])
        }
    }
}
