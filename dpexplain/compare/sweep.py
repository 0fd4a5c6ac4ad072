"""Fit one estimator at several epsilons, after paying for all of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import Any, NamedTuple

import pandas as pd

from dpexplain._validation import check_count, check_epsilon
from dpexplain.accounting.events import NonPrivateEvent
from dpexplain.accounting.ledger import PrivacyLedger
from dpexplain.compare._metrics import measure
from dpexplain.compare.comparison import Comparison
from dpexplain.explain import GlobalExplanation

DEFAULT_EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


class _Fit(NamedTuple):
    """One model to be fitted, named by its place in the sweep."""

    epsilon: float
    repeat: int
    estimator: Any


class _Result(NamedTuple):
    epsilon: float
    repeat: int
    explanation: GlobalExplanation
    metric: tuple[str, float] | None


def sweep(
    estimator: Any,
    X: Any,
    y: Any,
    epsilons: Sequence[float] = DEFAULT_EPSILONS,
    n_repeats: int = 1,
    reference: bool = True,
    evaluate: tuple[Any, Any] | None = None,
    ledger: PrivacyLedger | None = None,
    n_jobs: int | None = None,
    structure_seed: int | None = None,
    progress: bool = True,
) -> Comparison:
    """Fit clones of an estimator at several epsilons and compare what they explain.

    Every fit spends its epsilon on the same data. All of them are checked and charged to the
    ledger at once, before any data are read: a sweep that is refused costs nothing, and one
    that starts stays charged whatever happens later.

    Parameters
    ----------
    estimator : private estimator
        Unfitted; it is cloned, never changed. Its other parameters hold for all fits.
    X : DataFrame or ndarray of shape (n_samples, n_features)
        Private records.
    y : array-like of shape (n_samples,)
        Private labels or targets.
    epsilons : sequence of float, default=(0.25, 0.5, 1, 2, 4, 8)
        Distinct and positive, in any order.
    n_repeats : int, default=1
        Private fits for each epsilon. Each of them is paid for.
    reference : bool, default=True
        Whether to fit the non-private twin as well. It is not private: the ledger's total
        becomes infinite, while its private releases are still counted on their own.
    evaluate : tuple of (X, y) or None, default=None
        Held-out records. Metrics measured on them are diagnostics, not private releases.
    ledger : PrivacyLedger or None, default=None
        Charged for the whole sweep; None takes the estimator's, or opens one for this sweep.
    n_jobs : int or None, default=None
        Threads that fit at the same time; -1 for one per core.
    structure_seed : int or None, default=None
        Public seed of the random structure. Repeat ``r`` uses ``structure_seed + r`` at every
        epsilon, so that fits of one repeat differ by their noise only. None leaves the
        estimator's own seed.
    progress : bool, default=True
        Whether to show a bar that counts finished fits, and nothing else.

    Returns
    -------
    Comparison
        Explanations by epsilon, the reference, metrics, and the ledger after the sweep.

    Raises
    ------
    ValueError
        If a parameter or a column name is wrong; nothing is spent.
    BudgetError
        If the ledger cannot pay for the whole sweep; nothing is spent.
    RuntimeError
        If a fit fails after the sweep was charged.

    Examples
    --------
    >>> comparison = sweep(estimator, X, y, epsilons=(0.5, 1, 2))  # doctest: +SKIP
    >>> comparison.explanations[0.5][0].importances()  # doctest: +SKIP
    """
    _check_estimator(estimator)
    check_count("n_repeats", n_repeats)
    ascending = _checked_epsilons(epsilons, estimator)
    seed = None if structure_seed is None else check_count("structure_seed", structure_seed, 0)
    _check_n_jobs(n_jobs)
    held_out = _checked_evaluate(evaluate)
    _check_lengths("X and y", X, y)
    payer = _checked_ledger(ledger, estimator)

    fits = _plan(estimator, ascending, n_repeats, seed)
    events = [event for fit in fits for event in fit.estimator.planned_events(X)]
    if held_out is not None:
        fits[0].estimator.planned_events(held_out[0])  # the same columns are needed there
    if reference:
        fits.append(_reference_fit(estimator, seed))
        events.append(NonPrivateEvent("reference", "non-private twin fitted for comparison"))

    _charge(payer, events, X, y, label=_label(ascending, n_repeats), estimator=estimator)
    results = _fit_all(fits, X, y, held_out, n_jobs, progress)
    return _comparison(ascending, results, payer, estimator)


def _check_estimator(estimator: Any) -> None:
    needed = ("planned_events", "reference_estimator", "get_params", "set_params")
    if isinstance(estimator, type) or not all(hasattr(estimator, name) for name in needed):
        raise ValueError(
            f"estimator={type(estimator).__name__} is not a private estimator; pass an instance "
            "such as DPExplainableBoostingClassifier(schema=schema)."
        )


def _checked_epsilons(epsilons: Any, estimator: Any) -> tuple[float, ...]:
    if isinstance(epsilons, (str, bytes)) or not hasattr(epsilons, "__iter__"):
        raise ValueError("epsilons must be a sequence of numbers, such as (0.5, 1, 2).")
    allow_weak = bool(estimator.get_params(deep=False).get("allow_weak", False))
    values = [check_epsilon(epsilon, allow_weak=allow_weak) for epsilon in epsilons]
    if not values:
        raise ValueError("epsilons is empty; give at least one, such as (0.5, 1, 2).")
    if len(set(values)) < len(values):
        raise ValueError(
            "epsilons has a value twice; for several fits at one epsilon use n_repeats."
        )
    return tuple(sorted(values))


def _check_n_jobs(n_jobs: object) -> None:
    whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not whole or n_jobs == 0):
        raise ValueError(f"n_jobs={n_jobs!r} must be None, a positive number of threads, or -1.")


def _checked_evaluate(evaluate: Any) -> tuple[Any, Any] | None:
    if evaluate is None:
        return None
    if not isinstance(evaluate, (tuple, list)) or len(evaluate) != 2:
        raise ValueError("evaluate must be a pair (X_test, y_test), or None.")
    _check_lengths("X and y of evaluate", *evaluate)
    return (evaluate[0], evaluate[1])


def _check_lengths(what: str, X: Any, y: Any) -> None:
    """Compare lengths by shape alone; the numbers themselves stay out of the message."""
    if _length(X) != _length(y):
        raise ValueError(f"{what} must have the same number of rows.")


def _length(values: Any) -> int:
    shape = getattr(values, "shape", None)
    return int(shape[0]) if shape else len(values)


def _checked_ledger(ledger: PrivacyLedger | None, estimator: Any) -> PrivacyLedger:
    """Find out who pays: the argument, the estimator's ledger, or one for this sweep."""
    parameters = estimator.get_params(deep=False)
    own = parameters.get("ledger")
    if ledger is not None and own is not None and ledger is not own:
        raise ValueError(
            "ledger differs from the ledger of the estimator; give one of them, because all "
            "fits on a data set belong into one ledger."
        )
    shared = own if ledger is None else ledger
    if shared is not None and not isinstance(shared, PrivacyLedger):
        raise ValueError(f"ledger must be a PrivacyLedger, got {type(shared).__name__}.")
    if shared is not None and parameters.get("reproducible_seed") is not None:
        raise ValueError(
            "reproducible_seed makes models NOT PRIVATE, so a shared ledger takes none of them; "
            "leave out the seed, or the ledger."
        )
    if shared is not None:
        return shared
    return PrivacyLedger(
        "this sweep alone",
        delta=parameters.get("delta", 1e-6),
        adjacency=parameters.get("adjacency", "add_remove"),
    )


