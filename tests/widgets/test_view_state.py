"""Choices are checked in Python; errors name what was given and what is available."""

from __future__ import annotations

import math

import numpy as np
import pytest
import traitlets
from hypothesis import given
from hypothesis import strategies as st

import dpexplain_widgets
import view_examples
from dpexplain_widgets import Explorer, LedgerView, ShapeView
from dpexplain_widgets.payload.payload import build_payload
from dpexplain_widgets.state.state import STATE_TRAITS

VIEWS = [getattr(dpexplain_widgets, name) for name in view_examples.view_names()]
CHOICES = [name for name in STATE_TRAITS if name != "payload"]
N_EPSILONS = len(view_examples.EPSILONS)
N_AGE_BINS = 25


@pytest.fixture(scope="module")
def payload():
    return build_payload(view_examples.comparison(n_repeats=3))


@pytest.fixture
def explorer(payload):
    return Explorer(payload, term="age")


def choices(view) -> dict:
    return {name: getattr(view, name) for name in CHOICES}


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_has_the_same_state_and_sends_it(view, payload):
    made = view(payload)

    assert set(STATE_TRAITS) <= set(made.keys)
    assert made.payload == payload


def test_a_view_starts_at_the_largest_epsilon_up_to_one(payload):
    assert Explorer(payload).epsilon == 1.0


def test_a_view_starts_with_the_term_that_matters_most(payload):
    importance = [term["importance"] for term in payload["fits"][-1][0]["terms"]]

    assert Explorer(payload).term == payload["terms"][int(np.argmax(importance))]["name"]


def test_initial_choices_are_taken(payload):
    view = ShapeView(payload, term="age", epsilon_index=5, bin_index=24, repeat=2)

    assert (view.term, view.epsilon, view.bin_index, view.repeat) == ("age", 8.0, 24, 2)


def test_an_epsilon_chooses_its_fit_from_the_start(payload):
    assert Explorer(payload, epsilon=0.5).epsilon_index == view_examples.EPSILONS.index(0.5)
    assert ShapeView(payload, term="age", epsilon=math.inf).epsilon_index == N_EPSILONS
    with pytest.raises(traitlets.TraitError, match=r"no fit with epsilon=3; the epsilons are"):
        Explorer(payload, epsilon=3)
    with pytest.raises(TypeError, match="pass epsilon= or epsilon_index=, not both"):
        Explorer(payload, epsilon=0.5, epsilon_index=1)


def test_an_unknown_choice_is_answered_with_the_known_ones(payload):
    with pytest.raises(TypeError, match=r"no choice named 'epsilons'; the choices are \['above_no"):
        Explorer(payload, epsilons=(1, 2))
    with pytest.raises(TypeError, match=r"export_html\(path, title=...\)"):
        Explorer(payload, title="Outcomes")


def test_a_misspelled_choice_is_refused_with_the_one_that_was_meant(payload, explorer):
    with pytest.raises(TypeError, match=r"Did you mean 'term'\?"):
        Explorer(payload, tern="age")
    with pytest.raises(AttributeError, match=r"has no choice 'tern'; did you mean 'term'\?"):
        explorer.tern = "age"
    explorer.note = "for the class"  # resembles no choice
    assert explorer.note == "for the class"


