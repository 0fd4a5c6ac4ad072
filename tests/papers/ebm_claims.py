"""What Nori et al. 2021 claim about DP-EBM, compared with the measured tables."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pandas as pd
from published import BY_DATASET

import ebm_split_claims
from claims import (
    FAILS,
    HOLDS,
    IN_PART,
    NOT_TESTABLE,
    Claim,
    NotMeasuredError,
    Tables,
    counted,
    of_all,
    untested,
)
from printed_rows import NO_FILE, Number, Numbers, beside, printed_row, short
from printed_sizes import size_claims
from results import standard_error
from sources import NORI as PAPER

OURS, CLASSIC, RECIPE = "DP-EBM, GDP", "DP-EBM, classic", "DP-EBM, default recipe"
CLASSES = ("adult", "telco")
MEASURE = "make papers PAPERS_ARGS='--only ebm_tables ebm_diffprivlib --cells"
MOST_LOST = 0.05
_LOST_ON_HEALTHCARE = 0.054
"""Printed without privacy, 0.847, less what is printed at epsilon 0.5, 0.793."""

Verdict = Callable[[Tables], bool | str]
Evidence = Callable[[Tables], str]


_BOTH = ("ebm_tables", "ebm_diffprivlib")
_SIX = "six of the eight data sets; wine counts twice, with and without copies of records"


# --- tables 2 and 3 --------------------------------------------------------------------------


def _errors(tables: Tables, *studies: str) -> pd.DataFrame:
    """Return the loss (1 - AUROC, or RMSE) by data set and epsilon, one column per model."""
    table = pd.concat([tables[name] for name in studies])
    table = table[table["epsilon"].notna()]
    loss = np.where(table["metric"] == "AUROC", 1.0 - table["mean"], table["mean"])
    return table.assign(loss=loss).pivot_table("loss", ["data", "epsilon"], "model")


def _beats(model: str, other: str, *studies: str) -> tuple[Evidence, Verdict]:
    """Decide whether a model has the smaller loss everywhere, somewhere or nowhere."""

    def better(tables: Tables) -> pd.Series:
        wide = _errors(tables, *studies)[[model, other]].dropna()  # where both were measured
        return wide[model] < wide[other]

    return (
        lambda tables: counted(better(tables), "better"),
        lambda tables: of_all(better(tables)),
    )


def _row_of(data: str, epsilon: float | None) -> Numbers:
    """Return the numbers of a printed row: every model that has one, next to ours."""

    def numbers(tables: Tables) -> list[Number]:
        rows = pd.concat([tables[name] for name in _BOTH])
        at = rows["epsilon"].isna() if epsilon is None else rows["epsilon"] == epsilon
        rows = rows[(rows["data"] == data) & at & rows["published"].notna()]
        if rows.empty:
            raise NotMeasuredError(f"row of {data} yet: {MEASURE} data={data}'")
        return beside(rows, "model")

    return numbers


def _plain(tables: Tables, first: str, second: str) -> pd.DataFrame:
    """Compare two models without privacy, by data set.

    Column ``better`` tells whether the first has the smaller loss, ``clear`` whether the means
    differ by more than two standard errors of their difference.
    """
    table = tables["ebm_tables"]
    table = table[table["epsilon"].isna() & (table["data"] != "wine-distinct")]
    table = table.assign(error=[standard_error(row) for row in table.to_dict("records")])
    wide = table.pivot_table(["mean", "error"], ["data", "metric"], "model")
    error = np.hypot(wide["error", first], wide["error", second])
    found = pd.DataFrame({"first": wide["mean", first], "second": wide["mean", second]})
    found = found.dropna().reset_index("metric")
    gap = np.where(found["metric"] == "AUROC", 1.0, -1.0) * (found["first"] - found["second"])
    clear = gap.abs() > 2 * error.droplevel("metric").reindex(found.index)
    return found.assign(better=gap > 0, clear=clear)


def _plain_words(tables: Tables, first: str, second: str) -> str:
    """State the means without privacy, and which differ clearly."""
    words = []
    for name, row in _plain(tables, first, second).iterrows():
        said = "better" if row["better"] else "worse"
        said = said if row["clear"] else "within two standard errors"
        words.append(f"{name} {short(row['first'])} and {short(row['second'])}, {said}")
    return f"{first} and {second}: {'; '.join(words)}"


def _plain_verdict(tables: Tables, first: str, second: str) -> str:
    """Whether one is clearly better on most data sets, or at least has the better mean."""
    found = _plain(tables, first, second)
    if (found["better"] & found["clear"]).mean() > 0.5:
        return HOLDS
    return IN_PART if found["better"].mean() > 0.5 else FAILS


def _noticed(tables: Tables) -> pd.Series:
    """Return the proportion of data sets on which both ways differ by a deviation or more."""
    table = tables["ebm_tables"].query("data != 'wine-distinct' and epsilon.notna()")
    wide = table.pivot_table(["mean", "sd"], ["data", "epsilon"], "model")
    apart = (wide["mean", CLASSIC] - wide["mean", OURS]).abs() > wide["sd", OURS]
    return apart.groupby("epsilon").mean()


def _classes(tables: Tables) -> Tables:
    """Return the same tables, restricted to classifications."""
    for name in _BOTH:
        tables[name]  # counts as read
    return Tables({n: tables[n][tables[n]["data"].isin(CLASSES)] for n in _BOTH})


def _lost(tables: Tables, model: str) -> dict[str, tuple[float, float]]:
    """Return the AUROC lost to privacy at epsilon 0.5 by data set, and its standard error."""
    table = tables["ebm_tables"]
    found = {}
    for name in CLASSES:
        rows = table[table["data"] == name]
        plain = rows[(rows["model"] == "EBM") & rows["epsilon"].isna()].iloc[0]
        private = rows[(rows["model"] == model) & (rows["epsilon"] == 0.5)].iloc[0]
        error = float(np.hypot(standard_error(plain), standard_error(private)))
        found[name] = (float(plain["mean"] - private["mean"]), error)
    return found


def _lost_verdict(tables: Tables) -> str:
    """Decide the loss on our data and, where only the paper has the records, by its own table."""
    ours = [lost - 2 * error <= MOST_LOST for lost, error in _lost(tables, OURS).values()]
    return of_all([*ours, _LOST_ON_HEALTHCARE <= MOST_LOST])


def _lost_words(tables: Tables) -> str:
    words = []
    for model in (OURS, RECIPE):
        parts = (
            f"{name} {v:.4f} ± {error:.4f}" for name, (v, error) in _lost(tables, model).items()
        )
        words.append(f"{model}: {', '.join(parts)}")
    printed = f"adult 0.048, telco 0.019, and healthcare {_LOST_ON_HEALTHCARE}"
    return f"{'; '.join(words)}; by the paper's own table {printed}"


_TABLES = dict.fromkeys(("adult", "telco", "credit_fraud"), 2)
_TABLES |= dict.fromkeys(("california", "elevators", "pol", "wine"), 3)
_SIZES = {
    "credit_fraud": NO_FILE,
    "wine": "6,497 rows here, 5,297 in the paper",
    "california": "20,640 rows here, 20,499 in the paper",
    "pol": "48 features here, 49 in the paper",
    "elevators": "16,599 rows here, 16,598 in the paper; deviations printed as 0.000 count as "
    "0.0005",
}


def _printed(data: str) -> tuple[Claim, ...]:
    """Return a claim per printed row of a data set in tables 2 and 3."""
    name, differs = data.replace("_", "-"), [_SIZES[data]] if data in _SIZES else []
    private = f"Row of {name} at epsilon {{:g}}: DPBoost, linear model, DP-EBM classic and GDP"
    plain = f"Row of {name} without privacy: boosted trees, linear model and EBM"
    return tuple(
        printed_row(
            PAPER,
            f"table {_TABLES[data]}",
            f"{data}, {'no ε' if epsilon is None else f'ε {epsilon:g}'}",
            plain if epsilon is None else private.format(epsilon),
            _row_of(data, epsilon),
            "; ".join([*differs, _PLAIN if epsilon is None else _PRIVATE[_TABLES[data]]]),
        )
        for epsilon in (*_EPSILONS, None)
    )


def _printed_means() -> str:
    """Return the means at epsilon 4 of the figures that table 2 prints."""
    names = {"DPBoost": "DPBoost", "linear": "logistic regression", OURS: "DP-EBM"}
    healthcare = {"DPBoost": 0.567, "linear": 0.542, OURS: 0.835}
    at = _EPSILONS.index(4.0)
    parts = []
    for model, name in names.items():
        printed = [BY_DATASET[d].figures[model][at][0] for d in (*CLASSES, "credit_fraud")]
        parts.append(f"{name} {np.mean([*printed, healthcare[model]]):.3f}")
    return ", ".join(parts)


_EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
_PRIVATE = {
    2: "a newer diffprivlib; settings of DPBoost that the paper does not print",
    3: "a newer diffprivlib, whose linear regression is another algorithm; settings of DPBoost "
    "that the paper does not print",
}
_OTHERS = ("DPBoost", "diffprivlib, as published")
_PLAIN = "scikit-learn's histogram gradient boosting instead of LightGBM"

CLAIMS = (
    *size_claims(PAPER),
    *(claim for data in _TABLES for claim in _printed(data)),
    *(
        untested(
            PAPER,
            "table 2",
            f"Row of healthcare, {level.replace('ε', 'epsilon')}",
            "records of a hospital, which are not public",
            NOT_TESTABLE,
            f"healthcare, {level}",
        )
        for level in (*(f"ε {e:g}" for e in _EPSILONS), "no ε")
    ),
    *ebm_split_claims.CLAIMS,
    untested(
        PAPER,
        "section 4.1",
        "Mean AUROC at epsilon 4 over the four classifications: DPBoost 0.62, logistic regression "
        "0.56, DP-EBM 0.88",
        "a mean that includes healthcare, whose records are not public; the means of the printed "
        f"table are {_printed_means()}",
        NOT_TESTABLE,
    ),
    Claim(
        PAPER,
        "section 4.1.3",
        "Accounting by Gaussian DP is tighter than classic composition; here: a better mean on "
        "every data set and at every epsilon",
        *_beats(OURS, CLASSIC, "ebm_tables"),
        f"the paper argues from the noise, and its tables have some equal means; {_SIX}",
    ),
    Claim(
        PAPER,
        "section 4.1.3",
        "The difference is typically noticeable at epsilon 1 and below only (here, on more than "
        "half of the data sets, by more than our deviation over splits)",
        lambda t: (
            "share of data sets on which the means differ by more than our deviation over splits, "
            "by epsilon: " + ", ".join(f"{e:g} {v:.2f}" for e, v in _noticed(t).items())
        ),
        lambda t: of_all([*(_noticed(t).loc[:1.0] > 0.5), *(_noticed(t).loc[2.0:] <= 0.5)]),
        "the paper sets no number; six of the eight data sets",
    ),
    Claim(
        PAPER,
        "section 4.1",
        "DP-EBM is better than DPBoost on every data set and at every epsilon",
        *_beats(OURS, "DPBoost", "ebm_tables"),
        _SIX,
    ),
    Claim(
        PAPER,
        "section 4.1",
        "DP-EBM is better than private linear models on every data set and at every epsilon (here, "
        "those of diffprivlib in default settings)",
        *_beats(OURS, "diffprivlib, as published", "ebm_tables", "ebm_diffprivlib"),
        f"{_SIX}; a newer diffprivlib, whose linear regression is another algorithm; DP-EBM with "
        "Gaussian DP, as by the paper's own table the classic one falls behind on pol at epsilon "
        "0.5 and 1",
    ),
    Claim(
        PAPER,
        "section 4.1",
        "The same against linear models that are properly prepared",
        *_beats(OURS, "linear, prepared", "ebm_tables"),
        f"our question: the paper has linear models in default or recommended settings; {_SIX}",
    ),
    Claim(
        PAPER,
        "section 4.1",
        "The same for our default recipe, against linear models that are properly prepared",
        *_beats(RECIPE, "linear, prepared", "ebm_tables"),
        f"our question: the paper does not have this recipe; {_SIX}",
    ),
    Claim(
        PAPER,
        "section 4.1",
        f"Strong privacy costs little: at epsilon 0.5 at most {MOST_LOST} of AUROC",
        _lost_words,
        _lost_verdict,
        "two of the four classifications, and healthcare by the paper's own table, whose loss is "
        "larger than its text says; a loss within two standard errors of 0.05 counts for the "
        "claim; decided by DP-EBM with Gaussian DP, as the paper does not have our default recipe; "
        "the EBM without privacy is ours",
    ),
    Claim(
        PAPER,
        "section 4.1",
        "Without privacy, boosted trees outperform EBMs on more than half of the data sets",
        lambda t: _plain_words(t, "gradient boosting", "EBM"),
        lambda t: _plain_verdict(t, "gradient boosting", "EBM"),
        "in part if they have the better mean on more than half, but by more than two standard "
        "errors on half or fewer; scikit-learn's histogram gradient boosting instead of LightGBM; "
        "six of the eight data sets",
    ),
    Claim(
        PAPER,
        "section 4.1.1",
        "Without privacy, EBMs are often more accurate than linear models (here, on more than half "
        "of the data sets)",
        lambda t: _plain_words(t, "EBM", "linear, prepared"),
        lambda t: _plain_verdict(t, "EBM", "linear, prepared"),
        "in part if only their means are better; six of the eight data sets",
    ),
    Claim(
        PAPER,
        "figure 1",
        "AUROC on the four classifications: both DP-EBMs significantly outperform the other "
        "models in every setting (here, have the better mean)",
        lambda t: "; ".join(
            f"{model} against {other}: {_beats(model, other, *_BOTH)[0](_classes(t))}"
            for model, other in product((OURS, CLASSIC), _OTHERS)
        ),
        lambda t: of_all(
            _beats(model, other, *_BOTH)[1](_classes(t)) == HOLDS
            for model, other in product((OURS, CLASSIC), _OTHERS)
        ),
        "adult and telco, two of the four",
    ),
    untested(
        PAPER,
        "figure 2",
        "One pass of cyclic boosting, as a drawing",
        "a drawing of the algorithm, which claims nothing",
        NOT_TESTABLE,
    ),
)
