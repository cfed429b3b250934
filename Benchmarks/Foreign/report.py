"""Writes the tables of Benchmarks/Foreign.md, between the marks of a suite: what stands before and behind them stays."""

import os
import statistics

END = "<!-- end of the figures -->"


def begin(suite):
    return f"<!-- figures of {suite}: written by Benchmarks/Foreign/run -->"


def rate(value):
    if value < 1000:
        return f"{value:.0f}"
    return f"{value / 1000:,.1f} k" if value < 1_000_000 else f"{value / 1_000_000:.2f} M"


def ratio(ours, theirs):
    """Of Esker's rate to an engine's, in each round: the median, the least and the greatest."""
    ratios = sorted(our / their for our, their in zip(ours, theirs))
    return f"{shown(statistics.median(ratios))} ({shown(ratios[0])}–{shown(ratios[-1])})"


def shown(value):
    return f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def write(path, suite, paragraphs):
    """Puts what a suite has measured into a file."""
    body = "\n\n".join(paragraphs)
    text = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
    before, mark, rest = text.partition(begin(suite))
    _, end, after = rest.partition(END)
    if not (mark and end):
        before, after = text + "\n" if text else "", "\n"
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(f"{before}{begin(suite)}\n\n{body}\n\n{END}{after}")
    os.replace(path + ".new", path)
