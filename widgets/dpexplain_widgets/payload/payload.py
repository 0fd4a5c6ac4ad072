"""Payload of a view: models and samples as plain values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from dpexplain.accounting.summary import LedgerSummary
from dpexplain.compare import Comparison
from dpexplain.edit import EditLog
from dpexplain.explain import GlobalExplanation
from dpexplain.explain._by_class import ByClass, one_class_at_a_time
from dpexplain.explain._normals import keeping_normals
from dpexplain.tables.cells import DATE_UNIT
from dpexplain_widgets.payload.claim_payload import claim_parts, decision_part
from dpexplain_widgets.payload.directions import packed_directions
from dpexplain_widgets.payload.filter_payload import check_filters, shows_filters
from dpexplain_widgets.payload.joint_cost import together_words
from dpexplain_widgets.payload.pair_payload import (
    Pairs,
    pair_fits,
    pair_outline,
    pairs_of,
    with_same_pairs,
)
from dpexplain_widgets.payload.samples import sample_rows
from dpexplain_widgets.payload.shared import VERSION, guarantee_payload, metrics_payload

if TYPE_CHECKING:
    import pandas as pd

    from dpexplain.explain import ShapeFunction

_KEYS = frozenset(
    {
        "version", "title", "name", "link", "score_unit", "target", "epsilons", "terms", "fits",
        "reference", "ledger", "guarantee_words", "samples", "others", "filters",
        "main_effects_only",
    }
)  # fmt: skip


def build_payload(
    source: Any, samples: pd.DataFrame | None = None, *, samples_public: bool = False
) -> dict[str, Any]:
    """Convert the source of a view to the dictionary that its front end draws.

    Parameters
    ----------
    source : Comparison, GlobalExplanation, their multiclass forms, LedgerSummary or dict
        A :class:`dpexplain.compare.MulticlassComparison` or
        :class:`dpexplain.explain.MulticlassExplanation` is shown class by class, as one model. A
        dictionary maps model names to comparisons or explanations of the same terms; the first
        model is selected initially. The source may also be a payload, which is checked and used
        unchanged.
    samples : DataFrame or None, default=None
        Records that can be selected in a local view, with a column for every feature.
    samples_public : bool, default=False
        Whether the samples may be shown to anyone. Otherwise, the payload marks them as not
        private.

    Returns
    -------
    dict
        JSON values only. Fits are ordered by epsilon, then repeat; an explanation that is not
        private becomes the reference.

    Raises
    ------
    TypeError
        If `source` is of any other type, or if `samples` is not a DataFrame.
    ValueError
        If a payload is invalid, if models have different terms, if a multiclass model is combined
        with other models, if `samples` lacks a column, is empty or has too many rows, or if there
        are samples but no model.
    """
    with keeping_normals():
        payload = _payload(source)
    if samples is not None:
        if not payload["terms"]:
            raise ValueError("samples need a model; a ledger has none.")
        terms, fits = payload["terms"], all_fits(payload)[0]["terms"]
        payload["samples"] = sample_rows(terms, fits, samples, public=samples_public)
    return payload


def _payload(source: Any) -> dict[str, Any]:
    if isinstance(source, dict) and "version" in source:
        return check_payload(source)
    if isinstance(source, dict) and source:
        return _models_payload(source)
    if shows_filters(source):
        raise TypeError(
            f"a {type(source).__name__} cannot be combined with other models; show it in a "
            "separate Explorer or FilterView."
        )
    if isinstance(source, ByClass):
        return _classes_payload(source)
    for kind, write in _KINDS.items():
        if isinstance(source, kind):
            return write(source)
    if isinstance(source, EditLog):
        raise TypeError(
            "a view shows an explanation, and an EditLog contains only steps; "
            "log.apply(explanation) returns an edited explanation."
        )
    if type(source).__module__.partition(".")[0] == "interpret":
        raise TypeError(
            f"a view shows explanations of dpexplain, got InterpretML's {type(source).__name__}; "
            "dpexplain.explain.from_interpret(model) converts a fitted model."
        )
    raise TypeError(
        "a view shows a Comparison, a GlobalExplanation or a LedgerSummary, or several models by "
        f"name, {{'DP-EBM': comparison, ...}}, got {type(source).__name__}; sweep(...) returns a "
        "Comparison, model.explain_global() an explanation and ledger.summary() a summary."
    )


def check_payload(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Check the structure of a payload.

    Parameters
    ----------
    payload : mapping
        Output of :func:`build_payload`.

    Returns
    -------
    dict
        The same values.

    Raises
    ------
    ValueError
        If keys are missing or unknown, if the payload has a different version, or if its lists are
        inconsistent.
    """
    missing, unknown = _KEYS - set(payload), set(payload) - _KEYS
    if missing or unknown:
        raise ValueError(
            f"a payload has exactly the keys {sorted(_KEYS)}; missing {sorted(missing)}, "
            f"unknown {len(unknown)}. Pass the Comparison or explanation itself."
        )
    if payload["version"] != VERSION:
        raise ValueError(f"payload version {payload['version']!r} is not {VERSION}; rebuild it.")
    if len(payload["fits"]) != len(payload["epsilons"]) or not all(payload["fits"]):
        raise ValueError("payload['fits'] must contain at least one fit for each epsilon.")
    n_terms = len(payload["terms"])
    if any(len(fit["terms"]) != n_terms for fit in all_fits(payload)):
        raise ValueError(f"every fit of a payload must contain its {n_terms} terms.")
    if payload["filters"] is not None:
        check_filters(payload)
    for other in payload["others"]:
        check_payload(other)
        _check_same_terms(payload, other)
    return dict(payload)


