"""Finds libEskerC and declares its functions. Nothing is loaded before the first call."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import os
import subprocess
import sys
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint8, c_uint64, c_void_p
from typing import Any, Iterator, NoReturn

from . import _errors
from ._errors import Error, LibraryError

_MAJOR, _MINOR = 1, 0
_NAME = f"libEskerC.{_MAJOR}.dylib" if sys.platform == "darwin" else f"libEskerC.so.{_MAJOR}"


class Slice(ctypes.Structure):
    """esker_slice"""

    _fields_ = [("data", c_void_p), ("length", c_size_t)]


class _Sized(ctypes.Structure):
    """A struct that begins with its size, and in which all else is 0."""

    def __init__(self) -> None:
        super().__init__(ctypes.sizeof(type(self)))


class Event(_Sized):
    """esker_event"""

    _fields_ = [
        ("size", c_size_t),
        ("kind", c_int32),
        ("error_number", c_int32),
        ("sequence", c_uint64),
        ("segment", c_uint64),
        ("records", c_uint64),
        ("bytes", c_uint64),
        ("duration_ns", c_int64),
        ("text", c_char_p),
    ]


EventHandler: Any = ctypes.CFUNCTYPE(None, c_void_p, POINTER(Event))
Progress: Any = ctypes.CFUNCTYPE(c_int, c_void_p, ctypes.c_double)


class Options(_Sized):
    """esker_options"""

    _fields_ = [
        ("size", c_size_t),
        ("read_only", c_uint8),
        ("in_memory", c_uint8),
        ("manual_merge", c_uint8),
        ("reserved", c_uint8),
        ("create", c_int32),
        ("sharing", c_int32),
        ("verification", c_int32),
        ("durability", c_int32),
        ("default_expiry", c_int32),
        ("compression", c_int32),
        ("compression_level", c_int32),
        ("durability_period_ms", c_int64),
        ("default_expiry_ms", c_int64),
        ("sharing_patience_ms", c_int64),
        ("segment_size", c_uint64),
        ("capacity", c_uint64),
        ("merge_bytes_per_second", c_uint64),
        ("on_event", EventHandler),
        ("event_context", c_void_p),
    ]


class VerifyReport(_Sized):
    """esker_verify_report"""

    _fields_ = [
        ("size", c_size_t),
        ("files", c_uint64),
        ("bytes", c_uint64),
        ("records", c_uint64),
        ("damaged_ranges", c_uint64),
        ("damaged_records", c_uint64),
        ("lost_records", c_uint64),
        ("unknown_records", c_uint64),
    ]


class ChangesOptions(_Sized):
    """esker_changes_options"""

    _fields_ = [
        ("size", c_size_t),
        ("keeping", c_uint64),
        ("including_unsynced", c_uint8),
        ("reserved", c_uint8 * 7),
    ]


class Change(_Sized):
    """esker_change"""

    _fields_ = [
        ("size", c_size_t),
        ("kind", c_int32),
        ("batch_continues", c_uint8),
        ("reserved", c_uint8 * 3),
        ("sequence", c_uint64),
        ("keyspace", c_char_p),
        ("key", c_void_p),
        ("key_length", c_size_t),
        ("value", c_void_p),
        ("value_length", c_size_t),
        ("expires_at_ms", c_int64),
    ]


class WriteOptions(_Sized):
    """esker_write_options"""

    _fields_ = [
        ("size", c_size_t),
        ("durability", c_int32),
        ("expiry", c_int32),
        ("expiry_ms", c_int64),
        ("durability_period_ms", c_int64),
    ]


class EntryInfo(_Sized):
    """esker_info"""

    _fields_ = [
        ("size", c_size_t),
        ("version", c_uint64),
        ("value_length", c_uint64),
        ("expires_at_ms", c_int64),
    ]


class Range(_Sized):
    """esker_range"""

    _fields_ = [
        ("size", c_size_t),
        ("start", Slice),
        ("stop", Slice),
        ("prefix", Slice),
        ("from_excluded", c_uint8),
        ("to_included", c_uint8),
        ("reverse", c_uint8),
        ("keys_only", c_uint8),
        ("reserved", c_uint8 * 4),
        ("limit", c_uint64),
    ]


class Entry(_Sized):
    """esker_entry"""

    _fields_ = [
        ("size", c_size_t),
        ("key", c_void_p),
        ("key_length", c_size_t),
        ("value", c_void_p),
        ("value_length", c_size_t),
        ("version", c_uint64),
        ("expires_at_ms", c_int64),
    ]


_handle = c_void_p
_bytes = [c_void_p, c_size_t]
_write_options = POINTER(WriteOptions)
_version = POINTER(c_uint64)

_FUNCTIONS = {
    "esker_version": (c_char_p, []),
    "esker_last_error": (c_char_p, []),
    "esker_last_errno": (c_int, []),
    "esker_free": (None, [c_void_p]),
    "esker_open": (c_int, [c_char_p, POINTER(Options), POINTER(_handle)]),
    "esker_close": (c_int, [_handle]),
    "esker_sync": (c_int, [_handle]),
    "esker_refresh": (c_int, [_handle]),
    "esker_merge": (c_int, [_handle]),
    "esker_backup": (c_int, [_handle, c_char_p, c_char_p]),
    "esker_statistics": (c_int, [_handle, POINTER(c_void_p), POINTER(c_size_t)]),
    "esker_verify": (
        c_int,
        [_handle, Progress, c_void_p, POINTER(VerifyReport), POINTER(c_void_p), POINTER(c_size_t)],
    ),
    "esker_keyspace_open": (c_int, [_handle, c_char_p, POINTER(_handle)]),
    "esker_keyspace_close": (c_int, [_handle]),
    "esker_keyspace_remove": (c_int, [_handle, c_char_p]),
    "esker_keyspace_names": (c_int, [_handle, POINTER(POINTER(c_char_p)), POINTER(c_size_t)]),
    "esker_count": (c_int, [_handle, POINTER(c_uint64)]),
    "esker_count_range": (c_int, [_handle, POINTER(Range), POINTER(c_uint64)]),
    "esker_get": (c_int, [_handle, *_bytes, POINTER(c_void_p), POINTER(c_size_t)]),
    "esker_get_into": (c_int, [_handle, *_bytes, *_bytes, POINTER(c_size_t)]),
    "esker_get_many": (c_int, [_handle, c_void_p, c_size_t, c_void_p, POINTER(c_void_p)]),
    "esker_contains": (c_int, [_handle, *_bytes]),
    "esker_get_info": (c_int, [_handle, *_bytes, POINTER(EntryInfo)]),
    "esker_put": (c_int, [_handle, *_bytes, *_bytes, _write_options, _version]),
    "esker_put_if_absent": (c_int, [_handle, *_bytes, *_bytes, _write_options, _version]),
    "esker_put_if_version": (c_int, [_handle, *_bytes, c_uint64, *_bytes, _write_options, _version]),
    "esker_compare_and_set": (c_int, [_handle, *_bytes, *_bytes, *_bytes, _write_options, _version]),
    "esker_increment": (c_int, [_handle, *_bytes, c_int64, _write_options, POINTER(c_int64)]),
    "esker_touch": (c_int, [_handle, *_bytes, _write_options, _version]),
    "esker_remove": (c_int, [_handle, *_bytes, _write_options]),
    "esker_remove_if_version": (c_int, [_handle, *_bytes, c_uint64, _write_options]),
    "esker_remove_all": (c_int, [_handle, _write_options]),
    "esker_remove_range": (c_int, [_handle, POINTER(Range), _write_options, POINTER(c_uint64)]),
    "esker_batch_create": (c_int, [_handle, POINTER(_handle)]),
    "esker_batch_put": (c_int, [_handle, _handle, *_bytes, *_bytes, _write_options]),
    "esker_batch_remove": (c_int, [_handle, _handle, *_bytes]),
    "esker_batch_require": (c_int, [_handle, _handle, *_bytes, c_uint64]),
    "esker_batch_commit": (c_int, [_handle, _write_options]),
    "esker_batch_free": (c_int, [_handle]),
    "esker_snapshot_open": (c_int, [_handle, POINTER(_handle)]),
    "esker_snapshot_get": (c_int, [_handle, _handle, *_bytes, POINTER(c_void_p), POINTER(c_size_t)]),
    "esker_snapshot_sequence": (c_int, [_handle, POINTER(c_uint64)]),
    "esker_snapshot_close": (c_int, [_handle]),
    "esker_cursor_open": (c_int, [_handle, _handle, POINTER(Range), POINTER(_handle)]),
    "esker_cursor_next": (c_int, [_handle, POINTER(Entry)]),
    "esker_cursor_close": (c_int, [_handle]),
    "esker_changes_open": (c_int, [_handle, c_uint64, POINTER(ChangesOptions), POINTER(_handle)]),
    "esker_changes_next": (c_int, [_handle, c_int64, POINTER(Change)]),
    "esker_changes_close": (c_int, [_handle]),
}


def _directory_of_pkg_config() -> Iterator[str]:
    try:
        found = subprocess.run(
            ["pkg-config", "--variable=libdir", "esker"], capture_output=True, text=True, check=False, timeout=10
        )
    except (OSError, subprocess.SubprocessError):
        return
    if found.returncode == 0 and found.stdout.strip():
        yield found.stdout.strip()


def _candidates() -> Iterator[str]:
    directories = [
        *_directory_of_pkg_config(),
        os.path.join(sys.prefix, "lib"),
        os.path.expanduser("~/.local/lib"),
        "/usr/local/lib",
        "/opt/homebrew/lib",
        "/usr/lib",
    ]
    for directory in directories:
        path = os.path.join(directory, _NAME)
        if os.path.exists(path):
            yield path
    # Wherever the system's loader looks.
    yield _NAME


def _load() -> ctypes.CDLL:
    chosen = os.environ.get("ESKER_LIBRARY")
    if chosen:
        try:
            return ctypes.CDLL(chosen)
        except OSError as error:
            raise LibraryError(f"ESKER_LIBRARY is {chosen}, which cannot be loaded: {error}") from None
    failure = ""
    for path in _candidates():
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            failure = failure or str(error)
    raise LibraryError(
        f"{_NAME} was not found ({failure}): install it with Tools/install --c, or name it in the environment, as"
        f" ESKER_LIBRARY=/path/to/{_NAME}"
    )


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """The library, with its functions declared."""
    loaded = _load()
    try:
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(loaded, name)
            function.restype = result
            function.argtypes = arguments
    except AttributeError as error:
        raise LibraryError(f"the library found is not Esker's, or is older than this package: {error}") from None
    version = loaded.esker_version().decode()
    major, minor = (int(part) for part in version.split(".")[:2])
    if major != _MAJOR or minor < _MINOR:
        raise LibraryError(f"the library is of version {version}, and this package needs {_MAJOR}.{_MINOR} or a later one of {_MAJOR}")
    return loaded


def fail(status: int) -> NoReturn:
    """Raises what a status stands for."""
    if status == _errors.CONFLICT:
        raise _errors.ConflictError("a condition does not hold; nothing was written", status)
    loaded = library()
    message = loaded.esker_last_error().decode(errors="replace")
    if status == _errors.NO_MEMORY:
        raise MemoryError(message)
    kind = _errors.CLASSES.get(status, Error)
    raise kind(message, status, loaded.esker_last_errno())


def check(status: int) -> None:
    """Raises unless the status is success."""
    if status != 0:
        fail(status)
