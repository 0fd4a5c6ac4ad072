"""Errors of fits and sweeps contain no record: not in their text, chain or frames."""

from __future__ import annotations

import traceback

import numpy as np
import pytest

import dpexplain.models as models
from canary import Holder, in_object, in_words
from canary_channels import Listener
from dpexplain import PrivacyLedger, sweep
from dpexplain.cli.tables import Records
from dpexplain.compare.sweep import _Data
from private_models import PRIVATE, make

pytestmark = pytest.mark.full


def test_without_its_guard_a_frame_would_hold_records():
    held = Holder(PRIVATE[0])
    kind = getattr(models, PRIVATE[0])
    error = failing(lambda: kind.fit.__wrapped__(make(PRIVATE[0], epsilon=-1.0), held.X, held.y))
    with pytest.raises(AssertionError):
        assert_tells_nothing(error)


def test_what_carries_records_shows_none():
    held = Holder(PRIVATE[0])
    assert in_words(str((held.X, held.y))) != []
    assert in_words(repr(_Data(held.X, held.y, held.groups, (held.X, held.y)))) == []
    assert in_words(repr(Records(held.X, held.y))) == []


def sabotage(how: str):
    """Make the part of a fit that reads records fail with an error that quotes them."""

    def broken(self, X, y, schema, mechanism):
        encoded = np.asarray(X, dtype=object)
        if how == "interrupt":
            raise KeyboardInterrupt
        if how == "memory":
            raise MemoryError(str(encoded))
        try:
            raise KeyError(str(X.iloc[0].to_dict()))
        except KeyError as error:
            raise ValueError(f"cannot read {encoded[0]} {y.iloc[0]!r}") from error

    return broken


FAILURES = {
    "parameter": {"epsilon": -1.0},
    "seed": {"structure_seed": "text"},
    "schema": {"schema": 3},
    "ledger": {"ledger": 1},
    "cap": {"ledger": PrivacyLedger("canary cap", cap_epsilon=0.1)},
    "groups": {"max_rows_per_person": 2},
    "reading": {},
    "memory": {},
    "interrupt": {},
}


def failing(call) -> BaseException:
    with Listener() as listener:
        try:
            call()
        except BaseException as error:
            raised = error
    assert in_words(listener.text) == []
    return raised


def assert_tells_nothing(error: BaseException) -> None:
    """Check every exception in the chain, and the local variables of every frame."""
    assert error.__cause__ is None
    assert error.__context__ is None
    told = traceback.TracebackException.from_exception(error, capture_locals=True)
    assert in_words("".join(told.format())) == []
    own = error.__traceback__
    while own is not None:
        if "dpexplain/dpexplain" in own.tb_frame.f_code.co_filename.replace("\\", "/"):
            assert in_object(own.tb_frame.f_locals) == []
        own = own.tb_next


@pytest.mark.parametrize("name", PRIVATE)
@pytest.mark.parametrize("how", FAILURES)
def test_no_error_of_a_fit_holds_a_secret(name, how, monkeypatch):
    held = Holder(name)
    if not FAILURES[how]:
        monkeypatch.setattr(getattr(models, name), "_fit_released", sabotage(how))
    error = failing(lambda: make(name, **FAILURES[how]).fit(held.X, held.y))
    assert_tells_nothing(error)


@pytest.mark.parametrize("name", PRIVATE)
@pytest.mark.parametrize("given", ["columns", "rows", "shape", "weights", "target", "groups"])
def test_no_error_about_the_shape_of_the_data_holds_a_secret(name, given):
    held, model = Holder(name), make(name)
    calls = {
        "columns": lambda: model.fit(held.X[["age"]], held.y),
        "rows": lambda: model.fit(held.X, held.y[:-1]),
        "shape": lambda: model.fit(held.X["age"], held.y),
        "weights": lambda: model.fit(held.X, held.y, sample_weight=held.y),
        "target": lambda: model.fit(held.X, held.X),
        "groups": lambda: model.fit(held.X, held.y, groups=held.groups),
    }
    assert_tells_nothing(failing(calls[given]))


@pytest.mark.parametrize("name", PRIVATE)
@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("how", ["parameter", "cap", "reading", "memory", "interrupt"])
def test_no_error_of_a_sweep_holds_a_secret(name, how, n_jobs, monkeypatch):
    held = Holder(name)
    if not FAILURES[how]:
        monkeypatch.setattr(getattr(models, name), "_fit_released", sabotage(how))
    epsilons = (-1.0,) if how == "parameter" else (0.5, 2.0)
    ledger = FAILURES[how].get("ledger")
    estimator = make(name)
    error = failing(
        lambda: sweep(estimator, held.X, held.y, epsilons, ledger=ledger, n_jobs=n_jobs)
    )
    assert_tells_nothing(error)


@pytest.mark.parametrize("name", PRIVATE)
def test_no_error_of_a_prediction_holds_a_secret(name):
    held = Holder(name)
    model = make(name).fit(held.X, held.y)
    for call in (model.predict, model.explain_local):
        for wrong in (held.X[["age"]], held.X["age"], held.X.to_numpy()[:, :1]):
            error = failing(lambda call=call, wrong=wrong: call(wrong))
            assert in_words(str(error)) == []
