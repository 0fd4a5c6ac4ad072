"""What stays the same under fresh noise, and whether the stated noise is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from bench_images import Fit


@dataclass(frozen=True)
class Coverage:
    """How weights of refits scatter around their mean.

    Attributes
    ----------
    share : float
        Weights within 1.96 stated standard deviations.
    spread : float
        Realized over stated standard deviation, pooled.
    """

    share: float
    spread: float


def coverage(fits: Sequence[Fit]) -> dict[str, Coverage]:
    """Compare stated standard deviations with refits from the same start.

    Parameters
    ----------
    fits : sequence of Fit
        At least two.

    Returns
    -------
    dict of str to Coverage
        For weights of single filters. A weight is compared with the mean of the other refits,
        whose own noise widens the band by a factor ``sqrt(1 + 1 / (n - 1))``.
    """
    filters = np.stack([fit.filters for fit in fits]).astype(np.float64)
    stated = np.stack([fit.std for fit in fits]).astype(np.float64)
    n = len(fits)
    apart = (filters - filters.mean(axis=0)) * n / (n - 1)
    scaled = apart / (stated * np.sqrt(1.0 + 1.0 / (n - 1)))
    return {"single filters": Coverage(float((np.abs(scaled) < 1.96).mean()), _rms(scaled))}


def repeatability(fits: Sequence[Fit]) -> tuple[float, float]:
    """Return the mean cosine between refits, for filters and for local explanations.

    Parameters
    ----------
    fits : sequence of Fit
        At least two, with the same start.

    Returns
    -------
    filters, local : float
        Local explanations are the weighted filters of the true class of test images.
    """
    pairs = list(combinations(fits, 2))
    return (
        float(np.mean([_cosine(a.filters, b.filters) for a, b in pairs])),
        float(np.mean([_cosine(a.local, b.local) for a, b in pairs])),
    )


def _cosine(a: Any, b: Any) -> float:
    a, b = a.astype(np.float64), b.astype(np.float64)
    lengths = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    return float(((a * b).sum(axis=-1) / np.maximum(lengths, 1e-30)).mean())


def _rms(values: Any) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
