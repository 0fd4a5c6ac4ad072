"""Studies of the networks to which Harder, Bauer and Park, AAAI 2020, compare."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain import DPLocallyLinearClassifier
from filter_looks import smoothness
from image_data import DELTA, images
from locally_linear_cnn_claims import (
    BESIDE_CNN,
    BESIDE_CNN_DIGITS,
    CNN,
    LARGE,
    NETWORKS,
    PATH,
    SMALL,
    TO_IMAGE,
    TO_SMOOTH,
)
from locally_linear_filters import NEIGHBORS, OUR_MODEL
from sources import HARDER as PAPER
from study import Cell, Row, Study

_N_EXPLAINED = 200
N_FITS = 5
_ROOT = Path(__file__).parents[2]
_NOTEBOOKS = _ROOT / "notebooks"
FITS = _ROOT / "build" / "papers" / "fits"
"""A fit is kept here, like a cell, since several cells compare with it."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Explained:
    """A fitted model's results on the test images.

    Attributes
    ----------
    accuracy : float
    seconds : float
        CPU time of the fit.
    explanations : dict of str to ndarray of shape (n_images, n_pixels)
        By kind, of the score of the true class of the first test images.
    looks : list of (str, str, float)
        Further numbers, after the kind of explanation and the metric.
    """

    accuracy: float
    seconds: float
    explanations: dict[str, Floats]
    looks: list[tuple[str, str, float]]


def digit_cells(fast: bool) -> list[Cell]:
    """Return a cell per privacy level; each fits all models several times."""
    return [
        {"data": "digits", "epsilon": e} for e in ((None, 2.0) if fast else (None, 0.5, 2.0, 8.0))
    ]


def image_cells(fast: bool) -> list[Cell]:
    """Return cells of minutes; a fast run has only one, on digits."""
    if fast:
        return [{"data": "digits", "epsilon": 2.0}]
    return _levels({"mnist": (None, 2.0, 0.5), "fashion_mnist": (None, 2.0)})


def network_cells(fast: bool) -> list[Cell]:
    """Return cells of minutes on a GPU; a fast run has the smallest."""
    if fast:
        return _levels({"mnist": (None,)})
    return _levels({"mnist": (None, 2.0, 0.5), "fashion_mnist": (None, 5.4, 2.0, 1.19)})


def _levels(epsilons: dict[str, tuple[float | None, ...]]) -> list[Cell]:
    return [{"data": data, "epsilon": e} for data, levels in epsilons.items() for e in levels]


def measure(data: str, epsilon: float | None) -> list[Row]:
    """Measure the network of the notebook and our model."""
    return _measured(data, epsilon, (CNN,))


def measure_networks(data: str, epsilon: float | None) -> list[Row]:
    """Measure the networks of the paper and our model."""
    return _measured(data, epsilon, (LARGE, SMALL))


def _measured(data: str, epsilon: float | None, networks: tuple[str, ...]) -> list[Row]:
    """Measure the accuracy of all models, and how well their explanations agree.

    Each fit is compared with the next one, which has another start, batches and noise.
    """
    rows = []
    for model in (*networks, OUR_MODEL):
        for repeat in range(N_FITS):
            following = (repeat + 1) % N_FITS
            one = fit(data, model, epsilon, repeat)
            other, plain = (fit(data, model, e, following) for e in (epsilon, None))
            setting = {"data": data, "model": model, "epsilon": epsilon}
            common = {**setting, "repeat": repeat, "cpu_s": one.seconds}
            values: list[tuple[str | None, str, float]] = [(None, "accuracy", one.accuracy)]
            for kind, found in one.explanations.items():
                values.append(
                    (kind, "cosine between fits", _cosine(found, other.explanations[kind]))
                )
                if epsilon is not None:
                    agreement = _cosine(found, plain.explanations[kind])
                    values.append((kind, "cosine to not private", agreement))
            rows += [
                {**common, "explanation": kind, "metric": metric, "value": value}
                for kind, metric, value in [*values, *one.looks]
            ]
    for network in networks:
        for repeat in range(N_FITS):
            pair = (fit(data, model, epsilon, repeat) for model in (network, OUR_MODEL))
            rows += _across(data, epsilon, repeat, network, *pair)
    return rows


