"""Claims about decisions: on which side of a threshold a prediction lies."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from dpexplain.explain._record import FloatArray
from dpexplain.explain._text import short_number
from dpexplain.explain.additive.global_explanation import GlobalExplanation
from dpexplain.explain.additive.local_explanation import LocalExplanation, inverse_link
from dpexplain.explain.claims.claim import Claim
from dpexplain.explain.claims.claim_words import claimed_score, doubt, opening
from dpexplain.explain.claims.claimed_bins import ALIKE
from dpexplain.explain.claims.fits import private_fits
from dpexplain.explain.claims.score_errors import score_errors
from dpexplain.explain.display import Display
from dpexplain.explain.noise_model import half_width, normal_certainty


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
    checked_record(record)
    local = explanation.explain_local(record)
    at = local._threshold_score(threshold)
    error = float(_errors(explanation, local)[0])
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


def decisions(
    source: Display,
    records: pd.DataFrame,
    *,
    threshold: float | None = None,
    samples_public: bool = False,
    epsilon: float | None = None,
    repeat: int = 0,
) -> pd.DataFrame:
    """Tabulate the decisions for many records, with their certainty and stability.

    Parameters
    ----------
    source : GlobalExplanation or Comparison
        Explanation of one private model, or a comparison of several. If there are several classes,
        pass the explanation or comparison of one class.
    records : DataFrame of shape (n_records, n_columns)
        The records, with a column for every feature. The guarantee does not protect them, so the
        table may be published only if the records may be published.
    threshold : float or None, default=None
        As in :func:`dpexplain.explain.claim`.
    samples_public : bool, default=False
        Whether the records may be shown to anyone.
    epsilon : float or None, default=None
        Epsilon of the fit that makes the decisions; None for the largest.
    repeat : int, default=0
        Index of the fit among the repeats at this epsilon.

    Returns
    -------
    DataFrame
        One row for each record, with the index of `records` and the columns

        * prediction, low, high: the prediction and the ends of its 95% interval;
        * decision: "above" or "below" the threshold;
        * holds: whether the interval excludes the threshold;
        * certainty: the probability that the prediction without the noise of the fit is on the same
          side, from 0.5 to 1;
        * rerun: the expected proportion of new fits at this epsilon with the same decision. A new
          fit has its own error, so this proportion is lower than the certainty;
        * same_fits, fits: the number of fits in `source`, over all epsilons and repeats, that make
          the same decision, and the total number of fits;
        * epsilon: the epsilon of the fit; private: whether the row may be published.

    Raises
    ------
    KeyError
        If there is no fit with this epsilon.
    ValueError
        If `records` is not a DataFrame, the errors are unknown, or curves were edited.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(epsilon=1, schema=stays.schema)
    >>> explanation = model.fit(stays.X, stays.y).explain_global()
    >>> from dpexplain.explain import decisions
    >>> table = decisions(explanation, stays.X.head(100), threshold=0.3)
    >>> len(table), "certainty" in table
    (100, True)
    """
    if not isinstance(records, pd.DataFrame) or records.empty:
        raise ValueError(
            "records must be a DataFrame with at least one row and a column for every feature."
        )
    fits, chosen = private_fits(source, epsilon, repeat)
    local = chosen.explain_local(records)
    at = local._threshold_score(threshold)
    gap, error = local.scores - at, _errors(chosen, local)
    ratio = np.divide(gap, error, out=np.where(gap == 0, 0.0, np.inf), where=error > 0)
    half = half_width(1) * error
    sides = [fit.explain_local(records).scores > at for fit in fits]
    ends = {"prediction": gap, "low": gap - half, "high": gap + half}
    predicted = {name: inverse_link(each + at, chosen.link) for name, each in ends.items()}
    guarantee = chosen.guarantee.for_samples(public=bool(samples_public))
    return pd.DataFrame(
        {
            **predicted,
            "decision": np.where(gap > 0, "above", "below"),
            "holds": np.abs(gap) > half,
            "certainty": normal_certainty(ratio),
            "rerun": normal_certainty(ratio / math.sqrt(2.0)),
            "same_fits": np.sum([side == (gap > 0) for side in sides], axis=0),
            "fits": len(sides),
            "epsilon": chosen.guarantee.epsilon,
            "private": guarantee.private,
        },
        index=records.index,
    )


def checked_record(record: pd.DataFrame) -> None:
    """Raise ValueError unless a record is a table of one row.

    Parameters
    ----------
    record : DataFrame
    """
    if not isinstance(record, pd.DataFrame) or len(record) != 1:
        raise ValueError("record must be a DataFrame of one row; select it with X.iloc[[k]].")


def known_errors(explanation: GlobalExplanation, local: LocalExplanation) -> FloatArray:
    """Return upper bounds on the errors of scores; raise ValueError if there are none.

    Parameters
    ----------
    explanation : GlobalExplanation
    local : LocalExplanation
        Local explanation of one or more rows, computed from `explanation`.

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    if any(part.released is not None for part in explanation.parts):
        raise ValueError(f"no claim about a decision of curves edited by hand. {ALIKE}")
    errors = score_errors(explanation, local)
    if errors is None:
        raise ValueError(f"no claim about a decision: errors of the score are unknown. {ALIKE}")
    return errors


def _errors(explanation: GlobalExplanation, local: LocalExplanation) -> FloatArray:
    if explanation.of_class:
        raise ValueError(
            "one of several classes has no threshold; for the predicted class, pass the "
            "explanation of all classes to claim(), with record=."
        )
    return known_errors(explanation, local)
