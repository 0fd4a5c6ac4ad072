"""What Nock and Henecka 2020 claim about private trees, compared with our tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd

from claims import NOT_TESTABLE, Claim, Tables, of_all, untested
from objective_calibration_counts import (
    ALPHAS,
    UNLIKELY,
    best,
    best_counts,
    by_chance,
    chances,
    count_claims,
    n_swept,
    shares,
    swept,
)
from objective_calibration_domains import domain_claims
from printed_sizes import size_claims
from sources import NOCK as PAPER

STRONG = (0.01, 0.1)
N_DOMAINS = 15
"""Measured domains, of the 19 of the paper."""
LACKING = ("creditcard_small", "mice", "firmteacher", "eeg")
"""Domains of which no file is at hand; the study measures them where there is one."""


def _rows(tables: Tables, **setting: object) -> pd.DataFrame:
    table = tables["objective_calibration"]
    for column, value in setting.items():
        table = table[table[column].isna() if value is None else table[column] == value]
    return table


def _bounds(tables: Tables, budget: str) -> pd.DataFrame:
    """For each epsilon and M, return the mean over domains of the smallest error over beta."""
    table = tables["objective_calibration_settings"]
    table = table[(table["model"] == "O.C") & (table["budget"] == budget)]
    best = table.pivot_table("mean", ["epsilon", "data"], "largest_leaf", aggfunc="min")
    return best.groupby("epsilon").mean()


def _bounds_words(tables: Tables) -> str:
    parts = []
    for budget in ("paper", "parallel"):
        rows = _bounds(tables, budget).iterrows()
        values = (f"{e:g} {row[1.0]:.3f} {row[10.0]:.3f}" for e, row in rows)
        parts.append(f"budget {budget} {', '.join(values)}")
    return f"mean error with M 1 and 10, by epsilon: {'; '.join(parts)}"


def _spreads(tables: Tables) -> pd.DataFrame:
    """For each epsilon, return the range of errors over beta and over sizes."""
    settings = tables["objective_calibration_settings"]
    settings = settings[(settings["model"] == "O.C") & (settings["budget"] == "paper")]
    key = ["epsilon", "data"]
    shares = settings.groupby([*key, "beta"])["mean"].min()
    sizes = _rows(tables, metric="test error", budget="paper", n_cuts=10, model="O.C")
    sizes = sizes[sizes["epsilon"].notna() & sizes["data"].isin(settings["data"])]
    parts = {"beta": shares.groupby(key), "sizes": sizes.groupby(key)["mean"]}
    apart = {name: groups.max() - groups.min() for name, groups in parts.items()}
    return pd.DataFrame(apart).groupby("epsilon").mean()


def _spreads_words(tables: Tables) -> str:
    parts = (f"{e:g} {r['beta']:.3f} {r['sizes']:.3f}" for e, r in _spreads(tables).iterrows())
    return (
        f"worst minus best error over beta and over trees and depth, by epsilon: {', '.join(parts)}"
    )


def _against_forests(budget: str) -> Callable[[Tables], pd.DataFrame]:
    """Count the domains where objective calibration beats each forest, and the reverse."""

    def of(tables: Tables) -> pd.DataFrame:
        found = _rows(tables, data="all domains", budget=budget, n_cuts=10, model="O.C")
        found = found[found["n_trees"].isna() & found["against"].astype(str).str.startswith("RF")]
        found = found.assign(domains=(found["mean"] * found["n"]).round())
        return found.pivot_table("domains", ["epsilon", "against"], "metric", aggfunc="sum")

    return of


def _undecided(tables: Tables, budget: str) -> float:
    """Return the proportion of domains, epsilons and forests without a significant difference."""
    counts = _against_forests(budget)(tables)
    return float(1.0 - counts.sum(axis=1).mean() / N_DOMAINS)


def _forest_evidence(budget: str) -> Callable[[Tables], str]:
    def text(tables: Tables) -> str:
        counts = _against_forests(budget)(tables)
        cases = (
            f"{e:g} {forest} {row['share better']:.0f}:{row['share worse']:.0f}"
            for (e, forest), row in counts.iterrows()
        )
        return "domains significantly better:worse, by epsilon: " + ", ".join(cases)

    return text


def _mostly_better(budget: str) -> Callable[[Tables], str]:
    """Whether O.C is better in more than 80% of decided cases, against each forest."""

    def verdict(tables: Tables) -> str:
        counts = _against_forests(budget)(tables).groupby("against").sum()
        decided = counts["share better"] + counts["share worse"]
        return of_all(counts["share better"] > 0.8 * decided)

    return verdict


def _best_when_strong(tables: Tables) -> str:
    """Whether O.C is best most often at epsilon up to 0.1, where counts are not chance."""
    counts = best_counts(tables).loc[list(STRONG)]
    decided = counts[counts.apply(by_chance, axis=1) <= UNLIKELY]
    if decided.empty:
        return NOT_TESTABLE
    return of_all((decided.idxmax(axis=1) == "O.C").tolist())


def _strong_words(tables: Tables) -> str:
    strong = list(STRONG)
    return f"{shares(best(tables).loc[strong])}; {chances(best_counts(tables).loc[strong])}"


_FEWEST_DECIDED = 3


def _under_strong(tables: Tables) -> str:
    """Whether O.C is better on more domains than worse at epsilon up to 0.1."""
    parts = [_against_forests(budget)(tables).loc[list(STRONG)] for budget in ("paper", "parallel")]
    counts = pd.concat(parts)
    if counts.sum(axis=1).max() < _FEWEST_DECIDED:
        return NOT_TESTABLE
    counts = counts.sum()
    return of_all([bool(counts["share better"] > counts["share worse"])])


def _few_trees(tables: Tables) -> pd.DataFrame:
    """Return the best mean errors with privacy: O.C with 2 trees, forests with 21."""
    found = _rows(tables, metric="test error", budget="paper", n_cuts=10)
    found = found[found["epsilon"].notna()]
    two = found[(found["model"] == "O.C") & (found["n_trees"] == 2)]
    forests = found[found["model"].str.startswith("RF")]
    key = ["epsilon", "data"]
    pair = {"two": two.groupby(key)["mean"].min(), "forest": forests.groupby(key)["mean"].min()}
    return pd.DataFrame(pair)


def _best_sizes(tables: Tables, names: Sequence[str]) -> pd.DataFrame:
    """Return the trees and depth of each domain's best private model."""
    found = _rows(tables, metric="test error", budget="paper", n_cuts=10)
    found = found[found["epsilon"].notna() & found["model"].isin(ALPHAS)]
    best = found.loc[found.groupby("data")["mean"].idxmin()].set_index("data")
    return best.loc[[d for d in names if d in best.index], ["n_trees", "depth"]]


