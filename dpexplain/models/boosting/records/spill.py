"""Storage of encoded records in memory and in an unnamed temporary file."""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Iterator, Sequence
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.boosting.records.source import EncodedRecords

MEMORY_BYTES: Final = 1 << 30
"""Encoded records up to this total size stay in memory; the others are written to the file."""

_Place = tuple[Any, int, int]
"""Type, first byte and length of an array in the file."""


class Scratch:
    """Storage for encoded records, in memory and, beyond a limit, in a temporary file.

    The file is in the system's temporary folder (``TMPDIR``). If the operating system allows it,
    the file has no name. Only its owner can open the file, and it disappears when the process ends,
    even after a crash. It contains private records: the bin of each feature, and the target.

    Parameters
    ----------
    memory_bytes : int or None, default=None
        Maximum total size of the records in memory; if None, `MEMORY_BYTES`.
    """

    def __init__(self, memory_bytes: int | None = None) -> None:
        self._left = MEMORY_BYTES if memory_bytes is None else memory_bytes
        self._in_memory: list[EncodedRecords] = []
        self._places: list[list[_Place]] = []
        self._file: IO[bytes] | None = None
        self._end = 0

    def __repr__(self) -> str:
        return "<Scratch>"

    def add(self, records: EncodedRecords) -> None:
        """Store records; the caller must not use their arrays again."""
        arrays = [*records.cells, records.target]
        self._left -= sum(array.nbytes for array in arrays)
        if self._left >= 0:
            self._in_memory.append(records)
        else:
            self._places.append([self._written(array) for array in arrays])

    def _written(self, array: NDArray[Any]) -> _Place:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="dpexplain-")  # noqa: SIM115
        padding = -self._end % array.itemsize
        self._file.write(bytes(padding))
        self._file.write(np.ascontiguousarray(array).data)
        place = (array.dtype, self._end + padding, len(array))
        self._end += padding + array.nbytes
        return place

    def records(self) -> Iterator[EncodedRecords]:
        """Return all records; arrays in the file are mapped into memory, not read.

        Pages of the file leave memory as soon as the next records are asked for; they are read
        again if an array is used later.
        """
        yield from self._in_memory
        if self._file is None:
            return
        self._file.flush()
        mapped = mmap.mmap(self._file.fileno(), max(self._end, 1))
        for places in self._places:
            yield _views(mapped, places)
            _let_go(mapped, places)

    def close(self) -> None:
        """Free the records; the file is deleted once no array refers to it."""
        self._in_memory, self._places = [], []
        if self._file is not None:
            self._file.close()


def _let_go(mapped: mmap.mmap, places: Sequence[_Place]) -> None:
    """Free the memory of mapped arrays; the file keeps their contents."""
    if hasattr(mmap, "MADV_DONTNEED"):  # not on Windows
        dtype, last, count = places[-1]
        first = places[0][1] // mmap.PAGESIZE * mmap.PAGESIZE
        if n_bytes := last + dtype.itemsize * count - first:
            mapped.madvise(mmap.MADV_DONTNEED, first, n_bytes)


def _views(mapped: mmap.mmap, places: Sequence[_Place]) -> EncodedRecords:
    arrays: list[Any] = [
        np.frombuffer(mapped, dtype=dtype, count=count, offset=offset)
        for dtype, offset, count in places
    ]
    return EncodedRecords(arrays[:-1], arrays[-1])
