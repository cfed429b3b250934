"""Stores."""

from __future__ import annotations

import ctypes
import json
import os
from typing import Any, Callable, Dict, List, Optional, Union

from . import _errors
from ._batch import Batch
from ._changes import Changes
from ._events import Event, Observer
from ._handles import Handle
from ._keyspace import Keyspace
from ._library import Options, Progress, VerifyReport, check, fail, library
from ._settings import Durability, Expiry, durability_fields, expiry_fields, milliseconds
from ._snapshot import Snapshot

PathLike = Union[str, "os.PathLike[str]"]

# Whether a mode creates a store, by the numbers of esker.h.
_CREATION = {"r": 1, "w": 1, "c": 0, "x": 2}
_VERIFICATION = {"once": 0, "every_read": 1, "opening": 2}
_NO_LIMIT = 2**64 - 1


class StoreHandle(Handle):
    """What keeps a store open: the store, and its keyspaces."""


class Store(Keyspace):
    """An open store. It is a mapping itself: its default keyspace. Any thread may use it.

    Close it, or use it in a `with`. Relative paths are those of the moment at which it is opened.
    """

    path: str
    """The path that it was opened with; empty for a store in memory."""

    def __init__(self, handle: StoreHandle, path: str) -> None:
        """Use `esker.open`."""
        self.path = path
        super().__init__(handle, "")

    def __repr__(self) -> str:
        state = "closed " if self.closed else ""
        return f"<{state}esker.Store {self.path!r}>"

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._store.closed

    def close(self) -> None:
        """Closes the store and lets go of its files; again, does nothing. Keyspaces, batches and snapshots of it then
        raise ClosedError."""
        try:
            self._store.close()
        finally:
            super().close()

    def keyspace(self, name: str) -> Keyspace:
        """The keyspace of that name, which is created if there is none."""
        return Keyspace(self._store, name)

    def keyspace_names(self) -> List[str]:
        """The names of all keyspaces but the default one, sorted."""
        names = ctypes.POINTER(ctypes.c_char_p)()
        count = ctypes.c_size_t()
        check(self._lib.esker_keyspace_names(self._store._handle, names, count))
        try:
            return sorted(names[index].decode() for index in range(count.value))
        finally:
            self._lib.esker_free(names)

    def remove_keyspace(self, name: str) -> bool:
        """Removes a keyspace with all its entries, in constant time; False if there is none."""
        status = self._lib.esker_keyspace_remove(self._store._handle, name.encode())
        if status not in (0, _errors.NOT_FOUND):
            fail(status)
        return bool(status == 0)

    def batch(self, *, durability: Optional[Durability] = None) -> Batch:
        """A batch of writes, to this keyspace and others of the store."""
        return Batch(self._store, self, durability)

    def snapshot(self) -> Snapshot:
        """The store as it is now."""
        return Snapshot(self._store, self)

    def changes(
        self, since: Optional[int] = None, *, keeping: int = 256 << 20, including_unsynced: bool = False
    ) -> Changes:
        """All writes behind the one with this number, in all keyspaces, in order, and later ones as they are made.

        Args:
          since: The number of a change, a write or a snapshot; 0 for the first write, None for what comes from now on.
          keeping: How many bytes of merged segments are kept for it. Beyond that it raises HistoryGoneError.
          including_unsynced: Whether writes are shown at once, although a power failure may undo them.
        """
        return Changes(self._store, since, keeping, including_unsynced)

    def sync(self) -> None:
        """Makes every write that returned before the call durable."""
        check(self._lib.esker_sync(self._store._handle))

    def refresh(self) -> None:
        """Lets a store that was opened read-only see everything that was written before the call."""
        check(self._lib.esker_refresh(self._store._handle))

    def merge(self) -> None:
        """Reclaims the space of records that were replaced, removed or expired. A store does so by itself, too."""
        check(self._lib.esker_merge(self._store._handle))

    def backup(self, directory: PathLike, *, previous: Optional[PathLike] = None) -> None:
        """Copies the store, as it is at one instant, to a directory that does not exist or is empty. The copy is a
        store, and durable.

        What an earlier backup has is shared with it.
        """
        earlier = None if previous is None else os.fsencode(previous)
        check(self._lib.esker_backup(self._store._handle, os.fsencode(directory), earlier))

    def verify(self, progress: Optional[Callable[[float], object]] = None) -> Dict[str, Any]:
        """Reads every byte and compares all checksums. Returns how many `files`, `bytes` and `records` it has read, and
        as `damage` a list with an entry for each damaged range: empty if everything is as it was written.

        `progress` is told which share is done, from 0 to 1; if it returns False, or raises, the call ends.
        """
        raised: List[BaseException] = []

        def told(_: Any, share: float) -> int:
            try:
                return int(progress is not None and progress(share) is False)
            except BaseException as error:
                raised.append(error)
                return 1

        text = ctypes.c_void_p()
        length = ctypes.c_size_t()
        function = Progress(told) if progress is not None else Progress()
        status = self._lib.esker_verify(self._store._handle, function, None, VerifyReport(), text, length)
        if raised:
            raise raised[0]
        check(status)
        try:
            report: Dict[str, Any] = json.loads(ctypes.string_at(text.value or 0, length.value))
            return report
        finally:
            self._lib.esker_free(text)

    def statistics(self) -> Dict[str, Any]:
        """Figures of the store; sizes are in bytes."""
        text = ctypes.c_void_p()
        length = ctypes.c_size_t()
        check(self._lib.esker_statistics(self._store._handle, text, length))
        try:
            figures: Dict[str, Any] = json.loads(ctypes.string_at(text.value or 0, length.value))
            return figures
        finally:
            self._lib.esker_free(text)


