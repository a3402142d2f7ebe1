# SPDX-License-Identifier: BSD-3-Clause
#
# What apps/bench/paper asks of JSON lines; runs after apps/bench/page/lines.awk. Each check is a line of the file
# `checks` ("-" is standard input): words, a tab or a colon and a space, then
#
#     EXPRESSION [in LOW HIGH] [paper LOW HIGH]      a bound that is "-" is none
#
# EXPRESSION is TERM or TERM / TERM; TERM is FUNCTION(KEY) or FUNCTION(KEY{NAME=VALUE,...}), over all lines
# that have that key and those names and values (a value that ends
# in * stands for all that begin like it; NAME<VALUE for all below). Lists are taken without calls that are
# not usable. Of two samples: welch(A B) is the t of Welch's test; wilcoxon(A B) the p of the rank sum test whose
# alternative is that A is larger; smirnov(A B) the p that both are one distribution. Of lines: kruskal(A) the p that
# all lines are one distribution. normal(A) is Lilliefors' p that A is normal. benefit(A DELAY_NS) is equation 5 of
# Entering Time, (t0 + delay - t) / t, of least run times.
#
# Limits: 95 % of a median by order statistics, of a mean by Student, of deviations and correlations by their standard
# errors; a ratio's by those of its terms (MOVER, on logarithms). Of fewer than six values, and of extremes: what they
# are in each half. The verdict is "agrees" if the limits lie in the paper's range, "differs" if outside, else
# "unclear". An open range is strict: "1 -" is more than 1.
#
# Out, per check: words, value, low, high, "holds" or "fails", the paper's low and high, verdict or "-", the limits or
# "-"; tabs between. What has no data has value "none" and fails.
# mutate, for tests: what would be said had the first term's values been up, down (a million times), rise, fall (along
# the list), swing (every second nothing), half (of them missing), same (as the second term's) or far (each line a million times the one before).
# Several words: all checks for each in turn.

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
function gather(term, v,   i) {
    if (!(term in n_values)) read_term(term)
    for (i = 1; i <= n_values[term]; i++) v[i] = values[term, i]
    for (i = 1; i <= n_ends_of[term]; i++) ends[i] = ends_of[term, i]
    n_ends = n_ends_of[term] + 0; if (n_ends) ranks = ranks_of[term]
    return mutated ? mutate_values(v, n_values[term]) : n_values[term] }
function read_term(term,   key, filter, at, i, k, n, m, all, ok, n_ok) {
    at = index(term, "{"); key = at ? substr(term, 1, at - 1) : term
    filter = at ? substr(term, at + 1, length(term) - at - 1) : ""
    for (i = 1; i <= n_lines; i++) {
        $0 = line[i]
        if (!is_chosen(filter)) continue
        if (index($0, "\"" key "\":[")) {
            n = list(key, all); n_ok = key == "usable" ? 0 : list("usable", ok)
            for (k = 1; k <= n; k++) if (all[k] != "null" && (n_ok != n || ok[k] == 1)) values[term, ++m] = all[k] + 0
        } else if (number(key) != "") values[term, ++m] = number(key)
        else continue
        ends_of[term, ++n_ends_of[term]] = m; ranks_of[term] = number("ranks")
    }
    n_values[term] = m + 0 }
# What if the values had been others?
function mutate_values(v, m,   i, e, from) {
    if (mutate == "half") return int(m / 2)
    for (e = 1; e <= n_ends; e++) {
        from = e > 1 ? ends[e - 1] : 0
        for (i = from + 1; i <= ends[e]; i++)
            v[i] = mutate == "up" ? v[i] * 1e6 + 1 : mutate == "down" ? v[i] / 1e6 - 1e-3 : mutate == "far" ? v[i] * 1e6 ^ e : \
                   mutate == "rise" ? v[i] * (1 + i - from) : mutate == "fall" ? v[i] * (1 + ends[e] - i) : mutate == "swing" ? v[i] * (i % 2) : v[i]
    }
    return m }