def models_of(payload: Mapping[str, Any]) -> list[dict[str, Any]]:
    """List the payloads of all models; the given payload comes first."""
    return [dict(payload), *payload["others"]]


def _models_payload(sources: Mapping[str, Any]) -> dict[str, Any]:
    """Combine several models, with terms in the order of the first model."""
    names = [name for name in sources if isinstance(name, str) and name]
    if len(names) < len(sources):
        raise TypeError("pass models by name: Explorer({'DP-EBM': comparison, ...}).")
    for source in sources.values():
        if isinstance(source, ByClass):
            one_class_at_a_time("a view of several models", source.classes)
    payloads = [{**_payload(source), "name": name} for name, source in sources.items()]
    if not all(payload["terms"] for payload in payloads):
        raise TypeError("only models can be shown side by side; show a ledger in LedgerView.")
    first, *others = payloads = with_same_pairs(payloads)
    for other in others:
        _check_same_terms(first, other)
    words = together_words(payloads)
    for payload in payloads:
        payload["guarantee_words"] = [*payload["guarantee_words"], words]
    return {**first, "others": [_in_order_of(first, other) for other in others]}


def _classes_payload(source: ByClass[Any]) -> dict[str, Any]:
    """Combine the classes of one model, which share their terms and their guarantee."""
    if not isinstance(source.by_class[0], Comparison | GlobalExplanation):
        raise TypeError(
            f"a view shows curves, got {type(source).__name__}; pass the explanation or the "
            "comparison, and rows as samples=."
        )
    first, *others = (
        {**_payload(part), "name": name}
        for name, part in zip(source.classes, source.by_class, strict=True)
    )
    for payload in (first, *others):
        payload["target"] = {**payload["target"], "by_class": True}
    return {**first, "others": others}


