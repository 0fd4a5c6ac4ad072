"""Faithfulness of an explanation to another explanation or to a known truth.

Two explanations of the same terms may have different bins. Curves are compared on the common
refinement of their bins, under the assumption that the records of the first explanation are spread
evenly inside each of its bins.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpexplain._utils.validation import check_count
from dpexplain.explain import GlobalExplanation, Guarantee, LocalExplanation, ShapeFunction
from dpexplain.explain._by_class import check_one_class
from dpexplain.explain._record import FloatArray

_DRAWS = 500
_POINTS_PER_BIN = 32


@dataclasses.dataclass(frozen=True)
class Faithfulness:
    """Agreement of one explanation with another.

    Parameters
    ----------
    distance : float
        Root mean square difference between the curves over the records, in units of the score; the
        squared differences are summed over the curves.
    relative_distance : float
        `distance` divided by the root mean square of the other explanation's curves; 0 is perfect,
        and 1 is no better than curves that are zero everywhere.
    rank_correlation : float
        Kendall's tau-b between the term importances in the two explanations.
    rank_correlation_low, rank_correlation_high : float
        Ends of the central interval containing tau in 95% of simulations. Each simulation adds
        noise to the curves of the evaluated explanation. The ends are NaN if the joint noise of
        these curves is unknown.
    sign_agreement : float
        Proportion of contributions that have the same sign as in the other explanation, weighted by
        the number of records and the size of the other explanation's contribution.
    top_k_overlap : float
        Proportion of the `k` most important terms that are also among the `k` most important terms
        of the other explanation.
    k : int
        Number of top terms compared in `top_k_overlap`.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier, sweep
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(schema=stays.schema)
    >>> comparison = sweep(model, stays.X, stays.y, epsilons=(0.5, 4), progress=False)
    >>> from dpexplain.compare import faithfulness
    >>> agreement = faithfulness(comparison.explanations[4][0], comparison.reference)
    >>> -1 <= agreement.rank_correlation <= 1, agreement.k
    (True, 5)
    """

    distance: float
    relative_distance: float
    rank_correlation: float
    rank_correlation_low: float
    rank_correlation_high: float
    sign_agreement: float
    top_k_overlap: float
    k: int


def faithfulness(
    explanation: GlobalExplanation, other: GlobalExplanation, *, k: int = 5
) -> Faithfulness:
    """Compare an explanation with another explanation of the same terms.

    Parameters
    ----------
    explanation : GlobalExplanation
        The explanation to evaluate; its (noisy) counts are the weights.
    other : GlobalExplanation
        The explanation to compare with: a reference, another repeat, or the result of
        `truth_in_bins`. If it is not private, the result is not private either.
    k : int, default=5
        Number of top terms compared in `top_k_overlap`; at most the number of terms.

    Returns
    -------
    Faithfulness

    Raises
    ------
    ValueError
        If the explanations have different terms, or if a term differs in its type, its categories
        or its special bins.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(epsilon=1, schema=stays.schema)
    >>> model = model.fit(stays.X, stays.y)
    >>> explanation = model.explain_global()
    >>> from dpexplain.compare import faithfulness
    >>> faithfulness(explanation, explanation).sign_agreement
    1.0
    """
    check_count("k", k)
    _check_terms(explanation, other)
    k = min(k, len(explanation))
    names = list(explanation)
    parts = [_on_common_bins(explanation[name], other[name]) for name in names]
    distance = float(np.sqrt(sum(float(w @ (a - b) ** 2) for a, b, w in parts)))
    size = float(np.sqrt(sum(float(w @ b**2) for _, b, w in parts)))
    agreeing = sum(float(w @ (np.abs(b) * (a * b > 0))) for a, b, w in parts)
    all_of_it = sum(float(w @ np.abs(b)) for _, b, w in parts)
    mine = np.array([explanation[n].importance for n in names])
    theirs = np.array([other[n].importance for n in names])
    low, high = _rank_interval(explanation, theirs)
    return Faithfulness(
        distance=distance,
        relative_distance=distance / size if size > 0 else float("nan"),
        rank_correlation=kendall(mine, theirs),
        rank_correlation_low=low,
        rank_correlation_high=high,
        sign_agreement=agreeing / all_of_it if all_of_it > 0 else float("nan"),
        top_k_overlap=len(_top(mine, k) & _top(theirs, k)) / k,
        k=k,
    )


def shape_distance(shape: ShapeFunction, other: ShapeFunction) -> float:
    """Compute the root mean square difference between two curves.

    The mean is taken over the records, as counted by `shape`.

    Parameters
    ----------
    shape, other : ShapeFunction
        Curves of the same term. Their bins may differ. A constant offset between the curves counts
        as a difference.

    Returns
    -------
    float
        Distance, in units of the score.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(epsilon=1, schema=stays.schema)
    >>> model = model.fit(stays.X, stays.y)
    >>> explanation = model.explain_global()
    >>> from dpexplain.compare import shape_distance
    >>> shape_distance(explanation["age"], explanation["age"])
    0.0
    """
    a, b, weights = _on_common_bins(shape, other)
    return float(np.sqrt(weights @ (a - b) ** 2))


def kendall(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Compute Kendall's tau-b rank correlation.

    Parameters
    ----------
    first, second : array-like of shape (n,)
        Values for the same items.

    Returns
    -------
    float
        In ``[-1, 1]``; NaN if `first` or `second` is constant.

    Examples
    --------
    >>> kendall([1, 2, 3], [1, 3, 2])
    0.333
    """
    a, b = (np.asarray(v, dtype=np.float64) for v in (first, second))
    upper = np.triu_indices(len(a), 1)
    x, y = np.sign(a[:, None] - a)[upper], np.sign(b[:, None] - b)[upper]
    scale = np.sqrt(float(x @ x) * float(y @ y))
    return float(x @ y / scale) if scale > 0 else float("nan")


