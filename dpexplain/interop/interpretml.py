"""Convert explanations to fitted InterpretML models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from dpexplain._utils.extras import needed
from dpexplain.explain import GlobalExplanation, MulticlassExplanation, ShapeFunction
from dpexplain.explain._record import FloatArray
from dpexplain.explain.additive._binned import Binned
from dpexplain.interop._classes import explained_classes, warn_of_lost_label

_LINKS = {"logit": "logit", "identity": "identity", "log": "log", "softmax": "mlogit"}
_OBJECTIVES = {
    "logit": "log_loss",
    "softmax": "log_loss",
    "identity": "rmse",
    "log": "poisson_deviance",
}


def to_interpret(explanation: GlobalExplanation | MulticlassExplanation) -> Any:
    """Convert an explanation to an InterpretML model with the same scores.

    The methods of the model (``predict``, ``explain_global``, ``to_json``) work as if it had been
    fitted, and InterpretML can read the file written by ``to_json``. The guarantee, noise bands,
    descriptions and units are omitted, because InterpretML cannot store them. InterpretML does not
    support dates, so pass days since 1970-01-01 to the model instead.

    Parameters
    ----------
    explanation : GlobalExplanation or MulticlassExplanation
        Explanation of a boosting model, private or not.

    Returns
    -------
    ExplainableBoostingClassifier or ExplainableBoostingRegressor
        A fitted model of ``interpret.glassbox``.

    Raises
    ------
    ImportError
        If InterpretML is not installed.
    TypeError
        If `explanation` is of any other type.
    ValueError
        If pairs that share a feature have different bins, or the explanation contains only main
        effects.

    Warns
    -----
    PrivacyWarning
        If the model is not private; InterpretML cannot record this.

    Notes
    -----
    If there are no pairs, and cells are numbers (for numeric terms) or strings (for categorical
    terms), the scores are exactly equal to those of this library, and the probabilities agree to
    about twelve digits. A cell of a numeric term that is not a number is "unseen" in InterpretML
    and "missing" in this library; in both cases, it has the contribution of "missing".

    InterpretML's methods for fitted models (``scale``, ``remove_terms``, ``monotonize``, ``copy``,
    ``merge_ebms``, ``show``) work too. The model has a single bag, so ``predict_with_uncertainty``
    returns an uncertainty of 0, regardless of the privacy noise. For the uncertainty, see
    ``explain_local(X).score_std`` of the original model.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(epsilon=1, schema=stays.schema)
    >>> model = model.fit(stays.X, stays.y)
    >>> explanation = model.explain_global()
    >>> from dpexplain.interop import to_interpret
    >>> ebm = to_interpret(explanation)
    >>> ebm.predict(stays.X[:2]).shape
    (2,)
    """
    parts = explained_classes(explanation)
    first = parts[0]
    estimator = _estimator(first)
    _fill(estimator, parts)
    warn_of_lost_label(explanation, "a model of InterpretML")
    return estimator


def _estimator(first: GlobalExplanation) -> Any:
    try:
        from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor
    except ImportError:
        raise ImportError(needed("to_interpret", "InterpretML", "interop")) from None
    kind = ExplainableBoostingRegressor if first.classes is None else ExplainableBoostingClassifier
    pairs = len(first.pairs)
    return kind(interactions=pairs, objective=_OBJECTIVES[first.link])


def _fill(estimator: Any, parts: tuple[GlobalExplanation, ...]) -> None:
    """Set the attributes that InterpretML sets during a fit."""
    first = parts[0]
    features = _features(first)
    names = list(features)
    tables = [*_tables_of_terms(parts), *_tables_of_pairs(parts)]
    term_scores = [table.scores for table in tables]
    intercept = np.array([part.intercept for part in parts])
    fitted: dict[str, Any] = {
        "feature_names_in_": names,
        "feature_types_in_": [_feature_type(bins[0]) for bins in features.values()],
        "n_features_in_": len(names),
        "term_features_": [tuple(map(names.index, table.features)) for table in tables],
        "term_names_": [table.name for table in tables],
        "bins_": [[_bins(each) for each in bins] for bins in features.values()],
        "bin_weights_": [table.weights for table in tables],
        "term_scores_": term_scores,
        "standard_deviations_": [table.deviations for table in tables],
        # Pass copies, because InterpretML scales and edits both in place.
        "bagged_scores_": [scores[np.newaxis].copy() for scores in term_scores],
        "intercept_": intercept,
        "bagged_intercept_": (intercept[np.newaxis] if len(parts) > 1 else intercept).copy(),
        "bag_weights_": np.array([float(tables[0].weights.sum())]),
        "best_iteration_": np.zeros((1, 1), dtype=np.int64),
        "feature_bounds_": np.array([_bounds(bins[0]) for bins in features.values()]),
        "histogram_edges_": [_even_edges(bins[0]) for bins in features.values()],
        "histogram_weights_": [_spread_evenly(bins[0]) for bins in features.values()],
        "unique_val_counts_": np.array([b[0].n_value_bins for b in features.values()], np.int64),
        "link_": _LINKS[first.link],
        "link_param_": np.nan,
        "has_fitted_": True,
    }
    if first.classes is not None:
        fitted["classes_"] = np.array(first.classes)
    else:
        fitted["min_target_"], fitted["max_target_"] = _reach(first)
    vars(estimator).update(fitted)


def _even_edges(bins: Binned) -> FloatArray | None:
    """Return equal-width histogram edges for InterpretML, or None for categories."""
    if bins.bin_edges is None:
        return None
    return np.linspace(bins.bin_edges[0], bins.bin_edges[-1], bins.n_value_bins + 1)


def _spread_evenly(bins: Binned) -> FloatArray | None:
    """Return the counts of the equal-width bins defined by `_even_edges`.

    Records are assumed to be spread evenly inside each bin of the term. The counts are in
    InterpretML's order, with "missing" first and "unseen" last. They are 0 for a feature that
    occurs only in pairs. The result is None for a categorical feature.
    """
    even = _even_edges(bins)
    if even is None:
        return None
    if not isinstance(bins, ShapeFunction):
        return np.zeros(bins.n_value_bins + 2)
    count = np.maximum(bins.count, 0.0)
    below = np.concatenate([[0.0], np.cumsum(count[: bins.n_value_bins])])
    inner = np.diff(np.interp(even, np.asarray(bins.bin_edges), below))
    missing = count[bins.n_value_bins :]
    return np.concatenate([missing if len(missing) else [0.0], inner, [0.0]])


def _reach(first: GlobalExplanation) -> tuple[float, float]:
    """Return the lowest and highest possible predictions."""
    tables = [term.contribution for term in first.terms]
    tables += [pair.contribution for pair in first.pairs]
    low = first.intercept + sum(float(table.min()) for table in tables)
    high = first.intercept + sum(float(table.max()) for table in tables)
    return (float(np.exp(low)), float(np.exp(high))) if first.link == "log" else (low, high)


class _Table(NamedTuple):
    """One term in InterpretML's layout, with "missing" first and "unseen" last."""

    name: str
    features: tuple[str, ...]
    scores: FloatArray
    weights: FloatArray
    deviations: FloatArray


