"""What Nori et al. 2021 claim of DP-EBM, held against the measured tables.

Of their figures only what they show is known here, not the curves: what is expected of them is
marked as such.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from claims import Claim, NotMeasuredError, Tables

PAPER = "Nori 2021"
OURS, CLASSIC, RECIPE = "DP-EBM, GDP", "DP-EBM, classic", "DP-EBM, default recipe"
CLASSES = ("adult", "telco")
MOST_LOST = 0.05
ALIKE = 0.8

Verdict = Callable[[Tables], bool]
Evidence = Callable[[Tables], str]


# --- tables 2 and 3 --------------------------------------------------------------------------


def _errors(tables: Tables, *studies: str) -> pd.DataFrame:
    """Loss by data and epsilon, a column per model: one minus AUROC, or RMSE."""
    table = pd.concat([tables[name] for name in studies])
    table = table[table["epsilon"].notna()]
    loss = np.where(table["metric"] == "AUROC", 1.0 - table["mean"], table["mean"])
    return table.assign(loss=loss).pivot_table("loss", ["data", "epsilon"], "model")


def _beats(model: str, other: str, *studies: str) -> tuple[Evidence, Verdict]:
    """Evidence and verdict that a model has the smaller loss everywhere."""

    def better(tables: Tables) -> pd.Series:
        wide = _errors(tables, *studies)[[model, other]].dropna()  # where both were measured
        return wide[model] < wide[other]

    return (
        lambda tables: _counted(better(tables), "better"),
        lambda tables: bool(better(tables).all()),
    )


def _counted(better: pd.Series, what: str) -> str:
    worse = better[~better]
    text = f"{what} in {int(better.sum())} of {len(better)} pairs of data and epsilon"
    if worse.empty:
        return text
    cases = "; ".join(f"{name} at {epsilon:g}" for name, epsilon in worse.index)
    return f"{text}, not: {cases}"


def _lost(tables: Tables, model: str) -> dict[str, float]:
    """AUROC lost to privacy at epsilon 0.5, by data."""
    table = tables["ebm_tables"].set_index(["data", "model", "epsilon"])["mean"]
    plain = table.xs("EBM", level="model").droplevel("epsilon")
    return {name: float(plain[name] - table[name, model, 0.5]) for name in CLASSES}


def _lost_words(tables: Tables) -> str:
    words = []
    for model in (OURS, RECIPE):
        parts = (f"{name} {lost:.4f}" for name, lost in _lost(tables, model).items())
        words.append(f"{model}: {', '.join(parts)}")
    return "; ".join(words) + " (published: adult 0.048, telco 0.019)"


# --- figures ---------------------------------------------------------------------------------


def _curves(tables: Tables, study: str, model: str, epsilon: float | None) -> pd.Series:
    """Score by feature and point."""
    table = tables[study]
    which = table["epsilon"].isna() if epsilon is None else table["epsilon"] == epsilon
    found = table[(table["model"] == model) & which]
    if found.empty:
        raise NotMeasuredError(f"{model} in {study}")
    return found.set_index(["feature", "x"])["score"]


def _apart(tables: Tables, study: str, other: str, epsilon: float) -> pd.Series:
    """Mean distance between a private curve and another model's over its points, by feature."""
    private = _curves(tables, study, OURS, epsilon)
    return (private - _curves(tables, study, other, None)).abs().groupby("feature").mean()


def _travel(tables: Tables, model: str) -> pd.Series:
    """How far each curve goes up and down in all."""
    curves = _curves(tables, "ebm_curves_adult", model, None).sort_index()
    return curves.groupby("feature").apply(lambda scores: scores.diff().abs().sum())


def _band_width(tables: Tables, model: str, epsilon: float) -> pd.Series:
    """Mean width of the band of a private model's curves over their points, by feature."""
    table = tables["ebm_curves_adult"]
    found = table[(table["model"] == model) & (table["epsilon"] == epsilon)]
    if found.empty:
        raise NotMeasuredError(f"{model} in ebm_curves_adult")
    return (found["upper"] - found["lower"]).groupby(found["feature"]).mean()


def _noisier_words(tables: Tables) -> str:
    words = []
    for model in (OURS, RECIPE):
        at_four, at_one = (_band_width(tables, model, e) for e in (4.0, 1.0))
        parts = (f"{name} {at_four[name]:.2f} and {at_one[name]:.2f}" for name in at_four.index)
        words.append(f"{model}: {', '.join(parts)}")
    return f"mean width of bands at epsilon 4 and 1, log-odds: {'; '.join(words)}"


def _noisier(tables: Tables) -> bool:
    return all(
        bool((_band_width(tables, m, 1.0) > _band_width(tables, m, 4.0)).all())
        for m in (OURS, RECIPE)
    )


def _alike(tables: Tables, model: str) -> pd.Series:
    """Correlation over points of a model's curves at epsilon 4 with the bagged EBM's."""
    private = _curves(tables, "ebm_curves_adult", model, 4.0)
    both = pd.DataFrame(
        {"own": private, "bagged": _curves(tables, "ebm_curves_adult", "bagged EBM", None)}
    )
    return both.groupby("feature").apply(lambda pair: pair["own"].corr(pair["bagged"]))


def _alike_words(tables: Tables) -> str:
    words = []
    for model in (OURS, RECIPE):
        parts = (f"{name} {value:.2f}" for name, value in _alike(tables, model).items())
        words.append(f"{model}: {', '.join(parts)}")
    return f"correlation of curves at epsilon 4 with the bagged EBM's: {'; '.join(words)}"


