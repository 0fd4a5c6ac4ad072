"""What the exporters share: the explanation of each class."""

from __future__ import annotations

from dpexplain.explain import GlobalExplanation, MulticlassExplanation


def explained_classes(
    explanation: GlobalExplanation | MulticlassExplanation,
) -> tuple[GlobalExplanation, ...]:
    """Return one explanation per score.

    Parameters
    ----------
    explanation : GlobalExplanation or MulticlassExplanation

    Returns
    -------
    tuple of GlobalExplanation
        One, or one per class.

    Raises
    ------
    TypeError
        If it is another object.
    ValueError
        If it is the explanation of one class of several, which has no probabilities of its own.
    """
    if isinstance(explanation, MulticlassExplanation):
        return explanation.by_class
    if not isinstance(explanation, GlobalExplanation):
        raise TypeError(
            f"explanation is a {type(explanation).__name__}; expected what explain_global() of a "
            "boosting model returns."
        )
    if explanation.of_class:
        raise ValueError(
            f"this explains the class {explanation.of_class!r} alone; pass the explanation of all "
            "classes, which explain_global() returns."
        )
    return (explanation,)
