"""The predicted class of a record, and whether it leads all other classes."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from dpexplain._utils.lazy import pd
from dpexplain.explain._record import FloatArray, Record
from dpexplain.explain._text import shorten, signed_number
from dpexplain.explain.additive.multiclass import MulticlassExplanation
from dpexplain.explain.claims.claim import Claim
from dpexplain.explain.claims.claim_words import doubt, sentence
from dpexplain.explain.claims.score_errors import known_errors
from dpexplain.explain.noise_model import half_width, normal_certainty


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Leads(Record):
    """Leads of the predicted class of each record over all classes.

    How the errors of two classes are correlated is not stored, so they are added in full.

    Parameters
    ----------
    best : ndarray of int64, shape (n_records,)
        Index of the predicted class.
    estimate, std : ndarray of float64, shape (n_records, n_classes)
        Score of the predicted class minus the score of each class, with its standard deviation.
    """

    best: npt.NDArray[np.int64]
    estimate: FloatArray
    std: FloatArray

    @property
    def half(self) -> FloatArray:
        """Half-widths of the simultaneous 95% intervals of all leads."""
        return half_width(self.estimate.shape[1] - 1) * self.std

    @property
    def _is_rival(self) -> npt.NDArray[np.bool_]:
        return np.arange(self.estimate.shape[1]) != self.best[:, None]

    @property
    def low(self) -> FloatArray:
        """Lower ends of the intervals; infinite for the predicted class itself."""
        return np.where(self._is_rival, self.estimate - self.half, np.inf)

    def chance(self, ends: float = 0.0) -> FloatArray:
        """Return the probability of the predicted class of each record.

        Parameters
        ----------
        ends : float, default=0.0
            -1 for the lower ends of the 95% intervals, 1 for the upper ends.

        Returns
        -------
        ndarray of shape (n_records,)
        """
        leads = self.estimate + ends * self.half
        rivals = np.where(self._is_rival, np.exp(-np.clip(leads, -700.0, 700.0)), 0.0)
        return np.asarray(1.0 / (1.0 + rivals.sum(axis=1)))

    def certainty(self, fits: int = 1) -> FloatArray:
        """Return a lower bound on the probability that the predicted class is correct.

        Parameters
        ----------
        fits : int, default=1
            1 compares with the prediction without the noise of the fit, 2 with that of a new fit,
            which has its own noise.

        Returns
        -------
        ndarray of shape (n_records,)
            One minus the sum of the probabilities that each other class is ahead, but at least 0.
        """
        std = self.std * np.sqrt(fits)
        ratio = np.divide(
            self.estimate, std, out=np.where(self.estimate == 0, 0.0, np.inf), where=std > 0
        )
        ahead = np.where(self._is_rival, 1.0 - normal_certainty(ratio), 0.0)
        return np.asarray(np.maximum(0.0, 1.0 - ahead.sum(axis=1)))


def leads_of(explanation: MulticlassExplanation, records: pd.DataFrame) -> Leads:
    """Compare the predicted class of each record with all classes.

    Parameters
    ----------
    explanation : MulticlassExplanation
    records : DataFrame of shape (n_records, n_columns)

    Returns
    -------
    Leads

    Raises
    ------
    ValueError
        If the curves were edited, or the errors are unknown.
    """
    local = explanation.explain_local(records)
    parts = zip(explanation.by_class, local.by_class, strict=True)
    errors = np.column_stack([known_errors(*each) for each in parts])
    best = local.scores.argmax(axis=1)
    rows = np.arange(len(best))
    leads, stds = (each[rows, best][:, None] for each in (local.scores, errors))
    return Leads(best, leads - local.scores, stds + errors)


def leading_class_claim(
    explanation: MulticlassExplanation, record: pd.DataFrame, samples_public: bool
) -> Claim:
    """Create a claim that the predicted class of one record is the most likely one.

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
        If the curves were edited, or the errors are unknown.
    """
    leads = leads_of(explanation, record)
    names = [part.of_class for part in explanation.by_class]
    best, rival = int(leads.best[0]), int(leads.low[0].argmin())
    estimate, std, half = (
        float(each[0, rival]) for each in (leads.estimate, leads.std, leads.half)
    )
    low, high = estimate - half, estimate + half
    holds = low > 0
    first, second = (shorten(names[place]) for place in (best, rival))
    said = (
        f"{shorten(explanation.target_name)} = {first} is the most likely class for this record: "
        f"{signed_number(estimate)} log-odds against {second}, "
        f"95% between {signed_number(low)} and {signed_number(high)}"
    )
    words = sentence(explanation.guarantee, said, None if holds else doubt("noise"))
    guarantee = explanation.guarantee.for_samples(public=bool(samples_public))
    if explanation.guarantee.private:
        words = guarantee.marked(words)
    return Claim(
        "decision", "", names[best], names[rival], estimate, std, low, high,
        "noise", holds, words, guarantee,
    )  # fmt: skip
