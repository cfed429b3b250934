"""A keyspace as a mapping."""

from __future__ import annotations

import ctypes
import threading
from array import array
from collections.abc import ItemsView, KeysView, MutableMapping, ValuesView
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Tuple,
    TypeVar,
    Union,
    overload,
)

from . import _errors
from ._buffers import BytesLike, Lease, address, lend, take
from ._entries import Cursor, ordered, read_items, read_keys, read_values
from ._handles import Handle
from ._library import EntryInfo, check, fail, library
from ._settings import Durability, Expiry, Info, instant, write_options

if TYPE_CHECKING:
    from ._store import StoreHandle

Default = TypeVar("Default")

_MISSING: Any = object()

# The most keys of one call of C.
_MOST_KEYS = 1 << 20


class _Scratch(threading.local):
    """A buffer of each thread, into which most values fit."""

    capacity = 4096

    def __init__(self) -> None:
        self.buffer = ctypes.create_string_buffer(self.capacity)
        self.address = ctypes.addressof(self.buffer)
        self.length = ctypes.c_size_t()
        self.length_reference = ctypes.byref(self.length)


_scratch = _Scratch()


class _Items(ItemsView[bytes, bytes]):
    _mapping: "Keyspace"

    def __iter__(self) -> Iterator[Tuple[bytes, bytes]]:
        return read_items(Cursor(self._mapping._handle, None, None))


class _Values(ValuesView[bytes]):
    _mapping: "Keyspace"

    def __iter__(self) -> Iterator[bytes]:
        return read_values(Cursor(self._mapping._handle, None, None))

    def __contains__(self, value: object) -> bool:
        return any(value == other for other in self)


