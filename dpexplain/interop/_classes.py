"""Helpers shared by the exporters: explanations by class, and a privacy warning."""

from __future__ import annotations

import warnings

from dpexplain.exceptions import PrivacyWarning
from dpexplain.explain import GlobalExplanation, MulticlassExplanation
from dpexplain.explain.display import ExplanationDisplay


def warn_of_lost_label(explanation: ExplanationDisplay, result: str) -> None:
    """Warn if an exported object loses the label of what must not be published.

    Parameters
    ----------
    explanation : ExplanationDisplay
        What is exported.
    result : str
        Description of the exported object, for the message.

    Warns
    -----
    PrivacyWarning
        If the explanation may not be released, because the model is not private or it shows samples
        that are not marked public.
    """
    if explanation.releasable:
        return
    if explanation.guarantee.private:
        what, others = "the samples are not marked public", "one of public samples"
    else:
        what, others = "the model is NOT PRIVATE", "a private model"
    warnings.warn(
        f"{what}, and {result} cannot store that label, so readers cannot tell it from {others}. "
        "Do not share it, or label it yourself.",
        PrivacyWarning,
        stacklevel=3,
    )


def explained_classes(
    explanation: GlobalExplanation | MulticlassExplanation,
) -> tuple[GlobalExplanation, ...]:
    """Return one explanation for each score.

    Parameters
    ----------
    explanation : GlobalExplanation or MulticlassExplanation

    Returns
    -------
    tuple of GlobalExplanation
        A single explanation, or one for each class.

    Raises
    ------
    TypeError
        If `explanation` is of any other type.
    ValueError
        If the explanation covers only one of several classes, which does not determine
        probabilities, or only main effects, which do not determine the scores.
    """
    if isinstance(explanation, MulticlassExplanation):
        _check_whole(explanation.by_class[0])
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
    _check_whole(explanation)
    return (explanation,)


def _check_whole(explanation: GlobalExplanation) -> None:
    if explanation.main_effects_only:
        raise ValueError(
            f"{explanation.model_name or 'the model'} has interactions that the curves do not "
            "include, so an export would predict differently. Export a boosting or linear model."
        )
