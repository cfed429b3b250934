"""Lends the bytes of Python's objects to C, without copies, and takes C's."""

from __future__ import annotations

import ctypes
import sys
from typing import Any, Tuple, Union

if sys.version_info >= (3, 12):
    from collections.abc import Buffer

    BytesLike = Union[str, Buffer]
else:
    # Whatever has the buffer protocol, which has no type before 3.12.
    BytesLike = Union[str, bytes, bytearray, memoryview, Any]

_SIMPLE, _WRITABLE = 0, 1


class _PyBuffer(ctypes.Structure):
    """Py_buffer of CPython, as of its stable interface."""

    _fields_ = [
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    ]


_get_buffer = ctypes.pythonapi.PyObject_GetBuffer
_get_buffer.argtypes = [ctypes.py_object, ctypes.POINTER(_PyBuffer), ctypes.c_int]
_get_buffer.restype = ctypes.c_int
_release_buffer = ctypes.pythonapi.PyBuffer_Release
_release_buffer.argtypes = [ctypes.POINTER(_PyBuffer)]
_release_buffer.restype = None


class Lease:
    """The memory of an object, which can neither move nor shrink as long as the lease exists."""

    __slots__ = ("_view", "address", "length", "__weakref__")

    def __init__(self, data: Any, writable: bool = False) -> None:
        view = _PyBuffer()
        # Raises TypeError for what has no bytes, and BufferError for bytes that are not in one run, or cannot be
        # written.
        _get_buffer(data, view, _WRITABLE if writable else _SIMPLE)
        self._view = view
        self.address = view.buf or 0
        self.length = view.len

    @property
    def _as_parameter_(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(self.address)

    def __len__(self) -> int:
        return int(self.length)

    def __del__(self) -> None:
        view = getattr(self, "_view", None)
        if view is not None:
            _release_buffer(view)


def lend(data: Any) -> Any:
    """Something to pass to C as the bytes of `data`, with a length; keep it until the call returns. Copies nothing
    but str."""
    if type(data) is bytes:
        return data
    if isinstance(data, str):
        return data.encode()
    return Lease(data)


def address(lent: Any) -> Tuple[int, int]:
    """Where lent bytes are, and how many; not 0, even if there are none."""
    if isinstance(lent, bytes):
        return ctypes.cast(ctypes.c_char_p(lent), ctypes.c_void_p).value or 1, len(lent)
    return lent.address or 1, lent.length


def take(start: int | None, length: int) -> bytes:
    """A copy of C's bytes."""
    return ctypes.string_at(start, length) if start and length else b""
