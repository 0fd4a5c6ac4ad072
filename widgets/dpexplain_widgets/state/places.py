"""Choices in a payload: terms, epsilons, samples and what-if values."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import traitlets

from dpexplain_widgets.payload.payload import all_fits

_SHARE = ((0.0, 1.0), "a probability between 0 and 1")
_THRESHOLDS = {
    "logit": _SHARE,
    "softmax": _SHARE,
    "log": ((0.0, math.inf), "a positive number"),
    "identity": ((-math.inf, math.inf), "a finite number"),
}


def most_important(payload: Mapping[str, Any]) -> str:
    """Return the most important term at the largest epsilon; "" if there are no terms."""
    fits = payload["fits"]
    fit = fits[-1][0] if fits else payload["reference"]
    if fit is None or not payload["terms"]:
        return ""
    sizes = [term["importance"] for term in fit["terms"]]
    return str(payload["terms"][sizes.index(max(sizes))]["name"])


def first_epsilon_index(payload: Mapping[str, Any]) -> int:
    """Return the index of the largest epsilon that is at most 1; 0 if there is none."""
    return max(0, sum(epsilon <= 1 for epsilon in payload["epsilons"]) - 1)


def epsilon_place(payload: Mapping[str, Any], epsilon: float) -> int:
    """Return the index of an epsilon in the payload; infinity means the reference.

    Parameters
    ----------
    payload : dict
        Output of :func:`dpexplain_widgets.payload.payload.build_payload`.
    epsilon : float
        An epsilon in the payload, up to rounding; infinity for the reference.

    Returns
    -------
    int
        A value for `epsilon_index`.

    Raises
    ------
    traitlets.TraitError
        If no fit has this epsilon; the message lists the available ones.
    """
    epsilons = [*payload["epsilons"], *([math.inf] if payload["reference"] else [])]
    if isinstance(epsilon, Real) and not isinstance(epsilon, bool):
        for place, known in enumerate(epsilons):
            if math.isclose(epsilon, known, rel_tol=1e-9):
                return place
    names = [
        "float('inf') for the non-private reference" if math.isinf(known) else f"{known:.12g}"
        for known in epsilons
    ]
    listed = ", ".join(names) or "none, because no model is shown"
    raise traitlets.TraitError(
        f"no fit with epsilon={_short(repr(epsilon))}; the epsilons are {listed}. Another epsilon "
        "needs a new fit."
    )


def check_pinned_epsilon(epsilons: Sequence[float], epsilon: float | None) -> float | None:
    """Return an epsilon that has a fit, or raise a TraitError that lists them.

    Parameters
    ----------
    epsilons : sequence of float
        Epsilons of the selected model.
    epsilon : float or None

    Returns
    -------
    float or None
    """
    if epsilon is None or epsilon in epsilons:
        return epsilon
    listed = ", ".join(f"{value:g}" for value in epsilons)
    raise traitlets.TraitError(
        f"pinned_epsilon={epsilon:g} must be None or one of {listed}; another epsilon needs a "
        "new fit."
    )


def check_term(name: str, names: Iterable[str]) -> str:
    """Return the name of a term, or raise a TraitError that lists the terms.

    Parameters
    ----------
    name : str
    names : iterable of str
        Names of the terms of the selected model.

    Returns
    -------
    str
    """
    known = list(names)
    if name in known or (name == "" and not known):
        return name
    listed = ", ".join(repr(_short(each)) for each in known[:12])
    more = f" and {len(known) - 12} more" if len(known) > 12 else ""
    close = difflib.get_close_matches(name[:200], [each[:200] for each in known], n=1)
    hint = f" Did you mean {_short(close[0])!r}?" if close else ""
    raise traitlets.TraitError(f"no term {_short(name)!r}; the terms are {listed}{more}.{hint}")


def check_sample(samples: Mapping[str, Any] | None, index: int | None) -> int | None:
    """Return the index of a sample of the view, or raise a TraitError.

    Parameters
    ----------
    samples : mapping or None
        Samples of the payload.
    index : int or None
        Index of a sample; None for a typical sample.

    Returns
    -------
    int or None
    """
    if index is None or (samples is not None and 0 <= index < len(samples["rows"])):
        return index
    if samples is None:
        raise traitlets.TraitError(
            f"sample={index}, but there are no samples; pass samples=DataFrame to the view."
        )
    last = len(samples["rows"]) - 1
    raise traitlets.TraitError(f"sample={index} must be None or one of 0 to {last}.")


def check_threshold(link: str, value: float | None) -> float | None:
    """Return a threshold on the scale of predictions, or raise a TraitError.

    Parameters
    ----------
    link : str
        Link of the payload; "" if there is none.
    value : float or None

    Returns
    -------
    float or None
    """
    limits, wanted = _THRESHOLDS.get(link, _THRESHOLDS["identity"])
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


def _short(name: str) -> str:
    return name if len(name) <= 60 else f"{name[:59]}…"
