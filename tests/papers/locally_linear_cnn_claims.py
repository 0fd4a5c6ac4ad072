"""What Harder et al. 2020 claim about networks next to locally linear maps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from claims import Claim, NotMeasuredError, Tables, of_all, untested
from locally_linear_filters import (
    NEIGHBORS,
    OUR_MODEL,
    PUBLISHED,
    fits,
    found,
    level,
    listed,
    printed_accuracies,
)
from sources import HARDER as PAPER

BESIDE_CNN = "locally_linear_beside_cnn"
BESIDE_CNN_DIGITS = "locally_linear_beside_cnn_digits"
CNN = "CNN"
PATH = "integrated gradients, not multiplied by the image"
TO_SMOOTH = "cosine to SmoothGrad"

_SMALL = 0.01
"""Difference of accuracies that counts as none: a point."""
_RECIPE = "with our recipe (20 filters, 120 frequencies), not the paper's settings"


def _both(tables: Tables) -> pd.DataFrame:
    """Return what was measured next to the network, on any images."""
    parts = [tables[name] for name in (BESIDE_CNN, BESIDE_CNN_DIGITS) if name in tables]
    return pd.concat(parts) if parts else tables[BESIDE_CNN]


def _beside_cnn(tables: Tables) -> dict[str, tuple[float, float]]:
    """Return what was measured next to the network on the paper's images."""
    table = tables[BESIDE_CNN]
    pairs = table.loc[table["epsilon"].notna(), ["data", "epsilon"]].drop_duplicates()
    return {
        f"{data} {level(epsilon)}": (
            found(table, BESIDE_CNN, data=data, epsilon=epsilon, model=OUR_MODEL),
            found(table, BESIDE_CNN, data=data, epsilon=epsilon, model=CNN),
        )
        for data, epsilon in pairs.itertuples(index=False)
    }


def _cosines(
    tables: Tables, metric: str, explanation: str, model: str = OUR_MODEL
) -> dict[str, float]:
    table = _both(tables)
    chosen = (
        (table["metric"] == metric)
        & (table["explanation"] == explanation)
        & (table["model"] == model)
    )
    chosen_rows = table.loc[chosen, ["data", "epsilon", "mean"]]
    return {
        f"{data} {level(None if np.isnan(epsilon) else epsilon)}": mean
        for data, epsilon, mean in chosen_rows.itertuples(index=False)
    }


def _several(values: dict[str, float]) -> str:
    return "; ".join(f"{name}: {value:.2f}" for name, value in values.items())


def _papers_beside_cnn(tables: Tables) -> dict[str, tuple[float, float]]:
    """Return our fits with the paper's settings and the network's, if both were measured."""
    ours = {name: value for name, (value, _) in printed_accuracies(tables).items()}
    cnn = {name: value for name, (_, value) in _beside_cnn(tables).items()}
    return {name: (ours[name], cnn[name]) for name in cnn}


def _beside_cited(tables: Tables) -> dict[str, tuple[float, float]]:
    """Return our fits with the paper's settings and the networks it cites, on MNIST."""
    table = tables[BESIDE_CNN].dropna(subset="published")
    ours = printed_accuracies(tables)
    names = (f"{data} {level(e)}" for data, e in zip(table["data"], table["epsilon"], strict=True))
    return {n: (ours[n][0], cited) for n, cited in zip(names, table["published"], strict=True)}


def _without_privacy(tables: Tables) -> dict[str, tuple[float, float]]:
    """Return the non-private accuracy of our recipe and of the network."""
    table = tables[BESIDE_CNN]
    setting = {"data": "fashion_mnist", "epsilon": None}
    pair = [found(table, BESIDE_CNN, model=m, **setting) for m in (OUR_MODEL, CNN)]
    return {"fashion_mnist without privacy": (pair[0], pair[1])}


def _cnn_on_mnist(tables: Tables) -> float:
    """Return the non-private accuracy of the network."""
    setting = {"data": "mnist", "epsilon": None, "model": CNN}
    return found(tables[BESIDE_CNN], BESIDE_CNN, **setting)


def _drift(tables: Tables, explanation: str, model: str) -> dict[str, tuple[float, float]]:
    """Return cosines: private to non-private explanations, and between non-private fits."""
    private = _cosines(tables, "cosine to not private", explanation, model)
    between = _cosines(tables, "cosine between fits", explanation, model)
    return {
        name: (value, between[f"{name.split(' at ')[0]} without privacy"])
        for name, value in private.items()
    }


def _drifts(tables: Tables) -> bool:
    pairs = [("exact", OUR_MODEL), ("integrated gradients", CNN)]
    return all(p < b for pair in pairs for p, b in _drift(tables, *pair).values())


def _clothing(tables: Tables) -> dict[str, float]:
    """Return what figure 4 shows as numbers: likeness of attributions, and how smooth they are."""
    table = tables[BESIDE_CNN]
    table = table[(table["data"] == "fashion_mnist") & table["epsilon"].isna()]
    wanted = {
        "likeness": (PATH, TO_SMOOTH),
        "integrated gradients": (PATH, NEIGHBORS),
        "SmoothGrad": ("SmoothGrad", NEIGHBORS),
        "top filter": ("top filter", NEIGHBORS),
    }
    values = {}
    for name, (kind, metric) in wanted.items():
        rows = table[(table["explanation"] == kind) & (table["metric"] == metric)]
        if rows.empty:
            raise NotMeasuredError(f"row of {metric} in {BESIDE_CNN}")
        values[name] = float(rows["mean"].iloc[0])
    return values


