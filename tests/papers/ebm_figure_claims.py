"""What Nori et al. 2021 claim about curves and single splits, compared with our tables.

Only the captions and the text about their figures are known here, not the curves.
"""

from __future__ import annotations

import pandas as pd

from claims import CLEARLY, Claim, NotMeasuredError, Tables, clearly, of_all
from ebm_claims import OURS, RECIPE
from results import standard_error
from sources import NORI as PAPER

ALIKE = 0.8
N_BAGS = 25
_BAGS = f"{N_BAGS} bags, as in the paper; each has 85% of the records here"
_TRAVEL, _SHAPE = "total variation", "correlation with the bagged EBM"


def _looks(
    tables: Tables, metric: str, model: str, epsilon: float | None, data: str = "adult"
) -> pd.DataFrame:
    """Return what a metric of curves is over fits, by feature."""
    table = tables["ebm_smoothness"]
    at = table["epsilon"].isna() if epsilon is None else table["epsilon"] == epsilon
    rows = table[(table["data"] == data) & (table["model"] == model) & at]
    rows = rows[rows["metric"] == metric]
    if rows.empty:
        raise NotMeasuredError(f"row of {model} on {data} in ebm_smoothness")
    return rows.set_index("feature")


def _with_error(row: pd.Series) -> str:
    error = standard_error(row.to_dict())
    return f"{row['mean']:.2f}" + ("" if pd.isna(error) else f" ± {error:.2g}")


def _alike_words(tables: Tables) -> str:
    words = []
    for model in (OURS, RECIPE):
        rows = _looks(tables, _SHAPE, model, 4.0).iterrows()
        words.append(f"{model}: {', '.join(f'{name} {_with_error(r)}' for name, r in rows)}")
    return f"correlation of curves at epsilon 4 with the bagged EBM's: {'; '.join(words)}"


def _aged(tables: Tables, model: str, epsilon: float | None) -> pd.Series:
    """Return the total variation of the clinical curve of age."""
    return _looks(tables, _TRAVEL, model, epsilon, "clinical").loc["age"]


def _distances(tables: Tables) -> pd.DataFrame:
    """Return mean, deviation and number of distances to the true curve of age, by epsilon."""
    table = tables["ebm_isotonic"]
    table = table[(table["metric"] == "distance to the truth") & (table["model"] == "as released")]
    return table.set_index("epsilon")


def _distance_words(tables: Tables) -> str:
    found = _distances(tables).loc[[4.0, 1.0]]
    parts = (f"{r['mean']:.3f} ± {standard_error(r):.3f}" for r in found.to_dict("records"))
    n = int(found["n"].min())
    return (
        f"mean distance to the truth at epsilon 4 and 1, log-odds: {' and '.join(parts)}; {n} fits"
    )


_SETTINGS: dict[str, tuple[str, float | None]] = {
    "single": ("single EBM", None),
    "bagged": ("bagged EBM", None),
    "epsilon 4": (OURS, 4.0),
    "epsilon 1": (OURS, 1.0),
    "epsilon 10,000": (OURS, 10_000.0),
}


def _smoother(tables: Tables, *columns: str) -> pd.DataFrame:
    """Return the mean total variation of the curves of adult by feature, a column per setting."""
    return pd.DataFrame({c: _looks(tables, _TRAVEL, *_SETTINGS[c])["mean"] for c in columns})


def _below(tables: Tables, one: str, other: str, share: float = 1.0) -> str:
    """Decide whether curves vary less than a share of others."""
    low, high = (_looks(tables, _TRAVEL, *_SETTINGS[c]) for c in (one, other))
    squares = [rows["sd"].fillna(0.0) ** 2 / rows["n"] for rows in (low, high)]
    error = (squares[0] + share**2 * squares[1]) ** 0.5
    return clearly(list(zip(share * high["mean"] - low["mean"], error, strict=True)))


