"""Change feeds: all writes to a store, in order."""

from __future__ import annotations

import ctypes
import datetime
from typing import TYPE_CHECKING, Iterator, NamedTuple, Optional, Union

from . import _errors
from ._buffers import take
from ._handles import Handle
from ._library import Change as ShownChange
from ._library import ChangesOptions, check, fail, library
from ._settings import instant, milliseconds

if TYPE_CHECKING:
    from ._store import StoreHandle

_KINDS = {1: "put", 2: "remove", 3: "remove_all"}
_NOW = 2**64 - 1


class Change(NamedTuple):
    """A write."""

    kind: str
    """"put", "remove", or "remove_all" of a keyspace that was emptied or removed."""
    sequence: int
    """The number of the write: where to resume behind it."""
    keyspace: str
    """The name; empty for the default keyspace."""
    key: Optional[bytes]
    """None of "remove_all"."""
    value: Optional[bytes]
    """Of "put"."""
    expires_at: Optional[datetime.datetime]
    """Of "put": when it expires, in UTC; None for never."""
    batch_continues: bool
    """Whether the next change belongs to the same batch."""


class Changes(Handle):
    """The writes to a store after one of them, each once, in order, and later ones as they are made.

    Iterating waits for the next write, and ends once the store is closed. A write is shown once it is durable; a feed
    that waits has it synced. A feed belongs to one thread at a time.
    """

    def __init__(self, store: "StoreHandle", since: Optional[int], keeping: int, including_unsynced: bool) -> None:
        """Use `Store.changes`."""
        options = ChangesOptions()
        options.keeping = keeping
        options.including_unsynced = including_unsynced
        handle = ctypes.c_void_p()
        self._lib = library()
        check(self._lib.esker_changes_open(store._handle, _NOW if since is None else since, options, handle))
        assert handle.value is not None
        super().__init__(handle.value, self._lib.esker_changes_close)
        self._change = ShownChange()
        self._is_at_end = False

    def next(self, timeout: Union[float, datetime.timedelta, None] = None) -> Optional[Change]:
        """The next change; waits for it as long as it takes, or for so many seconds. None if there is none by then, or
        the store is closed and all was shown, of which `at_end` tells."""
        wait = -1 if timeout is None else max(0, milliseconds(timeout, "timeout"))
        while True:
            # In parts, so that the interpreter can be interrupted.
            part = min(wait, 100) if wait >= 0 else 100
            status = self._lib.esker_changes_next(self._handle, part, self._change)
            if status == 0:
                return self._shown()
            if status == _errors.END:
                self._is_at_end = True
                return None
            if status != _errors.NOT_YET:
                fail(status)
            if wait >= 0:
                wait -= part
                if wait == 0:
                    return None

    @property
    def at_end(self) -> bool:
        """Whether the store was closed, and all was shown."""
        return self._is_at_end

    def _shown(self) -> Change:
        change = self._change
        kind = _KINDS.get(change.kind, "unknown")
        is_put = kind == "put"
        return Change(
            kind,
            change.sequence,
            (change.keyspace or b"").decode(),
            take(change.key, change.key_length) if change.key else None,
            take(change.value, change.value_length) if is_put else None,
            instant(change.expires_at_ms) if is_put else None,
            change.batch_continues != 0,
        )

    def __iter__(self) -> Iterator[Change]:
        while True:
            change = self.next()
            if change is None:
                return
            yield change
