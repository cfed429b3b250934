"""YCSB-cpp: the Yahoo Cloud Serving Benchmark in C++, https://github.com/ls4154/YCSB-cpp, with its submodule.

Its binding of Esker is in Benchmarks/Foreign/ycsb/binding. All is built in a copy of the checkout, to which the binding is added; nothing of the
suite is changed. In each round the engines take turns: load, A, B, C, F, D on one store, then load and E on another, each by a process of
its own.
"""

import json
import os
import shutil
import subprocess
import time

import building

from . import rounds, tables
from .engines import ENGINES  # noqa: F401 (the script asks for it)

SUMMARY = "YCSB-cpp: key-value workloads A to F"
TITLE = "YCSB-cpp"
BINDING = os.path.join(building.HERE, "ycsb/binding")
HOW_TO_GET = "git clone https://github.com/ls4154/YCSB-cpp && git -C YCSB-cpp submodule update --init"


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


def check(checkout):
    for needed in ["core/ycsbc.cc", "HdrHistogram_c/CMakeLists.txt"]:
        if not os.path.exists(os.path.join(checkout, needed)):
            raise building.BuildError(f"{checkout} is no checkout of YCSB-cpp: there is no {needed}. To get one:\n    {HOW_TO_GET}")


def build(checkout, prefix, engines, work):
    """The program of the suite, with these engines, and with the Esker that is installed under `prefix`."""
    copy = os.path.join(work, "ycsb-cpp")
    libraries = dict.fromkeys(engine.library.name for engine in engines if engine.library.name != "esker")
    settings = {
        # The suite's Makefile adds to what it finds here.
        "SOURCES": " ".join(f"esker/{name}" for name in sorted(os.listdir(BINDING)) if name.endswith(".cc")),
        "EXTRA_CXXFLAGS": f"-I{prefix}/include",
        "EXTRA_LDFLAGS": " ".join(building.linked_esker(prefix)),
        **{f"BIND_{name.upper()}": "1" for name in libraries},
    }
    # Make looks at times alone: a copy that was built from something else is not for this.
    stamp = json.dumps([os.path.abspath(checkout), building.commit(checkout), settings], sort_keys=True)
    stamp_path = os.path.join(work, "ycsb-cpp.stamp")
    if not os.path.exists(stamp_path) or open(stamp_path, encoding="utf-8").read() != stamp:
        shutil.rmtree(copy, ignore_errors=True)
    if not os.path.exists(copy):
        shutil.copytree(checkout, copy, ignore=shutil.ignore_patterns(".git", "*.o", "*.d", "ycsb"))
    shutil.copytree(BINDING, os.path.join(copy, "esker"), dirs_exist_ok=True)
    with open(stamp_path, "w", encoding="utf-8") as file:
        file.write(stamp)
    building.run(["make", "-C", copy, f"-j{os.cpu_count() or 1}"], env={**os.environ, **settings}, stdout=subprocess.DEVNULL)
    return os.path.join(copy, "ycsb")


def measure(program, stores, engines, options):
    """The tables."""
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
