# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A pattern that clv-bench does not draw by itself: a host whose ranks are all late. The programs of bench/
# source this.

# write_node_late FILE CLUSTER MS: a trace of 200 calls for the ranks that "apps/bench/cluster with CLUSTER" starts,
# those of the last host MS later than all others, give or take a hundredth.
write_node_late() {
    awk -v hosts="$2" -v ms="$3" 'BEGIN {
        n = hosts + 0; each = 1
        if (match(hosts, /--ranks-per-host [0-9]+/)) each = substr(hosts, RSTART + 17, RLENGTH - 17) + 0
        print "clv-trace 1"; print "ranks", n * each; srand(1)
        for (i = 0; i < 200; i++) {
            times = ""
            for (r = 0; r < n * each; r++) {
                host = hosts ~ /by-node/ ? r % n : int(r / each)
                times = times sprintf(" %d", r ? 1e6 * ms * ((host == n - 1) + 0.01 * rand()) : 0) }
            print "call", i, "|" times " |" times } }' >"$1"
}
