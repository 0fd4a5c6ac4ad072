"""Tier 1: with the same answers forced, one record changes sums within sensitivity."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from audit_subjects import every_subject
from dpexplain.accounting import RECORD
from dpexplain.audit import record, replay
from dpexplain.audit.cases import canary_case, row_exchange
from dpexplain.audit.charges import charged_mu, stated_over_charged, unpaid
from dpexplain.audit.records import exchanged, made_up_records, without
from dpexplain.audit.releases import distance, log_likelihood_ratio, standard_noise
from dpexplain.audit.subjects import audited, canary_share, goes_by_place, powerful_tiers, variants
from dpexplain.audit.tiers import hostile, replay_of_rows, replays
from effort import examples

# Settings are drawn at random, so constraints may leave features out of a choice of pairs.
pytestmark = pytest.mark.filterwarnings("ignore:pairs=.* makes no pairs")

SEEDS = st.integers(0, 2**32 - 1)


def drawn_estimator(data, subject, adjacency):
    """Return the estimator with parameters drawn for tier 1, if they are compatible."""
    options = {name: st.sampled_from(v) for name, v in variants(subject).items()}
    chosen = data.draw(st.fixed_dictionaries(options))
    estimator = audited(subject, adjacency=adjacency, **chosen)
    try:
        estimator.planned_events(made_up_records(estimator.schema, 0, 0)[0])
    except ValueError:
        assume(False)
    return estimator


def changed_place(data, estimator, n):
    return n - 1 if goes_by_place(estimator) else data.draw(st.integers(0, n - 1))


@pytest.mark.full
@every_subject
@examples(30)
@given(n=st.integers(1, 40), seed=SEEDS, wild=st.booleans(), forged=st.booleans(), data=st.data())
def test_a_present_or_absent_record_stays_within_the_guarantee(
    subject, n, seed, wild, forged, data
):
    estimator = drawn_estimator(data, subject, "add_remove")
    records = made_up_records(estimator.schema, n, seed, wild=wild)
    model, transcript = record(estimator, *records, answers=hostile(seed) if forged else None)
    neighbor = without(records, changed_place(data, estimator, n))
    report = replay(estimator, neighbor, model, transcript)
    assert report.holds, report


@pytest.mark.full
@every_subject
@examples(20)
@given(n=st.integers(1, 30), seed=SEEDS, wild=st.booleans(), forged=st.booleans(), data=st.data())
def test_an_exchanged_record_stays_within_a_replace_one_guarantee(
    subject, n, seed, wild, forged, data
):
    estimator = drawn_estimator(data, subject, "replace")
    records = made_up_records(estimator.schema, n, seed, wild=wild)
    # Both data sets are of one type, as two tables from one source are.
    records = exchanged(records, 0, records)
    model, transcript = record(estimator, *records, answers=hostile(seed) if forged else None)
    other = made_up_records(estimator.schema, 1, seed + 1, wild=wild)
    neighbor = exchanged(records, changed_place(data, estimator, n), other)
    report = replay(estimator, neighbor, model, transcript)
    assert report.holds, report


@pytest.mark.full
@every_subject
@examples(15)
@given(
    k=st.integers(1, 3),
    n_rows=st.integers(0, 4),
    n_others=st.integers(0, 12),
    seed=SEEDS,
    forged=st.booleans(),
    data=st.data(),
)
def test_one_more_row_of_a_person_stays_within_the_price_of_a_record(
    subject, k, n_rows, n_others, seed, forged, data
):
    """The coins of both tables are paired: either one more row is used, or a different one."""
    estimator = drawn_estimator(data, subject, "add_remove").set_params(max_rows_per_person=k)
    X, y = made_up_records(estimator.schema, n_others + n_rows + 1, seed)
    people = pd.Series([*range(n_others), *["anna"] * (n_rows + 1)], dtype=object)
    first = n_others + max(0, n_rows - k)
    before = [*range(n_others), *range(first, n_others + n_rows)]
    after = [*(before if n_rows < k else before[:-1]), n_others + n_rows]
    model, transcript = record(
        estimator,
        X[:-1],
        y[:-1],
        people[:-1],
        kept=before,
        answers=hostile(seed) if forged else None,
    )
    report = replay(estimator, (X, y, people), model, transcript, kept=after, unit=RECORD)
    assert report.holds, report


@pytest.mark.full
@every_subject
def test_a_row_that_is_exchanged_goes_beyond_the_price_of_a_person(subject):
    """So the replay would detect noise for persons that is claimed to protect records."""
    case = canary_case(subject)
    assert replay_of_rows(case).holds
    if 1 in powerful_tiers(subject):
        estimator, table, kept, instead = row_exchange(case)
        model, transcript = record(estimator, *table, kept=kept)
        assert not replay(estimator, table, model, transcript, kept=instead).holds


@pytest.mark.full
@every_subject
@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
def test_the_canary_uses_up_the_guarantee_and_no_more(subject, adjacency):
    """Tiers 3 and 4 can only be tight if one record moves sums by their full sensitivity.

    With more records in the background, calibration may bound residuals of counts by the whole
    range. A replaced canary then moves the sums by half as much.
    """
    case = canary_case(subject, adjacency=adjacency, n_background=5)
    reports = replays(case)
    assert all(report.holds for report in reports), reports
    assert reports[0].spent_share > canary_share(subject, adjacency)


@every_subject
def test_what_is_charged_is_what_is_released(subject):
    estimator = audited(subject)
    model, transcript = record(estimator, *made_up_records(estimator.schema, 20, 0))
    assert unpaid(model, transcript.phases) == []
    less = [p.with_noise(0.999) for p in transcript.phases]
    assert len(unpaid(model, less)) == len({p.label for p in less})
    unknown = [dataclasses.replace(p, label="another") for p in transcript.phases]
    assert any("another" in text for text in unpaid(model, unknown))


def test_unknown_events_and_phases_are_refused_rather_than_passed():
    for question in (
        lambda: stated_over_charged(object(), [], []),
        lambda: charged_mu(object(), []),
        lambda: distance(object(), np.zeros(1), np.zeros(1)),
        lambda: log_likelihood_ratio(object(), np.zeros(1), np.zeros(1), np.zeros(1)),
        lambda: standard_noise(object(), np.zeros(1), np.zeros(1)),
    ):
        with pytest.raises(TypeError, match="register"):
            question()