@pytest.mark.parametrize("index", range(N_EPSILONS + 1))
def test_every_stop_can_be_chosen(explorer, index):
    explorer.epsilon_index = index

    expected = (*view_examples.EPSILONS, math.inf)
    assert explorer.epsilon == expected[index]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("epsilon_index", 9, "epsilon_index=9 must be one of 0 for epsilon 0.25, 1 for epsilon"),
        ("epsilon_index", -1, "epsilon_index=-1 must be one of"),
        ("epsilon_index", 1.5, "epsilon_index=1.5 must be an integer"),
        ("epsilon_index", True, "epsilon_index=True must be an integer"),
        ("epsilon_index", None, "epsilon_index=None must be an integer"),
        ("term", "Age", "no term 'Age'; the terms are 'age', .* Did you mean 'age'?"),
        ("term", "", "no term ''; the terms are 'age'"),
        ("bin_index", N_AGE_BINS, "bin_index=25 must be a bin of the term: 0 to 24"),
        ("bin_index", -1, "bin_index=-1 must be a bin of the term: 0 to 24"),
        ("bin_index", "3", "bin_index='3' must be an integer or None"),
        ("repeat", 3, "repeat=3 must be one of the fits at an epsilon: 0 to 2"),
        ("sample", 0, "sample=0, but there are no samples; pass samples=DataFrame"),
        ("pinned_epsilon", 3.0, "pinned_epsilon=3 must be None or one of 0.25, 0.5, 1, 2, 4, 8"),
        ("pinned_epsilon", math.nan, "pinned_epsilon=nan must be None or one of"),
        ("payload", {"version": 1}, "a payload has exactly the keys"),
    ],
)
def test_a_refused_choice_says_why_and_changes_nothing(explorer, name, value, message):
    before = choices(explorer)

    with pytest.raises(traitlets.TraitError, match=message):
        setattr(explorer, name, value)
    assert choices(explorer) == before


def test_a_very_long_unknown_name_gives_a_short_answer(explorer):
    with pytest.raises(traitlets.TraitError) as raised:
        explorer.term = "x" * 10_000
    assert len(str(raised.value)) < 400


def test_a_refused_initial_choice_makes_no_view(payload):
    with pytest.raises(traitlets.TraitError, match="no term 'income'"):
        Explorer(payload, term="income")


@given(index=st.integers(-3, 12), repeat=st.integers(-3, 6), chosen=st.integers(-3, 40))
def test_whatever_is_tried_the_state_can_be_read(payload, index, repeat, chosen):
    view = Explorer(payload, term="age")
    for name, value in (("epsilon_index", index), ("repeat", repeat), ("bin_index", chosen)):
        try:
            setattr(view, name, value)
        except traitlets.TraitError:
            assert getattr(view, name) != value
    assert len(view.selection) == (N_AGE_BINS if view.bin_index is None else 1)


@pytest.mark.parametrize("integer", [np.int64(2), np.uint8(2), np.array(2)[()]])
def test_integers_of_any_type_are_whole_numbers(explorer, integer):
    explorer.epsilon_index = integer

    assert explorer.epsilon_index == 2
    assert type(explorer.epsilon_index) is int


@pytest.mark.parametrize("epsilon", [*view_examples.EPSILONS, math.inf, np.float64(0.5), 8])
def test_an_epsilon_is_chosen_by_its_value(explorer, epsilon):
    explorer.epsilon = epsilon

    assert explorer.epsilon == epsilon
    assert explorer.epsilon_index == (*view_examples.EPSILONS, math.inf).index(epsilon)


@pytest.mark.parametrize("epsilon", [0.7, -math.inf, math.nan, 0, True, "0.5", None, [0.5]])
def test_an_epsilon_without_a_fit_is_answered_with_those_there_are(explorer, epsilon):
    before = choices(explorer)

    with pytest.raises(
        traitlets.TraitError,
        match=r"no fit with epsilon=.*; the epsilons are 0\.25, 0\.5, 1, 2, 4, 8, "
        r"float\('inf'\) for the non-private reference\. Another epsilon needs a new fit",
    ):
        explorer.epsilon = epsilon
    assert choices(explorer) == before


def test_an_infinite_epsilon_is_offered_only_where_there_is_a_reference():
    comparison = view_examples.comparison()
    private = ShapeView(comparison.explanations[0.5][0])
    with pytest.raises(traitlets.TraitError, match=r"the epsilons are 0\.5\. Another"):
        private.epsilon = math.inf

    reference = ShapeView(comparison.reference)
    reference.epsilon = math.inf
    assert reference.epsilon_index == 0
    with pytest.raises(
        traitlets.TraitError, match="the epsilons are none, because no model is shown"
    ):
        LedgerView(comparison.ledger).epsilon = 0.5


def test_a_rounded_epsilon_is_the_one_that_was_meant():
    fit = view_examples.comparison(epsilons=(0.1 + 0.2,)).explanations[0.1 + 0.2][0]
    view = ShapeView(fit)
    view.epsilon = 0.3

    assert view.epsilon == 0.1 + 0.2


