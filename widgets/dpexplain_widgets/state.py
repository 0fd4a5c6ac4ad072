"""What is chosen in a view: traits that Python and the page both read and set."""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

import traitlets

from dpexplain_widgets.payload import check_payload

STATE_TRAITS = (
    "payload", "epsilon_index", "term", "bin_index", "sample", "edits",
    "pinned_epsilon", "show_reference", "repeat",
)  # fmt: skip


class Index(traitlets.TraitType[Any, Any]):
    """A whole number, whatever integer type it has; None where `allow_none` says so."""

    default_value = 0
    info_text = "a whole number"

    def validate(self, obj: Any, value: Any) -> int:
        """Return `value` as int, or refuse it by name."""
        try:
            if isinstance(value, bool):
                raise TypeError
            return operator.index(value)
        except TypeError:
            none = " or None" if self.allow_none else ""
            raise traitlets.TraitError(
                f"{self.name}={value!r} must be a whole number{none}."
            ) from None


class ViewState(traitlets.HasTraits):
    """The state that all views share.

    A refused value raises :class:`traitlets.TraitError` and leaves everything as it was. Two
    views are linked with :func:`traitlets.link`, trait by trait.

    Attributes
    ----------
    payload : dict
        Everything that can be drawn, at all epsilons.
    epsilon_index : int
        Place in the epsilons of the payload; one more stands for the non-private reference,
        while it is shown.
    term : str
        Name of the term that is shown.
    bin_index : int or None
        Bin that is read out, special bins last.
    sample : int or None
        Sample that a local view shows.
    edits : list of dict
        Edits made so far, in order.
    pinned_epsilon : float or None
        An epsilon of the payload whose curve stays for comparison.
    show_reference : bool
        Whether the non-private reference is shown, where there is one.
    repeat : int
        Which of several fits with the same epsilon is read.
    """

    payload = traitlets.Dict().tag(sync=True)
    epsilon_index = Index().tag(sync=True)
    term = traitlets.Unicode().tag(sync=True)
    bin_index = Index(None, allow_none=True).tag(sync=True)
    sample = Index(None, allow_none=True).tag(sync=True)
    edits = traitlets.List(traitlets.Dict()).tag(sync=True)
    pinned_epsilon = traitlets.Float(None, allow_none=True).tag(sync=True)
    show_reference = traitlets.Bool(True).tag(sync=True)
    repeat = Index().tag(sync=True)

    @traitlets.validate("payload")
    def _check_payload(self, proposal: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return check_payload(proposal["value"])
        except (KeyError, TypeError, ValueError) as error:
            raise traitlets.TraitError(f"payload: {error}") from None

    @traitlets.validate("epsilon_index")
    def _check_epsilon_index(self, proposal: Mapping[str, Any]) -> int:
        index: int = proposal["value"]
        stops = self._stops()
        if 0 <= index < len(stops) or (index == 0 and not stops):
            return index
        if index == len(stops) and self.payload["reference"] is not None:
            raise traitlets.TraitError(
                f"epsilon_index={index} is the non-private reference, and show_reference=False "
                "hides it; set show_reference = True first."
            )
        listed = ", ".join(f"{i} for {stop}" for i, stop in enumerate(stops))
        raise traitlets.TraitError(f"epsilon_index={index} must be one of {listed}.")

    @traitlets.validate("term")
    def _check_term(self, proposal: Mapping[str, Any]) -> str:
        name: str = proposal["value"]
        names = self.term_names
        if name in names or (name == "" and not names):
            return name
        raise traitlets.TraitError(_unknown_term(name, names))

    @traitlets.validate("bin_index")
    def _check_bin_index(self, proposal: Mapping[str, Any]) -> int | None:
        return self._checked_place(proposal, len(self._labels()), "a bin of the term")

    @traitlets.validate("sample")
    def _check_sample(self, proposal: Mapping[str, Any]) -> int | None:
        index: int | None = proposal["value"]
        if index is not None and index < 0:
            raise traitlets.TraitError(f"sample={index} must be 0 or more, or None.")
        return index

    @traitlets.validate("repeat")
    def _check_repeat(self, proposal: Mapping[str, Any]) -> int:
        repeats = max((len(fits) for fits in self.payload.get("fits", [])), default=1)
        self._checked_place(proposal, repeats, "one of the fits at an epsilon")
        return int(proposal["value"])

    @traitlets.validate("pinned_epsilon")
    def _check_pinned_epsilon(self, proposal: Mapping[str, Any]) -> float | None:
        epsilon: float | None = proposal["value"]
        epsilons = self.payload.get("epsilons", [])
        if epsilon is None or epsilon in epsilons:
            return epsilon
        listed = ", ".join(f"{value:g}" for value in epsilons)
        raise traitlets.TraitError(
            f"pinned_epsilon={epsilon:g} must be None or one of {listed}; another epsilon "
            "needs another fit."
        )

    def _checked_place(self, proposal: Mapping[str, Any], count: int, what: str) -> int | None:
        index: int | None = proposal["value"]
        if index is None or 0 <= index < count:
            return index
        name = proposal["trait"].name
        raise traitlets.TraitError(f"{name}={index} must be {what}: 0 to {count - 1}.")

    @traitlets.observe("show_reference")
    def _leave_hidden_reference(self, change: Mapping[str, Any]) -> None:
        last = len(self.payload.get("epsilons", [])) - 1
        if not change["new"] and 0 <= last < self.epsilon_index:
            self.epsilon_index = last

    @traitlets.observe("term")
    def _leave_bins_of_other_term(self, change: Mapping[str, Any]) -> None:
        if self.bin_index is not None and self.bin_index >= len(self._labels()):
            self.bin_index = None

    @traitlets.observe("payload")
    def _keep_choices_in_range(self, change: Mapping[str, Any]) -> None:
        """Carry over what the new payload has as well, and start afresh with the rest."""
        repeats = max((len(fits) for fits in self.payload["fits"]), default=1)
        if self.term not in self.term_names:
            self.term, self.bin_index = most_important(self.payload), None
        if self.epsilon_index >= len(self._stops()):
            self.epsilon_index = first_epsilon_index(self.payload)
        if self.pinned_epsilon not in self.payload["epsilons"]:
            self.pinned_epsilon = None
        if self.bin_index is not None and self.bin_index >= len(self._labels()):
            self.bin_index = None
        self.repeat = min(self.repeat, repeats - 1)

    @property
    def term_names(self) -> tuple[str, ...]:
        """Names of the terms, in model order."""
        return tuple(term["name"] for term in self.payload.get("terms", ()))

    def _stops(self) -> list[str]:
        epsilons = self.payload.get("epsilons", [])
        stops = [f"epsilon {epsilon:g}" for epsilon in epsilons]
        if self.payload.get("reference") is not None and (self.show_reference or not epsilons):
            stops.append("the non-private reference")
        return stops

    def _fit(self) -> dict[str, Any] | None:
        """Return the fit that is read: by epsilon and repeat, or the reference."""
        fits = self.payload.get("fits", [])
        if self.epsilon_index < len(fits):
            repeats = fits[self.epsilon_index]
            chosen: dict[str, Any] = repeats[min(self.repeat, len(repeats) - 1)]
            return chosen
        return self.payload.get("reference")

    def _labels(self) -> list[str]:
        fit = self._fit()
        if fit is None or self.term not in self.term_names:
            return []
        labels: list[str] = fit["terms"][self.term_names.index(self.term)]["labels"]
        return labels


def most_important(payload: Mapping[str, Any]) -> str:
    """Name the term that matters most where noise is least; "" without terms."""
    fits = payload["fits"]
    fit = fits[-1][0] if fits else payload["reference"]
    if fit is None or not payload["terms"]:
        return ""
    sizes = [term["importance"] for term in fit["terms"]]
    return str(payload["terms"][sizes.index(max(sizes))]["name"])


def first_epsilon_index(payload: Mapping[str, Any]) -> int:
    """Choose the epsilon to start at: the largest one up to 1, else the smallest."""
    return max(0, sum(epsilon <= 1 for epsilon in payload["epsilons"]) - 1)


def epsilon_place(payload: Mapping[str, Any], epsilon: float) -> int:
    """Find the place of an epsilon among those of the payload; infinite is the reference.

    Parameters
    ----------
    payload : dict
        As :func:`dpexplain_widgets.payload.build_payload` returns it.
    epsilon : float
        One of its epsilons, up to rounding.

    Returns
    -------
    int
        A value for `epsilon_index`.

    Raises
    ------
    traitlets.TraitError
        If no fit has that epsilon; the message lists the epsilons there are.
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
    listed = ", ".join(names) or "none, as no model is shown"
    raise traitlets.TraitError(
        f"no fit with epsilon={_short(repr(epsilon))}; the epsilons are {listed}. Another epsilon "
        "needs another fit."
    )


def _unknown_term(name: str, names: Iterable[str]) -> str:
    known = list(names)
    listed = ", ".join(repr(_short(each)) for each in known[:12])
    more = f" and {len(known) - 12} more" if len(known) > 12 else ""
    close = difflib.get_close_matches(name[:200], [each[:200] for each in known], n=1)
    hint = f" Did you mean {_short(close[0])!r}?" if close else ""
    return f"no term {_short(name)!r}; the terms are {listed}{more}.{hint}"


def _short(name: str) -> str:
    return name if len(name) <= 60 else f"{name[:59]}…"
