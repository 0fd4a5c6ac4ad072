"""The state of a view: traits that both Python and the page read and set."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import pandas as pd
import traitlets

from dpexplain.accounting.summary import LedgerSummary
from dpexplain.compare import Comparison, FilterComparison
from dpexplain_widgets.payload.payload import check_payload, models_of
from dpexplain_widgets.state.filter_places import (
    check_filter_class,
    check_filter_place,
    check_inputs,
)
from dpexplain_widgets.state.places import (
    check_input,
    check_pinned_epsilon,
    check_sample,
    check_term,
    check_threshold,
    epsilon_place,
    first_epsilon_index,
    most_important,
)
from dpexplain_widgets.state.trait_types import Index, OneOf, ends
from dpexplain_widgets.views.registry import tabs

TABS = tabs()
AGAINST = ("reference", "epsilon", "model", "repeat")
MAPS = ("mean", "contrast", "filter")
ORDERS = ("last", "this", "schema", "name")
CATEGORY_ORDERS = ("schema", "contribution", "uncertainty")
CURVES = ("both", "released", "effect")
STATE_TRAITS = (
    "payload", "model_name", "other_model", "against", "epsilon_index", "term", "bin_index",
    "second_bin", "second_range", "bin_range", "extreme", "sample", "what_if", "threshold", "edits",
    "pinned_epsilon", "show_reference", "repeat", "tab", "term_order", "term_search",
    "above_noise_only", "same_axis", "even_bins", "category_order", "shown_curve", "show_edited",
    "small_multiples", "page_index", "replay_draw", "filter_arrays", "shown_map",
    "filter_class", "against_class", "filter_index", "against_filter", "input_index", "input_range",
    "mask_noise", "sort_filters", "contribution_opacity",
)  # fmt: skip


class Origin(NamedTuple):
    """Source and samples from which a view was created."""

    source: Any
    samples: pd.DataFrame | None = None
    samples_public: bool = False


class ViewState(traitlets.HasTraits):
    """State of a view, stored as traits that all views have.

    An invalid value raises :class:`traitlets.TraitError` and changes nothing. Two views are linked
    with :meth:`dpexplain_widgets.views.base.View.link`.

    Attributes
    ----------
    payload : dict
        Data from which the view is drawn, at all epsilons.
    model_name : str
        Name of the selected model or class; "" if there is only one model.
    other_model : str
        Name of the model drawn for comparison, at the same or the nearest epsilon; "" if there is
        none.
    against : {"reference", "epsilon", "model", "repeat"}
        What the disagreement view compares with: the non-private reference, the fit at the pinned
        epsilon, the other model, or another fit with the same epsilon.
    epsilon_index : int
        Index of the selected epsilon in the payload. An index equal to the number of epsilons
        selects the non-private reference, if it is shown.
    term : str
        Name of the term shown.
    bin_index : int or None
        Index of the selected bin; special bins come last.
    second_bin : int or None
        Index of the bin that a claim compares with the selected bin.
    second_range : list of two int or None
        Indices of the first and last bins of a range, which a claim compares with the selected bin
        or range; for a pair, of the cells at two opposite corners of a region. None means
        `second_bin`.
    extreme : {"", "highest", "lowest"}
        Whether a claim is about the position of the highest or lowest bin; "" compares bins.
    bin_range : list of two int or None
        Indices of the first and last bins of the selected range, which excludes special bins.
    pinned_epsilon : float or None
        An epsilon whose curve stays visible for comparison.
    show_reference : bool
        Whether the non-private reference, if any, is shown.
    repeat : int
        Index of the selected fit among those at the same epsilon.
    sample : int or None
        Index of the selected sample in the view. None means a typical sample, which has the median
        of each number and the largest category, by noisy counts.
    what_if : dict
        Values that replace those of the sample, by term name: numbers within the public range,
        categories, or None for missing. These values are hypothetical, so they may be shown to
        anyone.
    threshold : float or None
        Prediction at which a decision changes; for a classifier, a probability. None means a
        threshold of 0.5 for a classifier, and no threshold for a regressor.
    filter_arrays : bytes
        Arrays of the filters and samples, joined into one block of bytes; ``payload["filters"]``
        says where each array begins.
    shown_map : {"mean", "contrast", "filter"}
        What is drawn for each class: its mean filter, the contrast with another class, or one
        filter.
    filter_class : str
        Selected class.
    against_class : str
        Second class of a contrast, or class of `against_filter`; "" means the first other class for
        a contrast, and the selected class for a filter.
    filter_index : int
        Index of the selected filter of a class; the order is the same in all fits.
    against_filter : int or None
        Index of a filter that is subtracted from the selected filter; None shows the filter itself.
    input_index : int or None
        Index of the input, such as a pixel, whose weight is shown.
    input_range : list of two int or None
        Indices of two inputs of a grid, at opposite corners of the region that a claim is about;
        None means the selected input.
    mask_noise : bool
        Whether weights within two standard deviations of privacy noise are grayed out.
    sort_filters : bool
        Whether the filters of a class are sorted by signal-to-noise ratio.
    contribution_opacity : float
        Opacity of the contributions drawn over an image: 0 shows only the image, 0.5 shows both,
        and 1 shows only the contributions.
    tab : {"shape", "edit", "terms", "disagreement", "rank", "local"}
        The open tab of an Explorer.
    term_order : {"last", "this", "schema", "name"}
        Order in which terms are listed: by importance at the largest epsilon, by importance in the
        selected fit, as in the model, or by name.
    term_search : str
        Search text: only terms whose name contains it are listed; "" lists all terms.
    above_noise_only : bool
        Whether lists show only terms that rise above the noise.
    same_axis : bool
        Whether the score axis covers the curves of all epsilons.
    even_bins : bool or None
        Whether bins are drawn with equal widths; None chooses whichever is easier to read.
    category_order : {"schema", "contribution", "uncertainty"}
        Order in which the categories of a term are drawn: as in the schema, by contribution, or by
        total uncertainty, largest first.
    shown_curve : {"both", "released", "effect"}
        Curves that are drawn: both, only the released curve with its noise, or only the estimated
        effect.
    show_edited : bool
        Whether all views show the selected fit with the edits applied; the edit view always does.
    small_multiples : bool
        Whether the shape view shows all terms as small charts.
    page_index : int
        Index of the page of small charts; each page shows twelve terms.
    replay_draw : int or None
        Index of the simulated draw of the noise; None means the released curve.
    """

    payload = traitlets.Dict().tag(sync=True)
    model_name = traitlets.Unicode().tag(sync=True)
    other_model = traitlets.Unicode().tag(sync=True)
    against = OneOf(*AGAINST).tag(sync=True)
    epsilon_index = Index().tag(sync=True)
    term = traitlets.Unicode().tag(sync=True)
    bin_index = Index(None, allow_none=True).tag(sync=True)
    second_bin = Index(None, allow_none=True).tag(sync=True)
    second_range = ends()
    bin_range = ends()
    extreme = OneOf("", "highest", "lowest").tag(sync=True)
    pinned_epsilon = traitlets.Float(None, allow_none=True).tag(sync=True)
    show_reference = traitlets.Bool(True).tag(sync=True)
    repeat = Index().tag(sync=True)
    sample = Index(None, allow_none=True).tag(sync=True)
    what_if = traitlets.Dict().tag(sync=True)
    threshold = traitlets.Float(None, allow_none=True).tag(sync=True)
    filter_arrays = traitlets.Bytes().tag(sync=True)
    shown_map = OneOf(*MAPS).tag(sync=True)
    filter_class = traitlets.Unicode().tag(sync=True)
    against_class = traitlets.Unicode().tag(sync=True)
    filter_index = Index(0).tag(sync=True)
    against_filter = Index(None, allow_none=True).tag(sync=True)
    input_index = Index(None, allow_none=True).tag(sync=True)
    input_range = ends()
    mask_noise = traitlets.Bool(False).tag(sync=True)
    sort_filters = traitlets.Bool(True).tag(sync=True)
    contribution_opacity = traitlets.Float(0.5, min=0.0, max=1.0).tag(sync=True)
    tab = OneOf(*TABS).tag(sync=True)
    term_order = OneOf(*ORDERS).tag(sync=True)
    term_search = traitlets.Unicode().tag(sync=True)
    above_noise_only = traitlets.Bool(False).tag(sync=True)
    same_axis = traitlets.Bool(True).tag(sync=True)
    even_bins = traitlets.Bool(None, allow_none=True).tag(sync=True)
    category_order = OneOf(*CATEGORY_ORDERS).tag(sync=True)
    shown_curve = OneOf(*CURVES).tag(sync=True)
    show_edited = traitlets.Bool(False).tag(sync=True)
    small_multiples = traitlets.Bool(False).tag(sync=True)
    page_index = Index(0).tag(sync=True)
    replay_draw = Index(None, allow_none=True).tag(sync=True)

    page_traits: ClassVar[tuple[str, ...]] = STATE_TRAITS
    """Names of the traits that an exported page of the view contains."""

    _made: tuple[dict[str, Any], Origin]

    @property
    def origin(self) -> Origin:
        """Source and samples of the view, or only the payload if the payload was replaced."""
        payload, origin = self._made
        return origin if payload is self.payload else Origin(self.payload)

    def _show_ledger(self, ledger: LedgerSummary) -> None:
        """Show a later state of the ledger of the comparison; ignore other ledgers."""
        given = self.origin
        source = given.source
        if not isinstance(source, Comparison | FilterComparison):
            return
        if ledger == source.ledger or not ledger.extends(source.ledger):
            return
        grown = dataclasses.replace(source, ledger=ledger)
        words = list(grown.guarantee_words)
        self.payload = {**self.payload, "ledger": ledger.to_dict(), "guarantee_words": words}
        self._made = (self.payload, Origin(grown, *given[1:]))

    def _read_ledger(self) -> None:
        """Show what has been charged up to now; nothing for a view that charges nothing."""

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

        Setting this property selects the fit with that epsilon. If no fit has it, a
        :class:`traitlets.TraitError` lists the available epsilons.
        """
        epsilons = self.shown["epsilons"]
        at_reference = self.epsilon_index >= len(epsilons)
        return float("inf") if at_reference else float(epsilons[self.epsilon_index])

    @epsilon.setter
    def epsilon(self, epsilon: float) -> None:
        self.epsilon_index = epsilon_place(self.shown, epsilon)

    @traitlets.validate("payload")
    def _check_payload(self, proposal: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return check_payload(proposal["value"])
        except (KeyError, TypeError, ValueError) as error:
            raise traitlets.TraitError(f"payload: {error}") from None

    @traitlets.validate("model_name", "other_model")
    def _check_model(self, proposal: Mapping[str, Any]) -> str:
        name: str = proposal["value"]
        names = self.model_names
        none = proposal["trait"].name == "other_model" or not any(names)
        if name in names or (name == "" and none):
            return name
        listed = ", ".join(repr(each[:60]) for each in names if each) or "without names here"
        trait = proposal["trait"].name
        raise traitlets.TraitError(f"{trait}={name[:60]!r} is not one of the models: {listed}.")

    @property
    def model_names(self) -> tuple[str, ...]:
        """Names of the models shown, in order."""
        return tuple(model["name"] for model in models_of(self.payload)) if self.payload else ("",)

    @property
    def shown(self) -> dict[str, Any]:
        """The payload of the selected model."""
        return self._model(self.model_name) or self.payload

    def _model(self, name: str) -> dict[str, Any] | None:
        """Return the payload of the model with this name, or None."""
        if not self.payload or not name:
            return None
        return next((model for model in models_of(self.payload) if model["name"] == name), None)

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
        return check_term(proposal["value"], self.term_names)

    @traitlets.validate("bin_index", "second_bin")
    def _check_bin_index(self, proposal: Mapping[str, Any]) -> int | None:
        return self._checked_place(proposal, len(self._labels()), "a bin of the term")

    @traitlets.validate("bin_range", "second_range")
    def _check_bin_range(self, proposal: Mapping[str, Any]) -> list[int] | None:
        bins: list[int] | None = proposal["value"]
        count = self._value_bins()
        if bins is None or (len(bins) == 2 and 0 <= bins[0] <= bins[1] < count):
            return bins
        name = proposal["trait"].name
        raise traitlets.TraitError(
            f"{name}={bins!r:.60} must be None or the first and last of the bins 0 to "
            f"{count - 1} of the term."
        )

    @traitlets.validate("repeat")
    def _check_repeat(self, proposal: Mapping[str, Any]) -> int:
        repeats = max((len(fits) for fits in self.shown.get("fits", [])), default=1)
        self._checked_place(proposal, repeats, "one of the fits at an epsilon")
        return int(proposal["value"])

    @traitlets.validate("pinned_epsilon")
    def _check_pinned_epsilon(self, proposal: Mapping[str, Any]) -> float | None:
        return check_pinned_epsilon(self.shown.get("epsilons", []), proposal["value"])

    @traitlets.validate("sample")
    def _check_sample(self, proposal: Mapping[str, Any]) -> int | None:
        return check_sample(self.payload.get("samples"), proposal["value"])

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
        return check_threshold(self.payload.get("link", ""), proposal["value"])

    @property
    def _filters(self) -> dict[str, Any] | None:
        """Return the outline of the filters, or None if the model has no filters."""
        return self.payload.get("filters") if self.payload else None

    @traitlets.validate("filter_class", "against_class")
    def _check_filter_class(self, proposal: Mapping[str, Any]) -> str:
        return check_filter_class(self._filters, proposal["trait"].name, proposal["value"])

    @traitlets.validate("input_range")
    def _check_input_range(self, proposal: Mapping[str, Any]) -> list[int] | None:
        return check_inputs(self._filters, proposal["value"])

    @traitlets.validate("filter_index", "against_filter", "input_index")
    def _check_filter_place(self, proposal: Mapping[str, Any]) -> int | None:
        return check_filter_place(self._filters, proposal["trait"].name, proposal["value"])

    @traitlets.validate("page_index", "replay_draw")
    def _check_not_negative(self, proposal: traitlets.Bunch) -> int | None:
        value: int | None = proposal["value"]
        if value is None or value >= 0:
            return value
        raise traitlets.TraitError(f"{proposal['trait'].name}={value} must not be negative.")

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
            self.bin_range = self.second_bin = self.second_range = None
            self.extreme = ""

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
        if self.second_range is not None and self.second_range[1] >= self._value_bins():
            self.second_range = None
        self.repeat = min(self.repeat, repeats - 1)

    @property
    def term_names(self) -> tuple[str, ...]:
        """Names of the terms, in model order."""
        return tuple(term["name"] for term in self.shown.get("terms", ()))

    def _stops(self) -> list[str]:
        epsilons = self.shown.get("epsilons", [])
        stops = [f"epsilon {epsilon:g}" for epsilon in epsilons]
        if self.shown.get("reference") is not None and (self.show_reference or not epsilons):
            stops.append(f"the non-private {'reference' if epsilons else 'model'}")
        return stops

    def _fit(self) -> dict[str, Any] | None:
        """Return the selected fit: a private fit or the reference."""
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
