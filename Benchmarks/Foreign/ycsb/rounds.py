"""Runs the suite's workloads on one engine, and reads what the suite prints."""

import dataclasses
import os
import re
import shutil

from programs import HERE, SuiteError, output

from .engines import PATHS

# In the order that YCSB recommends: those that leave the number of records as it is, then D; E on a store that is loaded anew, as D has
# inserted what E would insert.
ON_ONE_STORE = ["a", "b", "c", "f", "d"]
WORKLOADS = ["load", *ON_ONE_STORE, "e"]


@dataclasses.dataclass(frozen=True)
class Latency:
    """Of all calls of one kind, in microseconds."""

    mean: float
    p99: float
    p999: float


@dataclasses.dataclass(frozen=True)
class Figure:
    """What one run of a workload gave."""

    rate: float  # operations a second, by the suite's clock: with opening and closing
    latencies: "dict[str, Latency]"  # by the suite's name of the operation
    disk: int  # bytes that the file system has allocated, afterwards


def parse(text):
    """The rate and the latencies from what a run with `-s` has printed."""
    rate = re.search(r"throughput\(ops/sec\): ([\d.e+]+)", text)
    if not rate:
        raise SuiteError(f"there is no throughput in what the suite printed:\n{text}")
    latencies = {}
    # The last state is that at the end.
    states = [line for line in text.splitlines() if " operations;" in line]
    for name, figures in re.findall(r"\[([A-Z-]+): ([^\]]*)\]", states[-1] if states else ""):
        if name.endswith("-FAILED"):
            raise SuiteError(f"operations have failed: {name} {figures}")
        values = dict(pair.split("=") for pair in figures.split())
        latencies[name] = Latency(float(values["Avg"]), float(values["99"]), float(values["99.9"]))
    return float(rate.group(1)), latencies


def disk_use(path):
    paths = [path] + [os.path.join(at, name) for at, _, names in os.walk(path) for name in names]
    # SQLite's files lie beside each other.
    paths += [path + suffix for suffix in ("-wal", "-shm") if os.path.exists(path + suffix)]
    return sum(os.lstat(each).st_blocks * 512 for each in paths)


@dataclasses.dataclass(frozen=True)
class Runner:
    program: str
    directory: str  # for the stores
    records: int
    operations: int
    scans: int
    threads: int

    def command(self, engine, phase, workload, path):
        suite = os.path.dirname(self.program)
        properties = [
            f"recordcount={self.records}",
            f"operationcount={self.scans if workload == 'e' else self.operations}",
            f"threadcount={self.threads}",
            "status.interval=86400",
            f"{PATHS[engine.library.name]}={path}",
            *engine.properties,
        ]
        name = engine.library.name
        # Esker's are here, those of the others the suite's.
        settings = os.path.join(HERE, "ycsb/binding") if name == "esker" else os.path.join(suite, name)
        files = [os.path.join(suite, "workloads", f"workload{workload}"), os.path.join(settings, f"{name}.properties")]
        command = [self.program, phase, "-s", "-db", name]
        for file in files:
            command += ["-P", file]
        for each in properties:
            command += ["-p", each]
        return command

    def step(self, engine, phase, workload, path):
        # What the step before has left to be written is not this one's.
        os.sync()
        rate, latencies = parse(output(self.command(engine, phase, workload, path)))
        return Figure(rate, latencies, disk_use(path))

    def round(self, engine, workloads):
        """A figure for each workload, from stores of its own."""
        path = os.path.join(self.directory, "store")
        figures = {}
        try:
            for group in [[name for name in ON_ONE_STORE if name in workloads], ["e"] if "e" in workloads else []]:
                if not group:
                    continue
                shutil.rmtree(self.directory, ignore_errors=True)
                os.makedirs(self.directory)
                loaded = self.step(engine, "-load", "a", path)
                figures.setdefault("load", loaded)
                for workload in group:
                    figures[workload] = self.step(engine, "-run", workload, path)
        finally:
            shutil.rmtree(self.directory, ignore_errors=True)
        return figures
