# SPDX-License-Identifier: BSD-3-Clause
#
# Reading what clv-bench --json writes, for the other programs of this folder: flat objects, one a
# line, keys unique. A key's value is what follows its name; "" where the line does not have it,
# or has null.

function number(key,   at, rest) { at = index($0, "\"" key "\":"); rest = substr($0, at + length(key) + 3)
    return at && rest !~ /^null/ ? rest + 0 : "" }
function text(key,   at, rest) { at = index($0, "\"" key "\":\""); rest = substr($0, at + length(key) + 4)
    return at ? substr(rest, 1, index(rest, "\"") - 1) : "" }
function list(key, into,   at, rest) { at = index($0, "\"" key "\":["); rest = substr($0, at + length(key) + 4)
    return at ? split(substr(rest, 1, index(rest, "]") - 1), into, ",") : 0 }
function sort(v, n,   gap, i, j, t) { for (gap = 1; gap < n; gap = 3 * gap + 1) ; for (; gap >= 1; gap = int(gap / 3)) for (i = gap + 1; i <= n; i++) {
    t = v[i]; for (j = i - gap; j > 0 && v[j] > t; j -= gap) v[j + gap] = v[j]; v[j + gap] = t } }
function quantile(v, n, q,   at, low) { at = 1 + (n - 1) * q; low = int(at)
    return low < n ? v[low] + (at - low) * (v[low + 1] - v[low]) : v[n] }