def _smoother_words(tables: Tables, *columns: str) -> str:
    found = {c: _looks(tables, _TRAVEL, *_SETTINGS[c]) for c in columns}
    parts = (
        f"{name} {', '.join(_with_error(rows.loc[name]) for rows in found.values())}"
        for name in found[columns[0]].index
    )
    fits = ", ".join(
        f"{int(rows['n'].min())}{f' means of {N_BAGS}' if c == 'bagged' else ''}"
        for c, rows in found.items()
    )
    return f"total variation in log-odds, {', '.join(columns)} (fits: {fits}): {'; '.join(parts)}"


RANDOM, LINEAR = "random predictions", "diffprivlib, as published"


def _repairs(tables: Tables, metric: str) -> pd.DataFrame:
    """Return the mean for each epsilon, of curves as released and of monotone ones."""
    table = tables["ebm_isotonic"]
    return table[table["metric"] == metric].pivot_table("mean", "epsilon", "model")


def _repaired(tables: Tables, metric: str) -> str:
    found = _repairs(tables, metric)
    return "; ".join(
        f"epsilon {e:g} {r['as released']:.4f} and {r['monotone']:.4f}" for e, r in found.iterrows()
    )


def _spread(tables: Tables, metric: str) -> pd.Series:
    table = tables["ebm_auroc_spread"]
    return table[table["metric"] == metric].set_index("model")["mean"]


def _spread_words(tables: Tables) -> str:
    means, sds = _spread(tables, "mean of AUROC"), _spread(tables, "sd of AUROC")
    return "mean and sd of AUROC over splits: " + "; ".join(
        f"{model} {means[model]:.3f} and {sds[model]:.3f}" for model in means.index
    )


