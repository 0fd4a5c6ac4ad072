"""Private pair terms: what they predict, how they are explained, and what is refused."""

from __future__ import annotations

import itertools
import sqlite3
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_regressor

from dpexplain.audit import record
from dpexplain.edit import EditLog, Remove, Revert, Set, Shift
from dpexplain.interop import to_interpret, to_sql
from dpexplain.io import load, save
from dpexplain.mechanisms import NoiseSource
from dpexplain.models import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor
from dpexplain.models.boosting.pair_terms.looks import look_phase
from dpexplain.models.boosting.pair_terms.plan import checked_pairs
from dpexplain.schema import Categorical, Classes, Numeric, Range, Schema

FEATURES = {
    "age": Numeric(0, 100, unit="years", step=1),
    "dose": Numeric(0, 1),
    "ward": Categorical(["a", "b", "c"]),
}


def schema_of(kind):
    return Schema(FEATURES, target=Range(-4, 4) if kind == "numbers" else Classes(["no", "yes"]))


def make(kind="numbers", **settings):
    estimator = (
        DPExplainableBoostingRegressor if kind == "numbers" else DPExplainableBoostingClassifier
    )
    defaults = {"epsilon": 4.0, "schema": schema_of(kind), "reproducible_seed": 1}
    return estimator(**{**defaults, **settings})


