"""Fits to public images, kept in a folder so that an interrupted run can be resumed."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from dpexplain.accounting import SubsampledGaussianEvent
from dpexplain.datasets import load_fashion_mnist, load_mnist
from dpexplain.models import DPLocallyLinearClassifier
from dpexplain.models.locally_linear.recipe import recipe_for

EPSILONS = (0.5, 1.0, 2.0, 4.0)
DELTA = 1e-5
N_EXPLAINED = 200

_LOADERS = {"mnist": load_mnist, "fashion_mnist": load_fashion_mnist}


@dataclass(frozen=True)
class Request:
    """A configuration to fit.

    Parameters
    ----------
    dataset : str
    epsilon : float
    settings : tuple of (str, object), default=()
        Further parameters of the estimator.
    """

    dataset: str
    epsilon: float
    settings: tuple[tuple[str, Any], ...] = ()

    def file(self, place: int) -> str:
        """Return the name of the file that stores fit number `place`."""
        given = dict(self.settings)
        preset = given.pop("preset", "accurate")
        resolved = repr(recipe_for(preset, grid=True, n_inputs=784, **given))
        key = sha256(json.dumps([self.settings, resolved]).encode()).hexdigest()[:10]
        return f"{self.dataset}-{self.epsilon:g}-{key}-{place}.npz"


@dataclass(frozen=True)
class Fit:
    """What is stored about a fit.

    Attributes
    ----------
    accuracy : float
        On the test images.
    seconds : float
        CPU time of the fit.
    noise_multiplier, sampling_probability : float
    n_steps : int
    filters, std : ndarray of shape (n_classes, n_filters, n_inputs), dtype float32
    local : ndarray of shape (N_EXPLAINED, n_inputs), dtype float32
        Weighted filter of the true class of the first test images.
    """

    accuracy: float
    seconds: float
    noise_multiplier: float
    sampling_probability: float
    n_steps: int
    filters: Any
    std: Any
    local: Any

    @property
    def events(self) -> list[SubsampledGaussianEvent]:
        """Return the events of the fit's releases."""
        return [
            SubsampledGaussianEvent(
                "gradients", self.noise_multiplier, self.sampling_probability, self.n_steps
            )
        ]


@lru_cache(maxsize=2)
def loaded(name: str) -> Any:
    """Return the training and test parts of a data set, or None if it is unavailable."""
    try:
        return _LOADERS[name]("train"), _LOADERS[name]("test")
    except ConnectionError:
        return None


def fitted(request: Request, place: int, keep: Path) -> Fit:
    """Return fit number `place` of a configuration: fresh noise, but a shared start.

    Parameters
    ----------
    request : Request
    place : int
    keep : Path
        Folder of fits that were made before.

    Returns
    -------
    Fit
    """
    path = keep / request.file(place)
    if path.is_file():
        with np.load(path) as kept:
            values = {name: kept[name] for name in kept.files}
        return Fit(**{n: v.item() if v.ndim == 0 else v for n, v in values.items()})
    fit = _fit(request)
    keep.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part.npz")
    np.savez(unfinished, **vars(fit))
    unfinished.replace(path)
    return fit


def _fit(request: Request) -> Fit:
    train, test = loaded(request.dataset)
    model = DPLocallyLinearClassifier(
        epsilon=request.epsilon,
        delta=DELTA,
        schema=train.schema,
        grid_shape=(28, 28),
        n_public=60_000,
        structure_seed=0,
        **dict(request.settings),
    )
    model.planned_events(train.X)  # the search for the noise multiplier is not the training
    start = time.process_time()
    model.fit(train.X, train.y)
    seconds = time.process_time() - start
    bank = model.explain_global()
    explained = model.explain_local(test.X[:N_EXPLAINED])
    label = [bank.classes.index(str(name)) for name in test.y[:N_EXPLAINED]]
    return Fit(
        accuracy=float(np.mean(model.predict(test.X) == test.y.to_numpy())),
        seconds=seconds,
        noise_multiplier=model.noise_multiplier_,
        sampling_probability=model.sampling_probability_,
        n_steps=model.n_steps_,
        filters=bank.filters.astype(np.float32),
        std=bank.filter_std.astype(np.float32),
        local=explained.effective[np.arange(N_EXPLAINED), label].astype(np.float32),
    )
