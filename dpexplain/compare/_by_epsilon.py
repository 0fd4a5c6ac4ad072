"""Read-only mapping from epsilons to explanations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

Model = TypeVar("Model")


class ByEpsilon(Mapping[float, tuple[Model, ...]]):
    """Read-only mapping from each epsilon to the repeats fitted with it.

    Iteration is in ascending order of epsilon.

    Parameters
    ----------
    fits : mapping of float to sequence of explanations
        At least one fit for each epsilon.
    """

    __slots__ = ("_fits",)

    def __init__(self, fits: Mapping[float, Sequence[Model]]) -> None:
        ordered = sorted(fits.items(), key=lambda item: float(item[0]))
        self._fits = {float(epsilon): tuple(repeats) for epsilon, repeats in ordered}

    def __getitem__(self, epsilon: float) -> tuple[Model, ...]:
        """Return the repeats fitted with `epsilon`."""
        if epsilon in self._fits:
            return self._fits[epsilon]
        known = ", ".join(f"{value:g}" for value in self._fits)
        raise KeyError(f"no fit with epsilon={epsilon!r}; the epsilons are {known}.")

    def __iter__(self) -> Iterator[float]:
        """Iterate over the epsilons in ascending order."""
        return iter(self._fits)

    def __len__(self) -> int:
        """Return the number of epsilons."""
        return len(self._fits)

    def __repr__(self) -> str:
        """Return the epsilons and the number of fits at each."""
        parts = ", ".join(f"{epsilon:g}: {len(fits)}" for epsilon, fits in self._fits.items())
        return f"ByEpsilon(fits per epsilon {{{parts}}})"
