"""Claims about curves: what they say, whether they hold, and how often they are true."""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import view_examples
from dpexplain.accounting import PrivacyLedger
from dpexplain.compare import Comparison
from dpexplain.explain import NoiseModel, ShapeFunction, claim, claim_strip
from dpexplain.explain.claims.claimed_bins import Place, bin_place, range_bins
from dpexplain.explain.claims.score_errors import STEPS, part_correlations
from dpexplain.explain.noise_model import half_width
from dpexplain.models import DPExplainableBoostingClassifier
from dpexplain.schema import Categorical, Classes, Numeric, Schema
from dpexplain.tables.cells import DATE_UNIT
from example_explanations import age, classifier, job, private_guarantee
from noisy_curves import exact_std, explanation_of, some_noise


@pytest.mark.parametrize("seed", range(8))
def test_a_difference_has_the_standard_deviation_of_both_ends_or_slightly_more(seed):
    noise = some_noise(seed, 7, 1 + seed)
    explanation = explanation_of(np.linspace(-1, 1, 7), noise)
    for one, other in itertools.permutations(range(7), 2):
        loads = np.zeros(7)
        loads[[one, other]] = 1.0, -1.0
        exact, said = exact_std(noise, 0, loads), claim(explanation, "x", one, other).std
        least = noise.std[[one, other]].sum() / 44
        assert exact * (1 - 1e-6) <= said <= max(1.1 * exact, least)


def test_claims_about_many_bins_have_the_largest_error_of_their_blocks():
    n = 40
    noise = some_noise(8, n, 5)
    explanation = explanation_of(np.sin(np.arange(n)), noise)
    for low, high in [(0, 0), (0, 12), (5, 7), (17, 38), (39, 39), (1, 39)]:
        said = claim(explanation, "x", (low, high))
        inside = (np.arange(n) >= low) & (np.arange(n) <= high)
        loads = inside / inside.sum() - ~inside / (~inside).sum()
        exact, largest = exact_std(noise, 0, loads), np.abs(loads) @ noise.std[:n]
        assert exact * (1 - 1e-6) <= said.std <= largest
    for one, other in itertools.combinations(range(0, n, 3), 2):
        loads = np.zeros(n)
        loads[[one, other]] = 1.0, -1.0
        exact = exact_std(noise, 0, loads)
        said = claim(explanation, "x", one, other)
        assert exact * (1 - 1e-6) <= said.std <= noise.std[[one, other]].sum() * (1 + 1e-9)


def test_an_alias_stands_for_its_category():
    features = {
        "age": Numeric(17, 90),
        "job": Categorical(["nurse", "clerk"], aliases={"RN": "nurse"}),
    }
    fits = [
        classifier(private_guarantee(epsilon), schema=Schema(features)) for epsilon in (0.5, 2.0)
    ]
    assert claim(fits[0], "job", "RN", "clerk") == claim(fits[0], "job", "nurse", "clerk")
    ledger = PrivacyLedger("claims").summary()
    swept = Comparison((0.5, 2.0), {0.5: fits[:1], 2.0: fits[1:]}, ledger=ledger)
    assert claim_strip(swept, "job", "RN").words == claim_strip(swept, "job", "nurse").words
    with pytest.raises(KeyError, match="no bin 'LPN' of 'job'; the bins are 'nurse', 'clerk'"):
        claim(fits[0], "job", "LPN")


def test_a_code_that_is_an_alias_is_not_taken_for_the_index_of_a_bin_in_another_fit():
    coded = Categorical(["nurse", "clerk"], aliases={"1": "nurse", "2": "clerk"})
    schema = Schema({"age": Numeric(17, 90), "job": coded})
    fits = [classifier(private_guarantee(epsilon), schema=schema) for epsilon in (0.5, 2.0)]
    ledger = PrivacyLedger("claims").summary()
    swept = Comparison((0.5, 2.0), {0.5: fits[:1], 2.0: fits[1:]}, ledger=ledger)
    for asked in (("nurse", "clerk"), ("clerk", "nurse"), (1, 2), ("clerk",)):
        strip = claim_strip(swept, "job", *asked)
        assert strip.claims[0].estimate == strip.claims[1].estimate
        assert (
            strip.claims[0].first
            == strip.claims[1].first
            == ("nurse" if asked[0] in ("nurse", 1) else "clerk")
        )


