"""Attacks on accounting: releases beyond the charge, and charges that nobody counts."""

from __future__ import annotations

import contextlib
import copy
import itertools
import math
import os
import pickle
import re
import signal
import subprocess
import sys
import textwrap
import threading
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partialmethod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mpmath
import numpy as np
import pytest
from sklearn.base import clone

import dpexplain.accounting.summary as summaries
import dpexplain.compare.changes as changes
import dpexplain.models as models
from attack_kit import (
    PRIVATE,
    Attack,
    Finding,
    estimator,
    first_find,
    is_pure,
    nothing_is_refused,
    replayed,
    table,
    takes_samples,
)
from dpexplain import Comparison, DPBoostedTreesClassifier, PrivacyLedger
from dpexplain.accounting import (
    DiscreteLaplaceEvent,
    GaussianEvent,
    LaplaceEvent,
    LedgerSummary,
    PureEvent,
    SubsampledGaussianEvent,
    gdp,
)
from dpexplain.audit import record, recording
from dpexplain.audit.records import without
from dpexplain.compare import releasable
from dpexplain.exceptions import BudgetError, PrivacyWarning
from dpexplain.explain import GlobalExplanation
from dpexplain.mechanisms import ChoicePhase, LaplacePhase, Mechanism
from dpexplain.models.private import PrivateEstimator

_honest_begin = Mechanism.begin
_honest_charge = PrivacyLedger.charge


def _released(phases: Iterable[Any]) -> float:
    """Return mu for the noise that was actually drawn, or epsilon for pure releases."""
    pure = [p for p in phases if isinstance(p, LaplacePhase | ChoicePhase)]
    if pure:
        # Of what is drawn: the scale of Laplace noise is rounded up to whole steps.
        return math.fsum(float(p.exact_epsilon) / p.n_disjoint for p in pure)
    return math.sqrt(math.fsum(p.noise_multiplier**-2 for p in phases))


def _scale(phase: Any) -> float:
    """Return the noise scale in units of the sensitivity, or its equivalent for choices."""
    return 1.0 / phase.epsilon if isinstance(phase, ChoicePhase) else phase.noise_multiplier


def _charged_mu(events: Iterable[Any], n_changed: int = 1) -> float:
    """Return the charged mu, assuming that every sample contains all records."""
    squares = [
        e.mu**2 if isinstance(e, GaussianEvent) else e.count * (n_changed / e.noise_multiplier) ** 2
        for e in events
        if isinstance(e, GaussianEvent | SubsampledGaussianEvent)
    ]
    return math.sqrt(math.fsum(squares))


def _charged_epsilon(events: Iterable[Any]) -> float:
    """Return the sum of the epsilons charged for pure releases."""
    noisy = [e for e in events if isinstance(e, LaplaceEvent | DiscreteLaplaceEvent)]
    laplace = [e.count / e.noise_multiplier for e in noisy]
    choices = [e.count * e.epsilon for e in events if isinstance(e, PureEvent)]
    return math.fsum([*laplace, *choices])


# --- parameters that change while a fit runs ---------------------------------------------------


class _Meddler(PrivacyLedger):
    """Thread that raises an estimator's epsilon as soon as a small one was charged."""

    victim: Any = None

    def charge(self, *arguments: Any, **settings: Any) -> Any:
        entry = _honest_charge(self, *arguments, **settings)
        racer = threading.Thread(target=self.victim.set_params, kwargs={"epsilon": 40.0})
        racer.start()
        racer.join()
        return entry


# Ledgers of one name warn of each other, and each attempt is a data set of its own.
_ATTEMPTS = itertools.count()


def parameters_that_race(name: str) -> Finding:
    """Set epsilon to 40 from another thread right after 0.1 was charged for a fit."""
    ledger = _Meddler("patients")
    fitted = estimator(name, epsilon=0.1, ledger=ledger, allow_weak=True)
    ledger.victim = fitted
    scales: list[float] = []

    def noted(self: Mechanism, phase: Any) -> None:
        scales.append(_scale(phase))
        _honest_begin(self, phase)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Mechanism, "begin", noted)
        estimator(name, epsilon=0.1).fit(*table(name, 50))
        planned = min(scales)
        scales.clear()
        fitted.fit(*table(name, 50))
    ledger.victim = None  # a ring of references would outlive this attempt, and its ledger warn
    return Finding(
        min(scales) < 0.5 * planned,
        f"noise of {min(scales):.3g} sensitivities, where {planned:.3g} were charged",
    )


