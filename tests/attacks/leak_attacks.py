"""Attacks that bypass the noise: other channels, and records counted more than once."""

from __future__ import annotations

import contextlib
import gc
import io as standard_io
import logging
import math
import pickle
import unicodedata
import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import partialmethod
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpexplain.models as models
import dpexplain.models.private as private
from attack_kit import (
    CANARY,
    FEATURES,
    PRIVATE,
    Attack,
    Finding,
    estimator,
    first_find,
    replayed,
    saturated,
    table,
)
from dpexplain import Categorical, PrivacyLedger, Schema, io
from dpexplain.audit import record
from dpexplain.audit.records import without
from dpexplain.exceptions import HealthWarning
from dpexplain.explain import FilterBank
from dpexplain.mechanisms import Mechanism, NoiseSource
from dpexplain.models import inputs
from dpexplain.models.private import PrivateEstimator
from dpexplain.tables import columns, frames
from dpexplain_widgets.payload.filter_payload import filters_payload
from dpexplain_widgets.payload.payload import build_payload

# --- everything that can be published ----------------------------------------------------------


def published_forms(name: str) -> Finding:
    """Fit two neighboring tables with the same answers forced: is all output the same?

    Files, text, HTML, tables, figures, dashboard payloads and predictions: byte by byte.
    """

    def attempts() -> Iterator[Finding]:
        for seed in range(2):
            data = table(name, 31, seed)
            fitted = estimator(name)
            first, transcript = record(fitted, *data)
            answers = transcript.answers
            second, _ = record(fitted, *without(data, seed), answers=answers)
            for form, shown in _forms(first).items():
                yield Finding(shown != _forms(second)[form], f"{form} differs")

    return first_find(attempts())


def _forms(model: Any) -> dict[str, Any]:
    explanation = model.explain_global()
    probes, _ = table(type(model).__name__, 9, seed=99)
    return {
        "the file": io.to_json(explanation),
        "the text": repr(explanation) + repr(model) + str(model),
        "the HTML": explanation._repr_html_(),
        "the table": explanation.frame().to_csv(),
        "the statement": model.guarantee_.statement(),
        "the payload": repr(_payload(explanation)),
        "a local explanation": io.to_json(model.explain_local(probes)),
        "the predictions": model.predict(probes).tolist(),
        "the names of attributes": sorted(vars(model)),
        "the ledger": repr(model.ledger_.summary().entries[0].events),
    }


def _payload(explanation: Any) -> Any:
    filters = isinstance(explanation, FilterBank)
    return filters_payload(explanation) if filters else build_payload(explanation)


def size_in_a_title(patch: pytest.MonkeyPatch) -> None:
    for name in PRIVATE:
        owner = getattr(models, name)

        def fit_released(self: Any, X: Any, *rest: Any, _honest: Any) -> None:
            _honest(self, X, *rest)
            self.title_ = f"fitted on {len(X)} records"

        def explain_global(self: Any, _honest: Any) -> Any:
            return replace(_honest(self), model_name=self.title_)

        for method, made in (("_fit_released", fit_released), ("explain_global", explain_global)):
            patch.setattr(owner, method, partialmethod(made, _honest=getattr(owner, method)))


# --- exceptions, warnings and words ------------------------------------------------------------

_ODD_CELLS = (
    "Zorblax",
    "",
    None,
    float("nan"),
    float("inf"),
    -1e308,
    10**400,
    10**5000,
    b"\xff",
    "\ud800",
    "9" * 5000,
    complex(1, 1),
    pd.Timestamp.max,
    pd.NaT,
    np.longdouble("1e4000"),
    np.datetime64(10**6, "Y"),
    [1, [2]],
    {"a": 1},
    object,
    np.ma.masked,
)


def words_of_a_fit(name: str) -> Finding:
    """Put one odd cell in a column, the target or the groups: does anything reveal it?

    Errors, warnings, log records and printed text of the whole fit are compared.
    """

    def attempts() -> Iterator[Finding]:
        usual = {place: _heard(name, place, "clerk") for place in ("job", "y", "groups")}
        for cell in _ODD_CELLS:
            for place, silence in usual.items():
                heard = _heard(name, place, cell)
                said = f"{type(cell).__name__} in {place}: {sorted(set(heard) - set(silence))}"
                yield Finding(heard != silence, said[:200])

    return first_find(attempts())


