"""Choice of the filters shown, and their display options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import traitlets

from dpexplain_widgets.state.trait_types import Index, OneOf

MAPS = ("mean", "contrast", "filter")


class FilterChoice(traitlets.HasTraits):
    """Mixin with the traits that select filters, for models that have filters.

    Attributes
    ----------
    filter_arrays : bytes
        Arrays of the filters and samples, joined into one block of bytes; ``payload["filters"]``
        says where each array begins.
    shown_map : {"mean", "contrast", "filter"}
        What is drawn for each class: its mean filter, the contrast with another class, or one
        filter.
    filter_class : str
        Selected class.
    against_class : str
        Second class of a contrast.
    filter_index : int
        Index of the selected filter of a class; the order is the same in all fits.
    input_index : int or None
        Index of the input, such as a pixel, whose weight is shown.
    mask_noise : bool
        Whether weights within two standard deviations of privacy noise are grayed out.
    sort_filters : bool
        Whether the filters of a class are sorted by signal-to-noise ratio.
    contribution_opacity : float
        Opacity of the contributions drawn over an image: 0 shows only the image, 0.5 shows both,
        and 1 shows only the contributions.
    """

    payload: traitlets.Dict[Any, Any]
    filter_arrays = traitlets.Bytes().tag(sync=True)
    shown_map = OneOf(*MAPS).tag(sync=True)
    filter_class = traitlets.Unicode().tag(sync=True)
    against_class = traitlets.Unicode().tag(sync=True)
    filter_index = Index(0).tag(sync=True)
    input_index = Index(None, allow_none=True).tag(sync=True)
    mask_noise = traitlets.Bool(False).tag(sync=True)
    sort_filters = traitlets.Bool(True).tag(sync=True)
    contribution_opacity = traitlets.Float(0.5, min=0.0, max=1.0).tag(sync=True)

    @property
    def _filters(self) -> dict[str, Any] | None:
        """Return the outline of the filters, or None if the model has no filters."""
        return self.payload.get("filters") if self.payload else None

    @traitlets.validate("filter_class", "against_class")
    def _check_filter_class(self, proposal: Mapping[str, Any]) -> str:
        name: str = proposal["value"]
        classes = [] if self._filters is None else self._filters["classes"]
        if name in classes or name == "":
            return name
        listed = ", ".join(repr(each[:40]) for each in classes[:12]) or "none, without filters"
        trait = proposal["trait"].name
        raise traitlets.TraitError(f"{trait}={name[:40]!r} must be one of the classes: {listed}.")

    @traitlets.validate("filter_index", "input_index")
    def _check_filter_place(self, proposal: Mapping[str, Any]) -> int | None:
        index: int | None = proposal["value"]
        trait = proposal["trait"].name
        outline = self._filters
        count = 1
        if outline is not None:
            of_class = trait == "filter_index"
            count = outline["n_filters"] if of_class else len(outline["input_names"])
        if index is None or 0 <= index < count:
            return index
        raise traitlets.TraitError(f"{trait}={index} must be one of 0 to {count - 1}.")