function mean_of(v, from, to,   i, s) { for (i = from; i <= to; i++) s += v[i]; return s / (to - from + 1) }
function variance_of(v, n,   i, s, m) { m = mean_of(v, 1, n); for (i = 1; i <= n; i++) s += (v[i] - m) ^ 2; return s / (n - 1) }
function at_part(v, n, q,   w, i) { for (i = 1; i <= n; i++) w[i] = v[i]; sort(w, n); return quantile(w, n, q) }
# ---- limits: each function returns a value and leaves its limits in low_at, high_at
function limits(low, high, value) { low_at = low; high_at = high; return value }
# Student's t of 97.5 % with so many degrees of freedom, to 1 % from three up.
function student(df) { return 1.96 + 2.3723 / df + 2.8225 / df ^ 2 }
# The rank below which the median lies with at most 2.5 %, by binomial sums.
function below_median(n,   k, p, sum) {
    if (n > 300) return int(n / 2 - 0.98 * sqrt(n))
    p = 0.5 ^ n
    for (k = 0; k < n; k++) { sum += p; if (sum > 0.025) return k; p *= (n - k) / (k + 1) }
    return 0 }
function median_of(v, n,   w, i, k) {
    for (i = 1; i <= n; i++) w[i] = v[i]
    sort(w, n); k = n < 6 ? 1 : below_median(n)
    return limits(w[k], w[n + 1 - k], quantile(w, n, 0.5)) }
function mean_with_limits(v, n,   m, e) {
    m = mean_of(v, 1, n); if (n < 2) return limits(m, m, m)
    e = student(n - 1) * sqrt(variance_of(v, n) / n)
    return limits(m - e, m + e, m) }
function extreme(v, n, q,   a, b, all, half) {
    all = at_part(v, n, q); half = int(n / 2)
    if (half < 1) return limits(all, all, all)
    a = part_of(v, 1, half, q); b = part_of(v, half + 1, n, q)
    return limits(a < b ? a : b, a < b ? b : a, all) }
function part_of(v, from, to, q,   w, i) { for (i = from; i <= to; i++) w[i - from + 1] = v[i]; return at_part(w, to - from + 1, q) }
# The standard deviation, or over the mean, with the spread that its own fourth moment gives it.
function deviation_of(v, n, over_mean,   m, var, fourth, i, e, value) {
    m = mean_of(v, 1, n); var = variance_of(v, n); value = sqrt(var) / (over_mean ? m : 1)
    if (var == 0) return limits(value, value, value)
    for (i = 1; i <= n; i++) fourth += (v[i] - m) ^ 4 / n
    e = (fourth / var ^ 2 - 1) / (4 * n) + (over_mean ? var / m ^ 2 / n : 0)
    e = student(n - 1) * sqrt(e > 0 ? e : 0)
    return limits(value * exp(-e), value * exp(e), value) }
# Within lines: the mean of each line's autocorrelation at that lag.
function correlation(v, n, lag,   e, from, to, i, m, top, below, all) {
    for (e = 1; e <= n_ends; e++) {
        from = e > 1 ? ends[e - 1] + 1 : 1; to = ends[e]; m = mean_of(v, from, to); top = below = 0
        for (i = from; i <= to; i++) { below += (v[i] - m) ^ 2; if (i + lag <= to) top += (v[i] - m) * (v[i + lag] - m) }
        all += below > 0 ? top / below : 0
    }
    return limits(all / n_ends - 1.96 / sqrt(n), all / n_ends + 1.96 / sqrt(n), all / n_ends) }
# The last tenth of each line's calls against the first.
function drift_of(v,   e, from, to, n, i, first, last, a, low, high, all, lows, highs) {
    for (e = 1; e <= n_ends; e++) {
        from = e > 1 ? ends[e - 1] + 1 : 1; to = ends[e]; n = int((to - from + 10) / 10)
        for (i = 0; i < n; i++) { first[i + 1] = v[from + i]; last[i + 1] = v[to - i] }
        a = median_of(last, n); low = low_at; high = high_at
        all += ratio_of(a, low, high, median_of(first, n), low_at, high_at); lows += low_at; highs += high_at
    }
    return limits(lows / n_ends, highs / n_ends, all / n_ends) }
