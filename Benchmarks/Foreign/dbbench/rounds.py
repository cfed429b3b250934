"""Runs the suite's benchmarks on one engine, and reads what the suite prints."""

import dataclasses
import os
import re
import shutil

from programs import SuiteError, output

WRITES = ["fillrandsync", "fillseqsync", "fillrandom", "fillrandbatch", "fillseq", "fillseqbatch", "overwrite"]
READS = ["readrandom"]
SCANS = ["readseq", "readreverse"]
CELLS = [*WRITES, *READS, *SCANS]
# What a process does on one store; the reads follow the last one.
STEPS = [["fillrandsync", "fillseqsync"], ["fillrandom"], ["fillrandbatch"], ["fillseq"], ["fillseqbatch", "overwrite"]]
ATTEMPTS = 5


@dataclasses.dataclass(frozen=True)
class Size:
    """How long values are, and how much of everything there is."""

    name: str
    value: int
    records: int
    batch: int
    synced: int
    reads: int


@dataclasses.dataclass(frozen=True)
class Figure:
    rate: float  # operations a second, by the suite's clock: without opening and closing
    disk: "int | None"  # bytes that the suite has found on the disk then, if it has looked


def parse(text):
    """A figure for each benchmark of what a run has printed."""
    figures = {}
    for line in text.splitlines():
        if measured := re.match(r"(\w+) +: +[\d.]+ micros/op (\d+) ops/sec;(.*)", line):
            name, rate, rest = measured.groups()
            found = re.search(r"\((\d+) of (\d+) found\)", rest)
            if found and found.group(1) != found.group(2):
                raise SuiteError(f"not every key was found: {line}")
            figures[name] = Figure(float(rate), None)
        elif used := re.match(r"(\d+)\tstore$", line):
            figures[name] = dataclasses.replace(figures[name], disk=int(used.group(1)) * 1024)
    return figures


@dataclasses.dataclass(frozen=True)
class Runner:
    programs: str  # the directory of the programs
    directory: str  # for the stores

    def command(self, engine, size, cells):
        is_synced = cells[0].endswith("sync")
        # The suite does a thousandth of the writes if each is synced.
        records = size.synced * 1000 if is_synced else size.records
        command = [
            os.path.join(self.programs, f"t_{engine.library.name}"),
            # In the working directory: the suite passes the path to a shell.
            "--db=store",
            f"--num={records}",
            f"--value_size={size.value}",
            f"--batch={size.batch}",
            *engine.arguments,
            f"--benchmarks={','.join(cells)}",
            # What follows goes on with the store that is open.
            "--use_existing_db=1",
        ]
        if cells == STEPS[-1]:
            command += [f"--reads={size.reads}", f"--benchmarks={','.join(READS)}"]
            command += [f"--reads={size.records}", f"--benchmarks={','.join(SCANS)}"]
        # Once its arguments end, the suite does the last benchmarks again: here, none.
        return [*command, "--benchmarks="]

    def step(self, engine, size, cells):
        """Figures of some cells, of a store of their own."""
        for _ in range(ATTEMPTS - 1):
            try:
                return self.attempt(engine, size, cells)
            except SuiteError as error:
                # The suite ends if a file goes while it looks how much is on the disk, as logs of RocksDB do.
                if "du: cannot" not in str(error):
                    raise
        return self.attempt(engine, size, cells)

    def attempt(self, engine, size, cells):
        shutil.rmtree(self.directory, ignore_errors=True)
        os.makedirs(self.directory)
        # What others have left to be written is not this one's.
        os.sync()
        try:
            figures = parse(output(self.command(engine, size, cells), cwd=self.directory))
        finally:
            shutil.rmtree(self.directory, ignore_errors=True)
        for name in [*cells, *(READS + SCANS if cells == STEPS[-1] else [])]:
            if name not in figures:
                raise SuiteError(f"{engine.name}: the suite has printed nothing of {name}")
        return figures
