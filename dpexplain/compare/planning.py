"""Estimate from existing fits how large the epsilon of a new fit must be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from dpexplain._utils.validation import check_in_range
from dpexplain.accounting.gdp import epsilon_from_mu, mu_from_epsilon
from dpexplain.compare.comparison import Comparison
from dpexplain.explain import GlobalExplanation, Guarantee, ShapeFunction
from dpexplain.explain._by_class import check_one_class
from dpexplain.explain._record import FloatArray
from dpexplain.explain._text import number_above, shorten

_LARGEST = 50.0


def epsilon_to_stand_out(source: GlobalExplanation | Comparison, term: str) -> float:
    """Find the epsilon that a term needs to rise above the noise.

    At each epsilon of the source, a term counts as above the noise if it rises above the noise in
    at least half of the repeats. If this holds at the largest epsilon, the result is measured: it
    is the smallest epsilon of the source at and above which the term always counts as above the
    noise. The result says nothing about epsilons smaller than those of the source.

    Otherwise, the result is extrapolated from the fits at the largest epsilon, and is a lower
    bound: the term would not rise above the noise at a smaller epsilon, and may need a larger one.
    Privacy noise is assumed to be inversely proportional to the Gaussian-DP parameter, and
    everything else to be constant. The curve without noise is assumed to be the estimated effect in
    the population, because curves approach this effect as epsilon increases. If no effect estimate
    is available, the released curve is used, shrunk to correct for its noise. The extrapolation is
    post-processing of released numbers, but a fit at the resulting epsilon must still be charged.

    Parameters
    ----------
    source : GlobalExplanation or Comparison
        A private explanation with known joint noise.
    term : str
        Name of the term.

    Returns
    -------
    float
        Epsilon at the delta of the explanation. It is infinite if no epsilon up to 50 is enough,
        even for the largest effect inside the band. It is NaN if the answer is uncertain: some
        effects inside the band would rise above the noise but the estimate would not, or the
        extrapolation contradicts the measurements. :func:`stand_out_words` describes the result in
        words.

    Raises
    ------
    KeyError
        If the term does not exist.
    ValueError
        If the explanation is not private, or its noise is unknown.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(epsilon=1, schema=stays.schema)
    >>> model = model.fit(stays.X, stays.y)
    >>> explanation = model.explain_global()
    >>> from dpexplain.compare import epsilon_to_stand_out
    >>> needed = epsilon_to_stand_out(explanation, "age")    # NaN if this cannot be determined
    >>> needed != needed or needed > 0
    True
    """
    _one_fit(source)[term]  # raises KeyError for an unknown name before any other error
    return _needed_by_term(source, (term,))[term]


def epsilons_to_stand_out(source: GlobalExplanation | Comparison) -> dict[str, float]:
    """Compute :func:`epsilon_to_stand_out` for every term.

    Parameters
    ----------
    source : GlobalExplanation or Comparison
        A private explanation with known joint noise.

    Returns
    -------
    dict of str to float
        Epsilon of each term, in the order of the terms. It is infinite if no epsilon up to 50 is
        enough, and NaN if it cannot be determined.

    Raises
    ------
    ValueError
        If the explanation is not private, or its noise is unknown.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(epsilon=1, schema=stays.schema)
    >>> model = model.fit(stays.X, stays.y)
    >>> explanation = model.explain_global()
    >>> from dpexplain.compare import epsilons_to_stand_out
    >>> list(epsilons_to_stand_out(explanation)) == list(explanation)
    True
    """
    return _needed_by_term(source, tuple(_one_fit(source)))


def stand_out_words(source: GlobalExplanation | Comparison, term: str) -> str:
    """Describe the result of :func:`epsilon_to_stand_out` in words.

    Parameters
    ----------
    source : GlobalExplanation or Comparison
        A private explanation with known joint noise.
    term : str
        Name of the term.

    Returns
    -------
    str
        A sentence. If no epsilon is enough, it gives the largest epsilon considered.

    Raises
    ------
    KeyError, ValueError
        As in :func:`epsilon_to_stand_out`.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(epsilon=1, schema=stays.schema)
    >>> model = model.fit(stays.X, stays.y)
    >>> explanation = model.explain_global()
    >>> from dpexplain.compare import stand_out_words
    >>> sentence = stand_out_words(explanation, "age")
    >>> "age" in sentence
    True
    """
    epsilon, name = epsilon_to_stand_out(source, term), shorten(term)
    measured = list(_fits_by_epsilon(source))
    if math.isnan(epsilon):
        return (
            f"The epsilon at which {name!r} would rise above the noise cannot be determined: too "
            "little is known about its effect."
        )
    if math.isinf(epsilon):
        return (
            f"{name!r} would not rise above the noise at any epsilon up to {_LARGEST:g}: it may "
            "be all noise, or smaller than the sampling error."
        )
    if epsilon == measured[0]:
        return (
            f"{name!r} rises above the noise at epsilon {epsilon:g}, the smallest that was fitted."
        )
    if epsilon in measured:
        return f"{name!r} rises above the noise from epsilon {epsilon:g} on, as measured."
    delta = _one_fit(source).guarantee.delta
    return (
        f"{name!r} would not rise above the noise below epsilon "
        f"{number_above(epsilon, measured[-1])} (delta {delta:g}), and may need more."
    )


def _one_fit(source: GlobalExplanation | Comparison) -> GlobalExplanation:
    check_one_class(source, "planning")
    return next(source.fits())[2] if isinstance(source, Comparison) else source


def _fits_by_epsilon(
    source: GlobalExplanation | Comparison,
) -> Mapping[float, Sequence[GlobalExplanation]]:
    """Return the repeats at each epsilon, in ascending order of epsilon."""
    if isinstance(source, Comparison):
        return source.explanations
    _overall_factor(source)  # raises ValueError if the fit cannot be used for planning
    return {source.guarantee.epsilon: (source,)}


def _needed_by_term(
    source: GlobalExplanation | Comparison, terms: Sequence[str]
) -> dict[str, float]:
    fits = _fits_by_epsilon(source)
    rising = [_share_above_noise(repeats) for repeats in fits.values()]
    return {term: _read(fits, term, [each[term] for each in rising]) for term in terms}


def _share_above_noise(repeats: Sequence[GlobalExplanation]) -> dict[str, float]:
    """Return the proportion of repeats in which each term rises above the noise."""
    for fit in repeats:
        _overall_factor(fit)  # raises ValueError if the fit cannot be used for planning
    return {
        term: float(np.mean([term in (fit.terms_above_noise or ()) for fit in repeats]))
        for term in repeats[0]
    }


def _read(
    fits: Mapping[float, Sequence[GlobalExplanation]], term: str, shares: Sequence[float]
) -> float:
    """Return the smallest fitted epsilon at and above which a term exceeds the noise.

    If the term does not rise above the noise at the largest fitted epsilon, the result is
    extrapolated, or NaN if the extrapolation is impossible or contradicts the measurements.
    """
    epsilons = list(fits)
    below = [i for i, share in enumerate(shares) if share < 0.5]
    first = below[-1] + 1 if below else 0
    if first < len(epsilons):
        return epsilons[first]
    beyond = _extrapolated(fits[epsilons[-1]], term)
    return beyond if beyond > epsilons[-1] else math.nan


def _extrapolated(repeats: Sequence[GlobalExplanation], term: str) -> float:
    """Return the median epsilon at which a term would rise above the noise.

    One epsilon is extrapolated from each repeat. The result is NaN if at least half of these
    epsilons are NaN.
    """
    found = np.array([_needed(fit, term, _overall_factor(fit)) for fit in repeats])
    told = np.sort(found[~np.isnan(found)])
    return math.nan if 2 * told.size <= found.size else float(told[(told.size - 1) // 2])


def _overall_factor(explanation: GlobalExplanation) -> float:
    guarantee, noise = explanation.guarantee, explanation.noise
    known = all(shape.noise_std is not None for shape in explanation.terms)
    if not guarantee.private or guarantee.mu is None or noise is None or not known:
        raise ValueError(
            "planning needs a private explanation whose noise is known; explain_global() of a "
            "private boosting model gives one."
        )
    return noise.overall_factor()


def _needed(explanation: GlobalExplanation, term: str, factor: float) -> float:
    shape = explanation[term]
    if shape.effect is None or shape.effect_std is None or shape.effect_factor is None:
        curve = shape.kept_share * np.abs(shape.contribution)
        return _needed_for(curve, shape, explanation.guarantee, factor)
    curve = np.abs(shape.effect)
    needed = _needed_for(curve, shape, explanation.guarantee, factor)
    if math.isfinite(needed):
        return needed
    largest = curve + shape.effect_factor * shape.effect_std
    enough = math.isfinite(_needed_for(largest, shape, explanation.guarantee, factor))
    return math.nan if enough else math.inf


def _needed_for(
    curve: FloatArray, shape: ShapeFunction, guarantee: Guarantee, factor: float
) -> float:
    """Return the smallest epsilon at which a curve would rise above the noise."""
    privacy, mu_now, delta = shape.noise_std, guarantee.mu, guarantee.delta
    assert privacy is not None
    assert mu_now is not None
    rest = [p for p in (shape.structure_std, shape.sampling_std) if p is not None]
    left: FloatArray = np.sum(np.square(rest), axis=0) if rest else np.zeros(shape.n_bins)
    # A bin stands out once the privacy noise is smaller than the margin left by the other noise.
    needed = np.divide(curve, factor, out=np.where(curve > 0, np.inf, 0.0), where=factor > 0)
    room = np.square(needed) - left
    seen, noise = np.sqrt(room[room > 0]), privacy[room > 0]
    shares = np.divide(seen, noise, out=np.full(seen.shape, np.inf), where=noise > 0)
    if not shares.size:
        return math.inf
    if math.isinf(shares.max()):
        return 0.0  # a bin without noise rises above it at any epsilon
    mu = mu_now / float(shares.max())
    if mu >= mu_from_epsilon(_LARGEST, delta):
        return math.inf
    return epsilon_from_mu(mu, delta)


def epsilon_for_metric(
    comparison: Comparison, target: float, *, certainty: float = 0.9, metric: str | None = None
) -> float:
    """Estimate the smallest epsilon at which a metric reaches a target.

    The comparison must use public or simulated data that stand in for the private data. It needs
    metrics on held-out records, and preferably several repeats to show the spread between fits.
    The metrics at each epsilon are assumed to be normal with a common standard deviation. Their
    means are assumed to be monotone in epsilon, and linear in its logarithm between adjacent
    epsilons.

    Parameters
    ----------
    comparison : Comparison
        A comparison with metrics; its guarantees are not used.
    target : float
        Target value: a minimum for an AUROC, a maximum for an error.
    certainty : float, default=0.9
        Proportion of fits that must reach the target, in [0.5, 1).
    metric : str or None, default=None
        Name of the metric; None if the comparison has only one.

    Returns
    -------
    float
        Epsilon between the smallest and the largest epsilon of the comparison; infinity if the
        largest one is not enough.

    Raises
    ------
    ValueError
        If there are no metrics, there are several and `metric` is not given, or a number is out of
        range.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier, sweep
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(schema=stays.schema)
    >>> comparison = sweep(
    ...     model, stays.X[:400], stays.y[:400], epsilons=(0.5, 4), progress=False,
    ...     evaluate=(stays.X[400:], stays.y[400:]),
    ... )
    >>> from dpexplain.compare import epsilon_for_metric
    >>> epsilon_for_metric(comparison, target=0.999)
    inf
    """
    from scipy.special import ndtri

    certainty = check_in_range("certainty", certainty, 0.5, 1.0, include_high=False)
    epsilons, values = _metric_values(comparison, metric)
    name = metric or str(comparison.metrics["metric"].iloc[0])  # type: ignore[index]
    sign = 1.0 if "AUROC" in name else -1.0
    means = np.array([sign * group.mean() for group in values])
    left = sum(group.size - 1 for group in values)
    spread = sum(float(((group - group.mean()) ** 2).sum()) for group in values)
    std = math.sqrt(spread / left) if left else 0.0
    reached = np.maximum.accumulate(means) - float(ndtri(certainty)) * std - sign * target
    if reached[-1] < 0:
        return math.inf
    first = int(np.argmax(reached >= 0))
    logs = np.log(epsilons)
    if first == 0:
        return epsilons[0]
    step = -reached[first - 1] / (reached[first] - reached[first - 1])
    return float(np.exp(logs[first - 1] + step * (logs[first] - logs[first - 1])))


def _metric_values(
    comparison: Comparison, metric: str | None
) -> tuple[list[float], list[FloatArray]]:
    """Return the measured epsilons and their metric values."""
    table = comparison.metrics
    if table is None:
        raise ValueError("the comparison has no metrics; pass evaluate=(X, y) to sweep.")
    names = list(table["metric"].unique())
    if metric is None and len(names) > 1:
        raise ValueError(f"the comparison has the metrics {names}; name one.")
    chosen = table[table["metric"] == (metric or names[0])]
    measured = [e for e in comparison.epsilons if (chosen["epsilon"] == e).any()]
    groups = [
        chosen.loc[chosen["epsilon"] == epsilon, "value"].to_numpy(dtype=np.float64)
        for epsilon in measured
    ]
    if not groups or not all(np.isfinite(group).all() for group in groups):
        raise ValueError(f"the comparison has no finite {(metric or names[0])!r:.40} to plan with.")
    return measured, groups