def _plan(
    estimator: Any, epsilons: tuple[float, ...], n_repeats: int, seed: int | None
) -> list[_Fit]:
    from sklearn.base import clone

    noise_seed = estimator.get_params(deep=False).get("reproducible_seed")
    fits = []
    for epsilon in epsilons:
        for repeat in range(n_repeats):
            copy = clone(estimator).set_params(epsilon=epsilon, ledger=None)
            if seed is not None:
                copy.set_params(structure_seed=seed + repeat)
            if noise_seed is not None:  # repeats must differ in their noise
                copy.set_params(reproducible_seed=noise_seed + repeat)
            fits.append(_Fit(epsilon, repeat, copy))
    return fits


def _reference_fit(estimator: Any, seed: int | None) -> _Fit:
    twin = estimator.reference_estimator()
    if seed is not None and "structure_seed" in twin.get_params(deep=False):
        twin.set_params(structure_seed=seed)
    return _Fit(math.inf, 0, twin)


def _label(epsilons: tuple[float, ...], n_repeats: int) -> str:
    times = f", {n_repeats} times each" if n_repeats > 1 else ""
    return f"sweep over ε = {', '.join(f'{epsilon:g}' for epsilon in epsilons)}{times}"


def _charge(
    ledger: PrivacyLedger, events: list[Any], X: Any, y: Any, *, label: str, estimator: Any
) -> None:
    """Pay for everything at once; data that cannot be paid for are not even looked at."""
    adjacency = estimator.get_params(deep=False).get("adjacency", "add_remove")
    if ledger.affordable(events):
        ledger.recognise(X, y)
    ledger.charge(events, label=label, adjacency=adjacency)


