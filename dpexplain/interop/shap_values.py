"""Local explanations as SHAP's own object, so that its plots draw them."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpexplain._extras import needed
from dpexplain.explain import LocalExplanation, MulticlassLocalExplanation
from dpexplain.interop._classes import warn_of_lost_label


def to_shap(explanation: LocalExplanation | MulticlassLocalExplanation) -> Any:
    """Turn contributions into a ``shap.Explanation``.

    Nothing is estimated: in an additive model the contribution of a term is its Shapley value
    against the intercept, where terms are centred on the counts of the model.

    Parameters
    ----------
    explanation : LocalExplanation or MulticlassLocalExplanation
        What ``explain_local`` returns.

    Returns
    -------
    shap.Explanation
        ``values`` of shape (n_samples, n_terms), with a last axis per class where there are
        several; ``data`` holds the bin of each cell as text. SHAP has no place for the guarantee
        or for noise: keep the explanation itself beside its plots.

    Raises
    ------
    ImportError
        If SHAP is not installed.
    TypeError
        If `explanation` is of another kind.

    Warns
    -----
    PrivacyWarning
        If the model is not private, which SHAP has no place to say.

    Examples
    --------
    >>> shap.plots.waterfall(model.explain_local(X).to_shap()[0])  # doctest: +SKIP
    """
    if not isinstance(explanation, LocalExplanation | MulticlassLocalExplanation):
        raise TypeError(
            f"explanation is a {type(explanation).__name__}; expected what explain_local returns."
        )
    try:
        import shap
    except ImportError:
        raise ImportError(needed("to_shap", "shap", "interop")) from None
    warn_of_lost_label(explanation.guarantee, "a shap.Explanation")
    several = isinstance(explanation, MulticlassLocalExplanation)
    parts = explanation.by_class if isinstance(explanation, MulticlassLocalExplanation) else ()
    first = parts[0] if parts else explanation
    assert isinstance(first, LocalExplanation)
    values = (
        np.stack([part.contributions for part in parts], axis=2) if several else first.contributions
    )
    base = np.array([part.intercept for part in parts]) if several else first.intercept
    return shap.Explanation(
        values=np.array(values),
        base_values=np.broadcast_to(base, (len(first), *np.shape(base))).copy(),
        data=np.array(first.bin_labels, dtype=object),
        feature_names=list(first.term_names),
        output_names=list(first.classes or ()) if several else None,
    )
