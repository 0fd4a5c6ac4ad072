"""Helpers shared by the exporters: explanations by class, and a privacy warning."""

from __future__ import annotations

import warnings

from dpexplain.exceptions import PrivacyWarning
from dpexplain.explain import GlobalExplanation, Guarantee, MulticlassExplanation


def warn_of_lost_label(guarantee: Guarantee, result: str) -> None:
    """Warn if an exported object loses the label "not private".

    Parameters
    ----------
    guarantee : Guarantee
        Guarantee of the exported object.
    result : str
        Description of what is exported, for the message.

    Warns
    -----
    PrivacyWarning
        If the object is not private.
    """
    if not guarantee.private:
        warnings.warn(
            f"the model is NOT PRIVATE, and {result} cannot store that label, so readers cannot "
            "tell it from a private model. Do not share it, or label it yourself.",
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