def parameters_are_read_again(patch: pytest.MonkeyPatch) -> None:
    """Keep epsilon outside the object, where no copy can preserve it."""
    nothing_is_refused(patch)
    held: dict[str, Any] = {}
    prop = property(lambda self: held["epsilon"], lambda self, value: held.update(epsilon=value))
    patch.setattr(PrivateEstimator, "epsilon", prop, raising=False)


# --- released against charged ------------------------------------------------------------------


def more_than_charged(name: str) -> Finding:
    """Add up the noise that was actually drawn, and compare it with the ledger."""

    def attempts() -> Any:
        for settings in ({}, {"adjacency": "replace"}, {"epsilon": 8.0}, {"epsilon": 0.01}):
            model, transcript = record(estimator(name, **settings), *table(name, 60))
            events = [e for entry in model.ledger_.entries for e in entry.events]
            released = _released(transcript.phases)
            if is_pure(name):
                charged, stated = _charged_epsilon(events), model.stated_guarantee_.epsilon
            else:
                charged = _charged_mu(events, 2 if "adjacency" in settings else 1)
                stated = model.stated_guarantee_.mu
            yield Finding(
                released > min(charged, stated) * (1 + 1e-9),
                f"released {released:.5g}, charged {charged:.5g}, stated {stated:.5g}",
            )

    return first_find(attempts())


def less_noise_than_charged(patch: pytest.MonkeyPatch) -> None:
    nothing_is_refused(patch)
    patch.setattr(
        Mechanism,
        "begin",
        lambda self, phase: _honest_begin(self, phase.with_noise(1.0 / 1.01)),
    )


def limits_of_epsilon(name: str) -> Finding:
    """State epsilons and deltas near every limit: does the exact delta exceed them?"""

    def attempts() -> Any:
        for epsilon in (1e-4, 0.01, 1.0, 10.0):
            for delta in (1e-15, 1e-6, 0.49):
                fitted = estimator(name, epsilon=epsilon, delta=delta)
                with warnings.catch_warnings():  # of a large delta
                    warnings.simplefilter("ignore", PrivacyWarning)
                    events = fitted.planned_events(table(name, 3)[0])
                exact = _exact_delta(_charged_mu(events), epsilon)
                yield Finding(
                    bool(exact > delta), f"delta {float(exact):.9g} for {delta:g} at {epsilon:g}"
                )

    return first_find(attempts())


def _exact_delta(mu: float, epsilon: float) -> Any:
    """Delta of the Gaussian mechanism with 60 digits (Balle and Wang 2018, Theorem 8)."""
    with mpmath.workdps(60):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return mpmath.ncdf(-e / m + m / 2) - mpmath.exp(e) * mpmath.ncdf(-e / m - m / 2)