def test_the_reference_cannot_be_chosen_while_it_is_hidden(explorer):
    explorer.show_reference = False

    with pytest.raises(traitlets.TraitError, match="set show_reference = True first"):
        explorer.epsilon_index = N_EPSILONS
    with pytest.raises(traitlets.TraitError, match="set show_reference = True first"):
        explorer.epsilon = math.inf


def test_hiding_the_reference_leaves_its_stop(explorer):
    explorer.epsilon_index = N_EPSILONS
    explorer.show_reference = False

    assert explorer.epsilon == 8.0


def test_a_message_of_the_page_that_changes_two_choices_is_checked_as_a_whole(explorer):
    explorer.show_reference = False
    explorer.set_state({"epsilon_index": N_EPSILONS, "show_reference": True})

    assert explorer.epsilon == math.inf


def test_choosing_another_term_forgets_a_bin_it_lacks(explorer):
    explorer.bin_index = 20
    explorer.term = "children"

    assert explorer.bin_index is None


def test_a_new_payload_keeps_the_choices_it_has_and_resets_the_rest(explorer):
    explorer.epsilon_index, explorer.pinned_epsilon, explorer.repeat = 5, 0.25, 2
    other = view_examples.comparison(view_examples.survey_terms()[:2], (0.5, 1.0))
    explorer.payload = build_payload(other)

    assert explorer.term == "age"
    assert (explorer.epsilon, explorer.pinned_epsilon, explorer.repeat) == (1.0, None, 0)


def test_a_new_payload_without_the_term_starts_with_its_most_important(explorer):
    explorer.payload = build_payload(view_examples.comparison(view_examples.wide_terms(3, 2)))

    assert explorer.term == view_examples.LONG_NAME


def test_two_views_are_linked_trait_by_trait(payload):
    one, two = Explorer(payload), ShapeView(payload)
    link = traitlets.link((one, "epsilon_index"), (two, "epsilon_index"))
    one.epsilon_index = 4
    assert two.epsilon_index == 4
    link.unlink()
    one.epsilon_index = 0
    assert two.epsilon_index == 4


def test_a_model_without_privacy_is_shown_even_with_the_reference_off():
    reference = view_examples.comparison().reference
    view = ShapeView(reference, show_reference=False)

    assert view.epsilon == math.inf
    assert not view.selection["private"].any()


@pytest.mark.parametrize("view", [each for each in VIEWS if each is not LedgerView])
def test_a_ledger_alone_is_shown_by_the_ledger_view_only(view):
    summary = view_examples.comparison().ledger

    with pytest.raises(TypeError, match="use LedgerView for a LedgerSummary"):
        view(summary)
    assert LedgerView(summary).term == ""


def test_a_range_of_bins_is_chosen_by_its_ends_and_left_with_the_term(explorer):
    explorer.bin_range = [3, 23]
    assert explorer.bin_range == [3, 23]
    explorer.term = "children"
    assert explorer.bin_range is None


@pytest.mark.parametrize("bins", [[3], [5, 4], [-1, 2], [0, 24], [1, 2, 3]])
def test_a_range_beyond_the_bins_that_hold_values_is_refused(explorer, bins):
    with pytest.raises(traitlets.TraitError, match="the first and last of the bins 0 to 23"):
        explorer.bin_range = bins


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tab", "tab='x' must be one of 'shape', "),
        ("term_order", "term_order='x' must be one of 'last', 'this', 'schema', 'name'"),
        ("against", "against='x' must be one of 'reference', 'epsilon', 'model', 'repeat'"),
    ],
)
def test_words_to_choose_from_are_listed(explorer, name, message):
    with pytest.raises(traitlets.TraitError, match=message):
        setattr(explorer, name, "x")


@pytest.mark.parametrize("name", ["page_index", "replay_draw"])
def test_numbers_of_pages_and_draws_are_not_negative(explorer, name):
    with pytest.raises(traitlets.TraitError, match=f"{name}=-1 must not be negative"):
        setattr(explorer, name, -1)
