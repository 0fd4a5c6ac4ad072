"""The ledger file: read and written as a whole, by one process at a time."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dpexplain.exceptions import BudgetError

__all__ = ["LedgerFile"]

_LOCK_SECONDS = 60.0
_LARGEST_BYTES = 64 * 2**20

Signature = tuple[int, int, int]


class LedgerFile:
    """Text file with a lock; every failure is a `BudgetError` that names the file.

    Parameters
    ----------
    path : str or Path
        The file. Its lock is ``<path>.lock`` in the same folder.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).expanduser().resolve()

    def exists(self) -> bool:
        """Whether the file exists."""
        return self.path.exists()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the lock against other processes and other ledgers in this process."""
        from filelock import FileLock, Timeout

        if not self.path.parent.is_dir():  # the lock would make the folder of a mistyped path
            raise BudgetError(
                f"ledger file {str(self.path)!r} cannot be written: its folder does not exist; "
                "make the folder or choose another. Nothing was charged."
            )
        lock = FileLock(f"{self.path}.lock", timeout=_LOCK_SECONDS)
        try:
            lock.acquire()
        except Timeout:
            raise BudgetError(
                f"another process has held the lock of ledger file {str(self.path)!r} for "
                f"{_LOCK_SECONDS:g} seconds; wait until it ends. Nothing was charged."
            ) from None
        except OSError as error:
            raise self._failure(
                "cannot be locked", error, "choose a folder you may write"
            ) from None
        try:
            yield
        finally:
            lock.release()

    def signature(self) -> Signature | None:
        """Return a version stamp of the file without reading it; None if it is missing."""
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

    def read(self) -> str:
        """Return the content."""
        try:
            if self.path.stat().st_size > _LARGEST_BYTES:
                raise BudgetError(
                    f"ledger file {str(self.path)!r} is larger than {_LARGEST_BYTES >> 20} MiB, "
                    "so it is not a ledger; pass the right file. Nothing was charged."
                )
            return self.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise self._failure("cannot be read", error, "restore it from a copy") from None

    def write(self, text: str) -> None:
        """Replace the content atomically and sync it to disk."""
        if len(text.encode()) > _LARGEST_BYTES:
            raise BudgetError(
                f"ledger file {str(self.path)!r} would grow beyond {_LARGEST_BYTES >> 20} MiB "
                "and could not be read again; open a new ledger for new data. Nothing was charged."
            )
        self._refuse_second_name()
        # Under the lock nobody else uses this name; a leftover of a killed process is overwritten.
        temporary = self.path.with_name(f".{self.path.name}.tmp")
        try:
            temporary.unlink(missing_ok=True)
            with temporary.open("x", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            if self.path.exists():
                shutil.copymode(self.path, temporary)
            os.replace(temporary, self.path)
        except OSError as error:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise self._failure("cannot be written", error, "make room or choose another") from None
        _sync_folder(self.path.parent)

    def _refuse_second_name(self) -> None:
        """Reject a file with a hard link, which would keep a second budget."""
        try:
            linked = self.path.stat().st_nlink > 1
        except OSError:  # not there yet
            return
        if linked:
            raise BudgetError(
                f"ledger file {str(self.path)!r} has a second name (a hard link), under which "
                "this charge would not be counted; delete the other name. Nothing was charged."
            )

    def _failure(self, what: str, error: Exception, advice: str) -> BudgetError:
        reason = getattr(error, "strerror", None) or type(error).__name__
        return BudgetError(
            f"ledger file {str(self.path)!r} {what} ({reason}); {advice}. Nothing was charged."
        )


def _sync_folder(folder: Path) -> None:
    """Sync the folder, so a power cut cannot restore the old file.

    Some systems cannot open a folder; there, only the system decides when file names are written.
    """
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
