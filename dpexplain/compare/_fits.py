"""Base class for comparisons of fits at several epsilons."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

import pandas as pd

from dpexplain._utils.guarantee_words import upper_number, without_rows
from dpexplain.accounting.composition import compose_mu
from dpexplain.accounting.gdp import epsilon_from_mu
from dpexplain.accounting.summary import LedgerSummary
from dpexplain.compare._by_epsilon import ByEpsilon
from dpexplain.compare._metrics import checked_metrics
from dpexplain.explain import _html
from dpexplain.explain._record import Record, text
from dpexplain.explain._text import number_like, shorten
from dpexplain.explain.display import Display
from dpexplain.explain.guarantee import NOT_PRIVATE, Guarantee

_UNNAMED = "one person"  # of a grouping without a name, which may differ between fits

SAMPLED = "; reference: a sample of "
"""Words of a title if the reference was fitted to a sample of the rows; their number follows."""

Model = TypeVar("Model")
"""Type of the explanations that are compared; each of them has a guarantee."""


class Fits(Record, Display, Generic[Model]):
    """Base class for immutable comparisons of fits at several epsilons."""

    epsilons: tuple[float, ...]
    explanations: Mapping[float, tuple[Model, ...]]
    reference: Model | None
    metrics: pd.DataFrame | None
    ledger: LedgerSummary
    title: str

    def _check_fits(self, kind: type[Model], same: tuple[str, ...]) -> None:
        """Check that explanations have the type `kind` and agree in the `same` fields."""
        explanations: ByEpsilon[Model] = ByEpsilon(self.explanations)
        epsilons = tuple(float(epsilon) for epsilon in self.epsilons)
        if not epsilons or epsilons != tuple(explanations):
            raise ValueError("epsilons must be the ascending keys of explanations, at least one.")
        if not all(0 < epsilon < math.inf for epsilon in epsilons):
            raise ValueError("epsilons must be positive and finite; pass the rest as reference.")
        if not all(explanations.values()):
            raise ValueError("explanations must contain at least one fit for each epsilon.")
        if not isinstance(self.ledger, LedgerSummary):
            raise ValueError("ledger must be a LedgerSummary; PrivacyLedger.summary() makes one.")
        self._set("epsilons", epsilons)
        self._set("explanations", explanations)
        self._set("title", text("title", self.title))
        fits = [fit for _, _, fit in self.fits()]
        if not all(isinstance(fit, kind) for fit in fits):
            raise ValueError(f"explanations and reference must be {kind.__name__} objects.")
        for field in same:
            if any(getattr(fit, field) != getattr(fits[0], field) for fit in fits):
                raise ValueError(f"explanations differ in {field}; compare fits of one model only.")
        self._check_guarantees()
        if self.metrics is not None:
            self._set("metrics", checked_metrics(self.metrics))

    def _check_guarantees(self) -> None:
        """Reject fits that have no joint guarantee, or that the ledger cannot hold."""
        private = [each for row in self._guarantees().values() for each in row if each.private]
        protected = {(without_rows(each.unit), each.adjacency) for each in private}
        if len(protected) > 1:
            pairs = ", ".join(sorted(f"{unit} ({adjacency})" for unit, adjacency in protected))
            raise ValueError(
                f"explanations protect different units of privacy: {shorten(pairs, 200)}. Fits "
                "with different units or adjacencies have no total; compare them separately."
            )
        several = len(private) > 1
        by_ledger = [each for each in private if each.mu is None or (several and _is_unnamed(each))]
        if by_ledger and self.ledger.n_private < len(private):
            raise ValueError(
                f"{len(private)} private fits, but the ledger has {self.ledger.n_private} private "
                "entries; pass the summary of the ledger to which the fits were charged."
            )

    def __getitem__(self, epsilon: float) -> tuple[Model, ...]:
        """Return the explanations of the repeated fits at an epsilon."""
        return self.explanations[epsilon]

    def __iter__(self) -> Iterator[float]:
        """Iterate over the epsilons, in ascending order."""
        return iter(self.explanations)

    def fits(self) -> Iterator[tuple[float, int, Model]]:
        """Iterate over all fits; the reference comes last.

        Yields
        ------
        tuple of (float, int, explanation)
            Epsilon, repeat and explanation; epsilon is infinite for the reference.
        """
        for epsilon, repeats in self.explanations.items():
            for repeat, explanation in enumerate(repeats):
                yield epsilon, repeat, explanation
        if self.reference is not None:
            yield math.inf, 0, self.reference

    def fits_by_epsilon(self) -> dict[float, tuple[Any, ...]]:
        """Return the explanations at each epsilon.

        Returns
        -------
        dict of float to tuple of explanation
            Explanations, keyed by epsilon; the key of the reference, if any, is infinity.
        """
        reference = {} if self.reference is None else {math.inf: (self.reference,)}
        return {**self.explanations, **reference}

    def describe(self) -> Iterator[str | pd.DataFrame]:
        """Yield the title and the guarantees in words.

        Yields
        ------
        str or DataFrame
        """
        yield self.title
        yield "\n".join(self.guarantee_words)

    def _beside_reference(self, compare: Callable[[Model, Model], Any]) -> pd.DataFrame:
        """Compare every private fit with the reference using `compare`."""
        if self.reference is None:
            raise ValueError(
                "this comparison has no reference model; pass reference=True to sweep."
            )
        return pd.DataFrame(
            [
                {
                    "epsilon": epsilon,
                    "repeat": repeat,
                    **dataclasses.asdict(compare(fit, self.reference)),
                    "private": False,
                }
                for epsilon, repeat, fit in self._private_fits()
            ]
        )

    def _private_fits(self) -> Iterator[tuple[float, int, Model]]:
        return ((e, r, fit) for e, r, fit in self.fits() if not math.isinf(e))

    def _guarantees(self) -> dict[float, list[Guarantee]]:
        """Return the guarantees of the private fits at each epsilon."""
        found: dict[float, list[Guarantee]] = {epsilon: [] for epsilon in self.epsilons}
        for epsilon, _, fit in self._private_fits():
            found[epsilon].append(fit.guarantee)  # type: ignore[attr-defined]
        return found

    @property
    def private(self) -> bool:
        """Whether everything shown is differentially private."""
        diagnostics = self.metrics is not None and not self.metrics["private"].all()
        guarantees: list[Any] = [fit for _, _, fit in self.fits()]
        return not diagnostics and all(fit.guarantee.private for fit in guarantees)

    @property
    def releasable(self) -> bool:
        """Whether everything may be released."""
        return self.private

    @property
    def epsilon_together(self) -> float:
        """Total epsilon of all private models shown here, if published together.

        The total is for the delta of the ledger. It excludes the reference, and is infinite if
        any other model is not private. If a guarantee does not state a Gaussian-DP parameter, or
        if the models protect persons of an unnamed grouping, the total is that of the whole ledger,
        which may include other fits. It is infinite if the ledger cannot bound it.
        """
        guarantees = [each for row in self._guarantees().values() for each in row]
        if not all(guarantee.private for guarantee in guarantees):
            return math.inf
        mus = [guarantee.mu for guarantee in guarantees if guarantee.mu is not None]
        unnamed = len(guarantees) > 1 and any(map(_is_unnamed, guarantees))
        if unnamed or len(mus) < len(guarantees):
            return max(self.ledger.total_for(g.unit).epsilon for g in guarantees)
        return epsilon_from_mu(compose_mu(mus), self.ledger.delta)

    @property
    def guarantee_words(self) -> tuple[str, str]:
        """Labels stating the cost of each model, and of all models together."""
        guarantees = self._guarantees()
        if not all(guarantee.private for row in guarantees.values() for guarantee in row):
            return (
                f"each model alone: {NOT_PRIVATE}",
                f"all models shown, if published together: {NOT_PRIVATE}",
            )
        deltas = sorted({guarantee.delta for row in guarantees.values() for guarantee in row})
        alone = ", ".join(upper_number(max(g.epsilon for g in row)) for row in guarantees.values())
        delta = " or ".join(upper_number(value) for value in deltas)
        unit = without_rows(guarantees[self.epsilons[0]][0].unit)
        whom = "" if unit == "one record" else f" for {shorten(unit)}"
        total = self.epsilon_together
        together = f"ε = {upper_number(total)} (δ = {upper_number(self.ledger.delta)}){whom}"
        if math.isinf(total):
            together = "no total, because entries of the ledger give no bound for the same persons"
        return (
            f"each model alone: ε = {alone} (δ = {delta}){whom}",
            f"all models shown, if published together: {together}",
        )

    def _html_box(
        self, columns: Mapping[str, bool], cells: Callable[[Model], Sequence[str]], more: str
    ) -> str:
        """Return an HTML table of the first fit at each epsilon and the reference."""
        return box_of_fits(self, self.title, columns, cells, more)


def box_of_fits(
    shown: Any,
    title: str,
    columns: Mapping[str, bool],
    cells: Callable[[Any], Sequence[str]],
    more: str,
) -> str:
    """Return an HTML table of the first fit at each epsilon and the reference.

    Parameters
    ----------
    shown : Fits or MulticlassComparison
    title : str
    columns : mapping of str to bool
        Name of each additional column, and whether it is numeric.
    cells : callable
        Function from a fit to the text in these columns.
    more : str
        What else to call.

    Returns
    -------
    str
    """
    metrics = () if shown.metrics is None else tuple(shown.metrics["metric"].unique())
    firsts = {epsilon: repeats[0] for epsilon, repeats in shown.fits_by_epsilon().items()}
    rows = [
        (
            "reference" if math.isinf(epsilon) else f"{epsilon:g}",
            *(_mean(shown.metrics, epsilon, metric) for metric in metrics),
            *cells(fit),
        )
        for epsilon, fit in firsts.items()
    ]
    head = ("ε", *(f"{name} *" for name in metrics), *columns)
    reference = f"non-private reference: {NOT_PRIVATE}" if math.inf in firsts else ""
    return _html.box(
        _html.heading(title or "Comparison"),
        *(_html.note(words) for words in shown.guarantee_words),
        _html.warning(reference) if reference else "",
        _html.table(head, rows, (True, *(True for _ in metrics), *columns.values())),
        _html.note("* diagnostic on held-out records, not private") if metrics else "",
        _html.note(more),
    )


def _mean(table: pd.DataFrame, epsilon: float, metric: str) -> str:
    """Format the mean of a metric over the repeats at an epsilon."""
    means = table[table["metric"] == metric].groupby("epsilon")["value"].mean()
    if epsilon not in means:
        return ""
    return number_like(float(means[epsilon]), float(means.abs().max()))


def _is_unnamed(guarantee: Guarantee) -> bool:
    return without_rows(guarantee.unit) == _UNNAMED
