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

    def header_path(self, file, prefix):
        roots = [prefix] if self is ESKER and prefix else ROOTS
        return next((path for root in roots if os.path.exists(path := f"{root}/include/{file}")), None)

    def is_installed(self, prefix):
        """`prefix` is where Esker is, if it is not with the others."""
        return self.header_path(self.header, prefix) is not None

    def version_found(self, prefix):
        """The version that a header names."""
        file, *patterns = self.version
        with open(self.header_path(file, prefix), encoding="utf-8") as header:
            text = header.read()
        found = [re.search(pattern, text) for pattern in patterns]
        return ".".join(match.group(1) for match in found if match)


ESKER = Library("esker", "esker.h", ("esker.h", r'ESKER_VERSION "([^"]+)"'))
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
