"""Objectives of boosting: loss, scale of the scores, and sensitivity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.bins import FeatureBins
from dpexplain.binning.counts import BinCounts
from dpexplain.explain.additive.links import Link
from dpexplain.mechanisms import Mechanism
from dpexplain.models.additive.targets import (
    classes_of,
    encoded_classes,
    encoded_counts,
    encoded_range,
    largest_count,
    range_unit,
)
from dpexplain.models.additive.terms import AdditiveTerms, Direction
from dpexplain.models.boosting.clipping import AdaptiveClip, Clip, FixedClip
from dpexplain.models.boosting.loop import PrivateStep
from dpexplain.models.boosting.poisson import CountStep
from dpexplain.models.boosting.recipe import Schedule
from dpexplain.models.boosting.records._kernels_exp import EXPONENT_SPAN
from dpexplain.models.boosting.records._kernels_sums import LATTICE
from dpexplain.models.boosting.records.binned import LOGISTIC, POISSON, SQUARED, Loss, softmax_loss
from dpexplain.models.boosting.released import Tables
from dpexplain.models.boosting.uncertainty.curvature import (
    Curvature,
    logistic_curvature,
    poisson_curvature,
    softmax_curvature,
    squared_curvature,
)
from dpexplain.schema import Schema

RegressionObjective: TypeAlias = Literal["squared", "poisson"]

LOGIT_BOUND = 30.0
"""Bound on the absolute value of a classifier's scores per bin, in log-odds."""

HALF_RANGE_BOUND = 8.0
"""Bound on the absolute value of a regression's scores per bin, in units of half the target
range."""

_CLASS_STEP = 0.4
"""Step length for several classes, divided by the step length for two classes and by the square
root of the number of classes. It depends on the number of classes because more classes mean a
smaller curvature p (1 - p) of each class, and smaller residuals compared with the noise."""


@dataclass(frozen=True)
class Objective:
    """Loss of a fit, its kernels, and the scale and bounds of the scores.

    Attributes
    ----------
    loss : Loss
        Kernels of the loss.
    link : {"logit", "identity", "log", "softmax"}
        Link function, which defines the scale of the scores.
    encode_target : callable
        ``encode_target(y, schema)`` returns the target in the form that the kernels expect.
    scale, offset : float
        Conversion from the internal units of the boosting loop: a score s in these units is
        ``offset + scale * s`` on the link scale.
    residual_unit : float
        Unit of the residuals in the boosting loop, expressed in units of the target (in units of
        probability for classes).
    half_range : float
        Half the public range of the target, in residual units of the boosting loop.
    start : float
        Public initial score of a private fit.
    bound : float
        Bound on the absolute value of the scores per bin, in internal units of the boosting loop.
    min_curvature : float
        Minimum curvature per leaf of a non-private fit.
    best_constant : callable
        Function that computes the initial score of a non-private fit from its encoded target.
    curvature : callable
        Function that computes the curvature per bin, which the noise simulation needs.
    step_factor : float, default=1.0
        Step length of a private fit, relative to the step length for two classes and for squared
        error.
    """

    loss: Loss
    link: Link
    encode_target: Callable[[Any, Schema], NDArray[np.float32]]
    scale: float
    offset: float
    residual_unit: float
    half_range: float
    start: float
    bound: float
    min_curvature: float
    best_constant: Callable[[NDArray[np.float32]], float]
    curvature: Callable[[AdditiveTerms, float, float | None], Curvature]
    step_factor: float = 1.0

    def sensitivity(self, clip: float) -> float:
        """Return a bound on the L2 norm of a record's residuals, in units of the clip.

        A single residual is within the clip even after rounding. The vector of residuals for
        several classes has a norm of at most ``sqrt(2)`` clips before rounding: if the residual of
        the record's own class is a, the residuals of the other classes sum to -a. Rounding changes
        each of C residuals by at most half a lattice step, so it changes the vector by at most
        ``sqrt(C) / 2`` steps. The bound also covers single-precision errors, with unit roundoff
        ``u = 2**-24``: probabilities add up to 1 with an error of at most ``C u``, and each
        residual is rounded five times.

        Parameters
        ----------
        clip : float
            Bound on ``1 - p`` for the record's own class.

        Returns
        -------
        float
        """
        n = self.loss.n_scores
        if n == 1:
            return 1.0
        rounding = np.sqrt(n) / 2.0 / LATTICE
        single_precision = 2.0**-24 * (8.0 + (n + 1) / clip)
        return float(np.sqrt(2.0) + rounding + single_precision)

    def private_step(
        self,
        mechanism: Mechanism,
        counts: Sequence[BinCounts],
        plan: Schedule,
        n_samples: float,
        *,
        given_clip: float | None,
        least_weight: float,
    ) -> PrivateStep | CountStep:
        """Create the step that converts noisy leaf sums to updates.

        Parameters
        ----------
        mechanism : Mechanism
        counts : sequence of BinCounts
            Noisy number of records in each bin of each feature.
        plan : Schedule
        n_samples : float
            Noisy number of records.
        given_clip : float or None
            Clip given by the user, in units of half the target range. Only the Poisson loss uses
            it; for the other losses, `plan` contains the clip.
        least_weight : float
            Minimum expected number of events in a leaf; see `CountStep`.

        Returns
        -------
        PrivateStep or CountStep
        """
        if self.loss is POISSON:
            return CountStep(
                mechanism,
                counts,
                learning_rate=plan.learning_rate,
                high=self.residual_unit,
                clip=None if given_clip is None else given_clip * self.half_range,
                least_weight=least_weight,
            )
        clip: Clip = FixedClip(plan.clip)
        if plan.clip_quantile is not None:
            clip = AdaptiveClip(mechanism, plan, n_samples, len(counts))
        return PrivateStep(
            mechanism, learning_rate=self.step_factor * plan.learning_rate, clip=clip
        )


