# SPDX-License-Identifier: BSD-3-Clause
#
# Reads what clv-bench --xdr wrote, by RFC 4506 and docs/guide/json.md alone, and compares it with
# the JSON lines of the same run: read_xdr.py FILE JSONLINES. Says how many series it has read.
import json
import struct
import sys


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        value, = struct.unpack_from(">" + form, self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def text(self):
        n = self.take("I")
        words = self.data[self.at:self.at + n]
        self.at += (n + 3) // 4 * 4
        assert not any(self.data[self.at - (-n % 4):self.at]), "padding is zero"
        return words.decode()

    def visit(self):
        return self.take("i"), self.take("d"), self.take("d")

    def call(self):
        return self.take("I"), [self.visit() for _ in range(self.take("I"))]

    def series(self):
        assert self.take("I") == 0x636C7678 and self.take("I") == 1
        one = {"collective": self.text(), "bytes": self.take("I"), "pattern": self.text(),
               "delay": self.take("d"), "algorithm": self.text()}
        one["calls"] = [self.call() for _ in range(self.take("I"))]
        return one


def compare(one, row):
    n = row["ranks"]
    assert all(one[key] == row[key] for key in ("collective", "bytes", "pattern", "algorithm")), (one, row)
    assert abs(one["delay"] * 1e9 - row["delay_ns"]) < 1, row
    assert len(one["calls"]) == row["calls"], row
    for i, (counts, visits) in enumerate(one["calls"]):
        assert counts == row["usable"][i] and [visit[0] for visit in visits] == list(range(n)), visits
        first = min(start for _, start, _ in visits)
        for r, (_, start, end) in enumerate(visits):
            assert abs((start - first) * 1e9 - row["rank_arrival_ns"][n * i + r]) < 1, (i, r)
            assert abs((end - first) * 1e9 - row["rank_exit_ns"][n * i + r]) < 1, (i, r)
        # Equation 4: the latest end less the earliest start.
        assert abs((max(end for _, _, end in visits) - first) * 1e9 - row["run_ns"][i]) < 1, i


reader = Reader(open(sys.argv[1], "rb").read())
rows = [json.loads(line) for line in open(sys.argv[2])]
series = []
while reader.at < len(reader.data):
    series.append(reader.series())
assert len(series) == len(rows), (len(series), len(rows))
for one, row in zip(series, rows):
    compare(one, row)
for name in set(row["pattern"] for row in rows):
    starts = [visit[1] for one in series if one["pattern"] == name for _, visits in one["calls"] for visit in visits]
    assert min(starts) == 0.0 and max(starts) < 600.0, "a configuration begins at its first start"
print(len(series), "series")
