"""The tables of a run of dbbench."""

import statistics

import report

from . import rounds

OURS = ["esker", "esker-ordered"]


def rates(figures):
    return [figure.rate for figure in figures]


def median(figures):
    return statistics.median(rates(figures))


def is_first(cell):
    """Whether Esker, as it is by default, is ahead of all others, by the medians of the ratios."""
    others = [name for name in cell if name not in OURS]
    return all(statistics.median(our / their for our, their in zip(rates(cell["esker"]), rates(cell[name]))) > 1 for name in others)


def summary(figures):
    """In how many cells Esker is first; `figures` has for each size, cell and engine a list with one of each round."""
    cells = [(name in rounds.SCANS, cell) for each in figures.values() for name, cell in each.items()]
    counts = {}
    for kind, is_scan in [("writes and reads by key", False), ("scans", True)]:
        chosen = [cell for scans, cell in cells if scans == is_scan]
        counts[kind] = f"{sum(map(is_first, chosen))} of {len(chosen)} cells of {kind}"
    return f"Esker, with its defaults, is first in {' and in '.join(counts.values())}."


def fastest(cell):
    return max(cell, key=lambda name: median(cell[name]))


def tables(size, figures):
    """The figures of one size: `figures` has for each cell and engine a list with one of each round."""
    engines = list(next(iter(figures.values())))
    others = [name for name in engines if name != "esker"]
    operations = []
    for name, cell in figures.items():
        texts = {engine: report.rate(median(cell[engine])) for engine in engines}
        texts[fastest(cell)] = f"**{texts[fastest(cell)]}**"
        operations.append([name, *(texts[engine] for engine in engines)])
    yield f"### {size.name}\n\nOperations a second; the most of a cell is bold.\n\n{report.table(['', *engines], operations)}"
    if "esker" in engines:
        ratios = [[name, *(report.ratio(rates(cell["esker"]), rates(cell[other])) for other in others)] for name, cell in figures.items()]
        yield f"Esker's rate, divided by that of the other.\n\n{report.table(['Esker / it', *others], ratios)}"
    used = [
        [name, *(f"{statistics.median(each.disk for each in cell[engine]) / 1e6:,.0f}" for engine in engines)]
        for name, cell in figures.items()
        if name in rounds.WRITES and not name.endswith("sync")
    ]
    yield f"Megabytes on the disk afterwards.\n\n{report.table(['', *engines], used)}"