def _heard(name: str, place: str, cell: Any) -> list[str]:
    X, y = (part.astype(object) for part in table(name, 12))
    people = pd.Series(range(12), dtype=object)
    column = {"y": y, "groups": people}.get(place)
    cells = list(X["job"] if column is None else column)
    cells[0] = cell
    filled = np.empty(len(cells), dtype=object)
    for row, value in enumerate(cells):  # one by one: numpy would unpack a list
        filled[row] = value
    spoiled = pd.Series(filled, dtype=object)
    X, y, people = (
        X.assign(job=spoiled) if column is None else X,
        spoiled if place == "y" else y,
        spoiled if place == "groups" else people,
    )
    return words_of(lambda: estimator(name, max_rows_per_person=2).fit(X, y, groups=people))


def words_of(work: Any) -> list[str]:
    heard: list[str] = []

    class Listener(logging.Handler):
        def emit(self, message: logging.LogRecord) -> None:
            if message.name.startswith("dpexplain"):
                heard.append(f"log: {message.getMessage()}")

    listener, printed = Listener(), standard_io.StringIO()
    logging.getLogger().addHandler(listener)
    try:
        with (
            pytest.MonkeyPatch.context() as patch,
            warnings.catch_warnings(record=True) as warned,
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
        ):
            warnings.simplefilter("always")
            # What follows from released numbers, and how many fits came before, is no secret.
            warnings.simplefilter("ignore", HealthWarning)
            patch.setattr("dpexplain.accounting._ledger.process._LEDGERS", {})
            try:
                work()
            except Exception as error:
                heard.append(f"error: {type(error).__name__}: {error}")
    finally:
        logging.getLogger().removeHandler(listener)
    return [*heard, *(f"warning: {w.message}" for w in warned), f"printed: {printed.getvalue()}"]


def unknown_labels_are_counted_aloud(patch: pytest.MonkeyPatch) -> None:
    honest = PrivateEstimator._failure_of_fit

    def careless(self: Any, X: Any, y: Any, groups: Any) -> str:
        known = set(FEATURES["job"].categories)
        if any(not isinstance(cell, str) or cell not in known for cell in X["job"]):
            warnings.warn("there are values outside of the schema", UserWarning, stacklevel=2)
        return honest(self, X, y, groups)

    patch.setattr(PrivateEstimator, "_failure_of_fit", careless)


# --- tables that answer differently each time --------------------------------------------------


class _Changing:
    """Table that contains a record once when first read, and many times afterward."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame, self.looks = frame, 0

    def to_pandas(self) -> pd.DataFrame:
        self.looks += 1
        return self.frame

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        self.looks += 1
        return self.frame.to_numpy(dtype=dtype)


def changing_tables(name: str) -> Finding:
    """Pass X, y and groups as objects that could change: how often are they read?"""
    X, y = table(name, 20)
    asked = {
        "X": _Changing(X),
        "y": _Changing(y.to_frame("y")["y"]),
        "groups": _Changing(pd.Series(range(20))),
    }
    estimator(name, max_rows_per_person=1).fit(asked["X"], asked["y"], groups=asked["groups"])
    often = {what: each.looks for what, each in asked.items()}
    return Finding(max(often.values()) > 1, f"asked {often}")


def tables_are_asked_twice(patch: pytest.MonkeyPatch) -> None:
    honest = private.as_table

    def asking(X: Any, *rest: Any) -> Any:
        if isinstance(X, _Changing):
            honest(X, *rest)  # a look at the shape
        return honest(X, *rest)

    patch.setattr(private, "as_table", asking)


class _Unlike:
    """Table or column of another library that cannot convert a cell, and quotes it."""

    def to_pandas(self) -> Any:
        raise ValueError(f"cannot convert {CANARY!r}")


class _Lazy:
    """Table or column that is computed when it is asked for, and quotes a cell."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise RuntimeError(f"cannot read {CANARY!r}")


