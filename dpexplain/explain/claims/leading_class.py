"""Claims that the predicted class of a record leads all other classes."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpexplain.explain._text import shorten, signed_number
from dpexplain.explain.additive.multiclass import MulticlassExplanation
from dpexplain.explain.claims.claim import Claim
from dpexplain.explain.claims.claim_words import doubt, opening
from dpexplain.explain.claims.decisions import checked_record, known_errors
from dpexplain.explain.noise_model import half_width


def leading_class_claim(
    explanation: MulticlassExplanation, record: pd.DataFrame, samples_public: bool
) -> Claim:
    """Create a claim that the predicted class of one record is the most likely one.

    How the errors of two classes are correlated is not stored, so they are added in full. The
    intervals of the leads over all other classes are simultaneous.

    Parameters
    ----------
    explanation : MulticlassExplanation
    record : DataFrame of one row
    samples_public : bool
        All as in :func:`dpexplain.explain.claim`.

    Returns
    -------
    Claim
        The estimate is the lead over the class that may come closest: its interval has the lowest
        end.

    Raises
    ------
    ValueError
        If `record` is not one row, the curves were edited, or the errors are unknown.
    """
    checked_record(record)
    local = explanation.explain_local(record)
    scores = local.scores[0]
    errors = np.array(
        [known_errors(*each)[0] for each in zip(explanation.by_class, local.by_class, strict=True)]
    )
    names = [part.of_class for part in explanation.by_class]
    best = int(scores.argmax())
    leads, stds = scores[best] - scores, errors[best] + errors
    halves = half_width(len(names) - 1) * stds
    lows = np.where(np.arange(len(names)) == best, np.inf, leads - halves)
    rival = int(lows.argmin())
    estimate, low, high = (float(each[rival]) for each in (leads, lows, leads + halves))
    holds = low > 0
    unsure = "" if holds else f"; {doubt('noise')}"
    first, second = (shorten(names[place]) for place in (best, rival))
    words = (
        f"{opening(explanation.guarantee)}, {shorten(explanation.target_name)} = {first} is the "
        f"most likely class for this record: {signed_number(estimate)} log-odds against {second}, "
        f"95% between {signed_number(low)} and {signed_number(high)}{unsure}."
    )
    guarantee = explanation.guarantee.for_samples(public=bool(samples_public))
    if explanation.guarantee.private:
        words = guarantee.marked(words)
    return Claim(
        "decision", "", names[best], names[rival], estimate, float(stds[rival]), low, high,
        "noise", holds, words, guarantee,
    )  # fmt: skip
