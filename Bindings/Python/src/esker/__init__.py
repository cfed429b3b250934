"""Esker: an embedded, log-structured key-value store.

>>> import esker
>>> with esker.open("cities.esker") as store:
...     cities = store.keyspace("cities")
...     cities["at"] = b"Vienna"
...     print(cities["at"])
b'Vienna'

Keys and values are bytes. Whatever has bytes is taken (bytes, bytearray, memoryview, arrays), and str, which counts
as its UTF-8; what is returned is bytes.
"""

from ._batch import Batch
from ._changes import Change, Changes
from ._errors import (
    AccessDeniedError,
    BatchTooLargeError,
    CancelledError,
    CapacityReachedError,
    ClosedError,
    ConflictError,
    DamagedError,
    DirectoryNotEmptyError,
    Error,
    HistoryGoneError,
    InvalidArgumentError,
    InvalidKeyspaceError,
    KeyspaceFullError,
    KeyspaceRemovedError,
    KeyTooLongError,
    LibraryError,
    LockedError,
    NoSpaceError,
    NoSuchKeyspaceError,
    NotAStoreError,
    OtherStoreError,
    OutcomeUnknownError,
    ReadOnlyError,
    SuspendedError,
    SyncFailedError,
    SystemCallError,
    UnfinishedCopyError,
    UnknownFormatError,
    ValueTooLongError,
)
from ._events import Event
from ._keyspace import Keyspace
from ._settings import NEVER, Info
from ._snapshot import Snapshot, SnapshotKeyspace
from ._store import Store, library_version, open

__version__ = "1.0.0-dev"

__all__ = [
    "AccessDeniedError",
    "Batch",
    "BatchTooLargeError",
    "CancelledError",
    "CapacityReachedError",
    "Change",
    "Changes",
    "ClosedError",
    "ConflictError",
    "DamagedError",
    "DirectoryNotEmptyError",
    "Error",
    "Event",
    "HistoryGoneError",
    "Info",
    "InvalidArgumentError",
    "InvalidKeyspaceError",
    "KeyTooLongError",
    "Keyspace",
    "KeyspaceFullError",
    "KeyspaceRemovedError",
    "LibraryError",
    "LockedError",
    "NEVER",
    "NoSpaceError",
    "NoSuchKeyspaceError",
    "NotAStoreError",
    "OtherStoreError",
    "OutcomeUnknownError",
    "ReadOnlyError",
    "Snapshot",
    "SnapshotKeyspace",
    "Store",
    "SuspendedError",
    "SyncFailedError",
    "SystemCallError",
    "UnfinishedCopyError",
    "UnknownFormatError",
    "ValueTooLongError",
    "library_version",
    "open",
]
