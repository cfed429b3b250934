"""What the library's failures are in Python: one class for each status, all of them `Error`."""

from __future__ import annotations

from typing import Dict, Type


class Error(Exception):
    """A call to a store failed.

    `status` is the number of the failure in esker.h, and `errno` that of the operating system if it was the cause,
    else 0.
    """

    def __init__(self, message: str, status: int = 0, errno: int = 0) -> None:
        super().__init__(message)
        self.status = status
        self.errno = errno


class LibraryError(Error, ImportError):
    """The library libEskerC was not found, or is of a version that does not fit."""


class InvalidArgumentError(Error, ValueError):
    """An argument that is not allowed."""


class ClosedError(Error, ValueError):
    """The store, or what was made of it, was closed. A ValueError too, as with closed files."""


class ReadOnlyError(Error):
    """The store was opened read-only."""


class SuspendedError(Error):
    """The store was suspended."""


class CancelledError(Error):
    """The call was cancelled."""


class LockedError(Error):
    """Another process has the store open for writing, or this one has it open twice."""


class NotAStoreError(Error):
    """The path names something else, or nothing where there must be a store."""


class DirectoryNotEmptyError(Error):
    """The directory for a new store or a backup exists already and is not empty."""


class UnfinishedCopyError(Error):
    """The directory holds a backup that is being made, or was interrupted."""


class OtherStoreError(Error):
    """A keyspace, or a previous backup, of another store."""


class UnknownFormatError(Error):
    """The store was written by a newer version."""


class DamagedError(Error):
    """Bytes on disk are not what was written. Everything else stays readable."""


class NoSpaceError(Error):
    """The volume is full."""


class CapacityReachedError(Error):
    """The write does not fit within the store's capacity."""


class KeyspaceFullError(Error):
    """The write does not fit within the keyspace's capacity."""


class AccessDeniedError(Error):
    """The system does not let this process at the files."""


class SystemCallError(Error):
    """A call to the operating system failed; see `errno`."""


class SyncFailedError(Error):
    """A sync failed. The store refuses writes until it is opened again."""


class OutcomeUnknownError(Error):
    """The write may or may not be there once the store is opened again."""


class KeyTooLongError(Error, ValueError):
    """A key of more than 65,535 bytes."""


class ValueTooLongError(Error, ValueError):
    """A value of more than 1 GiB."""


class BatchTooLargeError(Error, ValueError):
    """A batch of more than 2 GiB."""


class HistoryGoneError(Error):
    """The log no longer has the changes that were asked for."""


class InvalidKeyspaceError(Error, ValueError):
    """A name of more than 255 bytes, or the removal of the default keyspace."""


class KeyspaceRemovedError(Error):
    """The keyspace was removed."""


class NoSuchKeyspaceError(Error):
    """There is no such keyspace, and a store that was opened read-only creates none."""


class ConflictError(Error):
    """A condition of a batch does not hold; nothing was written."""


# By the numbers of esker.h.
OK, NOT_FOUND, CONFLICT, END, BUFFER_TOO_SMALL, NOT_YET = range(6)

CLASSES: Dict[int, Type[Error]] = {
    CONFLICT: ConflictError,
    100: InvalidArgumentError,
    # A handle of this package can only be invalid because it was closed.
    101: ClosedError,
    103: ClosedError,
    104: ReadOnlyError,
    105: SuspendedError,
    106: CancelledError,
    107: LockedError,
    108: NotAStoreError,
    109: DirectoryNotEmptyError,
    110: UnfinishedCopyError,
    111: OtherStoreError,
    112: UnknownFormatError,
    113: DamagedError,
    114: NoSpaceError,
    115: CapacityReachedError,
    116: KeyspaceFullError,
    117: AccessDeniedError,
    118: SystemCallError,
    119: SyncFailedError,
    120: OutcomeUnknownError,
    121: KeyTooLongError,
    122: ValueTooLongError,
    123: BatchTooLargeError,
    124: HistoryGoneError,
    125: InvalidKeyspaceError,
    126: KeyspaceRemovedError,
    127: NoSuchKeyspaceError,
}

NO_MEMORY = 102
