"""Make a fitted model of InterpretML from an explanation."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpexplain.explain import GlobalExplanation, MulticlassExplanation, ShapeFunction
from dpexplain.explain._record import FloatArray
from dpexplain.interop._classes import explained_classes

_LINKS = {"logit": "logit", "identity": "identity", "log": "log", "softmax": "mlogit"}
_OBJECTIVES = {
    "logit": "log_loss",
    "softmax": "log_loss",
    "identity": "rmse",
    "log": "poisson_deviance",
}


def to_interpret(explanation: GlobalExplanation | MulticlassExplanation) -> Any:
    """Make the model of InterpretML that gives the same scores.

    Its methods (``predict``, ``explain_global``, ``to_json``) work as after a fit. What InterpretML
    has no place for is left out: the guarantee, noise bands, descriptions and units.

    Parameters
    ----------
    explanation : GlobalExplanation or MulticlassExplanation
        Of a boosting model, private or not.

    Returns
    -------
    ExplainableBoostingClassifier or ExplainableBoostingRegressor
        Of ``interpret.glassbox``, fitted.

    Raises
    ------
    ImportError
        If InterpretML is not installed.
    TypeError
        If `explanation` is of another kind.

    Notes
    -----
    Scores are equal to the last bit for cells that are numbers (numeric terms) or texts
    (categorical ones). InterpretML clips nothing: a regressor's ``predict`` here keeps to the
    public range and there does not. A cell that is no number is "unseen" there and "missing" here;
    both get the score of "missing".

    Examples
    --------
    >>> to_interpret(model.explain_global()).to_json("model.json")  # doctest: +SKIP
    """
    parts = explained_classes(explanation)
    first = parts[0]
    estimator = _estimator(first)
    scores = [_by_class([part.terms[t].contribution for part in parts]) for t in range(len(first))]
    _fill(estimator, parts, [_reordered(s, t) for s, t in zip(scores, first.terms, strict=True)])
    return estimator


def _estimator(first: GlobalExplanation) -> Any:
    try:
        from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor
    except ImportError:
        raise ImportError(
            "to_interpret needs InterpretML; install dpexplain with the extra [interop]."
        ) from None
    kind = ExplainableBoostingRegressor if first.classes is None else ExplainableBoostingClassifier
    return kind(interactions=0, objective=_OBJECTIVES[first.link])


def _fill(
    estimator: Any, parts: tuple[GlobalExplanation, ...], term_scores: list[FloatArray]
) -> None:
    """Set what a fit would have left behind."""
    first = parts[0]
    terms = first.terms
    deviations = [_by_class([_deviation(p.terms[t]) for p in parts]) for t in range(len(terms))]
    intercept = np.array([part.intercept for part in parts])
    weights = [_reordered(np.maximum(term.count, 0.0), term) for term in terms]
    fitted: dict[str, Any] = {
        "feature_names_in_": [term.name for term in terms],
        "feature_types_in_": [_feature_type(term) for term in terms],
        "n_features_in_": len(terms),
        "term_features_": [(index,) for index in range(len(terms))],
        "term_names_": [term.name for term in terms],
        "bins_": [[_bins(term)] for term in terms],
        "bin_weights_": weights,
        "term_scores_": term_scores,
        "standard_deviations_": [_reordered(d, t) for d, t in zip(deviations, terms, strict=True)],
        "bagged_scores_": [scores[np.newaxis] for scores in term_scores],
        "intercept_": intercept,
        "bagged_intercept_": intercept[np.newaxis] if len(parts) > 1 else intercept,
        "bag_weights_": np.array([float(weights[0].sum())]),
        "best_iteration_": np.zeros((1, 1), dtype=np.int64),
        "feature_bounds_": np.array([_bounds(term) for term in terms]),
        "histogram_edges_": [None] * len(terms),
        "histogram_weights_": [None] * len(terms),
        "unique_val_counts_": np.array([term.n_value_bins for term in terms], dtype=np.int64),
        "link_": _LINKS[first.link],
        "link_param_": np.nan,
        "has_fitted_": True,
    }
    if first.classes is not None:
        fitted["classes_"] = np.array(first.classes)
    else:
        fitted["min_target_"], fitted["max_target_"] = np.nan, np.nan
    vars(estimator).update(fitted)


def _by_class(columns: list[FloatArray]) -> FloatArray:
    return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)


def _deviation(term: ShapeFunction) -> FloatArray:
    """Return what InterpretML draws as a shade: all noise, or the scatter between bags."""
    for values in (term.total_std, term.noise_std, term.bag_std):
        if values is not None:
            return values
    return np.zeros(term.n_bins)


def _reordered(values: FloatArray, term: ShapeFunction) -> FloatArray:
    """Put "missing" first and "unseen" last, as InterpretML keeps them."""
    inner = values[: term.n_value_bins]
    zero = np.zeros_like(values[:1])

    def special(name: str, otherwise: FloatArray) -> FloatArray:
        if name not in term.special:
            return otherwise
        place = term.n_value_bins + term.special.index(name)
        return values[place : place + 1]

    missing = special("missing", zero)
    return np.concatenate([missing, inner, special("other", missing)])


def _bins(term: ShapeFunction) -> Any:
    if term.bin_edges is not None:
        return np.array(term.bin_edges[1:-1])
    return {name: index + 1 for index, name in enumerate(term.categories or ())}


def _feature_type(term: ShapeFunction) -> str:
    if term.kind == "numeric":
        return "continuous"
    return "ordinal" if term.ordered else "nominal"


def _bounds(term: ShapeFunction) -> tuple[float, float]:
    if term.bin_edges is None:
        return np.nan, np.nan
    return float(term.bin_edges[0]), float(term.bin_edges[-1])