def _sizes_agree(tables: Tables, names: Sequence[str]) -> list[bool]:
    """For each domain, return whether trees and depth are roughly as published."""
    other = (20, 6) if names == _SMALL else (2, 2)
    return [
        value != end
        for _, row in _best_sizes(tables, names).iterrows()
        for value, end in zip(row, other, strict=True)
    ]


def _sizes_words(tables: Tables, names: Sequence[str]) -> str:
    parts = (
        f"{name} {row['n_trees']:.0f} and {row['depth']:.0f}"
        for name, row in _best_sizes(tables, names).iterrows()
    )
    agree, lacking = _sizes_agree(tables, names), set(names) - set(_best_sizes(tables, names).index)
    missing = f", without {', '.join(sorted(lacking))}" if lacking else ""
    return f"trees and depth: {', '.join(parts)}; {sum(agree)} of {len(agree)} agree{missing}"


def _free(tables: Tables) -> pd.Series:
    """Return the mean error over domains of each alpha's best noiseless setting."""
    found = _rows(tables, metric="test error", n_cuts=10, epsilon=None)
    best = found.groupby(["data", "model"])["mean"].min().unstack("model")
    return best[ALPHAS].mean()


def _finer(tables: Tables) -> pd.DataFrame:
    """For each domain, return the best error over epsilon with 10 and with 50 cuts."""
    found = _rows(tables, metric="test error", model="O.C", n_trees=20, depth=4)
    found = found[found["epsilon"].notna() & found["data"].isin(_FINER)]
    wide = found.pivot_table("mean", ["data", "budget", "epsilon"], "n_cuts")
    return wide.groupby(["data", "budget"]).min().rename(columns={10: "coarse", 50: "fine"})


