"""Check that the noise is independent and has the scale that was charged for.

The noise of a recorded fit is the difference between its answers and its queries. In units of the
charged scale, it must be standard normal. Its scale is checked by a chi-square test, and its
distribution by the Dvoretzky-Kiefer-Wolfowitz bound on the distance to the normal distribution. The
noise of different fits, and of the releases of one fit, must be uncorrelated.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from dpexplain.audit.charges import by_label, private_events, stated_over_charged
from dpexplain.audit.recording import Transcript, record
from dpexplain.audit.records import Records
from dpexplain.audit.releases import standard_noise

# The product of two independent standard normal variables has standard deviation 1 and slightly
# heavier tails than a normal variable. The mean of some hundred products is more than seven
# standard deviations from zero with probability below 1e-9.
_CORRELATION_LIMIT = 7.0


@dataclass(frozen=True)
class NoiseAudit:
    """Test results for the noise of all releases with one label, over several fits.

    Parameters
    ----------
    label : str
        Label of the releases.
    n_draws : int
        Number of noisy values examined.
    scale : float
        Standard deviation of the noise in these values, divided by the charged standard deviation.
    scale_limits : tuple of float
        Limits that contain `scale` with probability ``1 - alpha`` if the noise is correct.
    distance : float
        Kolmogorov-Smirnov distance from the Gaussian distribution.
    distance_limit : float
        Limit that `distance` exceeds with probability at most `alpha`.
    correlations : dict of str to float
        Correlations of the noise, keyed "between fits" and "between releases": the mean product of
        paired values, times the square root of the number of products. They are approximately
        standard normal if all noise is independent.

    Examples
    --------
    >>> from dpexplain import Classes, DPLogisticRegression
    >>> from dpexplain.audit import Subject, audit_noise, canary_case
    >>> subject = Subject(DPLogisticRegression, Classes(["no", "yes"]), {})
    >>> case = canary_case(subject)
    >>> audit = audit_noise(case.estimator, case.present, n_draws=200)[0]
    >>> audit.scale_limits[0] < audit.scale < audit.scale_limits[1]
    True
    """

    label: str
    n_draws: int
    scale: float
    scale_limits: tuple[float, float]
    distance: float
    distance_limit: float
    correlations: dict[str, float]

    @property
    def problems(self) -> list[str]:
        """Descriptions of the faults found in the noise; empty if there are none."""
        low, high = self.scale_limits
        found = []
        if not low <= self.scale <= high:
            found.append(f"{self.label}: {self.scale:.3f} times the noise that was charged for")
        if self.distance > self.distance_limit:
            found.append(f"{self.label}: the noise is not Gaussian")
        for what, value in self.correlations.items():
            if abs(value) > _CORRELATION_LIMIT:
                found.append(f"{self.label}: the noise repeats {what}")
        return found


def audit_noise(
    estimator: Any,
    records: Records,
    *,
    n_draws: int = 1000,
    max_fits: int = 200,
    alpha: float = 1e-9,
) -> list[NoiseAudit]:
    """Test the noise of recorded fits, separately for each label.

    Parameters
    ----------
    estimator : private estimator
        Estimator with a schema and a `structure_seed`.
    records : tuple of DataFrame and Series
        Public or simulated data.
    n_draws : int, default=1000
        Number of noisy values to examine per label; fits are repeated until there are enough. To
        detect a noise standard deviation of 0.8 times the correct one, 1000 draws are enough.
    max_fits : int, default=200
        Maximum number of fits. If each fit releases only one value with a label, no more than this
        number of draws can be examined for the label; 200 draws are enough to reveal halved noise.
    alpha : float, default=1e-9
        Probability of a false alarm per test.

    Returns
    -------
    list of NoiseAudit

    Examples
    --------
    >>> from dpexplain import Classes, DPLogisticRegression
    >>> from dpexplain.audit import Subject, audit_noise, canary_case
    >>> subject = Subject(DPLogisticRegression, Classes(["no", "yes"]), {})
    >>> case = canary_case(subject)
    >>> audits = audit_noise(case.estimator, case.present, n_draws=50)
    >>> all(audit.n_draws >= 50 for audit in audits)
    True
    """
    fits: list[dict[str, list[NDArray[np.float64]]]] = []
    drawn: Counter[str] = Counter()
    while len(fits) < 2 or (len(fits) < max_fits and min(drawn.values()) < n_draws):
        fits.append(_noise(*record(estimator, *records)))
        drawn.update({label: sum(map(len, noise)) for label, noise in fits[-1].items()})
    return [_audit(label, [fit[label] for fit in fits], alpha) for label in fits[0]]


def _noise(model: Any, transcript: Transcript) -> dict[str, list[NDArray[np.float64]]]:
    """Return the noise of releases in units of the charged scale, keyed by label."""
    events, phases = by_label(private_events(model)), by_label(transcript.phases)
    # The replay reports releases that no event pays for; here they need only the noise they state.
    factor = {
        label: stated_over_charged(events[label][0], events[label], released)
        if label in events
        else 1.0
        for label, released in phases.items()
    }
    noise: dict[str, list[NDArray[np.float64]]] = {label: [] for label in phases}
    for phase, query, answer in zip(
        transcript.phases, transcript.queries, transcript.answers, strict=True
    ):
        noise[phase.label].append(_noise_of(phase, query, answer, factor[phase.label]))
    return noise


def _noise_of(
    phase: Any, query: NDArray[np.int64], answer: NDArray[np.int64], factor: float
) -> NDArray[np.float64]:
    """Return the noise of one release in units of the charged scale."""
    return standard_noise(phase.with_noise(1.0 / factor), query, answer)


def _audit(label: str, fits: list[list[NDArray[np.float64]]], alpha: float) -> NoiseAudit:
    z = np.concatenate([one for fit in fits for one in fit])
    n = len(z)
    # Chi-square quantiles with n degrees of freedom are twice the gamma quantiles of shape n / 2.
    low, high = (2.0 * special.gammaincinv(n / 2, p) for p in (alpha / 2, 1.0 - alpha / 2))
    return NoiseAudit(
        label=label,
        n_draws=n,
        scale=float(np.sqrt(np.mean(z**2))),
        scale_limits=(float(np.sqrt(low / n)), float(np.sqrt(high / n))),
        distance=_ks_distance(z),
        distance_limit=float(np.sqrt(np.log(2.0 / alpha) / (2 * n))),
        correlations={
            "between fits": _correlation(
                [(np.concatenate(a), np.concatenate(b)) for a, b in _pairs(fits)]
            ),
            "between releases": _correlation([pair for fit in fits for pair in _pairs(fit)]),
        },
    )


def _pairs(items: list[Any]) -> list[tuple[Any, Any]]:
    return list(pairwise(items))


def _correlation(pairs: list[tuple[NDArray[np.float64], NDArray[np.float64]]]) -> float:
    """Return the normalized sum of elementwise products; 0 if there are no pairs."""
    products = [a[: len(b)] * b[: len(a)] for a, b in pairs]
    count = sum(map(len, products))
    return float(sum(p.sum() for p in products) / np.sqrt(count)) if count else 0.0


def _ks_distance(z: NDArray[np.float64]) -> float:
    share = special.ndtr(np.sort(z))
    steps = np.arange(len(z) + 1) / len(z)
    return float(max((steps[1:] - share).max(), (share - steps[:-1]).max()))