def test_without_joint_errors_the_ends_are_taken_to_err_in_opposite_directions():
    explanation = dataclasses.replace(
        explanation_of([0.0, 1.0, 2.0], some_noise(0, 3, 2)), noise=None
    )
    std = explanation["x"].total_std
    assert claim(explanation, "x", 0, 2).std == pytest.approx(std[0] + std[2])


def test_a_claim_is_a_sentence_with_numbers_and_one_row():
    comparison = view_examples.comparison(joint=True)
    said = claim(comparison.explanations[8.0][0], "occupation", "student", Place(1))
    assert str(said).startswith("At ε = 8, records with occupation = student have higher odds of")
    assert f"(odds × {math.exp(said.estimate):.3g})" in said.words
    assert "95% between" in said.words
    assert said.low < said.estimate < said.high
    frame = said.frame()
    assert frame.loc[0, ["epsilon", "private", "holds"]].tolist() == [8.0, True, said.low > 0]
    assert frame.loc[0, "basis"] == "noise"


def test_a_rounding_error_reads_as_zero():
    noise = some_noise(2, 6, 3)
    explanation = explanation_of([4.41e-16, 0.0, 0.0, 0.0, 0.0, -4.41e-16], noise)
    for bins in [(0,), (0, 5), ((0, 2),), ((0, 1), (4, 5))]:
        said = claim(explanation, "x", *bins)
        assert said.estimate == 0.0
        assert "it is uncertain whether records with x = " in said.words
        assert " have higher or lower odds of " in said.words
        assert ": 0 log-odds (odds × 1), 95% between -" in said.words
        assert not said.holds


def test_a_claim_the_other_way_round_is_its_mirror_image():
    explanation = view_examples.comparison(joint=True).explanations[8.0][0]
    one, other = claim(explanation, "age", 25, 40), claim(explanation, "age", 40, 25)
    assert (one.estimate, one.low, one.high) == (-other.estimate, -other.high, -other.low)
    assert one.std == other.std
    assert ("lower" in one.words) == ("higher" in other.words)


def test_the_estimated_effect_is_claimed_where_there_is_one():
    term = age(effect=[-0.4, 0.2, 0.4, 0.0], effect_std=[0.1] * 4, effect_factor=3.0)
    said = claim(classifier(terms=(term, job())), "age", Place(2), Place(0))
    assert (said.basis, said.estimate) == ("effect", pytest.approx(0.8))


def survey_record(**values) -> pd.DataFrame:
    """Return a record from the survey in the example views."""
    usual = {
        "age": 41.0, "years married": 12.5, "capital gain": 900.0, "occupation": "student",
        "rating of the marriage": "fair", "children": "yes", "education": 11.0,
    }  # fmt: skip
    return pd.DataFrame([{**usual, **values}])


@pytest.mark.parametrize("seed", range(6))
def test_a_score_errs_by_what_its_terms_can_have_in_common_and_never_less(seed):
    rng = np.random.default_rng(seed)
    sizes, rank = (4, 3, 5), 3
    noise = NoiseModel(sizes, rng.normal(size=(13, rank)), rng.uniform(0.01, 2.0, 13))
    steps = part_correlations(noise)
    starts = np.cumsum((0, *sizes))
    first, second = np.triu_indices(4, 1)
    for bins in itertools.product(*map(range, sizes)):
        std = noise.std[[*(starts[:3] + bins), 12]]
        variance = (std**2).sum() + 2 * (std[first] * std[second] * steps / STEPS).sum()
        assert variance >= noise.score_std(np.array([bins]))[0] ** 2 * (1 - 1e-9)


