"""What options mean: durability, expiry, what is known of a value."""

from __future__ import annotations

import datetime
import math
from typing import NamedTuple, Optional, Tuple, Union

from ._library import WriteOptions

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_MOST = 2**63 - 1


class Never:
    """The type of NEVER."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "esker.NEVER"


NEVER = Never()
"""As an expiry: the value does not expire, whatever the default is."""

Durability = Union[str, float, datetime.timedelta]
"""`"buffered"`: survives the end of the process. `"synced"`: a power failure. A time, in seconds or as a timedelta: a
power failure once it has passed."""

Expiry = Union[float, datetime.timedelta, datetime.datetime, Never]
"""A time from now, in seconds or as a timedelta; an instant, as an aware datetime; or NEVER."""


class Info(NamedTuple):
    """What is known of a value without reading it."""

    version: int
    """The number of the write that stored it."""
    length: int
    """In bytes."""
    expires_at: Optional[datetime.datetime]
    """When it expires, in UTC; None for never, and for what is beyond the year 9999."""


def milliseconds(time: Union[float, datetime.timedelta], what: str) -> int:
    """A time in milliseconds, as far as 64 bits go."""
    if isinstance(time, datetime.timedelta):
        time = time.total_seconds()
    if isinstance(time, bool) or not isinstance(time, (int, float)):
        raise TypeError(f"{what} must be a number of seconds or a timedelta, not {type(time).__name__}")
    if math.isnan(time):
        raise ValueError(f"{what} is not a number")
    if math.isinf(time):
        return _MOST if time > 0 else -_MOST
    return max(-_MOST, min(_MOST, round(time * 1000)))


def instant(expires_at_ms: int) -> Optional[datetime.datetime]:
    """An instant of C's; None for never."""
    if expires_at_ms == _MOST:
        return None
    try:
        return _EPOCH + datetime.timedelta(milliseconds=expires_at_ms)
    except OverflowError:
        return None


def durability_fields(durability: Optional[Durability]) -> Tuple[int, int]:
    """The number of a durability, and its period."""
    if durability is None:
        return 0, 0
    if isinstance(durability, str):
        if durability == "buffered":
            return 1, 0
        if durability == "synced":
            return 2, 0
        raise ValueError(f'durability must be "buffered", "synced" or a time, not {durability!r}')
    # Rounded up: at least a millisecond.
    return 3, max(1, milliseconds(durability, "durability")) if _is_positive(durability) else 0


def _is_positive(time: Union[float, datetime.timedelta]) -> bool:
    return (time.total_seconds() if isinstance(time, datetime.timedelta) else time) > 0


def expiry_fields(expiry: Optional[Expiry]) -> Tuple[int, int]:
    """The number of an expiry, and its time."""
    if expiry is None:
        return 0, 0
    if isinstance(expiry, Never):
        return 1, 0
    if isinstance(expiry, datetime.datetime):
        if expiry.tzinfo is None:
            raise ValueError("an expiry must have a time zone; datetime.now(timezone.utc) has one")
        return 3, (expiry - _EPOCH) // datetime.timedelta(milliseconds=1)
    return 2, milliseconds(expiry, "expiry")


def write_options(durability: Optional[Durability] = None, expiry: Optional[Expiry] = None) -> Optional[WriteOptions]:
    """What C wants to know of a write; None for the defaults."""
    if durability is None and expiry is None:
        return None
    options = WriteOptions()
    options.durability, options.durability_period_ms = durability_fields(durability)
    options.expiry, options.expiry_ms = expiry_fields(expiry)
    return options
