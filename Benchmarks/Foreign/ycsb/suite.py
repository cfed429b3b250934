"""YCSB-cpp: the Yahoo Cloud Serving Benchmark in C++, https://github.com/ls4154/YCSB-cpp, with its submodule.

Its binding of Esker is in Benchmarks/Foreign/ycsb/binding. FILE is the suite's program, ycsb, built with that binding in its own directory. In each
round the engines take turns: load, A, B, C, F, D on one store, then load and E on another, each by a process of its own.
"""

import os
import time

import programs

from . import rounds, tables
from .engines import ENGINES  # noqa: F401 (the script asks for it)

SUMMARY = "YCSB-cpp: key-value workloads A to F"
TITLE = "YCSB-cpp"
PROGRAMS = ("FILE", "the program ycsb, with the bindings of Esker and the others")


def add_arguments(parser, positive):
    chosen = rounds.WORKLOADS[1:]
    parser.add_argument("--workloads", nargs="+", choices=chosen, default=chosen, help="all but the load are chosen")
    parser.add_argument("--records", type=positive, default=100_000, help="about 1.1 KB each; 100000, as in the suite")
    parser.add_argument("--operations", type=positive, default=300_000, help="of each workload but E; 300000")
    parser.add_argument("--scans", type=positive, default=15_000, help="operations of E; 15000")
    parser.add_argument("--threads", type=positive, default=1, help="1, as in the suite")


def sizes(options):
    return (
        f"{options.records:,} records, {options.operations:,} operations of each workload, {options.scans:,} of E, {options.threads} "
        f"thread{'s' if options.threads > 1 else ''}"
    )


def place(options):
    """The directory of the suite, which has its workloads and settings."""
    directory = os.path.dirname(os.path.abspath(options.programs))
    if not os.path.exists(os.path.join(directory, "workloads/workloada")):
        raise programs.SuiteError(f"{directory} is not where YCSB-cpp was built: there is no workloads/workloada")
    return directory


def measure(stores, engines, options):
    """The tables."""
    program = os.path.abspath(options.programs)
    runner = rounds.Runner(program, stores, options.records, options.operations, options.scans, options.threads)
    figures = {workload: {engine.name: [] for engine in engines} for workload in rounds.WORKLOADS}
    for number in range(options.rounds):
        # Whoever is first in one round is last in another.
        turn = number % len(engines)
        for engine in engines[turn:] + engines[:turn]:
            start = time.monotonic()
            for workload, figure in runner.round(engine, options.workloads).items():
                figures[workload][engine.name].append(figure)
            print(f"round {number + 1}, {engine.name}: {time.monotonic() - start:.1f} s", flush=True)
    return [tables.table(workload, each) for workload, each in figures.items() if all(each.values())]