def _check_same_terms(first: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    if _kinds(first) != _kinds(other) or first["link"] != other["link"]:
        raise ValueError(
            f"{other['name']!r} has different terms or a different scale than "
            f"{first['name']!r}{_difference(first, other)}; models shown side by side must "
            "explain the same thing. Show them in two linked Explorers."
        )


def _kinds(model: Mapping[str, Any]) -> dict[str, str]:
    return {term["name"]: term["kind"] for term in model["terms"]}


def _difference(first: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Describe one difference between the terms of two models; "" if there is none."""
    for one, two in ((first, other), (other, first)):
        if alone := [name for name in _kinds(one) if name not in _kinds(two)]:
            more = f" and {len(alone) - 1} more" if len(alone) > 1 else ""
            return f" (only {one['name']!r} has {alone[0]!r}{more})"
    for name, kind in _kinds(first).items():
        if _kinds(other)[name] != kind:
            return f" ({name!r} is {_kinds(other)[name]}, not {kind})"
    return ""


def _in_order_of(first: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    names = [term["name"] for term in other["terms"]]
    order = [names.index(term["name"]) for term in first["terms"]]

    def ordered(fit: Mapping[str, Any]) -> dict[str, Any]:
        return {**fit, "terms": [fit["terms"][k] for k in order]}

    reference = other["reference"]
    return {
        **other,
        "terms": [other["terms"][k] for k in order],
        "fits": [[ordered(fit) for fit in repeats] for repeats in other["fits"]],
        "reference": None if reference is None else ordered(reference),
    }


def all_fits(payload: Mapping[str, Any]) -> list[dict[str, Any]]:
    """List the fits of the first model of a payload, then the reference, if any."""
    fits = [fit for repeats in payload["fits"] for fit in repeats]
    return fits if payload["reference"] is None else [*fits, payload["reference"]]


def _comparison_payload(comparison: Comparison) -> dict[str, Any]:
    first = comparison.explanations[comparison.epsilons[0]][0]
    names = list(comparison.term_names)
    pairs = pairs_of(fit for _, _, fit in comparison.fits())
    fits = [
        [
            _fit(explanation, names, metrics_payload(comparison.metrics, epsilon, repeat), pairs)
            for repeat, explanation in enumerate(comparison.explanations[epsilon])
        ]
        for epsilon in comparison.epsilons
    ]
    reference = None
    if comparison.reference is not None:
        metrics = metrics_payload(comparison.metrics, math.inf, 0)
        reference = _fit(comparison.reference, names, metrics, pairs)
    return {
        **_outline(first, comparison.title, pairs),
        "epsilons": [float(epsilon) for epsilon in comparison.epsilons],
        "fits": fits,
        "reference": reference,
        "ledger": comparison.ledger.to_dict(),
        "guarantee_words": list(comparison.guarantee_words),
    }


def _explanation_payload(explanation: GlobalExplanation) -> dict[str, Any]:
    pairs = pairs_of([explanation])
    fit = _fit(explanation, list(explanation), {}, pairs)
    private = explanation.guarantee.private
    title = explanation.model_name or "Explanation"
    words = explanation.guarantee.short
    return {
        **_outline(explanation, f"{title}: {explanation.target_name}", pairs),
        "epsilons": [explanation.guarantee.epsilon] if private else [],
        "fits": [[fit]] if private else [],
        "reference": None if private else fit,
        "ledger": None,
        "guarantee_words": [f"this model alone: {words}"],
    }


def _ledger_payload(summary: LedgerSummary) -> dict[str, Any]:
    return {
        "version": VERSION,
        "title": f"Ledger of {summary.dataset}",
        "name": "",
        "link": "identity",
        "score_unit": "",
        "target": {
            "name": "",
            "unit": "",
            "classes": None,
            "shown_class": "",
            "by_class": False,
        },
        "terms": [],
        "epsilons": [],
        "fits": [],
        "reference": None,
        "ledger": summary.to_dict(),
        "guarantee_words": [summary.words()],
        "samples": None,
        "others": [],
        "filters": None,
        "main_effects_only": False,
    }


# One line for each kind of object that views show term by term; filters also need arrays.
_KINDS: dict[type, Callable[[Any], dict[str, Any]]] = {
    Comparison: _comparison_payload,
    GlobalExplanation: _explanation_payload,
    LedgerSummary: _ledger_payload,
}


def _outline(explanation: GlobalExplanation, title: str, pairs: Pairs) -> dict[str, Any]:
    return {
        "version": VERSION,
        "title": title,
        "name": "",
        "samples": None,
        "others": [],
        "filters": None,
        "main_effects_only": explanation.main_effects_only,
        "link": explanation.link,
        "score_unit": explanation.score_unit,
        "target": {
            "name": explanation.target_name,
            "unit": explanation.target_unit,
            "classes": None if explanation.classes is None else list(explanation.classes),
            "shown_class": explanation.shown_class,
            "by_class": False,
        },
        "terms": [
            {
                "name": term.name,
                "kind": term.kind,
                "ordered": bool(term.ordered),
                "unit": "" if term.unit == DATE_UNIT else term.unit,
                "is_date": term.unit == DATE_UNIT,
                "step": term.step,
                "monotone": term.monotone,
                "description": "; ".join(
                    filter(None, [term.description, term.constraint_words, term.edit_words])
                ),
            }
            for term in explanation.terms
        ]
        + [pair_outline(pair) for pair in pairs.values()],
    }


def _fit(
    explanation: GlobalExplanation, names: list[str], metrics: dict[str, float], pairs: Pairs
) -> dict[str, Any]:
    guarantee, noise = explanation.guarantee, explanation.noise
    ranking = None if noise is None else explanation.ranking()
    cautions, remarks = explanation.effect_cautions, explanation.effect_remarks
    places = {name: place for place, name in enumerate(explanation)}
    claims = dict(zip(names, claim_parts(explanation, names), strict=True))
    return {
        "epsilon": _plain(guarantee.epsilon),
        "guarantee": guarantee_payload(guarantee),
        "metrics": metrics,
        "intercept": explanation.intercept,
        "intercept_std": None if noise is None else float(noise.std[-1]),
        "claims": decision_part(explanation),
        "noise_words": explanation.noise_words,
        "noise_share": explanation.noise_share,
        "effect_words": explanation.effect_words,
        "effect_remark": explanation.effect_remark,
        "alarms": list(explanation.alarms),
        "terms_above_noise": _count_above_noise(explanation),
        "terms": [
            {
                **_term_fit(explanation[name]),
                "directions": (None if noise is None else packed_directions(noise, places[name])),
                "above_noise": None if ranking is None else bool(ranking.loc[name, "above_noise"]),
                "ranks": None if ranking is None else _ranks(ranking, name),
                **_effect_size(ranking, name),
                "effect_remark": remarks.get(name, ""),
                "effect_warns": name in cautions,
                "claims": claims[name],
            }
            for name in names
        ]
        + pair_fits(explanation, pairs),
    }


def _count_above_noise(explanation: GlobalExplanation) -> int | None:
    """Count the terms and pairs above the noise; None if unknown for any of them."""
    terms, pairs = explanation.terms_above_noise, explanation.pairs_above_noise
    if terms is None or (pairs is None and explanation.pairs):
        return None
    return len(terms) + len(pairs or ())


def fit_payload(
    explanation: GlobalExplanation, terms: list[dict[str, Any]]
) -> dict[str, Any] | None:
    """Convert an additional fit to part of a payload.

    Parameters
    ----------
    explanation : GlobalExplanation
        Explanation with the same terms as the payload.
    terms : list of dict
        Terms of the payload.

    Returns
    -------
    dict or None
        JSON values only; None if the fit and the payload have different pairs of features, in which
        case the whole payload must be rebuilt.

    Raises
    ------
    ValueError
        If the explanation and the payload have different terms.
    """
    names = [term["name"] for term in terms if term["kind"] != "pair"]
    if set(explanation) != set(names):
        raise ValueError("the fit has different terms than those shown.")
    pairs = pairs_of([explanation])
    if set(pairs) != {term["name"] for term in terms if term["kind"] == "pair"}:
        return None
    in_order = {term["name"]: pairs[term["name"]] for term in terms if term["kind"] == "pair"}
    return _fit(explanation, names, {}, in_order)


def _ranks(ranking: pd.DataFrame, name: str) -> list[int]:
    """Return the 95% rank interval of a term."""
    return [int(ranking[end][name]) for end in ("rank_low", "rank_high")]


def _effect_size(ranking: pd.DataFrame | None, name: str) -> dict[str, Any]:
    """Return the estimated importance in the population, with None for unknown values."""
    if ranking is None or "has_effect" not in ranking:
        return dict.fromkeys(("effect_size", "effect_size_std", "has_effect"))
    return {
        "effect_size": float(ranking["effect"][name]),
        "effect_size_std": float(ranking["effect_std"][name]),
        "has_effect": bool(ranking["has_effect"][name]),
    }


def _term_fit(shape: ShapeFunction) -> dict[str, Any]:
    n_value_bins = len(shape.bin_labels) - len(shape.special)
    return {
        "edges": None if shape.bin_edges is None else _numbers(shape.bin_edges),
        "labels": list(shape.bin_labels),
        "special": list(shape.bin_labels[n_value_bins:]),
        "contribution": _numbers(shape.contribution),
        "count": _numbers(shape.count),
        **{
            name: None if getattr(shape, name) is None else _numbers(getattr(shape, name))
            for name in (
                "noise_std",
                "structure_std",
                "sampling_std",
                "total_std",
                "bag_std",
                "effect",
                "effect_std",
            )
        },
        "band_factor": shape.band_factor,
        "effect_factor": shape.effect_factor,
        "stretch": shape.stretch,
        "recovered": None if shape.recovered is None else _numbers(shape.recovered),
        "signal": None if shape.signal is None else [bool(mark) for mark in shape.signal],
        "effect_signal": (
            None if shape.effect_signal is None else [bool(mark) for mark in shape.effect_signal]
        ),
        "noise_floor": shape.noise_floor,
        "importance": shape.importance,
    }


def _numbers(values: Iterable[float]) -> list[float]:
    return [float(value) for value in values]


def _plain(value: float) -> float | str:
    """Return a number that JSON can represent; infinity becomes a string."""
    return "inf" if math.isinf(value) else float(value)
