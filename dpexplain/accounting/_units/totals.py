"""Total epsilons of a ledger for one unit of privacy."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpexplain._utils.guarantee_words import upper_number, without_rows
from dpexplain.accounting._ledger.serialize import (
    check_fields,
    list_field,
    not_negative,
    number_to_json,
    text_field,
)

__all__ = ["UnitTotal", "labels_words", "total_for"]

_LABELS_SHOWN = 3
_UNNAMED_TEXT = "one person, of whom at most "
_UNNAMED_UNIT = "one person of an unnamed grouping"


@dataclass(frozen=True)
class UnitTotal:
    """Epsilon of all private entries in a ledger, for one unit.

    Parameters
    ----------
    unit : str
        Name of the unit, in words.
    epsilon : float
        Epsilon of all private releases combined, if the number and the budgets of the fits were
        fixed before any result was seen; infinite if the cost of an entry cannot be bounded for the
        unit.
    replace_epsilon : float
        The same epsilon under replace-one adjacency, in which one unit is exchanged for another;
        infinite if the cost of an entry cannot be bounded.
    adaptive_epsilon : float
        Epsilon that holds for adaptive choices: the cap, if it protects this unit and was set
        before the first private charge; otherwise, the reading of the odometer.
    unbounded : tuple of str, default=()
        Labels of the entries whose cost cannot be bounded for the unit.

    Examples
    --------
    >>> from dpexplain.accounting import LaplaceEvent, PrivacyLedger
    >>> ledger = PrivacyLedger("tests", cap_epsilon=1)
    >>> entry = ledger.charge([LaplaceEvent("sums", noise_multiplier=2)], label="means")
    >>> (total,) = ledger.summary().units
    >>> total.unit, round(total.epsilon, 2), total.unbounded
    ('one record', 0.5, ())
    """

    unit: str
    epsilon: float
    replace_epsilon: float
    adaptive_epsilon: float
    unbounded: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Guarantee in words, without delta.

        Returns
        -------
        str
            Text such as "one record: epsilon = 1.2".
        """
        if self.unbounded:
            give = "gives" if len(self.unbounded) == 1 else "give"
            labels = labels_words(self.unbounded)
            return f"no bound for {self.unit}: {labels} {give} it no guarantee"
        return f"{self.unit}: epsilon = {upper_number(self.epsilon)}"

    def to_dict(self) -> dict[str, Any]:
        """Convert the total to plain data for JSON.

        Returns
        -------
        dict
            Fields of the total; infinity is written as the string ``"inf"``.
        """
        return {
            "unit": self.unit,
            "epsilon": number_to_json(self.epsilon),
            "replace_epsilon": number_to_json(self.replace_epsilon),
            "adaptive_epsilon": number_to_json(self.adaptive_epsilon),
            "unbounded": list(self.unbounded),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> UnitTotal:
        """Strictly parse a total from plain data.

        Parameters
        ----------
        content : mapping
            Output of `to_dict`.

        Returns
        -------
        UnitTotal
            A total equal to the original.

        Raises
        ------
        ValueError
            If a field is missing, unknown or out of range.
        """
        check_fields(cls, content)
        numbers = ("epsilon", "replace_epsilon", "adaptive_epsilon")
        return cls(
            unit=text_field("unit", content["unit"]),
            **{name: not_negative(name, content[name]) for name in numbers},
            unbounded=tuple(
                text_field("unbounded", label) for label in list_field("unbounded", content)
            ),
        )


def total_for(unit: str, totals: Iterable[UnitTotal], labels: Sequence[str]) -> UnitTotal:
    """Find the total for the unit of a model.

    Parameters
    ----------
    unit : str
        Name of the unit, worded as in the guarantee of the model.
    totals : iterable of UnitTotal
        Totals of a ledger.
    labels : sequence of str
        Labels of the private entries of the ledger. If there is no total for this unit, they are
        listed as unbounded.

    Returns
    -------
    UnitTotal
        The total for this unit; if there is none, a total with infinite epsilons.
    """
    wanted = _UNNAMED_UNIT if unit.startswith(_UNNAMED_TEXT) else without_rows(unit)
    for total in totals:
        if wanted == total.unit:
            return total
    return UnitTotal(unit, math.inf, math.inf, math.inf, tuple(labels) or ("this ledger",))


def labels_words(labels: Sequence[str]) -> str:
    """Format labels as a short list.

    Parameters
    ----------
    labels : sequence of str
        Labels to list; at least one.

    Returns
    -------
    str
        The list; if some labels are omitted, it ends by saying how many.
    """
    listed = ", ".join(repr(label) for label in labels[:_LABELS_SHOWN])
    more = len(labels) - _LABELS_SHOWN
    return f"{listed} and {more} more" if more > 0 else listed