def _finer_words(tables: Tables) -> str:
    found = _finer(tables)
    parts = (f"{d} {b} {r['coarse']:.3f} {r['fine']:.3f}" for (d, b), r in found.iterrows())
    return f"smallest error over epsilon with 10 and 50 cuts: {', '.join(parts)}"


def _gains(tables: Tables) -> str:
    gain = (_finer(tables)["coarse"] - _finer(tables)["fine"]).unstack("budget")
    cases = [*(gain.loc[["qsar", "wine-white"]] > 0.02).to_numpy().ravel()]
    return of_all([*cases, *(gain.loc["wine-red"] <= 0.02)])


def _banknote(tables: Tables) -> pd.DataFrame:
    """Return the error that two thirds of O.C's runs on banknote do not exceed."""
    found = tables["objective_calibration_runs"]
    found = found[(found["data"] == "banknote") & (found["metric"] == "test error")]
    found = found[(found["model"] == "O.C") & (found["quantile"].between(0.66, 0.67))]
    return found.pivot_table("mean", "epsilon", "budget")


def _banknote_words(tables: Tables) -> str:
    runs = (
        f"{e:g} {row['paper']:.3f} {row['parallel']:.3f}" for e, row in _banknote(tables).iterrows()
    )
    free = _largest_free(tables)
    bounds = {f"the largest error without noise, {free:.3f}": free}
    bounds[f"that of naming the larger class, {_GUESSED:.3f}"] = _GUESSED
    shares_of = (
        f"{_within(tables, bound)['paper']:.0%} and {_within(tables, bound)['parallel']:.0%} "
        f"within {name}"
        for name, bound in bounds.items()
    )
    return (
        f"with budgets of the paper and parallel ones, {'; '.join(shares_of)}; two thirds of "
        f"single runs are within, by epsilon: {', '.join(runs)}"
    )


def _on_banknote(tables: Tables) -> pd.DataFrame:
    found = _rows(tables, metric="test error", data="banknote", model="O.C", n_cuts=10)
    return found[["budget", "epsilon", "mean"]]


def _largest_free(tables: Tables) -> float:
    """Return the largest error on banknote without noise, over trees and depth."""
    found = _on_banknote(tables)
    return float(found.loc[found["epsilon"].isna(), "mean"].max())


def _within(tables: Tables, bound: float) -> pd.Series:
    """Return the proportion of private settings on banknote within a bound, by budget."""
    found = _on_banknote(tables)
    found = found[found["epsilon"].notna()]
    return (found["mean"] <= bound).groupby(found["budget"]).mean()


def _one_over_tenth(tables: Tables) -> pd.DataFrame:
    """Return mean errors of alpha 1 and 0.1 at each epsilon, with the parallel budget."""
    found = _rows(tables, metric="test error", budget="parallel", n_cuts=10)
    best = found.groupby([found["epsilon"].fillna(0.0), "data", "model"])["mean"].min()
    return best.unstack("model")[["alpha 1.0", "alpha 0.1"]].groupby("epsilon").mean()


def _alphas_words(errors: pd.DataFrame) -> str:
    parts = (f"{e:g} {row.iloc[0]:.3f} {row.iloc[1]:.3f}" for e, row in errors.iterrows())
    return f"mean error of alpha 1 and 0.1 by epsilon, 0 for none: {', '.join(parts)}"


def _alpha_one(errors: pd.DataFrame) -> str:
    return of_all(errors["alpha 1.0"] < errors["alpha 0.1"])


_GUESSED = 610 / 1372  # error on banknote of whoever names the larger class
_SMALL = ("page_blocks",)
_BIG = (
    "transfusion",
    "banknote",
    "sonar",
    "qsar",
    "wine-red",
    "wine-white",
    "hill_valley_with_noise",
    "mice",
)
"""Domains that table 3 has as small or big in both trees and depth; others are mixed or absent."""
_FINER = ("qsar", "wine-white", "wine-red")
_FIXED = (
    f"{N_DOMAINS} of 19 domains; the bound M on leaf values is fixed at 1 and the share of the "
    "budget for splits at one half, which are parameters in the paper; alpha by depth and not by "
    "the weight of the records in a node"
)