def local_sign_agreement(explanation: LocalExplanation, other: LocalExplanation) -> float:
    """Compute the weighted proportion of local contributions with equal signs.

    Parameters
    ----------
    explanation, other : LocalExplanation
        Explanations of the same samples and terms, in the same order.

    Returns
    -------
    float
        In ``[0, 1]``, weighted by the size of the contributions in `other`; NaN if all
        contributions in `other` are zero.

    Raises
    ------
    ValueError
        If the samples or terms differ.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(epsilon=1, schema=stays.schema)
    >>> model = model.fit(stays.X, stays.y)
    >>> explanation = model.explain_global()
    >>> from dpexplain.compare import local_sign_agreement
    >>> invented = stays.schema.simulate(5, seed=0)[0]
    >>> local = explanation.explain_local(invented, samples_public=True)
    >>> local_sign_agreement(local, local)
    1.0
    """
    a, b = explanation.contributions, other.contributions
    if explanation.term_names != other.term_names or a.shape != b.shape:
        raise ValueError("both explanations must be of the same samples and terms, in order.")
    sizes = np.abs(b)
    total = float(sizes.sum())
    agreeing = np.where(a * b > 0, sizes, 0.0)  # summed in the same order, so never above the total
    return float(agreeing.sum()) / total if total > 0 else float("nan")


def truth_in_bins(
    explanation: GlobalExplanation,
    shapes: Mapping[str, Callable[[npt.NDArray[np.generic]], FloatArray]],
    X: pd.DataFrame | None = None,
) -> GlobalExplanation:
    """Average known functions over the bins of an explanation.

    Parameters
    ----------
    explanation : GlobalExplanation
        Explanation that provides the bins, and the counts for centering each curve.
    shapes : mapping of str to callable
        For each term, a function that maps an array of values, shape (n,), to contributions; for
        example, ``make_additive(...).truth.shapes``.
    X : DataFrame or None, default=None
        Simulated or public records over which each function is averaged in each bin. In a bin that
        contains none of them, and in every bin if `X` is None, points spread evenly inside the bin
        are used instead.

    Returns
    -------
    GlobalExplanation
        An explanation with exact curves and no noise, marked as not private.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(epsilon=1, schema=stays.schema)
    >>> model = model.fit(stays.X, stays.y)
    >>> explanation = model.explain_global()
    >>> from dpexplain.compare import faithfulness, truth_in_bins
    >>> truth = truth_in_bins(explanation, stays.truth.shapes, stays.X)
    >>> faithfulness(explanation, truth).distance > 0
    True
    """
    guarantee = Guarantee.not_private("known truth")
    terms = []
    for term in explanation.terms:
        values = _bin_averages(term, shapes[term.name], None if X is None else X[term.name])
        values = values - float(term.weights @ values)
        terms.append(
            dataclasses.replace(
                term,
                contribution=values,
                guarantee=guarantee,
                noise_std=None,
                structure_std=None,
                sampling_std=None,
                simultaneous_factor=None,
                bag_std=None,
                monotone=None,
            )
        )
    return dataclasses.replace(explanation, terms=tuple(terms), guarantee=guarantee, noise=None)


