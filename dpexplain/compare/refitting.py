"""Fits at requested epsilons, for dashboards."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from inspect import signature
from typing import Any, Final

from dpexplain._utils.cloning import unfitted_copy
from dpexplain._utils.guarantee_words import upper_number
from dpexplain._utils.tracebacks import without_records
from dpexplain._utils.validation import check_epsilon
from dpexplain.accounting._ledger.process import named_ledger, unlisted
from dpexplain.accounting.ledger import PrivacyLedger
from dpexplain.accounting.summary import LedgerSummary
from dpexplain.compare._checks import check_estimator, check_rows
from dpexplain.exceptions import BudgetError
from dpexplain.explain import GlobalExplanation
from dpexplain.tables.targets import split_target

KINDS: Final = ("public", "simulated", "private")


class Refitter:
    """Fit one estimator at requested epsilons.

    This class is intended for planning: vary epsilon on stand-in data, see the effect on the
    explanation, and then fit to the private data once. The kind of data must always be declared.
    Stand-in data (``data="public"`` or ``"simulated"``) can be used for any number of fits, without
    a ledger. Private data need a ledger; every fit is charged to it, and a dashboard asks for
    confirmation before each fit.

    Parameters
    ----------
    estimator : private estimator
        Unfitted estimator, which is cloned and never changed. Its parameters other than epsilon
        apply to all fits.
    X : DataFrame or ndarray of shape (n_samples, n_features)
        Records.
    y : str or array-like of shape (n_samples,)
        Labels or targets, or the name of their column.
    data : {"public", "simulated", "private"}
        Kind of data. Records are "public" if anyone may see them, and "simulated" if they were
        drawn from a model that used no records, or from a private release.
    ledger : PrivacyLedger, str or None, default=None
        The ledger charged for every fit to private data; None means the ledger of the estimator.

    Raises
    ------
    ValueError
        If the kind of data is not declared, private data have no ledger, or stand-in data have
        one.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier, sweep
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(schema=stays.schema)
    >>> comparison = sweep(model, stays.X, stays.y, epsilons=(0.5, 4), progress=False)
    >>> from dpexplain.compare import Refitter
    >>> from dpexplain_widgets import Explorer
    >>> refit = Refitter(model, stays.X, stays.y, data="simulated")
    >>> explorer = Explorer(comparison, refit=refit)    # choose any epsilon, and fit
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        data: str,
        ledger: PrivacyLedger | str | None = None,
    ) -> None:
        check_estimator(estimator)
        if data not in KINDS:
            raise ValueError(
                f"data={data!r:.40} must be 'public', 'simulated' or 'private': declare what kind "
                "of records these are. Refitting private records costs budget each time."
            )
        X, y = split_target(X, y, estimator.get_params(deep=False).get("schema"))
        check_rows("y", X, y)
        parameters = estimator.get_params(deep=False)
        given = parameters.get("ledger") if ledger is None else ledger
        if data == "private" and given is None:
            raise ValueError(
                "data='private' needs a ledger to charge each fit to: pass ledger=, or declare "
                "public or simulated stand-in data to plan with."
            )
        if data != "private" and given is not None:
            raise ValueError(
                f"data={data!r} with a ledger: a ledger belongs to private data. Leave the ledger "
                "out, or say data='private'."
            )
        promised = {n: parameters[n] for n in ("delta", "adjacency") if n in parameters}
        self._ledger = None if given is None else named_ledger(given, **promised)
        self.data = data
        self._estimator, self._records = estimator, (X, y)

    @property
    def private(self) -> bool:
        """Whether each fit uses budget and needs confirmation.

        Returns
        -------
        bool
        """
        return self.data == "private"

    @property
    def ledger(self) -> LedgerSummary | None:
        """Current summary of the private data's ledger.

        Returns
        -------
        LedgerSummary or None
            The summary; None if the data are not private.
        """
        return self._ledger.summary() if self._ledger is not None else None

    def question(self, epsilons: Sequence[float]) -> str:
        """Describe the cost of fits before anything is spent.

        Parameters
        ----------
        epsilons : sequence of float
            Epsilon of each fit.

        Returns
        -------
        str
            A question that asks the user to confirm the fits; "" if they cost nothing.

        Raises
        ------
        BudgetError
            If the ledger cannot cover all fits; nothing is spent.
        """
        if not self.private:
            return ""
        assert self._ledger is not None
        events = [
            event
            for epsilon in epsilons
            for event in self._copy(epsilon).planned_events(self._records[0])
        ]
        if not self._ledger.affordable(events):
            raise BudgetError(
                f"the ledger {self._ledger.dataset!r} does not cover this: ε = "
                f"{upper_number(self._ledger.private_epsilon())} of "
                f"{self._ledger.cap_epsilon:.4g} is spent."
            )
        listed = ", ".join(map(upper_number, epsilons))
        return (
            f"Fit private records at ε = {listed}? This permanently charges the ledger "
            f"{self._ledger.dataset!r}, where ε = "
            f"{upper_number(self._ledger.private_epsilon())} of "
            f"{self._ledger.cap_epsilon:.4g} is spent."
        )

    @without_records
    def __call__(self, epsilon: float) -> GlobalExplanation:
        """Fit the estimator at an epsilon, and explain the fitted model.

        For private data, the ledger is charged before the data are read.

        Parameters
        ----------
        epsilon : float
            Epsilon of the fit, which must be positive.

        Returns
        -------
        GlobalExplanation
            Explanation of the fit. For stand-in data, it omits the effect estimate, which takes
            the longest to compute.
        """
        with contextlib.nullcontext() if self.private else unlisted():
            model = self._copy(epsilon).fit(*self._records)
        # A fit must not take seconds while the user drags epsilon, so the effect is left out.
        quick = not self.private and "effect" in signature(model.explain_global).parameters
        explanation: GlobalExplanation = model.explain_global(
            **({"effect": False} if quick else {})
        )
        return explanation

    def _copy(self, epsilon: float) -> Any:
        allow_weak = bool(self._estimator.get_params(deep=False).get("allow_weak", False))
        checked = check_epsilon(epsilon, allow_weak=allow_weak)
        return unfitted_copy(self._estimator, epsilon=checked, ledger=self._ledger)

    def __repr__(self) -> str:
        """Return the name of the estimator and the kind of data, without any values."""
        return f"Refitter({type(self._estimator).__name__}, data={self.data!r})"
