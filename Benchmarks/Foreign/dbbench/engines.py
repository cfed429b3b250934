"""Engines that dbbench has programs for, and how each is set."""

import dataclasses

from libraries import BERKELEY, ESKER, LEVELDB, LMDB, ROCKSDB, Library


@dataclasses.dataclass(frozen=True)
class Engine:
    """A library with settings: the driver's, and what differs from them."""

    name: str
    library: Library
    settings: str  # for the report
    arguments: "tuple[str, ...]" = ()


# Whatever is written survives a killed process, and a power failure in the cells whose names end with `sync`, in all of them.
ENGINES = [
    Engine("esker", ESKER, "its defaults: `buffered`, an index in memory; keys in order from the first scan on"),
    Engine("esker-ordered", ESKER, "the same with keys in order from the opening on", ("--ordered=1",)),
    Engine("lmdb", LMDB, "as the suite has it: `WRITEMAP`, `NOSYNC`"),
    Engine("leveldb", LEVELDB, "as the suite has it: log without sync, no compression, cache of 8 MiB, no filters"),
    Engine("rocksdb", ROCKSDB, "as the suite has it: log without sync, no compression, a transaction for each call, no cache, no filters"),
    Engine(
        "rocksdb-tuned",
        ROCKSDB,
        "the same with a cache larger than the data, and Bloom filters of 10 bits",
        ("--cache_size=2147483648", "--bloom_bits=10"),
    ),
    Engine("bdb", BERKELEY, "as the suite has it: a log without sync, a transaction for each call; but a cache of 1 GB instead of 4 MB", ("--cache_size=1000000000",)),
]