def quoted_by_a_library(name: str) -> Finding:
    """Pass X, y or groups that another library cannot convert: does an error quote the cell?"""
    X, y = table(name, 20)
    people = pd.Series(range(20))

    def attempts() -> Iterator[Finding]:
        for odd in (_Unlike(), _Lazy()):
            for given in ((odd, y, people), (X, odd, people), (X, y, odd)):
                fitted = estimator(name, max_rows_per_person=1)
                with pytest.raises((ValueError, RuntimeError)) as caught:
                    fitted.fit(given[0], given[1], groups=given[2])
                yield Finding(CANARY in str(caught.value), f"{type(odd).__name__}: {caught.value}")

    return first_find(attempts())


def errors_of_libraries_are_raised(patch: pytest.MonkeyPatch) -> None:
    for module in (frames, columns, inputs):
        patch.setattr(module, "converted", lambda X, convert: convert())


# --- rows that find each other -----------------------------------------------------------------


def doubled_index(name: str) -> Finding:
    """Give X and y an index of equal labels: is a row matched with more than one?"""
    X, y = saturated(name, 24)
    X, y = X.set_axis([0] * 24), y.set_axis([0] * 24)
    shorter = X.iloc[1:], y.iloc[1:]
    reversed_labels = X.set_axis(range(24)), y.set_axis(range(23, -1, -1))
    fewer = tuple(part.iloc[1:] for part in reversed_labels)
    fitted = estimator(name)
    return first_find(
        replayed(fitted, *pair) for pair in (((X, y), shorter), (reversed_labels, fewer))
    )


def rows_are_joined(patch: pytest.MonkeyPatch) -> None:
    honest = PrivateEstimator._failure_of_fit

    def joined(self: Any, X: Any, y: Any, groups: Any) -> str:
        together = X.join(y.rename("target"))
        return honest(self, together[list(X)], together["target"], groups)

    patch.setattr(PrivateEstimator, "_failure_of_fit", joined)


# --- categories that look alike ----------------------------------------------------------------

_ALIKE = ("café", "cafe\u0301", "CAFÉ", "café\u200b", "\uff43afé", " café", "cafe")


def alike_categories(name: str) -> Finding:
    """Add a record with a look-alike category: does it change how others are read?"""
    features = {**FEATURES, "job": Categorical(["café", "cafe\u0301", "tea"])}

    def attempts() -> Iterator[Finding]:
        for odd in _ALIKE:
            X, y = table(name, 21)
            X["job"] = pd.Series([odd] + ["café", "cafe\u0301"] * 10, dtype=object)
            for extreme in (None, 1):
                fitted = estimator(name, features=features)
                yield replayed(fitted, (X, y), without((X, y), 0), extreme_seed=extreme)

    return first_find(attempts())


def normalized_where_unambiguous(patch: pytest.MonkeyPatch) -> None:
    """Merge two spellings unless both of them occur."""
    honest = PrivateEstimator._failure_of_fit

    def helpful(self: Any, X: Any, y: Any, groups: Any) -> str:
        plain = X["job"].map(lambda cell: unicodedata.normalize("NFKC", cell).strip().lower())
        if X["job"].nunique() > 2:
            X = X.assign(job=plain)
        return honest(self, X, y, groups)

    patch.setattr(PrivateEstimator, "_failure_of_fit", helpful)


# --- bounds that are read from records ---------------------------------------------------------


