"""dbbench: the benchmarks of LevelDB, rewritten in C by the author of LMDB for many engines, https://github.com/LMDB/dbbench.

Esker's driver is Benchmarks/Foreign/dbbench/t_esker.c. The programs are built beside the checkout, from its sources, with the options of its
Makefile and the libraries of the system. In each round, and for each group of benchmarks, the engines take turns, each with a process and a
store of its own.
"""

import os
import shutil
import time

import building

from . import rounds, tables
from .engines import DRIVERS, ENGINES

SUMMARY = "dbbench: LevelDB's and LMDB's microbenchmarks"
TITLE = "dbbench"
HOW_TO_GET = "git clone https://github.com/LMDB/dbbench"
# As in the suite's Makefile. It has warnings of its own.
OPTIONS = ["-O2", "-DNDEBUG", "-pthread", "-w"]
SHARED = ["main.c", "args.c", "histogram.c", "random.c"]


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


def check(checkout):
    if not os.path.exists(os.path.join(checkout, "dbb.h")):
        raise building.BuildError(f"{checkout} is no checkout of dbbench: there is no dbb.h. To get one:\n    {HOW_TO_GET}")


def compiler(source):
    variable, usual = ("CXX", "c++") if source.endswith(".cc") else ("CC", "cc")
    return os.environ.get(variable, usual)


def build(checkout, prefix, engines, work):
    """The suite's programs, by library, with the Esker that is installed under `prefix`."""
    directory = os.path.join(work, "dbbench")
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)

    def compiled(source, *options):
        target = os.path.join(directory, os.path.basename(source) + ".o")
        building.run([compiler(source), *OPTIONS, *options, f"-I{checkout}", "-c", source, "-o", target])
        return target

    shared = [compiled(os.path.join(checkout, source)) for source in SHARED]
    programs = {}
    for library in dict.fromkeys(engine.library.name for engine in engines):
        driver = DRIVERS[library]
        is_ours = library == "esker"
        source = os.path.join(building.HERE, "dbbench") if is_ours else checkout
        source = os.path.join(source, driver.source)
        linked = building.linked_esker(prefix) if is_ours else driver.link
        programs[library] = os.path.join(directory, f"t_{library}")
        driven = compiled(source, *driver.compile, *([f"-I{prefix}/include"] if is_ours else []))
        building.run([compiler(source), "-pthread", *shared, driven, *linked, "-lm", "-o", programs[library]])
    return programs


def measure(programs, stores, engines, options):
    """The tables."""
    runner = rounds.Runner(programs, stores)
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
