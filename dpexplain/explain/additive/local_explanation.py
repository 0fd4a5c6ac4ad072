"""Local explanations: the contribution of each term to the score of each sample."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dpexplain._utils.lazy import pd
from dpexplain.explain import _html
from dpexplain.explain._interpret_local import InterpretLocal
from dpexplain.explain._record import FloatArray, Record, distinct, finite, read_only, text, texts
from dpexplain.explain._text import counted, short_number, signed_number
from dpexplain.explain.additive.links import Link, checked_classes, score_unit, shown_class
from dpexplain.explain.display import LocalDisplay
from dpexplain.explain.guarantee import Guarantee
from dpexplain.explain.noise_model import normal_certainty

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_HTML_ROWS = 10
_LARGEST_LOG = 700.0  # its exponential is finite


def total_score(contributions: npt.ArrayLike, intercept: npt.ArrayLike) -> FloatArray:
    """Return the scores of an additive model: the intercept plus all contributions.

    Terms are added to the intercept in model order. All scores in the library are computed by this
    function, so the intercept plus the contributions of a sample is bit-for-bit identical to the
    score used for its prediction.

    Parameters
    ----------
    contributions : array-like of shape (n_samples, n_terms) or (n_samples, n_terms, n_classes)
        Contributions on the link scale.
    intercept : float or array-like of shape (n_classes,)
        Score before contributions are added, on the link scale.

    Returns
    -------
    ndarray of float64, shape (n_samples,) or (n_samples, n_classes)
        Scores on the link scale.

    Examples
    --------
    >>> total_score([[1.0, 0.5], [-1.0, 0.0]], 0.25)
    array([ 1.75, -0.75])
    """
    matrix = np.asarray(contributions, dtype=np.float64)
    if matrix.ndim not in (2, 3):
        raise ValueError(f"contributions must have two dimensions, or three, got {matrix.ndim}.")
    score = np.full((matrix.shape[0], *matrix.shape[2:]), intercept, dtype=np.float64)
    for term in range(matrix.shape[1]):
        score += matrix[:, term]
    return score


def rest_scores(scores: npt.ArrayLike) -> FloatArray:
    """Return, for each class, the log-sum-exp of the scores of the other classes.

    The probability of a class is the logistic function of the difference between its score and this
    value. All multiclass probabilities in the library are computed in this way.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_classes)
        Scores on the softmax scale.

    Returns
    -------
    ndarray of float64, shape (n_samples, n_classes)
        Logarithm of the summed exponentials of the scores of all other classes.
    """
    values = np.asarray(scores, dtype=np.float64)
    rests = np.empty(values.shape)
    for c in range(values.shape[1]):
        others = np.delete(values, c, axis=1)
        top = others.max(axis=1)
        rests[:, c] = top + np.log(np.exp(others - top[:, None]).sum(axis=1))
    return rests


def inverse_link(scores: npt.ArrayLike, link: str) -> FloatArray:
    """Convert scores to predictions by applying the inverse link function.

    Parameters
    ----------
    scores : array-like of float
        Scores on the link scale.
    link : {"logit", "identity", "log"}
        Scale of the scores.

    Returns
    -------
    ndarray of float64
        Probabilities of the second class in ``[0, 1]``, predicted targets, or expected counts. They
        have the same shape as `scores` and are always finite.

    Examples
    --------
    >>> inverse_link([0.0, -2000.0], "logit")
    array([0.5, 0. ])
    """
    values = np.asarray(scores, dtype=np.float64)
    if link == "identity":
        return values
    if link == "log":
        return np.asarray(np.exp(np.minimum(values, _LARGEST_LOG)), dtype=np.float64)
    small = np.exp(-np.abs(values))  # at most 1, so that nothing overflows
    return np.where(values >= 0, 1.0, small) / (1.0 + small)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class LocalExplanation(InterpretLocal, Record, LocalDisplay):
    """Contribution of each term to the score of each sample.

    Parameters
    ----------
    term_names : sequence of str
        Names of the terms, in model order.
    contributions : array-like of shape (n_samples, n_terms)
        Score added by each term, on the link scale.
    intercept : float
        Score before contributions are added, on the link scale.
    link : {"logit", "identity", "log", "softmax"}
        Scale of the score.
    bin_labels : sequence of sequences of str, shape (n_samples, n_terms)
        Label of the bin into which each sample falls, for each term.
    guarantee : Guarantee
        Privacy guarantee of the model behind the contributions; it does not cover the samples.
    classes : tuple of str or None, default=None
        Class names of a classifier. If there are two classes, the score is for the second class.
    samples_public : bool, default=False
        Whether the samples may be shown to anyone, because they are public records or what-if
        inputs.
    target_name : str, default="target"
        Name of the target.
    target_unit : str, default=""
        Unit of the target, for regression.
    noise_std : array-like of shape (n_samples, n_terms) or None, default=None
        Standard deviation of each contribution due to privacy noise, given the released bins
        and trees.
    total_std : array-like of shape (n_samples, n_terms) or None, default=None
        Standard deviation of each contribution due to privacy noise, random structure and sampling
        together, as in :class:`ShapeFunction`. For a pair, random structure is not included. Pass
        None if the deviations are unknown.
    score_std : array-like of shape (n_samples,) or None, default=None
        Standard deviation of each score due to privacy noise, random structure and sampling,
        computed from the joint errors of the terms. If there are several classes, it is an upper
        bound on the standard deviation of the difference between the score and `rest_score`,
        because the errors of the classes are assumed to add up.
    of_class : str, default=""
        Class to which the score refers if there are several classes (link "softmax").
    rest_score : array-like of shape (n_samples,) or None, default=None
        Combined score of the other classes for the link "softmax"; see :func:`rest_scores`.

    Raises
    ------
    ValueError
        If shapes are inconsistent or a number is not finite.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(epsilon=1, schema=stays.schema)
    >>> model = model.fit(stays.X, stays.y)
    >>> explanation = model.explain_global()
    >>> invented = stays.schema.simulate(2, seed=0)[0]
    >>> local = explanation.explain_local(invented, samples_public=True)
    >>> local.contributions.shape, local.scores.shape
    ((2, 12), (2,))
    """

    term_names: tuple[str, ...]
    contributions: FloatArray
    intercept: float
    link: Link
    _: dataclasses.KW_ONLY
    bin_labels: tuple[tuple[str, ...], ...]
    guarantee: Guarantee
    classes: tuple[str, ...] | None = None
    samples_public: bool = False
    target_name: str = "target"
    target_unit: str = ""
    noise_std: FloatArray | None = None
    total_std: FloatArray | None = None
    score_std: FloatArray | None = None
    of_class: str = ""
    rest_score: FloatArray | None = None

    def __post_init__(self) -> None:
        """Check that the fields are consistent and freeze the arrays."""
        for field in ("target_name", "target_unit"):
            text(field, getattr(self, field))
        if not isinstance(self.guarantee, Guarantee):
            raise ValueError("guarantee must be a Guarantee.")
        names = distinct("term_names", texts("term_names", self.term_names))
        self._set("term_names", names)
        matrix = read_only("contributions", self.contributions, (None, len(names)))
        self._set("contributions", matrix)
        self._set("intercept", finite("intercept", self.intercept))
        self._set("classes", checked_classes(self.link, self.classes, self.of_class))
        self._set("samples_public", bool(self.samples_public))
        self._set("bin_labels", _label_rows(self.bin_labels, matrix.shape))
        shapes: dict[str, tuple[int, ...]] = {
            "noise_std": matrix.shape,
            "total_std": matrix.shape,
            "score_std": matrix.shape[:1],
            "rest_score": matrix.shape[:1],
        }
        if (self.rest_score is None) == (self.link == "softmax"):
            raise ValueError("link='softmax' needs rest_score, and no other link has it.")
        for name, shape in shapes.items():
            if getattr(self, name) is not None:
                self._set(name, read_only(name, getattr(self, name), shape))
                if name != "rest_score" and (getattr(self, name) < 0).any():
                    raise ValueError(f"{name} must not be negative.")

    def __len__(self) -> int:
        """Return the number of samples."""
        return int(self.contributions.shape[0])

    @property
    def scores(self) -> FloatArray:
        """Scores on the link scale, shape (n_samples,); see :func:`total_score`."""
        return total_score(self.contributions, self.intercept)

    @property
    def shown_class(self) -> str:
        """Class to which the score refers; empty for regression."""
        return shown_class(self.classes, self.of_class)

    @property
    def predictions(self) -> FloatArray:
        """Probabilities of :attr:`shown_class`, or predicted values of the target."""
        if self.rest_score is not None:
            return inverse_link(self.scores - self.rest_score, "logit")
        return inverse_link(self.scores, self.link)

    @property
    def sign_certainty(self) -> FloatArray | None:
        """Probability that the sign of each contribution is correct.

        The shape is (n_samples, n_terms), and the values range from 0.5 (a coin flip) to 1. They
        account for privacy noise, random structure and sampling if all three are known, and
        otherwise only for privacy noise. The result is None if there is no noise, or if it is
        unknown.
        """
        std = self.noise_std if self.total_std is None else self.total_std
        if std is None:
            return None
        flat = np.abs(self.contributions)
        ratio = np.divide(flat, std, out=np.where(flat > 0, np.inf, 0.0), where=std > 0)
        return normal_certainty(ratio)

    def crossing_certainty(self, threshold: float | None = None) -> FloatArray | None:
        """Return the probability that a prediction is on the correct side of a threshold.

        Parameters
        ----------
        threshold : float or None, default=None
            For a classifier, a probability; None means 0.5. If there are several classes, this is
            the probability of :attr:`shown_class`. For regression, a value in units of the
            target; there is no default.

        Returns
        -------
        ndarray of shape (n_samples,) or None
            Probabilities from 0.5 (a coin flip) to 1; None if `score_std` is unknown.

        Raises
        ------
        ValueError
            If the threshold is missing (regression), not between 0 and 1 (classification), or not
            positive (regression with a log link).
        """
        score = self._threshold_score(threshold)
        if self.score_std is None:
            return None
        against = 0.0 if self.rest_score is None else self.rest_score
        gap = np.abs(self.scores - against - score)
        ratio = np.divide(
            gap, self.score_std, out=np.where(gap > 0, np.inf, 0.0), where=self.score_std > 0
        )
        return normal_certainty(ratio)

    def _threshold_score(self, threshold: float | None) -> float:
        if self.link in ("identity", "log"):
            if threshold is None:
                raise ValueError(
                    "a regression has no default threshold; pass one in the target's unit."
                )
            value = finite("threshold", threshold)
            if self.link == "identity":
                return value
            if not value > 0:
                raise ValueError(
                    f"threshold={value!r} must be positive, because expected counts are positive."
                )
            return float(np.log(value))
        share = finite("threshold", 0.5 if threshold is None else threshold)
        if not 0 < share < 1:
            raise ValueError(f"threshold={share!r} must be a probability between 0 and 1.")
        return float(np.log(share / (1.0 - share)))

    @property
    def score_unit(self) -> str:
        """Unit of scores and contributions, such as ``"log-odds"``."""
        return score_unit(self.link, self.target_name, self.target_unit)

    def frame(self, sample: int | None = None) -> pd.DataFrame:
        """Return a table with one row per sample and term.

        Parameters
        ----------
        sample : int or None, default=None
            Index of one sample; None returns all samples.

        Returns
        -------
        DataFrame
            Columns sample, term, bin, contribution, noise_std, total_std and sign_certainty; the
            last three are NaN if unknown. The score of a sample is the intercept plus the
            contributions of the sample, added in order.
        """
        chosen = np.arange(len(self)) if sample is None else np.array([self._position(sample)])
        n_terms = len(self.term_names)
        names = ("noise_std", "total_std", "sign_certainty")
        known = {name: getattr(self, name) for name in names}
        unknown = np.full((len(self), n_terms), np.nan)
        return pd.DataFrame(
            {
                "sample": np.repeat(chosen, n_terms),
                "term": list(self.term_names) * len(chosen),
                "bin": [label for row in chosen for label in self.bin_labels[row]],
                "contribution": self.contributions[chosen].ravel(),
                **{
                    name: (unknown if values is None else values)[chosen].ravel()
                    for name, values in known.items()
                },
            }
        )

    def plot(self, sample: int = 0, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw one sample as a waterfall chart; see :func:`dpexplain.plotting.plot_local`.

        Parameters
        ----------
        sample : int, default=0
            Index of the sample.
        ax : Axes or None, default=None
            Axes to draw into; None creates a figure.
        **options
            Passed on to the plotting function.

        Returns
        -------
        Axes
            The axes with the plot.
        """
        from dpexplain.plotting import plot_local

        return plot_local(self, sample=sample, ax=ax, **options)

    def __repr__(self) -> str:
        """Return a one-line summary that suggests what to call next."""
        public = "" if self.samples_public else "; samples not public"
        return (
            f"LocalExplanation({counted(len(self), 'sample')}, {len(self.term_names)} terms; "
            f"{self.guarantee.short}{public}; see .frame(), .plot(sample))"
        )

    def _repr_html_(self) -> str:
        return self._html_box(f"{len(self.term_names)} terms", self._first_sample())

    def _first_sample(self) -> str:
        if not len(self):
            return ""
        values = self.contributions[0]
        largest = float(np.abs(values).max(initial=0.0)) or 1.0
        order = np.argsort(-np.abs(values), kind="stable")[:_HTML_ROWS]
        rows = [
            (
                _html.escaped(self.term_names[term]),
                _html.escaped(self.bin_labels[0][term], 30),
                signed_number(values[term]),
                _html.bar(abs(values[term]) / largest, negative=values[term] < 0),
            )
            for term in order
        ]
        head = ("term", "sample 0", self.score_unit or "contribution", "")
        score = short_number(float(self.scores[0]))
        prediction = short_number(float(self.predictions[0]))
        what = f"P({self.shown_class})" if self.classes else "prediction"
        end = f"sample 0: intercept {short_number(self.intercept)}, score {score}, {what} "
        return _html.table(head, rows, (False, False, True, False)) + _html.note(end + prediction)


def _label_rows(
    rows: Sequence[Sequence[str]], shape: tuple[int, ...]
) -> tuple[tuple[str, ...], ...]:
    labels = tuple(texts("bin_labels", row) for row in rows)
    if len(labels) != shape[0] or any(len(row) != shape[1] for row in labels):
        raise ValueError(f"bin_labels must have shape {shape}, as the contributions have.")
    return labels
