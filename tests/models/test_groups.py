"""Who owns the rows: a column, a name and persons, or persons alone; and what follows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dpexplain import PrivacyLedger, Schema, sweep
from dpexplain.accounting import RECORD, Person
from dpexplain.accounting.unit import same_unit
from dpexplain.exceptions import BudgetError
from private_models import FEATURES, every_model, known, make, records_for

FAST = "DPLogisticRegression"


def small(name, ledger=None, **settings):
    return make(name, ledger=ledger, max_rows_per_person=2, **known(name, max_rounds=2), **settings)


def visits(name=FAST, n=40):
    X, y = records_for(name, n)
    return X, y, pd.Series(np.arange(n) // 2)


def test_a_text_file_with_persons_is_answered_with_the_call_that_reads_it(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("age,job\n")
    with pytest.raises(ValueError, match=r"in memory \(dpexplain\.tables\.read_texts\(X\)\), bec"):
        make("DPExplainableBoostingClassifier", max_rows_per_person=2).fit(path, "job")
    with pytest.raises(ValueError, match=r"in memory \(pandas\.read_parquet\(X\)\), because"):
        make("DPExplainableBoostingClassifier", max_rows_per_person=2).fit("v.parquet", "job")


@pytest.mark.full
@every_model
def test_column_of_the_table_names_the_persons_and_is_no_feature(name):
    X, y, people = visits(name)
    ledger = PrivacyLedger("visits")
    model = small(name, ledger).fit(X.assign(patient_id=people), y, groups="patient_id")
    small(name, ledger).fit(X, y, groups=("patient_id", people))

    assert list(model.feature_names_in_) == ["age", "job"]
    assert ledger.unit == Person("patient_id", 2)
    assert [entry.unit for entry in ledger.entries] == [Person("patient_id", 2)] * 2
    words = "one person (patient_id), of whom at most 2 rows are used"
    assert model.guarantee_.unit == words
    statement = model.statement()
    assert statement.unit == words
    assert statement.everything.epsilon == ledger.private_epsilon() < float("inf")
    for text in (model.guarantee_.statement(), statement.text()):
        assert text.count("at most 2 rows") == 1
        assert "differ by the presence of one person (patient_id)" in text
    assert not hasattr(model, "_person_kind")
    assert list(X.columns) == ["age", "job"]


def test_persons_without_a_name_are_a_kind_of_their_own_in_every_fit():
    X, y, people = visits()
    ledger = PrivacyLedger("visits")
    for groups in (people, people, people.rename("patient_id"), people.to_numpy(), list(people)):
        model = small(FAST, ledger).fit(X, y, groups=groups)

    units = [entry.unit for entry in ledger.entries]
    assert not any(same_unit(a, b) for i, a in enumerate(units) for b in units[:i])
    assert model.guarantee_.unit == "one person, of whom at most 2 rows are used"
    assert ledger.unit == RECORD
    assert not model.statement().everything.private
    assert "no bound for one person" in model.statement().text()


def test_one_fit_for_persons_without_a_name_is_stated_for_them():
    X, y, people = visits()
    model = small(FAST, PrivacyLedger("visits")).fit(X, y, groups=people)

    assert model.statement().everything.private
    assert small(FAST).fit(X, y, groups=people).statement().everything.private


def test_schema_that_is_drafted_leaves_out_the_column_of_persons():
    X, y, people = visits()
    with pytest.warns(match="bounds and categories were read") as caught:
        model = small(FAST, schema=None).fit(X.assign(who=people), y, groups="who")
    assert model.schema_.feature_names == ("age", "job")
    assert {warning.filename for warning in caught if "bounds and" in str(warning.message)} == {
        __file__
    }


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ("nobody", "which has none of that name"),
        ("age", "is a feature of the schema"),
        (("", np.arange(40)), "must name whose"),
        (("x" * 300, np.arange(40)), "must name whose"),
        (("patient", np.arange(39)), "one value per row"),
    ],
)
def test_groups_that_cannot_be_read_cost_nothing(groups, words):
    X, y, _ = visits()
    ledger = PrivacyLedger("visits")
    with pytest.raises(ValueError, match=words):
        small(FAST, ledger).fit(X, y, groups=groups)
    assert ledger.entries == ()


@pytest.mark.parametrize("groups", ["visit", ("visit", [1, 2])])
@pytest.mark.parametrize("call", [type(make(FAST)).fit, sweep])
def test_column_other_than_the_person_column_of_the_schema_is_refused_and_costs_nothing(
    groups, call
):
    X, y, people = visits()
    ledger = PrivacyLedger("visits")
    model = small(FAST, ledger)
    model.set_params(schema=replace(model.schema, person="patient_id"))
    table = X.assign(patient_id=people, visit=range(len(X)))
    with pytest.raises(ValueError, match="the schema names 'patient_id' as the person column"):
        call(model, table, y, groups=groups)
    assert not ledger.entries


def test_array_has_no_column_of_that_name():
    X, y, _ = visits()
    with pytest.raises(ValueError, match="has none of that name"):
        small(FAST).fit(X.to_numpy(), y, groups="patient_id")


@pytest.mark.parametrize("call", [type(make(FAST)).fit, sweep])
def test_a_table_without_the_person_column_of_the_schema_is_told_so_and_costs_nothing(call):
    X, y, _ = visits()
    ledger = PrivacyLedger("visits")
    model = small(FAST, ledger)
    model.set_params(schema=replace(model.schema, person="patient_id"))
    words = "the schema names 'patient_id' as the person column of X, which has none of that name"
    with pytest.raises(ValueError, match=words) as told:
        call(model, X, y)
    assert "groups=('patient_id', array)" in str(told.value)
    assert not ledger.entries


def test_two_columns_of_one_name_are_refused():
    X, y, people = visits()
    doubled = pd.concat([X, people.rename("who"), people.rename("who")], axis=1)
    with pytest.raises(ValueError, match="has several of that name"):
        small(FAST).fit(doubled, y, groups="who")


def test_column_without_a_bound_of_rows_is_refused():
    X, y, people = visits()
    with pytest.raises(ValueError, match="must be given together"):
        make(FAST).fit(X.assign(who=people), y, groups="who")


def test_two_persons_of_two_rows_are_no_name_and_persons():
    X, y, _ = visits(n=2)
    model = small(FAST).fit(X, y, groups=("anna", "ben"))
    assert model.guarantee_.unit == "one person, of whom at most 2 rows are used"


def test_rows_are_bounded_by_the_column_as_by_the_persons_beside(monkeypatch):
    X, y, people = visits()
    seen = []
    honest = type(make(FAST))._kept_rows
    monkeypatch.setattr(
        type(make(FAST)),
        "_kept_rows",
        lambda self, groups: seen.append(list(groups)) or honest(self, groups),
    )
    for table, groups in ((X.assign(who=people), "who"), (X, ("who", people)), (X, people)):
        small(FAST).fit(table, y, groups=groups)
    assert seen == [list(people)] * 3


def test_sweep_charges_one_kind_of_persons_with_a_name_or_without():
    X, y, people = visits()
    for groups, table in (
        ("who", X.assign(who=people)),
        (("who", people), X),
        (people, X),
    ):
        ledger = PrivacyLedger(f"sweep {type(groups).__name__} {groups is people}", cap_epsilon=9.0)
        comparison = sweep(
            small(FAST), table, y, (0.5, 1), ledger=ledger, groups=groups, evaluate=(table, y),
            progress=False, reference=groups is not people,
        )  # fmt: skip
        first, second, *_ = ledger.entries
        assert first.unit == second.unit
        assert same_unit(ledger.unit, first.unit)
        assert comparison.ledger.private_epsilon == ledger.private_epsilon() < 9.0
        again = small(FAST, ledger, epsilon=0.1)
        if groups is people:
            with pytest.raises(BudgetError, match="name the grouping"):
                again.fit(X, y, groups=people)
        else:
            again.fit(X, y, groups=("who", people))


def test_fit_for_records_is_refused_by_a_cap_for_persons_before_records_are_read():
    X, y, people = visits()
    ledger = PrivacyLedger("visits", 3.0)
    small(FAST, ledger).fit(X, y, groups=("patient", people))
    with pytest.raises(BudgetError, match=r"groups='patient', or \(name, array\)"):
        make(FAST, ledger=ledger, epsilon=0.1).fit(X, y)
    with pytest.raises(BudgetError, match="has no bound"):
        sweep(make(FAST), X, y, (0.1,), ledger=ledger, reference=False, progress=False)
    assert len(ledger.entries) == 1


def test_column_of_persons_is_ignored_when_records_are_scored():
    X, y, people = visits()
    table = X.assign(who=people)
    model = small(FAST).fit(table, y, groups="who")
    np.testing.assert_array_equal(model.predict(table), model.predict(X))
    assert Schema(FEATURES, target=model.schema_.target) == model.schema_
