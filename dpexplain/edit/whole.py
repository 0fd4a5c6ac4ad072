"""Operations that merge bins, operations on whole terms, and groups of operations."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Literal

import numpy as np

from dpexplain.edit.kernels import FloatArray, IndexArray
from dpexplain.edit.operation import Mean, Operation
from dpexplain.edit.selection import Selection
from dpexplain.edit.serialize import COMPOSED, OPERATIONS
from dpexplain.edit.shaping import Monotone, Recover
from dpexplain.edit.state import State
from dpexplain.explain._text import shorten


@dataclasses.dataclass(frozen=True)
class Merge(Operation):
    """Set chosen categories (or neighboring bins) to their mean contribution.

    Parameters
    ----------
    term, bins, within, names, where, mean, of_class : see Operation
        As in :class:`Operation`; the mean is kept by default. The bins to merge must be given.

    Examples
    --------
    >>> from dpexplain.edit import EditLog, Merge
    >>> log = EditLog().edit(
    ...     Merge("job", names=["nurse", "carer"]), note="one occupation with two names"
    ... )
    >>> log.operations[-1].words
    "merge job for 'nurse', 'carer'"
    """

    kind: ClassVar[str] = "merge"
    curves_only: ClassVar[bool] = True
    least_bins: ClassVar[int] = 2

    def __post_init__(self) -> None:
        """Check that bins are chosen."""
        super().__post_init__()
        if self.selection.whole:
            raise ValueError("merge needs names=, bins= or within=: which bins to merge.")

    def _wanted(self, curve: State, bins: IndexArray) -> FloatArray:
        return np.full(len(bins), curve.mean(bins))


@dataclasses.dataclass(frozen=True)
class _WholeTerm(Operation):
    """Base class for operations on all bins of a term, including special bins."""

    usual_mean: ClassVar[Mean] = "change"

    def __post_init__(self) -> None:
        """Reject a selection of bins."""
        super().__post_init__()
        if not self.selection.whole or self.where is not None:
            raise ValueError(
                f"{self.kind} applies to a whole term; omit bins=, within=, names= and where=."
            )

    def _checked_bins(self, curve: State) -> IndexArray:
        return np.arange(len(curve.values), dtype=np.int64)


@dataclasses.dataclass(frozen=True)
class Remove(_WholeTerm):
    """Remove a term: set its contributions to 0 in all bins, including special bins.

    Parameters
    ----------
    term, bins, within, names, where, mean, of_class : see Operation
        As in :class:`Operation`. In this library's models, terms have mean 0, so removing a term
        does not change the mean score; in other models, ``mean="intercept"`` keeps the mean score.

    Examples
    --------
    >>> from dpexplain.edit import EditLog, Remove
    >>> log = EditLog().edit(Remove("race"), note="must not be used")
    >>> log.operations[-1].words
    'remove race'
    """

    kind: ClassVar[str] = "remove"

    def __post_init__(self) -> None:
        """Reject ``mean="keep"``, which a removed term cannot satisfy."""
        super().__post_init__()
        if self.mean == "keep":
            raise ValueError('a removed term has no mean to keep; use mean="intercept".')

    def _wanted(self, curve: State, bins: IndexArray) -> FloatArray:
        return np.zeros(len(bins))


@dataclasses.dataclass(frozen=True)
class Revert(_WholeTerm):
    """Restore the released curve of a term.

    Changes to the intercept made by edits to this term are undone as well.

    Parameters
    ----------
    term, bins, within, names, where, mean, of_class : see Operation
        As in :class:`Operation`, but only `term` and `of_class` may be given.

    Examples
    --------
    >>> from dpexplain.edit import EditLog, Revert
    >>> log = EditLog().edit(Revert("age"))
    >>> log.operations[-1].words
    'revert age'
    """

    kind: ClassVar[str] = "revert"
    moves_band: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Reject the parameter `mean`."""
        super().__post_init__()
        if self.mean is not None:
            raise ValueError("revert restores the released mean; omit mean=.")

    def _wanted(self, curve: State, bins: IndexArray) -> FloatArray:
        return curve.released.contribution.ravel()[bins]

    def on(self, curve: State) -> State:
        """Restore the released contributions.

        Parameters
        ----------
        curve : State
            The current state of the term.

        Returns
        -------
        State
        """
        released = curve.released.contribution.ravel().copy()
        return dataclasses.replace(curve, values=released, band_center=released, shift=0.0)


@dataclasses.dataclass(frozen=True)
class Composed:
    """Several operations combined into one step of a log.

    Parameters
    ----------
    steps : sequence of Operation
        Operations in the order in which they are applied; composed operations are expanded.
    title : str, default=""
        Title of the combined step, which precedes the descriptions of the operations.

    Examples
    --------
    >>> from dpexplain.edit import Composed, Monotone, Smooth
    >>> step = Composed([Smooth("age"), Monotone("age", direction="increasing")])
    >>> len(step.steps), step.terms
    (2, ('age',))
    """

    steps: tuple[Operation, ...]
    title: str = ""

    kind: ClassVar[str] = "composed"

    def __post_init__(self) -> None:
        """Check and flatten the steps."""
        given = tuple(self.steps)
        if not given or not all(isinstance(s, Operation | Composed) for s in given):
            raise ValueError("steps must be one or more operations.")
        flat = tuple(single for step in given for single in step.steps)
        object.__setattr__(self, "steps", flat)

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of the changed terms."""
        return tuple(dict.fromkeys(step.term for step in self.steps))

    @property
    def words(self) -> str:
        """Description of the steps."""
        listed = "; ".join(step.words for step in self.steps)
        return f"{self.title} ({listed})" if self.title else listed

    @property
    def caution(self) -> str:
        """Warning for this operation; the empty string if there is none."""
        return "; ".join(dict.fromkeys(step.caution for step in self.steps if step.caution))

    apply = Operation.apply


OPERATIONS[COMPOSED] = Composed


def repair(
    term: str,
    direction: Literal["increasing", "decreasing"],
    *,
    bins: tuple[int, ...] | None = None,
    within: tuple[float, float] | None = None,
    of_class: str = "",
) -> Composed:
    """Repair a curve that should be monotone.

    The curve is re-estimated from the released sums, and then replaced with the closest monotone
    curve.

    Parameters
    ----------
    term : str
        Name of the term.
    direction : {"increasing", "decreasing"}
        Direction that the curve should have, from general knowledge.
    bins, within, of_class : see Operation
        As in :class:`Operation`.

    Returns
    -------
    Composed
        The operations as one step of a log. ``docs/editing.md`` shows the effect of each one.

    Notes
    -----
    Shrinkage is estimated term by term. If features are correlated, a curve may contain part of the
    effect of another feature, especially if the fit stops early. Re-estimation then moves the curve
    away from the truth, and the released leaf sums do not reveal this. The edit record contains a
    warning. Use :class:`Smooth` and :class:`Monotone` if features are known to be correlated.

    Examples
    --------
    >>> from dpexplain.edit import EditLog, repair
    >>> log = EditLog().edit(repair("age", "increasing"), note="risk rises with age")
    >>> len(log.operations[-1].steps)
    2
    """
    chosen = Selection(bins, within)
    about = {"bins": chosen.bins, "within": chosen.within, "of_class": of_class}
    return Composed(
        (
            Recover(term, **about),  # type: ignore[arg-type]
            Monotone(term, direction=direction, **about),  # type: ignore[arg-type]
        ),
        title=f"repair {shorten(term)}, known to be {direction}",
    )
