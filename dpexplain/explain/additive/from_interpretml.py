"""Convert fitted InterpretML models to explanations."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dpexplain.explain._record import FloatArray
from dpexplain.explain._text import listing, short_number
from dpexplain.explain.additive.global_explanation import GlobalExplanation
from dpexplain.explain.additive.links import Link
from dpexplain.explain.additive.multiclass import MulticlassExplanation
from dpexplain.explain.additive.pair_curve import PairAxis, PairCurve
from dpexplain.explain.additive.shape_function import ShapeFunction
from dpexplain.explain.guarantee import Guarantee

_LINKS: dict[str, Link] = {"logit": "logit", "identity": "identity", "log": "log"}


def from_interpret(
    model: Any, *, target_name: str = "target", target_unit: str = ""
) -> GlobalExplanation | MulticlassExplanation:
    """Convert a fitted InterpretML model to an explanation.

    The result works with all views, figures and files, and with all operations of
    :mod:`dpexplain.edit`. Nothing is fitted, and no data are needed.

    Parameters
    ----------
    model : ExplainableBoostingClassifier, ExplainableBoostingRegressor or a private variant
        A fitted model of ``interpret.glassbox`` or ``interpret.privacy``.
    target_name : str, default="target"
        Name of the target, which the model does not store.
    target_unit : str, default=""
        Unit of the target, for regression.

    Returns
    -------
    GlobalExplanation or MulticlassExplanation
        The explanation, in which terms with two features become `pairs`. It is marked as not
        private, even if the model claims otherwise: this library did not draw the noise, and
        `docs/attacks.md` shows that the epsilon stated by private models of interpret-core 0.7 does
        not hold. The notes of the guarantee still report this epsilon. For categorical features,
        the bin for unseen values becomes the bin "other". For numeric features, the bin for unseen
        values is omitted; InterpretML uses it only for cells that are not numbers.

    Raises
    ------
    TypeError
        If the model is of any other type.
    ValueError
        If the model is not fitted, or has non-finite scores, an unsupported link, or no
        single-feature term.

    Warns
    -----
    UserWarning
        If the model has terms with three or more features. They are omitted, so the scores of the
        explanation differ from the scores of the model.

    Examples
    --------
    >>> from_interpret(ebm, target_name="income")["age"].plot()  # doctest: +SKIP
    """
    _check_model(model)
    _check_scores(model)
    guarantee = _guarantee(model)
    classes = tuple(str(name) for name in getattr(model, "classes_", ())) or None
    intercept = np.atleast_1d(np.asarray(model.intercept_, dtype=np.float64))
    shared: dict[str, Any] = {
        "guarantee": guarantee,
        "target_name": target_name,
        "target_unit": target_unit,
        "classes": classes,
        "model_name": f"{type(model).__name__} (InterpretML)",
    }
    singles, doubles = _terms_by_size(model)
    if len(intercept) == 1:
        terms = tuple(_shape_function(model, term, guarantee) for term in singles)
        pairs = tuple(_pair_curve(model, term, guarantee) for term in doubles)
        return GlobalExplanation(terms, float(intercept[0]), _link(model), pairs=pairs, **shared)
    # Adding the same number to all scores changes no probability; explanations center them.
    centered = intercept - intercept.mean()
    return MulticlassExplanation(
        tuple(
            GlobalExplanation(
                tuple(_shape_function(model, term, guarantee, of_class=k) for term in singles),
                float(centered[k]),
                "softmax",
                pairs=tuple(_pair_curve(model, term, guarantee, of_class=k) for term in doubles),
                of_class=name,
                **shared,
            )
            for k, name in enumerate(classes or ())
        )
    )


def _check_model(model: Any) -> None:
    needed = ("term_features", "explain_global")
    kind = type(model)
    if not kind.__module__.startswith("interpret.") or not hasattr(model, needed[1]):
        raise TypeError(
            f"model is a {kind.__name__}; expected a fitted ExplainableBoostingClassifier or "
            "ExplainableBoostingRegressor of InterpretML, or a private one."
        )
    missing = [n for n in ("term_scores_", "bins_", "term_features_") if not hasattr(model, n)]
    if missing:
        raise ValueError(f"model is a {kind.__name__} that is not fitted; call its fit first.")


def _check_scores(model: Any) -> None:
    if not all(np.isfinite(scores).all() for scores in (model.intercept_, *model.term_scores_)):
        raise ValueError(
            f"model is a {type(model).__name__} with scores that are not finite, as of a fit on "
            "records of a single class; fit it on records of each class."
        )


def _link(model: Any) -> Link:
    link = str(model.link_)
    if link not in _LINKS:
        raise ValueError(f"link_={link!r} is not known here; expected {listing(tuple(_LINKS))}.")
    return _LINKS[link]


def _guarantee(model: Any) -> Guarantee:
    stated = getattr(model, "noise_scale_boosting_", None)
    if stated is None:
        return Guarantee.not_private("fitted without noise by InterpretML")
    return Guarantee.not_private(
        f"InterpretML states epsilon = {short_number(float(model.epsilon))} and delta = "
        f"{float(model.delta):g} for this model; this library did not draw its noise and cannot "
        "verify it",
        delta=float(model.delta),
    )


def _terms_by_size(model: Any) -> tuple[list[int], list[int]]:
    """Return the indices of single-feature terms and of pairs."""
    places: dict[int, list[int]] = {1: [], 2: []}
    left_out = []
    for place, features in enumerate(model.term_features_):
        if len(features) in places:
            places[len(features)].append(place)
        else:
            left_out.append(str(model.term_names_[place]))
    if left_out:
        warnings.warn(
            f"{len(left_out)} terms of three or more features are left out ({listing(left_out)}): "
            "scores of the explanation are not those of the model. Fit without terms of three or "
            "more features to explain the whole model.",
            UserWarning,
            stacklevel=3,
        )
    if not places[1]:
        raise ValueError("the model has no term of a single feature, so nothing can be shown.")
    return places[1], places[2]


def _shape_function(
    model: Any, term: int, guarantee: Guarantee, of_class: int | None = None
) -> ShapeFunction:
    feature = model.term_features_[term][0]
    bins = _bins(model, feature, 1)
    special = bins["special"]
    deviations = getattr(model, "standard_deviations_", None)
    return ShapeFunction(
        name=str(model.term_names_[term]),
        contribution=_reordered(
            _of_class(model.term_scores_[term], of_class, center=True), special
        ),
        count=_reordered(np.asarray(model.bin_weights_[term], dtype=np.float64), special),
        guarantee=guarantee,
        bag_std=None
        if deviations is None
        else _reordered(_of_class(deviations[term], of_class, center=False), special),
        **bins,
    )


def _pair_curve(
    model: Any, term: int, guarantee: Guarantee, of_class: int | None = None
) -> PairCurve:
    axes = tuple(
        PairAxis(str(model.feature_names_in_[feature]), **_bins(model, feature, 2))
        for feature in model.term_features_[term]
    )

    def ordered(values: FloatArray) -> FloatArray:
        for place, axis in enumerate(axes):
            turned = np.moveaxis(values, place, 0)
            values = np.moveaxis(_reordered(turned, axis.special), 0, place)
        return values

    return PairCurve(
        str(model.term_names_[term]),
        (axes[0], axes[1]),
        ordered(_of_class(model.term_scores_[term], of_class, center=True)),
        ordered(np.asarray(model.bin_weights_[term], dtype=np.float64)),
        guarantee=guarantee,
    )


def _bins(model: Any, feature: int, n_features: int) -> dict[str, Any]:
    """Return the bins of a feature for terms with `n_features` features."""
    resolutions = model.bins_[feature]
    bins = resolutions[min(n_features, len(resolutions)) - 1]
    if isinstance(bins, dict):
        ordered = _is_ordered(model, feature)
        parts: dict[str, Any] = {"categories": _categories(bins), "ordered": ordered}
        return {"kind": "categorical", "special": ("other", "missing"), **parts}
    return {"kind": "numeric", "special": ("missing",), "bin_edges": _edges(model, feature, bins)}


def _of_class(values: npt.ArrayLike, of_class: int | None, *, center: bool) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if of_class is None:
        return array
    return array[..., of_class] - (array.mean(axis=-1) if center else 0.0)


def _reordered(values: FloatArray, special: Sequence[str]) -> FloatArray:
    """Put InterpretML's bins for missing and unseen values last."""
    missing, inner, unseen = values[:1], values[1:-1], values[-1:]
    return np.concatenate([inner, *([unseen] if "other" in special else []), missing])