def test_a_decision_is_claimed_on_the_side_of_the_threshold_where_the_prediction_lies():
    explanation = view_examples.comparison(joint=True).explanations[8.0][0]
    local = explanation.explain_local(survey_record())
    for threshold in (0.1, 0.9):
        said = claim(explanation, record=survey_record(), threshold=threshold)
        at = math.log(threshold / (1 - threshold))
        assert said.estimate == pytest.approx(local.scores[0] - at)
        assert said.holds == (abs(said.estimate) > stats.norm.ppf(0.975) * said.std)
        assert ("above" if threshold == 0.1 else "below") in said.words
    exact = explanation.noise.score_std(
        np.array(
            [[term.index_or_none(survey_record()[term.name])[0] for term in explanation.terms]]
        )
    )[0]
    assert said.std >= exact * (1 - 1e-9)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "about a term or a record"),
        ({"term": "age", "record": survey_record()}, "not both"),
        ({"record": pd.concat([survey_record()] * 2)}, "a DataFrame of one row"),
        ({"record": {"age": 3}}, "a DataFrame of one row"),
        ({"record": survey_record(), "threshold": 1.5}, "between 0 and 1"),
    ],
)
def test_a_decision_needs_one_record_and_a_threshold(asked, message):
    explanation = view_examples.comparison(joint=True).explanations[8.0][0]
    with pytest.raises(ValueError, match=message):
        claim(explanation, **asked)


def test_a_decision_is_not_claimed_where_the_errors_of_the_score_are_unknown():
    explanation = view_examples.comparison().explanations[8.0][0]
    with pytest.raises(ValueError, match="errors of the score are unknown"):
        claim(explanation, record=survey_record())


def test_natural_frequencies_start_from_the_prediction_for_typical_values():
    explanation = view_examples.comparison(joint=True).explanations[8.0][0]
    said = claim(explanation, "occupation", "student", Place(1))
    typical = {}
    for term in explanation.terms:
        counts, numeric = np.maximum(term.count[: term.n_value_bins], 0), term.bin_edges is not None
        median = next(k for k in range(len(counts)) if 2 * counts[: k + 1].sum() >= counts.sum())
        place = median if numeric else int(np.argmax(counts))
        typical[term.name] = (
            (term.bin_edges[place] + term.bin_edges[place + 1]) / 2
            if numeric
            else term.bin_labels[place]
        )
    row = pd.DataFrame([{**typical, "occupation": explanation["occupation"].bin_labels[1]}])
    assert said.shares[0] == pytest.approx(explanation.explain_local(row).predictions[0])
    odds = [share / (1 - share) for share in said.shares]
    assert odds[1] / odds[0] == pytest.approx(math.exp(said.estimate))
    assert said.frequencies.startswith("Of 100 records with typical values of all other features, ")
    regression = view_examples.comparison(joint=True, classes=None).explanations[8.0][0]
    assert claim(regression, "occupation", "student", Place(1)).frequencies == ""


def test_decisions_for_many_records_are_true_as_often_as_they_say():
    """Tests the decision for each of 200 records, in 300 draws of the noise.

    The nominal rate is 95%; a rate below the quantile, for any record, occurs by chance once in a
    million times.
    """
    true_fit = view_examples.comparison(joint=True).explanations[1.0][0]
    noise, steps = true_fit.noise, part_correlations(true_fit.noise) / STEPS
    rng = np.random.default_rng(4)
    bins = np.stack([rng.integers(0, term.n_value_bins, 200) for term in true_fit.terms], axis=1)
    rows = np.cumsum((0, *noise.sizes))[:-1] + bins
    errors = noise.draws(300, seed=12)
    wrong_by = errors[:, rows].sum(axis=2) + errors[:, -1:]
    std = np.column_stack([noise.std[rows], np.full(200, noise.std[-1])])
    first, second = np.triu_indices(std.shape[1], 1)
    common = 2 * (std[:, first] * std[:, second] * steps).sum(axis=1)
    half = half_width(1) * np.sqrt((std**2).sum(axis=1) + common)
    right = (np.abs(wrong_by) <= half).sum(axis=0)
    assert right.min() >= stats.binom.ppf(1e-6 / 200, 300, 0.95)


