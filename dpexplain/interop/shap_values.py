"""Export of local explanations to SHAP."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpexplain._utils.extras import needed
from dpexplain.explain import (
    FilterExplanation,
    GlobalExplanation,
    LocalExplanation,
    MulticlassExplanation,
    MulticlassLocalExplanation,
)
from dpexplain.explain.additive.multiclass import scores_of
from dpexplain.interop._classes import warn_of_lost_label
from dpexplain.tables.frames import frame_of

_PAIR = " & "  # separates the names of the two features of a pair


def to_shap(
    explanation: LocalExplanation | MulticlassLocalExplanation,
    X: npt.ArrayLike | None = None,
    *,
    effects: GlobalExplanation | MulticlassExplanation | None = None,
) -> Any:
    """Convert contributions to a ``shap.Explanation``.

    Shapley values need not be estimated. In an additive model, the contribution of a term is its
    Shapley value relative to the intercept, because terms are centered with the model's counts.

    Parameters
    ----------
    explanation : LocalExplanation or MulticlassLocalExplanation
        Output of ``explain_local``.
    X : DataFrame, array or sequence of rows, or None, default=None
        The explained samples. Their values are included in the result, and SHAP's plots use these
        values as labels and for colors. Columns of a DataFrame are found by name, other columns by
        position. A pair of features has no single value, so the label of its bin is used instead.
    effects : GlobalExplanation or MulticlassExplanation or None, default=None
        Explanation of the same model. Its estimated effects replace the released contributions but,
        unlike the contributions, do not add up to a score of the model. `X` must also be given.

    Returns
    -------
    shap.Explanation
        Explanation whose ``values`` have shape (n_samples, n_terms), with a last axis for classes
        if there are several. Its ``data`` are the values of `X` (floats, with NaN for empty cells,
        if all of them are numbers) or, if `X` is None, bin labels.
        SHAP cannot store the guarantee or the noise, so save `explanation` along with the plots.

    Raises
    ------
    ImportError
        If SHAP is not installed.
    TypeError
        If `explanation` is of any other type.
    ValueError
        If `X` does not have one row for each sample, or lacks a column; or if `effects` lacks
        estimates, explains a model with other terms, or is given without `X`.

    Warns
    -----
    PrivacyWarning
        If the model is not private, or the samples are not marked public
        (``explain_local(X, samples_public=True)``); SHAP cannot record this.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(epsilon=1, schema=stays.schema)
    >>> model = model.fit(stays.X, stays.y)
    >>> explanation = model.explain_global()
    >>> invented = stays.schema.simulate(20, seed=0)[0]
    >>> local = explanation.explain_local(invented, samples_public=True)
    >>> from dpexplain.interop.shap_values import to_shap
    >>> values = to_shap(local, invented)    # for example for shap.plots.beeswarm
    >>> values.values.shape
    (20, 12)
    """
    if not isinstance(explanation, LocalExplanation | MulticlassLocalExplanation):
        raise TypeError(
            f"explanation is a {type(explanation).__name__}; expected what explain_local returns."
        )
    shap = _shap()
    warn_of_lost_label(explanation, "a shap.Explanation")
    parts = explanation._by_score
    first, several = parts[0], len(parts) > 1
    if effects is not None:
        return _of_effects(shap, parts, X, effects)
    values = (
        np.stack([part.contributions for part in parts], axis=2) if several else first.contributions
    )
    base = np.array([part.intercept for part in parts]) if several else first.intercept
    return shap.Explanation(
        values=np.array(values),
        base_values=np.broadcast_to(base, (len(first), *np.shape(base))).copy(),
        data=_data(first, X),
        feature_names=list(first.term_names),
        output_names=list(first.classes or ()) if several else None,
    )


def _of_effects(
    shap: Any,
    local: Sequence[LocalExplanation],
    X: npt.ArrayLike | None,
    model: GlobalExplanation | MulticlassExplanation,
) -> Any:
    scores, explanation = scores_of(model), local[0]
    of_class = [part.of_class for part in local]
    if scores[0].pairs or any(part.effect_intercept is None for part in scores):
        raise ValueError(
            "effects must contain an estimate of the effect for each term: explain_global() of a "
            "private boosting model has them, if it has no pairs and its effect_caution does not "
            "say otherwise."
        )
    if (
        X is None
        or list(explanation.term_names) != list(scores[0])
        or of_class != [part.of_class for part in scores]
    ):
        raise ValueError("pass X, the rows that were explained, and effects of the same model.")
    if explanation.releasable:  # otherwise, the caller has warned
        warn_of_lost_label(model, "a shap.Explanation")
    data = _data(explanation, X)
    values = [_effects_of_rows(part, data) for part in scores]
    base = np.array([part.effect_intercept for part in scores], dtype=np.float64)
    several = len(scores) > 1
    return shap.Explanation(
        values=np.stack(values, axis=2) if several else values[0],
        base_values=np.tile(base, (len(explanation), 1)) if several else np.full(len(data), base),
        data=data,
        feature_names=list(explanation.term_names),
        output_names=list(explanation.classes or ()) if several else None,
    )


def _effects_of_rows(model: GlobalExplanation, data: Any) -> Any:
    """Return the estimated effects of each row, shape (n_samples, n_terms)."""
    columns = [
        np.append(term.effect, 0.0)[term.index_or_none(data[:, place])]
        for place, term in enumerate(model.terms)
        if term.effect is not None
    ]
    return np.stack(columns, axis=1)


def filters_to_shap(explanation: FilterExplanation) -> Any:
    """Convert the contributions of inputs to a ``shap.Explanation``.

    Parameters
    ----------
    explanation : FilterExplanation
        Output of a locally linear model's ``explain_local``.

    Returns
    -------
    shap.Explanation
        Explanation whose ``values`` have shape (n_samples, n_inputs, n_classes). Its
        ``base_values`` are the contributions of the biases, and its ``data`` are the preprocessed
        inputs.

    Raises
    ------
    ImportError
        If SHAP is not installed.

    Warns
    -----
    PrivacyWarning
        If the model is not private, or the samples are not marked public
        (``explain_local(X, samples_public=True)``); SHAP cannot record this.
    """
    shap = _shap()
    warn_of_lost_label(explanation, "a shap.Explanation")
    return shap.Explanation(
        values=np.array(explanation.contributions.transpose(0, 2, 1)),
        base_values=np.array(explanation.bias_part),
        data=np.array(explanation.inputs),
        feature_names=list(explanation.input_names),
        output_names=list(explanation.classes),
    )


def _shap() -> Any:
    try:
        import shap
    except ImportError:
        raise ImportError(needed("to_shap", "shap", "interop")) from None
    return shap


def _data(explanation: LocalExplanation, X: npt.ArrayLike | None) -> npt.NDArray[Any]:
    """Return the value of each term in each sample, or bin labels if `X` is None."""
    labels = np.array(explanation.bin_labels, dtype=object).reshape(explanation.contributions.shape)
    if X is None:
        return labels
    frame = X if isinstance(X, pd.DataFrame) else frame_of(X)
    table = np.asarray(X, dtype=object) if frame is None else frame
    if len(table) != len(labels):
        raise ValueError(
            f"X has {len(table)} rows, and the explanation {len(labels)} samples; pass the rows "
            "that were explained."
        )
    for place, name in enumerate(explanation.term_names):
        column = _column(table, place, name)
        if column is not None:
            labels[:, place] = list(column)
    return _numbers(labels)


def _numbers(cells: npt.NDArray[np.object_]) -> npt.NDArray[Any]:
    """Convert a table of numbers to floats, which some of SHAP's plots require."""
    empty = pd.isna(cells)
    if not all(isinstance(cell, Real) for cell in cells[~empty]):
        return cells
    numbers = np.full(cells.shape, np.nan)
    numbers[~empty] = cells[~empty]
    return numbers


def _column(table: pd.DataFrame | npt.NDArray[Any], place: int, name: str) -> Any:
    if isinstance(table, pd.DataFrame):
        if name in table.columns:
            return table[name]
    elif table.ndim == 2 and place < table.shape[1]:
        return table[:, place]
    if _PAIR in name:
        return None
    raise ValueError(f"X lacks the column {name!r}; pass the columns that the model was fitted on.")