def _across(
    data: str,
    epsilon: float | None,
    repeat: int,
    network: str,
    deep: Explained,
    linear: Explained,
) -> list[Row]:
    """Return the agreement of exact and network explanations, on same and other images.

    Other images show how much agrees just because all explanations of these data look alike.
    """
    common = {"data": data, "model": OUR_MODEL, "epsilon": epsilon, "repeat": repeat}
    rows = []
    for ours, theirs in (("exact", "integrated gradients"), ("weighted filter", "SmoothGrad")):
        a, b = linear.explanations[ours], deep.explanations[theirs]
        own = f"cosine to {theirs} of the {network}"
        pairs = {own: b, f"{own}, another image": np.roll(b, 1, axis=0)}
        for metric, against in pairs.items():
            row = {"explanation": ours, "metric": metric, "value": _cosine(a, against)}
            rows.append({**common, "cpu_s": linear.seconds, **row})
    return rows


def _cosine(a: Floats, b: Floats) -> float:
    return float(_networks().cosines(a, b).mean())


def _networks() -> Any:
    """Import the notebook's functions for networks, which need the extra ``deep``."""
    if str(_NOTEBOOKS) not in sys.path:
        sys.path.append(str(_NOTEBOOKS))
    import deep_comparator
    import torch

    torch.set_num_threads(1)
    return deep_comparator


@cache
def fit(data: str, model: str, epsilon: float | None, place: int) -> Explained:
    """Make fit number `place`, with its own start, batches and noise, or read it if it is kept."""
    path = FITS / f"{data} {model} {epsilon} {place}.npz".replace(" ", "_").replace(",", "")
    if path.is_file():
        with np.load(path) as kept:
            numbers = json.loads(str(kept["numbers"]))
            found = {kind: kept[kind].astype(float) for kind in kept if kind != "numbers"}
        return Explained(**{**numbers, "explanations": found})
    made = (_linear if model == OUR_MODEL else _deep)(data, model, epsilon, place)
    numbers = {k: v for k, v in asdict(made).items() if k != "explanations"}
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(f".{os.getpid()}.npz")
    pictures = {kind: found.astype(np.float32) for kind, found in made.explanations.items()}
    np.savez(scratch, numbers=json.dumps(numbers), **pictures)
    scratch.replace(path)
    return made


@dataclass(frozen=True)
class _Prepared:
    """Images as networks see them, and places of their labels."""

    train: Floats
    test: Floats
    y_train: NDArray[np.int64]
    y_test: NDArray[np.int64]


@lru_cache(maxsize=2)
def _prepared(data: str) -> _Prepared:
    networks, pictures = _networks(), images(data)
    known = {label: place for place, label in enumerate(pictures.schema.target.labels)}
    labels = [np.array([known[y] for y in part]) for part in (pictures.y_train, pictures.y_test)]
    pixels = (networks.prepared(part) for part in (pictures.X_train, pictures.X_test))
    return _Prepared(*pixels, *labels)


