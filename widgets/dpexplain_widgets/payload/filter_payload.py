"""Payload of filter views: the common payload and binary arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpexplain.compare import FilterComparison
from dpexplain.explain import FilterBank
from dpexplain.explain.claims.filter_claims import class_noise, filter_variance, region_count
from dpexplain.explain.noise_model import half_width
from dpexplain.tables.cells import DATE_UNIT
from dpexplain_widgets.payload.filter_arrays import ArrayWriter
from dpexplain_widgets.payload.shared import VERSION, guarantee_payload, metrics_payload

if TYPE_CHECKING:
    from dpexplain.explain import FilterExplanation, InputFeature

MOST_BYTES = 32 * 2**20
_MOST_ROWS = 500_000  # numbers of a basis from which a page computes the errors of regions
_SATURATED = 0.995  # quantile of absolute weights at the ends of the color scale


def shows_filters(source: Any) -> bool:
    """Return whether a filter view can show an object."""
    return isinstance(source, FilterComparison | FilterBank)


def build_filters(
    source: FilterComparison | FilterBank, samples: Any = None
) -> tuple[dict[str, Any], bytes]:
    """Convert filters to a JSON outline and one block of bytes with the arrays.

    Parameters
    ----------
    source : FilterComparison or FilterBank
        Filters to convert. The filters of all fits are first put into the same order.
    samples : DataFrame, array-like or None, default=None
        Records for local explanations, in the input format of the model.

    Returns
    -------
    outline : dict
        "fits" contains a list for each epsilon, with a dictionary for each repeated fit.
        "reference" is the dictionary of the non-private reference, or None. Each dictionary has an
        index of the arrays of its fit. The other keys describe what all fits share, such as the
        classes and inputs.
    arrays : bytes
        The arrays, at the offsets in the index.

    Raises
    ------
    ValueError
        If samples cannot be read, or if the arrays would be too large.
    """
    comparison = source.matched() if isinstance(source, FilterComparison) else None
    banks = [[source]] if isinstance(source, FilterBank) and source.guarantee.private else []
    reference = source if isinstance(source, FilterBank) and not banks else None
    if comparison is not None:
        banks = [list(comparison.explanations[epsilon]) for epsilon in comparison.epsilons]
        reference = comparison.reference
    first = banks[0][0] if banks else reference
    assert first is not None  # a source has at least one fit
    _check_room(first, sum(map(len, banks)) + 1, 0)
    inputs = None if samples is None else first.inputs(samples)
    if inputs is not None:
        _check_room(first, sum(map(len, banks)) + 1, len(inputs))
    writer = ArrayWriter()
    outline: dict[str, Any] = {
        "classes": list(first.classes),
        "input_names": list(first.input_names),
        "grid_shape": None if first.grid_shape is None else list(first.grid_shape),
        "n_filters": first.n_filters,
        "inputs": None if inputs is None else writer.add(inputs, "f4"),
        "readings": None if inputs is None else _readings(first),
    }
    outline["fits"] = [[_fit(bank, inputs, writer) for bank in repeats] for repeats in banks]
    outline["reference"] = None if reference is None else _fit(reference, inputs, writer)
    return outline, writer.taken()


def _check_room(bank: FilterBank, n_fits: int, n_samples: int) -> None:
    """Raise an error if the estimated size of the arrays is too large for a page."""
    per_sample = bank.filters[:, 0].size * 6 + bank.biases.size * 4
    coefficients = 0 if bank.noise is None else filter_variance(bank.noise)[0].size
    room = n_fits * (bank.filters.size * 4 + coefficients * 2 + n_samples * per_sample)
    if room > MOST_BYTES:
        raise ValueError(
            f"{n_samples} samples and {n_fits} fits of {bank.filters.size} weights take about "
            f"{room // 2**20} MiB, and a view can hold {MOST_BYTES // 2**20}; pass fewer samples, "
            "or a comparison with fewer fits."
        )


def _samples_outline(samples: Any, public: bool) -> dict[str, Any] | None:
    """Describe samples without their values, which are in the binary arrays."""
    if samples is None:
        return None
    index = samples.index if isinstance(samples, pd.DataFrame) else range(len(samples))
    names = [str(name)[:80] for name in index]
    return {"public": bool(public), "names": names, "rows": [[] for _ in names]}


def _readings(bank: FilterBank) -> list[dict[str, Any]] | None:
    """Return the rules for converting model inputs back to column values.

    The rules follow from public bounds. The result is None if the preparation of the inputs is
    unknown, if the inputs form a grid, as in an image, or if each record was normalized, so that
    its inputs depend on each other.
    """
    rule = bank.preparation
    if rule is None or bank.grid_shape is not None or rule.per_record != "none":
        return None
    return [
        {
            "kind": _kind(feature),
            "unit": feature.unit,
            "centre": feature.centre,
            "step": feature.spread / rule.scale,
        }
        for feature in rule.features
        for _ in feature.input_names
    ]


def _kind(feature: InputFeature) -> str:
    if feature.categories is not None:
        return "category"
    return "date" if feature.unit == DATE_UNIT else "number"


def _fit(bank: FilterBank, inputs: Any, writer: ArrayWriter) -> dict[str, Any]:
    on_grid = bank.grid_shape is not None
    ratios, shares = bank.signal_to_noise(), bank.share_above_noise()
    means = [bank.class_mean(name) for name in bank.classes]
    return {
        "arrays": {
            **_means(bank, writer),
            **_filters(bank, writer, on_grid),
            **_region_noise(bank, writer),
            **({} if inputs is None else _samples(bank, inputs, writer)),
        },
        "limits": {
            "mean": _limit(bank.class_means()),
            "filter": float(np.quantile(np.abs(bank.filters), _SATURATED)) or 1.0,
        },
        "claim_factor": None if bank.noise is None else half_width(region_count(bank)),
        "signal_to_noise": None if ratios is None else [_plain(row) for row in ratios],
        "share_of_filters": shares,
        "share_of_means": [each.share_above_noise for each in means],
    }


def _plain(values: Any) -> list[float]:
    """Return ratios as JSON numbers, limited to 1e6 because JSON has no infinity."""
    return [float(min(value, 1e6)) for value in values]


def _limit(values: Any) -> float:
    return float(np.abs(values).max(initial=0.0)) or 1.0


def _means(bank: FilterBank, writer: ArrayWriter) -> dict[str, Any]:
    arrays = {"mean": writer.add(bank.class_means(), "f4")}
    if bank.noise is None or bank.class_mean_std is None:
        return arrays
    own = np.sqrt(bank.noise.weight_variance.sum(axis=1)) / bank.n_filters
    return {
        **arrays,
        "mean_std": writer.add(bank.class_mean_std, "f4"),
        "own_std": writer.add(own, "f4"),
    }


def _filters(bank: FilterBank, writer: ArrayWriter, on_grid: bool) -> dict[str, Any]:
    arrays = {"filter": writer.add(bank.filters, "i2" if on_grid else "f4")}
    if bank.filter_std is None:
        return arrays
    if on_grid:
        arrays["filter_ratio"] = writer.add_ratios(bank.filters, bank.filter_std)
    kind = "u1" if on_grid else "f4"
    return {**arrays, "filter_std": writer.add(bank.filter_std, kind, upward=True)}


def _region_noise(bank: FilterBank, writer: ArrayWriter) -> dict[str, Any]:
    """Store the joint noise of filters, unless its basis is too large for a page."""
    if bank.noise is None:
        return {}
    variance, rows = class_noise(bank.noise)
    if rows is not None and rows.size > _MOST_ROWS:
        return {}
    basis = {} if rows is None else {"noise_rows": writer.add_once(rows, "f4")}
    own, starts = filter_variance(bank.noise)
    return {
        "class_variance": writer.add(variance, "f4"),
        "filter_variance": {**writer.add(own, "u2", upward=True), "starts": starts.tolist()},
        **basis,
    }


def _samples(bank: FilterBank, inputs: Any, writer: ArrayWriter) -> dict[str, Any]:
    explanation = bank.explain(inputs)
    signed, size = ("i2", "u2") if bank.grid_shape is not None else ("f4", "f4")
    return {
        "weighted": writer.add(explanation.effective, signed),
        "bias_part": writer.add(explanation.bias_part, "f4"),
        "shares": writer.add(explanation.weightings, "f4"),
        "scores": writer.add(explanation.scores, "f4"),
        **_sample_noise(explanation, writer, size),
    }


def _sample_noise(explanation: FilterExplanation, writer: ArrayWriter, size: str) -> dict[str, Any]:
    if explanation.effective_std is None or explanation.own_std is None:
        return {}
    lead = explanation.lead_certainty
    return {
        "weighted_std": writer.add(explanation.effective_std, size),
        "own_weighted_std": writer.add(explanation.own_std, size),
        "lead_certainty": writer.add(np.asarray(lead), "f4"),
    }


def filters_payload(
    source: FilterComparison | FilterBank, samples: Any = None, *, samples_public: bool = False
) -> tuple[dict[str, Any], bytes]:
    """Build the payload of a filter view, and its arrays.

    Parameters
    ----------
    source, samples
        As in :func:`build_filters`.
    samples_public : bool, default=False
        Whether the samples may be shown to anyone.

    Returns
    -------
    payload : dict
        Like the output of :func:`dpexplain_widgets.payload.payload.build_payload`, but without
        terms; "filters" is the outline that :func:`build_filters` returns.
    arrays : bytes
        Output of :func:`build_filters`.
    """
    outline, arrays = build_filters(source, samples)
    bank = source.first if isinstance(source, FilterComparison) else source
    metrics = source.metrics if isinstance(source, FilterComparison) else None

    def fit(each: FilterBank, epsilon: float, repeat: int) -> dict[str, Any]:
        return {
            "epsilon": "inf" if math.isinf(each.guarantee.epsilon) else each.guarantee.epsilon,
            "guarantee": guarantee_payload(each.guarantee),
            "metrics": metrics_payload(metrics, epsilon, repeat),
            "noise_words": each.noise_words,
            "terms": [],
        }

    payload: dict[str, Any] = {
        "version": VERSION,
        "name": "",
        "link": "softmax",
        "score_unit": bank.score_unit,
        "target": {
            "name": bank.target_name,
            "unit": "",
            "classes": list(bank.classes),
            "shown_class": "",
            "by_class": False,
        },
        "terms": [],
        "samples": _samples_outline(samples, samples_public),
        "others": [],
        "filters": outline,
        "main_effects_only": False,
    }
    if isinstance(source, FilterComparison):
        return {
            **payload,
            "title": source.title,
            "epsilons": [float(epsilon) for epsilon in source.epsilons],
            "fits": [
                [fit(each, epsilon, r) for r, each in enumerate(source.explanations[epsilon])]
                for epsilon in source.epsilons
            ],
            "reference": None if source.reference is None else fit(source.reference, math.inf, 0),
            "ledger": source.ledger.to_dict(),
            "guarantee_words": list(source.guarantee_words),
        }, arrays
    alone = fit(bank, bank.guarantee.epsilon, 0)
    private = bank.guarantee.private
    return {
        **payload,
        "title": f"{bank.model_name or 'Filters'}: {bank.target_name}",
        "epsilons": [bank.guarantee.epsilon] if private else [],
        "fits": [[alone]] if private else [],
        "reference": None if private else alone,
        "ledger": None,
        "guarantee_words": [f"this model alone: {bank.guarantee.short}"],
    }, arrays


def check_filters(payload: Mapping[str, Any]) -> None:
    """Check that a payload contains the filters of all its fits, and no others.

    Parameters
    ----------
    payload : mapping
        Payload whose key "filters" contains the outline that :func:`build_filters` returns.

    Raises
    ------
    ValueError
        If the outline and the payload do not have the same fits.
    """
    outline = payload["filters"]
    sizes = [[len(repeats) for repeats in each["fits"]] for each in (payload, outline)]
    if sizes[0] != sizes[1] or (payload["reference"] is None) != (outline["reference"] is None):
        raise ValueError("payload['filters'] must contain the filters of every fit, and no others.")
