"""What tables of maps per class and of filters say about claims of Harder et al. 2020."""

from __future__ import annotations

from typing import Any

import pandas as pd

from claims import IN_PART, Gaps, NotMeasuredError, Tables, clearly
from results import standard_error

PAPER_MODEL = "locally linear (paper)"
OUR_MODEL = "locally linear (accurate)"
FIGURES = {"mnist": "locally_linear_mnist", "fashion_mnist": "locally_linear_fashion_mnist"}
"""The study of each data set of images."""
TEXT, LINEAR = "0.8 every 5 epochs", "linear"
"""How the rate decays: as in the text of the paper, or to zero."""
AS_AT_4, AS_AT_8 = "0.9 every 10 epochs", "0.9 every epoch"
"""How the rate decays in the authors' code at epsilon 4 and 8."""
DECAYS = {TEXT: (0.8, 5), AS_AT_4: (0.9, 10), AS_AT_8: (0.9, 1), LINEAR: None}
"""Factor of the rate, and epochs between its falls."""
MAPS = "locally_linear_maps"
NETWORK = "network of 3 x 128, NOT PRIVATE"
ATTRIBUTIONS = "locally_linear_attributions"
TO_NETWORK = "cosine to integrated gradients of a network"
ALIKE = "cosine between records of a class"
SPARSE = "share of weights on the largest inputs"
TOP_WEIGHT = "weight of the top filter"
TO_WEIGHTED = "cosine of top to weighted filter"
NEIGHBORS = "correlation of neighboring pixels"
TEMPERATURES = "locally_linear_temperatures"
VARIETY = "locally_linear_variety"
TOP_ALIKE = "cosine between the top filters of two images"
ALMOST_ALL = "share of images with almost all weight on one filter"
STRONG = 0.08
"""Below 0.1, as the figures of the paper have it."""


def found(table: pd.DataFrame, study: str, metric: str = "accuracy", **setting: Any) -> float:
    """Return the value for these settings; None stands for an empty cell."""
    chosen = table["metric"] == metric
    for column, value in setting.items():
        chosen &= table[column].isna() if value is None else table[column] == value
    if not chosen.any():
        raise NotMeasuredError(study)
    return float(table.loc[chosen, "mean"].mean())


def level(epsilon: float | None) -> str:
    """Describe a level of privacy."""
    return "without privacy" if epsilon is None else f"at {epsilon:g}"


def listed(values: dict[str, tuple[float, float]], first: str, second: str) -> str:
    """List pairs of values by name."""
    return "; ".join(f"{k}: {first} {a:.3f}, {second} {b:.3f}" for k, (a, b) in values.items())


def gap(larger: pd.Series, smaller: pd.Series) -> tuple[float, float]:
    """Return a difference of two rows of `with_errors`."""
    return larger["mean"] - smaller["mean"], (larger["error"] ** 2 + smaller["error"] ** 2) ** 0.5


def rising(table: pd.DataFrame) -> Gaps:
    """Return by how much each row of `with_errors` exceeds the one before."""
    return [gap(table.iloc[n + 1], table.iloc[n]) for n in range(len(table) - 1)]


