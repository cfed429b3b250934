"""The engines' libraries: where their headers are, and what version these name."""

import dataclasses
import os
import re

ROOTS = ["/usr", "/usr/local", "/opt/homebrew"]


@dataclasses.dataclass(frozen=True)
class Library:
    name: str
    header: str  # is installed if this is
    version: "tuple[str, ...]"  # the file where the version is found, and a pattern for each of its numbers

    def header_path(self, file):
        return next((path for root in ROOTS if os.path.exists(path := f"{root}/include/{file}")), None)

    def is_installed(self):
        """Esker is always there: it is built."""
        return self is ESKER or self.header_path(self.header) is not None

    def version_found(self, prefix):
        """The version that a header names; `prefix` is where Esker is installed."""
        file, *patterns = self.version
        path = f"{prefix}/include/{file}" if self is ESKER else self.header_path(file)
        with open(path, encoding="utf-8") as header:
            text = header.read()
        found = [re.search(pattern, text) for pattern in patterns]
        return ".".join(match.group(1) for match in found if match)


ESKER = Library("esker", "", ("esker.h", r'ESKER_VERSION "([^"]+)"'))
ROCKSDB = Library(
    "rocksdb",
    "rocksdb/db.h",
    ("rocksdb/version.h", r"ROCKSDB_MAJOR (\d+)", r"ROCKSDB_MINOR (\d+)", r"ROCKSDB_PATCH (\d+)"),
)
LEVELDB = Library(
    "leveldb",
    "leveldb/db.h",
    ("leveldb/db.h", r"kMajorVersion = (\d+)", r"kMinorVersion = (\d+)"),
)
LMDB = Library(
    "lmdb",
    "lmdb.h",
    ("lmdb.h", r"MDB_VERSION_MAJOR\s+(\d+)", r"MDB_VERSION_MINOR\s+(\d+)", r"MDB_VERSION_PATCH\s+(\d+)"),
)
SQLITE = Library("sqlite", "sqlite3.h", ("sqlite3.h", r'SQLITE_VERSION\s+"([^"]+)"'))
BERKELEY = Library(
    "bdb",
    "db.h",
    ("db.h", r"DB_VERSION_MAJOR\s+(\d+)", r"DB_VERSION_MINOR\s+(\d+)", r"DB_VERSION_PATCH\s+(\d+)"),
)
