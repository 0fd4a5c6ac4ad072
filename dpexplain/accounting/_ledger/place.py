"""Common interface of the files and database rows in which ledgers are stored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from pathlib import Path
from typing import ClassVar, TypeAlias

from dpexplain.exceptions import BudgetError

__all__ = ["LedgerPlace", "Version"]

Version: TypeAlias = object  # two versions are equal if the content is


class LedgerPlace(ABC):
    """Base class for the storage of a ledger in a file or a database.

    The ledger is read and written in its entirety, by one process at a time. Failures raise a
    `BudgetError` that names the file or row, states that nothing was charged, and suggests what to
    do next.
    """

    lock_seconds: ClassVar[float] = 60.0
    largest_bytes: ClassVar[int] = 64 * 2**20

    address: str
    """Path or address that opens the ledger again in any process; it contains no password."""
    words: str
    """Name of the file or row in messages."""
    name: str | None = None
    """Data set to which the ledger must belong; None if it may belong to any."""
    files: tuple[Path, ...] = ()
    """Files in which the ledger is stored."""

    @abstractmethod
    def exists(self) -> bool:
        """Return whether a ledger is stored here."""

    def prepare(self) -> None:  # noqa: B027 - most places need none
        """Create whatever a new ledger needs, such as a table, without storing the ledger."""

    @abstractmethod
    def exclusive(self) -> AbstractContextManager[None]:
        """Lock the file or row; other processes and ledgers in this process must wait."""

    @abstractmethod
    def version(self) -> Version:
        """Return the version of the content without reading the content."""

    @abstractmethod
    def read(self) -> tuple[str, Version]:
        """Return the content and its version."""

    @abstractmethod
    def write(self, text: str) -> Version:
        """Replace the content and return its version; call only inside `exclusive`."""

    @abstractmethod
    def remove(self) -> None:
        """Remove the ledger; call only inside `exclusive`."""

    def check_name(self, dataset: str) -> None:
        """Check that the stored ledger belongs to the expected data set.

        A ledger stored under a second name would amount to a second budget.

        Parameters
        ----------
        dataset : str
            Data set of the stored ledger.

        Raises
        ------
        ValueError
            If this file or row is reserved for another data set.
        """
        if self.name not in (None, dataset):
            raise ValueError(f"it is the ledger of {dataset!r}, stored under another name.")

    def check_size(self, text: str) -> None:
        """Check that the ledger's text is not too long to be read back."""
        if len(text.encode()) > self.largest_bytes:
            raise BudgetError(
                f"{self.words} would grow beyond {self.largest_bytes >> 20} MiB and could not be "
                "read again; open a new ledger for new data. Nothing was charged."
            )

    def _refuse_second_name(self) -> None:
        """Reject a file that has a second name (a hard link).

        Replacing the file would leave the old content, and thus a second budget, under the other
        name. If a sqlite database were opened under that name, its journal would not be found.
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
        """Create the error for a failure that changed nothing.

        Parameters
        ----------
        what : str
            What went wrong, as a phrase that follows the name of the file or row.
        advice : str
            What to do next.

        Returns
        -------
        BudgetError
        """
        return BudgetError(f"{self.words} {what}; {advice}. Nothing was charged.")