def test_signs_and_ranks_are_claims_too():
    comparison = view_examples.comparison(joint=True)
    explanation = comparison.explanations[8.0][0]
    sign = claim(explanation, "age", 20)
    assert (sign.kind, sign.second) == ("sign", "the average record")
    assert sign.holds == bool(abs(sign.estimate) > sign.high - sign.estimate)
    ranking = explanation.ranking()
    for term in explanation:
        rank = claim(explanation, term)
        assert [rank.low, rank.high] == ranking.loc[term, ["rank_low", "rank_high"]].tolist()
        assert rank.holds == (rank.low == rank.high == rank.estimate)
        assert ("with 95% confidence." in rank.words) == rank.holds
        assert (f": 95% between {rank.low:g} and {rank.high:g}." in rank.words) != rank.holds
        assert ("it is uncertain whether" in rank.words) != rank.holds
        by_effect = ranking.loc[term, "basis"] == "effect"
        assert ("by the effect in the population" in rank.words) == by_effect
        assert ("by importance" in rank.words) != by_effect


@pytest.mark.parametrize(
    ("bins", "error", "message"),
    [
        (("studnet", "student"), KeyError, "Did you mean 'student'"),
        ((Place(0), 99), KeyError, "no bin '99'"),
        ((Place(1), Place(1)), ValueError, "name two different bins"),
        (((0, 1, 2),), ValueError, r"a range is \(first bin, last bin\)"),
        (((Place(0), 99),), KeyError, "no bin '99'"),
        (((Place(0), Place(2)), (Place(2), Place(3))), ValueError, "share .*no bin in common"),
        (((Place(0), Place(1)), Place(1)), ValueError, "share .*no bin in common"),
        ((None, (0, 1)), ValueError, "pass a bin or a range as `first`"),
        (([0, 1],), KeyError, "A range is a tuple"),
    ],
)
def test_bins_that_make_no_claim_are_refused(bins, error, message):
    explanation = view_examples.comparison(joint=True).explanations[8.0][0]
    with pytest.raises(error, match=message):
        claim(explanation, "occupation", *bins)


def test_a_fit_of_a_comparison_makes_the_claim():
    comparison = view_examples.comparison(joint=True)
    for epsilon, fits in comparison.explanations.items():
        one = claim(comparison, "age", "30", "60", epsilon=epsilon)
        assert one == claim(fits[0], "age", "30", "60")
    assert claim(comparison, "age", "30", "60") == claim(fits[0], "age", "30", "60")  # the largest
    assert claim(comparison, "age", repeat=9).words == claim(fits[-1], "age").words
    with pytest.raises(KeyError, match="no fit with epsilon=3; the epsilons are"):
        claim(comparison, "age", epsilon=3)


def test_what_is_no_explanation_makes_no_claim():
    explanation = view_examples.comparison(joint=True).explanations[8.0][0]
    with pytest.raises(ValueError, match=r"epsilon=8\.0 chooses a fit of a comparison"):
        claim(explanation, "age", epsilon=8.0)
    with pytest.raises(TypeError, match=r"not about a ShapeFunction; pass an explanation"):
        claim(explanation["age"], "age")


def test_claims_in_a_notebook_are_sentences_with_a_table():
    comparison = view_examples.comparison(joint=True)
    strip = claim_strip(comparison, "age", "30", "60")
    html = strip._repr_html_()
    assert html.count("<tr") == 1 + len(comparison.epsilons)
    for words in (strip.words, strip.asked.frequencies, *strip.states):
        assert words in html
    one = dataclasses.replace(strip.asked, words="<script>", frequencies="")
    assert "<script>" not in one._repr_html_()
    assert "&lt;script&gt;" in one._repr_html_()