def library_version() -> str:
    """The version of the library that was found."""
    version: bytes = library().esker_version()
    return version.decode()


def open(
    path: Optional[PathLike] = None,
    mode: str = "c",
    *,
    in_memory: bool = False,
    durability: Optional[Durability] = None,
    default_expiry: Optional[Expiry] = None,
    compression: Optional[Union[bool, int]] = None,
    segment_size: Optional[int] = None,
    capacity: Union[int, bool, None] = None,
    shared: Union[bool, float] = False,
    verification: str = "once",
    merge_automatically: bool = True,
    merge_bytes_per_second: Optional[int] = None,
    on_event: Optional[Callable[[Event], object]] = None,
) -> Store:
    """Opens the store in a directory.

    The modes are those of `dbm` and, for "x", of Python's own `open`: "r" reads, also beside a process that writes;
    "w" reads and writes a store that is there; "c" creates one if there is none; "x" must create one.

    A store remembers durability, default_expiry, compression, segment_size and capacity: None keeps what it remembers.

    Args:
      path: The directory.
      mode: "r", "w", "c" or "x".
      in_memory: A new store in memory, without a path.
      durability: Of writes that do not say it: "buffered" (at first), "synced", or a time after which writes are
        durable.
      default_expiry: Of values that are put without one.
      compression: True for LZ4, or its level from 1 to 12; False for none. Values are compressed when segments are
        merged.
      segment_size: Of the files of the log, in bytes.
      capacity: The most bytes of all files: the store is a cache, which evicts. False for no limit.
      shared: Whether other processes may write in turn; or for how many seconds a write waits for its turn.
      verification: How often reads compare checksums: "once" as long as a large value is in memory, "every_read" or
        "opening".
      merge_automatically: Whether space is reclaimed in the background, not only by `Store.merge`.
      merge_bytes_per_second: The most that merges copy.
      on_event: Is told what happens in the store, in whatever thread it happens; the last event is "closed". It must
        return soon, and not close the store.
    """
    if mode not in _CREATION:
        raise ValueError(f'mode must be "r", "w", "c" or "x", not {mode!r}')
    if verification not in _VERIFICATION:
        raise ValueError(f'verification must be "once", "every_read" or "opening", not {verification!r}')
    if (path is None) != in_memory:
        raise TypeError("a store has either a path or in_memory=True")
    options = Options()
    options.in_memory = in_memory
    options.read_only = mode == "r"
    options.create = _CREATION[mode] if not in_memory else 0
    options.durability, options.durability_period_ms = durability_fields(durability)
    options.default_expiry, options.default_expiry_ms = expiry_fields(default_expiry)
    if compression is not None:
        options.compression = 2 if compression else 1
        options.compression_level = 0 if isinstance(compression, bool) else _number(compression, 12, "compression")
    if segment_size is not None:
        options.segment_size = _number(segment_size, _NO_LIMIT, "segment_size")
    if capacity is not None:
        if capacity is True:
            raise ValueError("capacity is a number of bytes, or False")
        options.capacity = _NO_LIMIT if capacity is False else _number(capacity, _NO_LIMIT, "capacity")
    options.sharing = shared is not False
    if shared is not True and shared is not False:
        options.sharing_patience_ms = max(1, milliseconds(shared, "shared"))
    options.verification = _VERIFICATION[verification]
    options.manual_merge = not merge_automatically
    if merge_bytes_per_second is not None:
        options.merge_bytes_per_second = _number(merge_bytes_per_second, _NO_LIMIT, "merge_bytes_per_second")

    location = "" if path is None else os.fspath(path)
    lib = library()
    handle = ctypes.c_void_p()
    observer = None
    if on_event is not None:
        observer = Observer(on_event)
        options.on_event = observer.function
    status = lib.esker_open(None if in_memory else os.fsencode(location), options, handle)
    if status != 0 and observer is not None:
        observer.forget()
    check(status)
    assert handle.value is not None
    opened = StoreHandle(handle.value, lib.esker_close)
    try:
        return Store(opened, location)
    except BaseException:
        opened.close()
        raise


def _number(value: int, most: int, what: str) -> int:
    """A number that C takes; 0 would be the default there."""
    if not 1 <= value <= most:
        raise ValueError(f"{what} is {value}, and must be from 1 to {most}")
    return value
