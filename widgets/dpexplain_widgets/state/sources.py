"""Find the objects from which a view was created."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpexplain.compare import Comparison, MulticlassComparison
from dpexplain.explain import GlobalExplanation, MulticlassExplanation
from dpexplain.explain._by_class import ByClass


def source_of(view: Any) -> Any:
    """Find the source of the model or class selected in a view.

    Parameters
    ----------
    view : View
        View whose choices determine the result.

    Returns
    -------
    object
        A Comparison, an explanation, or any other object from which the view was created.
    """
    source = view.origin.source
    if isinstance(source, ByClass):
        return source.for_class(view.shown["name"])
    if isinstance(source, Mapping) and not isinstance(source, GlobalExplanation):
        return source.get(view.shown["name"], source)
    return source


def explanation_of(view: Any) -> GlobalExplanation:
    """Find the explanation selected in a view, by model, epsilon and fit.

    Parameters
    ----------
    view : View
        View whose choices determine the result.

    Returns
    -------
    GlobalExplanation

    Raises
    ------
    ValueError
        If the view was created from a payload, which contains no explanation.
    """
    source = source_of(view)
    if isinstance(source, GlobalExplanation):
        return source
    if not isinstance(source, Comparison):
        raise ValueError(
            "the view was created from a payload, which holds no explanation; create it from a "
            "Comparison or an explanation, or replay view.edit_log on one."
        )
    if view.epsilon_index >= len(source.epsilons):
        assert source.reference is not None  # it can be selected only if it exists
        return source.reference
    repeats = source.explanations[source.epsilons[view.epsilon_index]]
    return repeats[min(view.repeat, len(repeats) - 1)]


def whole_explanation_of(view: Any) -> GlobalExplanation | MulticlassExplanation:
    """Find the explanation selected in a view, with all its classes.

    Parameters
    ----------
    view : View
        View whose choices determine the result.

    Returns
    -------
    GlobalExplanation or MulticlassExplanation

    Raises
    ------
    ValueError
        If the view was created from a payload, which contains no explanation.
    """
    source = view.origin.source
    if not isinstance(source, MulticlassComparison | MulticlassExplanation):
        return explanation_of(view)
    if isinstance(source, MulticlassExplanation):
        return source
    repeats = source.fits_by_epsilon()[view.epsilon]
    return repeats[min(view.repeat, len(repeats) - 1)]