def layers_of(model: str) -> Any:
    """Return the layers of a network of the paper, with a random start.

    The first is the example that the paper cites. Of the second it prints only the kinds of layers
    and the number of weights: the network in the examples of TensorFlow Privacy and of Opacus has
    both.
    """
    from torch import nn

    if model == LARGE:
        return nn.Sequential(
            *(nn.Conv2d(1, 20, 5), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(20, 50, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
            *(nn.Linear(800, 500), nn.ReLU(), nn.Linear(500, 10)),
        )
    return nn.Sequential(
        *(nn.Conv2d(1, 16, 8, stride=2, padding=3), nn.ReLU(), nn.MaxPool2d(2, stride=1)),
        *(nn.Conv2d(16, 32, 4, stride=2), nn.ReLU(), nn.MaxPool2d(2, stride=1), nn.Flatten()),
        *(nn.Linear(512, 32), nn.ReLU(), nn.Linear(32, 10)),
    )


def _training(data: str, model: str, epsilon: float | None) -> Any:
    """Return the training settings; those of our network were chosen on held-out images."""
    training = _networks().Training
    if model == CNN and data == "digits":
        if epsilon is None:
            return training(n_epochs=30, batch_size=50, learning_rate=3e-3)
        return training(n_epochs=60, batch_size=1437, learning_rate=4e-2)
    if model == CNN:
        if epsilon is None:
            return training(n_epochs=5, batch_size=200, learning_rate=3e-3)
        return training(n_epochs=10, batch_size=2000, learning_rate=1e-2)
    if epsilon is not None:
        return training(n_epochs=20, batch_size=256, learning_rate=0.25, clip=1.5, momentum=0.0)
    if model == LARGE:
        return training(n_epochs=10, batch_size=64, learning_rate=0.01, momentum=0.5)
    return training(n_epochs=20, batch_size=256, learning_rate=0.1, momentum=0.0)


def _deep(data: str, model: str, epsilon: float | None, place: int) -> Explained:
    networks, pictures = _networks(), _prepared(data)
    training = _training(data, model, epsilon)
    start = time.process_time()
    network = networks.train(
        pictures.train,
        pictures.y_train,
        training,
        epsilon=epsilon,
        delta=DELTA,
        seed=place,
        layers=None if model == CNN else partial(layers_of, model),
    )
    seconds = time.process_time() - start
    shown, classes = pictures.test[:_N_EXPLAINED], pictures.y_test[:_N_EXPLAINED]
    side = round(shown.shape[1] ** 0.5)
    smooth = networks.smooth_grad(network, shown, classes)
    path = networks.integrated_gradients(network, shown, classes, times_image=False)
    looks = [(PATH, TO_SMOOTH, _cosine(path, smooth))]
    for kind, found in ((PATH, path), ("SmoothGrad", smooth)):
        looks.append((kind, NEIGHBORS, smoothness(found, side)))
        looks.append((kind, TO_IMAGE, _cosine(found, shown)))
    return Explained(
        networks.accuracy(network, pictures.test, pictures.y_test),
        seconds,
        {"integrated gradients": path * shown, "SmoothGrad": smooth},
        looks,
    )


def _linear(data: str, _: str, epsilon: float | None, place: int) -> Explained:
    pictures = images(data)
    labels = pictures.schema.target.labels
    settings = {**pictures.settings, **pictures.private_settings, "structure_seed": place}
    private = DPLocallyLinearClassifier(epsilon or 1.0, **settings)
    model: Any = private
    if epsilon is None:
        model = private.reference_estimator().set_params(random_state=place)
    start = time.process_time()
    model.fit(pictures.X_train, pictures.y_train)
    seconds = time.process_time() - start
    classes = np.array([labels.index(y) for y in pictures.y_test[:_N_EXPLAINED]])
    found = model.explain_local(pictures.X_test[:_N_EXPLAINED], samples_public=True)
    rows = np.arange(len(classes))
    top = model.explain_global().filters[classes, found.top_filters[rows, classes]]
    exact = found.contributions[rows, classes]
    return Explained(
        float(model.score(pictures.X_test, pictures.y_test)),
        seconds,
        {"exact": exact, "weighted filter": found.effective[rows, classes]},
        [
            ("top filter", "cosine to exact", _cosine(top * found.inputs, exact)),
            ("top filter", NEIGHBORS, smoothness(top, pictures.side)),
        ],
    )


def _without_gpu() -> str:
    """Say what large networks lack, unless somebody has hours of CPU time for them."""
    if os.environ.get("PAPERS_WITHOUT_GPU") or not importlib.util.find_spec("torch"):
        return ""
    import torch

    if torch.cuda.is_available():
        return ""
    return "a GPU (or PAPERS_WITHOUT_GPU=1, and hours of CPU time)"


_NEEDS = ("torch", "captum")
_PROTOCOL = """All models see images that are centered and of one norm; delta 1e-5, add/remove.
Networks are trained with privacy by clipped and noisy gradients of Poisson samples (noise by
privacy loss distributions, idealized real arithmetic), without it by those of parts of a
permutation: our own by Adam with a rate that falls linearly, those of printed sizes by SGD.
Locally linear: recipe accurate. Several fits of each, which differ in start, batches and noise,
as do the fits with and without privacy that are compared; the column n says how many are in the
table. We explain the score of the true class of 200 test images: Integrated Gradients (50 steps,
zero baseline) and SmoothGrad (25 copies, noise 0.2 of the range) of a network by Captum, exact
contributions and weighted filter of ours. Agreement is the mean cosine over images; the
published pictures have no such number. For figures 2, 4 and 9, Integrated Gradients are not
multiplied by the image, as in the paper: their cosines to SmoothGrad and to the image, and the
correlation of neighboring pixels. In all their other cosines, as for figure 8, they are
multiplied by the image.""".replace("\n", " ")


def _published(data: str, model: str, epsilon: float | None, value: float) -> Row:
    setting = {"data": data, "model": model, "metric": "accuracy", "epsilon": epsilon}
    return {**setting, "published": value}


STUDIES: tuple[Study, ...] = (
    Study(
        name=NETWORKS,
        paper=PAPER,
        shows="section 4.1 and figures 2, 4, 8 and 9 as numbers: accuracy of networks of the "
        "paper's sizes and of locally linear models with and without privacy, and how far their "
        "explanations agree",
        protocol=f"{_PROTOCOL} Two networks: one of 431,080 weights, the example of PyTorch "
        "that the paper cites, as it was then, and one of 26,010, of which it prints this "
        "number, the kinds of layers (two convolutions, two dense) and the accuracy of figure 8: "
        "the network in the examples of TensorFlow Privacy and Opacus has this number and these "
        "layers. It prints epsilon, but no other setting of their training; its authors' code "
        "(frhrdr/dp-llm on GitHub) trains the large one without privacy only, as PyTorch's "
        "example does. With privacy, both have the rate 0.25, clip 1.5 and samples of 256 that "
        "TensorFlow Privacy printed for epsilon 1.19, the one of figure 8. Without privacy, the "
        "large one has PyTorch's example (rate 0.01, momentum 0.5, batches of 64, 10 epochs), "
        "the small one TensorFlow Privacy's (rate 0.1, batches of 256). 20 epochs, where "
        "TensorFlow Privacy has 15 with privacy; the networks were not tuned. The table was made "
        "on one NVIDIA H200, ten processes at a time; seconds are of CPU time. The study is left "
        "out where PyTorch sees no GPU, unless PAPERS_WITHOUT_GPU=1 is set.",
        cells=network_cells,
        measure=measure_networks,
        published=(
            _published("mnist", LARGE, None, 0.99),
            _published("fashion_mnist", LARGE, None, 0.87),
            _published("fashion_mnist", LARGE, 1.19, 0.75),
            _published("fashion_mnist", SMALL, 1.19, 0.81),
        ),
        causes=(
            {
                "data": "fashion_mnist",
                "epsilon": None,
                "metric": "accuracy",
                "cause": "not settled: trained as in the authors' code, but images here are "
                "centered and of one norm",
            },
            {
                "data": "fashion_mnist",
                "metric": "accuracy",
                "cause": "not settled: the paper does not print the settings of its private "
                "networks",
            },
        ),
        needs=_NEEDS,
        missing=_without_gpu,
    ),
    Study(
        name=BESIDE_CNN,
        paper=PAPER,
        shows="section 4.1 and figures 3, 4 and 8 as numbers, with a smaller network of our own, "
        "which needs no GPU: its accuracy and that of locally linear models, and how far their "
        "explanations agree",
        protocol=f"{_PROTOCOL} A network of 14,634 weights with tanh, whose rates were chosen on "
        "held-out training images of digits and MNIST at epsilon 2; Poisson samples of 2,000, 10 "
        "epochs, without privacy 5. Epsilon 0.5 and 2 on MNIST, 2 on Fashion-MNIST. "
        "The printed accuracies are of networks that the paper cites. CPU seconds are from more "
        "than one machine. A fast run has digits.",
        cells=image_cells,
        measure=measure,
        published=(_published("mnist", CNN, 2.0, 0.95), _published("mnist", CNN, 0.5, 0.92)),
        causes=(
            {
                "data": "mnist",
                "model": CNN,
                "metric": "accuracy",
                "cause": "not settled: the paper cites networks of others; ours is another, has a "
                "tighter accountant and was tuned on held-out training images",
            },
        ),
        needs=_NEEDS,
    ),
    Study(
        name=BESIDE_CNN_DIGITS,
        paper=PAPER,
        shows="the same on a few small images: digits of scikit-learn, which the paper lacks",
        protocol=f"{_PROTOCOL} A network of 9,258 weights with tanh, whose rates were chosen on "
        "held-out training images at epsilon 2; all 1,437 training images in each of 60 steps, "
        "without privacy 30 epochs.",
        cells=digit_cells,
        measure=measure,
        needs=_NEEDS,
    ),
)
