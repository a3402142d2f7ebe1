# SPDX-License-Identifier: BSD-3-Clause
#
# The tables of docs/results/shared-memory.md, from lines of apps/bench/shared_memory; runs after lines.awk. The
# mpiruns of a row are in the order of the file; a ratio is made of lines of one mpirun.

{
    row = text("pml") "|" number("ranks") "|" number("bytes") "|" text("couple") "|" number("segment")
    if (!(row in n_runs)) { n_runs[row] = 0; rows[++n_rows] = row }
    algorithm = text("algorithm")
    run = ++runs[row, algorithm]
    if (run > n_runs[row]) n_runs[row] = run
    ms[row, algorithm, run] = number("iteration_ms")
    day = substr(text("time"), 1, 10); cpu = text("cpu"); processors = number("processors")
}
function median(row, algorithm,   v, k) {
    for (k = 1; k <= n_runs[row]; k++) v[k] = ms[row, algorithm, k]
    sort(v, n_runs[row]); return quantile(v, n_runs[row], 0.5)
}
function strongest(row, k,   best) { # of one mpirun
    best = ms[row, "default", k]
    if (ms[row, "pipeline", k] < best) best = ms[row, "pipeline", k]
    if (ms[row, "rabenseifner", k] < best) best = ms[row, "rabenseifner", k]
    return best
}
function ratios(row,   v, k) { # "median | least to most"
    for (k = 1; k <= n_runs[row]; k++) v[k] = ms[row, "clv", k] / strongest(row, k)
    sort(v, n_runs[row])
    return sprintf("%.3f | %.3f to %.3f", quantile(v, n_runs[row], 0.5), v[1], v[n_runs[row]])
}
function print_rows(with_segment,   i, part) {
    for (i = 1; i <= n_rows; i++) {
        split(rows[i], part, "|")
        if ((part[5] > 0) != with_segment) continue
        printf "| %s | %d | %d KiB | %s | ", part[1], part[2], part[3] / 1024, with_segment ? part[5] : part[4]
        printf "%.2f | %.2f | %.2f | %.2f | %s |\n", median(rows[i], "default"), median(rows[i], "pipeline"),
            median(rows[i], "rabenseifner"), median(rows[i], "clv"), ratios(rows[i])
    }
}
END {
    printf "Measured %s, three mpiruns of each row, %d processors (%s).\n\n", day, processors, cpu
    print "| PML | ranks | vector | coupled by | default [ms] | pipeline [ms] | Rabenseifner [ms] | clv [ms] | clv / strongest | least to most |"
    print "|---|---|---|---|---|---|---|---|---|---|"
    print_rows(0)
    print "\n**clv's segments set by hand** (`coll_clv_segment_bytes`), free:\n"
    print "| PML | ranks | vector | segment [bytes] | default [ms] | pipeline [ms] | Rabenseifner [ms] | clv [ms] | clv / strongest | least to most |"
    print "|---|---|---|---|---|---|---|---|---|---|"
    print_rows(1)
}
