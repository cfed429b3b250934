"""dbbench: the benchmarks of LevelDB, rewritten in C by the author of LMDB for many engines, https://github.com/LMDB/dbbench.

Esker's driver is Benchmarks/Foreign/dbbench/t_esker.c. DIR has the suite's programs, one for each engine and named like its source: t_esker,
t_lmdb and so on. In each round, and for each group of benchmarks, the engines take turns, each with a process and a store of its own.
"""

import os
import time

import programs

from . import rounds, tables
from .engines import ENGINES  # noqa: F401 (the script asks for it)

SUMMARY = "dbbench: LevelDB's and LMDB's microbenchmarks"
TITLE = "dbbench"
PROGRAMS = ("DIR", "the directory of the programs")


def add_arguments(parser, positive):
    parser.add_argument("--records", type=positive, default=300_000, help="of 100 bytes; 300000")
    parser.add_argument("--large", type=positive, default=3_000, help="records of 100,000 bytes; 3000")
    parser.add_argument("--synced", type=positive, default=300, help="writes of 100 bytes that are synced, of 100,000 bytes a third; 300")
    parser.add_argument("--reads", type=positive, default=100_000, help="random reads of 100,000 bytes; 100000")


def sizes_of(options):
    return [
        rounds.Size("Values of 100 bytes", 100, options.records, 1000, options.synced, options.records),
        rounds.Size("Values of 100,000 bytes", 100_000, options.large, 10, max(10, options.synced // 3), options.reads),
    ]


def sizes(options):
    texts = [
        f"{size.records:,} records with values of {size.value:,} bytes, {size.batch:,} in a batch, {size.synced:,} in each cell with syncs, {size.reads:,} random reads"
        for size in sizes_of(options)
    ]
    return "Keys of 16 bytes; " + "; ".join(texts) + "; one thread"


def place(options):
    """The directory of the programs."""
    directory = os.path.abspath(options.programs)
    if not os.path.exists(os.path.join(directory, "t_esker")):
        raise programs.SuiteError(f"there is no program t_esker in {directory}")
    return directory


def measure(stores, engines, options):
    """The tables."""
    runner = rounds.Runner(os.path.abspath(options.programs), stores)
    sizes = sizes_of(options)
    figures = {size: {name: {engine.name: [] for engine in engines} for name in rounds.CELLS} for size in sizes}
    for number in range(options.rounds):
        # Whoever is first in one round is last in another.
        turn = number % len(engines)
        for size in sizes:
            for cells in rounds.STEPS:
                start = time.monotonic()
                for engine in engines[turn:] + engines[:turn]:
                    for name, figure in runner.step(engine, size, cells).items():
                        figures[size][name][engine.name].append(figure)
                print(f"round {number + 1}, {size.value} bytes, {', '.join(cells)}: {time.monotonic() - start:.1f} s", flush=True)
    summaries = [tables.summary(figures)] if any(engine.name == "esker" for engine in engines) else []
    return summaries + [text for size, each in figures.items() for text in tables.tables(size, each)]
