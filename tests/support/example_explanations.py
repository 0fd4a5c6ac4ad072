"""Explanations for tests: fixed small ones, and hypothesis strategies for arbitrary ones."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from hypothesis import strategies as st

from dpexplain.explain import (
    GlobalExplanation,
    Guarantee,
    LocalExplanation,
    NoiseModel,
    PairAxis,
    PairCurve,
    ShapeFunction,
)
from dpexplain.explain.claims.claimed_bins import Place

# Names that break pages, figures or files which do not treat them as plain text.
HOSTILE_NAMES = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "\"quoted\" & 'single'",
    "\u202eright-to-left\u202c",
    "x" * 10_000,
    r"$\input{x}$ $ \$",
    "nul\x00tab\tnewline\n",
    "\U0001f600 emoji",
    "\ufffe \ufeff no characters",
    "",
)


def private_guarantee(epsilon: float = 0.5) -> Guarantee:
    """Make the guarantee of a private fit."""
    return Guarantee(
        epsilon, 1e-6, "add_remove", True, mu=0.12411, sampler="exact discrete Gaussian",
        version="0.1.0", epsilon_replace=max(1.1, 2.2 * epsilon),
    )  # fmt: skip


def age(guarantee: Guarantee | None = None, **changes) -> ShapeFunction:
    """Make a numeric term of three bins and a missing bin."""
    fields = {
        "name": "age",
        "kind": "numeric",
        "contribution": [-0.5, 0.25, 0.5, 0.01],
        "count": [10.0, 20.0, 30.0, -2.0],
        "guarantee": guarantee or private_guarantee(),
        "bin_edges": [17.0, 30.0, 45.0, 90.0],
        "unit": "years",
        "noise_std": [0.1, 0.1, 0.1, 0.3],
        "special": ("missing",),
        "step": 1.0,
    }
    return ShapeFunction(**{**fields, **changes})


def job(guarantee: Guarantee | None = None, **changes) -> ShapeFunction:
    """Make a categorical term of two categories and both special bins."""
    fields = {
        "name": "job",
        "kind": "categorical",
        "contribution": [1.0, -1.0, 0.1, -0.1],
        "count": [40.0, 20.0, 1.0, -1.0],
        "guarantee": guarantee or private_guarantee(),
        "categories": ("nurse", "clerk"),
        "special": ("other", "missing"),
        "noise_std": [0.1, 0.2, 0.9, 0.9],
    }
    return ShapeFunction(**{**fields, **changes})


def age_and_job(guarantee: Guarantee | None = None, **changes) -> PairCurve:
    """Make a pair of 3 x 3 cells, two of which rise above the noise."""
    axes = (
        PairAxis(
            "age", "numeric", bin_edges=[17.0, 45.0, 90.0], unit="years", special=("missing",)
        ),
        PairAxis("job", "categorical", categories=("nurse", "clerk"), special=("missing",)),
    )
    fields = {
        "name": "age & job",
        "axes": axes,
        "contribution": [[0.5, -0.5, 0.0], [-0.1, 0.2, 0.1], [0.0, 0.3, -0.2]],
        "count": [[20.0, 10.0, 1.0], [15.0, 12.0, -2.0], [1.0, 0.0, 2.0]],
        "guarantee": guarantee or private_guarantee(),
        "noise_std": [[0.1, 0.1, 0.3], [0.1, 0.1, 0.3], [0.3, 0.3, 0.0]],
    }
    return PairCurve(**{**fields, **changes})


def classifier(guarantee: Guarantee | None = None, **changes) -> GlobalExplanation:
    """Make the explanation of a classifier with two terms."""
    guarantee = guarantee or private_guarantee()
    fields = {
        "terms": (age(guarantee), job(guarantee)),
        "intercept": -0.75,
        "link": "logit",
        "guarantee": guarantee,
        "target_name": "income",
        "classes": ("low", "high"),
        "model_name": "Model",
    }
    return GlobalExplanation(**{**fields, **changes})


def reference() -> GlobalExplanation:
    """Make the explanation of a non-private classifier with the same terms."""
    guarantee = Guarantee.not_private("fitted without noise")
    terms = (age(guarantee, noise_std=None), job(guarantee, noise_std=None))
    return classifier(guarantee, terms=terms, model_name="Reference")


def samples(**changes) -> LocalExplanation:
    """Make the local explanation of two samples."""
    fields = {
        "term_names": ("age", "job"),
        "contributions": [[0.25, 1.0], [-0.5, -1.0]],
        "intercept": -0.75,
        "link": "logit",
        "bin_labels": (("30 - 44", "nurse"), ("17 - 29", "clerk")),
        "guarantee": private_guarantee(),
        "classes": ("low", "high"),
        "target_name": "income",
    }
    return LocalExplanation(**{**fields, **changes})


# Sums of a few of them stay finite; the smallest are subnormal.
floats = st.floats(-1e150, 1e150, allow_subnormal=True)
names = st.one_of(st.sampled_from(HOSTILE_NAMES), st.text(max_size=12))


@st.composite
def guarantees(draw: st.DrawFn) -> Guarantee:
    """Draw any guarantee."""
    if not draw(st.booleans()):
        return Guarantee.not_private(draw(names))
    epsilon = draw(st.floats(1e-9, 1e3))
    return Guarantee(
        epsilon,
        draw(st.floats(0, 1, exclude_max=True)),
        draw(st.sampled_from(("add_remove", "replace"))),
        True,
        mu=draw(st.none() | st.floats(0, 50)),
        covers=draw(names),
        sampler=draw(names),
        notes=tuple(draw(st.lists(names, max_size=2))),
        epsilon_replace=draw(st.none() | st.floats(epsilon, 2e3)),
    )


@st.composite
def shapes(draw: st.DrawFn) -> ShapeFunction:
    """Draw any shape function."""
    kind = draw(st.sampled_from(("numeric", "categorical")))
    if kind == "numeric":
        edges = sorted(draw(st.lists(floats, min_size=2, max_size=6, unique=True)))
        n_values, bins = len(edges) - 1, {"bin_edges": edges}
        bins["step"] = draw(st.none() | st.floats(1e-3, 1e3))
        special = draw(st.sampled_from(((), ("missing",))))
    else:
        categories = draw(st.lists(names, min_size=1, max_size=5, unique=True))
        n_values, bins = len(categories), {"categories": categories}
        bins["ordered"] = draw(st.booleans())
        special = draw(st.sampled_from(((), ("other", "missing"))))
    size = n_values + len(special)
    column = st.lists(floats, min_size=size, max_size=size)
    spread = st.lists(st.floats(0, 1e150), min_size=size, max_size=size)
    noise_std = draw(st.none() | spread)
    if noise_std is not None:
        bins["structure_std"] = draw(st.none() | spread)
        bins["sampling_std"] = draw(st.none() | spread)
        bins["simultaneous_factor"] = draw(st.none() | st.floats(0, 10))
    return ShapeFunction(
        draw(names),
        kind,
        draw(column),
        draw(column),
        guarantee=draw(guarantees()),
        noise_std=noise_std,
        unit=draw(names),
        description=draw(names),
        special=special,
        score_unit=draw(names),
        bag_std=draw(st.none() | spread),
        stretch=draw(st.none() | st.floats(0.5, 3.0)),
        recovered=draw(st.none() | column),
        count_std=draw(st.none() | spread),
        released=draw(st.none() | column),
        edits=draw(st.lists(names, max_size=2)),
        **bins,
    )


@st.composite
def pairs(draw: st.DrawFn) -> PairCurve:
    """Draw any pair."""
    edges = sorted(draw(st.lists(floats, min_size=2, max_size=3, unique=True)))
    categories = draw(st.lists(names, min_size=1, max_size=2, unique=True))
    axes = (
        PairAxis(draw(names), "numeric", bin_edges=edges, unit=draw(names)),
        PairAxis(draw(names), "categorical", categories=categories, special=("missing",)),
    )

    def grid(values: st.SearchStrategy[float]) -> st.SearchStrategy[list[list[float]]]:
        n_rows, n_columns = (axis.n_bins for axis in axes)
        row = st.lists(values, min_size=n_columns, max_size=n_columns)
        return st.lists(row, min_size=n_rows, max_size=n_rows)

    noise_std = draw(st.none() | grid(st.floats(0, 1e150)))
    sampling_std = None if noise_std is None else draw(st.none() | grid(st.floats(0, 1e150)))
    return PairCurve(
        draw(names),
        axes,
        draw(grid(floats)),
        draw(grid(floats)),
        guarantee=draw(guarantees()),
        score_unit=draw(names),
        noise_std=noise_std,
        sampling_std=sampling_std,
    )


@st.composite
def global_explanations(draw: st.DrawFn) -> GlobalExplanation:
    """Draw any global explanation."""
    link = draw(st.sampled_from(("logit", "identity", "log")))
    terms = draw(st.lists(shapes(), min_size=1, max_size=3, unique_by=lambda term: term.name))
    classes = draw(st.lists(names, min_size=2, max_size=2, unique=True))
    guarantee = draw(guarantees())
    if guarantee.private:  # of nothing that is not, or that has another guarantee
        terms = [dataclasses.replace(term, guarantee=guarantee) for term in terms]
    pair = dataclasses.replace(draw(pairs()), guarantee=guarantee)
    has_pair = draw(st.booleans()) and all(term.name != pair.name for term in terms)
    return GlobalExplanation(
        tuple(terms),
        draw(floats),
        link,
        guarantee=guarantee,
        target_name=draw(names),
        target_unit=draw(names),
        classes=tuple(classes) if link == "logit" else None,
        model_name=draw(names),
        noise=draw(st.none() | noise_models(tuple(term.n_bins for term in terms))),
        pairs=(pair,) if has_pair else (),
    )


@st.composite
def noise_models(draw: st.DrawFn, sizes: tuple[int, ...]) -> NoiseModel:
    """Draw any joint noise of terms with this many bins."""
    rank, n_values = draw(st.integers(0, 2)), sum(sizes) + 1
    single = st.floats(-1e9, 1e9, width=32)
    cells = st.lists(single, min_size=rank, max_size=rank)
    factor = draw(st.lists(cells, min_size=n_values, max_size=n_values))
    left = draw(st.lists(single.map(abs), min_size=n_values, max_size=n_values))
    return NoiseModel(sizes, np.array(factor).reshape(n_values, rank), left)


@st.composite
def local_explanations(draw: st.DrawFn) -> LocalExplanation:
    """Draw any local explanation, also one without samples."""
    n, k = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    cells = st.lists(floats, min_size=k, max_size=k)
    spread = st.lists(st.floats(0, 1e150), min_size=k, max_size=k)
    labels = st.lists(names, min_size=k, max_size=k)
    noise = draw(st.none() | st.lists(spread, min_size=n, max_size=n))
    return LocalExplanation(
        tuple(draw(st.lists(names, min_size=k, max_size=k, unique=True))),
        np.array(draw(st.lists(cells, min_size=n, max_size=n)), dtype=np.float64).reshape(n, k),
        draw(floats),
        "identity",
        bin_labels=draw(st.lists(labels, min_size=n, max_size=n)),
        guarantee=draw(guarantees()),
        samples_public=draw(st.booleans()),
        target_name=draw(names),
        target_unit=draw(names),
        noise_std=None if noise is None else np.array(noise).reshape(n, k),
        total_std=None if noise is None else np.array(noise).reshape(n, k),
        score_std=draw(st.none() | st.lists(st.floats(0, 1e150), min_size=n, max_size=n)),
    )


def at(*bins: Any) -> tuple[Any, ...]:
    """Return indices of bins, alone or in ranges, in the form in which `claim` accepts them."""
    return tuple(
        at(*each) if isinstance(each, tuple) else Place(each) if isinstance(each, int) else each
        for each in bins
    )
