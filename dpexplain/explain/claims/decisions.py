"""Claims about decisions: on which side of a threshold a prediction lies."""

from __future__ import annotations

import pandas as pd

from dpexplain.explain._text import short_number
from dpexplain.explain.additive.global_explanation import GlobalExplanation
from dpexplain.explain.additive.local_explanation import inverse_link
from dpexplain.explain.claims.claim import Claim
from dpexplain.explain.claims.claim_words import claimed_score, doubt, opening
from dpexplain.explain.claims.claimed_bins import ALIKE
from dpexplain.explain.claims.score_errors import score_error
from dpexplain.explain.noise_model import half_width


def decision_claim(
    explanation: GlobalExplanation,
    record: pd.DataFrame,
    threshold: float | None,
    samples_public: bool,
) -> Claim:
    """Create a claim about the prediction for one record.

    Parameters
    ----------
    explanation : GlobalExplanation
    record : DataFrame of one row
    threshold : float or None
    samples_public : bool
        All as in :func:`dpexplain.explain.claim`.

    Returns
    -------
    Claim

    Raises
    ------
    ValueError
        If `record` is not one row, the curves were edited, or the errors are unknown.
    """
    if not isinstance(record, pd.DataFrame) or len(record) != 1:
        raise ValueError("record must be a DataFrame of one row; select it with X.iloc[[k]].")
    if any(part.released is not None for part in explanation.parts):
        raise ValueError(f"no claim about a decision of curves edited by hand. {ALIKE}")
    local = explanation.explain_local(record)
    at = local._threshold_score(threshold)
    error = score_error(explanation, local)
    if error is None:
        raise ValueError(f"no claim about a decision: errors of the score are unknown. {ALIKE}")
    estimate = float(local.scores[0]) - at
    half = half_width(1) * error
    low, high = estimate - half, estimate + half
    said, least, most, limit = (
        short_number(float(inverse_link(each + at, explanation.link)), 3)
        for each in (estimate, low, high, 0.0)
    )
    side = "above" if estimate > 0 else "below"
    score = f"the predicted probability of {claimed_score(explanation).removeprefix('odds of ')}"
    what = (
        score
        if explanation.classes is not None
        else f"the prediction of {claimed_score(explanation)}"
    )
    unsure = "" if low > 0 or high < 0 else f"; {doubt('noise')}"
    words = (
        f"{opening(explanation.guarantee)}, {what} for this record is {side} {limit}: {said}, "
        f"95% between {least} and {most}{unsure}."
    )
    guarantee = explanation.guarantee.for_samples(public=bool(samples_public))
    if explanation.guarantee.private:
        words = guarantee.marked(words)
    return Claim(
        "decision", "", "this record", f"the threshold {limit}", estimate, error, low, high,
        "noise", low > 0 or high < 0, words, guarantee,
    )  # fmt: skip
