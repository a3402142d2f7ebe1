# SPDX-License-Identifier: BSD-3-Clause
#
# A script for gnuplot from JSON lines; runs after apps/bench/page/lines.awk. `draw` is "x=X y=KEY by=KEY[,KEY] [log]
# [only=NAME=VALUE] [frontier] [deviation] [least] [stars=KEY]": a line for each value of by, with marks and dashes that a printer tells
# apart; deviation: of each line's list the mean, with a bar of one deviation; least: the least of each
# line's list; frontier: a line along the points that none is left of and below; stars: of a line whose KEY is a probability
# of 5 %, 1 %, 0.1 % at most. X is a key, or
#
#     #call     the calls in turn: medians of a fortieth of them     #lag     autocorrelation up to lag 30
#     #part     the distribution: part of the calls up to a value    #normal  quantiles against a normal's
#     #rank     of lists of all ranks: the mean of each rank
#     #gantt    bars from arrival_ns to exit_ns, a row for each value of y, a panel for each value of by
#
# With a key, points are medians and bars reach from the least to the largest of the lines; against duration_ns, or words, they are not joined.
# y=#benefit is equation 5 of Entering Time from the least run_ns: (t0 + delay - t) / t, in percent.
# Units: keys that end in _ns are drawn in ns, us, ms or s, as their median is large.

function scale_of(key, typical) {
    if (key !~ /_ns$/) return 1
    if (typical < 0) typical = -typical
    return typical < 2e3 ? 1 : typical < 2e6 ? 1e3 : typical < 2e9 ? 1e6 : 1e9 }
function unit_of(scale) { return scale == 1 ? "ns" : scale == 1e3 ? "us" : scale == 1e6 ? "ms" : "s" }
function label_of(key, scale,   words) {
    words = key; sub(/_ns$/, "", words); gsub(/_/, " ", words)
    return words (key ~ /_ns$/ ? " [" unit_of(scale) "]" : "") }
function values_of(v,   all, ok, n, n_ok, k, m) { # of y in this line
    if (!index($0, "\"" y "\":[")) { if (number(y) == "") return 0; v[1] = number(y); return 1 }
    n = list(y, all); n_ok = list("usable", ok)
    if (is_least) { for (k = 1; k <= n; k++) if (all[k] != "null" && (n_ok != n || ok[k] == 1) && (!m || all[k] + 0 < v[1])) { v[1] = all[k] + 0; m = 1 } return m + 0 }
    if (y == "usable") { for (k = 1; k <= n; k++) m += all[k] / n; v[1] = m; return 1 } # the part that is
    for (k = 1; k <= n; k++) if (all[k] != "null" && (n_ok != n || ok[k] == 1)) v[++m] = all[k] + 0
    return m + 0 }
function factor(key, value,   scale) { scale = scale_of(key, value); sub(/_ns$/, "", key); return key " " value / scale (scale > 1 ? " " unit_of(scale) : "") }
function name_of(   n, i, parts, s) {
    n = split(by, parts, ",")
    for (i = 1; i <= n; i++) s = s (i > 1 ? ", " : "") (index($0, "\"" parts[i] "\":\"") ? text(parts[i]) : factor(parts[i], number(parts[i])))
    return s == "" ? "all" : s }
# Inverse of the normal distribution, by bisection on a series good to 1e-7: enough for a picture.
function below(z,   t, d) { t = 1 / (1 + 0.2316419 * (z < 0 ? -z : z)); d = exp(-z * z / 2) * 0.3989422804 * t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    return z < 0 ? d : 1 - d }
function normal(p,   low, high, i) { low = -5; high = 5; for (i = 0; i < 40; i++) { if (below((low + high) / 2) < p) low = (low + high) / 2; else high = (low + high) / 2 } return low }
function add(name, px, py) {
    if (!(name in first)) { first[name] = ++n_names; names[n_names] = name }
    xs[++n_points] = px; ys[n_points] = py; of[n_points] = name }
function add_stars(name, px, py,   p) {
    p = number(stars)
    if (p == "" || p + 0 > 0.05) return
    star_x[++n_stars] = px; star_y[n_stars] = py; star[n_stars] = p <= 0.001 ? "***" : p <= 0.01 ? "**" : "*" }
function add_deviation(name, px, w, n,   i, mean, d) { # the point is the middle one of three, the bar reaches to the others
    for (i = 1; i <= n; i++) mean += w[i] / n
    for (i = 1; i <= n; i++) d += (w[i] - mean) ^ 2 / (n - 1)
    add(name, px, mean); add(name, px, mean - sqrt(d) > w[1] ? mean - sqrt(d) : w[1]); add(name, px, mean + sqrt(d)) }
