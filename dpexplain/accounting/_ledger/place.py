"""Where a ledger is kept: what a file and a row of a database have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from pathlib import Path
from typing import ClassVar, TypeAlias

from dpexplain.exceptions import BudgetError

__all__ = ["LedgerPlace", "Version"]

Version: TypeAlias = object  # equal for equal content


class LedgerPlace(ABC):
    """One text that is read and written as a whole, by one process at a time.

    Every failure is a `BudgetError` that names the place, says that nothing was charged, and what
    to do.
    """

    lock_seconds: ClassVar[float] = 60.0
    largest_bytes: ClassVar[int] = 64 * 2**20

    address: str
    """What opens the place again, in this process or another; never with a password."""
    words: str
    """Name of the place in messages."""
    name: str | None = None
    """Data set that the place is for; None if it may hold that of any."""
    files: tuple[Path, ...] = ()
    """Files that hold the ledger."""

    @abstractmethod
    def exists(self) -> bool:
        """Whether a ledger is there."""

    def prepare(self) -> None:  # noqa: B027 - most places need none
        """Make what a new ledger needs, such as a table; no ledger is stored yet."""

    @abstractmethod
    def exclusive(self) -> AbstractContextManager[None]:
        """Hold the place against other processes and other ledgers of this process."""

    @abstractmethod
    def version(self) -> Version:
        """Return a stamp of the content without reading it."""

    @abstractmethod
    def read(self) -> tuple[str, Version]:
        """Return the content, and its stamp."""

    @abstractmethod
    def write(self, text: str) -> Version:
        """Replace the content for good and return its stamp; call only inside `exclusive`."""

    @abstractmethod
    def remove(self) -> None:
        """Remove the ledger; call only inside `exclusive`."""

    def check_name(self, dataset: str) -> None:
        """Check that this place belongs to the data set; a second name would be a second budget.

        Parameters
        ----------
        dataset : str
            Data set of the ledger that was found.

        Raises
        ------
        ValueError
            If it belongs to another data set.
        """
        if self.name not in (None, dataset):
            raise ValueError(f"it is the ledger of {dataset!r}, stored under another name.")

    def check_size(self, text: str) -> None:
        """Check that a text is not too long to be read again."""
        if len(text.encode()) > self.largest_bytes:
            raise BudgetError(
                f"{self.words} would grow beyond {self.largest_bytes >> 20} MiB and could not be "
                "read again; open a new ledger for new data. Nothing was charged."
            )

    def _refuse_second_name(self) -> None:
        """Refuse a file with a hard link.

        A file that is replaced would leave the old content there, a second budget; a database would
        not find its journal.
        """
        for file in self.files:
            try:
                linked = file.stat().st_nlink > 1
            except OSError:  # not there yet
                continue
            if linked:
                raise self.failure(
                    "has a second name (a hard link), under which this charge would not be counted",
                    "delete the other name",
                )

    def failure(self, what: str, advice: str) -> BudgetError:
        """Make the error of a failure that changed nothing.

        Parameters
        ----------
        what : str
            What went wrong, after the name of the place.
        advice : str
            What to do.

        Returns
        -------
        BudgetError
        """
        return BudgetError(f"{self.words} {what}; {advice}. Nothing was charged.")
