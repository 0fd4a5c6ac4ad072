"""Audit of the final model: predictions, explanation and attributes.

The audit uses only what a fitted model publishes. Models are fitted many times with and without
the canary, which is a worst-case record. A linear discriminant is trained on some of the models to
recognize the canary from the published numbers. It is then applied to the other models, and its
error rates give a lower bound on epsilon. This is the classic membership audit with a worst-case
record [1]_. It makes no assumptions, but it needs a few hundred fits, and its bound cannot be much
larger than the logarithm of the number of fits.

References
----------
.. [1] Jagielski, Ullman and Oprea, "Auditing Differentially Private Machine Learning",
   NeurIPS 2020, arXiv:2006.07709.
"""

from __future__ import annotations

import copy
import numbers
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpexplain._utils.cloning import unfitted_copy
from dpexplain.audit.cases import CanaryCase
from dpexplain.audit.statistics.bounds import Guesses
from dpexplain.explain import GlobalExplanation
from dpexplain.models.additive.model import AdditiveModel

_NOT_LOOKED_AT = {"ledger_", "guarantee_", "schema_", "feature_names_in_", "n_features_in_"}
_LEARNING_SHARE = 0.4


@dataclass(frozen=True)
class FinalModelAudit:
    """Result of guessing whether final models were fitted with the canary.

    The guesses are about fits that the attacker was not trained on.

    Parameters
    ----------
    balanced : Guesses
        Guesses with a threshold of 0 for the attacker's score, which balances false alarms and
        misses. They give the best bound on the Gaussian-DP parameter.
    confident : Guesses
        Guesses with the threshold that gives the largest lower bound on epsilon for the fits that
        the attacker was trained on.
    epsilon, delta : float
        Epsilon and delta of the guarantee.
    mu : float or None
        Gaussian-DP parameter of the guarantee; None if the guarantee does not state one.

    Examples
    --------
    >>> from dpexplain import Classes, DPLogisticRegression
    >>> from dpexplain.audit import Subject, audit_final_model, canary_case
    >>> subject = Subject(DPLogisticRegression, Classes(["no", "yes"]), {})
    >>> audit = audit_final_model(canary_case(subject), n_fits=20)
    >>> audit.balanced.n_present
    12
    """

    balanced: Guesses
    confident: Guesses
    epsilon: float
    delta: float
    mu: float | None

    def epsilon_bound(self, confidence: float = 0.95) -> float:
        """Return a lower bound on epsilon that is valid for any mechanism.

        Parameters
        ----------
        confidence : float, default=0.95
            Confidence level of the bound.

        Returns
        -------
        float
        """
        return self.confident.epsilon_bound(self.delta, confidence)

    def mu_bound(self, confidence: float = 0.95) -> float:
        """Return a lower bound on the Gaussian-DP parameter of the final model.

        Parameters
        ----------
        confidence : float, default=0.95
            Confidence level of the bound.

        Returns
        -------
        float
        """
        return self.balanced.mu_bound(confidence)

    def violations(self, confidence: float) -> list[str]:
        """List the statements of the guarantee that the guesses refute.

        Parameters
        ----------
        confidence : float
            Confidence level: the minimum probability that no true statement is refuted.

        Returns
        -------
        list of str
            Empty if the audit found nothing.
        """
        alone = 1.0 - (1.0 - confidence) / 2.0
        epsilon, mu = self.epsilon_bound(alone), self.mu_bound(alone)
        found = []
        if epsilon > self.epsilon:
            found.append(f"epsilon is at least {epsilon:.3f}, and {self.epsilon:g} is stated")
        if self.mu is not None and mu > self.mu:
            found.append(f"mu is at least {mu:.3f}, and {self.mu:.3f} is stated")
        return found


def audit_final_model(case: CanaryCase, n_fits: int = 1000) -> FinalModelAudit:
    """Guess which final models were fitted with the canary.

    Parameters
    ----------
    case : CanaryCase
        Estimator and data sets.
    n_fits : int, default=1000
        Number of fits with the canary; just as many are made without it. The attacker is trained on
        40% of all these fits.

    Returns
    -------
    FinalModelAudit

    Examples
    --------
    >>> from dpexplain import Classes, DPLogisticRegression
    >>> from dpexplain.audit import Subject, audit_final_model, canary_case
    >>> subject = Subject(DPLogisticRegression, Classes(["no", "yes"]), {})
    >>> audit = audit_final_model(canary_case(subject), n_fits=20)    # 1,000 in earnest
    >>> audit.epsilon
    8.0
    """
    probes = case.present[0].drop_duplicates()
    present = np.arange(2 * n_fits) % 2 == 1
    learning = np.arange(2 * n_fits) < 2 * int(_LEARNING_SHARE * n_fits)
    seen = []
    for there in present:
        model = unfitted_copy(case.estimator).fit(*(case.present if there else case.absent))
        seen.append(observations(model, probes))
    suspicion = _suspicion(as_matrix(seen, learning), present, learning)
    guarantee = model.guarantee_
    threshold = _confident(suspicion[learning], present[learning], guarantee.delta)
    unseen, truth = suspicion[~learning], present[~learning]
    return FinalModelAudit(
        balanced=_guesses(unseen > 0.0, truth),
        confident=_guesses(unseen > threshold, truth),
        epsilon=guarantee.epsilon,
        delta=guarantee.delta,
        mu=guarantee.mu,
    )