def with_errors(rows: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return mean and standard error by a column."""
    rows = rows.assign(error=[standard_error(row) for row in rows.to_dict("records")])
    return rows.set_index(by)[["mean", "error"]].sort_index()


def counted(table: pd.DataFrame) -> str:
    """List the means of `with_errors` with what they belong to."""
    return ", ".join(f"{name:g} {value:.3f}" for name, value in table["mean"].items())


def on_images(tables: Tables, data: str | None = None) -> pd.DataFrame:
    """Return what was measured in the paper's settings, on one data set or on all."""
    names = [name for name in FIGURES if data in (None, name) and FIGURES[name] in tables]
    if not names:
        raise NotMeasuredError(FIGURES[data or "mnist"])
    table = pd.concat([tables[FIGURES[name]] for name in names], ignore_index=True)
    return table[table["model"] == PAPER_MODEL]


def printed_accuracies(tables: Tables) -> dict[str, tuple[float, float]]:
    """Return our accuracies and the printed ones."""
    table = on_images(tables).dropna(subset="published")
    return {
        f"{row['data']} {level(row['epsilon'])}": (row["mean"], row["published"])
        for _, row in table.iterrows()
    }


def fits(tables: Tables, data: str | None = None, *metrics: str, printed: bool = False) -> str:
    """State how many fits of images there are in the paper's settings.

    Parameters
    ----------
    tables : Tables
    data : str or None, default=None
        One data set; all by default.
    *metrics : str
        What was measured; accuracy by default, of which the paper has ten fits.
    printed : bool, default=False
        Whether to count only settings whose accuracy is printed.
    """
    table = on_images(tables, data)
    table = table[table["metric"].isin(metrics or ("accuracy",))]
    if printed:
        table = table.dropna(subset="published")
    few, most = int(table["n"].min()), int(table["n"].max())
    error = float((table["sd"] / table["n"] ** 0.5).max())
    count = f"{few} fits" if few == most else f"{few} to {most} fits"
    if not metrics:
        count += ", as in the paper" if few == 10 else " instead of 10"
    return f"{count}, standard errors of at most {error:.2g}"


def looks(tables: Tables, metric: str, data: str | None = None) -> pd.Series:
    """Return a filter metric per data set, projection and epsilon (infinite if non-private)."""
    rows = on_images(tables, data)
    rows = rows[rows["metric"] == metric]
    if rows.empty:
        raise NotMeasuredError(f"row of {metric} on {data or 'images'}")
    keys = [rows["data"], rows["projection"] == "none", rows["epsilon"].fillna(float("inf"))]
    return rows.groupby(keys)["mean"].mean()


def looks_words(tables: Tables, metric: str, data: str | None = None) -> str:
    """Describe a metric of the filters."""
    parts = []
    for (name, plain, epsilon), value in looks(tables, metric, data).items():
        where = "without privacy" if epsilon == float("inf") else f"at {epsilon:g}"
        parts.append(f"{name} {where}{', no projection' if plain else ''} {value:.2f}")
    return f"{metric}: {'; '.join(parts)}"


def clearer(tables: Tables) -> list[bool]:
    """For each data set: are filters smoother unprojected, and under weaker privacy than at 2?"""
    cases = []
    for _, values in looks(tables, NEIGHBORS).groupby(level=0):
        values = values.droplevel(0)
        cases.append(values[True, 2.0] > values[False, 2.0])
        cases += [v > values[True, 2.0] for e, v in values[True].items() if e > 2.0]
    return cases


def dominated(tables: Tables, data: str) -> str:
    """Decide whether one filter has nearly all the weight on most images of a data set."""
    return above(tables, ALMOST_ALL, data, 0.5)


def above(tables: Tables, metric: str, data: str, least: float) -> str:
    """Decide whether a filter metric is above a threshold, with a projection and without one."""
    table = on_images(tables, data)
    rows = table[table["metric"] == metric]
    if rows.empty:
        raise NotMeasuredError(f"row of {metric} on {data}")
    verdicts = []
    for _, kind in rows.groupby("projection"):
        found = with_errors(kind, "projection")
        verdicts.append(clearly(list(zip(found["mean"] - least, found["error"], strict=True))))
    return verdicts[0] if len(set(verdicts)) == 1 else IN_PART


def looked(tables: Tables, metric: str, data: str | None = None) -> str:
    """State on which data sets and how many fits filters were examined."""
    return f"{data or 'fashion_mnist and mnist'}, {fits(tables, data, metric)}"


def _maps(tables: Tables, epsilon: float | None) -> pd.DataFrame:
    """Return mean and standard error of the accuracy by number of maps per class."""
    table = tables[MAPS]
    at = table["epsilon"].isna() if epsilon is None else table["epsilon"] == epsilon
    rows = table[at & (table["model"] == OUR_MODEL)]
    if rows.empty:
        raise NotMeasuredError(f"row of {MAPS}")
    return with_errors(rows, "n_filters")


def by_maps(tables: Tables, epsilon: float | None) -> pd.Series:
    """Return the accuracy by number of maps per class."""
    return _maps(tables, epsilon)["mean"]


def many_maps_words(tables: Tables) -> str:
    """Describe the accuracy without privacy of two maps and of eight."""
    found = _maps(tables, None)
    parts = (f"{m} maps {found.loc[m, 'mean']:.3f} ± {found.loc[m, 'error']:.3f}" for m in (2, 8))
    return f"{', '.join(parts)}, best with {found['mean'].idxmax():g}"


def many_maps(tables: Tables) -> str:
    """Decide whether eight maps are less accurate than two without privacy, beyond noise."""
    found = _maps(tables, None)
    return clearly([gap(found.loc[2], found.loc[8])])


def maps_words(tables: Tables) -> str:
    """Describe the accuracy by number of maps per class."""
    parts = []
    errors = []
    for epsilon in (1.5, 0.2, None):
        found = _maps(tables, epsilon)
        name = "without privacy" if epsilon is None else f"epsilon {epsilon:g}"
        parts.append(f"{name} {counted(found)}")
        errors.append(found["error"].max())
    most = f"standard errors of at most {max(errors):.2g}"
    return f"accuracy by maps per class: {'; '.join(parts)}; {most}"


def maps_fall(tables: Tables) -> list[bool]:
    """Return whether many maps are worse than two, and two to five as good as any."""
    cases = []
    for epsilon in (1.5, 0.2):
        maps = _maps(tables, epsilon)
        lower, error = gap(maps.loc[2], maps.loc[8])
        cases.append(lower > 2 * error)
        cases.append(maps.loc[[2, 3, 5], "mean"].max() >= maps["mean"].max() - 0.005)
    return cases


def two_maps(tables: Tables) -> list[float]:
    """Return the accuracy with two maps without privacy, and at epsilon 1.5 and 0.2."""
    return [by_maps(tables, epsilon)[2] for epsilon in (None, 1.5, 0.2)]


def network(tables: Tables) -> float:
    """Return the non-private accuracy of the network."""
    table = tables[MAPS]
    return float(table.loc[table["model"] == NETWORK, "mean"].iloc[0])


def attribution_rows(tables: Tables, metric: str) -> dict[float | None, pd.Series]:
    """Return mean and standard error of a metric of the maps of single records by epsilon."""
    table = tables[ATTRIBUTIONS]
    rows = table[(table["metric"] == metric) & (table["model"] == OUR_MODEL)]
    if rows.empty:
        raise NotMeasuredError(f"row of {ATTRIBUTIONS}")
    pairs = with_errors(rows, "epsilon").iterrows()
    return {None if pd.isna(epsilon) else epsilon: row for epsilon, row in pairs}


def attributions(tables: Tables, metric: str) -> dict[float | None, float]:
    """Return a metric of the maps of single records by epsilon."""
    return {e: float(row["mean"]) for e, row in attribution_rows(tables, metric).items()}


def of_network(tables: Tables, metric: str) -> float:
    """Return the same metric for the integrated gradients of a network."""
    table = tables[ATTRIBUTIONS]
    rows = (table["metric"] == metric) & (table["model"] == NETWORK)
    return float(table.loc[rows, "mean"].iloc[0])


def attribution_words(tables: Tables, metric: str, network_name: str = "network") -> str:
    """Describe a metric of the maps and of the gradients."""
    found = attribution_rows(tables, metric)
    parts = [f"{level(e)} {row['mean']:.3f} ± {row['error']:.3f}" for e, row in found.items()]
    return f"{metric}: maps {', '.join(parts)}; {network_name} {of_network(tables, metric):.2f}"