function add_series(name, v, n,   at, i, k, m, w, mean, top, bottom, lag, part) {
    if (x == "#gantt") { add(name, number("arrival_ns"), v[1]); ends[n_points] = number("exit_ns"); return }
    if (x == "#call") {
        m = int((n + 39) / 40)
        for (i = 1; i <= n; i += m) { for (k = 0; k < m && i + k <= n; k++) w[k + 1] = v[i + k]; sort(w, k); add(name, i + k / 2, quantile(w, k, 0.5)) }
    } else if (x == "#part" || x == "#normal") {
        sort(v, n); m = n > 80 ? n / 80 : 1
        for (i = 1; int(i) <= n; i += m) { part = (int(i) - 0.5) / n; if (x == "#part") add(name, v[int(i)], part); else add(name, normal(part), v[int(i)]) }
    } else if (x == "#lag") {
        for (i = 1; i <= n; i++) mean += v[i] / n
        for (i = 1; i <= n; i++) bottom += (v[i] - mean) ^ 2
        for (lag = 1; lag <= 30 && lag < n && bottom > 0; lag++) { top = 0; for (i = 1; i + lag <= n; i++) top += (v[i] - mean) * (v[i + lag] - mean); add(name, lag, top / bottom) }
    } else if (x == "#rank") {
        m = number("ranks")
        for (k = 1; k <= m; k++) { mean = 0; for (i = k; i <= n; i += m) mean += v[i] / (n / m); add(name, k - 1, mean) }
    } else for (i = 1; i <= n; i++) w[i] = v[i]
    if (x !~ /^#/ && n > 0) { sort(w, n); at = index($0, "\"" x "\":\"") ? text(x) : number(x); if (has_deviation && n > 1) add_deviation(name, at, w, n); else add(name, at, quantile(w, n, 0.5)); if (stars != "") add_stars(name, xs[n_points], ys[n_points]) } }
function medians(values, n,   i, w) { for (i = 1; i <= n; i++) w[i] = values[i] + 0; sort(w, n); return n ? quantile(w, n, 0.5) : 0 }

# Of what lies below the last point of it, the one that is furthest left.
function print_frontier(sx, sy,   i, best, low) {
    print "$front << EOD"
    for (;;) {
        best = 0
        for (i = 1; i <= n_points; i++)
            if ((low == "" || ys[i] + 0 < low) && (!best || xs[i] + 0 < xs[best] + 0 || (xs[i] + 0 == xs[best] + 0 && ys[i] + 0 < ys[best] + 0))) best = i
        if (!best) break
        low = ys[best] + 0; printf "%.8g %.8g\n", xs[best] / sx, ys[best] / sy
    }
    print "EOD" }
function print_gantt(   s, i, scale, most, rows) {
    print "set terminal svg size 760,460 font 'sans,12' background 'white'\nset output '" file "'\nset grid x\nset tics nomirror\nset border 3\nset style fill solid 0.6 border\nunset key\nset ytics 1 font ',9'"
    print "set multiplot layout " n_names ",1 title '" title "' noenhanced"
    for (i = 1; i <= n_points; i++) if (ys[i] + 0 > rows) rows = ys[i] + 0
    for (s = 1; s <= n_names; s++) {
        most = 0
        for (i = 1; i <= n_points; i++) if (of[i] == names[s] && ends[i] + 0 > most) most = ends[i] + 0
        scale = scale_of("at_ns", most)
        print "$line" s " << EOD"
        for (i = 1; i <= n_points; i++) if (of[i] == names[s]) printf "%.9g %.9g %.9g %g %g %g\n", xs[i] / scale, xs[i] / scale, ends[i] / scale, ys[i], ys[i] - 0.35, ys[i] + 0.35
        print "EOD\nset title '" by ": " names[s] "' noenhanced\nset xlabel 'since the first arrival [" unit_of(scale) "]' noenhanced\nset ylabel '" y "' noenhanced\nset yrange [-0.7:" rows + 0.7 "]\nset offsets graph 0.02, graph 0.02, 0, 0"
        print "plot $line" s " using 1:4:2:3:5:6 with boxxyerror lc rgb '" colour[s] "'"
    }
    print "unset multiplot" }

BEGIN {
    n = split(draw, parts, " ")
    for (i = 1; i <= n; i++) {
        at = index(parts[i], "="); key = at ? substr(parts[i], 1, at - 1) : parts[i]; value = substr(parts[i], at + 1)
        if (key == "x") x = value; else if (key == "y") y = value; else if (key == "by") by = value
        else if (key == "log") is_log = 1; else if (key == "frontier") has_frontier = 1; else if (key == "deviation") has_deviation = 1; else if (key == "least") is_least = 1; else if (key == "stars") stars = value; else if (key == "only") { at = index(value, "="); only = substr(value, 1, at - 1); wanted = substr(value, at + 1) }
    }
    split("#0072b2 #d55e00 #009e73 #cc79a7 #000000 #e69f00 #56b4e9 #999999", colour, " "); split("7 5 9 11 13 6 4 8", mark, " ")
    n_dashes = split("1 (8,4) (2,3) (8,3,2,3) (14,4)", dash, " ") }
y == "#benefit" { y = "run_ns"; is_least = is_benefit = 1 }
is_benefit { # lines without a delay come before those with one
    split("", v); if (!values_of(v)) next
    at = number("ranks") "," number("bytes") "," number("nonblocking")
    if (number("delay_ns") + 0 == 0) { t0[at] = v[1]; next }
    if (only != "" && number(only) != wanted + 0) next
    v[1] = 100 * (t0[at] + number("delay_ns") - v[1]) / v[1]; add_series(name_of(), v, 1); next }
only != "" && (index($0, "\"" only "\":\"") ? text(only) != wanted : number(only) != wanted + 0) { next }
{ split("", v); m = values_of(v); if (m) add_series(name_of(), v, m) }
END {
    if (!n_points) exit 1
    if (x == "#gantt") { print_gantt(); exit }
    if (is_benefit) y = "benefit [%]"
    sy = scale_of(x == "#part" ? "" : x == "#lag" ? "" : y, medians(ys, n_points))
    sx = scale_of(x == "#part" ? y : x, medians(xs, n_points))
    head = x == "#call" ? (y == "offset_ns" ? "second" : "call") : x == "#lag" ? "lag [calls]" : x == "#normal" ? "quantile of the normal distribution" : x == "#rank" ? "rank" : x == "#part" ? label_of(y, sx) : label_of(x, sx)
    print "set terminal svg size 760,460 font 'sans,12' background 'white'\nset output '" file "'\nset title '" title "' noenhanced\nset key outside below Left reverse noenhanced\nset autoscale fix\nset grid\nset tics nomirror\nset border 3\nset offsets graph 0.03, graph 0.03, graph 0.03, graph 0.03"
    if (n_stars) head = head "; * ** ***: p at most 5, 1, 0.1 %"
    print "set xlabel '" head "' noenhanced\nset ylabel '" (x == "#part" ? "part of the calls" : x == "#lag" ? "autocorrelation" : label_of(y, sy)) "' noenhanced"
    if (is_log) print "set logscale " (x == "#part" ? "x" : "y")
    for (i = 1; i <= n_points; i++) { if (i == 1 || xs[i] + 0 < low_x) low_x = xs[i] + 0; if (xs[i] + 0 > high_x) high_x = xs[i] + 0 }
    if (x == "bytes" && low_x > 0 && high_x >= 64 * low_x) print "set logscale x 2"
    for (i = 1; i <= n_stars; i++) printf "set label '%s' at %.8g, %.8g center offset 0, 0.5 noenhanced\n", star[i], star_x[i] / sx, star_y[i] / sy
    if (has_frontier) print_frontier(sx, sy)
    for (i = 1; i <= n_points; i++) if (xs[i] !~ /^[-0-9.eE+]+$/ && !(xs[i] in place)) { place[xs[i]] = n_places++; n_letters += length(xs[i]); tics = tics (n_places > 1 ? ", " : "") "'" (length(xs[i]) > 32 ? substr(xs[i], 1, 29) "..." : xs[i]) "' " n_places - 1 }
    if (n_places) print "set xtics (" tics ")" (n_places > 6 || n_letters > 80 ? " rotate by 30 right font ',9'" : "") " noenhanced"
    for (s = 1; s <= n_names; s++) {
        print "$line" s " << EOD"; split("", low); split("", high); split("", values); split("", order); n = 0
        for (i = 1; i <= n_points; i++) if (of[i] == names[s]) {
            p = n_places ? place[xs[i]] : xs[i] / sx
            if (x ~ /^#/) { printf "%.8g %.8g\n", p, ys[i] / sy; continue }
            if (!(p in values)) order[++n] = p
            values[p] = values[p] " " ys[i] / sy
        }
        for (i = 1; i <= n; i++) order[i] += 0
        sort(order, n)
        for (i = 1; i <= n; i++) { k = split(values[order[i]], w, " "); sort(w, k); for (j = 1; j <= k; j++) w[j] += 0; sort(w, k); printf "%.8g %.8g %.8g %.8g\n", order[i], quantile(w, k, 0.5), w[1], w[k] }
        print "EOD"
    }
    printf "plot "
    for (s = 1; s <= n_names; s++) {
        style = "lc rgb '" colour[(s - 1) % 8 + 1] "' dt " dash[(s - 1) % n_dashes + 1] " pt " mark[(s - 1) % 8 + 1] " ps 0.7" (x == "#part" || x == "#normal" ? " pi 10" : "")
        printf "%s$line%d using 1:2 with %s %s title \"%s\"", (s > 1 ? ", " : ""), s, (x == "duration_ns" || n_places ? "points" : "linespoints"), style, names[s]
        if (x !~ /^#/) printf ", $line%d using 1:2:3:4 with yerrorbars %s notitle", s, style
    }
    print (has_frontier ? ", $front using 1:2 with steps lc rgb 'black' lw 2 dt 2 title 'Pareto frontier'" : "") }
