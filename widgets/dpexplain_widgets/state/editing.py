"""Edits in a view: their log, the edited explanation, and its metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import traitlets

from dpexplain.accounting import Event, PrivacyLedger
from dpexplain.edit import EditLog
from dpexplain.explain._text import upper_number
from dpexplain.explain.additive.denoising import denoised_curve
from dpexplain.io._edits import log_from_plain, log_to_plain
from dpexplain_widgets.state.sources import explanation_of, whole_explanation_of

Measure = Callable[[Any], Mapping[str, float]]


class Editing(traitlets.HasTraits):
    """Mixin with the edits made in a view, which are applied in Python.

    Attributes
    ----------
    edits : dict
        Log of edits as plain values; empty if there are no edits. `edit_log` is the same log as an
        object.
    denoised : dict
        Denoised curves that the page requested; an error message replaces a curve that could not be
        computed. Each key identifies a model, epsilon, fit and term.
    denoise_request : list
        Key of the denoised curve that the page requests, as a list of one string.
    evaluation : dict
        Metrics of the edited model, and the cost of measuring them.
    evaluation_request : int
        Number of times the page has requested metrics.
    """

    edits = traitlets.Dict().tag(sync=True)
    denoised = traitlets.Dict().tag(sync=True)
    denoise_request = traitlets.List(traitlets.Unicode()).tag(sync=True)
    evaluation = traitlets.Dict().tag(sync=True)
    evaluation_request = traitlets.Int(0).tag(sync=True)

    _measure: Measure | None = None
    _price: tuple[PrivacyLedger, tuple[Event, ...]] | None = None

    @traitlets.validate("edits")
    def _check_edits(self, proposal: Mapping[str, Any]) -> dict[str, Any]:
        value = dict(proposal["value"])
        if value:
            try:
                log_from_plain(value, "edits")
            except (TypeError, ValueError) as error:
                raise traitlets.TraitError(f"edits: {error}") from None
        return value

    @property
    def edit_log(self) -> EditLog:
        """The edits made so far, as a log; setting it changes what the page shows."""
        return log_from_plain(self.edits, "edits") if self.edits else EditLog()

    @edit_log.setter
    def edit_log(self, log: EditLog) -> None:
        self.edits = log_to_plain(log)

    @property
    def edited(self) -> Any:
        """The selected explanation, with the edits in the current state applied.

        The value is a GlobalExplanation marked as edited. For a multiclass model, it is a
        MulticlassExplanation, because an edit changes the curves of all classes.
        """
        return self.edit_log.apply(whole_explanation_of(self))

    def to_model(self, model: Any) -> Any:
        """Apply the edits to a fitted model.

        Parameters
        ----------
        model : fitted additive model
            Model that contains the edited terms. Its ledger is not charged, because edits have no
            privacy cost.

        Returns
        -------
        model
            An edited copy.
        """
        return self.edit_log.apply(model)

    def measure_edits(
        self,
        measure: Measure,
        *,
        ledger: PrivacyLedger | None = None,
        price: Sequence[Event] = (),
    ) -> None:
        """Set how the metrics of an edited model are measured.

        Parameters
        ----------
        measure : callable
            Function that returns the metrics of an edited explanation, keyed by name. It either
            uses public data, or releases noisy metrics of private data through mechanisms whose
            events are given as `price`.
        ledger : PrivacyLedger or None, default=None
            Ledger of the private data.
        price : sequence of Event, default=()
            Privacy events of one measurement. The page shows the cost and asks for confirmation
            before each measurement, and the ledger is charged before data are read. If `price` is
            empty, the data are assumed to be public.

        Raises
        ------
        ValueError
            If only one of `ledger` and `price` is given.
        """
        if (ledger is None) != (not price):
            raise ValueError(
                "pass ledger= and price= together for private data, and neither for public data."
            )
        self._measure = measure
        self._price = None if ledger is None else (ledger, tuple(price))
        self.evaluation = {"cost": self._cost_words(), "metrics": None, "problem": ""}

    def _cost_words(self) -> str:
        if self._price is None:
            return ""
        ledger, events = self._price
        alone = PrivacyLedger("one measurement", delta=ledger.delta, adjacency=ledger.adjacency)
        alone.charge(events, label="measurement", adjacency=ledger.adjacency)
        cost = alone.summary().private_epsilon
        return f"epsilon {upper_number(cost, 3)} of the ledger {ledger.dataset!r}"

    @traitlets.observe("evaluation_request")
    def _on_evaluation(self, change: Mapping[str, Any]) -> None:
        if self._measure is None or change["new"] <= change["old"]:
            return
        words = self._cost_words()
        try:
            explanation = self.edited
            if self._price is not None:
                ledger, events = self._price
                label = "metrics of an edited model"
                ledger.charge(events, label=label, adjacency=ledger.adjacency)
            metrics = {str(k): float(v) for k, v in self._measure(explanation).items()}
            self.evaluation = {"cost": words, "metrics": metrics, "problem": ""}
        except Exception as error:  # only the type is shown: the message could quote a record
            problem = f"not measured: {type(error).__name__}"
            self.evaluation = {"cost": words, "metrics": None, "problem": problem}

    @traitlets.observe("denoise_request")
    def _on_denoise(self, change: Mapping[str, Any]) -> None:
        if len(change["new"]) != 1 or not isinstance(change["new"][0], str):
            return
        key = change["new"][0]
        try:
            explanation = explanation_of(self)
            curve: Any = denoised_curve(explanation, getattr(self, "term")).tolist()  # noqa: B009
        except (ValueError, KeyError) as error:
            curve = str(error)
        self.denoised = {**self.denoised, key: curve}
