"""Base class for operations, with a term, a bin selection and a rule for the mean."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from dpexplain.edit.applying import apply_entries
from dpexplain.edit.entry import Entry
from dpexplain.edit.kernels import FloatArray, IndexArray, with_mean
from dpexplain.edit.selection import Selection, Where, cells_of, checked_where, where_words
from dpexplain.edit.serialize import OPERATIONS
from dpexplain.edit.state import Cells, State, curve_only
from dpexplain.explain._record import choice, finite, text
from dpexplain.explain._text import shorten

Mean: TypeAlias = Literal["keep", "change", "intercept"]
MEANS = ("keep", "change", "intercept")
_MEAN_WORDS = {"keep": "", "change": "", "intercept": ", absorbed into the intercept"}


@dataclasses.dataclass(frozen=True)
class Operation(ABC):
    """Base class for operations on one term, computed from released numbers.

    An operation is immutable. Bins that are not chosen keep their previous contributions exactly.

    Parameters
    ----------
    term : str
        Name of the term, such as ``"age"``, or of a pair, such as ``"age & job"``.
    bins : sequence of int or None, default=None
        Indices of the bins; None for all value bins. Special bins (missing, other) change only if
        `bins` or `names` contains them.
    within : (float, float) or None, default=None
        Alternatively, two values of a numeric feature; the bins between them are chosen.
    names : sequence of str or None, default=None
        Alternatively, labels of bins: categories, ``"missing"`` or ``"other"``.
    where : dict or None, default=None
        For a pair, the cells to change: for each feature, two numbers or one or more labels, such
        as ``{"age": (30, 50), "job": ["nurse", "clerk"]}``. If a feature is not named, all of its
        value bins are chosen; if `where` is None, all value cells are chosen.
    mean : {"keep", "change", "intercept"} or None, default=None
        Effect on the mean contribution, weighted by the noisy counts. With "keep", the chosen bins
        keep their mean. With "change", the mean changes. With "intercept", the intercept absorbs
        the change, so that the mean score stays the same. None means the operation's default:
        "keep" for operations that shape a curve, and "change" for operations that set values.
    of_class : str, default=""
        Class whose score is edited, if there are several classes; "" for all classes.

    Examples
    --------
    >>> from dpexplain.edit import Operation, Shift
    >>> shift = Shift("age", by=0.1, within=(17, 30), mean="intercept")
    >>> isinstance(shift, Operation), shift.terms
    (True, ('age',))
    >>> shift.words
    'shift age between 17 and 30, absorbed into the intercept by +0.1'
    """

    term: str
    bins: tuple[int, ...] | None = dataclasses.field(default=None, kw_only=True)
    within: tuple[float, float] | None = dataclasses.field(default=None, kw_only=True)
    names: tuple[str, ...] | None = dataclasses.field(default=None, kw_only=True)
    where: Where | None = dataclasses.field(default=None, kw_only=True)
    mean: Mean | None = dataclasses.field(default=None, kw_only=True)
    of_class: str = dataclasses.field(default="", kw_only=True)

    kind: ClassVar[str] = ""
    usual_mean: ClassVar[Mean] = "keep"
    needs_order: ClassVar[bool] = False
    least_bins: ClassVar[int] = 1
    curves_only: ClassVar[bool] = False
    moves_band: ClassVar[bool] = False
    caution: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        """Register the operation under the name by which logs and files refer to it."""
        if not cls.__name__.startswith("_"):
            OPERATIONS[cls.__name__.lower()] = cls

    def __post_init__(self) -> None:
        """Check the fields that all operations share."""
        text("term", self.term)
        text("of_class", self.of_class)
        if self.mean is not None:
            choice("mean", self.mean, MEANS)
        chosen = Selection(self.bins, self.within, self.names)
        for name in ("bins", "within", "names"):
            object.__setattr__(self, name, getattr(chosen, name))
        object.__setattr__(self, "where", checked_where(self.where))
        if self.where is not None and not chosen.whole:
            raise ValueError(
                "where= chooses cells of a pair; omit bins=, within= and names=, which choose bins "
                "of a curve."
            )

    @property
    def selection(self) -> Selection:
        """Bins that the operation changes."""
        return Selection(self.bins, self.within, self.names)

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of the changed terms."""
        return (self.term,)

    @property
    def steps(self) -> tuple[Operation, ...]:
        """Tuple that contains only this operation, for consistency with :class:`Composed`."""
        return (self,)

    @property
    def words(self) -> str:
        """Description of the operation."""
        about = "" if not self.of_class else f" (class {shorten(self.of_class)})"
        mean = _MEAN_WORDS[self.mean or self.usual_mean]
        return f"{self._verb()} {shorten(self.term)}{self._where_words}{about}{mean}"

    @property
    def _where_words(self) -> str:
        return self.selection.words if self.where is None else where_words(self.where)

    def _verb(self) -> str:
        return self.kind

    def on(self, curve: State) -> State:
        """Apply the operation to a curve, or to the cells of a pair.

        Parameters
        ----------
        curve : State
            The current state of the term.

        Returns
        -------
        State

        Raises
        ------
        ValueError
            If the term is of the wrong kind, or does not have the chosen bins.
        """
        bins = self._checked_bins(curve)
        before, weights = curve.values[bins], curve.weights[bins]
        wanted = np.asarray(self._wanted(curve, bins), dtype=np.float64)
        mean, shift = self.mean or self.usual_mean, curve.shift
        if mean == "keep":
            wanted = with_mean(wanted, before, weights)
        elif mean == "intercept":
            shift -= float(weights @ (wanted - before))
        if not np.isfinite(wanted).all():
            raise ValueError(f"{self.words}: the contributions would not be finite numbers.")
        values = curve.values.copy()
        values[bins] = wanted
        return dataclasses.replace(curve, values=values, shift=shift)

    def _checked_bins(self, curve: State) -> IndexArray:
        bins = self._chosen(curve)
        if len(bins) < self.least_bins:
            raise ValueError(
                f"{self.kind} needs at least {self.least_bins} bins, and {len(bins)} of "
                f"{shorten(curve.released.name)!r} are chosen."
            )
        return bins

    def _chosen(self, state: State) -> IndexArray:
        if isinstance(state, Cells) and not self.curves_only:
            if not self.selection.whole:
                raise ValueError(
                    f"{shorten(self.term)!r} is a pair of features; choose its cells with where=, "
                    "such as where={'age': (30, 50)}, not with bins=, within= or names=."
                )
            return cells_of(state.released, dict(self.where or ()))
        curve = curve_only(state, self.kind)
        term = curve.released
        if self.where is not None:
            raise ValueError(
                f"where= chooses cells of a pair, and {shorten(term.name)!r} is a curve of one "
                "feature; use bins=, within= or names=."
            )
        bins = self.selection.of(term)
        if self.needs_order:
            if not curve.ordered:
                raise unordered(self.kind, term.name)
            if bins[-1] >= term.n_value_bins:
                raise ValueError(
                    f"{self.kind} needs bins in an order, and a special bin of "
                    f"{shorten(term.name)!r} (missing, other) has no position; omit it."
                )
        return bins

    @abstractmethod
    def _wanted(self, curve: State, bins: IndexArray) -> FloatArray:
        """Return the new contributions of the chosen bins, before the mean is adjusted."""

    def apply(self, target: Any, *, note: str = "", who: str = "", when: str = "") -> Any:
        """Apply the operation to an explanation or to a fitted model.

        Parameters
        ----------
        target : GlobalExplanation, MulticlassExplanation or fitted additive model
            What to edit.
        note : str, default=""
            Reason for the edit.
        who : str, default=""
            Person who made the edit.
        when : str, default=""
            When the edit was made.

        Returns
        -------
        GlobalExplanation, MulticlassExplanation or model
            A new object, marked as edited.

        Raises
        ------
        ValueError
            If the target does not have the term or the bins.
        """
        return apply_entries([Entry(self, note=note, who=who, when=when)], target)


def unordered(kind: str, term: str) -> ValueError:
    """Return the error for an operation on categories that lack an order."""
    return ValueError(
        f"{kind} needs ordered bins, and the categories of {shorten(term)!r} are unordered."
    )


def number(name: str, value: float) -> float:
    """Check that a parameter is a finite number, and return it as a float."""
    return finite(name, value)
