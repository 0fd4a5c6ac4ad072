"""Choice of the model shown, and of the model or fit to compare it with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import traitlets

from dpexplain_widgets.payload.payload import check_payload, models_of
from dpexplain_widgets.state.trait_types import OneOf

AGAINST = ("reference", "epsilon", "model", "repeat")


class ModelChoice(traitlets.HasTraits):
    """Mixin with the payload of a view and the traits that select models.

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
    """

    payload = traitlets.Dict().tag(sync=True)
    model_name = traitlets.Unicode().tag(sync=True)
    other_model = traitlets.Unicode().tag(sync=True)
    against = OneOf(*AGAINST).tag(sync=True)

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
