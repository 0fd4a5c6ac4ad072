"""Spending is visible without a ledger file: by table, and for fits without a ledger."""

from __future__ import annotations

import os
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from dpexplain import Classes, DPLogisticRegression, Numeric, PrivacyLedger, Schema, sweep
from dpexplain.accounting import GaussianEvent, process_ledger
from dpexplain.compare import Refitter
from dpexplain.exceptions import BudgetError, PrivacyWarning

SCHEMA = Schema({"age": Numeric(0, 90)}, target=Classes(["no", "yes"], name="stays"))
X = pd.DataFrame({"age": np.arange(80.0)})
y = pd.Series(np.where(X["age"] % 3 == 0, "no", "yes"), name="stays")


def model(**parameters):
    return DPLogisticRegression(epsilon=0.5, schema=SCHEMA, **parameters)


def test_five_fits_on_one_table_say_what_they_cost_together():
    models = [clone(model(ledger="stays")).fit(X, y) for _ in range(5)]
    ledger = process_ledger("stays")

    assert len(ledger.entries) == 5
    assert 0.5 < ledger.total_epsilon() < 2.5
    assert all(fitted.ledger_ is ledger for fitted in models)
    assert models[0].statement().dataset == "stays"
    assert len(process_ledger().entries) == 0


def test_five_fits_without_a_ledger_are_listed_together_and_count_alone():
    models = [model().fit(X, y) for _ in range(5)]

    assert [len(fitted.ledger_.entries) for fitted in models] == [1] * 5
    assert process_ledger().entries == tuple(fitted.ledger_.entries[0] for fitted in models)
    assert process_ledger().total_epsilon() > 2 * models[0].ledger_.total_epsilon()
    assert "fits without a ledger" in repr(process_ledger())


def test_the_fifth_fit_without_a_ledger_says_what_all_cost_together():
    for _ in range(4):
        with warnings.catch_warnings():
            warnings.simplefilter("error", PrivacyWarning)
            model().fit(X, y)
    with pytest.warns(PrivacyWarning, match="5 fits without a ledger") as caught:
        fifth = model().fit(X, y)
    together = process_ledger().total_epsilon()
    (warned,) = (each for each in caught if each.category is PrivacyWarning)
    stated = float(re.search(r"epsilon=([0-9.]+) together", str(warned.message))[1])
    assert together <= stated < together + 0.01
    assert warned.filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyWarning)
        for _ in range(4):
            fifth.fit(X, y)
    with pytest.warns(PrivacyWarning, match="10 fits without a ledger"):
        fifth.fit(X, y)


def test_grid_search_without_a_ledger_says_once_what_its_fits_cost_together():
    grid = GridSearchCV(model(), {"epsilon": [0.5, 1.0]}, cv=4, error_score="raise")
    with pytest.warns(PrivacyWarning, match="fits without a ledger") as caught:
        grid.fit(X, y)
    assert [each.category for each in caught].count(PrivacyWarning) == 1


def test_fits_on_a_named_table_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyWarning)
        for _ in range(6):
            model(ledger="stays").fit(X, y)


@pytest.mark.parametrize("name", ["stays", None])
def test_grid_search_counts_each_of_its_fits(name):
    grid = GridSearchCV(model(ledger=name), {"epsilon": [0.5, 1.0]}, cv=2, error_score="raise")
    grid.fit(X, y)

    assert len(process_ledger(name).entries) == 2 * 2 + 1


def test_sweep_is_counted_once():
    for ledger in ("stays", None):
        sweep(model(ledger=ledger), X, y, (0.5, 1.0), reference=False, progress=False, n_jobs=2)

    assert len(process_ledger("stays").entries) == 2
    assert len(process_ledger().entries) == 2


def test_refits_of_stand_in_data_are_not_listed_and_private_ones_are():
    Refitter(model(), X, y, data="simulated")(0.5)
    assert process_ledger().entries == ()
    refit = Refitter(model(ledger="stays"), X, y, data="private")
    refit(0.5)

    assert refit.ledger.dataset == "stays"
    assert len(process_ledger("stays").entries) == 1


def test_cap_of_a_table_and_of_fits_without_a_ledger_is_kept():
    for name in ("stays", None):
        process_ledger(name).lower_cap(0.6)
        model(ledger=name).fit(X, y)
        with pytest.raises(BudgetError, match="left in the ledger"):
            model(ledger=name).fit(X, y)
        assert len(process_ledger(name).entries) == 1


def test_first_fit_decides_delta_and_adjacency_of_its_table():
    model(ledger="stays", delta=1e-4, adjacency="replace").fit(X, y)

    assert process_ledger("stays").delta == 1e-4
    with pytest.raises(BudgetError, match="use one adjacency"):
        model(ledger="stays").fit(X, y)


def test_fits_without_a_ledger_are_listed_apart_by_adjacency():
    model().fit(X, y)
    model(adjacency="replace").fit(X, y)

    for adjacency in ("add_remove", "replace"):
        assert len(process_ledger(adjacency=adjacency).entries) == 1


def test_list_changes_no_seeded_fit_and_says_that_it_is_not_private():
    before = model(reproducible_seed=1).fit(X, y).predict_proba(X)
    after = model(reproducible_seed=1).fit(X, y).predict_proba(X)

    assert np.array_equal(before, after)
    assert np.isinf(process_ledger().total_epsilon())
    with pytest.raises(ValueError, match="a shared ledger rejects it"):
        model(reproducible_seed=1, ledger="stays").fit(X, y)


def test_another_ledger_of_the_table_is_told():
    ledger = PrivacyLedger("stays")
    ledger.charge([GaussianEvent("counts", 20.0)], label="counts")
    with pytest.warns(PrivacyWarning, match="use one ledger"):
        model(ledger="stays").fit(X, y)


@pytest.mark.parametrize("name", [" ", "stays.ledger.json", "folder/stays", "sqlite:///x.db"])
def test_name_that_looks_like_a_file_is_answered_before_anything_is_charged(name):
    with pytest.raises(ValueError, match=r"PrivacyLedger\.open"):
        model(ledger=name).fit(X, y)
    with pytest.raises(ValueError, match=r"PrivacyLedger\.open"):
        process_ledger(name)
    assert process_ledger().entries == ()


def test_ledger_of_another_type_is_answered():
    with pytest.raises(TypeError, match="or the name of a table"):
        model(ledger=3).fit(X, y)


def test_model_with_a_named_ledger_survives_a_pickle():
    fitted = pickle.loads(pickle.dumps(model(ledger="stays").fit(X, y)))
    fitted.fit(X, y)

    assert len(process_ledger("stays").entries) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_forked_process_refuses_a_named_ledger():
    child = os.fork()
    if child == 0:
        try:
            model(ledger="stays").fit(X, y)
        except BudgetError as error:
            os._exit(3 if "worker process" in str(error) else 1)
        finally:
            os._exit(4)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_forked_process_lists_its_own_fits_without_a_ledger():
    model().fit(X, y)
    listed = len(process_ledger().entries)
    child = os.fork()
    if child == 0:
        try:
            model().fit(X, y)
            os._exit(3 if len(process_ledger().entries) == 1 else 1)
        finally:
            os._exit(4)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 3
    assert len(process_ledger().entries) == listed


@pytest.mark.full
def test_workers_of_joblib_refuse_a_named_ledger():
    grid = GridSearchCV(
        model(ledger="stays"), {"epsilon": [0.5]}, cv=2, n_jobs=2, error_score="raise"
    )
    with pytest.raises(BudgetError, match=r"worker process; use n_jobs=1 or threads"):
        grid.fit(X, y)
    assert process_ledger("stays").entries == ()
