"""Claims about decisions: on which side of a threshold a prediction lies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dpexplain._utils.lazy import pd
from dpexplain.explain._record import FloatArray
from dpexplain.explain._text import short_number
from dpexplain.explain.additive.global_explanation import GlobalExplanation
from dpexplain.explain.additive.local_explanation import LocalExplanation, inverse_link
from dpexplain.explain.additive.multiclass import MulticlassExplanation
from dpexplain.explain.claims.claim import Claim
from dpexplain.explain.claims.claim_words import claimed_score, doubt, sentence
from dpexplain.explain.claims.fits import Additive, private_fits
from dpexplain.explain.claims.leading_class import leads_of
from dpexplain.explain.claims.score_errors import known_errors
from dpexplain.explain.display import Display
from dpexplain.explain.noise_model import half_width, normal_certainty

NO_THRESHOLD = "several classes have no threshold; leave threshold= out."


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
        If the explanation is of one of several classes, the curves were edited, or the errors are
        unknown.
    """
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
    holds = low > 0 or high < 0
    words = sentence(
        explanation.guarantee,
        f"{what} for this record is {side} {limit}: {said}, 95% between {least} and {most}",
        None if holds else doubt("noise"),
    )
    guarantee = explanation.guarantee.for_samples(public=bool(samples_public))
    if explanation.guarantee.private:
        words = guarantee.marked(words)
    return Claim(
        "decision", "", "this record", f"the threshold {limit}", estimate, error, low, high,
        "noise", holds, words, guarantee,
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
    source : GlobalExplanation, MulticlassExplanation, Comparison or MulticlassComparison
        Explanation of one private model, or a comparison of several. If there are several classes,
        pass that of all classes.
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

        * prediction, low, high: the prediction (with several classes, the probability of the
          predicted class) and the ends of its 95% interval;
        * decision: "above" or "below" the threshold, or the predicted class;
        * holds: whether the interval excludes the threshold, or the predicted class leads all
          others with 95% confidence;
        * certainty: the probability that the decision without the noise of the fit is the same,
          from 0.5 to 1 (with several classes, a lower bound, from 0);
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
    if isinstance(chosen, MulticlassExplanation):
        found = _of_classes(chosen, records, threshold)
    else:
        found = _of_threshold(chosen, records, threshold)
    same = [_decided(fit, records, threshold) == found["decision"] for fit in fits]
    guarantee = chosen.guarantee.for_samples(public=bool(samples_public))
    return pd.DataFrame(
        {
            **found,
            "same_fits": np.sum(same, axis=0),
            "fits": len(fits),
            "epsilon": chosen.guarantee.epsilon,
            "private": guarantee.private,
        },
        index=records.index,
    )


def _of_threshold(
    explanation: GlobalExplanation, records: pd.DataFrame, threshold: float | None
) -> dict[str, Any]:
    local = explanation.explain_local(records)
    at = local._threshold_score(threshold)
    gap, error = local.scores - at, _errors(explanation, local)
    ratio = np.divide(gap, error, out=np.where(gap == 0, 0.0, np.inf), where=error > 0)
    half = half_width(1) * error
    ends = {"prediction": gap, "low": gap - half, "high": gap + half}
    return {
        **{name: inverse_link(each + at, explanation.link) for name, each in ends.items()},
        "decision": _decided(explanation, records, threshold),
        "holds": np.abs(gap) > half,
        "certainty": normal_certainty(ratio),
        "rerun": normal_certainty(ratio / math.sqrt(2.0)),
    }


def _of_classes(
    explanation: MulticlassExplanation, records: pd.DataFrame, threshold: float | None
) -> dict[str, Any]:
    if threshold is not None:
        raise ValueError(NO_THRESHOLD)
    leads = leads_of(explanation, records)
    return {
        **{name: leads.chance(end) for name, end in (("prediction", 0), ("low", -1), ("high", 1))},
        "decision": _decided(explanation, records, threshold),
        "holds": leads.low.min(axis=1) > 0,
        "certainty": leads.certainty(),
        "rerun": leads.certainty(fits=2),
    }


def _decided(
    explanation: Additive, records: pd.DataFrame, threshold: float | None
) -> npt.NDArray[np.object_]:
    """Return the side of the threshold, or the predicted class, of each record."""
    local = explanation.explain_local(records)
    if isinstance(local, LocalExplanation):
        above = local.scores > local._threshold_score(threshold)
        return np.where(above, "above", "below").astype(object)
    return np.array(local.classes, dtype=object)[local.scores.argmax(axis=1)]


def _errors(explanation: GlobalExplanation, local: LocalExplanation) -> FloatArray:
    if explanation.of_class:
        raise ValueError(
            "one of several classes has no threshold; for the predicted class, pass the "
            "explanation or comparison of all classes."
        )
    return known_errors(explanation, local)
