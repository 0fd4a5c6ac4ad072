"""Linked views follow each other as far as both allow."""

from __future__ import annotations

import pytest

import view_examples
from dpexplain_widgets import Explorer, ImportanceView, ShapeView

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def comparison():
    return view_examples.comparison(n_repeats=2)


def test_a_linked_view_takes_over_all_choices_and_follows(comparison):
    one = Explorer(comparison, term="age", epsilon_index=4, bin_index=3, pinned_epsilon=0.5)
    two = Explorer(comparison, term="children")
    one.link(two)
    assert (two.term, two.epsilon, two.bin_index, two.pinned_epsilon) == ("age", 4.0, 3, 0.5)

    one.epsilon = 0.25
    two.term = "occupation"
    assert (two.epsilon, one.term) == (0.25, "occupation")


def test_some_choices_can_be_linked_and_others_left(comparison):
    one, two = Explorer(comparison, term="age"), Explorer(comparison, term="children")
    link = one.link(two, ["epsilon_index"])
    one.epsilon, one.term = 8, "occupation"
    assert (two.epsilon, two.term) == (8.0, "children")

    link.unlink()
    one.epsilon = 0.5
    assert two.epsilon == 8.0


def test_an_unknown_choice_is_answered_with_the_known_ones(comparison):
    with pytest.raises(ValueError, match=r"no choice named 'epsilon'; the choices are \['above"):
        Explorer(comparison).link(Explorer(comparison), ["epsilon"])


def test_views_with_other_epsilons_meet_where_both_have_one(comparison):
    other = Explorer(view_examples.comparison(epsilons=(1.0, 8.0, 16.0)))
    one = Explorer(comparison, epsilon_index=5)
    one.link(other)
    assert other.epsilon_index == 1

    one.epsilon = 2
    assert other.epsilon == 8.0
    other.epsilon = 1
    assert one.epsilon == 1.0
    other.epsilon = 16
    assert one.epsilon == 1.0


def test_a_view_of_a_view_shares_its_choices(comparison):
    explorer = Explorer(comparison, term="age", epsilon_index=4)
    shape, importance = ShapeView(explorer), ImportanceView(explorer)
    importance.term = "occupation"
    shape.epsilon = 0.25

    assert shape.payload == explorer.payload
    assert {view.term for view in (explorer, shape, importance)} == {"occupation"}
    assert {view.epsilon for view in (explorer, shape, importance)} == {0.25}


def test_refused_values_leave_both_views_alone(comparison):
    one, two = Explorer(comparison, term="age"), Explorer(comparison)
    one.link(two)
    with pytest.raises(Exception, match="no term 'x'"):
        one.term = "x"

    assert (one.term, two.term) == ("age", "age")
