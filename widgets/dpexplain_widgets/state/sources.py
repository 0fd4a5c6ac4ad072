"""The explanation behind a view."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpexplain.compare import Comparison
from dpexplain.explain import GlobalExplanation


def explanation_of(view: Any) -> GlobalExplanation:
    """Find the explanation selected in a view, by model, epsilon and fit.

    Parameters
    ----------
    view : View
        Its choices determine which one.

    Returns
    -------
    GlobalExplanation

    Raises
    ------
    ValueError
        If the view was created from a payload, which holds no explanation.
    """
    source = view.origin.source
    if isinstance(source, Mapping) and not isinstance(source, GlobalExplanation):
        source = source.get(view.shown["name"], source)
    if isinstance(source, GlobalExplanation):
        return source
    if not isinstance(source, Comparison):
        raise ValueError(
            "the view was created from a payload, which holds no explanation; create it from a "
            "Comparison or an explanation, or replay view.edit_log on one."
        )
    if view.epsilon_index >= len(source.epsilons):
        assert source.reference is not None  # it can be chosen only where there is one
        return source.reference
    repeats = source.explanations[source.epsilons[view.epsilon_index]]
    return repeats[min(view.repeat, len(repeats) - 1)]