# MOVER: the limits of a quotient of independent positive numbers from the limits of both.
function ratio_of(a, a_low, a_high, b, b_low, b_high,   r) {
    r = a / b
    if (a <= 0 || b <= 0 || a_low <= 0 || b_low <= 0) return limits(a_low < 0 || b_low <= 0 ? -1e300 : a_low / b_high, b_low <= 0 ? 1e300 : a_high / b_low, r)
    return limits(r * exp(-sqrt(log(a / a_low) ^ 2 + log(b_high / b) ^ 2)), r * exp(sqrt(log(a_high / a) ^ 2 + log(b / b_low) ^ 2)), r) }
# Of lists of all ranks, call by call: the median distance from the first to the last rank.
function imbalance(v, n,   i, k, low, high, m, d) {
    for (i = 1; i + ranks - 1 <= n; i += ranks) {
        low = high = v[i]
        for (k = i + 1; k < i + ranks; k++) { if (v[k] < low) low = v[k]; if (v[k] > high) high = v[k] }
        d[++m] = high - low
    }
    return median_of(d, m) }

# ---- tests
function above(z,   t) { # the upper tail of the normal distribution, to 1e-7
    if (z < 0) return 1 - above(-z)
    if (z > 38) return 0
    t = 1 / (1 + 0.2316419 * z)
    return exp(-z * z / 2) * 0.3989422804 * t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429)))) }
# Midranks of all values into rank; returns the sum of t^3 - t over ties.
function rank_all(v, n, rank,   i, k, w, at, first, last, ties) {
    for (i = 1; i <= n; i++) w[i] = v[i]
    sort(w, n)
    for (i = 1; i <= n; i = k) {
        for (k = i; k <= n && w[k] == w[i]; k++) ;
        at[w[i] ""] = (i + k - 1) / 2; ties += (k - i) ^ 3 - (k - i)
    }
    for (i = 1; i <= n; i++) rank[i] = at[v[i] ""]
    return ties }
function both_of(v, n, w, m, all,   i) { for (i = 1; i <= n; i++) all[i] = v[i]; for (i = 1; i <= m; i++) all[n + i] = w[i] }
# Of the normal approximation, with ties and a correction for continuity: six values and more of each.
function wilcoxon(v, n, w, m,   all, rank, ties, i, u, s) {
    both_of(v, n, w, m, all); ties = rank_all(all, n + m, rank)
    for (i = 1; i <= n; i++) u += rank[i]
    u -= n * (n + 1) / 2; s = sqrt(n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1))))
    return s > 0 ? above((u - n * m / 2 - 0.5) / s) : 1 }
function smirnov(v, n, w, m,   a, b, i, k, d, gap, x, z, p, j) {
    for (i = 1; i <= n; i++) a[i] = v[i]; for (k = 1; k <= m; k++) b[k] = w[k]
    sort(a, n); sort(b, m); i = k = 1
    while (i <= n && k <= m) {
        x = a[i] < b[k] ? a[i] : b[k]
        while (i <= n && a[i] == x) i++
        while (k <= m && b[k] == x) k++
        gap = (i - 1) / n - (k - 1) / m; if (gap < 0) gap = -gap; if (gap > d) d = gap
    }
    z = d * sqrt(n * m / (n + m)); if (z < 0.3) return 1
    for (j = 1; j <= 50; j++) p += (j % 2 ? 2 : -2) * exp(-2 * j * j * z * z)
    return p > 1 ? 1 : p }
# Lines are the groups; the chi-square's tail by Wilson and Hilferty.
function kruskal(v, n,   rank, ties, e, from, i, sum, h, df) {
    ties = rank_all(v, n, rank); df = n_ends - 1
    if (df < 1 || ties >= n ^ 3 - n) return "none"
    for (e = 1; e <= n_ends; e++) { from = e > 1 ? ends[e - 1] : 0; sum = 0; for (i = from + 1; i <= ends[e]; i++) sum += rank[i]; h += sum * sum / (ends[e] - from) }
    h = (12 / (n * (n + 1)) * h - 3 * (n + 1)) / (1 - ties / (n ^ 3 - n))
    return h <= 0 ? 1 : above(((h / df) ^ (1 / 3) - 1 + 2 / (9 * df)) / sqrt(2 / (9 * df))) }
