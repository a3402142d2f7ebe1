# Reference values for tests/unit/test_bench_stats.c, made by R (4.2.2): Rscript make.R > reference.txt
# A case is: kind, tail, sizes, statistic, p value, exact (1/0), then the values of x and of y.
# Kinds: rank (wilcox.test), signed (paired), shift (estimate, low, high at 95 %), quantile, tukey,
# pair (of differences: pseudomedian, low, high at 95 %).
set.seed(20240607)
show <- function(kind, tail, x, y, a, b, c) cat(kind, tail, length(x), length(y),
    sprintf("%.17g", c(a, b, c, x, y)), "\n")
tails <- c("two.sided", "less", "greater")
samples <- list(
    list(c(1.1, 2.2, 3.3), c(0.5, 4.4, 5.5, 6.6)),
    list(c(0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46), c(1.15, 0.88, 0.90, 0.74, 1.21)), # Hollander & Wolfe
    list(round(rnorm(7, 10, 2), 3), round(rnorm(9, 12, 2), 3)),
    list(round(rnorm(30, 44, 1), 4), round(rnorm(30, 43.5, 1), 4)),
    list(round(rexp(49), 5), round(rexp(49) + 0.3, 5)),
    list(round(rnorm(60, 5, 1), 6), round(rnorm(55, 5.4, 1), 6)),                 # large: normal
    list(c(1, 2, 2, 3, 3, 3, 4), c(2, 3, 4, 4, 5, 6)),                            # ties: normal
    list(c(5), c(1, 2, 3)),
    list(round(rnorm(12), 4), round(rnorm(12), 4) * 3 + 1))
for (s in samples) for (t in tails) {
    x <- s[[1]]; y <- s[[2]]
    w <- suppressWarnings(wilcox.test(x, y, alternative = t))
    exact <- as.numeric(length(x) < 50 && length(y) < 50 && !any(duplicated(c(x, y))))
    show("rank", t, x, y, w$statistic, w$p.value, exact)
}
pairs <- list(
    list(c(1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30),
         c(0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29)),             # Hollander & Wolfe
    list(round(rnorm(20), 5), round(rnorm(20, 0.5), 5)),
    list(round(rnorm(60), 5), round(rnorm(60, 0.2), 5)),
    list(c(1, 2, 3, 4, 5, 6), c(2, 2, 4, 3, 7, 4)))
for (s in pairs) for (t in tails) {
    x <- s[[1]]; y <- s[[2]]; d <- x - y
    w <- suppressWarnings(wilcox.test(x, y, alternative = t, paired = TRUE))
    exact <- as.numeric(length(d) < 50 && !any(d == 0) && !any(duplicated(abs(d))))
    show("signed", t, x, y, w$statistic, w$p.value, exact)
}
for (s in samples[c(2, 3, 4, 9)]) {
    w <- wilcox.test(s[[1]], s[[2]], conf.int = TRUE)
    show("shift", "two.sided", s[[1]], s[[2]], w$estimate, w$conf.int[1], w$conf.int[2])
}
for (s in samples) show("quantile", "two.sided", s[[1]], numeric(0),
    quantile(s[[1]], 0.25), median(s[[1]]), quantile(s[[1]], 0.9))
for (s in list(c(1, 2, 3, 4, 100), samples[[5]][[1]], c(10, 10, 10, 11, 50, -3))) {
    q <- quantile(s, c(0.25, 0.75)); kept <- s[s >= q[1] - 1.5 * diff(q) & s <= q[2] + 1.5 * diff(q)]
    show("tukey", "two.sided", s, numeric(0), length(kept), median(kept), max(kept))
}
for (d in list(pairs[[1]][[1]] - pairs[[1]][[2]], round(rnorm(6, 0.1), 5), round(rnorm(10, 0.02, 0.05), 6),
               round(rexp(30) - 0.4, 6), round(rcauchy(60), 5))) {
    w <- wilcox.test(d, conf.int = TRUE, exact = TRUE)
    show("pair", "two.sided", d, numeric(0), w$estimate, w$conf.int[1], w$conf.int[2])
}