def _zero(target: NDArray[np.float32]) -> float:
    return 0.0


def _log_mean(target: NDArray[np.float32]) -> float:
    return float(np.log(max(float(target.mean()), np.exp(-EXPONENT_SPAN))))


def logistic() -> Objective:
    """Return the objective for two classes, with log-odds as scores."""
    return Objective(
        loss=LOGISTIC,
        link="logit",
        encode_target=encoded_classes,
        scale=1.0,
        offset=0.0,
        residual_unit=1.0,
        half_range=1.0,
        start=0.0,
        bound=LOGIT_BOUND,
        min_curvature=2.0,
        best_constant=_zero,
        curvature=logistic_curvature,
    )


def softmax(schema: Schema) -> Objective:
    """Return the objective for several classes: softmax with centered scores."""
    n_classes = len(classes_of(schema).labels)
    return Objective(
        loss=softmax_loss(n_classes),
        link="softmax",
        encode_target=encoded_classes,
        scale=1.0,
        offset=0.0,
        residual_unit=1.0,
        half_range=1.0,
        start=0.0,
        bound=LOGIT_BOUND,
        min_curvature=2.0,
        best_constant=_zero,
        curvature=softmax_curvature,
        step_factor=_CLASS_STEP * float(np.sqrt(n_classes)),
    )


def classification(schema: Schema) -> Objective:
    """Return the classification objective for the classes in the schema."""
    return logistic() if len(classes_of(schema).labels) == 2 else softmax(schema)


def squared(schema: Schema) -> Objective:
    """Return the squared-error objective, in units of half the public target range."""
    half_range, middle = range_unit(schema)
    return Objective(
        loss=SQUARED,
        link="identity",
        encode_target=encoded_range,
        scale=half_range,
        offset=middle,
        residual_unit=half_range,
        half_range=1.0,
        start=0.0,
        bound=HALF_RANGE_BOUND,
        min_curvature=10.0,
        best_constant=_zero,
        curvature=squared_curvature,
    )


def poisson(schema: Schema) -> Objective:
    """Return the Poisson objective, in units of the largest public count."""
    high = largest_count(schema)
    half_range, middle = range_unit(schema)
    return Objective(
        loss=POISSON,
        link="log",
        encode_target=encoded_counts,
        scale=1.0,
        offset=float(np.log(high)),
        residual_unit=high,
        half_range=half_range / high,
        start=float(np.log(middle / high)),
        bound=EXPONENT_SPAN,
        min_curvature=10.0 / high,
        best_constant=_log_mean,
        curvature=partial(poisson_curvature, high=high),
    )


def regression(name: RegressionObjective, schema: Schema) -> Objective:
    """Return the regression objective with the given name."""
    return poisson(schema) if name == "poisson" else squared(schema)


def _std_between(tables: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the standard deviation of each bin's centered score across the bags."""
    centered = tables - np.tensordot(tables, shares, axes=(1, 0))[:, None]
    return np.asarray(centered.std(axis=0, ddof=1), dtype=np.float64)


def centered_terms(
    bins: Sequence[FeatureBins],
    bags: Sequence[Tables],
    counts: Sequence[NDArray[np.float64]],
    objective: Objective,
    *,
    neutral: Sequence[NDArray[np.bool_]],
    monotone: Sequence[Direction | None],
) -> AdditiveTerms:
    """Average the bags and center each term, on the link scale.

    Parameters
    ----------
    bins : sequence of FeatureBins
    bags : sequence of list of ndarray
        Scores per bin of each bag, as returned by `boost`.
    counts : sequence of ndarray
        Number of records in each bin; negative noisy counts have zero weight.
    objective : Objective
        Objective of the fit, which defines the scale of the scores.
    neutral : sequence of ndarray of shape (n_bins,)
        True for bins whose contribution is set to zero, such as a bin for missing values that might
        be empty: its score would depend only on the leaves to which it was assigned at random.
    monotone : sequence of {"increasing", "decreasing", None}
        Required direction of each curve; None if unconstrained.

    Returns
    -------
    AdditiveTerms
    """
    weights = [np.where(n, 0.0, np.maximum(c, 0.0)) for c, n in zip(counts, neutral, strict=True)]
    shares = [w / w.sum() if w.sum() > 0 else w for w in weights]
    one_score = objective.loss.n_scores == 1
    curves = [list(parts) for parts in zip(*bags, strict=True)]
    if not one_score:  # adding one number to the scores of all classes changes no probability
        curves = [[t - t.mean(axis=1, keepdims=True) for t in parts] for parts in curves]
        neutral = [n[:, None] for n in neutral]
    tables = [np.mean(parts, axis=0) for parts in curves]
    means = [w @ t for w, t in zip(shares, tables, strict=True)]
    scale = objective.scale
    scores = tuple(
        np.where(n, 0.0, scale * (t - m)) for t, m, n in zip(tables, means, neutral, strict=True)
    )
    bag_std = None
    if len(bags) > 1:
        bag_std = tuple(
            np.where(n, 0.0, scale * _std_between(np.array(parts), w))
            for parts, w, n in zip(curves, shares, neutral, strict=True)
        )
    intercept = objective.offset + scale * sum(means)
    return AdditiveTerms(
        tuple(bins),
        scores,
        tuple(counts),
        float(intercept) if one_score else np.asarray(intercept),
        objective.link,
        tuple(monotone),
        bag_std,
    )
