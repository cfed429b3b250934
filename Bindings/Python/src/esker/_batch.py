"""Batches: writes that take effect together or not at all."""

from __future__ import annotations

import ctypes
from types import TracebackType
from typing import TYPE_CHECKING, Any, Optional, Type

from ._buffers import BytesLike, lend
from ._handles import Handle
from ._library import check, library
from ._settings import Durability, Expiry, write_options

if TYPE_CHECKING:
    from ._keyspace import Keyspace
    from ._store import StoreHandle


class Batch(Handle):
    """Writes that are collected in memory, and written together: by `commit`, or at the end of a `with` that raised
    nothing.

    >>> with store.batch() as batch:
    ...     batch["a"] = b"1"
    ...     batch.remove("b", keyspace=others)

    A batch belongs to one thread at a time.
    """

    def __init__(
        self,
        store: "StoreHandle",
        default: Optional["Keyspace"] = None,
        durability: Optional[Durability] = None,
    ) -> None:
        """Use `Store.batch`."""
        self._lib = library()
        handle = ctypes.c_void_p()
        check(self._lib.esker_batch_create(store._handle, handle))
        assert handle.value is not None
        super().__init__(handle.value, self._lib.esker_batch_free)
        self._store = store
        self._default = default
        self._durability = durability

    def _target(self, keyspace: Optional["Keyspace"]) -> int:
        chosen = keyspace if keyspace is not None else self._default
        if chosen is None:
            raise ValueError("the batch has no keyspace of its own: name one")
        return chosen._handle

    def put(
        self,
        key: BytesLike,
        value: BytesLike,
        *,
        keyspace: Optional["Keyspace"] = None,
        expiry: Optional[Expiry] = None,
    ) -> None:
        """Adds a put, to the store's default keyspace unless another one is named. The last operation on a key wins."""
        lent, content = lend(key), lend(value)
        options = write_options(None, expiry)
        target = self._target(keyspace)
        check(self._lib.esker_batch_put(self._handle, target, lent, len(lent), content, len(content), options))

    def __setitem__(self, key: BytesLike, value: BytesLike) -> None:
        self.put(key, value)

    def remove(self, key: BytesLike, *, keyspace: Optional["Keyspace"] = None) -> None:
        """Adds a removal; of a key that is absent, too."""
        lent = lend(key)
        check(self._lib.esker_batch_remove(self._handle, self._target(keyspace), lent, len(lent)))

    def __delitem__(self, key: BytesLike) -> None:
        self.remove(key)

    def require(self, key: BytesLike, version: Optional[int], *, keyspace: Optional["Keyspace"] = None) -> None:
        """Adds a condition: the key must still have this version (`Keyspace.info` has it), or for None no value, when
        the batch is committed. Else that raises ConflictError."""
        lent = lend(key)
        check(self._lib.esker_batch_require(self._handle, self._target(keyspace), lent, len(lent), version or 0))

    def commit(self) -> None:
        """Writes everything, after which the batch is empty. If it raises, nothing was written, and the batch keeps
        what is in it."""
        check(self._lib.esker_batch_commit(self._handle, write_options(self._durability)))

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> Any:
        try:
            if kind is None:
                self.commit()
        finally:
            self.close()
