"""Fit one estimator at several epsilons; all fits are charged in advance."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import replace
from typing import Any, NamedTuple

import pandas as pd

from dpexplain._utils.blas import one_blas_thread
from dpexplain._utils.cloning import unfitted_copy
from dpexplain._utils.tracebacks import without_records
from dpexplain._utils.validation import check_count, telling_once
from dpexplain.accounting._ledger.process import unlisted
from dpexplain.accounting.events import NonPrivateEvent
from dpexplain.accounting.ledger import PrivacyLedger
from dpexplain.compare._checks import (
    check_estimator,
    check_n_jobs,
    check_parts,
    check_reference,
    check_rows,
    checked_epsilons,
    checked_evaluate,
    checked_groups,
    find_payer,
)
from dpexplain.compare._fits import SAMPLED
from dpexplain.compare._metrics import accuracy, measure, read_targets
from dpexplain.compare.comparison import Comparison
from dpexplain.compare.filters import FilterComparison
from dpexplain.compare.multiclass import MulticlassComparison
from dpexplain.explain import FilterBank, GlobalExplanation, MulticlassExplanation
from dpexplain.explain._normals import keeping_normals
from dpexplain.explain.health import warn_of_alarms
from dpexplain.schema import Schema
from dpexplain.tables.chunked import sample_of
from dpexplain.tables.groups import groups_or_declared, warn_of_persons, without_groups
from dpexplain.tables.opening import chunked_table
from dpexplain.tables.targets import split_target

_BAR = "sweep: {bar} {n_fmt}/{total_fmt} fits"  # tqdm's own format shows how long fits take

DEFAULT_EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


class _Fit(NamedTuple):
    """Epsilon, repeat and unfitted estimator for one fit in a sweep."""

    epsilon: float
    repeat: int
    estimator: Any


class _Data(NamedTuple):
    X: Any
    y: Any
    groups: Any
    held_out: tuple[Any, Any] | None
    reference_rows: int | None = None
    schema: Schema | None = None
    seed: int | None = None

    def __repr__(self) -> str:
        """Show no record: a traceback or a log may contain this text."""
        return "_Data(records not shown)"

    def of_reference(self) -> tuple[Any, Any]:
        """Return the records of the reference, which may be a sample."""
        if self.reference_rows is None or self.schema is None:
            return self.X, self.y
        chunks = chunked_table(self.X).chunks(self.y, self.schema)
        return sample_of(chunks, self.reference_rows, self.seed)


class _Result(NamedTuple):
    epsilon: float
    repeat: int
    explanation: GlobalExplanation | MulticlassExplanation | FilterBank | None
    metrics: tuple[tuple[str, float], ...]
    failure: str = ""


@without_records
def sweep(
    estimator: Any,
    X: Any,
    y: Any,
    epsilons: Sequence[float] = DEFAULT_EPSILONS,
    n_repeats: int = 1,
    reference: bool = True,
    evaluate: tuple[Any, Any] | None = None,
    ledger: PrivacyLedger | str | None = None,
    n_jobs: int | None = None,
    structure_seed: int | None = None,
    progress: bool = True,
    groups: Any = None,
    reference_rows: int | None = None,
) -> Comparison | MulticlassComparison | FilterComparison:
    """Fit clones of an estimator at several epsilons, and compare their explanations.

    Every fit spends its epsilon on the same data. All fits are checked and charged to the ledger
    in one step, before any data are read: a rejected sweep costs nothing, and a sweep that has
    started remains charged whatever happens later.

    Parameters
    ----------
    estimator : private estimator
        Unfitted estimator, which is cloned and never changed. Its parameters other than epsilon
        apply to all fits.
    X : DataFrame or ndarray of shape (n_samples, n_features)
        Private records. A table read in parts (a Parquet path, a pyarrow dataset, a Dask
        collection) is reread for every fit, and needs ``reference_rows`` or ``reference=False``.
    y : str or array-like of shape (n_samples,)
        Private labels or targets, or the name of their column; for a table read in parts, see the
        estimator's ``fit``.
    epsilons : sequence of float, default=(0.25, 0.5, 1, 2, 4, 8)
        Distinct positive numbers, in any order.
    n_repeats : int, default=1
        Number of private fits per epsilon; each one is charged.
    reference : bool, default=True
        Whether to fit the non-private reference as well. The ledger's total then becomes infinite,
        while private releases are still counted separately.
    evaluate : tuple of (X, y) or None, default=None
        Held-out records. Metrics measured on them are diagnostics, not private releases.
    ledger : PrivacyLedger, str or None, default=None
        The ledger charged for the whole sweep, in any form that the estimator accepts. None uses
        the ledger of the estimator, or a new one for this sweep if the estimator has none.
    n_jobs : int or None, default=None
        Number of parallel fits; -1 means one fit per core.
    structure_seed : int or None, default=None
        Public seed of the random structure. Repeat ``r`` uses ``structure_seed + r`` at every
        epsilon, so that all fits of a repeat use the same random numbers. Bins with small
        noisy counts are merged, so bins and trees can still differ between epsilons. None keeps the
        estimator's seed.
    progress : bool, default=True
        Whether to show a progress bar, which counts only finished fits.
    groups : str, (str, array-like), array-like of shape (n_samples,) or None, default=None
        Person to whom each row belongs, in the form that ``fit`` accepts, for an estimator with
        ``max_rows_per_person``. None uses the person column named in the schema.
    reference_rows : int or None, default=None
        For a table read in parts: number of rows, drawn at random, to which the reference is
        fitted in memory. Its name, the title of the comparison and the ledger state the number.

    Returns
    -------
    Comparison, MulticlassComparison or FilterComparison
        The explanations at each epsilon, the reference, the metrics, and the ledger after the
        sweep. For an additive model with more than two classes, there is one comparison for each
        class; for a locally linear model, the filters are compared.

    Raises
    ------
    ValueError
        If a parameter or a column name is wrong; nothing is spent.
    BudgetError
        If the ledger cannot cover the whole sweep; nothing is spent.
    RuntimeError
        If a private fit fails after the sweep was charged.

    Warns
    -----
    UserWarning
        If the reference cannot be fitted; the comparison is then returned without it.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier, sweep
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(schema=stays.schema)
    >>> comparison = sweep(model, stays.X, stays.y, epsilons=(0.5, 4), progress=False)
    >>> len(comparison.explanations[4][0].importances())
    12
    """
    check_estimator(estimator)
    check_count("n_repeats", n_repeats)
    told: set[str] = set()
    with telling_once(told):
        ascending = checked_epsilons(epsilons, estimator)
    seed = None if structure_seed is None else check_count("structure_seed", structure_seed, 0)
    check_n_jobs(n_jobs)
    schema = estimator.get_params(deep=False).get("schema")
    held_out = checked_evaluate(evaluate, schema)
    bound = estimator.get_params(deep=False).get("max_rows_per_person")
    groups = groups_or_declared(groups, bound, schema)
    warn_of_persons(schema, bound, stacklevel=3)
    sampled = check_reference(X, reference, reference_rows)
    in_parts = check_parts(X, groups, n_jobs)
    grouping = None
    if not in_parts:
        X, y = split_target(X, y, schema)
        check_rows("y", X, y)
        grouping = checked_groups(groups, X, estimator)
        X = without_groups(X, groups)
        held_out = held_out and (without_groups(held_out[0], groups), held_out[1])
    payer = find_payer(ledger, estimator, None if grouping is None else grouping.kind)

    fits = _plan(estimator, ascending, n_repeats, seed)
    given = (X, y) if in_parts else (X,)
    with telling_once(told):
        charges = [(_label(fit, n_repeats), fit.estimator.planned_events(*given)) for fit in fits]
        if held_out is not None:
            fits[0].estimator.planned_events(held_out[0])  # checks that no column is missing
    if reference:
        fits.append(_reference_fit(estimator, seed))
        words = "" if sampled is None else f" to {_sample_words(sampled)}"
        event = NonPrivateEvent(
            "reference", f"non-private reference model fitted{words} for comparison"
        )
        charges.append((type(fits[-1].estimator).__name__, (event,)))

    payer.charge(charges, schema)
    held_out = held_out and (held_out[0], read_targets(held_out[1], schema))
    groups = None if grouping is None else grouping.argument
    data = _Data(X, y, groups, held_out, sampled, schema, seed)
    with telling_once(told):
        results = _fit_all(fits, data, n_jobs, progress)
    return _comparison(ascending, results, payer.ledger, estimator, sampled)


def _plan(
    estimator: Any, epsilons: tuple[float, ...], n_repeats: int, seed: int | None
) -> list[_Fit]:
    noise_seed = estimator.get_params(deep=False).get("reproducible_seed")
    fits = []
    for epsilon in epsilons:
        for repeat in range(n_repeats):
            copy = unfitted_copy(estimator, epsilon=epsilon, ledger=None)
            if seed is not None:
                copy.set_params(structure_seed=seed + repeat)
            if noise_seed is not None:  # repeats must differ in their noise
                copy.set_params(reproducible_seed=noise_seed + repeat)
            fits.append(_Fit(epsilon, repeat, copy))
    return fits


def _reference_fit(estimator: Any, seed: int | None) -> _Fit:
    reference = estimator.reference_estimator()
    if seed is not None and "structure_seed" in reference.get_params(deep=False):
        reference.set_params(structure_seed=seed)
    return _Fit(math.inf, 0, reference)


def _label(fit: _Fit, n_repeats: int) -> str:
    repeat = f", repeat {fit.repeat + 1}" if n_repeats > 1 else ""
    return f"{type(fit.estimator).__name__} (epsilon={fit.epsilon:g}{repeat})"


def _fit_all(fits: list[_Fit], data: _Data, n_jobs: int | None, progress: bool) -> list[_Result]:
    from joblib import Parallel, delayed

    failure = ""
    results: list[_Result] = []
    with _progress_bar(len(fits), progress) as count:
        # Threads share the data; processes would copy them and could write them to disk.
        work = Parallel(n_jobs=n_jobs, require="sharedmem")
        # The longest fits start first: the reference, then those with more passes.
        order = sorted(fits, key=lambda fit: -fit.epsilon)
        try:
            # Both are held here, because the threads of the fits overlap.
            with one_blas_thread(), keeping_normals():
                each = [(copy_context(), fit) for fit in order]
                results = work(delayed(own.run)(_fit_one, fit, data, count) for own, fit in each)
        except Exception as error:
            failure = type(error).__name__
    if failure:
        # Raised outside the except block so that there is no chained traceback, whose text or
        # local variables could contain records.
        raise RuntimeError(
            f"a fit of the sweep failed with {failure}; the sweep stays charged. Fit the "
            "estimator once on public or simulated data to see the full message."
        )
    return sorted(results, key=lambda result: (result.epsilon, result.repeat))


def _fit_one(fit: _Fit, data: _Data, count: Callable[[], object]) -> _Result:
    is_reference, failure = math.isinf(fit.epsilon), ""
    try:
        persons = {} if data.groups is None or is_reference else {"groups": data.groups}
        with unlisted():  # the sweep has already been charged
            X, y = data.of_reference() if is_reference else (data.X, data.y)
            model = fit.estimator.fit(X, y, **persons)
        explanation = model.explain_global()
        if is_reference and data.reference_rows is not None:
            explanation = _of_sample(explanation, data.reference_rows)
        metrics = () if data.held_out is None else _measured(model, explanation, *data.held_out)
    except Exception as error:
        if not is_reference:
            raise
        # A reference may refuse values that private fits handle by a rule; the private fits, which
        # have been charged, must not be lost because of that.
        explanation, metrics, failure = None, (), type(error).__name__
    count()  # failures too, because the bar stays in notebooks
    return _Result(fit.epsilon, fit.repeat, explanation, metrics, failure)


def _sample_words(n_rows: int) -> str:
    return f"a sample of {n_rows:,} rows"


def _of_sample(explanation: Any, n_rows: int) -> Any:
    """Name the sample in an explanation and its guarantee."""
    if isinstance(explanation, MulticlassExplanation):
        parts = tuple(_of_sample(part, n_rows) for part in explanation.by_class)
        return replace(explanation, by_class=parts)
    guarantee, words = explanation.guarantee, _sample_words(n_rows)
    return replace(
        explanation,
        model_name=f"{explanation.model_name}, fitted to {words}",
        guarantee=replace(guarantee, notes=(*guarantee.notes, f"fitted to {words}")),
    )


def _measured(model: Any, explanation: Any, X: Any, y: Any) -> tuple[tuple[str, float], ...]:
    if isinstance(explanation, FilterBank):  # the literature on such models reports accuracy
        return (("accuracy", accuracy(model, X, y)), measure(model, X, y))
    return (measure(model, X, y),)


@contextmanager
def _progress_bar(total: int, show: bool) -> Iterator[Any]:
    """Show a progress bar, and yield a function that counts one more finished fit.

    The bar shows no losses or timings, because these would be further releases.
    """
    if not show:
        yield lambda: None
        return
    from tqdm.auto import tqdm

    with tqdm(total=total, bar_format=_BAR) as bar:
        yield lambda: bar.update(1)


def _comparison(
    epsilons: tuple[float, ...],
    results: list[_Result],
    ledger: PrivacyLedger,
    estimator: Any,
    sampled: int | None,
) -> Comparison | MulticlassComparison | FilterComparison:
    by_place: dict[tuple[float, int], Any] = {}
    for result in results:
        if result.explanation is None:
            warnings.warn(
                f"the reference could not be fitted ({result.failure}); the comparison has "
                "none. This warning is NOT PRIVATE, as the reference is: clear it before "
                "anything is shared.",
                UserWarning,
                stacklevel=4,
            )
        else:
            by_place[result.epsilon, result.repeat] = result.explanation
    explanations = {
        epsilon: tuple(by_place[place] for place in sorted(by_place) if place[0] == epsilon)
        for epsilon in epsilons
    }
    first = explanations[epsilons[0]][0]
    reference = by_place.get((math.inf, 0))
    most_exact = explanations[epsilons[-1]][0]
    warn_of_alarms(getattr(most_exact, "alarms", ()), most_exact.guarantee, stacklevel=5)
    sample = "" if sampled is None or reference is None else f"{SAMPLED}{sampled:,} rows"
    shared: dict[str, Any] = {
        "metrics": _metrics(results),
        "ledger": ledger.summary(),
        "title": f"{first.model_name or type(estimator).__name__}: {first.target_name}{sample}",
    }
    if isinstance(first, MulticlassExplanation):
        return MulticlassComparison.from_fits(explanations, reference=reference, **shared)
    if isinstance(first, FilterBank):
        return FilterComparison(epsilons, explanations, reference=reference, **shared)
    return Comparison(epsilons, explanations, reference=reference, **shared)


def _metrics(results: list[_Result]) -> pd.DataFrame | None:
    rows = [
        (result.epsilon, result.repeat, name, value, False)
        for result in results
        for name, value in result.metrics
    ]
    columns = ["epsilon", "repeat", "metric", "value", "private"]
    return pd.DataFrame(rows, columns=columns) if rows else None
