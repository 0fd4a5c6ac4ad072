"""Save objects to files and load them."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path
from typing import Any

from dpexplain._utils.json import MAX_BYTES, check_size
from dpexplain.io.kinds import Saveable, from_json, to_json

_ADDRESSES = ("https://", "http://")
_TIMEOUT_SECONDS = 60


def save(obj: Saveable, path: str | os.PathLike[str]) -> Path:
    """Save an explanation, a comparison or another supported object as a JSON file.

    The file is written completely or not at all: the content is first written to a temporary file,
    which then replaces the destination.

    Parameters
    ----------
    obj : GlobalExplanation, Comparison or another type
        The object to save; :func:`dpexplain.io.to_json` lists the supported types. Non-private
        parts are saved too, and are marked as non-private in the guarantee, metrics or samples.
        :mod:`dpexplain.io` describes which files may be shared.
    path : path-like
        Destination; an existing file is replaced.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    TypeError
        If the object is of an unsupported type, or the arguments are in the wrong order.
    OSError
        If the folder does not exist or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from dpexplain import PrivacyLedger, io
    >>> ledger = PrivacyLedger("fines", cap_epsilon=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = io.save(ledger.summary(), Path(folder, "ledger.json"))
    ...     io.load(path).dataset
    'fines'
    """
    if isinstance(obj, str | os.PathLike) and not isinstance(path, str | os.PathLike):
        raise TypeError(f"io.save's arguments are (object, path): io.save(obj, {str(obj)!r}).")
    return write_file(path, to_json(obj) + "\n")


def write_file(path: str | os.PathLike[str], content: str | bytes) -> Path:
    """Write a file atomically.

    Parameters
    ----------
    path : path-like
        Destination; an existing file is replaced and keeps its permissions.
    content : str or bytes
        Contents of the file; text is written as UTF-8 with unchanged line endings.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    OSError
        If the folder does not exist or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from dpexplain.io import write_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_file(Path(folder, "note.txt"), "approved").read_text()
    'approved'
    """
    target = Path(path)
    _check_folder(target)
    try:
        _write_whole(target, content.encode() if isinstance(content, str) else content)
    except OSError as error:
        if error.errno is None:
            raise
        # Name the caller's file, not the temporary file. OSError chooses the subclass.
        raise OSError(error.errno, error.strerror, str(target)) from None
    return target


def _check_folder(target: Path) -> None:
    folder = target.parent
    if not folder.exists():
        raise FileNotFoundError(
            f"cannot save to {str(target)!r}: the folder {str(folder)!r} does not exist; create "
            "it first, for example with pathlib.Path(folder).mkdir(parents=True)."
        )


def _write_whole(target: Path, content: bytes) -> None:
    name = target.parent / f".{target.name[:40]}.{secrets.token_hex(8)}.tmp"
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _keep_mode(target, name)
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise


def load(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> Any:
    """Load a file written by :func:`save`, from disk or from a web address.

    Parameters
    ----------
    path : path-like
        The file, or its web address as a string beginning with ``https://`` or ``http://``.
    max_bytes : int, default=64 MiB
        Larger files are rejected before being read.

    Returns
    -------
    GlobalExplanation, Comparison or another type
        Object that is bit-for-bit identical to the saved object. :func:`dpexplain.io.to_json` lists
        the possible types.

    Raises
    ------
    ValueError
        If the file was not written by :func:`save`; see :func:`dpexplain.io.from_json`.
    OSError
        If the file or the address cannot be read.

    Notes
    -----
    An address says nothing about who wrote the file. :func:`dpexplain.certificate.verify` compares
    a file with its certificate.

    Examples
    --------
    >>> import dpexplain.io, tempfile
    >>> from dpexplain import Guarantee
    >>> promise = Guarantee(epsilon=1.0, delta=1e-6, adjacency="add_remove", private=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = dpexplain.io.save(promise, f"{folder}/promise.json")
    ...     dpexplain.io.load(path) == promise
    True
    """
    # One more byte than allowed shows that a file, a pipe or an answer is too large.
    if isinstance(path, str) and path.lower().startswith(_ADDRESSES):
        raw, name = _fetched(path, max_bytes + 1), _without_secrets(path)
    else:
        with Path(path).open("rb") as file:
            raw, name = file.read(max_bytes + 1), str(path)
    check_size(len(raw), max_bytes)
    try:
        return from_json(_decoded(raw), max_bytes=max_bytes)
    except ValueError as error:
        raise ValueError(
            f"cannot load {name!r}: {str(error).rstrip('.')}. "
            "Pass a JSON file that io.save or `dpexplain fit` wrote."
        ) from None


def _fetched(address: str, most: int) -> bytes:
    from http.client import HTTPException
    from urllib.request import urlopen

    try:
        with urlopen(address, timeout=_TIMEOUT_SECONDS) as answer:
            raw: bytes = answer.read(most)
    except (OSError, HTTPException, ValueError) as error:
        # The texts of other errors may repeat the address, with a password or a token.
        status = getattr(error, "code", None)
        reason = f"it answers with status {status}" if status else type(error).__name__
        raise OSError(
            f"cannot read {_without_secrets(address)!r}: {reason}. Check the address and the "
            "network, or download the file and pass its path."
        ) from None
    return raw


def _without_secrets(address: str) -> str:
    """Remove the user name, password, query and fragment from an address."""
    scheme, rest = address.split("://", 1)
    host, slash, path = rest.partition("/")
    plain = f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"
    return plain.partition("?")[0].partition("#")[0]


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError("not UTF-8 text, so not JSON.") from None


def _keep_mode(old: Path, new: Path) -> None:
    """Copy permissions from the replaced file to the new one."""
    with contextlib.suppress(FileNotFoundError):
        new.chmod(old.stat().st_mode & 0o777)
