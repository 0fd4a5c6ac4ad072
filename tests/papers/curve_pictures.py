"""Pictures of curves; the papers print no numbers for theirs, so only ours are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ebm_claims import CLASSES
from ebm_split_claims import GAIN, PASSES
from objective_calibration_counts import ALPHAS
from objective_calibration_domains import errors
from panels import lines, panels

_SHAPES = ("truth", "single EBM", "bagged EBM", "DP-EBM, GDP")
_BOOSTED = ("DPBoost", "SEQ", "PARA", "NP")
NONE = float("inf")
"""Epsilon without privacy, where levels are places on an axis."""
_WIDE = 1000
"""Beyond such a value the axis of a feature is logarithmic."""


def shapes(table: pd.DataFrame) -> Figure:
    """Draw the first fitted curve of each feature, and how far those of other fits differ."""
    figure, axes = panels(table["feature"].nunique())
    table = table[table["model"].isin(_SHAPES)]
    labels = table["model"] + table["epsilon"].map(lambda e: "" if np.isnan(e) else f", ε {e:g}")
    for ax, (name, rows) in zip(axes, table.groupby("feature", sort=False), strict=True):
        for label, part in rows.sort_values("x").groupby(labels, sort=False):
            ax.plot(part["x"], part["score"], lw=1, label=label)
            ends = (part["mean"] - 2 * part["sd"], part["mean"] + 2 * part["sd"])
            ax.fill_between(part["x"], *ends, color=ax.lines[-1].get_color(), alpha=0.15, lw=0)
        if rows["x"].max() > _WIDE:
            ax.set_xscale("symlog", linthresh=_WIDE / 10)
        ax.set_title(name)
    return _named(figure, axes)


def convergence(table: pd.DataFrame, sizes: Sequence[int] = (50,)) -> Figure:
    """Draw the error against the number of trees, by data set and trees per ensemble."""
    names = sorted(table["data"].unique())
    figure, axes = panels(len(names) * len(sizes), across=2)
    plain = table["model"] == "NP"  # which has no ensembles
    for ax, (name, size) in zip(axes, product(names, sizes), strict=True):
        rows = table[(table["data"] == name) & (plain | (table["trees_per_ensemble"] == size))]
        for model in _BOOSTED:
            part = rows[rows["model"] == model].sort_values("n_trees")
            ax.plot(part["n_trees"], part["mean"], ".-", lw=1, ms=3, label=model)
        which = f", {size} per ensemble" if len(sizes) > 1 else ""
        ax.set(title=f"{name}{which}: {rows['metric'].iloc[0]}", xlabel="trees", yscale="log")
    return _named(figure, axes)


def clipping(table: pd.DataFrame) -> Figure:
    """Draw the error of one ensemble with and without geometric leaf clipping, by data set."""
    table = table[(table["metric"] != "share filtered") & (table["n_trees"] == 50)]
    figure, axes = panels(table["data"].nunique(), across=2)
    for ax, (name, rows) in zip(axes, table.groupby("data"), strict=True):
        rows = rows.replace({"model": {"GLC and GDF": "with GLC", "GDF only": "without GLC"}})
        lines(ax, rows, ("with GLC", "without GLC"))
        ax.set(title=f"{name}: {rows['metric'].iloc[0]}", xlabel="ε", yscale="log")
    return _named(figure, axes)


def sizes_of_maps(*tables: pd.DataFrame) -> Figure:
    """Draw the accuracy against filters per class and projection size, by data set."""
    figure, axes = panels(2 * len(tables), across=2)
    for table, pair in zip(tables, zip(axes[::2], axes[1::2], strict=True), strict=True):
        at = (table["epsilon"] == 2) | table["epsilon"].isna()
        rows = table[at & (table["metric"] == "accuracy")]
        usual = rows[rows["projection"] == "per_filter"]
        for ax, varies, points in (
            (pair[0], "n_filters", usual[usual["n_basis"] == 300]),
            (pair[1], "n_basis", usual[usual["n_filters"] == 30]),
        ):
            for place, (epsilon, part) in enumerate(points.groupby("epsilon", dropna=False)):
                part = part.sort_values(varies)
                label = "no privacy" if np.isnan(epsilon) else f"ε {epsilon:g}"
                error = 2 * part["sd"] / part["n"] ** 0.5
                line = {"fmt": ".-", "color": f"C{place}", "label": label}
                ax.errorbar(part[varies], part["mean"], error.fillna(0.0), **line)
            words = {"n_filters": "filters per class", "n_basis": "numbers of a projection"}
            ax.set(title=f"{table['data'].iloc[0]}: accuracy", xlabel=words[varies], xscale="log")
            ticks = sorted(points[varies].unique())
            ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
            ax.minorticks_off()
        plain = rows[rows["projection"] == "none"].groupby("epsilon", dropna=False)["mean"]
        for place, (_, mean) in enumerate(plain):
            pair[1].axhline(mean.iloc[0], color=f"C{place}", ls="--", lw=1)
    return _named(figure, axes)


def looks_of_filters(*tables: pd.DataFrame) -> Figure:
    """Draw what was measured on filters besides accuracy."""
    both = pd.concat(tables, ignore_index=True)
    return metrics(both[both["metric"] != "accuracy"])


def clinical(table: pd.DataFrame) -> Figure:
    """Draw the accuracy on the clinical table against epsilon."""
    figure, (ax,) = panels(1)
    rows = table[table["metric"] == "accuracy"].sort_values("epsilon", na_position="last")
    private = rows[rows["epsilon"].notna()]
    error = 2 * private["sd"] / private["n"] ** 0.5
    ax.errorbar(private["epsilon"], private["mean"], error, fmt=".-", label="with privacy")
    for mean in rows.loc[rows["epsilon"].isna(), "mean"]:
        ax.axhline(mean, color="gray", lw=0.8, label="without privacy")
    ax.set(xlabel="ε", ylabel="accuracy")
    ax.legend(fontsize=6)
    return figure


def sizes(table: pd.DataFrame) -> Figure:
    """Draw the error of one ensemble against epsilon, by data set and number of trees."""
    groups = list(table.groupby(["data", "n_trees"]))
    figure, axes = panels(len(groups), across=2)
    for ax, ((name, n_trees), rows) in zip(axes, groups, strict=True):
        lines(ax, rows, _BOOSTED)
        title = f"{name}, {n_trees:g} trees: {rows['metric'].iloc[0]}"
        ax.set(title=title, xlabel="ε", yscale="log")
    return _named(figure, axes)


def metrics(table: pd.DataFrame) -> Figure:
    """Draw a panel per metric, with a row per data set, model and epsilon."""
    known = [c for c in ("data", "model", "projection", "epsilon") if c in table]
    settings = [c for c in known if table[c].nunique(dropna=False) > 1]
    words = {"per_filter": "projection", "none": "no projection"}
    said = table[settings].map(lambda v: words.get(v, v))
    if "epsilon" in settings:
        levels = table["epsilon"].map(lambda e: "no privacy" if np.isnan(e) else f"ε {e:g}")
        said = said.assign(epsilon=levels)
    names = said.apply(", ".join, axis=1)
    groups = list(table.groupby("metric", sort=False))
    figure, axes = panels(len(groups), across=2)
    for ax, (metric, rows) in zip(axes, groups, strict=True):
        error = 2 * rows["sd"].fillna(0.0)
        ax.errorbar(rows["mean"], range(len(rows)), xerr=error, fmt=".")
        ax.set_yticks(range(len(rows)), names[rows.index], fontsize=6)
        ax.invert_yaxis()
        ax.set_title(fill(metric, 24), fontsize=7)
    return figure


def domains(table: pd.DataFrame) -> Figure:
    """Draw the error of each alpha against epsilon, by domain."""
    rows = errors(table)
    levels = [*sorted(rows["epsilon"].dropna().unique()), NONE]
    groups = list(rows.fillna({"epsilon": NONE}).groupby("data", sort=False))
    figure, axes = panels(len(groups))
    for ax, (name, part) in zip(axes, groups, strict=True):
        for place, model in enumerate(ALPHAS):
            own = part[part["model"] == model].set_index("epsilon")["mean"].reindex(levels)
            ax.plot(range(len(levels)), own, ".-", color=f"C{place}", lw=1, label=model)
        ax.set(title=name, xlabel="ε", ylabel="test error")
        ax.set_xticks(range(len(levels)), [f"{e:g}" if e < NONE else "none" for e in levels])
    return _named(figure, axes)


def depths(table: pd.DataFrame) -> Figure:
    """Draw the error of objective calibration against depth, by domain and number of trees."""
    rows = table.query("model == 'O.C' and metric == 'test error' and n_cuts == 10")
    rows = rows[(rows["budget"] == "paper") | rows["epsilon"].isna()]
    groups = list(rows.groupby("data", sort=False))
    figure, axes = panels(len(groups))
    for ax, (name, part) in zip(axes, groups, strict=True):
        for place, (n_trees, own) in enumerate(part.groupby("n_trees")):
            for private, style in ((True, ".-"), (False, ".--")):
                of_kind = own[own["epsilon"].notna() == private].groupby("depth")["mean"].min()
                label = f"{n_trees:g} trees{'' if private else ', no privacy'}"
                ax.plot(of_kind.index, of_kind, style, color=f"C{place}", lw=1, label=label)
        ax.set(title=name, xlabel="depth", ylabel="test error", xticks=sorted(set(part["depth"])))
    return _named(figure, axes)


def chosen_splits(table: pd.DataFrame) -> Figure:
    """Draw what chosen splits gain over random ones, by data set."""
    rows = table[(table["metric"] == GAIN) & (table["passes"] == PASSES)]
    groups = list(rows.groupby("data", sort=False))
    figure, axes = panels(len(groups))
    ticks = sorted(set(rows["epsilon"]))
    for ax, (name, part) in zip(axes, groups, strict=True):
        for model, line in part.groupby("model", sort=False):
            line = line.sort_values("epsilon")
            error = 2 * line["sd"] / line["n"] ** 0.5
            places = [ticks.index(e) for e in line["epsilon"]]
            ax.errorbar(places, line["mean"], error, fmt=".-", lw=1, label=model)
        ax.axhline(0.0, color="gray", lw=0.8)
        unit = "AUROC" if name in CLASSES else "share of RMSE"
        ax.set(title=f"{name}: gain in {unit}", xlabel="ε")
        ax.set_xticks(
            range(len(ticks)), [f"{e:,g}" if e < 1000 else "next to\nno noise" for e in ticks]
        )
    return _named(figure, axes)


def single_runs(table: pd.DataFrame) -> Figure:
    """Draw the proportion of runs on banknote within an error, by epsilon and budget."""
    rows = table.query("data == 'banknote' and metric == 'test error'")
    groups = list(rows.groupby(["epsilon", "budget"]))
    figure, axes = panels(len(groups), across=2)
    for ax, ((epsilon, budget), part) in zip(axes, groups, strict=True):
        for model, line in part.groupby("model", sort=False):
            ax.plot(line["mean"], line["quantile"], ".-", lw=1, ms=3, label=model)
        ax.set(title=f"ε {epsilon:g}, budget {budget}", xlabel="test error", ylabel="share of runs")
    return _named(figure, axes)


def _named(figure: Figure, axes: list[Any]) -> Figure:
    """Add one legend for all panels."""
    if len(axes) == 1:
        axes[0].legend(fontsize=6)
    else:
        named = axes[0].get_legend_handles_labels()
        figure.legend(*named, loc="outside lower center", ncols=3)
    return figure
