"""Events: what happens in a store."""

from __future__ import annotations

import ctypes
import sys
from typing import Any, Callable, Dict, NamedTuple

from ._library import EventHandler

_KINDS = {
    1: "opened",
    2: "cut",
    3: "damaged",
    4: "segment_sealed",
    5: "merge_began",
    6: "merge_ended",
    7: "erased",
    8: "evicted",
    9: "checkpoint",
    10: "sync_failed",
    11: "background_failure",
    12: "clock_jumped",
    13: "closed",
}
_CLOSED = 13


class Event(NamedTuple):
    """Something that has happened in a store. What a kind has no use for is 0; see esker.h."""

    kind: str
    """"opened", "cut", "damaged", "segment_sealed", "merge_began", "merge_ended", "erased", "evicted", "checkpoint",
    "sync_failed", "background_failure", "clock_jumped" or "closed"."""
    text: str
    """In one line of English."""
    sequence: int
    segment: int
    records: int
    bytes: int
    seconds: float
    errno: int


# What C may still call, as long as it may.
_registered: Dict[int, Any] = {}


class Observer:
    """A function that is told events, in a form that C can call; kept until its store has closed."""

    def __init__(self, tell: Callable[[Event], object]) -> None:
        def handler(_: Any, pointer: Any) -> None:
            event = pointer.contents
            try:
                tell(
                    Event(
                        _KINDS.get(event.kind, "unknown"),
                        event.text.decode(errors="replace"),
                        event.sequence,
                        event.segment,
                        event.records,
                        event.bytes,
                        event.duration_ns / 1e9,
                        event.error_number,
                    )
                )
            except Exception:
                # As of any callback: there is nobody to raise it to.
                sys.excepthook(*sys.exc_info())
            finally:
                if event.kind == _CLOSED:
                    self.forget()

        self.function = EventHandler(handler)
        _registered[id(self)] = self

    def forget(self) -> None:
        """Says that it is not called again."""
        _registered.pop(id(self), None)