def test_bins_are_found_by_a_value_in_them():
    explanation = view_examples.comparison(joint=True).explanations[8.0][0]
    edges = explanation["age"].bin_edges
    for place in (1, 3):
        inside = (edges[place] + edges[place + 1]) / 2
        expected = claim(explanation, "age", Place(place), Place(0))
        for value in (inside, int(inside), np.float32(inside), f"{inside:g}"):
            assert claim(explanation, "age", value, "17") == expected
    ends = edges[1], f"{edges[4] - 0.5:g}"
    assert claim(explanation, "age", ends) == claim(explanation, "age", (Place(1), Place(3)))
    for outside in (f"{edges[-1] + 1:g}", "nan", float("nan"), 999, 1, True):
        with pytest.raises(KeyError, match="no bin"):
            claim(explanation, "age", outside, 17)


def test_a_number_names_the_category_of_that_name_not_the_bin_of_that_index():
    codes = dataclasses.replace(job(), name="code", categories=("3", "2"))
    explanation = classifier(terms=(codes,))
    assert claim(explanation, "code", 2, 3) == claim(explanation, "code", "2", "3")
    with pytest.raises(KeyError, match="no bin '0' of 'code'; the bins are '3', '2'"):
        claim(explanation, "code", 0)


def test_bins_of_days_are_found_by_a_date():
    shape = ShapeFunction(
        "admitted",
        "numeric",
        [0.1, 0.2, -0.3],
        [5, 6, 7],
        guarantee=private_guarantee(),
        bin_edges=[17897, 18262, 18628],
        unit=DATE_UNIT,
        special=("missing",),
    )
    for day in ("2019-06-30", datetime.date(2019, 6, 30), pd.Timestamp("2019-06-30 12:00")):
        assert bin_place(shape, day) == 0
    assert range_bins(shape, ("2020-02-29", "2019-01-01")) == (0, 1)
    assert bin_place(shape, "missing") == 2
    for absent in ("2030-01-01", "2019", "01.02.2019"):
        with pytest.raises(KeyError, match=f"no bin '{absent}'") as raised:
            bin_place(shape, absent)
        assert "its bins cover 2019-01-01 – 2021-01-01 and 'missing'" in str(raised.value)
        assert "Write a date as YYYY-MM-DD, a month as YYYY-MM, or the two" in str(raised.value)


def test_a_month_and_a_year_of_dates_are_ranges():
    admitted = ShapeFunction(
        "admitted",
        "numeric",
        [0.1, 0.2, -0.3, 0.4, 0.0],
        [5, 6, 7, 8, 1],
        guarantee=private_guarantee(),
        bin_edges=[18262, 18293, 18322, 18353, 18628],  # 1 January, February, March, April 2020
        noise_std=[0.1] * 5,
        unit=DATE_UNIT,
        special=("missing",),
    )
    explanation = classifier(terms=(admitted,))

    def same(given, meant, against=None):
        shown = claim(explanation, "admitted", given, against)
        assert shown == claim(explanation, "admitted", meant, against)
        return shown

    february = same("2020-02", ("2020-02-01", "2020-02-29"))
    assert (february.kind, february.first) == ("range", "2020-02-01 – 2020-03-01")
    same(("2020-03", "2020-01"), ("2020-01-01", "2020-03-31"))
    same(("2020-01-15", "2020-02"), ("2020-01-15", "2020-02-29"))
    same("2020-01", ("2020-01-01", "2020-01-31"), "2020-03")
    same("2020", ("2020-01-01", "2020-12-31"))
    for absent in ("2020-13", "2019-12", "2022"):
        with pytest.raises(KeyError, match=f"no bin '{absent}'"):
            claim(explanation, "admitted", absent)


