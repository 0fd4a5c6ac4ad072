"""Claims that the predicted class leads: what they say, and how often they are true."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dpexplain import Categorical, Classes, DPExplainableBoostingClassifier, Numeric, Schema
from dpexplain.explain import MulticlassExplanation, claim
from dpexplain.explain.noise_model import half_width

CLASSES = ("home", "bed", "theatre")
RECORDS = pd.DataFrame({"age": [30, 50, 80], "ward": ["A", "B", "B"]})


@functools.cache
def explanation() -> MulticlassExplanation:
    """Explain a private model of three classes."""
    features = {"age": Numeric(0, 100, step=1), "ward": Categorical(["A", "B"])}
    schema = Schema(features, target=Classes(list(CLASSES), name="triage"))
    rng = np.random.default_rng(8)
    X = pd.DataFrame({"age": rng.integers(0, 100, 600), "ward": rng.choice(["A", "B"], 600)})
    y = np.array(CLASSES)[np.clip(X["age"] // 40 + (rng.random(600) > 0.7), 0, 2)]
    model = DPExplainableBoostingClassifier(epsilon=4.0, schema=schema, max_rounds=20)
    return model.fit(X, y).explain_global()


def errors_of(record: pd.DataFrame, z: np.ndarray) -> np.ndarray:
    """Errors of the score of each class in draws `z` (classes, draws, causes)."""
    local = explanation().explain_local(record)
    found = []
    for part, own, draws in zip(explanation().by_class, local.by_class, z, strict=True):
        starts = np.cumsum((0, *part.noise.sizes))
        labels = zip(part.terms, own.bin_labels[0], strict=True)
        bins = [term.bin_labels.index(label) for term, label in labels]
        rows = part.noise.factor[[*(starts[:-1] + bins), starts[-1]]]
        found.append(draws[:, : rows.shape[1]] @ rows.sum(axis=0))
    return np.array(found)


@pytest.mark.parametrize("place", range(3))
def test_the_predicted_class_leads_its_closest_rival(place):
    record = RECORDS.iloc[[place]]
    said = claim(explanation(), record=record, samples_public=True)
    scores = explanation().explain_local(record).scores[0]
    order = np.argsort(-scores)

    assert said.first == CLASSES[order[0]]
    assert said.estimate == pytest.approx(scores[order[0]] - scores[CLASSES.index(said.second)])
    assert said.low == pytest.approx(said.estimate - half_width(2) * said.std)
    assert said.holds == (said.low > 0)
    assert f"triage = {said.first} is the most likely class" in said.words
    assert said.guarantee.private


def test_a_claim_about_one_class_says_what_its_odds_are_compared_with():
    bed = explanation().for_class("bed")
    for asked in (("age", 10, 70), ("ward", "A"), ("ward", "B", "A")):
        said = claim(bed, *asked)
        assert " odds of triage = bed against the average class" in said.words


@pytest.mark.parametrize("together", [False, True])
def test_leads_over_all_classes_hold_at_once(together):
    """Compares intervals with 4,000 draws of the errors, in which classes err alone or against."""
    record, n = RECORDS.iloc[[1]], 4_000
    rng = np.random.default_rng(0)
    causes = max(part.noise.factor.shape[1] for part in explanation().by_class)
    z = rng.standard_normal((3, n, causes))
    z = np.stack([z[0], -z[0], -z[0]]) if together else z
    errors = errors_of(record, z)
    local = explanation().explain_local(record)
    best = int(local.scores[0].argmax())
    stds = errors.std(axis=1)
    said = claim(explanation(), record=record)
    rival = CLASSES.index(said.second)
    assert said.std >= 0.95 * (stds[best] + stds[rival]) * (1 - 1e-9)

    lead = errors[best] - errors[rival]
    inside = int((np.abs(lead) <= said.high - said.estimate).sum())
    assert inside >= stats.binom.ppf(1e-6, n, 0.95)


def test_a_record_that_is_not_public_is_marked():
    said = claim(explanation(), record=RECORDS.iloc[[0]])
    assert not said.guarantee.private
    assert said.words.startswith("NOT PRIVATE")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"record": RECORDS.iloc[[0]], "threshold": 0.3}, "no threshold"),
        ({"record": RECORDS}, "one row"),
        ({"term": "age"}, "for_class"),
    ],
)
def test_other_questions_say_what_to_pass(asked, message):
    with pytest.raises(ValueError, match=message):
        claim(explanation(), **asked)


def test_one_class_alone_makes_no_claim_about_a_record():
    with pytest.raises(ValueError, match="explanation of all classes"):
        claim(explanation().for_class("bed"), record=RECORDS.iloc[[0]])
