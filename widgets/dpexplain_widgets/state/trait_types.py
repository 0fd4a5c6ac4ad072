"""Trait types with clear error messages."""

from __future__ import annotations

import operator
from typing import Any

import traitlets


class Index(traitlets.TraitType[Any, Any]):
    """Trait for an integer of any integer type, or None if `allow_none` is true."""

    default_value = 0
    info_text = "a whole number"

    def validate(self, obj: Any, value: Any) -> int:
        """Return `value` as int, or raise an error that names the trait."""
        try:
            if isinstance(value, bool):
                raise TypeError
            return operator.index(value)
        except TypeError:
            none = " or None" if self.allow_none else ""
            raise traitlets.TraitError(f"{self.name}={value!r} must be an integer{none}.") from None


class OneOf(traitlets.TraitType[Any, Any]):
    """Trait for one of several strings.

    Parameters
    ----------
    *words : str
        The options; the first is the default.
    """

    def __init__(self, *words: str) -> None:
        self.words = words
        super().__init__(words[0])

    def validate(self, obj: Any, value: Any) -> str:
        """Return `value`, or raise an error that lists the options."""
        if isinstance(value, str) and value in self.words:
            return value
        listed = ", ".join(repr(word) for word in self.words)
        raise traitlets.TraitError(f"{self.name}={value!r:.60} must be one of {listed}.")


def ends() -> traitlets.TraitType[Any, Any]:
    """Return a trait for two indices or None, synchronized between view and page."""
    pair: traitlets.TraitType[Any, Any] = traitlets.List(Index(), None, allow_none=True)
    return pair.tag(sync=True)
