"""Guarantee for a set of outputs, as part of a privacy statement."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from dpexplain._utils.validation import check_delta, check_in_range
from dpexplain.accounting._ledger.serialize import check_fields, number_from_json, number_to_json

LONGEST_TEXT = 100_000
_NUMBERS = ("epsilon", "replace_epsilon", "adaptive_epsilon")


@dataclass(frozen=True)
class Promise:
    """Guarantee for a set of outputs, as part of a privacy statement.

    Parameters
    ----------
    covers : str
        Description of the outputs that the guarantee covers.
    epsilon : float
        Epsilon under the adjacency of the statement; infinite if there is no guarantee.
    delta : float
        Delta of the guarantee, in (0, 1).
    replace_epsilon : float
        Epsilon at the same delta under replace-one adjacency; infinite if there is no guarantee.
    adaptive_epsilon : float, default=inf
        Epsilon, at the same delta, that also holds if fits were chosen after earlier results were
        seen. In contrast, `epsilon` holds only if the number and the budgets of the fits were fixed
        before any result was seen. Infinite if no such bound is stated.

    Examples
    --------
    >>> from dpexplain.statement import Promise
    >>> promise = Promise("the curves", epsilon=1.0, delta=1e-6, replace_epsilon=2.1)
    >>> promise.covers, promise.epsilon
    ('the curves', 1.0)
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
    """Convert a `Promise` to a dictionary of JSON values."""
    return {field.name: _plain(getattr(promise, field.name)) for field in fields(promise)}


def promise_from_dict(content: Mapping[str, Any]) -> Promise:
    """Convert the output of `promise_to_dict` to a `Promise`, with strict checks."""
    check_fields(Promise, content)
    values = dict(content)
    return Promise(**{**values, **{name: number_from_json(values[name]) for name in _NUMBERS}})


def check_text(name: str, value: object) -> None:
    """Raise ValueError unless the value is a string of valid length."""
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST_TEXT:
        raise ValueError(f"{name} must be a string of 1 to {LONGEST_TEXT} characters.")