def _nearer(study: str, other: str) -> tuple[Evidence, Verdict]:
    def words(tables: Tables) -> str:
        at_four, at_one = (_apart(tables, study, other, e) for e in (4.0, 1.0))
        parts = (f"{n} {at_four[n]:.2f} and {at_one[n]:.2f}" for n in at_four.index)
        return f"mean distance to the {other} at epsilon 4 and 1, log-odds: {', '.join(parts)}"

    def nearer(tables: Tables) -> bool:
        at_four, at_one = (_apart(tables, study, other, e) for e in (4.0, 1.0))
        return bool((at_four < at_one).all())

    return words, nearer


def _travel_words(tables: Tables) -> str:
    single, bagged = _travel(tables, "single EBM"), _travel(tables, "bagged EBM")
    parts = (f"{name} {single[name]:.1f} and {bagged[name]:.1f}" for name in single.index)
    return f"total variation of one single fit and of the bagged EBM: {', '.join(parts)}"


# --- other tables ----------------------------------------------------------------------------


def _plain(tables: Tables) -> pd.DataFrame:
    return tables["ebm_without_privacy"].pivot_table("mean", "data", "model")


def _plain_words(tables: Tables) -> str:
    table = _plain(tables)
    rivals = table[["random forest", "gradient boosting"]].max(axis=1)
    parts = (f"{n} {table['EBM'][n]:.3f} against {rivals[n]:.3f}" for n in table.index)
    return f"EBM against the better of forest and boosted trees: {', '.join(parts)}"


def _taught(tables: Tables, metric: str = "AUROC") -> pd.Series:
    """Means of the models of the teaching study, the taught variant with the paper's steps."""
    table = tables["ebm_teaching"]
    table = table[table["metric"] == metric]
    steps = table["learning_rate"].isna() | (
        (table["learning_rate"] == 0.01) & (table["max_rounds"] == 300)
    )
    return table[steps].set_index("model")["mean"]


_TAUGHT = "teaching variant, NOT PRIVATE"
_COMPOSED = "teaching variant with noise for all its releases, NOT PRIVATE"


def _taught_words(tables: Tables) -> str:
    found, composed = _taught(tables), _taught(tables, "epsilon of all releases")
    return (
        f"AUROC {found[OURS]:.3f} against {found[_TAUGHT]:.3f} at a nominal epsilon of 4, which "
        f"is {composed[_TAUGHT]:,.0f} when all releases count; with noise for all of them "
        f"{found[_COMPOSED]:.3f}"
    )


CLAIMS = (
    Claim(
        PAPER,
        "Accounting by Gaussian DP gives better models than classic composition on every data set "
        "and at every epsilon",
        *_beats(OURS, CLASSIC, "ebm_tables"),
    ),
    Claim(
        PAPER,
        "DP-EBM is better than DPBoost on every data set and at every epsilon",
        *_beats(OURS, "DPBoost", "ebm_tables"),
    ),
    Claim(
        PAPER,
        "DP-EBM is better than private linear models, as these were published",
        *_beats(OURS, "diffprivlib, as published", "ebm_tables", "ebm_diffprivlib"),
    ),
    Claim(
        PAPER,
        "The same against private linear models that are properly prepared",
        *_beats(OURS, "linear, prepared", "ebm_tables"),
    ),
    Claim(
        PAPER,
        "The same of our default recipe",
        *_beats(RECIPE, "linear, prepared", "ebm_tables"),
    ),
    Claim(
        PAPER,
        f"Strong privacy costs little: at epsilon 0.5 at most {MOST_LOST} of AUROC",
        _lost_words,
        lambda tables: max(_lost(tables, OURS).values()) <= MOST_LOST,
    ),
    Claim(
        PAPER,
        "Expected of figures 1 and 5: the noise in the curves of adult grows as epsilon falls",
        _noisier_words,
        _noisier,
    ),
    Claim(
        PAPER,
        f"Expected of figures 1 and 5: private curves at epsilon 4 have the shape of the bagged "
        f"EBM's (correlation above {ALIKE} on every numeric feature of adult)",
        _alike_words,
        lambda tables: bool((_alike(tables, OURS) > ALIKE).all()),
    ),
    Claim(
        PAPER,
        "Expected of figures 1 and 5: curves come nearer to the bagged EBM as epsilon grows",
        *_nearer("ebm_curves_adult", "bagged EBM"),
    ),
    Claim(
        PAPER,
        "Expected of figures 1 and 5: a single EBM has rougher curves than a bagged one",
        _travel_words,
        lambda tables: bool((_travel(tables, "single EBM") > _travel(tables, "bagged EBM")).all()),
    ),
    Claim(
        PAPER,
        "Expected of figure 3: the curve of age comes nearer to what is true as epsilon grows",
        *_nearer("ebm_curves_clinical", "truth"),
    ),
    Claim(
        PAPER,
        "Without privacy, additive models are as good as forests and boosted trees, to 0.005",
        _plain_words,
        lambda tables: bool(
            (
                _plain(tables)["EBM"]
                >= _plain(tables)[["random forest", "gradient boosting"]].max(axis=1) - 0.005
            ).all()
        ),
    ),
    Claim(
        PAPER,
        "The full algorithm is better than a simplified one without its guarantees",
        _taught_words,
        lambda tables: bool(_taught(tables)[OURS] > _taught(tables)[_TAUGHT]),
    ),
)