CLAIMS = (
    Claim(
        PAPER,
        "figure 3",
        "Risk by age rises without privacy and at epsilon 4, and is distorted by noise at 1 (here, "
        "nearer to the truth at 4 than at 1)",
        _distance_words,
        lambda t: bool(_distances(t)["mean"][4.0] < _distances(t)["mean"][1.0]),
        "10,000 simulated patients, whose true curve is known, instead of the hospital's records; "
        "the paper judges a picture",
    ),
    Claim(
        PAPER,
        "figure 3",
        "Risk by age is smoother at epsilon 4 than without privacy",
        lambda t: (
            "total variation in log-odds over all ages: "
            f"epsilon 4 {_with_error(_aged(t, OURS, 4.0))}, bagged EBM "
            f"{_with_error(_aged(t, 'bagged EBM', None))}"
        ),
        lambda t: bool(_aged(t, OURS, 4.0)["mean"] < _aged(t, "bagged EBM", None)["mean"]),
        lambda t: (
            "10,000 simulated patients instead of the hospital's records; "
            f"{_aged(t, OURS, 4.0)['n']:g} private fits, {_aged(t, 'bagged EBM', None)['n']:g} "
            f"bagged EBMs, each of {N_BAGS} bags of 85% of the records; the paper prints no number "
            "of bags for this figure; section 5.3 says so of ages 50 to 90"
        ),
    ),
    Claim(
        PAPER,
        "figure 4",
        "Isotonic regression makes a noisy private curve monotone",
        lambda t: f"sum of falls in log-odds before and after: {_repaired(t, 'sum of falls')}",
        lambda t: of_all(_repairs(t, "sum of falls")["monotone"] == 0.0),
        "10,000 simulated patients instead of the hospital's records",
    ),
    Claim(
        PAPER,
        "figure 4",
        "The repaired curve is nearer to the truth",
        lambda t: (
            f"mean distance in log-odds before and after: {_repaired(t, 'distance to the truth')}"
        ),
        lambda t: of_all(
            _repairs(t, "distance to the truth")["monotone"]
            < _repairs(t, "distance to the truth")["as released"]
        ),
        "our question, on simulated patients, whose true curve is known",
    ),
    Claim(
        PAPER,
        "section 5.2",
        "Repair by isotonic regression costs no privacy: it uses public numbers only",
        lambda t: (
            "entries that the repair added to the ledger: "
            f"{_repairs(t, 'releases after the repair')['monotone'].max():g}"
        ),
        lambda t: bool((_repairs(t, "releases after the repair")["monotone"] == 0).all()),
        "follows from post-processing",
    ),
    Claim(
        PAPER,
        "figure 6",
        "AUROC of private logistic regression at epsilon 0.5 has mean 0.5, as random predictions "
        "have, but varies far more between splits (here, a mean within 0.05 of that, and more than "
        "twice the deviation)",
        _spread_words,
        lambda t: of_all(
            [
                abs(_spread(t, "mean of AUROC")[LINEAR] - 0.5) < 0.05,
                _spread(t, "sd of AUROC")[LINEAR] > 2 * _spread(t, "sd of AUROC")[RANDOM],
            ]
        ),
        "telco instead of the healthcare records; 100 splits, 1,000 of random predictions, "
        "instead of 5,000",
    ),
    Claim(
        PAPER,
        "section 8.3",
        "AUROC of DP-EBM, too, behaves so below epsilon 0.1 (as for figure 6)",
        _spread_words,
        lambda t: of_all(
            [
                abs(_spread(t, "mean of AUROC")[OURS] - 0.5) < 0.05,
                _spread(t, "sd of AUROC")[OURS] > 2 * _spread(t, "sd of AUROC")[RANDOM],
            ]
        ),
        "telco instead of the healthcare records, at epsilon 0.05, 50 splits; the paper says so in "
        "words, without a figure",
    ),
    Claim(
        PAPER,
        "figure 5",
        "Private curves of adult, at epsilon 4 and 1, are smoother than those without privacy",
        lambda t: _smoother_words(t, "single", "bagged", "epsilon 4", "epsilon 1"),
        lambda t: of_all(
            _smoother(t, "epsilon 4", "epsilon 1").max(axis=1)
            < _smoother(t, "single", "bagged").min(axis=1)
        ),
        f"smoother means less total variation; the claim on section 5.3 below is about noise as "
        f"the reason; {_BAGS}",
    ),
    Claim(
        PAPER,
        "section 5.3",
        "Noise is what makes private curves smoother (here, by a tenth or more at epsilon 4 than "
        "in the same settings with next to no noise)",
        lambda t: _smoother_words(t, "epsilon 4", "epsilon 10,000"),
        lambda t: _below(t, "epsilon 4", "epsilon 10,000", 0.9),
        "section 5.3 says that modest noise can act as a regularizer, the caption of figure 5 that "
        f"it acts as a strong one; a tenth is our threshold; {CLEARLY}; passes, steps, splits and "
        "bins of DP-EBM, which differ from those of the EBM, were not varied",
    ),
    Claim(
        PAPER,
        "figure 5",
        "They are smoother at epsilon 1 than at 4",
        lambda t: _smoother_words(t, "epsilon 4", "epsilon 1"),
        lambda t: _below(t, "epsilon 1", "epsilon 4"),
        "our reading: the paper calls the private curves smoother, and does not compare the two; "
        f"smoother means less total variation; {CLEARLY}",
    ),
    Claim(
        PAPER,
        "section 5.3",
        "Bagging makes the curves of an EBM smoother",
        lambda t: _smoother_words(t, "single", "bagged"),
        lambda t: _below(t, "bagged", "single"),
        f"{CLEARLY}; {_BAGS}",
    ),
    Claim(
        PAPER,
        "figure 5",
        f"Private curves at epsilon 4 keep the shape of the bagged EBM's (correlation above "
        f"{ALIKE})",
        _alike_words,
        lambda t: of_all(_looks(t, _SHAPE, OURS, 4.0)["mean"] > ALIKE),
        f"our reading of the figure, with our threshold; {_BAGS}",
    ),
)