class Keyspace(Handle, MutableMapping[BytesLike, bytes]):
    """A named set of keys of a store, as a mapping from bytes to bytes.

    Iterating shows the keyspace as it was when that began, in no particular order; `range` has keys in order. Any
    thread may use it.
    """

    name: str
    """The keyspace's name; empty for the default keyspace."""

    def __init__(self, store: "StoreHandle", name: str) -> None:
        """Use `Store.keyspace`."""
        self._lib = library()
        handle = ctypes.c_void_p()
        check(self._lib.esker_keyspace_open(store._handle, name.encode(), handle))
        assert handle.value is not None
        super().__init__(handle.value, self._lib.esker_keyspace_close)
        self._store = store
        self.name = name

    def __repr__(self) -> str:
        state = "closed " if self.closed else ""
        return f"<{state}esker.{type(self).__name__} {self.name!r}>"

    # A mapping is equal to itself: to compare all that is in it would take long.
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    # Reading

    def _get(self, key: BytesLike) -> Optional[bytes]:
        lent = lend(key)
        scratch = _scratch
        status = self._lib.esker_get_into(
            self._handle, lent, len(lent), scratch.address, scratch.capacity, scratch.length_reference
        )
        if status == 0:
            return ctypes.string_at(scratch.address, scratch.length.value)
        if status == _errors.NOT_FOUND:
            return None
        if status == _errors.BUFFER_TOO_SMALL:
            return self._get_large(lent)
        fail(status)

    def _get_large(self, lent: Any) -> Optional[bytes]:
        value = ctypes.c_void_p()
        length = ctypes.c_size_t()
        status = self._lib.esker_get(self._handle, lent, len(lent), value, length)
        if status == _errors.NOT_FOUND:
            return None
        check(status)
        try:
            return take(value.value, length.value)
        finally:
            self._lib.esker_free(value)

    def __getitem__(self, key: BytesLike) -> bytes:
        value = self._get(key)
        if value is None:
            raise KeyError(key)
        return value

    @overload
    def get(self, key: BytesLike) -> Optional[bytes]: ...

    @overload
    def get(self, key: BytesLike, default: Default) -> Union[bytes, Default]: ...

    def get(self, key: BytesLike, default: Any = None) -> Any:
        """The value of a key; `default` if it has none."""
        value = self._get(key)
        return default if value is None else value

    def get_into(self, key: BytesLike, buffer: Any) -> int:
        """Copies a value into a writable buffer (bytearray, memoryview, array), and returns the value's length.

        If that is more than the buffer takes, the buffer has the value's beginning. Raises KeyError without a value.
        """
        lent = lend(key)
        target = Lease(buffer, writable=True)
        length = ctypes.c_size_t()
        status = self._lib.esker_get_into(self._handle, lent, len(lent), target, target.length, length)
        if status == _errors.NOT_FOUND:
            raise KeyError(key)
        if status not in (0, _errors.BUFFER_TOO_SMALL):
            fail(status)
        return length.value

    def get_many(self, keys: Iterable[BytesLike]) -> List[Optional[bytes]]:
        """The values of several keys, in their order; None for each without a value. Faster than one call for each."""
        lent = [lend(key) for key in keys]
        found: List[Optional[bytes]] = []
        for start in range(0, len(lent), _MOST_KEYS):
            found += self._get_some(lent[start : start + _MOST_KEYS])
        return found

    def _get_some(self, lent: List[Any]) -> List[Optional[bytes]]:
        # An esker_slice is two words. Structs of ctypes, one by one, would take longer than the look-ups.
        count = len(lent)
        words = array("L", bytes(2 * count * ctypes.sizeof(ctypes.c_size_t)))
        words[::2] = array("L", _addresses(lent))
        words[1::2] = array("L", map(len, lent))
        slices = (ctypes.c_size_t * (2 * count)).from_buffer(words)
        block = ctypes.c_void_p()
        # The values take the place of the keys.
        check(self._lib.esker_get_many(self._handle, slices, count, slices, block))
        try:
            first = block.value or 0
            starts, lengths = words[::2], words[1::2]
            length = max((start + length for start, length in zip(starts, lengths)), default=0) - first
            values = ctypes.string_at(first, max(0, length))
            return [
                values[start - first : start - first + length] if start else None
                for start, length in zip(starts, lengths)
            ]
        finally:
            self._lib.esker_free(block)

    def __contains__(self, key: object) -> bool:
        lent = lend(key)
        status = self._lib.esker_contains(self._handle, lent, len(lent))
        if status not in (0, _errors.NOT_FOUND):
            fail(status)
        return bool(status == 0)

    def info(self, key: BytesLike) -> Optional[Info]:
        """Version, length and expiry of a key's value, without reading it; None without a value."""
        lent = lend(key)
        info = EntryInfo()
        status = self._lib.esker_get_info(self._handle, lent, len(lent), info)
        if status == _errors.NOT_FOUND:
            return None
        check(status)
        return Info(info.version, info.value_length, instant(info.expires_at_ms))

    def __len__(self) -> int:
        count = ctypes.c_uint64()
        check(self._lib.esker_count(self._handle, count))
        return count.value

    def __bool__(self) -> bool:
        """True, however many entries there are: a keyspace is something."""
        return True

    # Iterating

    def __iter__(self) -> Iterator[bytes]:
        return read_keys(Cursor(self._handle, None, None))

    def items(self) -> ItemsView[bytes, bytes]:
        """The entries, in no particular order."""
        return _Items(self)

    def values(self) -> ValuesView[bytes]:
        """The values, in no particular order."""
        return _Values(self)

    def keys(self) -> KeysView[bytes]:
        """The keys, in no particular order."""
        return KeysView(self)

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
        """The entries of a range, in the order of their keys' bytes.

        The first range that is asked for makes the keyspace keep its keys in order from then on, which takes one pass
        over the index. What is written meanwhile may or may not be seen; `Snapshot.keyspace` has ranges of one instant.
        """
        return read_items(self._ordered(start, stop, prefix, include_start, include_stop, reverse, limit, False))

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
        return read_keys(self._ordered(start, stop, prefix, include_start, include_stop, reverse, limit, True))

    def count_range(
        self,
        start: Optional[BytesLike] = None,
        stop: Optional[BytesLike] = None,
        *,
        prefix: Optional[BytesLike] = None,
        include_start: bool = True,
        include_stop: bool = False,
    ) -> int:
        """The number of entries of a range, which are looked up one by one."""
        chosen, lent = ordered(start, stop, prefix, include_start, include_stop, False, None, False)
        count = ctypes.c_uint64()
        check(self._lib.esker_count_range(self._handle, chosen, count))
        del lent
        return count.value

    def _ordered(
        self,
        start: Optional[BytesLike],
        stop: Optional[BytesLike],
        prefix: Optional[BytesLike],
        include_start: bool,
        include_stop: bool,
        reverse: bool,
        limit: Optional[int],
        keys_only: bool,
        snapshot: Optional[int] = None,
    ) -> Cursor:
        if limit is not None and limit < 0:
            raise ValueError("limit is negative")
        # To C, 0 is no limit.
        if limit == 0:
            stop, include_stop = b"", False
        chosen, lent = ordered(start, stop, prefix, include_start, include_stop, reverse, limit, keys_only)
        cursor = Cursor(self._handle, snapshot, chosen)
        del lent
        return cursor

    # Writing

    def put(
        self,
        key: BytesLike,
        value: BytesLike,
        *,
        expiry: Optional[Expiry] = None,
        durability: Optional[Durability] = None,
    ) -> int:
        """Stores a value, and returns its version: the number of the write."""
        lent, content = lend(key), lend(value)
        version = ctypes.c_uint64()
        options = write_options(durability, expiry)
        check(self._lib.esker_put(self._handle, lent, len(lent), content, len(content), options, version))
        return version.value

    def __setitem__(self, key: BytesLike, value: BytesLike) -> None:
        lent, content = lend(key), lend(value)
        status = self._lib.esker_put(self._handle, lent, len(lent), content, len(content), None, None)
        if status != 0:
            fail(status)

    def put_if_absent(
        self,
        key: BytesLike,
        value: BytesLike,
        *,
        expiry: Optional[Expiry] = None,
        durability: Optional[Durability] = None,
    ) -> Optional[int]:
        """Stores a value if the key has none, and returns its version; None if it has one."""
        return self.put_if_version(key, None, value, expiry=expiry, durability=durability)

    def put_if_version(
        self,
        key: BytesLike,
        version: Optional[int],
        value: BytesLike,
        *,
        expiry: Optional[Expiry] = None,
        durability: Optional[Durability] = None,
    ) -> Optional[int]:
        """Stores a value if the present one has this version, or for None if there is none. Returns the new version;
        None if nothing was written."""
        lent, content = lend(key), lend(value)
        written = ctypes.c_uint64()
        options = write_options(durability, expiry)
        status = self._lib.esker_put_if_version(
            self._handle, lent, len(lent), version or 0, content, len(content), options, written
        )
        return _version(status, written)

    def compare_and_set(
        self,
        key: BytesLike,
        expected: Optional[BytesLike],
        value: BytesLike,
        *,
        expiry: Optional[Expiry] = None,
        durability: Optional[Durability] = None,
    ) -> Optional[int]:
        """Stores a value if the present one is equal to `expected`, or for None if there is none. Returns the key's
        version; None if nothing was written because the value was another."""
        lent, content = lend(key), lend(value)
        present, present_length = (None, 0) if expected is None else (lend(expected), 0)
        place = None
        if present is not None:
            place, present_length = address(present)
        written = ctypes.c_uint64()
        options = write_options(durability, expiry)
        status = self._lib.esker_compare_and_set(
            self._handle, lent, len(lent), place, present_length, content, len(content), options, written
        )
        return _version(status, written)

    def increment(self, key: BytesLike, amount: int = 1, *, durability: Optional[Durability] = None) -> int:
        """Adds to a counter, a value of 8 bytes, the least significant first, and returns the sum. A key without a
        value counts as 0."""
        if not -(2**63) <= amount < 2**63:
            raise OverflowError("amount does not fit into 64 bits")
        lent = lend(key)
        sum = ctypes.c_int64()
        options = write_options(durability)
        check(self._lib.esker_increment(self._handle, lent, len(lent), amount, options, sum))
        return sum.value

    def touch(self, key: BytesLike, expiry: Expiry, *, durability: Optional[Durability] = None) -> int:
        """Sets when a value expires, and returns its new version. Raises KeyError without a value."""
        lent = lend(key)
        version = ctypes.c_uint64()
        status = self._lib.esker_touch(self._handle, lent, len(lent), write_options(durability, expiry), version)
        if status == _errors.NOT_FOUND:
            raise KeyError(key)
        check(status)
        return version.value

    def remove(
        self, key: BytesLike, *, version: Optional[int] = None, durability: Optional[Durability] = None
    ) -> bool:
        """Removes a key, if its value has this version where one is given. False if nothing was removed."""
        lent = lend(key)
        options = write_options(durability)
        if version is None:
            status = self._lib.esker_remove(self._handle, lent, len(lent), options)
        else:
            status = self._lib.esker_remove_if_version(self._handle, lent, len(lent), version, options)
        if status not in (0, _errors.NOT_FOUND, _errors.CONFLICT):
            fail(status)
        return bool(status == 0)

    def __delitem__(self, key: BytesLike) -> None:
        if not self.remove(key):
            raise KeyError(key)

    def clear(self) -> None:
        """Removes all keys, in constant time."""
        check(self._lib.esker_remove_all(self._handle, None))

    def remove_range(
        self,
        start: Optional[BytesLike] = None,
        stop: Optional[BytesLike] = None,
        *,
        prefix: Optional[BytesLike] = None,
        include_start: bool = True,
        include_stop: bool = False,
        durability: Optional[Durability] = None,
    ) -> int:
        """Removes the entries of a range, some hundred at a time, and returns how many. `clear` takes constant time."""
        chosen, lent = ordered(start, stop, prefix, include_start, include_stop, False, None, False)
        count = ctypes.c_uint64()
        check(self._lib.esker_remove_range(self._handle, chosen, write_options(durability), count))
        del lent
        return count.value

    def update(self, other: Any = (), /, **named: BytesLike) -> None:
        """Stores the entries of a mapping or of pairs: all of them or, if it fails, none."""
        from ._batch import Batch

        entries: Dict[str, BytesLike] = named
        with Batch(self._store) as batch:
            if isinstance(other, Mapping) or hasattr(other, "keys"):
                for key in other.keys():
                    batch.put(key, other[key], keyspace=self)
            else:
                for key, value in other:
                    batch.put(key, value, keyspace=self)
            for name, value in entries.items():
                batch.put(name, value, keyspace=self)

    def setdefault(self, key: BytesLike, default: BytesLike = b"") -> bytes:
        """The value of a key, which is `default` from now on if it had none. In one step, whatever others write."""
        while True:
            value = self._get(key)
            if value is not None:
                return value
            if self.put_if_absent(key, default) is not None:
                lent = lend(default)
                return lent if isinstance(lent, bytes) else take(*address(lent))

    @overload
    def pop(self, key: BytesLike) -> bytes: ...

    @overload
    def pop(self, key: BytesLike, default: Default) -> Union[bytes, Default]: ...

    def pop(self, key: BytesLike, default: Any = _MISSING) -> Any:
        """Removes a key and returns the value that it had; `default` if it had none. In one step, whatever others
        write."""
        while True:
            info = self.info(key)
            value = None if info is None else self._get(key)
            if info is None or value is None:
                if default is _MISSING:
                    raise KeyError(key)
                return default
            # If the value is another by now, so is its version.
            if self.remove(key, version=info.version):
                return value


def _addresses(lent: List[Any]) -> Iterable[int]:
    """Where lent bytes are."""
    if all(type(key) is bytes for key in lent):
        pointers = (ctypes.c_char_p * len(lent))(*lent)
        return (ctypes.c_size_t * len(lent)).from_buffer(pointers)
    return [address(key)[0] for key in lent]


def _version(status: int, version: ctypes.c_uint64) -> Optional[int]:
    if status == _errors.CONFLICT:
        return None
    check(status)
    return version.value
