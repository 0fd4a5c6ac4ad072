"""Strategies for valid explanations and operations, for the tests of edits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from dpexplain.edit import (
    Align,
    Convex,
    Flatten,
    Interpolate,
    Merge,
    Monotone,
    Recover,
    Remove,
    Revert,
    Scale,
    Set,
    Shift,
    Smooth,
    Stretch,
)
from dpexplain.explain import GlobalExplanation, MulticlassExplanation, ShapeFunction
from example_explanations import private_guarantee

values = st.floats(-5, 5).map(lambda value: round(value, 6))
counts = st.floats(-5, 500).map(lambda value: round(value, 3))
stds = st.floats(0.01, 2).map(lambda value: round(value, 6))


def _column(draw, size, strategy):
    return np.array(draw(st.lists(strategy, min_size=size, max_size=size)))


@st.composite
def terms(draw, name="age", least=1, numeric=None) -> ShapeFunction:
    """Draw a term with noise: numeric with a missing bin, or ordered or unordered categories."""
    n = draw(st.integers(least, 12))
    guarantee = private_guarantee()
    is_numeric = draw(st.booleans()) if numeric is None else numeric
    special = ("missing",) if is_numeric else ("other", "missing")
    size = n + len(special)
    shared = {
        "contribution": _column(draw, size, values),
        "count": _column(draw, size, counts),
        "guarantee": guarantee,
        "noise_std": _column(draw, size, stds),
        "special": special,
        "stretch": draw(st.floats(0.5, 2)),
        "recovered": _column(draw, size, values),
    }
    if is_numeric:
        edges = np.cumsum(np.r_[0.0, _column(draw, n, st.floats(0.1, 9))])
        return ShapeFunction(name, "numeric", bin_edges=edges, **shared)
    categories = tuple(f"c{i}" for i in range(n))
    ordered = draw(st.booleans())
    return ShapeFunction(name, "categorical", categories=categories, ordered=ordered, **shared)


@st.composite
def explanations(draw) -> GlobalExplanation:
    """Draw an explanation with two terms: one to edit and one to leave alone."""
    guarantee = private_guarantee()
    link = draw(st.sampled_from(["logit", "identity", "log"]))
    return GlobalExplanation(
        (draw(terms()), draw(terms("job"))),
        draw(values),
        link,
        guarantee=guarantee,
        classes=("no", "yes") if link == "logit" else None,
    )


@st.composite
def multiclass_explanations(draw) -> MulticlassExplanation:
    """Draw an explanation of three classes over the same bins."""
    term = draw(terms())
    parts = []
    for label in ("a", "b", "c"):
        curve = _column(draw, term.n_bins, values)
        shape = replace(term, contribution=curve, noise_std=None, stretch=None, recovered=None)
        shared = {"guarantee": term.guarantee, "classes": ("a", "b", "c"), "of_class": label}
        parts.append(GlobalExplanation((shape,), draw(values), "softmax", **shared))
    return MulticlassExplanation(tuple(parts))


@st.composite
def operations(draw, term: ShapeFunction, *, shaping_only: bool = False):
    """Draw an operation that suits a term."""
    ordered = term.kind == "numeric" or term.ordered
    n = term.n_value_bins
    size = draw(st.integers(1, n))
    first = draw(st.integers(0, n - size))
    run = tuple(range(first, first + size))
    bins = draw(st.sampled_from([None, run]))
    wide = n if bins is None else size
    choices = [
        Scale(term.name, factor=draw(st.floats(-2, 2)), bins=bins),
        Flatten(term.name, bins=bins),
        Stretch(term.name, bins=bins),
    ]
    if ordered:
        choices += [
            Monotone(
                term.name, direction=draw(st.sampled_from(["increasing", "decreasing"])), bins=bins
            ),
            Convex(term.name, bend=draw(st.sampled_from(["convex", "concave"])), bins=bins),
            Recover(term.name, bins=bins),
        ]
    if ordered and wide > 1:
        choices += [Smooth(term.name, bins=bins), Smooth(term.name, reach=0.1, bins=bins)]
    if len(run) > 1:
        choices.append(Merge(term.name, bins=run))
    if shaping_only:
        return draw(st.sampled_from(choices))
    mean = draw(st.sampled_from([None, "keep", "change", "intercept"]))
    choices += [
        Set(term.name, value=draw(values), bins=bins, mean=mean),
        Set(term.name, value=tuple(_column(draw, wide, values)), bins=bins, mean=mean),
        Shift(term.name, by=draw(values), bins=bins, mean=mean),
        Align(
            term.name,
            to=draw(st.sampled_from(["left", "right", "average"])),
            bins=bins,
            mean=mean,
        ),
        Remove(term.name, mean=draw(st.sampled_from([None, "intercept"]))),
        Revert(term.name),
    ]
    if ordered and wide > 2:
        chosen = range(n) if bins is None else run
        keep = draw(st.lists(st.sampled_from(list(chosen)), max_size=3))
        choices.append(Interpolate(term.name, keep=tuple(keep), bins=bins, mean=mean))
    return draw(st.sampled_from(choices))