def _tables_of_terms(parts: tuple[GlobalExplanation, ...]) -> Iterator[_Table]:
    for place, term in enumerate(parts[0].terms):
        same = [part.terms[place] for part in parts]
        yield _Table(
            term.name,
            (term.name,),
            _reordered(_by_class([each.contribution for each in same]), (term,)),
            _counts(term.count, (term,)),
            _reordered(_by_class([_deviation(each) for each in same]), (term,)),
        )


def _tables_of_pairs(parts: tuple[GlobalExplanation, ...]) -> Iterator[_Table]:
    for place, pair in enumerate(parts[0].pairs):
        scores = _by_class([part.pairs[place].contribution for part in parts])
        yield _Table(
            pair.name,
            pair.feature_names,
            _reordered(scores, pair.axes),
            _counts(pair.count, pair.axes),
            _reordered(np.zeros_like(scores), pair.axes),
        )


def _features(explanation: GlobalExplanation) -> dict[str, list[Binned]]:
    """Return the bins of each feature, for its main effect and for pairs."""
    features: dict[str, list[Binned]] = {term.name: [term] for term in explanation.terms}
    for axis in (axis for pair in explanation.pairs for axis in pair.axes):
        known = features.setdefault(axis.name, [])
        if all(_key(axis) != _key(bins) for bins in known):
            known.append(axis)
    for name, known in features.items():
        if len(known) > (2 if name in explanation else 1):
            raise ValueError(
                f"the pairs of {name!r} have different bins, and InterpretML keeps one set of "
                "bins per feature for all pairs."
            )
    return features


def _key(bins: Binned) -> object:
    return bins.categories if bins.bin_edges is None else tuple(bins.bin_edges[1:-1])


def _by_class(tables: list[FloatArray]) -> FloatArray:
    return tables[0] if len(tables) == 1 else np.stack(tables, axis=-1)


def _deviation(term: ShapeFunction) -> FloatArray:
    """Return the standard deviations for InterpretML's shaded band.

    The band shows the total uncertainty; if it is unknown, the privacy noise; and if the privacy
    noise is also unknown, the standard deviation between bags. If none of the three is known, the
    standard deviations are 0.
    """
    for values in (term.total_std, term.noise_std, term.bag_std):
        if values is not None:
            return values
    return np.zeros(term.n_bins)


def _counts(count: FloatArray, axes: Sequence[Binned]) -> FloatArray:
    """Return counts in InterpretML's order; negative and absent counts become 0."""
    return _reordered(np.maximum(count, 0.0), axes, shared=False)


def _reordered(values: FloatArray, axes: Sequence[Binned], *, shared: bool = True) -> FloatArray:
    """Move "missing" to the first and "unseen" to the last position along each axis.

    If there is no bin for "unseen", its position is filled with the value of "missing" if `shared`
    is true, and with 0 otherwise.
    """
    for place, bins in enumerate(axes):
        turned = np.moveaxis(values, place, 0)
        inner = turned[: bins.n_value_bins]
        missing = _special(turned, bins, "missing", np.zeros_like(turned[:1]))
        unseen = _special(turned, bins, "other", missing if shared else np.zeros_like(missing))
        values = np.moveaxis(np.concatenate([missing, inner, unseen]), 0, place)
    return values


def _special(values: FloatArray, bins: Binned, name: str, otherwise: FloatArray) -> FloatArray:
    if name not in bins.special:
        return otherwise
    place = bins.n_value_bins + bins.special.index(name)
    return values[place : place + 1]


def _bins(bins: Binned) -> Any:
    if bins.bin_edges is not None:
        return np.array(bins.bin_edges[1:-1])
    return {name: index + 1 for index, name in enumerate(bins.categories or ())}


def _feature_type(bins: Binned) -> str:
    if bins.kind == "numeric":
        return "continuous"
    return "ordinal" if bins.ordered else "nominal"


def _bounds(bins: Binned) -> tuple[float, float]:
    if bins.bin_edges is None:
        return np.nan, np.nan
    return float(bins.bin_edges[0]), float(bins.bin_edges[-1])
