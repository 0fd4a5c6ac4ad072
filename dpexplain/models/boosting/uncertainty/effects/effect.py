"""Estimate of the population's true curves from all released sums."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpexplain.models.additive.terms import AdditiveTerms
from dpexplain.models.boosting.objectives import Objective
from dpexplain.models.boosting.records.binned import POISSON
from dpexplain.models.boosting.released import PrivateFit
from dpexplain.models.boosting.uncertainty.effects.class_estimate import (
    MOST_COEFFICIENTS,
    ClassEstimate,
)
from dpexplain.models.boosting.uncertainty.effects.constrained import constrained_curves
from dpexplain.models.boosting.uncertainty.effects.counts import LARGEST
from dpexplain.models.boosting.uncertainty.effects.estimate import (
    CAREFUL,
    MANY_CLASSES,
    EffectDraws,
    Estimate,
    std_of_terms,
)


def estimate_effect(
    fit: PrivateFit, terms: AdditiveTerms, objective: Objective
) -> tuple[EffectDraws, ...]:
    """Estimate the population's true curves from released numbers only.

    If a term is constrained, its estimated curve is monotone.

    Parameters
    ----------
    fit : PrivateFit
        The released fit.
    terms : AdditiveTerms
        Centered terms of the fit, in score units.
    objective : Objective
        The objective of the fit.

    Returns
    -------
    tuple of EffectDraws
        One estimate or, for more than two classes, one for each class. It is empty if the target
        has counts larger than 2,000, if there are too many classes and features, or if the noise
        makes released numbers overflow.
    """
    if objective.loss.n_scores > 1:
        return _of_classes(fit, terms, objective)
    found = _found(fit, terms, objective)
    if found is None:
        return ()
    if not any(fit.monotone):
        return (found,)
    stds = std_of_terms(found.errors, found.curves)
    curves, shift = constrained_curves(found.curves, stds, fit.binned.counts, fit.monotone)
    return (replace(found, curves=curves, intercept=found.intercept + shift),)


def _found(fit: PrivateFit, terms: AdditiveTerms, objective: Objective) -> EffectDraws | None:
    if objective.loss is POISSON and not 1.0 <= objective.residual_unit <= LARGEST:
        return None
    try:
        with np.errstate(all="ignore"):
            found = Estimate(fit, terms, objective, CAREFUL).result()
    except np.linalg.LinAlgError:
        return None
    return found if _is_finite(found) else None


def _of_classes(
    fit: PrivateFit, terms: AdditiveTerms, objective: Objective
) -> tuple[EffectDraws, ...]:
    try:
        with np.errstate(all="ignore"):
            estimate = ClassEstimate(fit, terms, objective, MANY_CLASSES)
            if estimate.n_coefficients > MOST_COEFFICIENTS:
                return ()
            found = estimate.result()
    except np.linalg.LinAlgError:
        return ()
    return found if all(_is_finite(each) for each in found) else ()


def _is_finite(found: EffectDraws) -> bool:
    parts = (*found.curves, found.errors, np.array([found.intercept]))
    return all(bool(np.isfinite(part).all()) for part in parts)
