"""Locally linear explanations for tests: fixed small ones, and strategies for arbitrary ones."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpexplain import PrivacyLedger
from dpexplain.compare import FilterComparison
from dpexplain.explain import (
    FilterBank,
    FilterExplanation,
    FilterNoise,
    Guarantee,
    InputFeature,
    InputPreparation,
    WeightMap,
)
from example_explanations import guarantees, names, private_guarantee

CLASSES = ("low", "middle", "high")


def table_preparation() -> InputPreparation:
    """Make the preparation of one number and one list of categories: four inputs."""
    return InputPreparation(
        (
            InputFeature("age", low=17.0, high=90.0, centre=53.5, spread=36.5),
            InputFeature("job", ("nurse", "clerk", "cook")),
        )
    )


def filter_bank(
    guarantee: Guarantee | None = None,
    *,
    seed: int = 0,
    n_filters: int = 3,
    noise_std: float = 0.05,
    **changes,
) -> FilterBank:
    """Make a bank of three classes over four inputs, with noise in three coefficients."""
    rng = np.random.default_rng(seed)
    basis = rng.standard_normal((3, 4))
    fields = {
        "classes": CLASSES,
        "input_names": table_preparation().input_names,
        "guarantee": guarantee or private_guarantee(),
        "inverse_temperature": 0.7,
        "noise": FilterNoise(
            noise_std**2 * rng.uniform(0.5, 1.5, (3, n_filters, 3)),
            noise_std**2 * rng.uniform(0.5, 1.5, (3, n_filters)),
            basis,
        ),
        "preparation": table_preparation(),
        "target_name": "risk",
        "model_name": "Filters",
    }
    weights = rng.standard_normal((3, n_filters, 3)) @ basis
    return FilterBank.from_weights(
        weights, rng.standard_normal((3, n_filters)), **{**fields, **changes}
    )


def image_bank(guarantee: Guarantee | None = None, *, seed: int = 0, **changes) -> FilterBank:
    """Make a bank of three classes over pictures of 4 by 5, with independent noise."""
    rng = np.random.default_rng(seed)
    fields = {
        "classes": CLASSES,
        "input_names": [f"pixel {place}" for place in range(20)],
        "guarantee": guarantee or private_guarantee(),
        "grid_shape": (4, 5),
        "noise": FilterNoise(np.full((3, 4, 20), 0.25), np.full((3, 4), 0.01)),
        "target_name": "picture",
        "model_name": "Filters",
    }
    filters = rng.standard_normal((3, 4, 20))
    return FilterBank.from_weights(filters, np.zeros((3, 4)), **{**fields, **changes})


def reference_bank() -> FilterBank:
    """Make the bank of a non-private model of the same kind."""
    return filter_bank(
        Guarantee.not_private("fitted without noise"), noise=None, model_name="Reference"
    )


def some_inputs(n: int = 5, n_inputs: int = 4, seed: int = 1) -> np.ndarray:
    """Draw prepared inputs."""
    return np.random.default_rng(seed).standard_normal((n, n_inputs))


def filter_samples(public: bool = False) -> FilterExplanation:
    """Make the explanation of two samples."""
    return filter_bank().explain(some_inputs(2), samples_public=public)


def filter_comparison(
    make=filter_bank, *, with_reference: bool = True, with_metrics: bool = True
) -> FilterComparison:
    """Make a comparison of two epsilons, the first with two repeats."""
    rows = [(0.5, 0, 0.8), (0.5, 1, 0.7), (2.0, 0, 0.9), (math.inf, 0, 0.95)]
    metrics = pd.DataFrame(
        [(e, r, "accuracy", value, False) for e, r, value in rows[: 3 + with_reference]],
        columns=["epsilon", "repeat", "metric", "value", "private"],
    )
    reference = make(Guarantee.not_private("fitted without noise"), seed=3, noise=None)
    return FilterComparison(
        (0.5, 2.0),
        {
            0.5: (make(private_guarantee(0.5), seed=0), make(private_guarantee(0.5), seed=1)),
            2.0: (make(private_guarantee(2.0), seed=2),),
        },
        reference if with_reference else None,
        metrics if with_metrics else None,
        ledger=PrivacyLedger("filters").summary(),
        title="Filters: risk",
    )


def picture_comparison(
    n_classes: int = 3,
    n_filters: int = 4,
    side: int = 6,
    epsilons=(0.5, 1.0, 2.0),
    *,
    reference: bool = True,
    seed: int = 0,
) -> FilterComparison:
    """Make a comparison over square pictures, with less noise at larger epsilons."""
    rng = np.random.default_rng(seed)
    names = [f"pixel {row}, {column}" for row in range(side) for column in range(side)]
    shape = (n_classes, n_filters, side * side)
    truth = rng.standard_normal((n_classes, 1, side * side)) + 0.3 * rng.standard_normal(shape)
    preparation = InputPreparation(
        tuple(InputFeature(name, low=0.0, high=255.0, spread=255.0) for name in names),
        per_record="centred_unit_norm",
        scale=5.0,
    )

    def bank(epsilon: float) -> FilterBank:
        private = math.isfinite(epsilon)
        std = 0.6 / epsilon if private else 0.0
        promise = private_guarantee(epsilon) if private else Guarantee.not_private("no noise")
        noise = FilterNoise(np.full(shape, std**2), np.full(shape[:2], std**2))
        return FilterBank.from_weights(
            truth + std * rng.standard_normal(shape),
            0.1 * rng.standard_normal(shape[:2]),
            classes=[f"class {k}" for k in range(n_classes)],
            input_names=names,
            guarantee=promise,
            grid_shape=(side, side),
            noise=noise if private else None,
            preparation=preparation,
            target_name="picture",
            model_name="Filters",
        )

    rows = [(epsilon, 0, "accuracy", 0.9 - 0.05 / epsilon, False) for epsilon in epsilons]
    rows += [(math.inf, 0, "accuracy", 0.9713, False)] if reference else []
    return FilterComparison(
        tuple(epsilons),
        {epsilon: (bank(epsilon),) for epsilon in epsilons},
        bank(math.inf) if reference else None,
        pd.DataFrame(rows, columns=["epsilon", "repeat", "metric", "value", "private"]),
        ledger=PrivacyLedger("pictures").summary(),
        title="Filters: picture",
    )


def some_pictures(n: int = 3, side: int = 6, seed: int = 5) -> np.ndarray:
    """Draw pictures as a model of :func:`picture_comparison` takes them."""
    return np.random.default_rng(seed).uniform(0, 255, (n, side * side))


# Small enough that sums of squares stay finite; the smallest are subnormal.
weights = st.floats(-1e6, 1e6, allow_subnormal=True)
spreads = st.floats(0, 1e6)


@st.composite
def filter_banks(draw: st.DrawFn) -> FilterBank:
    """Draw any bank: any names, sizes, noise and grid."""
    n_classes, n_filters = draw(st.integers(2, 4)), draw(st.integers(1, 4))
    n_inputs, n_basis = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    noise = None
    if draw(st.booleans()):
        shape = draw(st.sampled_from((None, (n_basis, n_inputs), (n_filters, n_basis, n_inputs))))
        basis = None if shape is None else draw(arrays(float, shape, elements=weights))
        width = n_inputs if shape is None else n_basis
        noise = FilterNoise(
            draw(arrays(float, (n_classes, n_filters, width), elements=spreads)),
            draw(arrays(float, (n_classes, n_filters), elements=spreads)),
            basis,
        )
    grids = st.sampled_from((None, (n_inputs,), (1, n_inputs), (n_inputs, 1, 1)))
    return FilterBank.from_weights(
        draw(arrays(float, (n_classes, n_filters, n_inputs), elements=weights)),
        draw(arrays(float, (n_classes, n_filters), elements=weights)),
        classes=draw(st.lists(names, min_size=n_classes, max_size=n_classes, unique=True)),
        input_names=draw(st.lists(names, min_size=n_inputs, max_size=n_inputs, unique=True)),
        guarantee=draw(guarantees()),
        inverse_temperature=draw(st.floats(1e-3, 1e3)),
        grid_shape=draw(grids),
        noise=noise,
        target_name=draw(names),
        model_name=draw(names),
    )


@st.composite
def filter_explanations(draw: st.DrawFn) -> FilterExplanation:
    """Draw the explanation of any samples by any bank."""
    bank = draw(filter_banks())
    shape = (draw(st.integers(0, 3)), len(bank.input_names))
    return bank.explain(
        draw(arrays(float, shape, elements=weights)), samples_public=draw(st.booleans())
    )


@st.composite
def weight_maps(draw: st.DrawFn) -> WeightMap:
    """Draw any map of any bank."""
    bank = draw(filter_banks())
    return draw(
        st.sampled_from(
            (
                bank.class_mean(bank.classes[0]),
                bank.filter(bank.classes[-1], 0),
                bank.contrast(bank.classes[0], bank.classes[1]),
            )
        )
    )
