"""Figure for one sample: a waterfall chart from the intercept to the score."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpexplain.explain import LocalExplanation
from dpexplain.explain._by_class import check_one_class
from dpexplain.explain._text import number_like, short_number
from dpexplain.explain.display import NOT_RELEASABLE
from dpexplain.plotting._style import (
    NOISE_LABEL,
    Theme,
    guarantee_words,
    new_axes,
    plain,
    theme,
    tidy,
    title,
    watermark,
    with_unit,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_ROOM_FROM = 0.84  # fraction of the width beyond which a number would leave the axes
_ROOM_OF_FACTORS = 0.7  # the same for a number followed by a factor


class _Row(NamedTuple):
    label: str
    contribution: float
    noise_std: float

    @property
    def whisker(self) -> float:
        """Length of the whisker: two standard deviations, or 0 if they are unknown."""
        return 2 * self.noise_std if np.isfinite(self.noise_std) else 0.0


def plot_local(
    explanation: LocalExplanation,
    *,
    sample: int = 0,
    ax: Axes | None = None,
    max_terms: int = 12,
) -> Axes:
    """Draw a waterfall chart from the intercept to the score of one sample.

    Parameters
    ----------
    explanation : LocalExplanation
        What to draw.
    sample : int, default=0
        Index of the sample.
    ax : Axes or None, default=None
        Axes to draw into; None creates a figure.
    max_terms : int, default=12
        Maximum number of rows; the smallest contributions are combined in one row.

    Returns
    -------
    Axes
        The axes with the plot, largest contribution on top.

    Raises
    ------
    ValueError
        If the sample does not exist.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(epsilon=1, schema=stays.schema)
    >>> model = model.fit(stays.X, stays.y)
    >>> explanation = model.explain_global()
    >>> from dpexplain.plotting import plot_local
    >>> invented = stays.schema.simulate(1, seed=0)[0]
    >>> local = explanation.explain_local(invented, samples_public=True)
    >>> axes = plot_local(local)
    >>> axes.get_xlabel()
    'score for outcome = yes [log-odds]'
    """
    check_one_class(explanation)
    if max_terms < 1:
        raise ValueError(f"max_terms={max_terms!r} must be at least 1.")
    rows = _rows(explanation, sample, max_terms)
    longest = max(len(row.label) for row in rows)
    # The small print starts above the bars and is 4.9 inches long.
    ax = new_axes(ax, (max(6.8, 4.9 + 0.07 * longest), 1.9 + 0.34 * len(rows)))
    colors = theme(ax)
    tidy(ax, grid="x")
    end = _draw_steps(ax, rows, explanation.intercept, colors)
    ax.set_yticks(range(len(rows)), [row.label for row in rows])
    ax.set_ylim(len(rows) + 0.35, -1.35)
    ax.use_sticky_edges = False  # leaves room for the labels at both ends
    factors = explanation.link == "log"
    ax.margins(x=0.28 if factors else 0.14)
    _write_values(ax, rows, explanation.intercept, colors, factors=factors)
    _mark_ends(ax, explanation, sample, end, len(rows), colors)
    score = f"score for {explanation.target_name}" + (
        f" = {explanation.shown_class}" if explanation.classes else ""
    )
    ax.set_xlabel(with_unit(score, explanation.score_unit, limit=48))
    _small_print(ax, explanation, sample)
    watermark(ax, explanation.guarantee)
    return ax


def _rows(explanation: LocalExplanation, sample: int, max_terms: int) -> list[_Row]:
    frame = explanation.frame(sample)
    std = "noise_std" if explanation.total_std is None else "total_std"
    frame = frame.iloc[np.argsort(-np.abs(frame["contribution"].to_numpy()), kind="stable")]
    shown = max_terms if len(frame) <= max_terms else max_terms - 1
    rows = [
        _Row(f"{plain(str(term), 22)} = {plain(str(label), 18)}", float(value), float(noise))
        for term, label, value, noise in zip(
            frame["term"][:shown],
            frame["bin"][:shown],
            frame["contribution"][:shown],
            frame[std][:shown],
            strict=True,
        )
    ]
    rest = frame.iloc[shown:]
    if len(rest):
        noise = float(np.sqrt(np.square(rest[std].to_numpy()).sum()))
        rows.append(_Row(f"{len(rest)} other terms", float(rest["contribution"].sum()), noise))
    return rows


def _draw_steps(ax: Axes, rows: list[_Row], start: float, colors: Theme) -> float:
    """Draw the bars of the waterfall, and return the end of the last bar."""
    for place, row in enumerate(rows):
        end = start + row.contribution
        positive = row.contribution >= 0
        unsure = abs(row.contribution) < 2 * row.noise_std  # False if the noise is unknown
        ax.barh(
            place,
            row.contribution,
            0.62,
            left=start,
            alpha=0.4 if unsure else 1.0,
            zorder=2,
            color=colors.main if positive else colors.opposite,
        )
        ax.plot([end, end], [place - 0.31, place + 1.31], color=colors.muted, lw=0.9, zorder=1)
        if row.whisker > 0:
            ax.errorbar(end, place, xerr=row.whisker, color=colors.ink, lw=1, capsize=2.5)
        start = end
    return start


def _write_values(
    ax: Axes, rows: list[_Row], start: float, colors: Theme, *, factors: bool
) -> None:
    """Write each contribution, or also its factor, next to its bar inside the axes."""
    room = _ROOM_OF_FACTORS if factors else _ROOM_FROM
    largest = max(abs(row.contribution) for row in rows)
    for place, row in enumerate(rows):
        end = start + row.contribution
        low = min(start, end, end - row.whisker)
        high = max(start, end, end + row.whisker)
        shares = np.subtract([low, high], ax.get_xlim()[0]) / np.ptp(ax.get_xlim())
        to_the_right = row.contribution >= 0
        if (shares[1] > room) if to_the_right else (shares[0] < 1 - room):
            to_the_right = bool(1 - shares[1] > shares[0])
        words = number_like(row.contribution, largest)
        words = f"+{words}" if float(words) > 0 else words
        if factors:
            words = f"{words} (× {short_number(float(np.exp(min(row.contribution, 700.0))), 3)})"
        ax.annotate(
            words,
            (high if to_the_right else low, place),
            xytext=(4 if to_the_right else -4, 0),
            ha="left" if to_the_right else "right",
            va="center",
            textcoords="offset points",
            fontsize="x-small",
            color=colors.ink,
        )
        start = end


def _mark_ends(
    ax: Axes, explanation: LocalExplanation, sample: int, end: float, n_rows: int, colors: Theme
) -> None:
    """Label the intercept and the total score."""
    prediction = short_number(float(explanation.predictions[sample]), 3)
    if explanation.classes:
        what = f"P({plain(explanation.shown_class, 16)}) = {prediction}"
    else:
        expected = explanation.link == "log"
        of_what = f"expected {plain(explanation.target_name, 24)} =" if expected else "prediction"
        what = f"{of_what} {with_unit(prediction, explanation.target_unit)}"
    intercept = explanation.intercept
    ax.plot([intercept, intercept], [-0.75, 0.31], color=colors.muted, lw=0.9, zorder=1)
    score = short_number(float(explanation.scores[sample]), 3)
    for x, y, words in (
        (intercept, -0.95, f"intercept {short_number(intercept, 3)}"),
        (end, n_rows - 0.05, f"score {score}, {what}" if explanation.classes else what),
    ):
        ax.annotate(
            words,
            (x, y),
            ha=_inward(ax, x),
            va="center",
            fontsize="small",
            color=colors.ink,
            fontweight="bold",
            annotation_clip=False,
        )


def _inward(ax: Axes, x: float) -> str:
    """Return the alignment that keeps text at `x` clear of the axis labels."""
    low, high = ax.get_xlim()
    share = (x - low) / (high - low)
    return "left" if share < 0.35 else "right" if share > 0.65 else "center"


def _small_print(ax: Axes, explanation: LocalExplanation, sample: int) -> None:
    lines = [f"Model: {guarantee_words(explanation.guarantee)}"]
    if explanation.noise_std is not None:
        known = explanation.total_std is not None
        what = "±2σ of privacy noise, bins and trees, and sampling" if known else NOISE_LABEL
        lines.append(f"Whiskers: {what}; pale where it may be noise")
    if explanation.link == "log":
        lines.append(f"×: factor of the expected {plain(explanation.target_name, 32)}")
    warning = "" if explanation.samples_public else NOT_RELEASABLE
    if not explanation.guarantee.private:
        lines, warning = lines[1:], explanation.guarantee.short
    heading = f"Sample {sample}: {explanation.target_name}"
    title(ax, heading, lines, f"{warning[:1].upper()}{warning[1:]}")
