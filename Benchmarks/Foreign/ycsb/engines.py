"""Engines that YCSB-cpp has bindings for, and how each is set."""

import dataclasses

from libraries import ESKER, LEVELDB, LMDB, ROCKSDB, SQLITE, Library

# Where the data are, of what the suite calls a database. It knows WiredTiger, too, which it needs in a version that systems do not have.
PATHS = {"esker": "esker.path", "rocksdb": "rocksdb.dbname", "leveldb": "leveldb.dbname", "lmdb": "lmdb.dbpath", "sqlite": "sqlite.dbpath"}


@dataclasses.dataclass(frozen=True)
class Engine:
    """A library with settings: those of its file of properties, and what differs from them."""

    name: str
    library: Library
    settings: str  # for the report
    properties: "tuple[str, ...]" = ()


# Whatever is written survives a killed process and no power failure, in all of them.
ENGINES = [
    Engine("esker", ESKER, "its defaults: `buffered`, an index in memory; keys in order from the first scan on"),
    Engine("esker-ordered", ESKER, "the same with keys in order from the opening on", ("esker.ordered=true",)),
    Engine(
        "rocksdb",
        ROCKSDB,
        "as the suite has it: log without sync, Snappy, cache of 8 MiB, no filters",
    ),
    Engine(
        "rocksdb-tuned",
        ROCKSDB,
        "the same without compression, a cache larger than the data, Bloom filters of 10 bits",
        ("rocksdb.compression=no", "rocksdb.cache_size=4294967296", "rocksdb.bloom_bits=10"),
    ),
    Engine(
        "leveldb",
        LEVELDB,
        "as the suite has it: log without sync, Snappy, cache of 128 MiB, Bloom filters of 10 bits",
    ),
    Engine(
        "lmdb",
        LMDB,
        "as the suite has it, `NOSYNC`, in a map that is large enough",
        ("lmdb.mapsize=17179869184",),
    ),
    Engine(
        "lmdb-writemap",
        LMDB,
        "the same with `WRITEMAP`",
        ("lmdb.mapsize=17179869184", "lmdb.writemap=true"),
    ),
    Engine(
        "sqlite",
        SQLITE,
        "as the suite has it, WAL and a cache of 2 MB, but `synchronous` off",
        ("sqlite.synchronous=OFF",),
    ),
]