def _clothing_words(tables: Tables) -> str:
    values = _clothing(tables)
    smooth = ", ".join(f"{name} {values[name]:.2f}" for name in list(values)[1:])
    return (
        f"cosine of integrated gradients to SmoothGrad {values['likeness']:.2f}; {NEIGHBORS}: "
        f"{smooth}"
    )


def _fitted(study: str, before: str = "", plain: str = "") -> Callable[[Tables], str]:
    """Say how many fits of the network there are, of all or of `plain` without privacy."""

    def words(tables: Tables) -> str:
        table = tables[study]
        table = table[table["metric"] == "accuracy"]
        if plain:
            table = table[(table["data"] == plain) & table["epsilon"].isna()]
        error = float((table["sd"] / table["n"] ** 0.5).max())
        n = int(table["n"].min())
        return f"{before}{n} fits, standard errors of accuracies of at most {error:.2g}"

    return words


CLAIMS = (
    Claim(
        PAPER,
        "figure 3",
        "The top filter of our recipe explains the prediction: cosine of 0.9 to the exact "
        "explanation",
        lambda t: _several(_cosines(t, "cosine to exact", "top filter")),
        lambda t: of_all(v > 0.9 for v in _cosines(t, "cosine to exact", "top filter").values()),
        "our question, with our threshold; the paper does not have this recipe",
    ),
    Claim(
        PAPER,
        "figure 4",
        "On clothing, two attributions of a network look alike (here, a cosine of 0.5) and are "
        "harder to read than the filters (less smooth)",
        _clothing_words,
        lambda t: of_all(
            [
                _clothing(t)["likeness"] > 0.5,
                _clothing(t)["top filter"]
                > max(_clothing(t)["integrated gradients"], _clothing(t)["SmoothGrad"]),
            ]
        ),
        _fitted(
            BESIDE_CNN,
            f"maps {_RECIPE}; a network of 14,634 weights; the correlation of neighboring pixels "
            "stands for how readable a picture is, where the paper judges pictures; the threshold "
            "is ours; ",
            "fashion_mnist",
        ),
    ),
    Claim(
        PAPER,
        "section 4.1",
        "A network and locally linear maps reach 87% on clothing without privacy (a point less is "
        "close enough)",
        lambda t: listed(_without_privacy(t), "ours", "CNN"),
        lambda t: of_all(v > 0.86 for pair in _without_privacy(t).values() for v in pair),
        _fitted(
            BESIDE_CNN,
            f"maps {_RECIPE}; a network of 14,634 weights instead of one of 431,080, 5 epochs; ",
            "fashion_mnist",
        ),
    ),
    Claim(
        PAPER,
        "section 4.1",
        "A network reaches 99% on MNIST without privacy (a point less is close enough)",
        lambda t: f"CNN {_cnn_on_mnist(t):.3f}",
        lambda t: _cnn_on_mnist(t) > 0.98,
        _fitted(
            BESIDE_CNN,
            "a network of 14,634 weights instead of one of 431,080, 5 epochs; ",
            "mnist",
        ),
    ),
    Claim(
        PAPER,
        "section 4.1",
        "Private accuracy is comparable to that of private networks, 95% and up to 92% on MNIST "
        "(within a point)",
        lambda t: listed(_beside_cited(t), "paper's settings", "cited network"),
        lambda t: of_all(ours > cited - _SMALL for ours, cited in _beside_cited(t).values()),
        lambda t: f"{fits(PUBLISHED)(t)}; a point is our threshold",
    ),
    Claim(
        PAPER,
        "section 4.1",
        "The same compared with our own network",
        lambda t: listed(_papers_beside_cnn(t), "paper's settings", "CNN"),
        lambda t: of_all(a > cnn - _SMALL for a, cnn in _papers_beside_cnn(t).values()),
        lambda t: (
            "our question: a network of 14,634 weights, trained with a tighter accountant; "
            f"of it {_fitted(BESIDE_CNN)(t)}; of the maps {fits(PUBLISHED)(t)}"
        ),
    ),
    Claim(
        PAPER,
        "section 4.1",
        "The same for our recipe, compared with our own network",
        lambda t: listed(_beside_cnn(t), "ours", "CNN"),
        lambda t: of_all(ours > cnn - _SMALL for ours, cnn in _beside_cnn(t).values()),
        _fitted(BESIDE_CNN, "our question: the paper does not have this recipe; "),
    ),
    Claim(
        PAPER,
        "figure 8",
        "Privacy degrades explanations of networks, and of locally linear maps: cosine to "
        "explanations without privacy below that between two fits without privacy",
        lambda t: (
            f"{listed(_drift(t, 'exact', OUR_MODEL), 'ours', 'between fits')}; "
            + listed(_drift(t, "integrated gradients", CNN), "CNN", "between fits")
        ),
        _drifts,
        _fitted(
            BESIDE_CNN,
            f"maps {_RECIPE}; networks of 14,634 and 9,258 weights at epsilon 0.5 to 8, in the "
            "paper of 431,080 and 26,010 at 1.19, where it judges pictures; on MNIST and clothing ",
        ),
    ),
    untested(
        PAPER,
        "figure 8",
        "At epsilon 1.19 a network of 26,010 weights reaches 81% on clothing, one of 431,080 "
        "reaches 75%",
        "the study has one network of 14,634 weights, at epsilon 2 on clothing",
    ),
)
