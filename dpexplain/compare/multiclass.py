"""Multiclass comparison at several epsilons: one comparison per class."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from dpexplain.accounting.summary import LedgerSummary
from dpexplain.compare._by_epsilon import ByEpsilon
from dpexplain.compare._fits import box_of_fits
from dpexplain.compare.comparison import Comparison, most_important
from dpexplain.explain import MulticlassExplanation
from dpexplain.explain._by_class import ByClass
from dpexplain.explain._text import listing, short_number


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class MulticlassComparison(ByClass[Comparison]):
    """Fits of a multiclass model at several epsilons; each figure shows one class.

    Parameters
    ----------
    by_class : sequence of Comparison
        One comparison for each class, in the order of the classes; all have the same epsilons,
        metrics and ledger.

    Raises
    ------
    ValueError
        If the explanations are inconsistent.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dpexplain import Classes, DPExplainableBoostingClassifier, Numeric, Schema, sweep
    >>> iris = load_iris(as_frame=True)
    >>> schema = Schema({name: Numeric(0, 10) for name in iris.data}, target=Classes([0, 1, 2]))
    >>> model = DPExplainableBoostingClassifier(epsilon=4, schema=schema)
    >>> model = DPExplainableBoostingClassifier(schema=schema)
    >>> comparison = sweep(model, iris.data, iris.target, epsilons=(1, 4), progress=False)
    >>> len(comparison.by_class)
    3
    >>> comparison.explanations[4][0].guarantee.epsilon
    4.0
    """

    by_class: tuple[Comparison, ...]

    def __post_init__(self) -> None:
        """Check that the parts are compatible."""
        parts = tuple(self.by_class)
        if len(parts) < 2 or not all(isinstance(part, Comparison) for part in parts):
            raise ValueError("by_class must contain a Comparison for each of at least two classes.")
        fits = [next(part.fits())[2] for part in parts]
        if tuple(fit.of_class for fit in fits) != fits[0].classes:
            raise ValueError("by_class must contain one comparison for each class, in their order.")
        self._set("by_class", parts)
        self.fits_by_epsilon()

    @classmethod
    def from_fits(
        cls,
        explanations: Mapping[float, Sequence[MulticlassExplanation]],
        *,
        reference: MulticlassExplanation | None,
        **shared: Any,
    ) -> MulticlassComparison:
        """Split the fits of a sweep by class.

        Parameters
        ----------
        explanations : mapping of float to sequence of MulticlassExplanation
            Explanations of the repeated fits at each epsilon.
        reference : MulticlassExplanation or None
            The non-private reference model.
        **shared
            Other arguments of :class:`Comparison`.

        Returns
        -------
        MulticlassComparison
        """
        first = next(iter(explanations.values()))[0]
        return cls(
            tuple(
                Comparison(
                    tuple(sorted(explanations)),
                    {e: tuple(f.for_class(c) for f in fits) for e, fits in explanations.items()},
                    reference=None if reference is None else reference.for_class(c),
                    **shared,
                )
                for c in first.classes
            )
        )

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes."""
        return next(self.by_class[0].fits())[2].classes or ()

    @property
    def epsilons(self) -> tuple[float, ...]:
        """Epsilons in ascending order."""
        return self.by_class[0].epsilons

    @property
    def metrics(self) -> pd.DataFrame | None:
        """Diagnostics of the multiclass models; they refer to all classes together."""
        return self.by_class[0].metrics

    @property
    def ledger(self) -> LedgerSummary:
        """Summary of the data set's ledger."""
        return self.by_class[0].ledger

    @property
    def private(self) -> bool:
        """Whether everything shown is differentially private."""
        return self.by_class[0].private

    @property
    def releasable(self) -> bool:
        """Whether everything may be released."""
        return self.private

    @property
    def guarantee_words(self) -> tuple[str, str]:
        """Labels stating the cost of each model, and of all models together."""
        return self.by_class[0].guarantee_words

    @property
    def explanations(self) -> Mapping[float, tuple[MulticlassExplanation, ...]]:
        """Explanations of all classes, keyed by epsilon; the reference is not included."""
        fits = self.fits_by_epsilon()
        return ByEpsilon({epsilon: fits[epsilon] for epsilon in self.epsilons})

    def __getitem__(self, epsilon: float) -> tuple[MulticlassExplanation, ...]:
        """Return the explanations of the repeated fits at an epsilon."""
        return self.explanations[epsilon]

    def __iter__(self) -> Iterator[float]:
        """Iterate over the epsilons, in ascending order."""
        return iter(self.explanations)

    @property
    def reference(self) -> MulticlassExplanation | None:
        """Explanation of all classes of the non-private reference model, if there is one."""
        return next(iter(self.fits_by_epsilon().get(math.inf, ())), None)

    def fits_by_epsilon(self) -> dict[float, tuple[MulticlassExplanation, ...]]:
        """Return the explanations of all classes at each epsilon.

        Returns
        -------
        dict of float to tuple of MulticlassExplanation
            Explanations, keyed by epsilon; the key of the reference, if any, is infinity.
        """
        found: dict[float, list[MulticlassExplanation]] = {}
        places = [[(e, r) for e, r, _ in part.fits()] for part in self.by_class]
        if any(place != places[0] for place in places):
            raise ValueError("by_class differs in its fits; take comparisons of one sweep.")
        for rows in zip(*(part.fits() for part in self.by_class), strict=True):
            together = MulticlassExplanation(tuple(fit for _, _, fit in rows))
            found.setdefault(rows[0][0], []).append(together)
        return {epsilon: tuple(fits) for epsilon, fits in found.items()}

    def describe(self) -> Iterator[str | pd.DataFrame]:
        """Yield the title and the guarantees, then the results of each class.

        Yields
        ------
        str or DataFrame
        """
        for place, (label, part) in enumerate(zip(self.classes, self.by_class, strict=True)):
            title, guarantees, *results = part.describe()
            yield from (title, guarantees) if place == 0 else ()
            yield f"class {label}"
            yield from results

    def frame(self) -> pd.DataFrame:
        """Return one row per class, fit, term and bin.

        Returns
        -------
        DataFrame
            The column ``class``, followed by the columns of :meth:`Comparison.frame`.
        """
        return self._frames()

    def importances(self) -> pd.DataFrame:
        """Return the importance of each term and pair, averaged over repeats and classes.

        Returns
        -------
        DataFrame
            One row for each term in model order, then for each pair, and one column for each
            epsilon (infinite for the reference).
        """
        total = sum(part.importances() for part in self.by_class)
        return total / len(self.by_class)  # type: ignore[return-value]

    def __repr__(self) -> str:
        """Return a one-line description that suggests the next step."""
        epsilons = ", ".join(short_number(epsilon) for epsilon in self.epsilons)
        beside = "; with a non-private reference" if self.reference is not None else ""
        return (
            f"MulticlassComparison(epsilon {epsilons}; classes {listing(self.classes, 5)}{beside}; "
            "see .for_class(label), .frame(), .importances())"
        )

    def _repr_html_(self) -> str:
        more = ".for_class(label), .explanations, .frame(), .importances(), .metrics show more"
        columns = {"most important terms, mean over classes": False}
        return box_of_fits(self, self.by_class[0].title, columns, most_important, more)