# Kolmogorov and Smirnov with mean and deviation of the sample: p by Dallal and Wilkinson below 0.1, above by Stephens.
function lilliefors(v, n,   w, i, m, s, f, d, k, p) {
    for (i = 1; i <= n; i++) w[i] = v[i]
    sort(w, n); m = mean_of(w, 1, n); s = sqrt(variance_of(w, n)); if (s == 0) return 0
    for (i = 1; i <= n; i++) { f = 1 - above((w[i] - m) / s); if (i / n - f > d) d = i / n - f; if (f - (i - 1) / n > d) d = f - (i - 1) / n }
    k = n > 100 ? d * (n / 100) ^ 0.49 : d; i = n > 100 ? 100 : n
    p = exp(-7.01256 * k * k * (i + 2.78019) + 2.99587 * k * sqrt(i + 2.78019) - 0.122119 + 0.974598 / sqrt(i) + 1.67997 / i)
    if (p <= 0.1) return p
    k = (sqrt(n) - 0.01 + 0.85 / sqrt(n)) * d
    return k <= 0.302 ? 1 : k <= 0.5 ? 2.76773 - 19.828315 * k + 80.709644 * k ^ 2 - 138.55152 * k ^ 3 + 81.218052 * k ^ 4 : \
           k <= 0.9 ? -4.901232 + 40.662806 * k - 97.490286 * k ^ 2 + 94.029866 * k ^ 3 - 32.355711 * k ^ 4 : \
           k <= 1.31 ? 6.198765 - 19.558097 * k + 23.186922 * k ^ 2 - 12.234627 * k ^ 3 + 2.423045 * k ^ 4 : 0 }

# ---- expressions
function of_two(name, inside,   gap, n, m, v, w, value) {
    gap = index(inside, "} "); mutated = mutate != ""
    n = gather(substr(inside, 1, gap), v); mutated = 0; m = gather(substr(inside, gap + 2), w)
    if (mutate == "same") for (n = 1; n <= m; n++) v[n] = w[n]
    if (mutate == "same") n = m
    if (n < 2 || m < 2) return "none"
    value = name == "welch" ? (mean_of(v, 1, n) - mean_of(w, 1, m)) / sqrt(variance_of(v, n) / n + variance_of(w, m) / m) : \
            name == "wilcoxon" ? wilcoxon(v, n, w, m) : smirnov(v, n, w, m)
    return limits(value, value, value) }
# With the least of all calls, and of each half of them.
function benefit(inside,   at, delay, term, n, v, low0, high0, t0, t, a, b) {
    at = index(inside, "} "); term = substr(inside, 1, at - 1); delay = substr(inside, at + 2)
    if (!(n = gather(term ",delay_ns=0}", v))) return "none"
    t0 = extreme(v, n, 0); low0 = low_at; high0 = high_at
    mutated = mutate != ""
    if (!(n = gather(term ",delay_ns=" delay "}", v))) return "none"
    mutated = 0
    t = extreme(v, n, 0); a = (low0 + delay - high_at) / high_at; b = (high0 + delay - low_at) / low_at
    return limits(a, b, (t0 + delay - t) / t) }
function term_of(t,   at, name, inside, n, v) {
    at = index(t, "("); name = substr(t, 1, at - 1); inside = substr(t, at + 1, length(t) - at - 1)
    if (at == 0 || t !~ /\)$/) { print "values: '" t "' is no term" > "/dev/stderr"; bad = 1; return "none" }
    if (name ~ /^(welch|wilcoxon|smirnov)$/) return of_two(name, inside)
    if (name == "benefit") return benefit(inside)
    n = gather(inside, v)
    if (n == 0) return "none"
    if (name == "median") return median_of(v, n)
    if (name == "least") return extreme(v, n, 0)
    if (name == "largest") return extreme(v, n, 1)
    if (name == "mean") return mean_with_limits(v, n)
    if (name == "count") return limits(n, n, n)
    if (name == "deviation") return n > 1 ? deviation_of(v, n, 1) : "none"
    if (name == "sigma") return n > 1 ? deviation_of(v, n, 0) : "none"
    if (name == "lag1") return correlation(v, n, 1)
    if (name == "lag10") return correlation(v, n, 10)
    if (name == "drift") return drift_of(v)
    if (name == "imbalance") return imbalance(v, n)
    n = name == "spread" ? (at_part(v, n, 0.75) - at_part(v, n, 0.25)) / at_part(v, n, 0.5) : \
        name == "kruskal" ? kruskal(v, n) : name == "normal" && n > 4 ? lilliefors(v, n) : "none"
    if (name ~ /^(spread|kruskal|normal)$/) return limits(n, n, n)
    print "values: there is no function '" name "'" > "/dev/stderr"; bad = 1
    return "none" }