def bounds_that_are_passed_on(name: str) -> Finding:
    """Take a schema from a model that is not private: is a fit with it, or its hash, private?"""
    X, y = table(name, 40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = estimator(name, schema=None).fit(X, y)
        seen = first.schema_
        passed = {
            "the schema": seen,
            "a copy with other columns": replace(seen, id=["record"]),
            "a pickle": pickle.loads(pickle.dumps(seen)),
            "a file": Schema.from_toml(seen.to_toml()),
            "an explanation": getattr(_again(first.explain_global()), "schema", None) or seen,
            "the reference": first.reference_estimator().fit(X, y).schema_,
        }

        def attempts() -> Iterator[Finding]:
            for what, schema in passed.items():
                ledger = PrivacyLedger("bounds")
                model = estimator(name, schema=schema, ledger=ledger).fit(X, y)
                found = model.guarantee_.private or math.isfinite(ledger.total_epsilon())
                yield Finding(found, f"{what}: {model.guarantee_.short}")
                yield Finding(bool(ledger.entries[0].provenance.schema), f"{what}: hash in ledger")

        return first_find(attempts())


def _again(explanation: Any) -> Any:
    return io.from_json(io.to_json(explanation))


def only_a_missing_schema_counts(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(private, "_is_drafted", lambda schema: schema is None)


# --- what a model keeps ------------------------------------------------------------------------


def noise_that_is_kept(name: str) -> Finding:
    """Search all that a model, its explanation and its ledger refer to: is noise stored?

    A draw of a few thousand can equal another number by chance, but hardly in two fits.
    """
    kept, n_secrets = _kept_noise(name)
    if kept:
        again, _ = _kept_noise(name)
        kept = min(kept, again)
    return Finding(kept > 0, f"{kept} draws or mechanisms of {n_secrets} can be reached")


def _kept_noise(name: str) -> tuple[int, int]:
    """Fit a model; return how many draws or mechanisms can be reached, and how many were drawn."""
    drawn: list[np.ndarray] = []

    def noted(*arguments: Any, _honest: Any) -> Any:
        noise = _honest(*arguments)
        drawn.append(noise.copy())
        return noise

    with pytest.MonkeyPatch.context() as patch:
        for method in ("draw_int", "draw_laplace"):
            honest = getattr(NoiseSource, method)
            patch.setattr(NoiseSource, method, partialmethod(noted, _honest=honest))
        model = estimator(name).fit(*table(name, 30))
        explanation = model.explain_global()
    secrets = np.unique(np.concatenate(drawn))
    secrets = secrets[np.abs(secrets) > 1000]
    kept = 0
    for value in _reachable([model, explanation, model.ledger_]):
        if isinstance(value, np.ndarray) and value.dtype.kind in "iuf" and value.size:
            kept += int(np.isin(value.astype(np.float64), secrets.astype(np.float64)).sum())
        elif isinstance(value, Mechanism):
            kept += 1
    return kept, len(secrets)


def _reachable(roots: list[Any]) -> Iterator[Any]:
    """Return objects reached from `roots`, except by modules, classes and globals."""
    seen: set[int] = set()
    waiting = list(roots)
    while waiting:
        value = waiting.pop()
        if id(value) in seen or isinstance(value, type | type(gc)):
            continue
        seen.add(id(value))
        yield value
        if callable(value) and hasattr(value, "__globals__"):
            waiting += [cell.cell_contents for cell in value.__closure__ or ()]
        else:
            waiting += gc.get_referents(value)


def mechanism_is_kept(patch: pytest.MonkeyPatch) -> None:
    honest = PrivateEstimator._mechanism

    def kept(self: Any) -> Any:
        self.mechanism_ = honest(self)
        return self.mechanism_

    patch.setattr(PrivateEstimator, "_mechanism", kept)


ATTACKS = [
    Attack(
        "anything that can be published differs although all answers are the same",
        published_forms,
        size_in_a_title,
        "the number of records in a title",
    ),
    Attack(
        "errors, warnings, logs or printed text reveal a cell",
        words_of_a_fit,
        unknown_labels_are_counted_aloud,
        "a warning about values outside of the schema",
    ),
    Attack(
        "tables that answer differently each time",
        changing_tables,
        tables_are_asked_twice,
        "X is asked for its shape first",
    ),
    Attack(
        "another library cannot convert a cell, and its error quotes it",
        quoted_by_a_library,
        errors_of_libraries_are_raised,
        "an error of another library is raised as it is",
        every_model=False,
    ),
    Attack(
        "equal index labels let a row count more than once",
        doubled_index,
        rows_are_joined,
        "X and y are joined by index",
    ),
    Attack(
        "categories that look alike change how others are read",
        alike_categories,
        normalized_where_unambiguous,
        "spellings are made one unless they occur together",
    ),
    Attack(
        "bounds that were read from records are passed on with a schema",
        bounds_that_are_passed_on,
        only_a_missing_schema_counts,
        "only a fit without a schema is not private",
    ),
    Attack(
        "noise can be found in what a model keeps",
        noise_that_is_kept,
        mechanism_is_kept,
        "the mechanism is kept",
    ),
]