def _bin_averages(
    term: ShapeFunction,
    shape: Callable[[npt.NDArray[np.generic]], FloatArray],
    column: pd.Series | None,
) -> FloatArray:
    n = term.n_value_bins
    averages = np.zeros(term.n_bins)
    if term.bin_edges is None:
        averages[:n] = shape(np.array(term.categories, dtype=object))
        return averages
    # Midpoints of equal parts of every bin.
    inside = (np.arange(_POINTS_PER_BIN) + 0.5) / _POINTS_PER_BIN
    points = term.bin_edges[:-1, None] + np.diff(term.bin_edges)[:, None] * inside
    averages[:n] = shape(points.ravel()).reshape(points.shape).mean(axis=1)
    if column is not None:
        values = column.dropna().to_numpy(dtype=np.float64)
        index = term.bin_index(values)
        people = np.bincount(index, minlength=n)[:n]
        sums = np.bincount(index, weights=shape(values), minlength=n)[:n]
        averages[:n] = np.where(people > 0, sums / np.maximum(people, 1), averages[:n])
    return averages


def _check_terms(explanation: GlobalExplanation, other: GlobalExplanation) -> None:
    for given in (explanation, other):
        check_one_class(given, "faithfulness")
    if set(explanation) != set(other):
        raise ValueError("both explanations must have the same terms.")
    for name in explanation:
        a, b = explanation[name], other[name]
        if a.kind != b.kind or a.special != b.special:
            raise ValueError(f"term {name!r} has a different type in the other explanation.")
        if a.categories is not None and a.categories != b.categories:
            raise ValueError(f"term {name!r} has different categories in the other explanation.")


def _on_common_bins(
    shape: ShapeFunction, other: ShapeFunction
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return both curves on their common bins, with the weights of the first curve."""
    if shape.bin_edges is None or other.bin_edges is None:
        return shape.contribution, other.contribution, shape.weights
    low, high = shape.bin_edges[0], shape.bin_edges[-1]
    edges = np.unique(np.concatenate([shape.bin_edges, np.clip(other.bin_edges, low, high)]))
    middles, n = (edges[:-1] + edges[1:]) / 2.0, shape.n_value_bins
    mine = np.clip(np.searchsorted(shape.bin_edges, middles, side="right") - 1, 0, n - 1)
    theirs = np.searchsorted(other.bin_edges, middles, side="right") - 1
    theirs = np.clip(theirs, 0, other.n_value_bins - 1)
    share = np.diff(edges) / np.diff(shape.bin_edges)[mine]
    return (
        np.concatenate([shape.contribution[mine], shape.contribution[n:]]),
        np.concatenate([other.contribution[theirs], other.contribution[other.n_value_bins :]]),
        np.concatenate([shape.weights[mine] * share, shape.weights[n:]]),
    )


def _top(importances: FloatArray, k: int) -> set[int]:
    return set(np.argsort(-importances, kind="stable")[:k].tolist())


def _rank_interval(explanation: GlobalExplanation, theirs: FloatArray) -> tuple[float, float]:
    """Return the central 95% interval of Kendall's tau in simulations of the noise."""
    noise = explanation.noise
    if noise is None:
        return float("nan"), float("nan")
    errors = noise.draws(_DRAWS)
    shown = np.stack(
        [
            np.abs(t.kept_share * t.contribution + errors[:, noise.term(k)]) @ t.weights
            for k, t in enumerate(explanation.terms)
        ],
        axis=1,
    )
    taus = [kendall(row, theirs) for row in shown]
    low, high = np.nanquantile(taus, [0.025, 0.975]) if np.isfinite(taus).any() else (np.nan,) * 2
    return float(low), float(high)