function value_of(expression,   at, a, b, low, high) {
    at = index(expression, " / "); mutated = mutate != "" && mutate != "same" && expression !~ /^(welch|wilcoxon|smirnov|benefit)/
    if (!at) { a = term_of(expression); mutated = 0; return a }
    a = term_of(substr(expression, 1, at - 1)); low = low_at; high = high_at; mutated = 0
    b = term_of(substr(expression, at + 3))
    if (mutate == "same") { a = b; low = low_at; high = high_at }
    return a == "none" || b == "none" || b == 0 ? "none" : ratio_of(a, low, high, b, low_at, high_at) }
function within(value, low, high) { return value != "none" && (low == "-" || value >= low + 0) && (high == "-" || value <= high + 0) }

# Whether limits lie in an open or closed range, outside, or on its edge.
function against(low, high, a, b,   strict) {
    strict = a == "-" || b == "-"
    if ((a == "-" || (strict ? low > a + 0 : low >= a + 0)) && (b == "-" || (strict ? high < b + 0 : high <= b + 0))) return "agrees"
    return (a != "-" && (strict ? high <= a + 0 : high < a + 0)) || (b != "-" && (strict ? low >= b + 0 : low > b + 0)) ? "differs" : "unclear" }
# EXPRESSION [in LOW HIGH] [paper LOW HIGH] into expression, b["in", 1], b["paper", 2]
function parse(rule, b,   n, w, i) {
    b["in", 1] = b["in", 2] = b["paper", 1] = b["paper", 2] = "-"; is_compared = 0
    n = split(rule, w, " ")
    for (i = n - 2; i > 1 && (w[i] == "in" || w[i] == "paper"); i -= 3) { b[w[i], 1] = w[i + 1]; b[w[i], 2] = w[i + 2]; is_compared += w[i] == "paper"; sub(/ [^ ]+ [^ ]+ [^ ]+$/, "", rule) }
    return rule }
BEGIN {
    while ((getline row < checks) > 0) {
        if (row == "") continue
        words[++n_checks] = row; if (!sub(/(\t|: ).*/, "", words[n_checks])) { rule[n_checks] = ""; continue }
        rule[n_checks] = substr(row, length(words[n_checks]) + 1); sub(/^(\t|: )/, "", rule[n_checks])
    } }
{ line[++n_lines] = $0 }
function judge_all(   c, expression, value, has_limits) {
    for (c = 1; c <= n_checks; c++) {
        expression = parse(rule[c], b); value = value_of(expression)
        if (mutate == "same" && expression !~ / \/ |^(welch|wilcoxon|smirnov)/) is_compared = 0
        has_limits = value != "none" && (low_at != value || high_at != value)
        printf "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", words[c], value == "none" ? value : sprintf("%.4g", value), b["in", 1], b["in", 2],
            within(value, b["in", 1], b["in", 2]) ? "holds" : "fails", b["paper", 1], b["paper", 2],
            !is_compared ? "-" : value == "none" ? "differs" : against(low_at, high_at, b["paper", 1], b["paper", 2]),
            has_limits ? sprintf("%.4g", low_at) : "-", has_limits ? sprintf("%.4g", high_at) : "-"
    } }
END {
    n_ways = split(mutate, ways, " ")
    for (way = 1; way == 1 || way <= n_ways; way++) { mutate = ways[way]; judge_all() }
    exit bad }
