"""Help with choosing epsilon: new fits, and estimates of the epsilon needed."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import traitlets

from dpexplain._utils.guarantee_words import upper_number
from dpexplain.accounting.summary import LedgerSummary
from dpexplain.compare import Comparison, Refitter, epsilon_for_metric, epsilons_to_stand_out
from dpexplain.explain import GlobalExplanation
from dpexplain.explain._text import number_above
from dpexplain_widgets.payload.payload import build_payload, fit_payload
from dpexplain_widgets.payload.samples import same_samples
from dpexplain_widgets.state.sources import source_of
from dpexplain_widgets.state.state import Origin, ViewState
from dpexplain_widgets.state.worker import LatestWins

SMALLEST, LARGEST = 0.05, 10.0
PLAN_TRAITS = ("plan", "wanted_epsilon", "wanted_metric", "answer")
_IDLE: dict[str, Any] = {"state": "idle", "words": "", "done": 0, "total": 0}


class Planning(ViewState):
    """Mixin for views that help users choose epsilon and can start new fits.

    Parameters
    ----------
    source : Comparison, GlobalExplanation, dict or View
        What to show; see :class:`dpexplain_widgets.views.base.View`. New fits can be added only to
        a Comparison.
    samples : DataFrame or None, default=None
        Records for local explanations.
    refit : callable or None, default=None
        Function, such as a :class:`dpexplain.compare.Refitter`, that maps an epsilon to a
        GlobalExplanation. It runs in a separate thread. If ``refit.private`` is true or missing,
        the view first asks the question that ``refit.question`` returns, and calls `refit` only
        after the user confirms.
    **state
        Initial choices, keyed by trait name; see :class:`dpexplain_widgets.state.state.ViewState`.

    Attributes
    ----------
    wanted_epsilon : float or None
        Epsilon to show. If there is no fit at this epsilon, `refit` creates one first. A later
        request replaces a request that is still pending.
    wanted_metric : float or None
        Target value of the metric; `plan` then gives the epsilon at which 9 of 10 fits would reach
        this value.
    answer : dict
        The answer given on the page: ``{"kind": "cancel"}``, or ``{"kind": "fit", "question": …}``
        with the question that was confirmed. If the question is outdated, no fit is started.
    plan : dict
        State and results of planning, for the page.

    Raises
    ------
    TypeError
        If `refit` is not callable, or if there is no Comparison to add fits to.
    ValueError
        If `refit` charges another ledger than that of the Comparison.
    """

    plan = traitlets.Dict().tag(sync=True)
    wanted_epsilon = traitlets.Float(None, allow_none=True).tag(sync=True)
    wanted_metric = traitlets.Float(None, allow_none=True).tag(sync=True)
    answer = traitlets.Dict().tag(sync=True)

    page_traits = (*ViewState.page_traits, *PLAN_TRAITS)

    def __init__(
        self,
        source: Any,
        samples: Any = None,
        *,
        refit: Callable[[float], GlobalExplanation] | None = None,
        samples_public: bool = False,
        **state: Any,
    ) -> None:
        if refit is not None and not callable(refit):
            raise TypeError(f"refit must be callable with an epsilon, got {type(refit).__name__}.")
        super().__init__(source, samples, samples_public=samples_public, **state)
        if refit is not None and not isinstance(self.origin.source, Comparison):
            raise TypeError(
                "refit= adds fits to a Comparison; pass one as source. For three or more classes, "
                "pass comparison.for_class(label)."
            )
        charged = getattr(refit, "ledger", None)
        if isinstance(charged, LedgerSummary) and not charged.extends(self.origin.source.ledger):
            raise ValueError(
                f"refit= charges the ledger {charged.dataset!r}, which does not hold the fits that "
                "are shown, so no ledger would state the cost of all; pass a comparison of "
                "sweep(..., ledger=...) with the same ledger."
            )
        self._refit = refit
        self._asked: list[float] = []
        self._live: float | None = None
        self._swept: set[float] = set()
        self._worker = LatestWins(self._work, self._take, self._fail)
        self.plan = {**_IDLE, **self._abilities(), **self._needed()}
        self.observe(self._refresh_needed, names=["model_name"])

    @traitlets.validate("wanted_epsilon")
    def _check_wanted(self, proposal: Mapping[str, Any]) -> float | None:
        epsilon: float | None = proposal["value"]
        if epsilon is None or SMALLEST <= epsilon <= LARGEST:
            return epsilon
        raise traitlets.TraitError(
            f"wanted_epsilon={epsilon:g} must be between {SMALLEST:g} and {LARGEST:g}."
        )

    @traitlets.observe("wanted_epsilon")
    def _follow_wanted(self, change: Mapping[str, Any]) -> None:
        epsilon = change["new"]
        if epsilon in self.payload["epsilons"]:
            self._read(epsilon)
        elif epsilon is not None:
            self._ask([epsilon])

    @traitlets.observe("wanted_metric")
    def _follow_metric(self, change: Mapping[str, Any]) -> None:
        self._say(metric_words=self._metric_words(change["new"]))

    @traitlets.observe("answer")
    def _follow_answer(self, change: Mapping[str, Any]) -> None:
        answer = change["new"]
        agreed = answer.get("kind") == "fit" and self.plan["state"] == "asking"
        if answer.get("kind") == "cancel":
            self.cancel()
        elif agreed and answer.get("question") == self.plan["words"]:
            self._start()

    def fit_at(self, epsilons: Sequence[float]) -> None:
        """Fit at several epsilons in sequence, in the background.

        Parameters
        ----------
        epsilons : sequence of float
            Epsilons at which to fit; those that already have a fit are skipped. Private data are
            used only after the user confirms in the view.
        """
        known = set(self.payload["epsilons"])
        if self._live in epsilons:
            self._live = None
        wanted = [float(epsilon) for epsilon in epsilons if float(epsilon) not in known]
        if wanted:
            self._swept.update(wanted)
            self._ask(wanted)

    def cancel(self) -> None:
        """Stop after the running fit, and drop its result if it is not private.

        The budget of a running private fit is already charged, so its result is kept.
        """
        self._asked = []
        if self._is_private and self._worker.busy:
            self._worker.submit([])
            words = "stopping after the running fit, which is already charged"
            self._say(state="working", words=words, done=0, total=0)
            return
        self._worker.cancel()
        self._say(state="idle", words="cancelled", done=0, total=0)

    def wait(self, seconds: float = 30.0) -> bool:
        """Wait until all background fits have finished.

        Parameters
        ----------
        seconds : float, default=30.0
            Maximum time to wait, in seconds.

        Returns
        -------
        bool
            Whether all fits finished in time.
        """
        return self._worker.join(seconds)

    @property
    def _is_private(self) -> bool:
        return bool(getattr(self._refit, "private", True))

    def _read(self, epsilon: float) -> None:
        """Show an existing fit, and drop earlier requests.

        Requests for private fits that the user has already confirmed are kept.
        """
        self._asked = []
        if not self._is_private:
            self._worker.cancel()
        paid = self._is_private and self._worker.busy
        words = f"ε = {upper_number(epsilon)} is already fitted"
        self._say(state="working" if paid else "idle", words=words, done=0, total=0)
        self.epsilon_index = self.payload["epsilons"].index(epsilon)

    def _ask(self, epsilons: list[float]) -> None:
        if self._refit is None:
            self._say(state="failed", words="This view has no refit=, so it cannot fit.")
            return
        self._asked = epsilons
        if not self._is_private:
            self._start()
            return
        try:
            question = self._refit.question(epsilons)  # type: ignore[attr-defined]
        except Exception as error:
            self._asked = []
            self._say(state="failed", words=_error_words(error))
            return
        self._say(state="asking", words=question)

    def _start(self) -> None:
        epsilons, self._asked = self._asked, []
        words = f"fitting ε = {upper_number(epsilons[0])} …"
        self._say(state="working", words=words, done=0, total=len(epsilons))
        self._worker.submit(epsilons)

    def _work(self, epsilon: float) -> tuple[GlobalExplanation, dict[str, Any] | None]:
        assert self._refit is not None
        explanation = self._refit(epsilon)
        return explanation, fit_payload(explanation, self.payload["terms"])

    def _take(self, epsilon: float, result: Any, done: int, total: int) -> None:
        self._show(epsilon, *result)
        if self._asked:  # keep a question asked in the meantime
            return
        left = "" if done >= total else f", {total - done} to go"
        state = "idle" if done >= total else "working"
        words = f"fitted ε = {upper_number(epsilon)}{left}"
        self._say(state=state, words=words, done=done, total=total)
        if state == "idle":  # not needed while epsilon is being dragged
            self._say(**self._needed())

    def _fail(self, epsilon: float, error: Exception) -> None:
        # The errors of a Refitter never quote a record; the errors of other functions may.
        quotable = not self._is_private or isinstance(self._refit, Refitter)
        what = _error_words(error) if quotable else type(error).__name__
        words = f"The fit with ε = {upper_number(epsilon)} failed. {what}"
        if self._asked:
            self._say(words=f"{words} {self.plan['words']}")
        else:
            self._say(state="failed", words=words)
        self._read_ledger()  # a fit that failed stays charged

    def _read_ledger(self) -> None:
        """Show the ledger with the charges for fits that are running or have failed."""
        charged = getattr(self._refit, "ledger", None)
        if isinstance(charged, LedgerSummary):
            self._show_ledger(charged)

    def _show(
        self, wanted: float, explanation: GlobalExplanation, fit: dict[str, Any] | None
    ) -> None:
        """Add a fit and show it.

        If `refit` is not private, a fit requested with the slider replaces the previous one. If the
        explanation has different pairs of features than those shown, `fit` is None, and everything
        is rebuilt.
        """
        epsilon = float(explanation.guarantee.epsilon)
        if not math.isfinite(epsilon):
            raise ValueError(
                "refit returned an explanation that is not private; give its estimator a schema "
                "and no reproducible_seed."
            )
        keep = self._is_private or wanted in self._swept
        given = self.origin
        source = given.source
        fits = dict(source.explanations)
        payloads = dict(zip(self.payload["epsilons"], self.payload["fits"], strict=True))
        if self._live is not None and not keep:
            fits.pop(self._live, None)
            payloads.pop(self._live, None)
        fits[epsilon], payloads[epsilon] = (explanation,), [fit]
        ascending = tuple(sorted(fits))
        ledger = self._ledger_now(source)
        grown = dataclasses.replace(source, epsilons=ascending, explanations=fits, ledger=ledger)
        shown: dict[str, Any] = {"fits": [payloads[each] for each in ascending]}
        if fit is None:
            whole = build_payload(grown)
            shown = {name: whole[name] for name in ("terms", "fits", "reference")}
            shown["samples"] = same_samples(self.payload, shown["terms"])
        if not keep:
            self._live = None if epsilon in source.epsilons else epsilon
        hold_sync = self.hold_sync()  # type: ignore[attr-defined]  # of the widget
        with hold_sync, self.hold_trait_notifications():
            self.payload = {
                **self.payload,
                **shown,
                "epsilons": list(ascending),
                "ledger": ledger.to_dict(),
                "guarantee_words": list(grown.guarantee_words),
            }
            self.epsilon_index = ascending.index(epsilon)
        self._made = (self.payload, Origin(grown, *given[1:]))

    def _ledger_now(self, source: Comparison) -> LedgerSummary:
        """Return the ledger for the data, including charges for fits started in this view."""
        charged = getattr(self._refit, "ledger", None)
        if isinstance(charged, LedgerSummary) and charged.extends(source.ledger):
            return charged
        return source.ledger

    def _say(self, **changes: Any) -> None:
        self.plan = {**self.plan, **changes}

    def _abilities(self) -> dict[str, Any]:
        source = source_of(self)
        comparison = source if isinstance(source, Comparison) else None
        metrics = None if comparison is None else comparison.metrics
        names = [] if metrics is None else [str(name) for name in metrics["metric"].unique()]
        return {
            "live": self._refit is not None,
            "data": str(getattr(self._refit, "data", "")),
            "range": [SMALLEST, LARGEST],
            "metric": names[0] if len(names) == 1 else "",
            "metric_words": "",
        }

    def _needed(self) -> dict[str, Any]:
        """List the epsilon at which each term rises above the noise, smallest first."""
        source = source_of(self)
        if not isinstance(source, Comparison | GlobalExplanation):
            return {"needed": []}
        try:
            needed = epsilons_to_stand_out(source)
        except ValueError:  # not private, or the joint noise is unknown
            return {"needed": []}
        if isinstance(source, GlobalExplanation):
            measured: Sequence[float] = [source.guarantee.epsilon]
        else:
            measured = source.epsilons
        ordered = sorted(needed.items(), key=lambda one: (math.isnan(one[1]), one[1]))
        return {
            "needed": [
                [name, e if math.isfinite(e) else None, _needed_words(e, measured)]
                for name, e in ordered
            ]
        }

    def _refresh_needed(self, change: Mapping[str, Any]) -> None:
        if self.plan["state"] != "working":
            self._say(**self._needed())

    def _metric_words(self, target: float | None) -> str:
        source = source_of(self)
        if target is None or not isinstance(source, Comparison):
            return ""
        try:
            epsilon = epsilon_for_metric(source, target)
        except ValueError as error:
            return _error_words(error)
        name = self.plan["metric"]
        if math.isinf(epsilon):
            return f"No ε up to {source.epsilons[-1]:g} makes {name} {target:g} likely."
        return f"With ε = {epsilon:.2g}, 9 of 10 fits would reach {name} {target:g}."


def _needed_words(epsilon: float, measured: Sequence[float]) -> str:
    if math.isnan(epsilon):
        return "undetermined: too little is known about its effect"
    if math.isinf(epsilon):
        return "no ε up to 50: it may be all noise"
    if epsilon == measured[0]:
        return f"ε = {epsilon:.4g} or less (measured)"
    if epsilon in measured:
        return f"ε = {epsilon:.4g} (measured)"
    return f"at least ε = {number_above(epsilon, measured[-1])}"


def _error_words(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error)[:300]}"