CLAIMS = (
    untested(
        PAPER,
        "figure 1",
        "Link, inverse link and surrogate of the M-alpha loss",
        "a definition; the unit tests of the losses check it",
        NOT_TESTABLE,
    ),
    untested(
        PAPER,
        "figures of the proofs",
        "Sketches of the proofs; sensitivity and boosting rates as theorems",
        "theorems, which no table of errors decides",
        NOT_TESTABLE,
    ),
    *count_claims(_FIXED),
    Claim(
        PAPER,
        "table 1",
        "A bound M of 10 gives O.C smaller errors than a bound of 1",
        _bounds_words,
        lambda t: of_all(
            [
                bool(ten < one)
                for budget in ("paper", "parallel")
                for one, ten in _bounds(t, budget)[[1.0, 10.0]].to_numpy()
            ]
        ),
        swept(
            before="our question: the paper prints no comparison, and clamps leaf values to M "
            "after the noise only, where ours follows M with its budget; "
        ),
    ),
    Claim(
        PAPER,
        "section 7",
        "The number of trees and their depth matter more than another parameter (here, beta)",
        _spreads_words,
        lambda t: of_all(_spreads(t)["sizes"] > _spreads(t)["beta"]),
        lambda t: (
            "our text of the paper lacks the name of the parameter; O.C on "
            f"{n_swept(t)} of 19 domains; beta 0.1, 0.5 or 0.9 with 20 trees of depth 4 and the "
            "better M of 1 and 10; 2, 5 or 20 trees of depth 2, 4 or 6 with beta 0.5 and M 1"
        ),
    ),
    Claim(
        PAPER,
        "section 7",
        "Objective calibration is the best technique under strong privacy",
        _strong_words,
        _best_when_strong,
        f"{_FIXED}; not testable where chance gives such counts, as in table 1",
    ),
    Claim(
        PAPER,
        "table 4",
        "Objective calibration beats each random forest in more than 80% of decided cases; leaves "
        "of a forest's tree share its budget, as in the paper",
        _forest_evidence("paper"),
        _mostly_better("paper"),
        f"{_FIXED}; a case is a domain with the best setting of each, in the paper a run",
    ),
    Claim(
        PAPER,
        "table 4",
        "The same where disjoint leaves and nodes share nothing, in forests and boosted trees",
        _forest_evidence("parallel"),
        _mostly_better("parallel"),
        f"our question: the paper does not have this budget; {N_DOMAINS} of 19 domains; a case is "
        "a domain",
    ),
    Claim(
        PAPER,
        "table 4",
        "Less than 4% of the differences to forests are not significant",
        lambda t: (
            "not significant, of all domains, epsilons and forests: budgets of the paper "
            f"{_undecided(t, 'paper'):.0%}, parallel {_undecided(t, 'parallel'):.0%}"
        ),
        lambda t: of_all(_undecided(t, b) < 0.04 for b in ("paper", "parallel")),
        f"{_FIXED}; a case is a domain with ten folds and the best setting of each, in the paper a "
        "run",
    ),
    Claim(
        PAPER,
        "section 7",
        "It is especially good against forests under strong privacy (here, epsilon up to 0.1)",
        lambda t: (
            f"{_forest_evidence('paper')(t)}, budgets of the paper; parallel: "
            f"{_forest_evidence('parallel')(t)}"
        ),
        _under_strong,
        f"{_FIXED}; not testable where fewer than {_FEWEST_DECIDED} domains have a significant "
        "difference at each of these epsilons",
    ),
    Claim(
        PAPER,
        "table 4",
        "Ensembles of fewer than a tenth of the trees beat forests in a majority of cases, here 2 "
        "trees against 21",
        lambda t: (
            f"smaller in {int((_few_trees(t)['two'] < _few_trees(t)['forest']).sum())} of "
            f"{len(_few_trees(t))} pairs of domain and epsilon, mean error "
            f"{_few_trees(t)['two'].mean():.3f} against {_few_trees(t)['forest'].mean():.3f}"
        ),
        lambda t: bool((_few_trees(t)["two"] < _few_trees(t)["forest"]).mean() > 0.5),
        f"{_FIXED}; budgets of the paper; O.C with its best depth, the better forest with its best "
        "depth; differences need not be significant",
    ),
    Claim(
        PAPER,
        "section 7",
        "Objective calibration is competitive without privacy: mean error within a hundredth of "
        "the best alpha",
        lambda t: ", ".join(f"{m} {v:.3f}" for m, v in _free(t).items()),
        lambda t: bool(_free(t)["O.C"] <= _free(t).min() + 0.01),
        f"{N_DOMAINS} of 19 domains; a hundredth is our threshold",
    ),
    Claim(
        PAPER,
        "figure 2",
        "Alpha 1 tends to give better results than 0.1 without privacy (left panel)",
        lambda t: _alphas_words(_one_over_tenth(t).loc[[0.0]]),
        lambda t: _alpha_one(_one_over_tenth(t).loc[[0.0]]),
        f"{N_DOMAINS} of 19 domains; weights and leaves keep an alpha of 1; our text of the paper "
        "lacks the two values of alpha, taken from table 1",
    ),
    Claim(
        PAPER,
        "figure 2",
        "The same with privacy",
        lambda t: _alphas_words(_one_over_tenth(t).drop(0.0)),
        lambda t: _alpha_one(_one_over_tenth(t).drop(0.0)),
        f"our reading: the text names the panel without privacy; {N_DOMAINS} of 19 domains; "
        "parallel budgets, with which weights and leaves keep an alpha of 1",
    ),
    Claim(
        PAPER,
        "figure 2",
        "On banknote more than two thirds of the private runs of objective calibration stay below "
        "a bound on the error without noise (here, the largest over trees and depth)",
        _banknote_words,
        lambda t: of_all(_within(t, _largest_free(t)) > 2 / 3),
        "the paper's bound is a number that our text of it lacks; runs are settings of trees, "
        "depth and epsilon, each a mean of ten folds, and single runs at 0.01 and 0.1",
    ),
    Claim(
        PAPER,
        "section 7",
        "50 cuts instead of 10 gain more than 2% on qsar and white wine, and no significant amount "
        "on red wine (here, at most 2%)",
        _finer_words,
        _gains,
        "20 trees of depth 4, where the paper varies both; points of error, best epsilon; our text "
        "of the paper lacks the two numbers of cuts, the second five times the first",
    ),
    *size_claims(PAPER),
    *(
        Claim(
            PAPER,
            "table 3",
            said,
            lambda t, names=names: _sizes_words(t, names),
            lambda t, names=names: of_all(_sizes_agree(t, names)),
            f"{_FIXED}; 2, 5 or 20 trees of depth 2, 4 or 6, the smallest error over alphas and "
            "epsilons; agrees where it is not at the other end; the paper sets no number",
            row,
        )
        for row, names, said in (
            (
                "small, small",
                _SMALL,
                "Few shallow trees are the best private models on page blocks",
            ),
            (
                "big, big",
                _BIG,
                "Many deep ones are best on transfusion, banknote, sonar, qsar, both wines, hill "
                "with noise and mice",
            ),
        )
    ),
    *(
        untested(
            PAPER,
            "table 3",
            f"They are small in one way and big in the other on {names}",
            "our text of the table does not say which way is few deep trees and which many "
            "shallow ones",
            NOT_TESTABLE,
            row,
        )
        for row, names in (
            ("small, big", "breast, ionosphere, yeast, abalone and firmteacher"),
            ("big, small", "cardiotocography and hill without noise"),
        )
    ),
    *domain_claims(N_DOMAINS, _FIXED),
    untested(
        PAPER,
        "section 6",
        "The share of the budget that objective calibration spends on a split falls with depth",
        "a definition; the transcript of a fit shows it",
        NOT_TESTABLE,
    ),
)