def mu_rounded_up(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(gdp, "_MU_MARGIN", -1e-7)
    patch.setattr(gdp, "_largest_mu", gdp._largest_mu.__wrapped__)  # what is remembered is right


def numbers_of_few_digits(name: str) -> Finding:
    """Give a share of the budget in half precision: do the shares add up to more than it?"""
    fitted = estimator(name, epsilon=1.3, bin_budget_frac=np.float16(0.3))
    exact = _exact_delta(_charged_mu(fitted.planned_events(table(name, 3)[0])), 1.3)
    return Finding(bool(exact > fitted.delta), f"delta {float(exact):.9g} for {fitted.delta:g}")


def numbers_stay_as_they_are(patch: pytest.MonkeyPatch) -> None:
    def copied(self: Any) -> Any:
        other = type(self).__new__(type(self))
        vars(other).update(vars(self))
        return other

    patch.setattr(PrivateEstimator, "_with_plain_numbers", copied)


# --- records and persons -----------------------------------------------------------------------


def total_of_records_for_persons(name: str) -> Finding:
    """Protect records in one fit and persons in the next: is the total about persons?

    A person may have had any number of rows in the first fit.
    """
    ledger, (X, y) = PrivacyLedger("patients"), table(name, 30)
    estimator(name, ledger=ledger).fit(X, y)
    bounded = estimator(name, ledger=ledger, max_rows_per_person=4)
    model = bounded.fit(X, y, groups=[row // 10 for row in range(30)])
    statement = model.statement()
    said = f"{statement.unit}: {statement.everything.covers}"
    return Finding("person" in statement.unit and statement.everything.private, said)


def total_without_a_unit(patch: pytest.MonkeyPatch) -> None:
    honest = LedgerSummary.total_for
    patch.setattr(LedgerSummary, "total_for", lambda self, unit: honest(self, "one record"))


def total_of_a_comparison(_: str) -> Finding:
    """Compare fits with another unit or adjacency, or beside another ledger: is there a total?

    The second person-level row of somebody replaces one that is in use, and a fit with pure epsilon
    costs what a ledger says only if that ledger holds it.
    """

    def attempts() -> Any:
        boosted, forest = "DPExplainableBoostingClassifier", "DPRandomForestClassifier"
        X, y = table(boosted, 30)
        persons = {"groups": ("patient", list(range(30)))}
        for name, other, given in (
            (boosted, {"max_rows_per_person": 1}, persons),
            (boosted, {"adjacency": "replace"}, {}),
            (forest, {}, {}),
        ):
            first = estimator(name, epsilon=1.0).fit(X, y).explain_global()
            second = estimator(name, epsilon=2.0, **other).fit(X, y, **given).explain_global()
            ledger, said = PrivacyLedger("patients").summary(), ""
            with contextlib.suppress(ValueError):
                fits = {1.0: (first,), 2.0: (second,)}
                said = Comparison((1.0, 2.0), fits, ledger=ledger).guarantee_words[1]
            yield Finding(said != "", f"{name}, {other}: {said}")
        ledger, fits = PrivacyLedger("patients and wards"), {}
        for epsilon, people in ((1.0, list(range(30))), (2.0, [row // 5 for row in range(30)])):
            model = estimator(boosted, epsilon=epsilon, ledger=ledger, max_rows_per_person=1)
            fits[epsilon] = (model.fit(X, y, groups=people).explain_global(),)
        said = Comparison((1.0, 2.0), fits, ledger=ledger.summary()).guarantee_words[1]
        yield Finding("no total" not in said, f"groupings without names: {said}")
        with contextlib.suppress(ValueError):
            dearer = estimator(boosted, epsilon=8.0).fit(X, y).explain_global()
            cheap = replace(dearer.guarantee, epsilon=1.0, mu=None)
            yield Finding(releasable(replace(dearer, guarantee=cheap)) is not None, str(cheap))

    return first_find(attempts())


def guarantees_are_not_compared(patch: pytest.MonkeyPatch) -> None:
    for owner in (Comparison, GlobalExplanation):
        patch.setattr(owner, "_check_guarantees", lambda self: None)


def words_of_a_total(_: str) -> Finding:
    """Round what is said about a ledger: does any text state less than was spent?"""

    def attempts() -> Any:
        for multiplier in (2.3, 3.97, 4.2, 16.03):
            ledger = PrivacyLedger(f"rounded {multiplier}")
            ledger.charge([GaussianEvent("counts", noise_multiplier=multiplier)], label="counts")
            spent, summary = ledger.private_epsilon(), ledger.summary()
            for text in (summary.words(), str(summary), repr(ledger), ledger.statement().text()):
                stated = re.findall(r"epsilon (?:= )?([0-9.]*[0-9])", text)
                least = min(map(float, stated))
                yield Finding(least < spent, f"{least} is stated, and {spent:.6g} was spent")

    return first_find(attempts())


def words_of_a_change(_: str) -> Finding:
    """Claim a change between two fits of one epsilon: does the sentence have that epsilon alone?"""
    name, fits = "DPExplainableBoostingClassifier", {}
    data = table(name, 60)
    for year in ("2023", "2024"):
        fits[year] = estimator(name, epsilon=1.0).fit(*data).explain_global()
    words = changes.claim_change(fits, "job", "nurse", "smith").words
    return Finding(words.startswith("At ε = 1, "), words)


def one_epsilon_for_both(patch: pytest.MonkeyPatch) -> None:
    honest = changes._words
    patch.setattr(changes, "_words", lambda *given: honest(*given).replace(" in each fit, ", ", "))


def rounded_to_the_nearest(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(summaries, "upper_number", lambda value: f"{value:.4g}")


# --- one budget spent twice --------------------------------------------------------------------

_COPIES: dict[str, Callable[[PrivacyLedger], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "clone": clone,
    "pickle": lambda ledger: pickle.loads(pickle.dumps(ledger)),
    "clone of an estimator": lambda ledger: _in_an_estimator(ledger, clone),
    "deepcopy of an estimator": lambda ledger: _in_an_estimator(ledger, copy.deepcopy),
    "pickle of an estimator": lambda ledger: _in_an_estimator(
        ledger, lambda fitted: pickle.loads(pickle.dumps(fitted))
    ),
    "deepcopy in a container": lambda ledger: copy.deepcopy({"a": [ledger]})["a"][0],
}


def _in_an_estimator(ledger: PrivacyLedger, copied: Callable[[Any], Any]) -> PrivacyLedger:
    return copied(estimator("DPExplainableBoostingClassifier", ledger=ledger)).ledger


def copies_of_a_ledger(_: str) -> Finding:
    """Copy a ledger in every possible way, spend through the copy, and ask the original."""

    def attempts() -> Any:
        event = GaussianEvent("counts", noise_multiplier=20.0)
        for way, copied in _COPIES.items():
            ledger = PrivacyLedger(f"patients, {way}, attempt {next(_ATTEMPTS)}", cap_epsilon=1.0)
            other, spent = copied(ledger), 0
            with contextlib.suppress(BudgetError):
                while True:
                    other.charge([event], label="through a copy")
                    spent += 1
            known = len(ledger.entries)
            yield Finding(known < spent, f"{way}: {spent} releases, {known} of them known")

    return first_find(attempts())


def ledgers_are_copied(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        PrivacyLedger, "__deepcopy__", lambda self, memo: PrivacyLedger.from_json(self.to_json())
    )


# --- what an earlier fit leaves ----------------------------------------------------------------


def warm_start(name: str) -> Finding:
    """Fit other records first: does anything about them reach the second fit?"""
    warm, fresh = estimator(name), estimator(name)
    warm.fit(*table(name, 80, seed=1))
    data = table(name, 40, seed=2)
    with pytest.MonkeyPatch.context() as patch:
        # The harness fits clones, which would have forgotten the fit before.
        patch.setattr(
            recording, "unfitted_copy", lambda fitted, **changed: fitted.set_params(**changed)
        )
        return replayed(fresh, data, data, allowed=0.0, refitted=warm)


class _Held:
    """Table hidden from the harness: only queries show what is in it."""

    __slots__ = ("table",)

    def __init__(self, table: Any) -> None:
        self.table = table

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held)

    __hash__ = None  # type: ignore[assignment]


def first_table_is_kept(patch: pytest.MonkeyPatch) -> None:
    """Keep the encoded table in a cache that is never cleared."""
    for name in PRIVATE:
        owner = getattr(models, name)

        def fit_released(self: Any, X: Any, y: Any, *rest: Any, _honest: Any) -> None:
            held = vars(self).setdefault("cache", _Held((X, y)))
            _honest(self, *held.table, *rest)

        patch.setattr(
            owner, "_fit_released", partialmethod(fit_released, _honest=owner._fit_released)
        )


# --- what is chosen by a released number ------------------------------------------------------


def alpha_of_a_node(name: str) -> Finding:
    """Calibrate splits by released weights; compare the noise of each split, answers forced."""
    settings = {"criterion": "m_alpha", "calibration": "weight", "n_public": 60}
    fitted, data = estimator(name, epsilon=4.0, **settings), table(name, 60)
    return first_find(
        replayed(fitted, data, without(data, row), extreme_seed=seed)
        for row in (0, 59)
        for seed in (None, 1, 2)
    )


def alpha_of_the_exact_weight(patch: pytest.MonkeyPatch) -> None:
    class Exact:
        phase, release = contextlib.nullcontext, np.asarray

    honest = DPBoostedTreesClassifier._alphas

    def alphas(self: Any, sums: Any, candidates: Any, level: int, mechanism: Any) -> Any:
        honest(self, sums, candidates, level, mechanism)
        return honest(self, sums, candidates, level, Exact)

    patch.setattr(DPBoostedTreesClassifier, "_alphas", alphas)


def _calibrates_no_split(name: str) -> bool:
    return "calibration" not in estimator(name).get_params()


# --- a process that dies -----------------------------------------------------------------------

_CRASH = """
    import os, signal, sys
    sys.path[:0] = {paths!r}
    from attack_kit import estimator, table
    from dpexplain import PrivacyLedger, sweep
    from dpexplain.mechanisms import ChoicePhase, Mechanism, LaplacePhase

    ledger = PrivacyLedger("patients", cap_epsilon=100, path=sys.argv[1])
    if {mutant!r}:  # the mistake: a fit is charged when it is done
        charge, charge_all = PrivacyLedger.charge, PrivacyLedger.charge_all
        PrivacyLedger.charge = PrivacyLedger.charge_all = lambda self, *a, **k: None

    releases = [0]
    honest = Mechanism.release

    def release(self, query):
        answer = honest(self, query)
        releases[0] += 1
        if releases[0] == int(sys.argv[2]):
            print("released", flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    Mechanism.release = release
    fitted, data = estimator({name!r}, ledger=ledger), table({name!r}, 60)
    if sys.argv[3] == "sweep":
        sweep(fitted, *data, epsilons=(0.5, 1, 2), reference=False, progress=False, n_jobs=2)
    else:
        fitted.fit(*data)
"""
_CHARGED_LATE = False


def crash(name: str) -> Finding:
    """Kill the process after a release, in a fit and in a sweep with threads."""
    return first_find(_crashed(name, what, after) for what, after in (("fit", 1), ("sweep", 9)))


def _crashed(name: str, what: str, after: int) -> Finding:
    here = Path(__file__).resolve().parent
    paths = [str(here), str(here.parents[1])]
    script = textwrap.dedent(_CRASH).format(paths=paths, name=name, mutant=_CHARGED_LATE)
    with TemporaryDirectory() as folder:
        path = os.path.join(folder, "ledger.json")
        done = subprocess.run(
            [sys.executable, "-c", script, path, str(after), what],
            capture_output=True,
            text=True,
            check=False,
        )
        assert "released" in done.stdout, done.stderr
        assert done.returncode == -signal.SIGKILL
        entries = len(PrivacyLedger.open(path).entries)
    expected = 3 if what == "sweep" else 1
    return Finding(entries < expected, f"{what}: {entries} of {expected} charges survived")


def charged_when_done(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(globals(), "_CHARGED_LATE", True)


ATTACKS = [
    Attack(
        "epsilon is raised by another thread after the charge",
        parameters_that_race,
        parameters_are_read_again,
        "epsilon is read again after the charge",
    ),
    Attack(
        "more is released than was charged and stated",
        more_than_charged,
        less_noise_than_charged,
        "noise 1% smaller than charged",
    ),
    Attack(
        "one record decides the alpha of a node, and so the noise of its split",
        alpha_of_a_node,
        alpha_of_the_exact_weight,
        "alpha is the exact share of the weight, not the released one",
        leaves_out=_calibrates_no_split,
    ),
    Attack(
        "epsilon and delta at the limits of arithmetic",
        limits_of_epsilon,
        mu_rounded_up,
        "mu rounded up by a share of 1e-7",
        leaves_out=lambda name: takes_samples(name) or is_pure(name),
    ),
    Attack(
        "shares of the budget in half precision add up to more than it",
        numbers_of_few_digits,
        numbers_stay_as_they_are,
        "parameters keep the type in which they were given",
        leaves_out=lambda name: not name.endswith(("LinearRegression", "LogisticRegression")),
    ),
    Attack(
        "the total of fits that protect records is stated for persons",
        total_of_records_for_persons,
        total_without_a_unit,
        "the unit of one model is taken for that of the ledger",
    ),
    Attack(
        "a text states less than was spent",
        words_of_a_total,
        rounded_to_the_nearest,
        "totals are rounded to the nearest number",
        every_model=False,
    ),
    Attack(
        "a sentence about two fits states the epsilon of one",
        words_of_a_change,
        one_epsilon_for_both,
        "an epsilon that two fits have is stated once",
        every_model=False,
    ),
    Attack(
        "fits that protect others, or that no ledger holds, have one total",
        total_of_a_comparison,
        guarantees_are_not_compared,
        "a comparison does not look at what its fits protect",
        every_model=False,
    ),
    Attack(
        "records of an earlier fit reach the next one",
        warm_start,
        first_table_is_kept,
        "the table of the first fit is kept",
    ),
    Attack(
        "a budget is spent again through a copy of the ledger",
        copies_of_a_ledger,
        ledgers_are_copied,
        "a deep copy of a ledger is a separate ledger",
        every_model=False,
    ),
    Attack(
        "the process is killed in the middle of a fit or sweep",
        crash,
        charged_when_done,
        "a fit is charged when it is done",
        every_model=False,
    ),
]
