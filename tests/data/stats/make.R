# Reference values for tests/apps/test_bench_stats.c, made by R (4.2.2): Rscript make.R > reference.txt
# Rscript make.R SEED writes 200 random samples instead, a quarter with ties, a quarter of 50 and more
# (tests/quality/stats_r.sh).
# A case is: kind, tail, sizes, statistic, p value, exact (1/0), then the values of x and of y.
# Kinds: rank (wilcox.test), signed (paired), shift (estimate, low, high at 95 %), quantile, tukey,
# pair (of differences: pseudomedian, low, high at 95 %), student, welch (t, degrees of freedom, p),
# shapiro (W, p, 0), kolmogorov (against the normal distribution with the sample's own mean and deviation)
# and smirnov (D, p, exact), acf (at lags 1, 2 and 5).
seed <- commandArgs(TRUE)
set.seed(if (length(seed)) as.integer(seed) else 20240607)
show <- function(kind, tail, x, y, a, b, c) cat(kind, tail, length(x), length(y),
    sprintf("%.17g", c(a, b, c, x, y)), "\n")
# Kolmogorov's limit: ks.test ends its series so early that it is off by up to 3.8e-5, the term of k = 3 at z = 1.
limit <- function(z) 1 - sqrt(2 * pi) / z * sum(exp(-(2 * (1:50) - 1)^2 * pi^2 / (8 * z^2)))
distance <- function(kind, x, y, w, n, exact) show(kind, "two.sided", x, y, w$statistic,
    if (exact) w$p.value else { stopifnot(abs(w$p.value - limit(sqrt(n) * w$statistic)) < 3.8e-5); limit(sqrt(n) * w$statistic) }, exact)
tails <- c("two.sided", "less", "greater")
normal <- function(x, y, t) {
    for (kind in c("student", "welch")) {
        w <- t.test(x, y, alternative = t, var.equal = kind == "student")
        show(kind, t, x, y, w$statistic, w$parameter, w$p.value)
    }
    w <- shapiro.test(x)
    show("shapiro", "two.sided", x, numeric(0), w$statistic, w$p.value, 0)
    w <- suppressWarnings(ks.test(x, "pnorm", mean(x), sd(x)))
    distance("kolmogorov", x, numeric(0), w, length(x), length(x) < 100 && !anyDuplicated(x))
    w <- suppressWarnings(ks.test(x, y))
    distance("smirnov", x, y, w, length(x) * length(y) / (length(x) + length(y)), length(x) * length(y) < 10000)
    r <- acf(x, 5, plot = FALSE)$acf
    show("acf", "two.sided", x, numeric(0), r[2], r[3], if (length(r) > 5) r[6] else 0)
}
if (length(seed)) {
    for (i in 1:200) {
        t <- tails[i %% 3 + 1]
        n <- if (i %% 4 == 0) sample(50:120, 2) else sample(6:40, 2)
        x <- rlnorm(n[1], 2, 0.5); y <- rlnorm(n[2], 2 + runif(1, -0.5, 0.5), 0.5)
        digits <- if (i %% 4 == 1) 0 else 12
        x <- round(x, digits); y <- round(y, digits)
        if (length(unique(x)) < 3) x[1:3] <- 1:3
        d <- y[1:min(n)] - x[1:min(n)]
        w <- suppressWarnings(wilcox.test(x, y, alternative = t))
        show("rank", t, x, y, w$statistic, w$p.value, max(n) < 50 && !anyDuplicated(c(x, y)))
        w <- suppressWarnings(wilcox.test(y[1:min(n)], x[1:min(n)], alternative = t, paired = TRUE))
        show("signed", t, y[1:min(n)], x[1:min(n)], w$statistic, w$p.value, min(n) < 50 && all(d != 0) && !anyDuplicated(abs(d)))
        if (digits) {
            w <- wilcox.test(x, y, conf.int = TRUE, exact = TRUE)
            show("shift", "two.sided", x, y, w$estimate, w$conf.int[1], w$conf.int[2])
            w <- wilcox.test(d, conf.int = TRUE, exact = TRUE)
            show("pair", "two.sided", d, numeric(0), w$estimate, w$conf.int[1], w$conf.int[2])
        }
        show("quantile", "two.sided", x, numeric(0), quantile(x, 0.25), median(x), quantile(x, 0.9))
        q <- quantile(x, c(0.25, 0.75)); kept <- x[x >= q[1] - 1.5 * diff(q) & x <= q[2] + 1.5 * diff(q)]
        show("tukey", "two.sided", x, numeric(0), length(kept), median(kept), max(kept))
        normal(x, y, t)
    }
    quit()
}
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
for (s in samples[c(1, 2, 4, 5, 6, 7, 9)]) for (t in tails) normal(s[[1]], s[[2]], t)
