"""Phrases that several kinds of claims share."""

from __future__ import annotations

import math

from dpexplain._utils.guarantee_words import upper_number
from dpexplain.explain._text import short_number, shorten, signed_number
from dpexplain.explain.additive.global_explanation import GlobalExplanation
from dpexplain.explain.claims.claim import Basis, State
from dpexplain.explain.guarantee import Guarantee


def doubt(basis: Basis) -> State:
    """Return the state of a claim that does not hold.

    Parameters
    ----------
    basis : {"effect", "noise"}

    Returns
    -------
    {"may be noise", "may be noise or hidden by shrinkage"}
    """
    return "may be noise" if basis == "effect" else "may be noise or hidden by shrinkage"


def sentence(guarantee: Guarantee, said: str, reason: str | None = None) -> str:
    """Return a claim as a sentence that asserts it only if it holds.

    Parameters
    ----------
    guarantee : Guarantee
    said : str
        What is claimed, such as "age has rank 1".
    reason : str or None, default=None
        Why the claim does not hold, such as "may be noise", or an empty string if `said` tells it;
        None if the claim holds.

    Returns
    -------
    str
    """
    at = "NOT PRIVATE: in this fit"
    if guarantee.private:
        at = f"At ε = {upper_number(guarantee.epsilon)}"
    if reason is None:
        return f"{at}, {said}."
    return f"{at}, it is uncertain whether {said}{reason and '; '}{reason}."


def claimed_score(explanation: GlobalExplanation) -> str:
    """Name the quantity that is higher or lower, such as "odds of income = high".

    Parameters
    ----------
    explanation : GlobalExplanation

    Returns
    -------
    str
    """
    target = shorten(explanation.target_name)
    if explanation.classes is not None:
        against = " against the average class" if explanation.link == "softmax" else ""
        return f"odds of {target} = {shorten(explanation.shown_class)}{against}"
    return f"expected {target}" if explanation.link == "log" else target


def direction(estimate: float) -> str:
    """Return whether an estimate is higher or lower than what it is compared with."""
    if estimate == 0:  # such a claim does not hold, so this is what is uncertain
        return "higher or lower"
    return "higher" if estimate > 0 else "lower"


def size_words(explanation: GlobalExplanation, estimate: float) -> str:
    """Express a difference in units of the score and, if possible, as a factor.

    Parameters
    ----------
    explanation : GlobalExplanation
    estimate : float
        Difference in units of the score.

    Returns
    -------
    str
    """
    said = f"{signed_number(estimate)} {explanation.score_unit}".rstrip()
    if explanation.link == "identity":
        return said
    what = "" if explanation.link == "log" else "odds "
    return f"{said} ({what}× {short_number(math.exp(estimate), 3)})"
