"""One edit in a log: the operation, the previous edit, the reason and the author."""

from __future__ import annotations

import dataclasses
from typing import Any

from dpexplain.edit.serialize import OPERATIONS
from dpexplain.explain._record import text

START = -1
"""Index of the state without any edit."""


@dataclasses.dataclass(frozen=True)
class Entry:
    """One edit in a log.

    Parameters
    ----------
    operation : Operation or Composed
        The operation applied.
    parent : int
        Index of the previous edit; -1 for the released state.
    note : str, default=""
        Reason for the edit.
    who : str, default=""
        Person who made the edit.
    when : str, default=""
        When the edit was made.

    Examples
    --------
    >>> from dpexplain.edit import EditLog, Remove
    >>> log = EditLog().edit(Remove("race"), note="must not be used", who="A. Curie")
    >>> entry = log.entries[0]
    >>> entry.who, entry.parent
    ('A. Curie', -1)
    """

    operation: Any
    parent: int = START
    note: str = ""
    who: str = ""
    when: str = ""

    def __post_init__(self) -> None:
        """Check the fields."""
        if type(self.operation) not in OPERATIONS.values():
            raise ValueError(
                f"an edit is an operation such as Monotone('age', direction='increasing'), got "
                f"{type(self.operation).__name__}."
            )
        for name in ("note", "who", "when"):
            text(name, getattr(self, name))
