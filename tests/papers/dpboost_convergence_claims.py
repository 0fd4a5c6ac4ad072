"""What Li et al. 2020 claim about many ensembles of trees: figures 3, 7 and 8."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from claims import FAILS, HOLDS, IN_PART, Claim, NotMeasuredError, Tables, of_all
from results import standard_error
from sources import LI as PAPER

SLOW = "learning rate 0.1, where the paper has 0.01"


def listed(values: pd.Series, form: str = "{:.2f}") -> str:
    return ", ".join(f"{name} {form.format(value)}" for name, value in values.items())


def folds(study: str) -> Callable[[Tables], str]:
    """Return the smallest number of folds used for any data set; the paper uses five."""

    def words(tables: Tables) -> str:
        least = tables[study].groupby("data")["n"].min()
        if (least == least.iloc[0]).all():
            return f"{least.iloc[0]} of 5 folds"
        return f"of 5 folds {', '.join(f'{name} {n}' for name, n in least.items())}"

    return words


def _ends(tables: Tables, size: int = 50) -> pd.DataFrame:
    """Return mean and standard error after the first and the last ensemble of a size."""
    table = tables["dpboost_convergence"]
    table = table[(table["trees_per_ensemble"] == size) & (table["model"] != "NP")]
    if not {"SEQ", "PARA"} <= set(table["model"]):
        raise NotMeasuredError(f"row of SEQ and PARA with {size} trees per ensemble")
    table = table.assign(error=[standard_error(row) for row in table.to_dict("records")])
    table = table.sort_values("n_trees")
    groups = table.groupby(["data", "model"])
    ends = pd.concat([groups.first(), groups.last()], axis=1, keys=["first", "last"])
    return ends.loc[:, (["first", "last"], ["n_trees", "mean", "error"])]


def _improves(tables: Tables) -> pd.Series:
    """Return the error after the last ensemble relative to that after the first."""
    found = _ends(tables).xs("DPBoost", level="model")
    return found["last", "mean"] / found["first", "mean"]


def _falls(tables: Tables, data: str, size: int = 50) -> bool:
    """Whether DPBoost's error falls by more than two standard errors of the difference."""
    row = _ends(tables, size).loc[data, "DPBoost"]
    noise = (row["first", "error"] ** 2 + row["last", "error"] ** 2) ** 0.5
    return bool(row["first", "mean"] - row["last", "mean"] > 2 * noise)


def _ends_words(tables: Tables, size: int = 50) -> str:
    """State on the data of the figure what the errors are after the first and last ensemble."""
    rows = _ends(tables, size).loc["adult"]
    first, last = (rows.loc["DPBoost"][end] for end in ("first", "last"))
    others = (
        f"{name} {rows.loc[name, ('last', 'mean')]:.3f} ± {rows.loc[name, ('last', 'error')]:.3f}"
        for name in ("SEQ", "PARA")
    )
    return (
        f"adult: {first['mean']:.3f} ± {first['error']:.3f} after {first['n_trees']:g} trees, "
        f"{last['mean']:.3f} ± {last['error']:.3f} after {last['n_trees']:,.0f}; "
        f"{', '.join(others)}"
    )


def _goes_on(tables: Tables) -> str:
    """Decide whether the error falls, and by more than noise."""
    if _falls(tables, "adult"):
        return HOLDS
    return IN_PART if _improves(tables)["adult"] < 1 else FAILS


def _exploits(tables: Tables, size: int) -> str:
    last = _ends(tables, size).loc["adult"]["last", "mean"]
    return of_all([_falls(tables, "adult", size), *(last[["SEQ", "PARA"]] > last["DPBoost"])])


def _flat(tables: Tables) -> pd.Series:
    """Return PARA's error after 1,000 trees relative to that after 100, if it has them."""
    table = tables["dpboost_convergence"]
    table = table[(table["trees_per_ensemble"] == 50) & (table["model"] == "PARA")]
    wide = table.pivot_table("mean", "data", "n_trees")
    return (wide[1000] / wide[100]).dropna()


def _best_in_the_end(tables: Tables, size: int = 50) -> pd.Series:
    """Return the model with the smallest error after the last tree, by data set."""
    last = _ends(tables, size)["last", "mean"].unstack("model")
    return last.idxmin(axis=1)


_SHOWN = ["adult"]
"""Data of figure 3 that are here."""


def _short(after: str, before: str = "", simulated: int = 100) -> Callable[[Tables], str]:
    """Describe how the study of many ensembles differs from the paper."""
    return lambda t: (
        f"{before}adult, abalone and two smaller simulations (50,000 rows, 100 features), of which "
        f"only adult is in the figure; {SLOW}; {folds('dpboost_convergence')(t)}; 1,000 trees "
        f"(simulations {simulated}){after}; PARA starts anew in each ensemble here"
    )


def _long(before: str = "") -> Callable[[Tables], str]:
    return _short("; the paper's caption says 1,000 trees, its text 5,000", before)


CONVERGENCE = (
    Claim(
        PAPER,
        "figure 3",
        "With epsilon 5 per ensemble, DPBoost goes on improving with more ensembles; on adult",
        _ends_words,
        _goes_on,
        _long("in part if the error falls by less than two standard errors; "),
    ),
    Claim(
        PAPER,
        "figure 3",
        "DPBoost goes on improving with more ensembles on other data, too",
        lambda t: (
            f"error after the last ensemble over the first: {listed(_improves(t).drop(_SHOWN))}"
        ),
        lambda t: of_all(_improves(t).drop(_SHOWN) < 1),
        _long("our question: none of these data is in the figure; "),
    ),
    Claim(
        PAPER,
        "figure 3",
        "PARA soon stops improving (here, its error falls by less than a tenth from 100 trees to "
        "1,000)",
        lambda t: f"error after 1,000 trees over that of 100: {listed(_flat(t))}",
        lambda t: of_all(_flat(t) > 0.9),
        lambda t: (
            "PARA starts anew with all records in each ensemble here; the paper's takes half of "
            "those left for each tree, enough for about 20 trees on SUSY; adult, which is in the "
            f"figure, and abalone, which is not; {SLOW}; {folds('dpboost_convergence')(t)}"
        ),
    ),
    Claim(
        PAPER,
        "figure 3",
        "After the last tree DPBoost has a smaller error than SEQ and PARA (four of five data "
        "sets)",
        lambda t: (
            "smallest error: " + ", ".join(f"{d} {m}" for d, m in _best_in_the_end(t).items())
        ),
        lambda t: of_all(_best_in_the_end(t) == "DPBoost"),
        _long(),
    ),
    *(
        Claim(
            PAPER,
            f"figure {figure}",
            f"DPBoost exploits boosting well with {size} trees per ensemble (here, on adult its "
            "error falls by more than two standard errors, and ends below those of SEQ and PARA)",
            lambda t, size=size: (
                f"{_ends_words(t, size)}; smallest error after the last tree: "
                + ", ".join(f"{d} {m}" for d, m in _best_in_the_end(t, size).items())
            ),
            lambda t, size=size: _exploits(t, size),
            _short("; the paper's text and caption say 1,000", simulated=100 - 100 % size),
        )
        for figure, size in ((7, 20), (8, 40))
    ),
)