def make_data(n=4000, seed=0, kind="numbers"):
    """Make data in which age and dose only interact, with missing and unknown cells."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(0, 101, n).astype(float),
            "dose": rng.uniform(0, 1, n),
            "ward": rng.choice(["a", "b", "c"], n).astype(object),
        }
    )
    score = 2.0 * np.sign(X["age"] - 50) * np.sign(X["dose"] - 0.5)
    noise = rng.normal(0, 0.5, n) if kind == "numbers" else rng.logistic(size=n)
    X.loc[rng.random(n) < 0.1, "age"] = np.nan
    X.loc[rng.random(n) < 0.01, "ward"] = "unknown"
    y = score.fillna(0.0) + noise
    return X, y.clip(-4, 4) if kind == "numbers" else pd.Series(np.where(y > 0, "yes", "no"))


@pytest.fixture(scope="module", params=["numbers", "classes"])
def fitted(request):
    X, y = make_data(kind=request.param)
    return make(request.param, pairs=[("dose", "age"), ("age", "ward")]).fit(X, y), X


@pytest.mark.parametrize("width", [1e-30, 1e30])
@pytest.mark.parametrize("pairs", [[("dose", "age")], "auto"])
def test_targets_of_any_allowed_width_are_fitted_without_overflow(width, pairs):
    X, y = make_data()
    schema = Schema(FEATURES, target=Range(-width / 2, width / 2))
    explanation = make(schema=schema, pairs=pairs).fit(X, y * (width / 8)).explain_global()
    for term in explanation.parts:
        assert np.isfinite(term.effect_std).all()
        assert (term.effect_std > 0).any()


def scores(model, X):
    return model.predict(X) if hasattr(model, "objective") else model.decision_function(X)


def test_declared_pairs_are_terms_in_the_order_of_their_declaration(fitted):
    model, _ = fitted
    assert model.term_names_ == ["age", "dose", "ward", "age & dose", "age & ward"]
    pairs = model.explain_global(effect=False).pairs
    assert [pair.name for pair in pairs] == model.term_names_[3:]
    for pair, table in zip(pairs, model.term_scores_[3:], strict=True):
        np.testing.assert_array_equal(pair.contribution, table)


def test_the_explanation_predicts_what_the_model_predicts(fitted):
    model, X = fitted
    explanation = model.explain_global(effect=False)
    np.testing.assert_array_equal(explanation.predict(X), model.predict(X))
    local, plain = model.explain_local(X[:50]), explanation.explain_local(X[:50])
    for field in ("contributions", "noise_std", "total_std"):
        np.testing.assert_array_equal(getattr(local, field), getattr(plain, field))
    assert local.bin_labels == plain.bin_labels
    np.testing.assert_array_equal(local.scores, scores(model, X[:50]))
    np.testing.assert_array_equal(local.contributions, model.eval_terms(X[:50]))


def test_the_noise_of_pairs_is_part_of_the_noise_of_a_score(fitted):
    model, X = fitted
    local = model.explain_local(X[:50])
    assert local.noise_std.shape == local.total_std.shape == (50, 5)
    assert (local.total_std[:, 3:] >= local.noise_std[:, 3:]).all()
    assert (local.score_std >= np.hypot(*local.total_std[:, 3:].T) - 1e-12).all()


def test_a_saved_explanation_keeps_its_pairs(fitted, tmp_path):
    model, X = fitted
    explanation = model.explain_global(effect=False)
    read = load(save(explanation, tmp_path / "model.json"))
    for pair, again in zip(explanation.pairs, read.pairs, strict=True):
        np.testing.assert_array_equal(pair.effect_std, again.effect_std)
        assert (pair.effect_std[pair.noise_std > 0] > 0).all()
    np.testing.assert_array_equal(read.predict(X), model.predict(X))


def test_a_query_predicts_what_the_model_predicts(fitted):
    model, X = fitted
    connection = sqlite3.connect(":memory:")
    X.assign(row=range(len(X))).to_sql("t", connection, index=False)
    query = to_sql(model.explain_global(effect=False), table="t", dialect="sqlite", keep=["row"])
    found = pd.read_sql(query, connection).sort_values("row")
    column = "prediction" if hasattr(model, "objective") else "score"
    np.testing.assert_allclose(found[column], scores(model, X), rtol=1e-9)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:the model is NOT PRIVATE")
def test_a_model_for_interpretml_predicts_what_the_model_predicts(fitted):
    pytest.importorskip("interpret")
    model, X = fitted
    theirs = to_interpret(model.explain_global(effect=False))
    found = theirs.predict(X) if is_regressor(theirs) else theirs.decision_function(X)
    assert theirs.term_names_[3:] == model.term_names_[3:]
    np.testing.assert_allclose(found, scores(model, X), atol=1e-12)


@pytest.mark.full
def test_an_edited_model_keeps_its_pairs(fitted):
    model, X = fitted
    edited = EditLog().edit(Remove("dose")).apply(model)
    assert edited.term_names_ == model.term_names_
    before, after = model.eval_terms(X), edited.eval_terms(X)
    assert not after[:, 1].any()
    np.testing.assert_array_equal(after[:, [0, 2, 3, 4]], before[:, [0, 2, 3, 4]])


@pytest.mark.full
def test_an_edit_of_a_pair_is_in_everything_that_the_model_predicts_and_exports(fitted, tmp_path):
    model, X = fitted
    region = {"age": (-1, 101), "dose": (0, 1)}
    log = EditLog.of(model.explain_global(effect=False))
    log = log.edit(Set("age & dose", value=0.25, where=region)).edit(Remove("age & ward"))
    edited = log.apply(model)
    explanation = log.apply(model.explain_global(effect=False))

    terms = edited.eval_terms(X)
    np.testing.assert_array_equal(terms[:, :3], model.eval_terms(X)[:, :3])
    assert set(terms[X["age"].notna(), 3]) == {0.25}
    assert not terms[:, 4].any()
    np.testing.assert_array_equal(explanation.predict(X), edited.predict(X))
    assert edited.explain_global(effect=False) == explanation
    save(explanation, tmp_path / "edited.json")
    assert load(tmp_path / "edited.json") == explanation
    connection = sqlite3.connect(":memory:")
    X.assign(row=range(len(X))).to_sql("t", connection, index=False)
    found = pd.read_sql(to_sql(explanation, table="t", dialect="sqlite", keep=["row"]), connection)
    column = "prediction" if hasattr(model, "objective") else "score"
    np.testing.assert_allclose(found.sort_values("row")[column], scores(edited, X), rtol=1e-9)


def test_edits_of_a_pair_cost_no_privacy_and_can_be_reverted(fitted):
    model, X = fitted
    edited = EditLog().edit(Remove("age & dose")).apply(model)
    assert (edited.guarantee_.epsilon, edited.guarantee_.mu) == (
        model.guarantee_.epsilon,
        model.guarantee_.mu,
    )
    assert "age & dose" in repr(edited)
    assert [edit.terms for edit in edited.edits_] == [("age & dose",)]
    back = EditLog().edit(Revert("age & dose")).apply(edited)
    np.testing.assert_array_equal(scores(back, X), scores(model, X))


def test_pairs_that_were_changed_or_dropped_are_not_accepted_without_an_edit(fitted):
    model, _ = fitted
    own = model.explain_global()
    zero = replace(own.pairs[0], contribution=np.zeros_like(own.pairs[0].contribution))
    with pytest.raises(ValueError, match="the pair 'age & dose' differs, but no edit is recorded"):
        model.with_curves(replace(own, pairs=(zero, *own.pairs[1:])))
    shifted = Shift("age & dose", by=1e-4).apply(own)
    zero = replace(zero, released=shifted.pairs[0].released)
    with pytest.raises(ValueError, match="the pair 'age & dose' differs, but no edit is recorded"):
        model.with_curves(replace(shifted, pairs=(zero, *shifted.pairs[1:])))
    with pytest.raises(ValueError, match="its pairs are none, those of this model 'age & dose'"):
        model.with_curves(own.without_pairs())


def test_pairs_count_among_the_terms_that_rise_above_the_noise(fitted):
    model, _ = fitted
    explanation = model.explain_global()
    above = int(explanation.ranking()["above_noise"].sum()) + len(explanation.pairs_above_noise)
    assert "age & dose" in explanation.pairs_above_noise
    ranking = explanation.ranking()
    below = [name for name, is_above in ranking["above_noise"].items() if not is_above]
    below += [p.name for p in explanation.pairs if p.name not in explanation.pairs_above_noise]
    words = f"the released curves of {5 - above} of 5 terms do not rise above the noise"
    assert f"{words} ({', '.join(map(repr, below))}): epsilon" in str(model.health())
    assert "could be without any" not in explanation.effect_words


def test_a_choice_whose_noise_has_no_room_is_refused_before_the_charge(monkeypatch):
    """The noise grows with the number of candidates: the largest number is checked."""
    asked = []
    monkeypatch.setattr(NoiseSource, "check_sigma", lambda self, sigma: asked.append(sigma))
    features = {f"x{i}": Numeric(0, 1) for i in range(5)}
    estimator = make(schema=Schema(features, target=Range(-4, 4)), pairs="auto")
    estimator._check_plan(5)
    budget = estimator._budget(5, estimator.schema)
    assert look_phase(budget, budget.choice_squared_mu, 10, 0).sigma_int in asked


def test_pairs_find_an_effect_that_curves_cannot_show(fitted):
    model, _ = fitted
    table = model.explain_global(effect=False).pair("age & dose")
    corners = [table.evaluate([a], [d])[0] for a, d in ((10, 0.1), (90, 0.9), (10, 0.9), (90, 0.1))]
    assert min(corners[:2]) > 1.0
    assert max(corners[2:]) < -1.0


def test_rows_and_columns_of_a_pair_have_mean_zero(fitted):
    """What depends on a single feature belongs to its curve."""
    for pair in fitted[0]._terms.pairs:
        weight = pair.counts.sum(axis=1), pair.counts.sum(axis=0)
        size = np.abs(pair.scores).max()
        assert np.abs(weight[0] @ pair.scores).max() < 0.1 * size * weight[0].sum()
        assert np.abs(pair.scores @ weight[1]).max() < 0.1 * size * weight[1].sum()


def test_categories_keep_their_names_and_rare_special_bins_contribute_nothing(fitted):
    model, _ = fitted
    pair = model.explain_global(effect=False).pair("age & ward")
    assert pair.axes[1].bin_labels == ("a", "b", "c", "other", "missing")
    assert not pair.contribution[:, 3:].any()
    assert set(pair.axes[0].bin_edges) <= set(model.explain_global(effect=False)["age"].bin_edges)


@pytest.mark.parametrize(
    ("term", "names"),
    [
        ("age & dose", (0, 1)),
        ("dose & age", (0, 1)),
        ("this & that & age", (0, 2)),
        ("age & this & that", (0, 2)),
    ],
)
def test_the_name_that_explanations_give_a_pair_declares_it(term, names):
    features = {"age": Numeric(0, 1), "dose": Numeric(0, 1), "this & that": Numeric(0, 1)}
    plan = checked_pairs([term], Schema(features), (None,) * 3)
    assert plan.declared == (names,)


def test_a_name_that_could_be_two_pairs_is_refused():
    schema = Schema({name: Numeric(0, 1) for name in ("a", "b & c", "a & b", "c")})
    with pytest.raises(ValueError, match="list of pairs of feature names"):
        checked_pairs(["a & b & c"], schema, (None,) * 4)


@pytest.mark.full
@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_a_pair_is_chosen_if_it_has_an_effect_and_only_then(kind):
    X, y = make_data(kind=kind)
    assert make(kind, pairs="auto").fit(X, y).term_names_[3:] == ["age & dose"]
    rng = np.random.default_rng(1)
    apart = make(kind, pairs="auto").fit(X, y.iloc[rng.permutation(len(y))].reset_index(drop=True))
    assert apart.term_names_ == ["age", "dose", "ward"]
    assert apart.n_rounds_ > make(kind, pairs=1).fit(X, y).n_rounds_


@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_pairs_give_way_to_passes_that_are_expected_to_gain_more(kind, monkeypatch):
    """A given number of pairs is fitted all the same."""
    X, y = make_data(2000, kind=kind)
    monkeypatch.setattr(
        "dpexplain.models.boosting.pair_terms.stage.fall_of_passes", lambda *released: np.inf
    )
    passes, pairs = make(kind, pairs="auto").fit(X, y), make(kind, pairs=1).fit(X, y)
    assert passes.term_names_ == ["age", "dose", "ward"]
    assert pairs.term_names_[3:] == ["age & dose"]
    assert passes.n_rounds_ > pairs.n_rounds_


REFUSED = {
    "another preset": ({"preset": "paper"}, "preset='paper'"),
    "another composition": ({"composition": "gdp"}, "composition='gdp'"),
    "several bags": ({"outer_bags": 2}, "outer_bags=2"),
    "a single pass": ({"max_rounds": 1}, "max_rounds=1; use max_rounds of at least 2"),
    "a choice with two passes": (
        {"max_rounds": 2, "pairs": 1},
        "max_rounds=2; use max_rounds of at least 3",
    ),
    "no schema": ({"schema": None}, "needs schema="),
    "counts": ({"objective": "poisson", "schema": Schema(FEATURES, target=Range(0, 9))}, "poisson"),
    "an unknown name": ({"pairs": [("age", "doze")]}, "Did you mean 'dose'"),
    "one feature": ({"pairs": [("age", "age")]}, "names one feature twice"),
    "a repeated pair": ({"pairs": [("age", "dose"), ("dose", "age")]}, "is listed twice"),
    "a constrained feature": (
        {"pairs": [("age", "dose")], "monotone_constraints": {"age": 1}},
        "'age' has a monotone constraint",
    ),
    "too many constraints": (
        {"pairs": "auto", "monotone_constraints": {"age": 1, "dose": 1}},
        "the schema has 1",
    ),
    "a word": ({"pairs": "all"}, "must be 'auto'"),
    "a negative number": ({"pairs": -1}, "must be 'auto'"),
    "a truth value": ({"pairs": True}, "must be 'auto'"),
    "names that are no pairs": ({"pairs": ["age", "dose"]}, "must be 'auto'"),
    "three names": ({"pairs": [("age", "dose", "ward")]}, "must be 'auto'"),
    "a fraction": ({"pairs": 1.5}, "must be 'auto'"),
}


@pytest.mark.parametrize(("settings", "words"), REFUSED.values(), ids=REFUSED)
def test_what_pairs_do_not_work_with_is_refused_before_anything_is_charged(settings, words):
    X, y = make_data(20)
    estimator = make(**{"pairs": [("age", "dose")], "reproducible_seed": None, **settings})
    with pytest.raises(ValueError, match=words):
        estimator.fit(X, y)
    assert not hasattr(estimator, "ledger_")


@pytest.mark.parametrize("pairs", [2, "auto"])
def test_features_that_no_chosen_pair_can_contain_are_named_before_the_fit(pairs):
    X, y = make_data(20)
    estimator = make(pairs=pairs, monotone_constraints={"age": 1})
    with pytest.warns(UserWarning, match=r"no pairs with features .*\('age'\)"):
        estimator.planned_events(X, y)


def test_pairs_of_more_than_two_classes_are_refused():
    schema = Schema(FEATURES, target=Classes(["a", "b", "c"]))
    X, y = make_data(20, kind="classes")
    with pytest.raises(ValueError, match="more than two classes"):
        make("classes", pairs="auto", schema=schema).fit(X, y)


@pytest.mark.parametrize("nothing", [0, np.int64(0), [], ()])
def test_no_pairs_is_the_fit_of_before(nothing):
    X, y = make_data(500)
    plain, none = make().fit(X, y), make(pairs=nothing).fit(X, y)
    for own, other in zip(plain.term_scores_, none.term_scores_, strict=True):
        np.testing.assert_array_equal(own, other)
    assert checked_pairs(nothing, schema_of("numbers"), (None,) * 3) is None


@pytest.mark.full
@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_scores_vary_between_fits_as_their_noise_states(kind):
    """Fits with the same curves and counts, and fresh noise in the sums of the cells."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({name: rng.integers(0, 4, 3000).astype(float) for name in ("a", "b")})
    score = 1.5 * (X["a"] > 1) * (X["b"] > 1) + rng.logistic(size=3000)
    y = score.clip(-4, 4) if kind == "numbers" else pd.Series(np.where(score > 0, "yes", "no"))
    features = {name: Numeric(0, 3, step=1) for name in X}
    schema = Schema(features, target=schema_of(kind).target)
    settings = {"epsilon": 2.0, "structure_seed": 1, "reproducible_seed": None}
    estimator = make(kind, schema=schema, pairs=[("a", "b")], calibrated=False, **settings)
    _, transcript = record(estimator, X, y)
    releases = list(zip(transcript.answers, transcript.phases, strict=True))
    n_cells = len([answer for answer, phase in releases if phase.label == "boosting"][-1])
    of_cells = [len(a) == n_cells and phase.label == "boosting" for a, phase in releases]
    counted = of_cells.index(True)
    found = []
    for _ in range(60):
        places = iter(range(len(of_cells)))

        def forge(phase, drawn, places=places):
            place = next(places)
            fresh = of_cells[place] and place != counted
            return drawn if fresh else transcript.answers[place]

        model, _ = record(estimator, X, y, answers=forge)
        found.append(model._terms.pairs[0])
    spread = np.std([pair.scores for pair in found], axis=0)
    stated = np.mean([pair.noise_std for pair in found], axis=0)
    used = stated > 0
    assert used.sum() == 16
    ratio = np.sqrt((spread[used] ** 2).sum() / (stated[used] ** 2).sum())
    assert 0.8 < ratio < 1.25


