"""Writes the tables of Benchmarks/Foreign.md, between two marks: what stands before and behind them stays."""

import os
import statistics

BEGIN = "<!-- figures: written by Benchmarks/Foreign/run -->"
END = "<!-- end of the figures -->"

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


def rate(value):
    return f"{value / 1000:,.1f} k" if value < 1_000_000 else f"{value / 1_000_000:.2f} M"


def latency(latencies):
    """Medians of the rounds: mean, p99 and p99.9."""
    mean, p99, p999 = (statistics.median(getattr(each, name) for each in latencies) for name in ("mean", "p99", "p999"))
    return " / ".join(f"{value:.1f}" if value < 100 else f"{value:,.0f}" for value in (mean, p99, p999))


def ratio(ours, theirs):
    """Of Esker to an engine, in each round: the median, the least and the greatest."""
    ratios = sorted(our.rate / their.rate for our, their in zip(ours, theirs))
    return f"{statistics.median(ratios):.2f} ({ratios[0]:.2f}–{ratios[-1]:.2f})"


def table(workload, figures):
    """The figures of a workload: `figures` has a list for each engine, with one of each round."""
    present = [name for name in OPERATIONS if any(name in figure.latencies for figure in next(iter(figures.values())))]
    heads = ["engine", "operations/s", "Esker / it", *(f"{OPERATIONS[name]}: mean / p99 / p99.9 µs" for name in present), "MB on disk"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for engine, rounds in figures.items():
        cells = [engine, rate(statistics.median(each.rate for each in rounds))]
        cells.append("-" if engine == "esker" or "esker" not in figures else ratio(figures["esker"], rounds))
        for name in present:
            cells.append(latency([each.latencies[name] for each in rounds]))
        cells.append(f"{statistics.median(each.disk for each in rounds) / 1e6:,.0f}")
        lines.append("| " + " | ".join(cells) + " |")
    return f"### {TITLES[workload]}\n\n" + "\n".join(lines) + "\n"


def write(path, paragraphs, figures):
    """Puts paragraphs and tables into a file; `figures` has for each workload what `table` takes."""
    body = "\n\n".join(paragraphs) + "\n\n" + "\n".join(table(workload, each) for workload, each in figures.items())
    text = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        before, after = text + "\n" if text else "", "\n"
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\n\n{body}\n{END}{after}")
    os.replace(path + ".new", path)
