"""Pictures of the pages: published and measured numbers on the same axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import curve_pictures as curves
from locally_linear_filters import AS_AT_4, AS_AT_8
from panels import keyed, lines, panels
from results import varied

_STYLE = {
    "svg.fonttype": "none",  # text as text: small files, readable by search
    "svg.hashsalt": "papers",
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


@dataclass(frozen=True)
class Picture:
    """A picture of a page.

    Attributes
    ----------
    name : str
        Of the file in ``figures``, without its ending.
    caption : str
        What it shows, and where the published numbers are printed.
    tables : tuple of str
        Studies whose tables it draws; without them there is no picture.
    draw : callable
        Takes these tables; returns the figure.
    less : str
        What differs from this source, where the study belongs to another.
    """

    name: str
    caption: str
    tables: tuple[str, ...]
    draw: Callable[..., Figure]
    less: str = ""


def write_pictures(folder: Path) -> None:
    """Write the pictures of all pages as SVG; the same tables give the same bytes."""
    target = folder / "figures"
    target.mkdir(exist_ok=True)
    for pictures in PICTURES.values():
        for picture in pictures:
            figure = drawn(picture, folder)
            if figure is not None:
                with mpl.rc_context(_STYLE):
                    path = target / f"{picture.name}.svg"
                    figure.savefig(path, metadata={"Date": None, "Creator": None})


def drawn(picture: Picture, folder: Path) -> Figure | None:
    """Return the figure of a picture, or None if a table is missing."""
    paths = [folder / f"{name}.csv" for name in picture.tables]
    if not all(path.is_file() for path in paths):
        return None
    with mpl.rc_context(_STYLE):
        return picture.draw(*map(pd.read_csv, paths))


# --- DP-EBM ----------------------------------------------------------------------------------


def _ebm_tables(tables: pd.DataFrame, linear: pd.DataFrame) -> Figure:
    linear = linear[linear["model"] == "diffprivlib, as published"]
    both = pd.concat([tables, linear], ignore_index=True)
    data = [d for d in both["data"].unique() if d != "wine-distinct"]
    figure, axes = panels(len(data))
    models = ("DP-EBM, GDP", "DP-EBM, classic", "DPBoost", "diffprivlib, as published", "EBM")
    for ax, name in zip(axes, data, strict=True):
        rows = both[both["data"] == name]
        lines(ax, rows, models)
        metric = rows["metric"].iloc[0]
        ax.set_title(f"{name}: {metric}")
        if metric == "RMSE":
            shown = rows.loc[rows["model"].isin(models), "published"]
            ax.set(yscale="log", ylim=(shown.min() / 1.5, shown.max() * 2))
        ax.set_xlabel("ε")
    return keyed(figure, axes[0])


def _ebm_spread(table: pd.DataFrame) -> Figure:
    figure, (ax,) = panels(1)
    rows = table[table["metric"] == "AUROC"]
    for place, (model, part) in enumerate(rows.groupby("model", sort=False)):
        epsilon = part["epsilon"].iloc[0]
        label = model if np.isnan(epsilon) else f"{model}, ε {epsilon:g}"
        ax.plot(part["mean"], part["quantile"], ".-", color=f"C{place}", label=label)
    ax.axvline(0.5, color="gray", lw=0.5)
    ax.set(xlabel="AUROC", ylabel="share of splits below")
    ax.legend(fontsize=6)
    return figure


def _isotonic(table: pd.DataFrame) -> Figure:
    figure, axes = panels(2)
    for ax, metric in zip(axes, ("distance to the truth", "sum of falls"), strict=True):
        lines(ax, table[table["metric"] == metric], ("as released", "monotone"))
        ax.set(title=f"{metric}, log-odds", xlabel="ε")
    axes[0].legend(fontsize=6)
    return figure


# --- slides, DPBoost, objective calibration, locally linear maps ------------------------------


def _dots(ax: Any, labels: Sequence[str], ours: pd.DataFrame) -> None:
    """Draw our numbers next to the published ones, a row per label."""
    places = np.arange(len(labels))
    ax.errorbar(
        ours["mean"], places + 0.12, xerr=2 * ours["sd"].fillna(0.0), fmt=".", label="here, ± 2 sd"
    )
    error = 2 * ours["published_sd"].fillna(0.0)
    marks = {"mfc": "none", "color": "gray"}
    ax.errorbar(ours["published"], places - 0.12, xerr=error, fmt="o", label="published", **marks)
    ax.set_yticks(places, labels)
    ax.invert_yaxis()


def _dotted(*tables: pd.DataFrame) -> Figure:
    """Draw a panel per table, with a row per published number."""
    figure, axes = panels(len(tables), across=2)
    figure.set_size_inches(4.4 * len(tables), 3.2)
    for ax, table in zip(axes, tables, strict=True):
        rows = table[table["published"].notna() & (table["published"] > 0)]
        epsilon = rows["epsilon"] if "epsilon" in rows else pd.Series(np.nan, rows.index)
        at = epsilon.map(lambda e: "" if np.isnan(e) else f", ε {e:g}")
        labels = rows["data"] + ", " + rows["model"] + varied(rows) + at
        _dots(ax, list(labels), rows)
        ax.set_xlabel(rows["metric"].iloc[0])
        if rows["published"].max() > 10 * rows["mean"].min():
            ax.set_xscale("symlog", linthresh=0.01)
            ax.set_xlim(left=0.0)
    axes[0].legend(fontsize=6)
    return figure


def _recreated(table: pd.DataFrame) -> Figure:
    from slides_claims import RECREATED

    figure, axes = panels(2)
    for ax, (model, printed) in zip(axes, RECREATED.items(), strict=True):
        rows = table.query("data == 'adult' and model == @model").sort_values("epsilon")
        means, sds = zip(*printed, strict=True)
        rows = rows.assign(published=means, published_sd=sds, model="here")
        lines(ax, rows, ("here",))
        ax.set(title=f"adult, {model}: AUROC", xlabel="ε")
    return keyed(figure, axes[0])


def _boosted_errors(table: pd.DataFrame) -> Figure:
    figure, axes = panels(table["data"].nunique(), across=2)
    for ax, (name, rows) in zip(axes, table.groupby("data"), strict=True):
        lines(ax, rows, ("DPBoost", "SEQ", "PARA", "NP"))
        ax.set(title=f"{name}: {rows['metric'].iloc[0]}", xlabel="ε", yscale="log")
    axes[0].legend(fontsize=6)
    return figure


def _wins(table: pd.DataFrame) -> Figure:
    rows = table.query("metric == 'share best' and budget == 'paper' and n_cuts == 10")
    rows = rows.assign(published_sd=np.nan)
    figure, axes = panels(rows["model"].nunique())
    for ax, (model, part) in zip(axes, rows.groupby("model", sort=False), strict=True):
        lines(ax, part.assign(model="here"), ("here",))
        ax.set(title=f"{model} is best", xlabel="ε", ylabel="share of domains", ylim=(0, 1))
        ax.set_xscale("log", base=10)
        ax.set_xticks(part["epsilon"], [f"{e:g}" for e in part["epsilon"]])
        ax.minorticks_off()
    return keyed(figure, axes[0])


def _leaf_bounds(table: pd.DataFrame) -> Figure:
    rows = table.query("model == 'O.C'")
    best = rows.groupby(["data", "budget", "epsilon", "largest_leaf"])["mean"].min().reset_index()
    means = best.groupby(["budget", "epsilon", "largest_leaf"])["mean"].mean().reset_index()
    figure, axes = panels(2)
    for ax, (budget, part) in zip(axes, means.groupby("budget"), strict=True):
        part = part.assign(model=part["largest_leaf"].map("M = {:g}".format))
        lines(ax, part, tuple(part["model"].unique()))
        ax.set_xscale("log", base=10)
        ax.set_xticks(part["epsilon"], [f"{e:g}" for e in part["epsilon"]])
        ax.minorticks_off()
        ax.set(title=f"O.C, budget {budget}", xlabel="ε", ylabel="mean best error")
    axes[0].legend(fontsize=6)
    return figure


def _alphas(table: pd.DataFrame) -> Figure:
    rows = table[table["leaves"].notna()]
    best = rows.groupby(["leaves", "epsilon", "data", "model"], sort=False)["mean"].min()
    means = best.groupby(["leaves", "epsilon", "model"], sort=False).mean().reset_index()
    guess = table[table["leaves"].isna()].groupby("epsilon")["mean"].mean()
    figure, axes = panels(2)
    for ax, (leaves, part) in zip(axes, means.groupby("leaves"), strict=True):
        lines(ax, part, tuple(part["model"].unique()))
        ax.plot(guess.index, guess, ":", color="gray", lw=1, label="larger class")
        ax.set_xscale("log", base=10)
        ax.set_xticks(guess.index, [f"{e:g}" for e in guess.index])
        ax.minorticks_off()
        ax.set(title=f"alpha of leaves {leaves:g}", xlabel="ε", ylabel="mean best error")
    axes[0].legend(fontsize=6)
    return figure


def _projections(*tables: pd.DataFrame) -> Figure:
    figure, axes = panels(len(tables))
    kinds = {"per_filter": "projection", "none": "no projection", "frequency": "our recipe"}
    of_code = "projection, rates of the code"
    for ax, table in zip(axes, tables, strict=True):
        usual = table["projection"] != "per_filter"
        usual |= (table["n_filters"] == 30) & (table["n_basis"] == 300)
        usual &= (table["epsilon"] != 8) | (table["decay"] != AS_AT_4)
        rows = table[usual & (table["metric"] == "accuracy")]
        kind = rows["projection"].map(kinds).mask(rows["decay"].isin((AS_AT_4, AS_AT_8)), of_code)
        lines(ax, rows.assign(model=kind), (*kinds.values(), of_code))
        ax.set(title=f"{table['data'].iloc[0]}: accuracy", xlabel="ε")
    return keyed(figure, axes[0])


def _networks(table: pd.DataFrame) -> Figure:
    accuracy = table[table["metric"] == "accuracy"]
    names = accuracy["data"].unique()
    figure, axes = panels(len(names))
    for ax, name in zip(axes, names, strict=True):
        rows = accuracy[accuracy["data"] == name]
        lines(ax, rows, tuple(rows["model"].unique()))
        ax.set(title=f"{name}: accuracy", xlabel="ε")
    return keyed(figure, axes[0])


def _maps(table: pd.DataFrame) -> Figure:
    figure, (ax,) = panels(1)
    rows = table[table["n_filters"].notna()]
    for place, (epsilon, part) in enumerate(rows.groupby("epsilon", dropna=False)):
        label = "no privacy" if np.isnan(epsilon) else f"ε {epsilon:g}"
        error = part["sd"] / part["n"] ** 0.5
        ax.errorbar(part["n_filters"], part["mean"], 2 * error, fmt=".-", label=label, lw=1)
        ax.lines[-1].set_color(f"C{place}")
    ax.set(xlabel="maps per class", ylabel="accuracy")
    ax.legend(fontsize=6)
    return figure


_ONLY_CURVES = "the paper has curves without numbers, so only ours are drawn"
_IMAGES = ("locally_linear_mnist", "locally_linear_fashion_mnist")
PICTURES = {
    "dp_ebm": (
        Picture(
            "ebm_tables",
            "Tables 2 and 3, and figure 1: AUROC and RMSE over epsilon, ours as lines, published "
            "as circles; our private linear models of regressions lie above the panels, see the "
            "causes",
            ("ebm_tables", "ebm_diffprivlib"),
            _ebm_tables,
        ),
        Picture(
            "ebm_curves_clinical",
            "Figure 3, on simulated patients: the curve of age in log-odds, one fit as a line, and "
            f"the mean of five ± 2 deviations as a shade; {_ONLY_CURVES}",
            ("ebm_curves_clinical",),
            curves.shapes,
        ),
        Picture(
            "ebm_splits",
            "Section 3, random splits: what chosen splits gain over them at the same privacy, ± 2 "
            "standard errors over splits of the data; the paper prints no numbers",
            ("ebm_splits",),
            curves.chosen_splits,
        ),
        Picture(
            "ebm_isotonic",
            "Figure 4 as numbers: distance of the curve of age to the truth, and the sum of its "
            "falls, "
            f"before and after isotonic repair; {_ONLY_CURVES}",
            ("ebm_isotonic",),
            _isotonic,
        ),
        Picture(
            "ebm_curves_adult",
            "Figure 5: curves of adult in log-odds, one fit as a line, and the mean of five ± 2 "
            f"deviations as a shade; {_ONLY_CURVES}",
            ("ebm_curves_adult",),
            curves.shapes,
        ),
        Picture(
            "ebm_auroc_spread",
            "Figure 6: AUROC over splits; the paper has histograms without numbers, so only ours "
            "are drawn",
            ("ebm_auroc_spread",),
            _ebm_spread,
        ),
    ),
    "slides": (
        Picture(
            "slides_recreated",
            "Table of adult, recreated: DP-EBM here as lines, theirs as circles",
            ("ebm_tables",),
            _recreated,
            "25 splits, those of the page of DP-EBM; the slides do not say how many they have",
        ),
        Picture(
            "slides_models",
            "Table without privacy, with the figures of InterpretML's README as circles (the "
            "slides print others for some models), and list of custom and official",
            ("ebm_without_privacy", "ebm_teaching"),
            _dotted,
        ),
    ),
    "dpboost": (
        Picture(
            "dpboost_tables",
            "Tables 2 and 3: seconds per tree, and share of records of abalone that filtering "
            "drops; synthetic_reg, whose printed share is 0, is left out",
            ("dpboost_time", "dpboost_effects"),
            _dotted,
        ),
        Picture(
            "dpboost_error",
            f"Figure 2: error over epsilon with 50 trees; {_ONLY_CURVES}",
            ("dpboost_error",),
            _boosted_errors,
        ),
        Picture(
            "dpboost_convergence",
            f"Figure 3: error over the number of trees, 50 in an ensemble; {_ONLY_CURVES}",
            ("dpboost_convergence",),
            curves.convergence,
        ),
        Picture(
            "dpboost_clipping",
            f"Figure 4: error over epsilon with and without geometric leaf clipping; "
            f"{_ONLY_CURVES}",
            ("dpboost_effects",),
            curves.clipping,
        ),
        Picture(
            "dpboost_sizes",
            f"Figures 5 and 6: error over epsilon with 20 and 40 trees; {_ONLY_CURVES}",
            ("dpboost_sizes",),
            curves.sizes,
        ),
        Picture(
            "dpboost_convergence_sizes",
            "Figures 7 and 8: error over the number of trees, 20 and 40 in an ensemble; "
            f"{_ONLY_CURVES}",
            ("dpboost_convergence",),
            partial(curves.convergence, sizes=(20, 40)),
        ),
    ),
    "objective_calibration": (
        Picture(
            "objective_calibration_wins",
            "Table 1: share of domains on which each alpha is best, ties counted for each; ours "
            "as lines, the printed counts of 19 as circles",
            ("objective_calibration",),
            _wins,
        ),
        Picture(
            "objective_calibration_runs",
            "Figure 2 in part: error of single runs on banknote under strong privacy; "
            f"{_ONLY_CURVES}",
            ("objective_calibration_runs",),
            curves.single_runs,
        ),
        Picture(
            "objective_calibration_domains",
            "Appendix 17, errors of each alpha: test error over epsilon, domain by domain, best "
            "over trees and depth, budget of the paper, without privacy as with the budget "
            "'parallel'; the paper has plots without numbers, so only ours are drawn",
            ("objective_calibration",),
            curves.domains,
        ),
        Picture(
            "objective_calibration_depths",
            "Appendix 17, errors over depth: objective calibration with 2, 5 and 20 trees, at its "
            "best epsilon (lines) and without privacy (dashed), domain by domain; the paper has "
            "plots without numbers, so only ours are drawn",
            ("objective_calibration",),
            curves.depths,
        ),
        Picture(
            "objective_calibration_settings",
            "Errors of O.C with bounds M of 1 and 10 on a leaf value, best over beta; the "
            "paper does not print them",
            ("objective_calibration_settings",),
            _leaf_bounds,
        ),
        Picture(
            "objective_calibration_alphas",
            "Errors by alpha of splits and alpha of weights and leaves, best over sizes; the paper "
            "does not print them",
            ("objective_calibration_alphas",),
            _alphas,
        ),
    ),
    "locally_linear_maps": (
        Picture(
            "locally_linear_images",
            "Figure 5, left, and section 4.1: accuracy over epsilon, printed accuracies as "
            "circles, also on Fashion-MNIST; at 4 and 8 also with the rates of the authors' code; "
            "also our recipe; the paper has its other points as a curve without numbers",
            _IMAGES,
            _projections,
        ),
        Picture(
            "locally_linear_sizes",
            "Figure 5, center and right: accuracy over filters and projection size, ± 2 standard "
            f"errors, dashed without projection; {_ONLY_CURVES}",
            _IMAGES[:1],
            curves.sizes_of_maps,
        ),
        Picture(
            "locally_linear_networks",
            "Section 4.1 and figure 8: accuracy of networks of the paper's sizes and of locally "
            "linear maps with our recipe over epsilon, published numbers as circles",
            ("locally_linear_networks",),
            _networks,
        ),
        Picture(
            "locally_linear_weightings",
            "Figures 2, 3 and 9 as numbers, ± 2 deviations; the paper has pictures without "
            "numbers, so only ours are drawn",
            _IMAGES,
            curves.looks_of_filters,
        ),
        Picture(
            "locally_linear_table",
            f"Figure 6, top: accuracy over epsilon, ± 2 standard errors; {_ONLY_CURVES}",
            ("locally_linear_table",),
            curves.clinical,
        ),
        Picture(
            "locally_linear_maps",
            f"Figure 6, bottom: accuracy over maps per class, ± 2 standard errors; {_ONLY_CURVES}",
            ("locally_linear_maps",),
            _maps,
        ),
        Picture(
            "locally_linear_attributions",
            "Figures 7 and 10 as numbers, ± 2 deviations over splits; the paper has colors without "
            "numbers, so only ours are drawn",
            ("locally_linear_attributions",),
            curves.metrics,
        ),
    ),
}