def test_a_model_without_errors_makes_no_claim():
    comparison = view_examples.comparison(noise_std=False)
    with pytest.raises(ValueError, match="Claims need a private model with a noise band"):
        claim(comparison.explanations[8.0][0], "age", 20, 60)
    with pytest.raises(ValueError, match="no claim"):
        claim(view_examples.comparison().reference, "age", 20, 60)


def test_a_strip_says_from_which_epsilon_on_a_claim_holds():
    comparison = view_examples.comparison(joint=True)
    strip = claim_strip(comparison, "age", 20, 60)
    assert strip.epsilons == comparison.epsilons
    holding = [e for e, s in zip(strip.epsilons, strip.states, strict=True) if s == "holds"]
    assert strip.holds_from == holding[0]
    assert f"holds from ε = {strip.holds_from:g}" in strip.words
    assert strip.frame()["state"].tolist() == list(strip.states)
    lowest = claim_strip(comparison, "age", 20, 60, epsilon=comparison.epsilons[0])
    assert lowest.asked.guarantee.epsilon == comparison.epsilons[0]
    with pytest.raises(KeyError, match="the epsilons are"):
        claim_strip(comparison, "age", 20, 60, epsilon=3.3)


def test_bins_of_other_fits_are_found_by_value_and_may_be_one():
    coarse, fine = (
        dataclasses.replace(
            explanation_of(np.linspace(-1, 1, n), some_noise(n, n, 2)),
            terms=(dataclasses.replace(
                explanation_of(np.linspace(-1, 1, n), some_noise(n, n, 2))["x"],
                bin_edges=np.linspace(0, 8, n + 1)),),
        )
        for n in (2, 8)
    )  # fmt: skip

    class Two:
        """Comparison of a coarse and a fine fit."""

        def fits_by_epsilon(self):
            return {0.5: (coarse,), 4.0: (fine,)}

    assert claim_strip(Two(), "x", 0, 1).states[0] == "not resolved"
    assert claim_strip(Two(), "x", (0, 1), (2, 3)).states[0] == "not resolved"
    assert claim_strip(Two(), "x", (0, 3), (6, 7)).claims[0] == claim(coarse, "x", 0, 7)
    ranges = claim_strip(Two(), "x", (0, 2), (5, 7)).claims[0]
    assert (ranges.first, ranges.second) == ("0 – 4", "4 – 8")
    strip = claim_strip(Two(), "x", 0, 6)
    assert (strip.claims[0].first, strip.claims[0].second) == ("0 – 4", "4 – 8")
    assert pd.isna(claim_strip(Two(), "x", 0, 1).frame().loc[0, "estimate"])


def test_claims_chosen_after_looking_are_true_as_often_as_they_say():
    """Tests the pair of bins that looks most different, in 400 draws of the noise.

    The nominal rate is 95%; a rate below the quantile occurs by chance once in a million times.
    """
    n_bins, n_draws = 12, 400
    noise = some_noise(5, n_bins, 6)
    truth = np.repeat([-0.5, 0.0, 0.5], 4)
    explanation = explanation_of(truth, noise)
    term = explanation["x"]
    true = []
    for errors in noise.draws(n_draws, seed=11)[:, :-1]:
        seen = dataclasses.replace(term, contribution=truth + errors)
        drawn = dataclasses.replace(explanation, terms=(seen,))
        one, other = int(seen.contribution.argmax()), int(seen.contribution.argmin())
        said = claim(drawn, "x", one, other)
        true.append(said.low <= truth[one] - truth[other] <= said.high)
    assert np.sum(true) >= stats.binom.ppf(1e-6, n_draws, 0.95)
    assert half_width(1) == pytest.approx(stats.norm.ppf(0.975))


