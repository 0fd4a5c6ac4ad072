"""A fitted model with edited curves predicts what its edited explanation says."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from dpexplain import (
    Classes,
    DPExplainableBoostingClassifier,
    DPExplainableBoostingRegressor,
    ExplainableBoostingClassifier,
    Numeric,
    PrivacyLedger,
    Range,
    Schema,
    io,
)
from dpexplain.edit import Denoise, EditLog, Monotone, Shift, repair

FEATURES = {"age": Numeric(0, 100, step=1), "dose": Numeric(0, 10)}
N = 3_000
CASES = ["binary", "several classes", "regression", "counts", "not private"]


def table():
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"age": rng.integers(0, 101, N).astype(float), "dose": rng.uniform(0, 10, N)})
    X.loc[:20, "age"] = np.nan
    return X, X["age"].fillna(50) / 50 + rng.standard_normal(N)


@pytest.fixture(scope="module")
def models():
    X, score = table()
    labels = np.where(score > 1, "yes", "no")
    three = np.array(["a", "b", "c"])[np.digitize(score, [0.5, 1.5])]
    counts = np.clip(np.round(np.exp(score / 2)), 0, 20)
    ledger = PrivacyLedger("edited", cap_epsilon=2.0)
    binary = Schema(FEATURES, target=Classes(["no", "yes"]))
    numbers = Schema(FEATURES, target=Range(-5, 8))
    return {
        "binary": DPExplainableBoostingClassifier(schema=binary, ledger=ledger).fit(X, labels),
        "several classes": DPExplainableBoostingClassifier(
            schema=Schema(FEATURES, target=Classes(["a", "b", "c"]))
        ).fit(X, three),
        "regression": DPExplainableBoostingRegressor(schema=numbers).fit(X, score),
        "counts": DPExplainableBoostingRegressor(
            schema=Schema(FEATURES, target=Range(0, 20)), objective="poisson"
        ).fit(X, counts),
        "not private": ExplainableBoostingClassifier(
            schema=binary, outer_bags=1, max_rounds=20
        ).fit(X, labels),
    }


def log_of(model):
    log = EditLog.of(model.explain_global())
    log = log.edit(Monotone("age", direction="increasing"), note="risk rises with age")
    return log.edit(Shift("dose", by=0.25, within=(0, 6), mean="intercept"), who="Ada")


@pytest.mark.full
@pytest.mark.parametrize("case", CASES)
def test_edited_model_is_explained_by_the_edited_explanation(models, case):
    model = models[case]
    log = log_of(model)

    assert log.apply(model).explain_global() == log.apply(model.explain_global())


@pytest.mark.parametrize("case", CASES)
def test_edited_model_predicts_what_the_edited_explanation_says(models, case):
    model, (X, _) = models[case], table()

    edited = log_of(model).apply(model)

    explanation = edited.explain_global()
    parts = getattr(explanation, "by_class", (explanation,))
    columns = [np.stack([part[name].evaluate(X[name]) for name in part], axis=1) for part in parts]
    said = [part.intercept + c.sum(axis=1) for part, c in zip(parts, columns, strict=True)]
    scores = edited._scores(X)
    np.testing.assert_allclose(
        scores, said[0] if scores.ndim == 1 else np.stack(said, axis=1), atol=1e-12
    )
    local = edited.explain_local(X.iloc[:5])
    np.testing.assert_array_equal(local.scores, edited._scores(X.iloc[:5]))
    assert "Edited by hand" in local.guarantee.statement()
    assert not np.array_equal(edited.predict(X), model.predict(X)) or case == "not private"


@pytest.mark.parametrize("case", CASES)
def test_model_that_was_edited_stays_as_it_was(models, case):
    model, (X, _) = models[case], table()
    before, promise = model._scores(X), model.guarantee_

    log_of(model).apply(model)

    assert model._scores(X).tobytes() == before.tobytes()
    assert model.guarantee_ is promise
    assert model.edits_ == ()


def test_ledger_is_not_touched(models):
    model = models["binary"]
    entries = model.ledger_.summary()

    edited = log_of(model).apply(model)
    edited.explain_global(), edited.statement()

    assert edited.ledger_ is model.ledger_
    assert model.ledger_.summary() == entries
    assert edited.guarantee_.epsilon == model.guarantee_.epsilon


def test_edited_model_says_so_everywhere(models):
    edited = log_of(models["binary"]).apply(models["binary"])

    assert "edited by hand after the fit: age, dose" in repr(edited)
    assert "edited by hand" in edited._repr_mimebundle_()["text/html"]
    assert "edited by hand afterwards" in edited.statement().text()
    assert "Edited by hand after the fit" in edited.guarantee_.statement()
    assert '"risk rises with age"' in io.to_json(edited.explain_global())


def test_log_travels_with_the_saved_model(models):
    model, (X, _) = models["binary"], table()
    log = log_of(model)

    loaded = pickle.loads(pickle.dumps(log.apply(model)))

    assert EditLog.from_records(loaded.edits_).operations == log.operations
    np.testing.assert_array_equal(loaded.predict_proba(X), log.apply(model).predict_proba(X))


def test_another_fit_forgets_the_edits(models):
    X, score = table()
    edited = log_of(models["not private"]).apply(models["not private"])

    again = edited.fit(X, np.where(score > 1, "yes", "no"))

    assert again.edits_ == ()
    assert again.explain_global().edits == ()
    assert clone(edited).edits_ == ()


def test_private_fit_forgets_the_edits(models):
    X, score = table()
    edited = log_of(models["regression"]).apply(models["regression"])

    assert edited.fit(X, score).edits_ == ()
    assert "Edited" not in edited.guarantee_.statement()


def test_repair_and_denoise_need_what_private_explanations_carry(models):
    model = models["binary"]

    repaired = repair("age", "increasing").apply(model).explain_global()["age"]

    assert (np.diff(repaired.contribution[: repaired.n_value_bins]) >= 0).all()
    assert Denoise("age").apply(model).edits_
    with pytest.raises(ValueError, match="unknown"):
        repair("age", "increasing").apply(models["not private"])


def test_curves_of_another_model_are_refused(models):
    with pytest.raises(ValueError, match="other bins or counts"):
        models["regression"].with_curves(
            DPExplainableBoostingRegressor(schema=models["regression"].schema)
            .fit(*table())
            .explain_global()
        )
    with pytest.raises(ValueError, match="explained by a GlobalExplanation"):
        models["binary"].with_curves(models["several classes"].explain_global())
    with pytest.raises(TypeError, match="got int"):
        models["binary"].with_curves(3)


@pytest.mark.parametrize("field", ["contribution", "released"])
@pytest.mark.parametrize("edited_before", [False, True])
def test_curve_without_a_record_is_refused(models, field, edited_before):
    model = models["not private"]
    if edited_before:
        model = Shift("age", by=1e-4).apply(model)
    explanation = Shift("dose", by=1e-4).apply(model.explain_global())
    term = explanation["age"]
    changed = replace(term, **{field: term.contribution + 1.0})

    with pytest.raises(ValueError, match=r"the curve of 'age'.* differs, but no edit is recorded"):
        model.with_curves(replace(explanation, terms=(changed, *explanation.terms[1:])))


def test_curve_that_its_recorded_edit_does_not_give_is_refused(models):
    model = models["not private"]
    explanation = Shift("age", by=1e-4).apply(model.explain_global())
    term = replace(explanation["age"], contribution=explanation["age"].contribution + 1.0)

    with pytest.raises(ValueError, match="the curve of 'age' differs, but no edit is recorded"):
        model.with_curves(replace(explanation, terms=(term, *explanation.terms[1:])))


@pytest.mark.parametrize("edited_before", [False, True])
@pytest.mark.parametrize("field", ["intercept", "released_intercept"])
def test_intercept_without_a_record_is_refused(models, field, edited_before):
    model = models["not private"]
    if edited_before:
        model = Shift("age", by=1e-4, mean="intercept").apply(model)
    explanation = model.explain_global()

    with pytest.raises(ValueError, match=r"the intercept.* differs, but no edit is recorded"):
        model.with_curves(replace(explanation, **{field: explanation.intercept + 5.0}))


def test_effects_in_the_record_of_a_model_are_those_of_the_replay(models):
    model = models["not private"]
    explanation = Shift("age", by=0.5).apply(model.explain_global())
    record = explanation.edits[0]
    small = replace(record, effects=(replace(record.effects[0], rms=1e-9, n_bins=1),))

    assert model.with_curves(replace(explanation, edits=(small,))).edits_ == (record,)


def test_explanation_that_another_computer_rounded_differently_is_accepted(models):
    model = models["not private"]
    explanation = Shift("age", by=0.5).apply(model.explain_global())
    rounded = replace(explanation["age"], contribution=explanation["age"].contribution * (1 + 1e-9))
    explanation = replace(explanation, terms=(rounded, *explanation.terms[1:]))

    assert model.with_curves(explanation).edits_ == explanation.edits


def test_note_of_an_edited_model_states_a_cost_only_if_the_model_is_private(models):
    edit = Shift("age", by=0.5)
    private, other = (edit.apply(models[case]).guarantee_ for case in ("binary", "not private"))

    assert private.notes[-1].startswith("Edited by hand after the fit (1 edit of age); ")
    assert "costs epsilon 0" in private.notes[-1]
    assert other.notes[-1] == "Edited by hand after the fit (1 edit of age)"
    assert other.covers == models["not private"].guarantee_.covers


def test_edits_of_a_parameter_copy_do_not_leak(models):
    model = models["binary"]
    first = log_of(model).apply(model)
    second = EditLog().edit(Shift("age", by=1.0)).apply(first)

    assert len(first.edits_) == 2
    assert len(second.edits_) == 3
    back = second.explain_global()["age"]
    np.testing.assert_array_equal(back.released, model.explain_global()["age"].contribution)