def _fit_all(
    fits: list[_Fit],
    X: Any,
    y: Any,
    held_out: tuple[Any, Any] | None,
    n_jobs: int | None,
    show: bool,
) -> list[_Result]:
    from joblib import Parallel, delayed

    failure = ""
    results: list[_Result] = []
    with _progress_bar(len(fits), show) as count:
        # Threads share the data; processes would copy them and could write them to disk.
        work = Parallel(n_jobs=n_jobs, require="sharedmem")
        try:
            results = work(delayed(_fit_one)(fit, X, y, held_out, count) for fit in fits)
        except Exception as error:
            failure = type(error).__name__
    if failure:
        # Raised out here so that it carries no chained traceback, whose text or local
        # variables could hold records.
        raise RuntimeError(
            f"a fit of the sweep failed with {failure}; the sweep stays charged. Fit the "
            "estimator once on public or made-up data to see the whole message."
        )
    return results


def _fit_one(fit: _Fit, X: Any, y: Any, held_out: tuple[Any, Any] | None, count: Any) -> _Result:
    model = fit.estimator.fit(X, y)
    explanation = model.explain_global()
    metric = None if held_out is None else measure(model, *held_out)
    count()
    return _Result(fit.epsilon, fit.repeat, explanation, metric)


@contextmanager
def _progress_bar(total: int, show: bool) -> Iterator[Any]:
    """Count fits; losses or timings of private fits would be releases of their own."""
    if not show:
        yield lambda: None
        return
    from tqdm.auto import tqdm

    with tqdm(total=total, desc="sweep", unit="fit") as bar:
        yield lambda: bar.update(1)


def _comparison(
    epsilons: tuple[float, ...], results: list[_Result], ledger: PrivacyLedger, estimator: Any
) -> Comparison:
    by_place = {(result.epsilon, result.repeat): result.explanation for result in results}
    explanations = {
        epsilon: tuple(by_place[place] for place in sorted(by_place) if place[0] == epsilon)
        for epsilon in epsilons
    }
    first = explanations[epsilons[0]][0]
    return Comparison(
        epsilons,
        explanations,
        reference=by_place.get((math.inf, 0)),
        metrics=_metrics(results),
        ledger=ledger.summary(),
        title=f"{first.model_name or type(estimator).__name__}: {first.target_name}",
    )


def _metrics(results: list[_Result]) -> pd.DataFrame | None:
    rows = [
        (result.epsilon, result.repeat, *result.metric, False)
        for result in results
        if result.metric is not None
    ]
    columns = ["epsilon", "repeat", "metric", "value", "private"]
    return pd.DataFrame(rows, columns=columns) if rows else None
