"""What Harder et al. 2020 claim about locally linear maps, compared with our tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

import locally_linear_cnn_claims
from claims import (
    NOT_TESTABLE,
    Claim,
    NotMeasuredError,
    Tables,
    of_all,
    untested,
)
from locally_linear_filters import (
    ALIKE,
    ALMOST_ALL,
    OTHER_TEMPERATURE,
    PAPER_MODEL,
    PUBLISHED,
    SPARSE,
    STRONG,
    TO_NETWORK,
    TOP_ALIKE,
    VARIETY,
    attribution_words,
    attributions,
    clearer,
    clinical_cost,
    dominated,
    fits,
    found,
    level,
    listed,
    looked,
    looks,
    looks_words,
    many_maps,
    many_maps_words,
    maps_fall,
    maps_words,
    network,
    of_network,
    printed_accuracies,
    two_maps,
)
from sources import HARDER as PAPER

FIGURES = {"mnist": "locally_linear_mnist", "fashion_mnist": "locally_linear_fashion_mnist"}
TABLE = "locally_linear_table"
MATCHED = "cosine of matched filters of two fits"
_SAME = 0.8
"""Filters whose cosine is at least so large are the same; our threshold."""

_SMALL = 0.01
"""Difference of accuracies that counts as none: a point."""


def _grid(tables: Tables, data: str, epsilon: float | None, **other: Any) -> float:
    """Return the accuracies on the grid of figure 5."""
    usual = {"model": PAPER_MODEL, "projection": "per_filter", "n_basis": 300, "n_filters": 30}
    setting = {**usual, **other, "data": data, "epsilon": epsilon}
    return found(tables[FIGURES[data]], FIGURES[data], **setting)


def _images(tables: Tables) -> list[str]:
    """Return the names of the image data sets that were measured."""
    names = [data for data, study in FIGURES.items() if study in tables]
    if not names:
        raise NotMeasuredError(FIGURES["mnist"])
    return names


def _projection(tables: Tables) -> dict[str, tuple[float, float]]:
    return {
        f"{data} {level(epsilon)}": (
            _grid(tables, data, epsilon),
            _grid(tables, data, epsilon, projection="none", n_basis=None),
        )
        for data in _images(tables)
        for epsilon in (0.5, 2.0)
    }


def _filters(tables: Tables, some: int) -> dict[str, tuple[float, float]]:
    """Return the accuracy with some filters per class and with all 30."""
    return {
        f"{data} {level(e)}": (
            _grid(tables, data, e, n_filters=some),
            _grid(tables, data, e),
        )
        for data in _images(tables)
        for e in (2.0, None)
    }


def _filters_on(tables: Tables, data: str, some: int) -> dict[str, tuple[float, float]]:
    found = {name: pair for name, pair in _filters(tables, some).items() if name.startswith(data)}
    if not found:
        raise NotMeasuredError(FIGURES[data])
    return found


def _more_filters(tables: Tables, data: str) -> list[bool]:
    """Are 30 filters worse than 10 with privacy, and better without?"""
    pairs = _filters_on(tables, data, 10)
    return [(ten > thirty) == ("at" in name.split()) for name, (ten, thirty) in pairs.items()]


def _sizes(tables: Tables) -> dict[str, list[float]]:
    """Return the accuracy at epsilon 2 with projections to 50, 100 and 300 numbers."""
    names = _images(tables)
    return {data: [_grid(tables, data, 2.0, n_basis=d) for d in (50, 100, 300)] for data in names}


def _clinical(tables: Tables, epsilon: float | None) -> float:
    return found(tables[TABLE], TABLE, epsilon=epsilon)


def _filters_alike(tables: Tables) -> dict[str, float]:
    return {level(e): found(tables[TABLE], TABLE, epsilon=e, metric=MATCHED) for e in (None, 2.0)}


def _clinical_falls(tables: Tables) -> bool:
    found = [_clinical(tables, epsilon) for epsilon in (0.5, 1.0, 2.0, 4.0)]
    return found == sorted(found)


def _by_epsilon(tables: Tables) -> dict[str, list[tuple[float, float]]]:
    """Return epsilon and accuracy of the fits with 20 epochs, smallest epsilon first."""
    table = tables[PUBLISHED].sort_values("epsilon")
    groups = table.groupby("data")
    return {d: list(zip(g["epsilon"], g["mean"], strict=True)) for d, g in groups}


def _temperatures(tables: Tables) -> dict[str, tuple[float, float]]:
    """Return the accuracy with the printed inverse temperature and with the other one."""
    other = tables[OTHER_TEMPERATURE]
    return {
        f"{data} {level(e)}": (
            _grid(tables, data, e),
            found(other, OTHER_TEMPERATURE, data=data, epsilon=e),
        )
        for data in FIGURES
        for e in (2.0, None)
    }


def _variety(tables: Tables) -> pd.Series:
    """Return how alike the top filters of two images are, by class, the least alike first."""
    table = tables[VARIETY]
    rows = table[table["metric"] == TOP_ALIKE]
    return rows.set_index("class")["mean"].sort_values()


def _variety_words(tables: Tables) -> str:
    table = tables[VARIETY]
    accuracy = found(table, VARIETY)
    classes = ", ".join(f"{label} {alike:.2f}" for label, alike in _variety(tables).items())
    errors = table.loc[table["metric"] == TOP_ALIKE, "sd"] / table["n"].max() ** 0.5
    return (
        f"{TOP_ALIKE}, by class: {classes}; standard errors of at most {errors.max():.2g}; "
        f"accuracy {accuracy:.3f}"
    )


_SHOWN = "3 epochs instead of 20, without privacy and projection; more varied: a smaller cosine"
_HOSPITAL = (
    "cardiotocography (2,126 records, 21 inputs, three classes) instead of 100,140 hospital "
    "records with 62 inputs and four classes; three filters instead of two; delta 1e-5 instead of "
    "2e-5; five splits instead of ten restarts"
)
_CLINIC = (
    "cardiotocography (2,126 records, 21 inputs, three classes) instead of 100,140 hospital "
    "records with 62 inputs and four classes"
)
_RECORDS = f"{_CLINIC}; 5 splits, up to 20 test records of each class"
_RECIPE = "with our recipe (20 filters, 120 frequencies), not the paper's settings"


def _few(more: str = "") -> Callable[[Tables], str]:
    """Describe how the grids with few epochs differ from the paper."""
    return lambda t: (
        f"3 epochs instead of 20; {fits(FIGURES['mnist'])(t)} on MNIST, "
        f"{fits(FIGURES['fashion_mnist'])(t)} on Fashion-MNIST{more}"
    )


_LOW = {"mnist": 0.8, "fashion_mnist": 0.7}

CLAIMS = (
    untested(
        PAPER,
        "figure 1",
        "Accuracy, privacy and interpretability trade off, as a drawing",
        "a drawing, which claims no number",
        NOT_TESTABLE,
    ),
    Claim(
        PAPER,
        "figure 2",
        "Without projection, and then at epsilon 5.2, filters become readable again",
        lambda t: looks_words(t, "correlation of neighboring pixels"),
        lambda t: of_all(clearer(t)),
        lambda t: (
            f"{looked(t)}; the correlation of neighboring pixels stands for how readable a "
            "filter is, where the paper judges pictures"
        ),
    ),
    Claim(
        PAPER,
        "figure 3",
        "On clothing a single filter has almost all of the weight in most cases, here more than "
        "0.9 for more than half of the images",
        lambda t: looks_words(t, ALMOST_ALL, "fashion_mnist"),
        lambda t: of_all(dominated(t, "fashion_mnist")),
        lambda t: f"{looked(t, 'fashion_mnist')}; the thresholds are ours",
    ),
    Claim(
        PAPER,
        "section 4.1",
        "Locally linear maps reach 94.2% on MNIST at epsilon 2 and 91.8% at 0.5, and 83.2% and "
        "80.7% on Fashion-MNIST (a point is close enough)",
        lambda t: listed(printed_accuracies(t), "ours", "published"),
        lambda t: of_all(
            abs(ours - paper) < _SMALL for ours, paper in printed_accuracies(t).values()
        ),
        lambda t: (
            f"{fits(PUBLISHED)(t)}; the text prints the two figures of Fashion-MNIST in the "
            "opposite order, which we take to be a slip"
        ),
    ),
    Claim(
        PAPER,
        "figure 5",
        "Accuracy grows with epsilon (left panel)",
        lambda t: "; ".join(
            f"{data}: {', '.join(f'{e:g} {v:.3f}' for e, v in values)}"
            for data, values in _by_epsilon(t).items()
        ),
        lambda t: of_all(v[0][1] < v[1][1] for v in _by_epsilon(t).values()),
        lambda t: (
            f"{fits(PUBLISHED)(t)}; epsilon 0.5 and 2 only; also on Fashion-MNIST, which the "
            "figure does not show"
        ),
    ),
    Claim(
        PAPER,
        "figure 5",
        "Too many filters lower private accuracy, but more keep helping without privacy (center)",
        lambda t: listed(_filters_on(t, "mnist", 10), "10", "30"),
        lambda t: of_all(_more_filters(t, "mnist")),
        _few("; filters 1, 10 and 30"),
    ),
    Claim(
        PAPER,
        "figure 5",
        "The same on Fashion-MNIST",
        lambda t: listed(_filters_on(t, "fashion_mnist", 10), "10", "30"),
        lambda t: of_all(_more_filters(t, "fashion_mnist")),
        _few("; filters 1, 10 and 30; our question: the figure is about MNIST only"),
    ),
    Claim(
        PAPER,
        "section 5",
        "Several filters per class fit better than one, which is logistic regression",
        lambda t: listed(_filters(t, 1), "1", "30"),
        lambda t: of_all(many > one for one, many in _filters(t, 1).values()),
        _few(),
    ),
    Claim(
        PAPER,
        "figure 5",
        "Projections to more numbers help private training (right panel)",
        lambda t: (
            "accuracy at epsilon 2 with 50, 100 and 300 numbers: "
            + "; ".join(
                f"{d} {', '.join(f'{v:.3f}' for v in values)}" for d, values in _sizes(t).items()
            )
        ),
        lambda t: of_all(values == sorted(values) for values in _sizes(t).values()),
        _few("; also on Fashion-MNIST"),
    ),
    Claim(
        PAPER,
        "figure 5",
        "Random projections raise private accuracy (right panel, dashed lines)",
        lambda t: listed(_projection(t), "with", "without"),
        lambda t: of_all(with_it > without for with_it, without in _projection(t).values()),
        _few("; also on Fashion-MNIST"),
    ),
    Claim(
        PAPER,
        "section 3.1",
        "Without projection private training on images has very low accuracy (here, below 0.8 on "
        "MNIST and 0.7 on Fashion-MNIST)",
        lambda t: listed(_projection(t), "with", "without"),
        lambda t: of_all(
            without < _LOW[n.split()[0]] for n, (_, without) in _projection(t).items()
        ),
        _few(
            "; the thresholds are ours, as the paper has no number; the inverse temperature is 1 "
            "without projection, where the paper names none"
        ),
    ),
    Claim(
        PAPER,
        "figure 6",
        "Accuracy falls as epsilon does (top panel)",
        lambda t: (
            "accuracy at epsilon 0.5, 1, 2 and 4: "
            + ", ".join(f"{_clinical(t, e):.3f}" for e in (0.5, 1.0, 2.0, 4.0))
        ),
        _clinical_falls,
        _HOSPITAL,
    ),
    Claim(
        PAPER,
        "figure 6",
        "More maps per class lower private accuracy, two to five suffice (bottom panel)",
        maps_words,
        lambda t: of_all(maps_fall(t)),
        f"{_CLINIC}; lower with 8 maps than with 2, and the best of 2 to 5 within half a point of "
        "the best of all",
    ),
    Claim(
        PAPER,
        "figure 6",
        "Without privacy, too, more maps per class lower accuracy (here, 8 against 2)",
        many_maps_words,
        many_maps,
        f"{_CLINIC}; in part if lower by less than two standard errors; the paper supposes "
        "difficulties of optimization",
    ),
    Claim(
        PAPER,
        "figure 6",
        "The filters of one fit, as figures 6 and 7 show them, are those of another fit (here, a "
        f"cosine of {_SAME:g})",
        lambda t: (
            f"{MATCHED}: " + ", ".join(f"{name} {v:.2f}" for name, v in _filters_alike(t).items())
        ),
        lambda t: of_all(v >= _SAME for v in _filters_alike(t).values()),
        f"our question; {_CLINIC}; three filters per class, five fits on the same records; the "
        "threshold is ours",
    ),
    Claim(
        PAPER,
        "section 4.2",
        "On medical records privacy costs 0.8 of a point at epsilon about 1.5, and 3.0 at about "
        "0.2",
        lambda t: "{:.3f} without privacy, {:.3f} at 1.5, {:.3f} at 0.2".format(*two_maps(t)),
        clinical_cost,
        f"{_CLINIC}; two maps as there; half a point more counts as the same",
    ),
    Claim(
        PAPER,
        "section 4.2",
        "82.8%, 82.0% and 79.8% of hospital records, 84% for a network without privacy: the "
        "network is ahead by 1.2 points (at most two count as the same)",
        lambda t: f"network {network(t):.3f}, two maps {two_maps(t)[0]:.3f}, both not private",
        lambda t: 0 < network(t) - two_maps(t)[0] <= 0.02,
        f"{_CLINIC}, so the printed figures cannot be compared; a network of three layers of 128 "
        "as in the paper, by scikit-learn",
    ),
    Claim(
        PAPER,
        "figure 7",
        "Weighted filters of medical records agree with integrated gradients of a network (here, "
        "at epsilon 1.5 and without privacy, a cosine of 0.5)",
        lambda t: attribution_words(t, TO_NETWORK, "a second network"),
        lambda t: of_all(attributions(t, TO_NETWORK)[e] > 0.5 for e in (1.5, None)),
        f"{_RECORDS}; the threshold is ours, the paper judges colors",
    ),
    Claim(
        PAPER,
        "figure 7",
        "With strong privacy (epsilon below 0.1) the filters of medical records are less sparse",
        lambda t: attribution_words(t, SPARSE, "integrated gradients of a network"),
        lambda t: of_all(
            attributions(t, SPARSE)[STRONG] < attributions(t, SPARSE)[e] for e in (1.5, None)
        ),
        f"{_RECORDS}; epsilon {STRONG:g}; sparse: share of the absolute weights on the five "
        "largest of 21",
    ),
    Claim(
        PAPER,
        "figure 9",
        "On MNIST the weighted filter looks almost like the top filter, here a cosine of 0.9",
        lambda t: looks_words(t, "cosine of top to weighted filter", "mnist"),
        lambda t: of_all(looks(t, "cosine of top to weighted filter", "mnist") > 0.9),
        lambda t: f"{looked(t, 'mnist')}; the threshold is ours",
    ),
    Claim(
        PAPER,
        "figure 9",
        "On MNIST, too, the top filter has most of the weight, here more than 0.9 for more than "
        "half of the images",
        lambda t: looks_words(t, ALMOST_ALL, "mnist"),
        lambda t: of_all(dominated(t, "mnist")),
        lambda t: (
            f"{looked(t, 'mnist')}; the thresholds are ours; projected filters have the inverse "
            "temperature of 1/30 that the paper gives for MNIST, which spreads the weight"
        ),
    ),
    Claim(
        PAPER,
        "section 4.1",
        "An inverse temperature of 1/30 is better on MNIST, one of 1 on Fashion-MNIST",
        lambda t: listed(_temperatures(t), "printed", "the other"),
        lambda t: of_all(printed > other for printed, other in _temperatures(t).values()),
        _few("; accuracy at epsilon 2 and without privacy, of which the paper names neither"),
    ),
    Claim(
        PAPER,
        "figure 3",
        "Filters of some classes are more varied than those of others, as of sandals than of coats",
        _variety_words,
        lambda t: _variety(t)["Sandal"] < _variety(t)["Coat"],
        f"{_SHOWN}; the paper judges pictures of some images",
    ),
    Claim(
        PAPER,
        "figure 10",
        "Integrated gradients of medical records vary more between examples of a class than the "
        "filters do",
        lambda t: attribution_words(t, ALIKE, "integrated gradients of a network"),
        lambda t: of_all(v > of_network(t, ALIKE) for v in attributions(t, ALIKE).values()),
        f"{_RECORDS}; vary more: a smaller mean cosine between two records of a class",
    ),
    *locally_linear_cnn_claims.CLAIMS,
)
