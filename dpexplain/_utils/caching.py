"""Cache what is computed from an object in the object itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

__all__ = ["kept_property"]

T = TypeVar("T")


class kept_property(Generic[T]):  # noqa: N801 - named like the decorator that it replaces
    """Property that is computed once per object, like ``functools.cached_property``.

    Up to Python 3.11, ``functools.cached_property`` holds one lock for all objects while it
    computes, so threads that fit different models would wait for each other.

    Parameters
    ----------
    compute : callable
        Method that computes the value. Two threads that need the value of the same object at the
        same time may both compute it.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute, self._name = compute, compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, owner: None, kind: type) -> Self: ...

    @overload
    def __get__(self, owner: object, kind: type) -> T: ...

    def __get__(self, owner: object | None, kind: type) -> Self | T:
        """Compute the value, and store it where Python finds it before this property."""
        if owner is None:
            return self
        value = vars(owner)[self._name] = self._compute(owner)
        return value
