"""Epsilon and delta of a set of outputs, as part of a statement."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from dpexplain._utils.validation import check_delta, check_in_range
from dpexplain.accounting.summary import number_from_json, number_to_json

LONGEST_TEXT = 100_000
_NUMBERS = ("epsilon", "replace_epsilon", "adaptive_epsilon")
# Fields that older versions did not write.
_ADDED = frozenset({"adaptive_epsilon", "others"})


@dataclass(frozen=True)
class Promise:
    """Epsilon and delta of a set of outputs.

    Parameters
    ----------
    covers : str
        Outputs covered.
    epsilon : float
        Epsilon under the adjacency of the statement; infinite if there is no guarantee.
    delta : float
        In (0, 1).
    replace_epsilon : float
        Epsilon at the same delta if a unit is replaced by another.
    adaptive_epsilon : float, default=inf
        Epsilon at the same delta that also holds for adaptive choices; `epsilon` itself holds if
        the number and the budgets of the fits were fixed before any result was seen. Infinite if no
        such epsilon is stated.
    """

    covers: str
    epsilon: float
    delta: float
    replace_epsilon: float
    adaptive_epsilon: float = math.inf

    def __post_init__(self) -> None:
        check_text("covers", self.covers)
        for name in _NUMBERS:
            value = check_in_range(name, getattr(self, name), 0.0, math.inf)
            object.__setattr__(self, name, value)
        object.__setattr__(self, "delta", check_delta(self.delta))

    @property
    def private(self) -> bool:
        """Whether there is a guarantee.

        Returns
        -------
        bool
            False if epsilon is infinite.
        """
        return math.isfinite(self.epsilon)


def _plain(value: object) -> object:
    return number_to_json(value) if isinstance(value, float) else value


def promise_to_dict(promise: Promise) -> dict[str, Any]:
    """Write a promise as plain data."""
    return {field.name: _plain(getattr(promise, field.name)) for field in fields(promise)}


def promise_from_dict(content: object) -> Promise:
    """Read a promise from plain data, strictly."""
    values = fields_of(Promise, content)
    numbers = {name: number_from_json(values[name]) for name in _NUMBERS if name in values}
    return Promise(**{**values, **numbers})


def fields_of(cls: type[Any], content: object) -> dict[str, Any]:
    """Check the names of fields; fields that older versions did not have may be missing."""
    names = {field.name for field in fields(cls)}
    if not isinstance(content, Mapping) or not names - _ADDED <= set(content) <= names:
        raise ValueError(
            f"a {cls.__name__} needs exactly these fields: {', '.join(sorted(names))}."
        )
    return dict(content)


def check_text(name: str, value: object) -> None:
    """Raise ValueError unless the value is a string of valid length."""
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST_TEXT:
        raise ValueError(f"{name} must be a string of 1 to {LONGEST_TEXT} characters.")
