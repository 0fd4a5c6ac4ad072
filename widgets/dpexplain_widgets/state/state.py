"""The state of a view: traits that both Python and the page read and set."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import pandas as pd
import traitlets

from dpexplain_widgets.state.display_traits import DisplayTraits
from dpexplain_widgets.state.filter_choice import FilterChoice
from dpexplain_widgets.state.local_choice import LocalChoice
from dpexplain_widgets.state.model_choice import ModelChoice
from dpexplain_widgets.state.trait_types import Index

STATE_TRAITS = (
    "payload", "model_name", "other_model", "against", "epsilon_index", "term", "bin_index",
    "second_bin", "bin_range", "sample", "what_if", "threshold", "edits", "pinned_epsilon",
    "show_reference", "repeat", "tab", "term_order", "term_search", "above_noise_only",
    "same_axis", "even_bins",
    "shown_curve", "small_multiples", "page_index", "replay_draw", "filter_arrays", "shown_map",
    "filter_class", "against_class", "filter_index", "input_index", "mask_noise", "sort_filters",
    "contribution_opacity",
)  # fmt: skip


class Origin(NamedTuple):
    """Source and samples from which a view was created."""

    source: Any
    samples: pd.DataFrame | None = None
    samples_public: bool = False


class ViewState(ModelChoice, LocalChoice, FilterChoice, DisplayTraits):
    """State of a view, stored as traits that all views have.

    An invalid value raises :class:`traitlets.TraitError` and changes nothing. Two views are linked
    with :meth:`dpexplain_widgets.views.base.View.link`. The choices of model, sample and filters,
    and the display options, are described in the base classes.

    Attributes
    ----------
    epsilon_index : int
        Index of the selected epsilon in the payload. An index equal to the number of epsilons
        selects the non-private reference, if it is shown.
    term : str
        Name of the term shown.
    bin_index : int or None
        Index of the selected bin; special bins come last.
    second_bin : int or None
        Index of the bin that a claim compares with the selected bin.
    bin_range : list of two int or None
        Indices of the first and last bins of the selected range, which excludes special bins.
    pinned_epsilon : float or None
        An epsilon whose curve stays visible for comparison.
    show_reference : bool
        Whether the non-private reference, if any, is shown.
    repeat : int
        Index of the selected fit among those at the same epsilon.
    """

    epsilon_index = Index().tag(sync=True)
    term = traitlets.Unicode().tag(sync=True)
    bin_index = Index(None, allow_none=True).tag(sync=True)
    second_bin = Index(None, allow_none=True).tag(sync=True)
    bin_range: traitlets.TraitType[Any, Any] = traitlets.List(Index(), None, allow_none=True).tag(
        sync=True
    )
    pinned_epsilon = traitlets.Float(None, allow_none=True).tag(sync=True)
    show_reference = traitlets.Bool(True).tag(sync=True)
    repeat = Index().tag(sync=True)

    page_traits: ClassVar[tuple[str, ...]] = STATE_TRAITS
    """Names of the traits that an exported page of the view contains."""

    _made: tuple[dict[str, Any], Origin]

    @property
    def origin(self) -> Origin:
        """Source and samples of the view, or only its payload if that was replaced."""
        payload, origin = self._made
        return origin if payload is self.payload else Origin(self.payload)

    @property
    def page_edits(self) -> bool:
        """Whether an exported page of this view contains the data needed for edits."""
        return False

    def page_module(self) -> str:
        """Return the JavaScript module of the view for an exported page."""
        raise NotImplementedError

    @property
    def epsilon(self) -> float:
        """The selected epsilon; infinite for the non-private reference.

        Setting this property selects the fit with that epsilon. If there is none, it raises a
        :class:`traitlets.TraitError` that lists the available epsilons.
        """
        epsilons = self.shown["epsilons"]
        at_reference = self.epsilon_index >= len(epsilons)
        return float("inf") if at_reference else float(epsilons[self.epsilon_index])

    @epsilon.setter
    def epsilon(self, epsilon: float) -> None:
        self.epsilon_index = epsilon_place(self.shown, epsilon)

    @traitlets.validate("epsilon_index")
    def _check_epsilon_index(self, proposal: Mapping[str, Any]) -> int:
        index: int = proposal["value"]
        stops = self._stops()
        if 0 <= index < len(stops) or (index == 0 and not stops):
            return index
        if index == len(stops) and self.shown["reference"] is not None:
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

    @traitlets.validate("bin_index", "second_bin")
    def _check_bin_index(self, proposal: Mapping[str, Any]) -> int | None:
        return self._checked_place(proposal, len(self._labels()), "a bin of the term")

    @traitlets.validate("bin_range")
    def _check_bin_range(self, proposal: Mapping[str, Any]) -> list[int] | None:
        bins: list[int] | None = proposal["value"]
        count = self._value_bins()
        if bins is None or (len(bins) == 2 and 0 <= bins[0] <= bins[1] < count):
            return bins
        raise traitlets.TraitError(
            f"bin_range={bins!r:.60} must be None or the first and last of the bins 0 to "
            f"{count - 1} of the term."
        )

    @traitlets.validate("repeat")
    def _check_repeat(self, proposal: Mapping[str, Any]) -> int:
        repeats = max((len(fits) for fits in self.shown.get("fits", [])), default=1)
        self._checked_place(proposal, repeats, "one of the fits at an epsilon")
        return int(proposal["value"])

    @traitlets.validate("pinned_epsilon")
    def _check_pinned_epsilon(self, proposal: Mapping[str, Any]) -> float | None:
        epsilon: float | None = proposal["value"]
        epsilons = self.shown.get("epsilons", [])
        if epsilon is None or epsilon in epsilons:
            return epsilon
        listed = ", ".join(f"{value:g}" for value in epsilons)
        raise traitlets.TraitError(
            f"pinned_epsilon={epsilon:g} must be None or one of {listed}; another epsilon needs a "
            "new fit."
        )

    def _checked_place(self, proposal: Mapping[str, Any], count: int, what: str) -> int | None:
        index: int | None = proposal["value"]
        if index is None or 0 <= index < count:
            return index
        name = proposal["trait"].name
        raise traitlets.TraitError(f"{name}={index} must be {what}: 0 to {count - 1}.")

    @traitlets.observe("show_reference")
    def _leave_hidden_reference(self, change: Mapping[str, Any]) -> None:
        last = len(self.shown.get("epsilons", [])) - 1
        if not change["new"] and 0 <= last < self.epsilon_index:
            self.epsilon_index = last

    @traitlets.observe("term")
    def _leave_bins_of_other_term(self, change: Mapping[str, Any]) -> None:
        if self.bin_index is not None and self.bin_index >= len(self._labels()):
            self.bin_index = None
        if change["old"]:  # the initial term may come with a range
            self.bin_range = self.second_bin = None

    @traitlets.observe("payload")
    def _keep_choices_of_payload(self, change: Mapping[str, Any]) -> None:
        """Keep choices that exist in the new payload; reset the others."""
        if self.model_name not in self.model_names:
            self.model_name = self.model_names[0]
        if self.other_model not in self.model_names:
            self.other_model = ""
        samples = self.payload["samples"]
        if self.sample is not None and (samples is None or self.sample >= len(samples["rows"])):
            self.sample = None
        try:
            self._check_what_if({"value": self.what_if})
        except traitlets.TraitError:
            self.what_if = {}
        self._keep_choices_in_range(change)

    @traitlets.observe("model_name")
    def _keep_choices_in_range(self, change: Mapping[str, Any]) -> None:
        """Keep choices that exist in the selected model; reset the others."""
        repeats = max((len(fits) for fits in self.shown["fits"]), default=1)
        if self.term not in self.term_names:
            self.term, self.bin_index = most_important(self.shown), None
        if self.epsilon_index >= len(self._stops()):
            self.epsilon_index = first_epsilon_index(self.shown)
        if self.pinned_epsilon not in self.shown["epsilons"]:
            self.pinned_epsilon = None
        if self.bin_index is not None and self.bin_index >= len(self._labels()):
            self.bin_index = None
        if self.second_bin is not None and self.second_bin >= len(self._labels()):
            self.second_bin = None
        if self.bin_range is not None and self.bin_range[1] >= self._value_bins():
            self.bin_range = None
        self.repeat = min(self.repeat, repeats - 1)

    @property
    def term_names(self) -> tuple[str, ...]:
        """Names of the terms, in model order."""
        return tuple(term["name"] for term in self.shown.get("terms", ()))

    def _stops(self) -> list[str]:
        epsilons = self.shown.get("epsilons", [])
        stops = [f"epsilon {epsilon:g}" for epsilon in epsilons]
        if self.shown.get("reference") is not None and (self.show_reference or not epsilons):
            stops.append("the non-private reference")
        return stops

    def _fit(self) -> dict[str, Any] | None:
        """Return the selected fit: by epsilon and repeat, or the reference."""
        fits = self.shown.get("fits", [])
        if self.epsilon_index < len(fits):
            repeats = fits[self.epsilon_index]
            chosen: dict[str, Any] = repeats[min(self.repeat, len(repeats) - 1)]
            return chosen
        return self.shown.get("reference")

    def _value_bins(self) -> int:
        """Count the value bins of the term, without special bins."""
        fit = self._fit()
        if fit is None or self.term not in self.term_names:
            return 0
        term = fit["terms"][self.term_names.index(self.term)]
        return len(term["labels"]) - len(term["special"])

    def _labels(self) -> list[str]:
        fit = self._fit()
        if fit is None or self.term not in self.term_names:
            return []
        labels: list[str] = fit["terms"][self.term_names.index(self.term)]["labels"]
        return labels


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


def _unknown_term(name: str, names: Iterable[str]) -> str:
    known = list(names)
    listed = ", ".join(repr(_short(each)) for each in known[:12])
    more = f" and {len(known) - 12} more" if len(known) > 12 else ""
    close = difflib.get_close_matches(name[:200], [each[:200] for each in known], n=1)
    hint = f" Did you mean {_short(close[0])!r}?" if close else ""
    return f"no term {_short(name)!r}; the terms are {listed}{more}.{hint}"


def _short(name: str) -> str:
    return name if len(name) <= 60 else f"{name[:59]}…"
