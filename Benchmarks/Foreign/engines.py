"""The engines that the suite is built with: how each is found, and set."""

import dataclasses
import os
import re

ROOTS = ["/usr", "/usr/local", "/opt/homebrew"]


@dataclasses.dataclass(frozen=True)
class Binding:
    """What the suite calls a database, and what it needs to be built with it."""

    name: str  # of its directory, of `-db` and of its properties
    header: str  # is installed if this is
    version: "tuple[str, ...]"  # a pattern for each number of the version, and the file where it is found
    path: str  # the property that says where the data are

    def header_path(self, file):
        return next((path for root in ROOTS if os.path.exists(path := f"{root}/include/{file}")), None)

    def is_installed(self):
        return self.header_path(self.header) is not None

    def version_found(self, prefix):
        """The version that a header names; `prefix` is where Esker is installed."""
        file, *patterns = self.version
        path = f"{prefix}/include/{file}" if self.name == "esker" else self.header_path(file)
        with open(path, encoding="utf-8") as header:
            text = header.read()
        found = [re.search(pattern, text) for pattern in patterns]
        return ".".join(match.group(1) for match in found if match)


ESKER = Binding("esker", "", ("esker.h", r'ESKER_VERSION "([^"]+)"'), "esker.path")
ROCKSDB = Binding(
    "rocksdb",
    "rocksdb/db.h",
    ("rocksdb/version.h", r"ROCKSDB_MAJOR (\d+)", r"ROCKSDB_MINOR (\d+)", r"ROCKSDB_PATCH (\d+)"),
    "rocksdb.dbname",
)
LEVELDB = Binding(
    "leveldb",
    "leveldb/db.h",
    ("leveldb/db.h", r"kMajorVersion = (\d+)", r"kMinorVersion = (\d+)"),
    "leveldb.dbname",
)
LMDB = Binding(
    "lmdb",
    "lmdb.h",
    ("lmdb.h", r"MDB_VERSION_MAJOR\s+(\d+)", r"MDB_VERSION_MINOR\s+(\d+)", r"MDB_VERSION_PATCH\s+(\d+)"),
    "lmdb.dbpath",
)
SQLITE = Binding("sqlite", "sqlite3.h", ("sqlite3.h", r'SQLITE_VERSION\s+"([^"]+)"'), "sqlite.dbpath")

# Others that the suite knows: WiredTiger, which it needs in a version that systems do not have.
BINDINGS = [ESKER, ROCKSDB, LEVELDB, LMDB, SQLITE]


@dataclasses.dataclass(frozen=True)
class Engine:
    """A binding with settings: those of its file of properties, and what differs from them."""

    name: str
    binding: Binding
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
