"""Choices of a local view: a sample, changes to it, and a threshold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

import traitlets

from dpexplain_widgets.payload.payload import all_fits
from dpexplain_widgets.state.trait_types import Index

_SHARE = ((0.0, 1.0), "a probability between 0 and 1")
_THRESHOLDS = {
    "logit": _SHARE,
    "softmax": _SHARE,
    "log": ((0.0, math.inf), "a positive number"),
    "identity": ((-math.inf, math.inf), "a finite number"),
}


class LocalChoice(traitlets.HasTraits):
    """Mixin with the traits of a local view: a sample, changes to it, and a threshold.

    Attributes
    ----------
    sample : int or None
        Index of the selected sample in the view. None means a typical sample, in which the value of
        each term comes from its bin with the largest released count.
    what_if : dict
        Values that replace those of the sample, by term name: numbers within the public range,
        categories, or None for missing. These values are hypothetical, so they may be shown to
        anyone.
    threshold : float or None
        Prediction at which a decision changes; for a classifier, a probability. None means a
        threshold of 0.5 for a classifier, and no threshold for a regression.
    """

    payload: traitlets.Dict[Any, Any]
    sample = Index(None, allow_none=True).tag(sync=True)
    what_if = traitlets.Dict().tag(sync=True)
    threshold = traitlets.Float(None, allow_none=True).tag(sync=True)

    @traitlets.validate("sample")
    def _check_sample(self, proposal: Mapping[str, Any]) -> int | None:
        index: int | None = proposal["value"]
        samples = self.payload.get("samples")
        if index is None or (samples is not None and 0 <= index < len(samples["rows"])):
            return index
        if samples is None:
            raise traitlets.TraitError(
                f"sample={index}, but there are no samples; pass samples=DataFrame to the view."
            )
        last = len(samples["rows"]) - 1
        raise traitlets.TraitError(f"sample={index} must be None or one of 0 to {last}.")

    @traitlets.validate("what_if")
    def _check_what_if(self, proposal: Mapping[str, Any]) -> dict[str, Any]:
        places = {term["name"]: place for place, term in enumerate(self.payload.get("terms", ()))}
        for name, value in proposal["value"].items():
            if name not in places:
                raise traitlets.TraitError(f"what_if: no term {str(name)[:60]!r}.")
            check_input(self.payload, places[name], value)
        return dict(proposal["value"])

    @traitlets.validate("threshold")
    def _check_threshold(self, proposal: Mapping[str, Any]) -> float | None:
        value: float | None = proposal["value"]
        limits, wanted = _THRESHOLDS.get(self.payload.get("link", ""), _THRESHOLDS["identity"])
        if value is None or limits[0] < value < limits[1]:
            return value
        raise traitlets.TraitError(f"threshold={value!r} must be None or {wanted}.")


def check_input(payload: Mapping[str, Any], place: int, value: object) -> None:
    """Check a what-if value of a term against its public range.

    Parameters
    ----------
    payload : mapping
        Payload of the view.
    place : int
        Index of the term.
    value : object
        A number within the range, or a category; None means missing.

    Raises
    ------
    traitlets.TraitError
        If the term is a pair of features, or has no bin for the value.
    """
    term, term_fit = payload["terms"][place], all_fits(payload)[0]["terms"][place]
    name = term["name"][:60]
    if term["kind"] == "pair":
        raise traitlets.TraitError(
            f"what_if: {name!r} is a pair of features; change the values of these two."
        )
    if value is None:
        if "missing" in [label.strip("()") for label in term_fit["special"]]:
            return
        raise traitlets.TraitError(f"what_if: {name!r} has no bin for missing values.")
    if term["kind"] == "numeric":
        low, high = term_fit["edges"][0], term_fit["edges"][-1]
        if isinstance(value, Real) and not isinstance(value, bool) and low <= value <= high:
            return
        raise traitlets.TraitError(f"what_if: {name!r} must be a number in {low:g} to {high:g}.")
    categories = term_fit["labels"][: len(term_fit["labels"]) - len(term_fit["special"])]
    if value not in categories:
        listed = ", ".join(repr(each[:40]) for each in categories[:12])
        raise traitlets.TraitError(f"what_if: {name!r} must be one of {listed}.")
