"""What Nock and Henecka 2020 claim of boosted private trees, held against the measured tables."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from claims import Claim, Tables

PAPER = "Nock 2020"
ALPHAS = ["O.C", "alpha 0.1", "alpha 1.0"]
STRONG = (0.01, 0.1)


def _rows(tables: Tables, **setting: object) -> pd.DataFrame:
    table = tables["objective_calibration"]
    for column, value in setting.items():
        table = table[table[column].isna() if value is None else table[column] == value]
    return table


def _best(tables: Tables) -> pd.DataFrame:
    """Share of domains on which each alpha is best, with the budget spent as in the paper."""
    where = {"metric": "share best", "budget": "paper", "n_cuts": 10}
    return _rows(tables, **where).pivot_table("mean", "epsilon", "model")[ALPHAS]


def _shares(best: pd.DataFrame) -> str:
    rows = (f"{e:g}: {' '.join(f'{v:.2f}' for v in row)}" for e, row in best.iterrows())
    return f"share of domains on which {', '.join(ALPHAS)} is best, by epsilon: {'; '.join(rows)}"


def _against_forests(budget: str) -> Callable[[Tables], pd.DataFrame]:
    """Domains on which O.C is significantly better and worse than each forest, best settings."""

    def of(tables: Tables) -> pd.DataFrame:
        found = _rows(tables, data="all domains", budget=budget, n_cuts=10, model="O.C")
        found = found[found["n_trees"].isna() & found["against"].astype(str).str.startswith("RF")]
        found = found.assign(domains=(found["mean"] * found["n"]).round())
        return found.pivot_table("domains", ["epsilon", "against"], "metric", aggfunc="sum")

    return of


def _forest_evidence(budget: str) -> Callable[[Tables], str]:
    def text(tables: Tables) -> str:
        counts = _against_forests(budget)(tables)
        cases = (
            f"{e:g} {forest} {row['share better']:.0f}:{row['share worse']:.0f}"
            for (e, forest), row in counts.iterrows()
        )
        return "domains significantly better:worse, by epsilon: " + ", ".join(cases)

    return text


def _mostly_better(budget: str) -> Callable[[Tables], bool]:
    """At epsilon up to 0.1 better in more than 80 % of decided cases, against both forests."""

    def holds(tables: Tables) -> bool:
        counts = _against_forests(budget)(tables).loc[list(STRONG)].sum()
        decided = counts["share better"] + counts["share worse"]
        return bool(decided > 0 and counts["share better"] > 0.8 * decided)

    return holds


def _few_trees(tables: Tables) -> pd.DataFrame:
    """Best mean errors under strong privacy: O.C of 2 trees, and forests of 21."""
    found = _rows(tables, metric="test error", budget="paper", n_cuts=10)
    found = found[found["epsilon"].isin(STRONG)]
    two = found[(found["model"] == "O.C") & (found["n_trees"] == 2)]
    forests = found[found["model"].str.startswith("RF")]
    key = ["epsilon", "data"]
    pair = {"two": two.groupby(key)["mean"].min(), "forest": forests.groupby(key)["mean"].min()}
    return pd.DataFrame(pair)


def _free(tables: Tables) -> pd.Series:
    """Mean error over domains of each alpha's best setting without noise."""
    found = _rows(tables, metric="test error", n_cuts=10, epsilon=None)
    best = found.groupby(["data", "model"])["mean"].min().unstack("model")
    return best[ALPHAS].mean()


def _grids(tables: Tables) -> pd.DataFrame:
    """Mean error over domains and alphas of 20 trees of depth 4, by epsilon and grid."""
    found = _rows(tables, metric="test error", budget="paper", n_trees=20, depth=4)
    found = found[found["epsilon"].notna()]
    return found.pivot_table("mean", "epsilon", "n_cuts")


def _banknote(tables: Tables) -> pd.DataFrame:
    """Two thirds of the runs of O.C on banknote have at most this error."""
    found = tables["objective_calibration_runs"]
    found = found[(found["data"] == "banknote") & (found["metric"] == "test error")]
    found = found[(found["model"] == "O.C") & (found["quantile"].between(0.66, 0.67))]
    return found.pivot_table("mean", "epsilon", "budget")


_GUESSED = 610 / 1372  # error on banknote of whoever names the larger class

CLAIMS = (
    Claim(
        PAPER,
        "Under strong privacy (epsilon up to 0.1) objective calibration is best on most domains, "
        "against an alpha of 0.1 and of 1 (table 1)",
        lambda t: _shares(_best(t)),
        lambda t: bool((_best(t).loc[list(STRONG)].idxmax(axis=1) == "O.C").all()),
    ),
    Claim(
        PAPER,
        "At epsilon 10 an alpha of 1 is best most often (table 1)",
        lambda t: _shares(_best(t).loc[[10]]),
        lambda t: bool(_best(t).loc[10].idxmax() == "alpha 1.0"),
    ),
    Claim(
        PAPER,
        "At epsilon up to 0.1 objective calibration beats random forests in more than 80 % of "
        "decided cases, where leaves of a tree share its budget as in the paper",
        _forest_evidence("paper"),
        _mostly_better("paper"),
    ),
    Claim(
        PAPER,
        "The same where disjoint leaves and nodes share nothing, in forests and boosted trees",
        _forest_evidence("parallel"),
        _mostly_better("parallel"),
    ),
    Claim(
        PAPER,
        "At epsilon up to 0.1, 2 boosted trees have a smaller error than forests with ten times as "
        "many, on most domains (budgets of the paper)",
        lambda t: (
            f"smaller in {int((_few_trees(t)['two'] < _few_trees(t)['forest']).sum())} of "
            f"{len(_few_trees(t))} pairs of domain and epsilon, mean error "
            f"{_few_trees(t)['two'].mean():.3f} against {_few_trees(t)['forest'].mean():.3f}"
        ),
        lambda t: bool((_few_trees(t)["two"] < _few_trees(t)["forest"]).mean() > 0.5),
    ),
    Claim(
        PAPER,
        "Objective calibration is competitive without privacy too: mean error within a hundredth "
        "of the best alpha",
        lambda t: ", ".join(f"{m} {v:.3f}" for m, v in _free(t).items()),
        lambda t: bool(_free(t)["O.C"] <= _free(t).min() + 0.01),
    ),
    Claim(
        PAPER,
        "Five times as many candidate splits leave the errors where they are: mean errors within a "
        "hundredth at each epsilon",
        lambda t: (
            "mean error with 10 and 50 cuts by epsilon: "
            + ", ".join(f"{e:g} {row[10]:.3f} {row[50]:.3f}" for e, row in _grids(t).iterrows())
        ),
        lambda t: bool(((_grids(t)[50] - _grids(t)[10]).abs() < 0.01).all()),
    ),
    Claim(
        PAPER,
        "On banknote more than two thirds of private runs stay below a bound on the error "
        "(appendix 8.3; here: below that of naming the larger class)",
        lambda t: (
            "two thirds of runs are within, with budgets of the paper and parallel ones, by "
            "epsilon: "
            + ", ".join(
                f"{e:g} {row['paper']:.3f} {row['parallel']:.3f}"
                for e, row in _banknote(t).iterrows()
            )
            + f"; larger class {_GUESSED:.3f}"
        ),
        lambda t: bool((_banknote(t)["paper"] < _GUESSED).all()),
    ),
)