def _categories(bins: dict[str, int]) -> tuple[str, ...]:
    """Return the names of the bins; several categories may share a bin."""
    names: dict[int, list[str]] = {}
    for name, index in bins.items():
        names.setdefault(int(index), []).append(str(name))
    return tuple(" / ".join(names[index]) for index in sorted(names))


def _is_ordered(model: Any, feature: int) -> bool:
    return bool(str(model.feature_types_in_[feature]) == "ordinal")


def _edges(model: Any, feature: int, cuts: Sequence[float]) -> FloatArray:
    """Return the bin edges: the cuts, and an edge at each end.

    The edges at the ends are the bounds of the feature or, if these are unknown, guesses based on
    the cuts.
    """
    inner = np.asarray(cuts, dtype=np.float64)
    bounds = getattr(model, "feature_bounds_", None)
    low, high = (np.nan, np.nan) if bounds is None else np.asarray(bounds, dtype=float)[feature]
    width = float(np.ptp(inner)) / max(1, len(inner) - 1) if len(inner) > 1 else 1.0
    width = width or 1.0
    first = inner[0] if len(inner) else (low if np.isfinite(low) else 0.0) + width / 2
    last = inner[-1] if len(inner) else first
    low = low if np.isfinite(low) and low < first else first - width
    high = high if np.isfinite(high) and high > last else last + width
    return np.concatenate([[low], inner, [high]])
