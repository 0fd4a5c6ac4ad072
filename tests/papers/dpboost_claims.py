"""What Li et al. 2020 claim of DPBoost, held against the measured tables."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from claims import Claim, Tables

PAPER = "Li 2020"


def _errors(tables: Tables) -> pd.DataFrame:
    """Mean error by data and epsilon, a column per model; that without noise in all rows."""
    table = tables["dpboost_error"]
    wide = table[table["epsilon"].notna()].pivot_table("mean", ["data", "epsilon"], "model")
    plain = table[table["epsilon"].isna()].set_index("data")["mean"]
    return wide.assign(NP=plain.reindex(wide.index.get_level_values("data")).to_numpy())


def _counted(better: pd.Series, what: str) -> str:
    """How often something is so, and on which data not."""
    worse = better[~better]
    text = f"{what} in {int(better.sum())} of {len(better)} pairs of data and epsilon"
    if worse.empty:
        return text
    cases = "; ".join(f"{name} at {epsilon:g}" for name, epsilon in worse.index)
    return f"{text}, not: {cases}"


def _beats(other: str) -> tuple[Callable[[Tables], str], Callable[[Tables], bool]]:
    """Evidence and verdict that DPBoost has the smaller error everywhere."""

    def smaller(tables: Tables) -> pd.Series:
        wide = _errors(tables)
        return wide["DPBoost"] < wide[other]

    return (
        lambda tables: _counted(smaller(tables), "smaller error"),
        lambda tables: bool(smaller(tables).all()),
    )


def _over_plain(tables: Tables) -> pd.Series:
    """Error of DPBoost over that of NP at the largest epsilon, by data."""
    wide = _errors(tables).xs(10, level="epsilon")
    return wide["DPBoost"] / wide["NP"]


def _converged(tables: Tables) -> pd.DataFrame:
    """Error after the last ensemble over that after the first, 50 trees each."""
    table = tables["dpboost_convergence"]
    table = table[(table["trees_per_ensemble"] == 50) & (table["model"] != "NP")]
    wide = table.pivot_table("mean", ["data", "model"], "n_trees")
    return pd.DataFrame({"first": wide[50], "last": wide.ffill(axis=1).iloc[:, -1]})


def _improves(tables: Tables) -> pd.Series:
    found = _converged(tables).xs("DPBoost", level="model")
    return found["last"] / found["first"]


def _best_in_the_end(tables: Tables) -> pd.DataFrame:
    return _converged(tables)["last"].unstack("model")


def _gain(without: str, trees: int) -> Callable[[Tables], pd.Series]:
    """Error with both techniques over that without one, by data and epsilon."""

    def of(tables: Tables) -> pd.Series:
        table = tables["dpboost_effects"]
        table = table[(table["metric"] != "share filtered") & (table["n_trees"] == trees)]
        wide = table.pivot_table("mean", ["data", "epsilon"], "model")
        return wide["GLC and GDF"] / wide[without]

    return of


def _effect(without: str) -> tuple[Callable[[Tables], str], Callable[[Tables], bool]]:
    few, many = _gain(without, 50), _gain(without, 200)
    return (
        lambda t: (
            f"error with both over '{without}': median {few(t).median():.3f} with 50 trees, "
            f"{many(t).median():.3f} with 200; smaller in {int((few(t) < 1).sum())} of "
            f"{len(few(t))} and {int((many(t) < 1).sum())} of {len(many(t))} pairs of data and "
            "epsilon"
        ),
        lambda t: bool(few(t).median() < 0.99),
    )


def _shares(tables: Tables) -> pd.Series:
    table = tables["dpboost_effects"]
    found = table[(table["metric"] == "share filtered") & (table["model"] == "GLC and GDF")]
    return found.groupby("data")["mean"].agg(["min", "max"])


def _by_size(tables: Tables) -> pd.DataFrame:
    """Error after the last ensemble by data and trees per ensemble."""
    table = tables["dpboost_convergence"]
    table = table[table["model"] == "DPBoost"].sort_values("n_trees")
    groups = table.groupby(["data", "trees_per_ensemble"])["mean"]
    return groups.last().unstack("trees_per_ensemble")


def _per_tree(tables: Tables) -> pd.DataFrame:
    return tables["dpboost_time"].pivot_table("mean", "data", "model")


def _listed(values: pd.Series, form: str = "{:.2f}") -> str:
    return ", ".join(f"{name} {form.format(value)}" for name, value in values.items())


_SEQ, _PARA, _GLC, _GDF = _beats("SEQ"), _beats("PARA"), _effect("GDF only"), _effect("GLC only")

CLAIMS = (
    Claim(PAPER, "DPBoost has a smaller error than SEQ at every epsilon (figure 2)", *_SEQ),
    Claim(PAPER, "DPBoost has a smaller error than PARA at every epsilon (figure 2)", *_PARA),
    Claim(
        PAPER,
        "At epsilon 10 DPBoost is near the same trees without privacy: within a quarter of their "
        "error (figure 2)",
        lambda t: f"error over that without privacy: {_listed(_over_plain(t))}",
        lambda t: bool((_over_plain(t) < 1.25).all()),
    ),
    Claim(
        PAPER,
        "With 5 per ensemble DPBoost goes on improving with more ensembles (figure 3)",
        lambda t: f"error after the last ensemble over the first: {_listed(_improves(t))}",
        lambda t: bool((_improves(t) < 1).all()),
    ),
    Claim(
        PAPER,
        "After the last tree DPBoost has a smaller error than SEQ and PARA (figure 3)",
        lambda t: (
            "smallest error: "
            + ", ".join(f"{d} {m}" for d, m in _best_in_the_end(t).idxmin(axis=1).items())
        ),
        lambda t: bool((_best_in_the_end(t).idxmin(axis=1) == "DPBoost").all()),
    ),
    Claim(
        PAPER,
        "Geometric leaf clipping lowers the error (figure 4): by more than 1 % in the median of 50 "
        "trees",
        *_GLC,
    ),
    Claim(
        PAPER,
        "Gradient-based data filtering lowers the error (figure 4), here against clipping "
        "gradients at the same bound: by more than 1 % in the median of 50 trees",
        *_GDF,
    ),
    Claim(
        PAPER,
        "Filtering drops few records, less than 10 % (table 3)",
        lambda t: (
            "share by epsilon and number of trees: "
            + ", ".join(f"{d} {r['min']:.2%} to {r['max']:.2%}" for d, r in _shares(t).iterrows())
        ),
        lambda t: bool((_shares(t)["max"] < 0.1).all()),
    ),
    Claim(
        PAPER,
        "Of 20, 40 and 50 trees per ensemble, more do not make the error larger, at epsilon 5 per "
        "ensemble and so a smaller total",
        lambda t: "error with 50 over 20: " + _listed(_by_size(t)[50] / _by_size(t)[20], "{:.3f}"),
        lambda t: bool((_by_size(t)[50] <= 1.01 * _by_size(t)[20]).all()),
    ),
    Claim(
        PAPER,
        "Privacy costs time: a tree of DPBoost takes longer than one without (table 2)",
        lambda t: (
            "seconds per tree over that without: "
            + _listed(_per_tree(t)["DPBoost"] / _per_tree(t)["NP"])
        ),
        lambda t: bool((_per_tree(t)["DPBoost"] > _per_tree(t)["NP"]).all()),
    ),
)
