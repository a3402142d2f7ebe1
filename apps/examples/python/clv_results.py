#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Results of clv-bench as a table, as CSV, or as a picture for a paper.

    clv_results.py run-*.json                     one mpirun a file; the median over files of each file's median
    clv_results.py --metric in_mpi_mean run-*.json
    clv_results.py --csv run-*.json >table.csv
    clv_results.py --plot patterns.pdf run-*.json     needs matplotlib

Reads JSON lines (docs/guide/json.md), so also those of `--loop` with --metric iteration. Only Python 3.
"""
import argparse
import csv
import json
import statistics
import sys


def lines_of(files):
    for name in files:
        with open(name) as file:
            for number, line in enumerate(file, 1):
                try:
                    yield name, json.loads(line)
                except ValueError:
                    sys.exit(f"clv_results.py: {name}, line {number}: not JSON")


def calls_of(row, metric):
    """The calls that count, in ms; blocks of a loop all do."""
    calls = row.get(metric + "_ns")
    if calls is None:
        sys.exit(f"clv_results.py: a line of {row.get('program', 'clv-bench')} has no {metric}_ns")
    usable = row.get("usable", [1] * len(calls))
    return [call / 1e6 for call, counts in zip(calls, usable) if counts]


FACTORS = ["ranks", "bytes", "delay_ns", "couple", "pattern", "algorithm"]


def medians(files, metric):
    """The factors of a line to the medians of its mpiruns, in the order of the files."""
    table = {}
    for _, row in lines_of(files):
        calls = calls_of(row, metric)
        if calls:
            key = tuple(row.get(factor, "") for factor in FACTORS)
            table.setdefault(key, []).append(statistics.median(calls))
    return table


def caveats(files):
    """Why some figures may not be what they seem, in lines, as the files say."""
    names = {}
    for _, row in lines_of(files):
        for meaning, has in (("NOT network-bound", row.get("network_bound") is False),
                             ("NOT timed on one clock", row.get("clock_holds") is False),
                             ("INTERRUPTED, so of fewer calls", row.get("interrupted") is True)):
            if has:
                names.setdefault(meaning, {})[row["algorithm"]] = None
    return [f"{meaning}: {', '.join(algorithms)}" for meaning, algorithms in names.items()]


def write_table(table, metric):
    print(f"{'ranks':>5} {'bytes':>9} {'delay [ms]':>10} {'couple':9} {'pattern':16} {'algorithm':24} {'mpiruns':>7} {metric} [ms]")
    for (ranks, size, delay_ns, couple, pattern, algorithm), values in table.items():
        print(f"{ranks:5.0f} {size:9.0f} {delay_ns / 1e6:10.3f} {couple or '-':9} {pattern:16} {algorithm:24} "
              f"{len(values):7} {statistics.median(values):.3f}")


def write_csv(table, metric):
    writer = csv.writer(sys.stdout)
    writer.writerow(FACTORS + ["mpirun", metric + "_ms"])
    for key, values in table.items():
        for mpirun, value in enumerate(values):
            writer.writerow([*key, mpirun, value])


def draw(table, metric, title, path):
    """Bars side by side, patterns on the axis; what lines have in common is not in their names."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    differs = [len({key[i] for key in table}) > 1 for i in range(len(FACTORS))]
    bars = {}
    for key, values in table.items():
        name = ", ".join(str(word) for i, word in enumerate(key) if FACTORS[i] == "algorithm" or
                         (differs[i] and FACTORS[i] != "pattern"))
        bars.setdefault(name, {})[key[FACTORS.index("pattern")]] = statistics.median(values)
    patterns = list(dict.fromkeys(pattern for heights in bars.values() for pattern in heights))
    figure, axes = pyplot.subplots(figsize=(8, 4.5))
    width = 0.8 / len(bars)
    for i, (name, heights) in enumerate(bars.items()):
        at = [patterns.index(pattern) + (i - (len(bars) - 1) / 2) * width for pattern in heights]
        axes.bar(at, list(heights.values()), width, label=name)
    axes.set_xticks(range(len(patterns)), patterns)
    axes.set_ylabel(f"{metric} [ms]")
    axes.legend()
    axes.set_title("\n".join(title), fontsize="small")
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--metric", default="after", help="after, run, in_mpi_mean, ...; of loops iteration, in_call, ...")
    parser.add_argument("--csv", action="store_true", help="a line per mpirun, for programs")
    parser.add_argument("--plot", metavar="FILE", help="what matplotlib writes: .pdf, .svg, .png")
    options = parser.parse_args()
    table = medians(options.files, options.metric)
    (write_csv if options.csv else write_table)(table, options.metric)
    title = caveats(options.files)
    if not options.csv:
        print(*title, sep="\n", end="\n" if title else "")
    if options.plot:
        draw(table, options.metric, title, options.plot)


if __name__ == "__main__":
    main()
