"""Figures 7 and 10 of Harder et al.: maps of a table next to a network's gradients."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler

from dpexplain import DPLocallyLinearClassifier, LocallyLinearClassifier
from locally_linear_filters import (
    ALIKE,
    ATTRIBUTIONS,
    NETWORK,
    OUR_MODEL,
    SPARSE,
    STRONG,
    TO_NETWORK,
)
from paper_locally_linear import clinical
from sources import HARDER as PAPER
from study import Cell, Row, Study

N_SPLITS = 25
N_PER_CLASS = 20
N_STEPS = 50
N_LARGEST = 5
DELTA = 2e-5
EPSILONS = (STRONG, 1.5, None)
Values = NDArray[np.float64]


def mean_gradients(network: Any, inputs: Values) -> Values:
    """Return integrated gradients from zero, not multiplied by the inputs.

    Parameters
    ----------
    network : MLPClassifier
        Fitted, with rectified units.
    inputs : ndarray of shape (n_records, n_inputs)

    Returns
    -------
    ndarray of shape (n_records, n_scores, n_inputs)
        Mean over the path; times the inputs and summed over them, how far the scores rise.
    """
    shares = (np.arange(N_STEPS) + 0.5) / N_STEPS
    return np.mean([_gradients(network, share * inputs) for share in shares], axis=0)


def _gradients(network: Any, inputs: Values) -> Values:
    """Return gradients of the scores, propagated back through the ReLU layers."""
    values, open_units = inputs, []
    for weights, biases in zip(network.coefs_[:-1], network.intercepts_[:-1], strict=True):
        values = values @ weights + biases
        open_units.append(values > 0)
        values = np.maximum(values, 0.0)
    back = np.broadcast_to(network.coefs_[-1].T, (len(inputs), *network.coefs_[-1].T.shape))
    for weights, opened in zip(network.coefs_[-2::-1], open_units[::-1], strict=True):
        back = (back * opened[:, None, :]) @ weights.T
    return back


def _of_class(maps: Values, classes: NDArray[np.intp]) -> Values:
    """Return the map of each record's class minus the mean over classes."""
    if maps.shape[1] == 1:  # two classes have one score
        maps = np.concatenate([-maps, maps], axis=1)
    return np.asarray((maps - maps.mean(axis=1, keepdims=True))[np.arange(len(maps)), classes])


def _unit(maps: Values) -> Values:
    return maps / np.maximum(np.linalg.norm(maps, axis=1, keepdims=True), 1e-12)


def _alike(maps: Values, classes: NDArray[np.intp]) -> float:
    """Return the mean cosine between maps of two records of the same class."""
    found = []
    for k in np.unique(classes):
        units = _unit(maps[classes == k])
        n = len(units)
        found.append((np.sum(units @ units.T) - n) / (n * (n - 1)))
    return float(np.mean(found))


def _sparse(maps: Values) -> float:
    """Return the mean proportion of absolute weight held by the largest weights."""
    sizes = -np.sort(-np.abs(maps), axis=1)
    return float((sizes[:, :N_LARGEST].sum(axis=1) / sizes.sum(axis=1)).mean())


def cells(fast: bool) -> list[Cell]:
    """Return a cell per split."""
    return [{"split": split} for split in range(1 if fast else N_SPLITS)]


def measure(split: int) -> list[Row]:
    """Measure similarity and sparsity of test records' maps, for a network and our model."""
    name, X, y, schema = clinical()
    parts = train_test_split(X, y, test_size=0.2, random_state=split, stratify=y)
    X_train, X_test, y_train, y_test = parts
    places = pd.Series(range(len(y_test)), y_test.index)
    rows = np.concatenate([places[y_test == k][:N_PER_CLASS] for k in schema.target.labels])
    labels = list(schema.target.labels)
    classes = np.array([labels.index(label) for label in y_test.iloc[rows]])
    models = {e: _fitted(e, schema, X_train, y_train, split) for e in EPSILONS}
    bank = models[None][0].explain_global()
    scaler = StandardScaler().fit(bank.inputs(X_train))
    inputs = scaler.transform(bank.inputs(X_train))
    records = scaler.transform(bank.inputs(X_test.iloc[rows]))
    order = [sorted(labels).index(label) for label in labels]
    gradients, seconds = [], []
    for seed in (split, N_SPLITS + split):
        start = time.process_time()
        network = MLPClassifier((128, 128, 128), max_iter=500, random_state=seed)
        network.fit(inputs, y_train)
        seconds.append(time.process_time() - start)
        found = mean_gradients(network, records)
        gradients.append(_of_class(found[:, order] if found.shape[1] > 1 else found, classes))
    maps = {(NETWORK, None): (gradients[1], seconds[1])}
    for epsilon, (model, took) in models.items():
        explained = model.explain_local(X_test.iloc[rows], samples_public=True)
        weighted = np.asarray(explained.effective) * scaler.scale_
        maps[OUR_MODEL, epsilon] = _of_class(weighted, classes), took
    return [
        {"data": name, "model": model, "epsilon": epsilon, "metric": metric}
        | {"repeat": split, "value": value, "cpu_s": took}
        for (model, epsilon), (found, took) in maps.items()
        for metric, value in (
            (TO_NETWORK, float((_unit(found) * _unit(gradients[0])).sum(axis=1).mean())),
            (ALIKE, _alike(found, classes)),
            (SPARSE, _sparse(found)),
        )
    ]


def _fitted(epsilon: float | None, schema: Any, X: Any, y: Any, seed: int) -> tuple[Any, float]:
    """Return a locally linear model with two maps per class, and its CPU seconds."""
    start = time.process_time()
    if epsilon is None:
        model: Any = LocallyLinearClassifier(schema=schema, n_filters=2, random_state=seed)
    else:
        private = {"delta": DELTA, "n_public": len(X), "structure_seed": seed}
        model = DPLocallyLinearClassifier(epsilon, schema=schema, n_filters=2, **private)
    model.fit(X, y)
    return model, time.process_time() - start


STUDIES = (
    Study(
        name=ATTRIBUTIONS,
        paper=PAPER,
        shows="figures 7 and 10 as numbers: weighted maps of single records compared with "
        "integrated gradients of a network",
        protocol="Cardiotocography (2,126 records, 21 inputs, three classes) instead of the "
        "hospital records of the paper (100,140 records, 62 inputs, four classes); "
        f"{N_SPLITS} stratified splits 80/20, up to {N_PER_CLASS} test records per class, where "
        "the paper shows one of each class (figure 7) and four of two classes (figure 10). "
        f"Two maps per class, delta 2e-5, add/remove, recipe accurate, epsilon {STRONG:g} and 1.5 "
        "(below 0.1 and about 1.5 in the paper). The network has three layers of 128 units and is "
        "scikit-learn's, without privacy. Integrated gradients of the true class have 50 steps "
        "from the mean record and are not multiplied by the inputs, as in the paper on images. All "
        "maps are per standard deviation of an input, less the mean over classes. The "
        f"network's row compares two networks that differ in their start. Sparse: share of the "
        f"absolute weights on the {N_LARGEST} largest of 21. The paper judges colors.",
        cells=cells,
        measure=measure,
    ),
)
