"""Edits of InterpretML's models: the same operations, without a noise band."""

from __future__ import annotations

import numpy as np
import pytest

import dpexplain
from dpexplain.edit import EditLog, Flatten, Merge, Monotone, Remove, Smooth, repair
from dpexplain.explain import from_interpret
from dpexplain.interop import to_interpret
from fitted_models import table

pytestmark = pytest.mark.full

interpret = pytest.importorskip("interpret")

UP = Monotone("age", direction="increasing")
TOGETHER = Merge("job", names=["b", "c"])


def fitted(score_of):
    from interpret.glassbox import ExplainableBoostingClassifier

    X, score = table()
    kinds = ["continuous", "nominal", ["low", "mid", "high"]]
    model = ExplainableBoostingClassifier(
        interactions=0, outer_bags=2, max_rounds=50, feature_types=kinds, n_jobs=1
    )
    return model.fit(X, score_of(score))


@pytest.fixture(scope="module")
def theirs():
    model = fitted(lambda score: np.where(score > 3, "yes", "no"))
    return from_interpret(model, target_name="income")


def scores_of(explanation, X):
    return explanation.intercept + sum(term.evaluate(X[term.name]) for term in explanation.terms)


def test_an_imported_curve_becomes_monotone_and_keeps_its_mean_over_people(theirs):
    from sklearn.isotonic import isotonic_regression

    edited = UP.apply(theirs)
    before, after = theirs["age"], edited["age"]
    n = before.n_value_bins
    weights = before.weights[:n]
    assert (np.diff(before.contribution[:n]) < 0).any()
    assert (np.diff(after.contribution[:n]) >= 0).all()
    expected = isotonic_regression(before.contribution[:n], sample_weight=weights + 1e-9)
    np.testing.assert_allclose(after.contribution[:n], expected, atol=1e-6)
    assert weights @ after.contribution[:n] == pytest.approx(weights @ before.contribution[:n])
    np.testing.assert_array_equal(after.contribution[n:], before.contribution[n:])


def test_imported_categories_are_merged_by_name(theirs):
    edited = TOGETHER.apply(theirs)
    before, after = theirs["job"], edited["job"]
    merged = [before.bin_labels.index(name) for name in ("b", "c")]
    level = np.average(before.contribution[merged], weights=before.weights[merged])
    np.testing.assert_allclose(after.contribution[merged], level)
    others = np.setdiff1d(np.arange(before.n_bins), merged)
    np.testing.assert_array_equal(after.contribution[others], before.contribution[others])


def test_an_imported_model_has_no_noise_band_and_edits_say_so(theirs):
    edited = UP.apply(theirs)
    (record,) = edited.edits
    assert record.n_outside is None
    assert "noise band unknown" in str(record)
    assert "inside the noise band" not in str(record)
    assert not record.leaves_band


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        (Flatten("age"), "flatten needs a noise band, and 'age' has none"),
        (Smooth("age"), "smooth needs reach= here, because the noise of 'age' is unknown"),
        (repair("age", "increasing"), "the released sums of 'age' are unknown; use smooth"),
    ],
)
def test_what_needs_a_noise_band_is_refused_in_words(theirs, operation, words):
    with pytest.raises(ValueError, match=words):
        operation.apply(theirs)


def test_smoothing_by_a_given_reach_needs_no_band(theirs):
    before, after = theirs["age"], Smooth("age", reach=0.1).apply(theirs)["age"]
    n = before.n_value_bins
    rough, smooth = (np.abs(np.diff(t.contribution[:n], 2)).sum() for t in (before, after))
    assert smooth < rough


def test_log_is_written_read_and_replayed_on_an_imported_model(theirs, tmp_path):
    log = EditLog.of(theirs).edit(UP, note="risk rises with age", who="Ada").edit(TOGETHER)
    log = log.checkpoint("agreed").edit(Remove("grade")).undo()
    again = dpexplain.io.load(dpexplain.io.save(log, tmp_path / "edits.json"))
    assert again == log
    edited = again.apply(theirs)
    path = dpexplain.io.save(edited, tmp_path / "edited.json")
    assert dpexplain.io.load(path) == edited
    assert EditLog.from_records(edited.edits).operations == (UP, TOGETHER)


def test_edited_import_is_still_not_private_and_says_both(theirs):
    guarantee = UP.apply(theirs).guarantee
    assert not guarantee.private
    assert any("edited" in note.lower() for note in guarantee.notes)


@pytest.mark.filterwarnings("ignore:the model is NOT PRIVATE")
def test_edits_reach_the_tools_of_interpretml_again(theirs):
    X, _ = table(seed=1)
    X = X.dropna()
    edited = EditLog().edit(UP).edit(TOGETHER).apply(theirs)
    model = to_interpret(edited)
    np.testing.assert_allclose(model.decision_function(X), scores_of(edited, X), atol=1e-12)
    assert np.abs(scores_of(edited, X) - scores_of(theirs, X)).max() > 1e-3


def test_one_class_of_an_imported_model_is_edited_alone():
    names = np.array(["low", "mid", "high"])
    several = from_interpret(fitted(lambda score: names[np.digitize(score, [2.0, 3.5])]))
    edited = Monotone("age", direction="increasing", of_class="high").apply(several)
    for old, new in zip(several.by_class, edited.by_class, strict=True):
        changed = not np.array_equal(old["age"].contribution, new["age"].contribution)
        assert changed == (new.of_class == "high")
    assert edited.edits[0].n_outside is None