def extremes_of(explanation, name, curve):
    """Yield claims about the highest and lowest bins in every range, with true margins."""
    n = explanation[name].n_value_bins
    ranges = itertools.combinations_with_replacement(range(n), 2)
    cases = itertools.product(("highest", "lowest"), [r for r in ranges if r[1] - r[0] < n - 1])
    found = []
    for extreme, (first, last) in cases:
        inside = (np.arange(n) >= first) & (np.arange(n) <= last)
        best = np.max if extreme == "highest" else np.min
        margin = best(curve[:n][inside]) - best(curve[:n][~inside])
        span = (Place(first), Place(last))
        found.append((claim(explanation, name, span, extreme=extreme), margin))
    return found


def about_parts_of(explanation, name, curve):
    """Yield claims about signs, ranges and the rank, each with a number of its true sign."""
    term = explanation[name]
    n = term.n_value_bins
    weights = term.weights[:n] / term.weights[:n].sum()
    found = []
    for first, last in itertools.combinations_with_replacement(range(n), 2):
        inside = (np.arange(n) >= first) & (np.arange(n) <= last)
        if first == last:  # a sign, relative to all
            found.append((claim(explanation, name, Place(first)), curve[first] - weights @ curve))
        elif not inside.all():
            means = [weights[k] @ curve[k] / weights[k].sum() for k in (inside, ~inside)]
            span = (Place(first), Place(last))
            found.append((claim(explanation, name, span), means[0] - means[1]))
    rng = np.random.default_rng(0)
    for ends in np.sort(rng.integers(0, n, (200, 4)), axis=1).tolist():  # two ranges
        if ends[1] < ends[2] and (ends[0] < ends[1] or ends[2] < ends[3]):
            parts = [slice(first, last + 1) for first, last in (ends[:2], ends[2:])]
            means = [weights[k] @ curve[k] / weights[k].sum() for k in parts]
            places = tuple(map(Place, ends))
            said = claim(explanation, name, places[:2], places[2:])
            found.append((said, means[0] - means[1]))
    rank = claim(explanation, name)
    true_rank = 1.0 if name == "x" else 2.0  # importances of 0.75 and 0.53
    found.append((rank, 1.0 if rank.estimate == true_rank else -1.0))
    return found


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::dpexplain.exceptions.PrivacyWarning")
def test_claims_that_hold_about_fitted_models_are_true():
    """Tests every claim that holds about bins, one range or two, extremes and ranks, in 24 fits.

    In 95% of fits, all claims about a term are true. Terms of one fit hold or fail together, so
    that 24 fits count; fewer than the quantile below are true by chance once in a million times.
    """
    of_job = {"a": -0.6, "b": 0.2, "c": 0.8}
    features = {"x": Numeric(0, 1), "job": Categorical(list(of_job))}
    schema = Schema(features, target=Classes(["no", "yes"]))
    right, held = [], 0
    for seed in range(24):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame({"x": rng.uniform(0, 1, 2_000), "job": rng.choice(list("abc"), 2_000)})
        score = 3.0 * (X["x"] - 0.5) + X["job"].map(of_job)
        y = np.where(rng.random(2_000) < 1 / (1 + np.exp(-score)), "yes", "no")
        model = DPExplainableBoostingClassifier(epsilon=1.0, schema=schema, structure_seed=seed)
        explanation = model.fit(X, y).explain_global()
        for name, curve in (("x", None), ("job", np.array(list(of_job.values())))):
            term = explanation[name]
            if curve is None:
                curve = 3.0 * (term.bin_edges[1:] + term.bin_edges[:-1]) / 2
            said = [
                (claim(explanation, name, one, other), curve[one] - curve[other])
                for one, other in itertools.combinations(map(Place, range(term.n_value_bins)), 2)
            ]
            said += extremes_of(explanation, name, curve)
            said += about_parts_of(explanation, name, curve)
            kept = [(each, true) for each, true in said if each.holds]
            held += len(kept)
            right.append(all(each.estimate * true > 0 for each, true in kept))
    assert held > 24
    assert np.mean(right) >= stats.binom.ppf(1e-6, 24, 0.95) / 24
