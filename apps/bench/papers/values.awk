# SPDX-License-Identifier: BSD-3-Clause
#
# What apps/bench/paper asks of JSON lines; runs after apps/bench/page/lines.awk. Each check is a line of the file
# `checks`: words, a tab, then
#
#     EXPRESSION in LOW HIGH [paper LOW HIGH]      a bound that is "-" is none
#
# EXPRESSION is TERM or TERM / TERM; TERM is FUNCTION(KEY) or FUNCTION(KEY{NAME=VALUE,...}), over all lines
# that have that key and those names and values (a value that ends
# in * stands for all that begin like it; NAME<VALUE for all below). Lists are taken without calls that are
# not usable. welch(KEY{...} KEY{...}) is the t of Welch's test.
# Out, per check: words, value, low, high, "holds" or "fails", the paper's low and high, "agrees",
# "differs" or "-"; tabs between. What has no data has value "none" and fails.

function is_chosen(filter,   n, i, parts, at, name, value, is) {
    n = split(filter, parts, ",")
    for (i = 1; i <= n; i++) {
        at = match(parts[i], /[=<]/); name = substr(parts[i], 1, at - 1); value = substr(parts[i], at + 1)
        is = index($0, "\"" name "\":\"") ? text(name) : number(name)
        if (substr(parts[i], at, 1) == "<") { if (is == "" || is + 0 >= value + 0) return 0 }
        else if (value ~ /\*$/) { if (substr(is, 1, length(value) - 1) != substr(value, 1, length(value) - 1)) return 0 }
        else if (is "" != value && (is == "" || value !~ /^[0-9.eE+-]+$/ || is + 0 != value + 0)) return 0
    }
    return 1 }
# All values of the term into v; returns how many. ends[i]: where those of a line end.
function gather(term, v,   key, filter, at, i, k, n, m, all, ok, n_ok) {
    at = index(term, "{"); key = at ? substr(term, 1, at - 1) : term
    filter = at ? substr(term, at + 1, length(term) - at - 1) : ""
    n_ends = 0; m = 0
    for (i = 1; i <= n_lines; i++) {
        $0 = line[i]
        if (!is_chosen(filter)) continue
        if (index($0, "\"" key "\":[")) {
            n = list(key, all); n_ok = key == "usable" ? 0 : list("usable", ok)
            for (k = 1; k <= n; k++) if (all[k] != "null" && (n_ok != n || ok[k] == 1)) v[++m] = all[k] + 0
        } else if (number(key) != "") v[++m] = number(key)
        else continue
        ends[++n_ends] = m
    }
    ranks = number("ranks")
    return m }
function mean_of(v, from, to,   i, s) { for (i = from; i <= to; i++) s += v[i]; return s / (to - from + 1) }
function variance_of(v, n,   i, s, m) { m = mean_of(v, 1, n); for (i = 1; i <= n; i++) s += (v[i] - m) ^ 2; return s / (n - 1) }
function at_part(v, n, q,   w, i) { for (i = 1; i <= n; i++) w[i] = v[i]; sort(w, n); return quantile(w, n, q) }
# Within lines: the mean of each line's autocorrelation at that lag.
function correlation(v, lag,   e, from, to, i, m, top, below, all) {
    for (e = 1; e <= n_ends; e++) {
        from = e > 1 ? ends[e - 1] + 1 : 1; to = ends[e]; m = mean_of(v, from, to); top = below = 0
        for (i = from; i <= to; i++) { below += (v[i] - m) ^ 2; if (i + lag <= to) top += (v[i] - m) * (v[i + lag] - m) }
        all += below > 0 ? top / below : 0
    }
    return all / n_ends }
# The last tenth of each line's calls against the first.
function drift_of(v,   e, from, to, n, k, i, first, last, a, b, all) {
    for (e = 1; e <= n_ends; e++) {
        from = e > 1 ? ends[e - 1] + 1 : 1; to = ends[e]; n = int((to - from + 10) / 10)
        for (i = 0; i < n; i++) { first[i + 1] = v[from + i]; last[i + 1] = v[to - i] }
        all += at_part(last, n, 0.5) / at_part(first, n, 0.5)
    }
    return all / n_ends }
# Of lists of all ranks, call by call: the median distance from the first to the last rank.
function imbalance(v, n,   i, k, low, high, m, d) {
    for (i = 1; i + ranks - 1 <= n; i += ranks) {
        low = high = v[i]
        for (k = i + 1; k < i + ranks; k++) { if (v[k] < low) low = v[k]; if (v[k] > high) high = v[k] }
        d[++m] = high - low
    }
    return at_part(d, m, 0.5) }
function term_of(t,   at, name, inside, n, m, v, w, gap) {
    at = index(t, "("); name = substr(t, 1, at - 1); inside = substr(t, at + 1, length(t) - at - 1)
    if (at == 0 || t !~ /\)$/) { print "values: '" t "' is no term" > "/dev/stderr"; bad = 1; return "none" }
    if (name == "welch") {
        gap = index(inside, "} ")
        n = gather(substr(inside, 1, gap), v); m = gather(substr(inside, gap + 2), w)
        return n < 2 || m < 2 ? "none" : (mean_of(v, 1, n) - mean_of(w, 1, m)) / sqrt(variance_of(v, n) / n + variance_of(w, m) / m)
    }
    n = gather(inside, v)
    if (n == 0) return "none"
    if (name == "median") return at_part(v, n, 0.5)
    if (name == "least") return at_part(v, n, 0)
    if (name == "largest") return at_part(v, n, 1)
    if (name == "mean") return mean_of(v, 1, n)
    if (name == "count") return n
    if (name == "spread") return (at_part(v, n, 0.75) - at_part(v, n, 0.25)) / at_part(v, n, 0.5)
    if (name == "deviation") return n > 1 ? sqrt(variance_of(v, n)) / mean_of(v, 1, n) : "none"
    if (name == "sigma") return n > 1 ? sqrt(variance_of(v, n)) : "none"
    if (name == "lag1") return correlation(v, 1)
    if (name == "lag10") return correlation(v, 10)
    if (name == "drift") return drift_of(v)
    if (name == "imbalance") return imbalance(v, n)
    print "values: there is no function '" name "'" > "/dev/stderr"; bad = 1
    return "none" }
function value_of(expression,   at, a, b) {
    at = index(expression, " / ")
    if (!at) return term_of(expression)
    a = term_of(substr(expression, 1, at - 1)); b = term_of(substr(expression, at + 3))
    return a == "none" || b == "none" || b == 0 ? "none" : a / b }
function within(value, low, high) { return value != "none" && (low == "-" || value >= low + 0) && (high == "-" || value <= high + 0) }

BEGIN { FS = "\t"; while ((getline < checks) > 0) { words[++n_checks] = $1; rule[n_checks] = $2 } FS = " " }
{ line[++n_lines] = $0 }
END {
    for (c = 1; c <= n_checks; c++) {
        at = index(rule[c], " in "); expression = substr(rule[c], 1, at - 1)
        n = split(substr(rule[c], at + 4), b, " ")
        if (!at || (n != 2 && !(n == 5 && b[3] == "paper"))) { print "values: '" rule[c] "' has no bounds" > "/dev/stderr"; bad = 1; continue }
        value = value_of(expression)
        printf "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", words[c], value == "none" ? value : sprintf("%.4g", value), b[1], b[2],
            within(value, b[1], b[2]) ? "holds" : "fails", n == 5 ? b[4] : "-", n == 5 ? b[5] : "-",
            n != 5 ? "-" : within(value, b[4], b[5]) ? "agrees" : "differs"
    }
    exit bad }