def _guesses(told: NDArray[np.bool_], present: NDArray[np.bool_]) -> Guesses:
    return Guesses(
        n_absent=int((~present).sum()),
        false_alarms=int((told & ~present).sum()),
        n_present=int(present.sum()),
        misses=int((~told & present).sum()),
    )


def _confident(suspicion: NDArray[np.float64], present: NDArray[np.bool_], delta: float) -> float:
    """Return the suspicion threshold that gives the largest lower bound on epsilon."""
    tried = np.unique(np.quantile(suspicion, np.linspace(0.0, 1.0, 201)))
    bounds = [_guesses(suspicion > t, present).epsilon_bound(delta, 0.95) for t in tried]
    return float(tried[int(np.argmax(bounds))])


def observations(model: Any, probes: pd.DataFrame) -> dict[str, float]:
    """Return every number visible in a published model.

    Parameters
    ----------
    model : private estimator
        Fitted model.
    probes : DataFrame of shape (n_probes, n_features)
        Rows for which to request predictions.

    Returns
    -------
    dict of str to float
        Numbers from the scores of the probes, the global explanation and the public fitted
        attributes, keyed by name.
    """
    score = getattr(model, "decision_function", model.predict)
    found = {f"score {i}": v for i, v in enumerate(np.ravel(score(probes)))}
    found |= explained_numbers(without_bands(model).explain_global())
    for name, value in vars(model).items():
        if name.endswith("_") and not name.startswith("_") and name not in _NOT_LOOKED_AT:
            found |= dict(_flat(name, value))
    return found


def without_bands(model: Any) -> Any:
    """Return a copy of a model whose explanations have no bands.

    Bands are slow to compute and follow from the releases, so they reveal nothing more.

    Parameters
    ----------
    model : private estimator
        Fitted model.

    Returns
    -------
    private estimator
        A copy, or the model itself if it has no bands.
    """
    if not isinstance(model, AdditiveModel):
        return model
    bare = copy.copy(model)
    bare.__dict__.update(_noise=(), _effect=())
    return bare


@singledispatch
def explained_numbers(explanation: Any) -> dict[str, float]:
    """Return the numbers in a global explanation that can be compared between fits.

    Parameters
    ----------
    explanation : object
        Output of ``explain_global()``. If no function is registered for its type, the result is
        empty, and the model is attacked only through its predictions and attributes.

    Returns
    -------
    dict of str to float
    """
    return {}


@explained_numbers.register
def _(explanation: GlobalExplanation) -> dict[str, float]:
    found: dict[str, float] = {}
    for shape in explanation.values():
        found[f"{shape.name}: people"] = float(shape.count.sum())
        if shape.categories is None:
            continue  # numeric bins differ between fits; the scores of the probes cover them
        names = (*shape.categories, *shape.special)
        for name, score, count in zip(names, shape.contribution, shape.count, strict=True):
            found[f"{shape.name}={name}: score"] = float(score)
            found[f"{shape.name}={name}: people"] = float(count)
            # Scores are sums divided by noisy counts; the product recovers the sums.
            found[f"{shape.name}={name}: sum"] = float(score + explanation.intercept) * max(
                1.0, float(count)
            )
    return found


def _flat(name: str, value: Any) -> Iterator[tuple[str, float]]:
    """Yield the name and value of each number in an attribute.

    Sequences also yield their lengths, and each string yields the value 1 under a name that
    contains the string.
    """
    if isinstance(value, str):
        yield f"{name} is {value}", 1.0
    elif isinstance(value, numbers.Real):
        yield name, float(value)
    elif isinstance(value, np.ndarray) and value.ndim:
        yield from _flat(name, value.tolist())
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _flat(f"{name}[{key}]", item)
    elif isinstance(value, (list, tuple)):
        yield f"len({name})", float(len(value))
        for place, item in enumerate(value):
            yield from _flat(f"{name}[{place}]", item)


def as_matrix(seen: list[dict[str, float]], learning: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Stack observations as rows, with indicator columns for missing values.

    Parameters
    ----------
    seen : list of dict of str to float
        Observations from each model.
    learning : ndarray of shape (n_models,), dtype bool
        Mask of the models on which the scaling and the choice of columns are based.

    Returns
    -------
    ndarray of shape (n_models, n_numbers)
        Standardized observations, without columns that are constant on the attacker's training
        fits.
    """
    table = pd.DataFrame.from_records(seen).astype(np.float64)
    lacking = table.isna().astype(np.float64)
    matrix = np.hstack([table.fillna(table[learning].median()).fillna(0.0), lacking])
    center, spread = matrix[learning].mean(axis=0), matrix[learning].std(axis=0)
    varies = spread > 0
    standard = (matrix[:, varies] - center[varies]) / spread[varies]
    # A discriminant needs some variance within each group, and models without noise have none.
    jitter = np.random.default_rng(0).standard_normal(standard.shape)
    return np.asarray(standard + 1e-4 * jitter)


def _suspicion(
    matrix: NDArray[np.float64], present: NDArray[np.bool_], learning: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return a score for each model, positive if the canary is likely to be present."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    attacker = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    attacker.fit(matrix[learning], present[learning])
    return np.asarray(attacker.decision_function(matrix))
