"""Handles of C that are closed once: by a call, at the end of a `with`, or with the last reference."""

from __future__ import annotations

import weakref
from types import TracebackType
from typing import Any, Callable, Optional, Type, TypeVar

from ._errors import ClosedError
from ._library import check

Self = TypeVar("Self", bound="Handle")


class Handle:
    """Something that has to be closed. Any thread may close it; a closed one raises ClosedError."""

    _handle: int
    _finalizer: Any

    def __init__(self, handle: int, close: Callable[[int], int]) -> None:
        self._handle = handle
        # Also at the end of the interpreter, so that stores are closed properly.
        self._finalizer = weakref.finalize(self, close, handle)

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return not self._finalizer.alive

    def close(self) -> None:
        """Closes it; again, does nothing."""
        # None if it was closed already.
        status = self._finalizer()
        if status is not None:
            check(status)

    def __enter__(self: Self) -> Self:
        if self.closed:
            raise ClosedError(f"the {type(self).__name__.lower()} is closed")
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()
