"""Privacy guarantee of a released object."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

from dpexplain._utils.guarantee_words import ALONE, upper_number, without_rows
from dpexplain.explain import _html
from dpexplain.explain._record import choice, text, texts
from dpexplain.explain._text import shorten

NOT_PRIVATE = "NOT PRIVATE \u2014 do not publish"
_NOTHING_PROMISED = "No privacy is promised for this object or for anything computed from it"
_ADJACENCY_SHORT = {"add_remove": "add/remove", "replace": "replace-one"}
_ADJACENCY_WORDS = {
    "add_remove": "add/remove adjacency (two data sets differ by the presence of {unit})",
    "replace": "replace-one adjacency (two data sets differ by the values of {unit})",
}


@dataclasses.dataclass(frozen=True)
class Guarantee:
    """Privacy guarantee of an explanation or model.

    Parameters
    ----------
    epsilon : float
        Privacy parameter: a bound on the log-ratio of probabilities. It is infinite if and only if
        `private` is False.
    delta : float
        Additive slack of the guarantee, in ``[0, 1)``; 0 for pure differential privacy.
    adjacency : {"add_remove", "replace"}
        Which data sets count as neighbors.
    private : bool
        Whether there is a guarantee; False for a non-private reference model, and for any result
        computed with seeded noise.
    mu : float or None, default=None
        Gaussian-DP parameter, if the mechanism is Gaussian; otherwise None.
    covers : str, default="this fit alone"
        Description of the releases that the guarantee covers.
    sampler : str, default=""
        Sampler and source of randomness for the noise.
    version : str, default=""
        Version of the library that made the release.
    unit : str, default="one record"
        Unit of privacy.
    notes : tuple of str, default=()
        Further facts about the guarantee; if the object is not private, they include the reason.
    epsilon_replace : float or None, default=None
        Epsilon at the same delta under replace-one adjacency, if this is also stated.

    Raises
    ------
    ValueError
        If a number lies outside its range or contradicts `private`.

    Examples
    --------
    >>> Guarantee(epsilon=0.5, delta=1e-6, adjacency="add_remove", private=True).short
    '(0.5, 1e-06)-DP, add/remove'
    """

    epsilon: float
    delta: float
    adjacency: str
    private: bool
    mu: float | None = None
    covers: str = ALONE
    sampler: str = ""
    version: str = ""
    unit: str = "one record"
    notes: tuple[str, ...] = ()
    epsilon_replace: float | None = None

    def __post_init__(self) -> None:
        """Check that the numbers are consistent."""
        if not isinstance(self.private, bool):
            raise ValueError("private must be True or False.")
        choice("adjacency", self.adjacency, ("add_remove", "replace"))
        for name in ("epsilon", "delta", "mu", "epsilon_replace"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _number(name, value))
        self._check_ranges()
        for name in ("covers", "sampler", "version", "unit"):
            text(name, getattr(self, name))
        object.__setattr__(self, "notes", texts("notes", self.notes))

    def _check_ranges(self) -> None:
        if not self.epsilon > 0:
            raise ValueError(f"epsilon={self.epsilon!r} must be positive.")
        if self.private == math.isinf(self.epsilon):
            raise ValueError(
                f"epsilon={self.epsilon!r} contradicts private={self.private}; epsilon is "
                "infinite if and only if an object is not private."
            )
        if not 0 <= self.delta < 1:
            raise ValueError(f"delta={self.delta!r} must be in [0, 1).")
        for name in ("mu", "epsilon_replace"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise ValueError(f"{name}={value!r} must not be negative.")
        replaced = self.epsilon_replace
        if self.adjacency == "add_remove" and replaced is not None and replaced < self.epsilon:
            raise ValueError(
                f"epsilon_replace={replaced!r} must be at least epsilon={self.epsilon!r}: to "
                "replace a record changes sums at least as much as to add one."
            )

    @classmethod
    def not_private(
        cls,
        reason: str,
        *,
        delta: float = 0.0,
        adjacency: str = "add_remove",
        version: str = "",
        unit: str = "one record",
    ) -> Guarantee:
        """Create the `Guarantee` for an object that is not private.

        Parameters
        ----------
        reason : str
            Why there is no guarantee, such as "fitted without noise".
        delta : float, default=0.0
            Delta to show in tables; it has no meaning without a guarantee.
        adjacency : {"add_remove", "replace"}, default="add_remove"
            Adjacency to show in tables; it has no meaning without a guarantee.
        version : str, default=""
            Library version.
        unit : str, default="one record"
            Unit of privacy.

        Returns
        -------
        Guarantee
            A guarantee with ``private=False`` and infinite epsilon.
        """
        return cls(
            epsilon=math.inf,
            delta=delta,
            adjacency=adjacency,
            private=False,
            version=version,
            unit=unit,
            notes=(reason,),
        )

    def for_samples(self, *, public: bool) -> Guarantee:
        """Return the guarantee for numbers computed from released results and samples.

        Parameters
        ----------
        public : bool
            Whether the samples may be shown to anyone.

        Returns
        -------
        Guarantee
            The guarantee itself if the samples are public; otherwise one with ``private=False``.
        """
        if public or not self.private:
            return self
        return Guarantee.not_private(
            "computed from samples that are not marked public",
            delta=self.delta,
            adjacency=self.adjacency,
            version=self.version,
            unit=self.unit,
        )

    def promises_as(self, other: Guarantee) -> bool:
        """Return whether another guarantee has the same numbers, adjacency and unit.

        Parameters
        ----------
        other : Guarantee
            Guarantee to compare with.

        Returns
        -------
        bool
            True also if the guarantees differ in words, such as notes.
        """
        names = ("private", "epsilon", "delta", "adjacency", "unit")
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def marked(self, words: str) -> str:
        """Prepend a warning to a sentence, unless there is a guarantee.

        Parameters
        ----------
        words : str
            A sentence about results that have this guarantee.

        Returns
        -------
        str
            The sentence, preceded by the warning unless the results are private.
        """
        return words if self.private else f"NOT PRIVATE: {words[:1].lower()}{words[1:]}"

    @property
    def short(self) -> str:
        """The guarantee in one line, or a warning that there is none.

        Epsilon and delta are rounded up. A unit other than one record is named.
        """
        if not self.private:
            return NOT_PRIVATE
        unit = without_rows(self.unit)
        whom = "" if unit == "one record" else f" for {shorten(unit)}"
        return f"{self._numbers}-DP{whom}, {_ADJACENCY_SHORT[self.adjacency]}"

    @property
    def columns(self) -> dict[str, Any]:
        """Columns that state the guarantee in each row of a table, by name."""
        numbers = {"epsilon": self.epsilon, "delta": self.delta, "adjacency": self.adjacency}
        return {**numbers, "private": self.private, "guarantee": self.short}

    @property
    def _numbers(self) -> str:
        epsilon = upper_number(self.epsilon)
        return epsilon if self.delta == 0 else f"({epsilon}, {upper_number(self.delta)})"

    def statement(self) -> str:
        """Return the full statement of the guarantee.

        Returns
        -------
        str
            A few sentences about the unit of privacy, the outputs that are covered, the inputs that
            must be public, who is trusted, what is not protected, the source of the noise and the
            version. If there is no guarantee, the statement says so and gives the reason.
        """
        if not self.private:
            return " ".join(_sentences([NOT_PRIVATE, _NOTHING_PROMISED, *self.notes]))
        return " ".join(_sentences([*self._promise(), *self._conditions(), *self.notes]))

    def _promise(self) -> list[str]:
        adjacency = _ADJACENCY_WORDS[self.adjacency].format(unit=without_rows(self.unit))
        words = [
            f"{self._numbers}-differential privacy for {self.unit}, under {adjacency}",
        ]
        if self.epsilon_replace is not None and self.adjacency == "add_remove":
            words.append(
                "Under replace-one adjacency, the same release has epsilon "
                f"{upper_number(self.epsilon_replace)} at the same delta"
            )
        words.append(
            f"It covers {self.covers}: the scores, noisy counts and structure released by it, "
            "and everything computed from those without the data"
        )
        return words

    def _conditions(self) -> list[str]:
        words = [
            "It holds if the schema (bounds, categories, target range or classes) and all "
            "hyperparameters are public, that is, not read from these data",
            "The curator and the analyst who hold the data are trusted; timing, memory and "
            "other side channels are not protected",
        ]
        if self.sampler:
            words.append(f"Noise: {self.sampler}")
        if self.version:
            words.append(f"Library: dpexplain {self.version}")
        return words

    def to_dict(self) -> dict[str, Any]:
        """Return the guarantee as plain data.

        Returns
        -------
        dict
            The fields, ready for JSON; infinity is written as the string ``"inf"``.
        """
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        fields["notes"] = list(self.notes)
        return {name: "inf" if value == math.inf else value for name, value in fields.items()}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Guarantee:
        """Rebuild a guarantee from the output of :meth:`to_dict`.

        Parameters
        ----------
        fields : mapping
            Output of :meth:`to_dict`.

        Returns
        -------
        Guarantee
            A guarantee equal to the original.

        Raises
        ------
        ValueError
            If a field is missing or unknown, or a value is out of range.
        """
        known = {field.name for field in dataclasses.fields(cls)}
        unknown, missing = set(fields) - known, known - set(fields)
        if unknown or missing:
            raise ValueError(
                f"a guarantee has {len(unknown)} unknown and {len(missing)} missing fields; "
                f"expected exactly {', '.join(sorted(known))}."
            )
        values: dict[str, Any] = {
            name: math.inf if value == "inf" else value for name, value in fields.items()
        }
        return cls(**values)

    def __repr__(self) -> str:
        """Return the one-line form."""
        return f"Guarantee({self.short})"

    def _repr_html_(self) -> str:
        line = _html.heading(self.short) if self.private else _html.warning(self.short)
        return _html.box(line, _html.note(self.statement()))


def _number(name: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or math.isnan(value):
        raise ValueError(f"{name} must be a number, got {type(value).__name__}.")
    return float(value)


def _sentences(parts: Iterable[str]) -> list[str]:
    return [f"{part[:1].upper()}{part[1:].rstrip('.')}." for part in parts if part]