@pytest.mark.full
def test_bands_of_cells_include_the_noise_of_curves_and_counts():
    """Refit correlated features with the same bins and trees, and fresh noise."""
    rng = np.random.default_rng(4)
    a, apart = rng.uniform(0, 1, 20_000), rng.normal(0, 1, 20_000)
    X = pd.DataFrame({"a": a, "b": np.clip(a + apart / 10.0, 0, 1)})
    score = np.sin(9.0 * a) + 1.8 * np.sin(12.0 * a) * apart + 0.5 * rng.logistic(size=len(a))
    y = score.clip(-4, 4)
    schema = Schema({name: Numeric(0, 1) for name in X}, target=schema_of("numbers").target)
    settings = {"structure_seed": 1, "reproducible_seed": None, "calibrated": False}
    estimator = make(schema=schema, pairs=[("a", "b")], **settings)
    _, transcript = record(estimator, X, y)
    own, stated, scores = [], [], []
    for _ in range(16):
        places = itertools.count()

        def forge(phase, drawn, places=places):
            answer = transcript.answers[next(places)]
            return answer if phase.label in ("count", "histograms") else drawn

        model, _ = record(estimator, X, y, answers=forge)
        scores.append(model._terms.pairs[0].scores)
        if len(stated) < 4:
            own.append(model._fit.pair_tables[0].noise_std)
            stated.append(model.explain_global(effect=False).pairs[0].noise_std)
    weight = model._terms.pairs[0].counts
    varied = float((weight * np.var(scores, axis=0, ddof=1)).sum())
    ratio = np.sqrt(varied / (weight * np.mean(np.square(stated), axis=0)).sum())
    assert 0.8 < ratio < 1.25
    assert (np.mean(stated, axis=0) >= np.mean(own, axis=0)).all()
    within = np.abs(scores - np.mean(scores, axis=0)) <= 1.96 * np.mean(stated, axis=0)
    assert (weight * within.mean(axis=0)).sum() / weight.sum() > 0.9
