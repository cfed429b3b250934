"""The tables of a run of YCSB-cpp."""

import statistics

import report

TITLES = {
    "load": "Load: every record inserted",
    "a": "A: half reads, half updates",
    "b": "B: 95 % reads, 5 % updates",
    "c": "C: reads",
    "d": "D: 95 % reads of what is newest, 5 % inserts",
    "e": "E: 95 % scans of 1 to 100 records, 5 % inserts",
    "f": "F: half reads, half reads with an update of what was read",
}
# For the report, in this order.
OPERATIONS = {"READ": "read", "UPDATE": "update", "INSERT": "insert", "SCAN": "scan"}


def latency(latencies):
    """Medians of the rounds: mean, p99 and p99.9."""
    mean, p99, p999 = (statistics.median(getattr(each, name) for each in latencies) for name in ("mean", "p99", "p999"))
    return " / ".join(f"{value:.1f}" if value < 100 else f"{value:,.0f}" for value in (mean, p99, p999))


def rates(figures):
    return [figure.rate for figure in figures]


def table(workload, figures):
    """The figures of a workload: `figures` has a list for each engine, with one of each round."""
    present = [name for name in OPERATIONS if any(name in figure.latencies for figure in next(iter(figures.values())))]
    heads = ["engine", "operations/s", "Esker / it", *(f"{OPERATIONS[name]}: mean / p99 / p99.9 µs" for name in present), "MB on disk"]
    rows = []
    for engine, rounds in figures.items():
        compared = "-" if engine == "esker" or "esker" not in figures else report.ratio(rates(figures["esker"]), rates(rounds))
        rows.append(
            [engine, report.rate(statistics.median(rates(rounds))), compared]
            + [latency([each.latencies[name] for each in rounds]) for name in present]
            + [f"{statistics.median(each.disk for each in rounds) / 1e6:,.0f}"]
        )
    return f"### {TITLES[workload]}\n\n{report.table(heads, rows)}"
