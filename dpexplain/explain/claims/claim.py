"""One claim, as plain data."""

from __future__ import annotations

import dataclasses
from typing import Literal

from dpexplain._utils.lazy import pd
from dpexplain.explain import _html
from dpexplain.explain._record import Record
from dpexplain.explain.guarantee import Guarantee

Basis = Literal["effect", "noise"]
State = Literal["holds", "reversed", "may be noise", "may be noise or hidden by shrinkage"]

_COLUMNS = (
    "kind", "term", "first", "second", "estimate", "std", "low", "high", "basis", "holds", "words",
)  # fmt: skip


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Claim(Record):
    """Claim about a term or a prediction of one model.

    Parameters
    ----------
    kind : {"difference", "range", "sign", "highest", "lowest", "rank", "decision"}
        Kind of claim. "highest" and "lowest" are claims about the location of the peak or trough of
        a curve; a decision is a claim about the prediction for one record: its side of a threshold
        or, with several classes, that the predicted class is the most likely one.
    term : str
        Name of the term; empty for a decision.
    first, second : str
        Labels of the two sides of the comparison, such as two classes.
    estimate : float
        Estimated difference or value, in units of the score. For a decision, this is the score
        minus the score at the threshold, or the lead over the class that may come closest; for a
        rank, it is the rank. For a peak or a trough, it is the highest (lowest) value in the range
        minus the highest (lowest) value elsewhere.
    std : float
        Standard deviation of the estimate; NaN for a rank, a peak or a trough.
    low, high : float
        Ends of the simultaneous 95% interval. For a peak or a trough, one end is 0 if it is certain
        whether the extreme lies inside the range.
    basis : {"effect", "noise"}
        What the claim refers to: the estimated effect, or the noiseless version of the released
        curve, which may understate effects.
    holds : bool
        Whether the interval excludes zero or, for a rank, contains only one rank. For a peak or a
        trough, whether all or none of the `candidates` lie in the range.
    words : str
        The claim as a sentence.
    guarantee : Guarantee
        Privacy guarantee of the claim: that of the model, or none for a decision about a record
        that is not public.
    shares : tuple of four float or None, default=None
        Predicted proportions of the second class among records that lie in the most frequent
        released bin of every other feature: the proportion at `second`, the proportion at `first`,
        and both ends of the interval for the proportion at `first`. They are known only if there
        are two classes and the score is a sum of curves without pairs; otherwise, None.
    frequencies : str, default=""
        A sentence that expresses `shares` as numbers of records, for example out of 100.
    candidates : tuple of str, default=()
        For a peak or a trough, the labels of all bins that may be that peak or trough, with 95%
        confidence.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(epsilon=1, schema=stays.schema)
    >>> explanation = model.fit(stays.X, stays.y).explain_global()
    >>> from dpexplain.explain import claim
    >>> older = claim(explanation, "age", 80, 20)
    >>> older.kind, older.low <= older.estimate <= older.high
    ('difference', True)
    """

    kind: Literal["difference", "range", "sign", "highest", "lowest", "rank", "decision"]
    term: str
    first: str
    second: str
    estimate: float
    std: float
    low: float
    high: float
    basis: Basis
    holds: bool
    words: str
    guarantee: Guarantee
    shares: tuple[float, float, float, float] | None = None
    frequencies: str = ""
    candidates: tuple[str, ...] = ()

    def frame(self) -> pd.DataFrame:
        """Return the claim as a table with one row.

        Returns
        -------
        DataFrame
            Columns kind, term, first, second, estimate, std, low, high, basis, holds, words,
            epsilon and private.
        """
        row = {name: getattr(self, name) for name in _COLUMNS}
        guarantee = self.guarantee
        return pd.DataFrame([{**row, "epsilon": guarantee.epsilon, "private": guarantee.private}])

    def __str__(self) -> str:
        """Return the sentence."""
        return self.words

    def __repr__(self) -> str:
        """Return the sentence, and point to :meth:`frame` for the numbers."""
        return f"Claim({self.words!r}; see .frame())"

    def _repr_html_(self) -> str:
        return _html.box(_html.line(self.words), _html.note(self.frequencies))
