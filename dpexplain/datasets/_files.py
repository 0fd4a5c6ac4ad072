"""Dataset files, found locally or downloaded once, and always verified."""

from __future__ import annotations

import hashlib
import os
import tempfile
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_TIMEOUT_SECONDS: Final = 60
_LARGEST_DOWNLOAD: Final = 64 * 2**20  # bytes; all files of the datasets are smaller


@dataclass(frozen=True)
class DataFile:
    """One file of a dataset.

    Parameters
    ----------
    folder : str
        Folder of the dataset, under ``DPEXPLAIN_DATA`` and in the cache.
    name : str
        Name of the file in the folder.
    url : str
        Address from which the file can be downloaded.
    sha256 : str
        SHA-256 checksum of the content after `convert` and `unpack`.
    convert : callable or None, default=None
        Function that converts the downloaded bytes to the bytes of the file.
    unpack : callable or None, default=None
        For an archive, the function that unpacks it before the checksum is computed, because
        different programs can write different archives of the same content. The file is stored in
        packed form.
    """

    folder: str
    name: str
    url: str
    sha256: str
    convert: Callable[[bytes], bytes] | None = None
    unpack: Callable[[bytes], bytes] | None = None


def local_path(file: DataFile) -> Path:
    """Return the local path of a file, downloading the file if needed.

    Parameters
    ----------
    file : DataFile
        The file.

    Returns
    -------
    Path
        Path of a file with the correct checksum.

    Raises
    ------
    ValueError
        If the file under ``DPEXPLAIN_DATA``, or the downloaded file, has the wrong checksum.
    ConnectionError
        If the file is not on this machine and cannot be downloaded.
    """
    provided = _provided_path(file)
    if provided is not None and provided.is_file():
        _check(file, provided.read_bytes(), str(provided))
        return provided
    cached = cache_folder() / file.folder / file.name
    if cached.is_file() and _sha256(file, cached.read_bytes()) == file.sha256:
        return cached
    content = _download(file, cached)
    _check(file, content, file.url)
    _write(cached, content)
    return cached


def cache_folder() -> Path:
    """Return the folder for downloaded files.

    Returns
    -------
    Path
        The folder ``dpexplain`` in the folder named by the environment variable
        ``XDG_CACHE_HOME`` or, if it is not set, in ``~/.cache``.
    """
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "dpexplain"


def _provided_path(file: DataFile) -> Path | None:
    folder = os.environ.get("DPEXPLAIN_DATA")
    return Path(folder) / file.folder / file.name if folder else None


def _download(file: DataFile, cached: Path) -> bytes:
    try:
        with urllib.request.urlopen(file.url, timeout=_TIMEOUT_SECONDS) as response:
            content: bytes = response.read(_LARGEST_DOWNLOAD + 1)
    except OSError as error:
        raise ConnectionError(
            f"{file.name} is not on this machine and could not be downloaded from {file.url} "
            f"({error}). Put the file at {cached}, or set DPEXPLAIN_DATA to a folder that holds "
            f"{file.folder}/{file.name}; its sha256 is {file.sha256}."
        ) from None
    if file.convert is None or len(content) > _LARGEST_DOWNLOAD:
        return content  # content that is too long fails the checksum
    try:
        return file.convert(content)
    except ValueError:  # not the expected file; the checksum fails later
        return content


def _check(file: DataFile, content: bytes, where: str) -> None:
    found = _sha256(file, content)
    if found != file.sha256:
        raise ValueError(
            f"{where} does not contain the expected {file.name}: its sha256 is {found}, expected "
            f"{file.sha256}. The file was not used or kept; get the original file, or report "
            "that the source has changed."
        )


def _sha256(file: DataFile, content: bytes) -> str:
    if file.unpack is not None:
        try:
            content = file.unpack(content)
        except (OSError, EOFError):  # not an archive, so not the expected file
            return "none of an archive"
    return hashlib.sha256(content).hexdigest()


def _write(path: Path, content: bytes) -> None:
    """Write a file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        os.replace(unfinished, path)
    except BaseException:
        Path(unfinished).unlink(missing_ok=True)
        raise
