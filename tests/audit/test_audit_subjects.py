"""New private estimators are audited without extra code; hooks are for special ones."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

import dpexplain.models as models
from dpexplain.audit import canary_case, private_estimators, subjects
from dpexplain.audit.records import exchanged, made_up_records, without
from dpexplain.audit.subjects import Audit, audited, variants
from dpexplain.models import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor
from dpexplain.schema import Classes, Numeric, Range


class DPNewcomer(DPExplainableBoostingClassifier):
    """A newly added model."""


class DPParticular(DPExplainableBoostingRegressor):
    """A model with two parameters between 0 and 1, and a variant of its own."""

    _audit: ClassVar = Audit(
        features={"a": Numeric(0, 1), "b": Numeric(0, 1)},
        settings={"clip": 0.1, "max_rounds": 1},
        variants={"max_leaves": (2, 5)},
    )


class DPImpossible(DPExplainableBoostingRegressor):
    """A model that accepts no parameters."""

    def _check_settings(self):
        raise ValueError("no")


def test_every_private_estimator_is_found_and_nothing_else():
    assert set(private_estimators()) == {n for n in models.__all__ if n.startswith("DP")}


def test_a_new_model_is_audited_as_soon_as_it_is_listed(monkeypatch):
    monkeypatch.setattr(models, "DPNewcomer", DPNewcomer, raising=False)
    monkeypatch.setattr(models, "__all__", [*models.__all__, "DPNewcomer"])
    assert any(s.estimator_class is DPNewcomer for s in subjects())


def test_a_model_with_needs_of_its_own_gets_its_columns_settings_and_variants():
    subject = subjects([DPParticular])[0]
    assert list(audited(subject).schema.features) == ["a", "b"]
    case = canary_case(subject)
    assert list(case.present[0]) == ["a", "b"]
    assert case.estimator.clip == 0.1
    assert variants(subject)["max_leaves"] == (2, 5)
    assert "preset" in variants(subject)


def test_a_model_that_accepts_no_subject_is_an_error_and_not_left_out():
    with pytest.raises(ValueError, match="DPImpossible"):
        subjects([DPImpossible])


def test_names_of_subjects_are_distinct():
    names = [subject.name for subject in subjects()]
    assert len(set(names)) == len(names)


def test_the_canary_alone_has_its_category_and_if_so_asked_its_class():
    subject = next(s for s in subjects() if isinstance(s.target, Classes))
    for lone in (False, True):
        case = canary_case(subject, lone_class=lone)
        X, y = case.present
        assert len(case.absent[0]) == len(X) - 1
        assert (X.iloc[-1] == X).all(axis=1).sum() == 1
        assert ((y == y.iloc[-1]).sum() == 1) == lone
    replaced = canary_case(subject, adjacency="replace")
    assert replaced.present[0].equals(replaced.absent[0])
    assert (replaced.present[1] != replaced.absent[1]).sum() == 1


@pytest.mark.parametrize("target", [Range(0, 4), Classes(["no", "yes"])], ids=["range", "classes"])
def test_neighbors_differ_by_one_record(target):
    schema = audited(next(s for s in subjects() if isinstance(s.target, type(target)))).schema
    X, y = made_up_records(schema, 9, 0, wild=True)
    less = without((X, y), 4)
    assert list(less[0].index) == list(less[1].index) == [0, 1, 2, 3, 5, 6, 7, 8]
    other = made_up_records(schema, 1, 1)
    swapped = exchanged((X, y), 4, other)
    assert swapped[0].iloc[4].tolist() == other[0].iloc[0].tolist()
    assert len(swapped[0]) == 9
    assert np.array_equal(
        swapped[0].drop(index=4).map(repr).to_numpy(), X.drop(index=4).map(repr).to_numpy()
    )
