"""Two remarks of Harder et al. on their choices: temperatures, and how filters of a class vary."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from locally_linear_filters import FIGURES, TEMPERATURES, TOP_ALIKE, VARIETY
from paper_locally_linear import N_FITS, fitted_images, measure_images, setting_of, without
from sources import HARDER as PAPER
from study import Cell, Row, Study

N_IMAGES = 100
_TEMPERATURES = (1.0 / 30.0, 1.0)


def temperature_cells(fast: bool) -> list[Cell]:
    """Return a cell per fit with each of the two inverse temperatures that the paper prints."""
    if fast:
        small = {"n_basis": 40, "n_filters": 5, "inverse_temperature": 1.0}
        return [{**setting_of("digits", 2.0, **small), "repeat": 0}]
    return [
        {**setting_of(data, epsilon, inverse_temperature=value), "repeat": repeat}
        for repeat in range(N_FITS)
        for epsilon in (2.0, None)
        for data in FIGURES
        for value in _TEMPERATURES
    ]


def variety_cells(fast: bool) -> list[Cell]:
    """Return a cell per fit without privacy."""
    if fast:
        return [{**without("digits", None), "repeat": 0}]
    return [{**without("fashion_mnist", None), "repeat": repeat} for repeat in range(N_FITS)]


def measure_variety(**cell: Any) -> list[Row]:
    """Measure, for each class, how alike the top filters of two of its test images are."""
    model, pictures, seconds = fitted_images(**cell)
    bank = model.explain_global()
    accuracy = float(model.score(pictures.X_test, pictures.y_test))
    values: list[tuple[str | None, str, float]] = [(None, "accuracy", accuracy)]
    for place, label in enumerate(bank.classes):
        images = pictures.X_test[np.asarray(pictures.y_test == label)][:N_IMAGES]
        shares = model.explain_local(images, samples_public=True).weightings[:, place]
        top = bank.filters[place, shares.argmax(axis=1)]
        values.append((str(label), TOP_ALIKE, mean_cosine(top)))
    common = {name: cell[name] for name in ("data", "model", "epsilon")}
    return [
        {**common, "class": label, "metric": metric, "repeat": cell["repeat"]}
        | {"value": value, "cpu_s": seconds}
        for label, metric, value in values
    ]


def mean_cosine(vectors: NDArray[np.float64]) -> float:
    """Return the mean cosine over all pairs of different rows."""
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    n = len(units)
    return float((np.sum(units.sum(axis=0) ** 2) - n) / (n * (n - 1)))


STUDIES = (
    Study(
        name=TEMPERATURES,
        paper=PAPER,
        shows="section 4.1: accuracy on each data set with the inverse temperature that the paper "
        "prints for it, and with that of the other one",
        protocol="The paper's settings (30 filters per class, 300 numbers, 20 epochs), with "
        "inverse temperatures of 1/30 (printed for MNIST) and 1 (printed for Fashion-MNIST), at "
        "epsilon 2 and without privacy; otherwise as locally_linear_mnist. In the table, fits with "
        "the printed one are those of which locally_linear_mnist and locally_linear_fashion_mnist "
        "have looks; a run here makes other ones.",
        cells=temperature_cells,
        measure=measure_images,
    ),
    Study(
        name=VARIETY,
        paper=PAPER,
        shows="figure 3 as a number: how alike the filters are that images of a class are "
        "explained by",
        protocol="Settings of the paper (30 filters per class) without privacy and projection, "
        "as the filters that the figure shows can be read. The top filter "
        f"of the true class for the first {N_IMAGES} test images of a class; mean cosine over all "
        "pairs of these images, which is 1 where both have the same filter.",
        cells=variety_cells,
        measure=measure_variety,
    ),
)
