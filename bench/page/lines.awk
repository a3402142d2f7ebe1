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
function sort(v, n,   i, j, t) { for (i = 2; i <= n; i++) { t = v[i]; for (j = i - 1; j > 0 && v[j] > t; j--) v[j + 1] = v[j]; v[j + 1] = t } }
function quantile(v, n, q,   at, low) { at = 1 + (n - 1) * q; low = int(at)
    return low < n ? v[low] + (at - low) * (v[low + 1] - v[low]) : v[n] }
