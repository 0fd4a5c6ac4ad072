"""The releasable part of a comparison or explanation."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

from dpexplain.accounting.summary import LedgerSummary
from dpexplain.compare._fits import SAMPLED, Fits
from dpexplain.compare.multiclass import MulticlassComparison
from dpexplain.explain.display import Display
from dpexplain.explain.guarantee import Guarantee
from dpexplain.statement.statement import PrivacyStatement

Source = TypeVar("Source")


def releasable(source: Source) -> Source:
    """Drop everything that is not differentially private.

    The dropped parts are removed from the result, not merely hidden. Therefore, no figure, file or
    order of terms derived from the result can depend on them. A comparison loses its non-private
    reference, its non-private metrics, and the fits with seeded noise. The ledger still lists the
    releases made without noise, but their entries contain no number computed from the data.

    Ledger summaries and privacy statements are returned unchanged. An explanation or guarantee is
    rejected unless everything in it may be released.

    Parameters
    ----------
    source : Comparison, MulticlassComparison, explanation, ledger summary, statement or guarantee
        The object to release.

    Returns
    -------
    same type
        A reduced comparison, or `source` itself if it is not a comparison.

    Raises
    ------
    TypeError
        If `source` does not indicate whether it is private.
    ValueError
        If `source` is a comparison without any private fit, or another object that is not private.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier, sweep
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(schema=stays.schema)
    >>> comparison = sweep(model, stays.X, stays.y, epsilons=(0.5, 4), progress=False)
    >>> from dpexplain.compare import releasable
    >>> everyone = releasable(comparison)
    >>> comparison.reference is None, everyone.reference is None
    (False, True)
    """
    if isinstance(source, Fits):
        return _of_comparison(source)
    if isinstance(source, MulticlassComparison):
        return dataclasses.replace(source, by_class=tuple(map(releasable, source.by_class)))
    if isinstance(source, LedgerSummary | PrivacyStatement):
        return source
    if not is_private(source):
        raise ValueError(
            f"nothing in this {type(source).__name__} may be released: it is not private, or it "
            "shows samples not marked public. Do not share it, or fit a private model."
        )
    return source


def is_private(source: Any) -> bool:
    """Return whether everything in an object may be released.

    Parameters
    ----------
    source : Display or Guarantee
        An explanation, a comparison or a guarantee.

    Returns
    -------
    bool

    Raises
    ------
    TypeError
        If `source` does not indicate whether it is private.
    """
    if isinstance(source, Display):
        return source.releasable
    if isinstance(source, Guarantee):
        return source.private
    raise TypeError(
        f"a {type(source).__name__} does not state whether it is private, so it cannot be "
        "released; expected a comparison or an explanation with its guarantee."
    )


def _of_comparison(comparison: Any) -> Any:
    kept = {
        epsilon: tuple(fit for fit in repeats if is_private(fit))
        for epsilon, repeats in comparison.explanations.items()
    }
    kept = {epsilon: repeats for epsilon, repeats in kept.items() if repeats}
    if not kept:
        raise ValueError(
            "nothing in this comparison may be released: none of its models is private. Fit "
            "without reproducible_seed to make them private."
        )
    return dataclasses.replace(
        comparison,
        epsilons=tuple(kept),
        explanations=kept,
        reference=None,
        metrics=_private_metrics(comparison, kept),
        title=comparison.title.partition(SAMPLED)[0],
    )


def _private_metrics(comparison: Any, kept: dict[float, Any]) -> Any:
    """Return the private metrics at the epsilons for which all fits were kept."""
    table = comparison.metrics
    if table is None:
        return None
    whole = [e for e, fits in kept.items() if len(fits) == len(comparison.explanations[e])]
    rows = table[table["private"] & table["epsilon"].isin(whole)]
    return rows if len(rows) else None
