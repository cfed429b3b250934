"""Snapshots: a store as it was at one instant."""

from __future__ import annotations

import ctypes
from collections.abc import ItemsView, Mapping, ValuesView
from typing import TYPE_CHECKING, Any, Iterator, Optional, Tuple

from . import _errors
from ._buffers import BytesLike, lend, take
from ._entries import Cursor, read_items, read_keys, read_values
from ._handles import Handle
from ._library import check, library

if TYPE_CHECKING:
    from ._keyspace import Keyspace
    from ._store import StoreHandle


class Snapshot(Handle):
    """A store as it was at one instant, whatever is written later. Close it: until then, what it shows stays on disk.

    >>> with store.snapshot() as snapshot:
    ...     before = snapshot.keyspace(cities)
    ...     print(len(before), before.get("at"))
    """

    def __init__(self, store: "StoreHandle", default: "Keyspace") -> None:
        """Use `Store.snapshot`."""
        self._lib = library()
        handle = ctypes.c_void_p()
        check(self._lib.esker_snapshot_open(store._handle, handle))
        assert handle.value is not None
        super().__init__(handle.value, self._lib.esker_snapshot_close)
        self._default = default

    @property
    def sequence(self) -> int:
        """The number of the last write that it shows: `Store.changes` since then has all that came behind it."""
        sequence = ctypes.c_uint64()
        check(self._lib.esker_snapshot_sequence(self._handle, sequence))
        return sequence.value

    def keyspace(self, keyspace: Optional["Keyspace"] = None) -> "SnapshotKeyspace":
        """A keyspace at that instant; the default one unless another is named."""
        return SnapshotKeyspace(self, keyspace if keyspace is not None else self._default)


class _Items(ItemsView[bytes, bytes]):
    _mapping: "SnapshotKeyspace"

    def __iter__(self) -> Iterator[Tuple[bytes, bytes]]:
        return read_items(self._mapping._cursor())


class _Values(ValuesView[bytes]):
    _mapping: "SnapshotKeyspace"

    def __iter__(self) -> Iterator[bytes]:
        return read_values(self._mapping._cursor())

    def __contains__(self, value: object) -> bool:
        return any(value == other for other in self)


class SnapshotKeyspace(Mapping[BytesLike, bytes]):
    """A keyspace at the instant of a snapshot, as a mapping that cannot be changed.

    Looking up one key is fast if the keyspace keeps its keys in order, as it does once a range was asked for;
    otherwise the first look-up sorts its keys for this snapshot. `len` reads all entries.
    """

    def __init__(self, snapshot: Snapshot, keyspace: "Keyspace") -> None:
        """Use `Snapshot.keyspace`."""
        self._snapshot = snapshot
        self._keyspace = keyspace

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def _cursor(self) -> Cursor:
        return Cursor(self._keyspace._handle, self._snapshot._handle, None)

    def __getitem__(self, key: BytesLike) -> bytes:
        lent = lend(key)
        value = ctypes.c_void_p()
        length = ctypes.c_size_t()
        lib = self._snapshot._lib
        status = lib.esker_snapshot_get(
            self._snapshot._handle, self._keyspace._handle, lent, len(lent), value, length
        )
        if status == _errors.NOT_FOUND:
            raise KeyError(key)
        check(status)
        try:
            return take(value.value, length.value)
        finally:
            lib.esker_free(value)

    def __iter__(self) -> Iterator[bytes]:
        return read_keys(self._cursor())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return True

    def items(self) -> ItemsView[bytes, bytes]:
        """The entries, in no particular order."""
        return _Items(self)

    def values(self) -> ValuesView[bytes]:
        """The values, in no particular order."""
        return _Values(self)

    def range(
        self,
        start: Optional[BytesLike] = None,
        stop: Optional[BytesLike] = None,
        *,
        prefix: Optional[BytesLike] = None,
        include_start: bool = True,
        include_stop: bool = False,
        reverse: bool = False,
        limit: Optional[int] = None,
    ) -> Iterator[Tuple[bytes, bytes]]:
        """The entries of a range at that instant, in the order of their keys' bytes."""
        return read_items(
            self._keyspace._ordered(
                start, stop, prefix, include_start, include_stop, reverse, limit, False, self._snapshot._handle
            )
        )

    def range_keys(
        self,
        start: Optional[BytesLike] = None,
        stop: Optional[BytesLike] = None,
        *,
        prefix: Optional[BytesLike] = None,
        include_start: bool = True,
        include_stop: bool = False,
        reverse: bool = False,
        limit: Optional[int] = None,
    ) -> Iterator[bytes]:
        """The same without the values."""
        return read_keys(
            self._keyspace._ordered(
                start, stop, prefix, include_start, include_stop, reverse, limit, True, self._snapshot._handle
            )
        )
