"""Claims about the change between two fits, such as those of two years."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, Final

from dpexplain._utils.guarantee_words import upper_number
from dpexplain._utils.lazy import pd
from dpexplain.explain import Claim, GlobalExplanation, claim
from dpexplain.explain._record import Record
from dpexplain.explain._text import above_rounding, shorten, signed_number
from dpexplain.explain.claims.claim_words import claimed_score, doubt, size_words
from dpexplain.explain.noise_model import half_width

_COLUMNS: Final = ("term", "first", "second", "estimate", "std", "low", "high", "holds", "words")
_SAME: Final = ("link", "target_name", "target_unit", "shown_class")


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Change(Record):
    """Change of a difference from one fit to another, with a confidence interval.

    Parameters
    ----------
    names : tuple of two str
        Names of the earlier and the later fit.
    before, after : Claim
        The claim in the earlier and in the later fit.
    estimate : float
        Estimate in the later fit minus that in the earlier fit, in units of the score.
    std : float
        Standard deviation of the estimate.
    low, high : float
        Ends of the simultaneous 95% interval.
    holds : bool
        Whether the interval excludes zero.
    words : str
        The change as a sentence.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier
    >>> from dpexplain.compare import claim_change
    >>> from dpexplain.datasets import make_additive
    >>> fits = {}
    >>> for year in (2023, 2024):
    ...     stays = make_additive("clinical", n_samples=500, random_state=year)
    ...     model = DPExplainableBoostingClassifier(epsilon=1, schema=stays.schema)
    ...     fits[str(year)] = model.fit(stays.X, stays.y).explain_global()
    >>> change = claim_change(fits, "age", 80, 20)
    >>> change.names, change.low <= change.estimate <= change.high
    (('2023', '2024'), True)
    >>> change.frame()["fit"].tolist()
    ['2023', '2024', 'change']
    """

    names: tuple[str, str]
    before: Claim
    after: Claim
    estimate: float
    std: float
    low: float
    high: float
    holds: bool
    words: str

    def frame(self) -> pd.DataFrame:
        """Return both claims and the change as a table.

        Returns
        -------
        DataFrame
            Columns fit, term, first, second, estimate, std, low, high, holds, words, epsilon and
            private; one row per fit, and one for the change.
        """
        claims = pd.concat([self.before.frame(), self.after.frame()])[[*_COLUMNS]]
        claims.insert(0, "fit", self.names)
        guarantees = [self.before.guarantee, self.after.guarantee]
        claims["epsilon"] = [each.epsilon for each in guarantees]
        claims["private"] = [each.private for each in guarantees]
        own = {name: getattr(self, name) for name in ("estimate", "std", "low", "high", "holds")}
        row = {"fit": "change", "term": self.after.term, "words": self.words, **own}
        row |= {"first": self.after.first, "second": self.after.second, "epsilon": math.nan}
        row["private"] = all(each.private for each in guarantees)
        return pd.concat([claims, pd.DataFrame([row])], ignore_index=True)

    def __str__(self) -> str:
        """Return the sentence."""
        return self.words

    def __repr__(self) -> str:
        """Return the sentence, and point to :meth:`frame` for the numbers."""
        return f"Change({self.words!r}; see .frame())"


def claim_change(
    explanations: Mapping[str, GlobalExplanation], term: str, first: Any, second: Any = None
) -> Change:
    """Claim that a difference changed from one fit to another.

    The fits may be those of two years. The claim compares how two bins (or a bin and the average,
    or two ranges) differ in each fit, and costs no privacy. It does not say how the average of the
    target changed. The interval assumes that the errors of the fits are independent: each fit has
    its own noise and its own sample. If some people are in both tables, the interval is usually too
    wide, and the cost to these people is that of both fits, which their ledger adds up.

    Parameters
    ----------
    explanations : mapping of str to GlobalExplanation
        The earlier and the later fit, by name: ``{"2023": earlier, "2024": later}``.
    term : str
        Name of the term; pairs of features are not compared.
    first, second : str, number, date, tuple or None
        Bins or ranges, as in :func:`dpexplain.explain.claim`. Each fit uses its own bins that
        contain them, which may differ; the sentence names both.

    Returns
    -------
    Change

    Raises
    ------
    TypeError
        If `explanations` is not a mapping of two explanations of one score.
    KeyError, ValueError
        As in :func:`dpexplain.explain.claim`; also ValueError if the fits have other targets or
        scores, or if only one of them has estimated effects.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier
    >>> from dpexplain.compare import claim_change
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(epsilon=1, schema=stays.schema)
    >>> earlier = model.fit(stays.X[:250], stays.y[:250]).explain_global()
    >>> later = model.fit(stays.X[250:], stays.y[250:]).explain_global()
    >>> print(claim_change({"2023": earlier, "2024": later}, "sex", "female", "male"))
    At ε = 1 in each fit, ...
    """
    names, fits = _two(explanations)
    if first is None or any(pair.name == term for fit in fits for pair in fit.pairs):
        raise ValueError("a change is claimed about bins of one feature; pass a term and a bin.")
    before, after = (
        _claim_of(name, fit, term, first, second) for name, fit in zip(names, fits, strict=True)
    )
    if before.basis != after.basis:
        raise ValueError(
            "only one of the fits has estimated effects, so the claims refer to different things; "
            "compare fits of the same kind of model."
        )
    n_bins = [fit[term].n_bins for fit in fits]
    alike = fits[0][term].bin_labels == fits[1][term].bin_labels
    bins = n_bins[0] if alike else sum(n_bins)  # the edges of both grids
    factor = half_width(bins * (bins + 1) // 2)
    std = math.hypot(before.std, after.std)
    estimate = above_rounding(after.estimate - before.estimate, std)
    low, high = estimate - factor * std, estimate + factor * std
    holds = low > 0.0 or high < 0.0
    words = _words(fits, names, before, after, (estimate, low, high), holds)
    return Change(names, before, after, estimate, std, low, high, holds, words)


def _claim_of(name: str, fit: GlobalExplanation, term: str, first: Any, second: Any) -> Claim:
    """Make a claim about one fit, which errors name: the other may have other bins."""
    try:
        return claim(fit, term, first, second)
    except (KeyError, ValueError) as error:
        raise type(error)(f"{shorten(name)}: {error.args[0]}") from None


def _two(explanations: Any) -> tuple[tuple[str, str], tuple[GlobalExplanation, GlobalExplanation]]:
    if not isinstance(explanations, Mapping) or isinstance(explanations, GlobalExplanation):
        raise TypeError(
            f"explanations is a {type(explanations).__name__}; pass the earlier and the later fit "
            "by name: {'2023': earlier, '2024': later}."
        )
    if len(explanations) != 2:
        raise ValueError(f"a change is from one fit to another, got {len(explanations)} fits.")
    one, other = explanations
    for name, each in explanations.items():
        if not isinstance(each, GlobalExplanation):
            raise TypeError(
                f"{shorten(str(name))!r} is a {type(each).__name__}; pass explanations of one "
                "score: model.explain_global(), with .for_class(label) for three or more classes."
            )
    fits = (explanations[one], explanations[other])
    if [getattr(fits[0], name) for name in _SAME] != [getattr(fits[1], name) for name in _SAME]:
        raise ValueError("the fits have different targets or scores; compare fits of the same one.")
    return (str(one), str(other)), fits


def _words(
    fits: tuple[GlobalExplanation, GlobalExplanation],
    names: tuple[str, str],
    before: Claim,
    after: Claim,
    interval: tuple[float, float, float],
    holds: bool,
) -> str:
    guarantees = (before.guarantee, after.guarantee)
    at = "NOT PRIVATE: in these fits"
    if all(each.private for each in guarantees):
        stated = list(dict.fromkeys(upper_number(each.epsilon) for each in guarantees))
        which = "in each fit" if len(stated) == 1 else "in the two fits"
        at = f"At ε = {' and '.join(stated)} {which}"
    estimate, low, high = interval
    moved = "rose or fell" if estimate == 0 else "rose" if estimate > 0 else "fell"
    term = shorten(after.term)
    against = _both(before.second, after.second)
    if before.kind == "difference":
        against = f"records with {term} = {against}"
    values = [signed_number(each.estimate) for each in (before, after)]
    said = (
        f"{claimed_score(fits[1])} for records with {term} = {_both(before.first, after.first)} "
        f"{moved} compared with {against} from {shorten(names[0])} to {shorten(names[1])}, other "
        f"features equal: from {values[0]} to {values[1]}, a change of "
        f"{size_words(fits[1], estimate)}, 95% between {signed_number(low)} and "
        f"{signed_number(high)}"
    )
    if holds:
        return f"{at}, {said}."
    return f"{at}, it is uncertain whether {said}; {doubt(after.basis)}."


def _both(before: str, after: str) -> str:
    """Return the label of a bin, or both labels if the fits have different bins."""
    return shorten(before) if before == after else f"{shorten(before)} (later {shorten(after)})"
