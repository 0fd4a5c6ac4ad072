"""Ledgers in files, each read and written in its entirety under a lock."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dpexplain.accounting._ledger.place import LedgerPlace, Version
from dpexplain.exceptions import BudgetError

__all__ = ["LedgerFile"]


class LedgerFile(LedgerPlace):
    """Ledger stored in a text file and protected by a lock file.

    Parameters
    ----------
    path : str or Path
        Path of the file. The lock file is ``<path>.lock`` in the same folder.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).expanduser().resolve()
        self.address, self.files = str(self.path), (self.path,)
        self.words = f"ledger file {self.address!r}"
        self._lock_path = Path(f"{self.path}.lock")
        self._held: tuple[Version, Version] = None, None  # lock file and file under the lock

    def exists(self) -> bool:
        """Return whether the file exists."""
        return self.path.exists()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Lock the file; other processes and other ledgers in this process must wait."""
        from filelock import FileLock, Timeout

        if not self.path.parent.is_dir():  # the lock would create the folder of a mistyped path
            raise self.failure(
                "cannot be written: its folder does not exist",
                "create the folder or choose another",
            )
        lock = FileLock(self._lock_path, timeout=self.lock_seconds)
        try:
            lock.acquire()
        except Timeout:
            raise BudgetError(
                f"another process has held the lock of {self.words} for {self.lock_seconds:g} "
                "seconds; wait until it ends. Nothing was charged."
            ) from None
        except OSError as error:
            raise self._failed("cannot be locked", error, "choose a writable folder") from None
        self._held = _identity(self._lock_path), self.version()
        try:
            yield
        finally:
            lock.release()

    def version(self) -> Version:
        """Return the file's modification time, size and inode; None if it is missing."""
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

    def _check_held(self) -> None:
        """Reject a write if the file or its lock file was replaced after locking.

        If the lock file is deleted, other processes can write at the same time.
        """
        lock, known = self._held
        if lock is None or _identity(self._lock_path) != lock or self.version() != known:
            raise self.failure(
                "or its lock file was replaced while the lock was held",
                f"never delete {self._lock_path.name}, and try again",
            )

    def read(self) -> tuple[str, Version]:
        """Return the content and its version."""
        version = self.version()  # before reading: a later change must not look known
        try:
            if self.path.stat().st_size > self.largest_bytes:
                raise self.failure(
                    f"is larger than {self.largest_bytes >> 20} MiB, so it is not a ledger",
                    "pass the right file",
                )
            return self.path.read_bytes().decode(), version  # line endings unchanged
        except (OSError, UnicodeDecodeError) as error:
            advice = "restore it from a copy"
            if isinstance(error, FileNotFoundError):
                advice = (
                    f"check the path, or {advice}; only for a table that never had a ledger, "
                    "PrivacyLedger(name, path=...) creates one"
                )
            raise self._failed("cannot be read", error, advice) from None

    def write(self, text: str) -> Version:
        """Replace the content atomically and sync it to disk."""
        self.check_size(text)
        self._refuse_second_name()
        # Under the lock nobody else uses this name; a leftover of a killed process is overwritten.
        temporary = self.path.with_name(f".{self.path.name}.tmp")
        try:
            temporary.unlink(missing_ok=True)
            with temporary.open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            if self.path.exists():
                shutil.copymode(self.path, temporary)
            self._check_held()
            os.replace(temporary, self.path)
        except OSError as error:
            advice = "free disk space or choose another path"
            raise self._failed("cannot be written", error, advice) from None
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
        _sync_folder(self.path.parent)
        self._held = self._held[0], self.version()
        return self.version()

    def remove(self) -> None:
        """Delete the file."""
        self._check_held()
        self.path.unlink()

    def _failed(self, what: str, error: Exception, advice: str) -> BudgetError:
        reason = getattr(error, "strerror", None) or type(error).__name__
        return self.failure(f"{what} ({reason})", advice)


def _identity(path: Path) -> Version:
    """Return the device and inode of a file; None if it is missing."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _sync_folder(folder: Path) -> None:
    """Sync the folder, so that the old file cannot reappear after a power failure.

    On an operating system that cannot open folders, this does nothing; the system itself decides
    when to write file names to disk.
    """
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
