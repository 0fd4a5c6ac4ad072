"""One record more or less shows nowhere but in noisy answers, whatever is done with a table."""

from __future__ import annotations

import logging
import pickle
import re
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import dpexplain.io
import dpexplain.models as models
from dpexplain import PrivacyLedger, sweep
from dpexplain.compare.refitting import Refitter
from dpexplain_widgets import Explorer
from private_models import PRIVATE, WAYS, known, make, records_for
from worlds import differences

ODD = (np.nan, "Zorblax", -1e308, b"\xff", pd.Timestamp("2020-01-01"))


def worlds(name, odd, n=24):
    """A table whose last record is odd in every cell, and the same without it."""
    X, y = (part.astype(object) for part in records_for(name, n))
    X.iloc[-1, :], y.iloc[-1] = [odd] * X.shape[1], odd
    return (X, y), (X[:-1], y[:-1])


def estimator(name, **settings):
    return make(name, structure_seed=3, **known(name, max_rounds=2, n_trees=2), **settings)


# --- everything a user does with a table -------------------------------------------------------


def _page_of(model):
    """What a notebook shows of a model, without the number that scikit-learn gives each picture."""
    return re.sub(r"sk-(container|estimator)-id-\d+", "", model._repr_html_())


def fitted_and_shown(made):
    """Fit, and show the model in every form there is."""

    def call(folder, X, y, groups=None):
        ledger = PrivacyLedger("patients", path=folder / "ledger.json")
        model = clone(made).set_params(ledger=ledger).fit(X, y, groups=groups)
        explanation = model.explain_global()
        probes, _ = records_for(type(made).__name__, 5, seed=9)
        dpexplain.io.save(explanation, folder / "explanation.json")
        print(model, explanation, ledger, model.statement().text())
        drawn = explanation.plot()
        figure = np.ravel(drawn)[0].figure
        figure.savefig(folder / "figure.svg", metadata={"Date": None})
        plt.close(figure)
        if hasattr(explanation, "terms"):
            Explorer(explanation).export_html(folder / "page.html")
        return {
            "model": model,
            "pickle": pickle.dumps(clone(model)),
            "html": explanation._repr_html_() + _page_of(model) + ledger._repr_html_(),
            "table": explanation.frame(),
            "predictions": model.predict(probes),
            "local": model.explain_local(probes),
        }

    return call


@pytest.mark.parametrize(("name", "way"), WAYS, ids=str)
def test_a_fit_and_all_that_is_shown_of_it_is_the_same_with_and_without_a_record(name, way):
    made = estimator(name, **way)
    for odd in ODD[:2]:
        assert differences(fitted_and_shown(made), *worlds(name, odd)) == []


@pytest.mark.parametrize("name", PRIVATE)
@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_no_dtype_that_one_cell_gives_its_column_shows(name, odd):
    """Columns as pandas makes them of a list: numbers alone, or objects for an odd cell."""
    (X, y), _ = worlds(name, odd)
    spoiled = pd.DataFrame({c: list(X[c]) for c in X}), pd.Series(list(y))
    usual = pd.DataFrame({c: list(X[c][:-1]) for c in X}), pd.Series(list(y[:-1]))
    assert differences(fitted_and_shown(estimator(name)), spoiled, usual) == []


@pytest.mark.parametrize("name", PRIVATE)
def test_one_person_more_shows_nowhere(name):
    """Two rows of the last person; the rows of others stay where they are."""
    (X, y), _ = worlds(name, "Zorblax")
    people = np.arange(len(X)) // 2
    bounded = estimator(name, max_rows_per_person=2)
    here, there = (X, y, people), (X[:-2], y[:-2], people[:-2])
    assert differences(fitted_and_shown(bounded), here, there) == []


@pytest.mark.parametrize("name", PRIVATE)
def test_a_sweep_and_a_fit_on_request_are_the_same_with_and_without_a_record(name):
    made = estimator(name)

    def call(folder, X, y):
        ledger = PrivacyLedger("patients", path=folder / "ledger.json")
        comparison = sweep(made, X, y, (0.5, 2.0), reference=False, ledger=ledger, n_jobs=1)
        again = Refitter(made, X, y, data="private", ledger=ledger)
        print(comparison, again.question([1.0]))
        again.fit(1.0)
        return {"comparison": dpexplain.io.to_json(comparison), "html": comparison._repr_html_()}

    assert differences(call, *worlds(name, "Zorblax")) == []


@pytest.mark.skipif(
    hasattr(PrivacyLedger, "recognise"), reason="a ledger that recognises data tells of a record"
)
def test_a_table_that_was_seen_under_another_name_says_nothing_of_a_record():
    name = PRIVATE[0]
    (X, y), without = worlds(name, "Zorblax")

    def call(folder, X_again, y_again):
        estimator(name, ledger=PrivacyLedger("one name")).fit(X, y)
        estimator(name, ledger=PrivacyLedger("another")).fit(X_again, y_again)

    assert differences(call, (X, y), without) == []


# --- mistakes: each is seen where it shows -------------------------------------------------------


def _is_odd(X):
    return any(cell == "Zorblax" for cell in X.to_numpy().ravel())


def keep_the_number_of_records(model, X, y):
    model.n_samples_ = len(X)


def keep_one_bit(model, X, y):
    model.clean_ = not _is_odd(X)


def warn_of_an_odd_cell(model, X, y):
    if _is_odd(X):
        warnings.warn("cells beyond the schema were read as missing", UserWarning, stacklevel=2)


def log_an_odd_cell(model, X, y):
    logging.getLogger("dpexplain").debug("all cells are known: %s", not _is_odd(X))


def refuse_an_odd_cell(model, X, y):
    if _is_odd(X):
        raise ValueError("unknown category")


def write_a_file_of_odd_cells(model, X, y):
    if _is_odd(X):
        Path(model.ledger.path).with_name("rejected.csv").write_text("1 row")


def remember_in_the_ledger(model, X, y):
    if _is_odd(X):
        model.ledger.lower_cap(40.0)


LEAKS = {
    keep_the_number_of_records: "model.n_samples_",
    keep_one_bit: "model.clean_",
    warn_of_an_odd_cell: "what was said",
    log_an_odd_cell: "what was said",
    refuse_an_odd_cell: "the error",
    write_a_file_of_odd_cells: "the file rejected.csv",
    remember_in_the_ledger: "the file ledger.json",
}


@pytest.mark.parametrize("leak", LEAKS, ids=lambda leak: leak.__name__)
def test_a_planted_trace_of_a_record_is_found(leak, monkeypatch):
    name = "DPRandomForestClassifier"
    kind = getattr(models, name)
    honest = kind._fit_released

    def leaky(self, X, y, schema, mechanism):
        honest(self, X, y, schema, mechanism)
        leak(self, X, y)

    monkeypatch.setattr(kind, "_fit_released", leaky)
    found = differences(fitted_and_shown(estimator(name)), *worlds(name, "Zorblax"))
    assert any(LEAKS[leak] in way for way in found), found


def test_another_number_of_releases_is_found(monkeypatch):
    """As of a model that stops early where the records are fewer."""
    name = "DPRandomForestClassifier"
    kind = getattr(models, name)
    honest = kind._fit_released

    def stopping(self, X, y, schema, mechanism):
        self.n_trees = 2 - (len(X) < 24)
        honest(self, X, y, schema, mechanism)

    monkeypatch.setattr(kind, "_fit_released", stopping)
    found = differences(fitted_and_shown(estimator(name)), *worlds(name, "Zorblax"))
    assert "how many answers there are" in found
