"""Iterators of entries, which are cursors of C."""

from __future__ import annotations

import ctypes
from typing import Any, Iterator, Optional, Tuple

from . import _errors
from ._buffers import BytesLike, address, lend, take
from ._handles import Handle
from ._library import Entry, Range, Slice, check, fail, library


class Cursor(Handle):
    """A cursor that is closed at its end, or with its last reference."""

    def __init__(self, keyspace: int, snapshot: Optional[int], range: Optional[Range]) -> None:
        cursor = ctypes.c_void_p()
        check(library().esker_cursor_open(keyspace, snapshot, range, cursor))
        assert cursor.value is not None
        super().__init__(cursor.value, library().esker_cursor_close)
        self._next = library().esker_cursor_next
        self._entry = Entry()
        self._reference = ctypes.byref(self._entry)

    def next(self) -> Optional[Entry]:
        """The next entry, which is good until the next call; None behind the last one."""
        status = self._next(self._handle, self._reference)
        if status == 0:
            return self._entry
        if status != _errors.END:
            fail(status)
        self.close()
        return None


def read_items(cursor: Cursor) -> Iterator[Tuple[bytes, bytes]]:
    """Keys and values."""
    with cursor:
        while (entry := cursor.next()) is not None:
            yield take(entry.key, entry.key_length), take(entry.value, entry.value_length)


def read_keys(cursor: Cursor) -> Iterator[bytes]:
    """Keys alone."""
    with cursor:
        while (entry := cursor.next()) is not None:
            yield take(entry.key, entry.key_length)


def read_values(cursor: Cursor) -> Iterator[bytes]:
    """Values alone."""
    with cursor:
        while (entry := cursor.next()) is not None:
            yield take(entry.value, entry.value_length)


def ordered(
    start: Optional[BytesLike],
    stop: Optional[BytesLike],
    prefix: Optional[BytesLike],
    include_start: bool,
    include_stop: bool,
    reverse: bool,
    limit: Optional[int],
    keys_only: bool,
) -> Tuple[Range, Any]:
    """A range for C, and what must be kept until it was passed."""
    range = Range()
    lent = []
    for name, key in (("start", start), ("stop", stop), ("prefix", prefix)):
        if key is not None:
            bound = lend(key)
            lent.append(bound)
            setattr(range, name, Slice(*address(bound)))
    range.from_excluded = not include_start
    range.to_included = include_stop
    range.reverse = reverse
    range.keys_only = keys_only
    if limit is not None:
        range.limit = limit
    return range, lent
