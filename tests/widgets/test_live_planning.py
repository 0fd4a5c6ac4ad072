"""Dragging epsilon fits in the background; the last request wins; private fits ask first."""

from __future__ import annotations

import dataclasses
import itertools
import threading

import pytest
import traitlets

import view_examples
from dpexplain_widgets import Explorer, PlannerView
from dpexplain_widgets.state.worker import LatestWins

pytestmark = pytest.mark.full

TICKS = itertools.count()
SOURCE = view_examples.comparison(epsilons=(0.5, 4.0))


class Refit:
    """Replaces a Refitter: returns simulated fits, and can be paused."""

    def __init__(self, *, private: bool = False, error: Exception | None = None) -> None:
        self.private, self.data, self.error = private, "private" if private else "simulated", error
        self.fitted: list[float] = []
        self.go = threading.Event()
        self.go.set()
        self.began = threading.Event()

    def question(self, epsilons) -> str:
        return f"Spend {list(epsilons)}?"

    def __call__(self, epsilon: float):
        self.began.set()
        assert self.go.wait(20)
        if self.error is not None:
            raise self.error
        self.fitted.append(epsilon)
        return view_examples.comparison(epsilons=(epsilon,)).explanations[epsilon][0]


def agree(view) -> None:
    """Press the button below the question that is shown."""
    view.answer = {"kind": "fit", "question": view.plan["words"], "time": next(TICKS)}


def test_a_wanted_epsilon_is_fitted_and_read():
    refit = Refit()
    view = Explorer(SOURCE, refit=refit)
    view.wanted_epsilon = 1.7
    assert view.wait()

    assert (view.epsilon, view.payload["epsilons"]) == (1.7, [0.5, 1.7, 4.0])
    assert view.plan["words"] == "fitted ε = 1.7"
    assert view.selection["epsilon"].tolist()[0] == 1.7
    assert "1.7" in view.payload["guarantee_words"][0]
    view.wanted_epsilon = 1.23444
    assert view.wait()
    assert view.plan["words"] == "fitted ε = 1.235"  # rounded up


def test_a_fit_that_was_dragged_over_gives_way_and_one_that_was_swept_stays():
    view = Explorer(SOURCE, refit=Refit())
    for epsilon in (1.0, 2.0):
        view.wanted_epsilon = epsilon
        assert view.wait()
    assert view.payload["epsilons"] == [0.5, 2.0, 4.0]

    view.fit_at([1.0, 4.0, 8.0])
    assert view.wait()
    assert view.payload["epsilons"] == [0.5, 1.0, 2.0, 4.0, 8.0]
    assert (view.plan["done"], view.plan["total"]) == (2, 2)


def test_the_last_wish_wins_over_those_that_wait():
    refit = Refit()
    refit.go.clear()
    view = Explorer(SOURCE, refit=refit)
    view.wanted_epsilon = 1.0
    assert refit.began.wait(20)
    for epsilon in (1.1, 1.2, 1.3):
        view.wanted_epsilon = epsilon
    refit.go.set()
    assert view.wait()

    assert refit.fitted == [1.0, 1.3]
    assert view.epsilon == 1.3


def test_cancelling_drops_what_runs_and_what_waits():
    refit = Refit()
    refit.go.clear()
    view = Explorer(SOURCE, refit=refit)
    view.fit_at([1.0, 2.0])
    assert refit.began.wait(20)
    view.answer = {"kind": "cancel", "time": 1}
    refit.go.set()
    assert view.wait()

    assert refit.fitted == [1.0]
    assert view.payload["epsilons"] == [0.5, 4.0]
    assert (view.plan["state"], view.plan["words"]) == ("idle", "cancelled")


def test_the_kernel_is_free_while_a_fit_runs():
    refit = Refit()
    refit.go.clear()
    view = Explorer(SOURCE, refit=refit)
    view.wanted_epsilon = 1.0
    assert refit.began.wait(20)
    view.term = "occupation"
    assert view.plan["state"] == "working"
    refit.go.set()
    assert view.wait()
    assert view.term == "occupation"


def test_errors_are_said_in_words_and_the_next_fit_works():
    refit = Refit(error=ValueError("the schema has no column 'x'"))
    view = Explorer(SOURCE, refit=refit)
    view.wanted_epsilon = 1.0
    assert view.wait()
    assert view.plan["state"] == "failed"
    assert "the schema has no column 'x'" in view.plan["words"]

    refit.error = None
    view.wanted_epsilon = 1.5
    assert view.wait()
    assert view.epsilon == 1.5


def test_a_private_fit_asks_and_runs_only_after_it_was_agreed_to():
    refit = Refit(private=True)
    view = Explorer(SOURCE, refit=refit)
    view.wanted_epsilon = 1.0
    assert view.wait()
    assert (view.plan["state"], view.plan["words"]) == ("asking", "Spend [1.0]?")
    assert refit.fitted == []

    question = view.plan["words"]
    view.answer = {"kind": "cancel", "time": 1}
    view.answer = {"kind": "fit", "question": question, "time": 2}
    assert view.wait()
    assert refit.fitted == []

    view.wanted_epsilon = 1.25
    agree(view)
    assert view.wait()
    assert refit.fitted == [1.25]


def test_a_callable_that_does_not_say_what_it_fits_counts_as_private():
    view = Explorer(SOURCE, refit=lambda epsilon: SOURCE.explanations[0.5][0])
    view.wanted_epsilon = 1.0

    assert view.wait()
    assert view.plan["state"] == "failed"
    assert view.payload["epsilons"] == [0.5, 4.0]


def test_a_private_fit_that_runs_is_paid_for_so_its_result_is_kept():
    refit = Refit(private=True)
    refit.go.clear()
    view = Explorer(SOURCE, refit=refit)
    view.fit_at([1.0, 2.0])
    agree(view)
    assert refit.began.wait(20)
    view.answer = {"kind": "cancel", "time": 2}
    refit.go.set()
    assert view.wait()

    assert refit.fitted == [1.0]
    assert view.payload["epsilons"] == [0.5, 1.0, 4.0]


def test_agreeing_to_a_question_that_has_changed_starts_nothing():
    refit = Refit(private=True)
    view = Explorer(SOURCE, refit=refit)
    view.wanted_epsilon = 0.1
    read = view.plan["words"]
    view.wanted_epsilon = 10.0
    view.answer = {"kind": "fit", "question": read, "time": 1}
    assert view.wait()
    assert refit.fitted == []
    assert view.plan["state"] == "asking"

    agree(view)
    assert view.wait()
    assert refit.fitted == [10.0]


def running_private_view() -> tuple[Refit, Explorer]:
    """Make a view that fits private data at epsilon 1 while it asks about epsilon 2."""
    refit = Refit(private=True)
    refit.go.clear()
    view = Explorer(SOURCE, refit=refit)
    view.wanted_epsilon = 1.0
    agree(view)
    assert refit.began.wait(20)
    view.wanted_epsilon = 2.0
    return refit, view


@pytest.mark.parametrize("error", [None, ValueError("the cell 73.8 is no number")])
def test_a_question_outlives_the_end_of_the_fit_before(error):
    refit, view = running_private_view()
    refit.error = error
    refit.go.set()
    assert view.wait()
    assert view.plan["state"] == "asking"
    assert "Spend [2.0]?" in view.plan["words"]
    assert ("failed. ValueError Spend" in view.plan["words"]) == (error is not None)
    assert "73.8" not in view.plan["words"]

    refit.error = None
    agree(view)
    assert view.wait()
    assert refit.fitted[-1] == 2.0


def test_declining_another_fit_keeps_the_one_that_is_paid_for():
    refit, view = running_private_view()
    view.answer = {"kind": "cancel", "time": 2}
    refit.go.set()
    assert view.wait()

    assert refit.fitted == [1.0]
    assert view.payload["epsilons"] == [0.5, 1.0, 4.0]
    assert view.plan["state"] == "idle"


def test_fits_that_were_paid_for_stay_however_they_were_asked_for():
    view = Explorer(SOURCE, refit=Refit(private=True))
    for epsilon in (1.0, 2.0):
        view.wanted_epsilon = epsilon
        agree(view)
        assert view.wait()
    assert view.payload["epsilons"] == [0.5, 1.0, 2.0, 4.0]


def test_an_epsilon_with_a_fit_is_read_and_not_fitted_anew():
    refit = Refit()
    view = Explorer(SOURCE, refit=refit)
    view.wanted_epsilon = 4.0
    assert view.wait()

    assert (refit.fitted, view.epsilon) == ([], 4.0)
    assert view.payload["fits"] == Explorer(SOURCE).payload["fits"]


def test_a_fit_that_is_not_private_is_refused_in_words_and_the_next_one_works():
    open_fit = dataclasses.replace(
        SOURCE.reference, model_name=SOURCE.explanations[0.5][0].model_name
    )

    class Seeded(Refit):
        def __call__(self, epsilon):
            return super().__call__(epsilon) if epsilon > 1 else open_fit

    view = Explorer(SOURCE, refit=Seeded())
    view.wanted_epsilon = 0.7
    assert view.wait()
    assert view.plan["state"] == "failed"
    assert "not private; give its estimator a schema" in view.plan["words"]
    assert view.payload["epsilons"] == [0.5, 4.0]

    view.wanted_epsilon = 1.7
    assert view.wait()
    assert view.epsilon == 1.7


def test_the_ledger_on_screen_holds_what_private_fits_were_charged():
    spent = dataclasses.replace(SOURCE.ledger, private_epsilon=7.5, total_epsilon=7.5)
    refit = Refit(private=True)
    view = Explorer(SOURCE, refit=refit)
    refit.ledger = spent
    view.wanted_epsilon = 1.0
    agree(view)
    assert view.wait()
    assert view.payload["ledger"]["private_epsilon"] == 7.5
    assert view.origin.source.ledger is spent

    refit.ledger = dataclasses.replace(spent, dataset="another")
    view.wanted_epsilon = 2.0
    agree(view)
    assert view.wait()
    assert view.origin.source.ledger is spent


def test_the_ledger_on_screen_holds_what_a_private_fit_that_failed_was_charged(tmp_path):
    refit = Refit(private=True, error=RuntimeError("the fit stopped after its budget was charged"))
    view = Explorer(SOURCE, refit=refit)
    refit.ledger = dataclasses.replace(SOURCE.ledger, private_epsilon=7.5, total_epsilon=7.5)
    view.wanted_epsilon = 1.0
    agree(view)
    assert view.wait()
    assert view.plan["state"] == "failed"
    assert view.payload["ledger"]["private_epsilon"] == 7.5
    assert view.origin.source.ledger is refit.ledger
    assert view.payload["epsilons"] == [0.5, 4.0]
    page = view.export_html(tmp_path / "a.html").read_text(encoding="utf-8")
    assert "epsilon = 7.5" in page

    refit.ledger = dataclasses.replace(refit.ledger, dataset="another")
    view.wanted_epsilon = 2.0
    agree(view)
    assert view.wait()
    assert view.origin.source.ledger.private_epsilon == 7.5


def test_a_page_that_is_written_during_a_private_fit_states_its_charge(tmp_path):
    refit = Refit(private=True)
    view = Explorer(SOURCE, refit=refit)
    refit.go.clear()
    view.wanted_epsilon = 1.0
    agree(view)
    assert refit.began.wait(20)
    refit.ledger = dataclasses.replace(SOURCE.ledger, private_epsilon=7.5, total_epsilon=7.5)
    page = view.export_html(tmp_path / "a.html").read_text(encoding="utf-8")
    refit.go.set()
    assert "epsilon = 7.5" in page
    assert view.wait()
    assert view.epsilon == 1.0


def test_a_refit_that_charges_another_ledger_is_refused():
    refit = Refit(private=True)
    refit.ledger = dataclasses.replace(SOURCE.ledger, dataset="another")
    with pytest.raises(ValueError, match="refit= charges the ledger 'another'"):
        Explorer(SOURCE, refit=refit)
    refit.ledger = dataclasses.replace(SOURCE.ledger, entries=())
    with pytest.raises(ValueError, match="does not hold the fits that are shown"):
        Explorer(SOURCE, refit=refit)


def test_an_export_after_planning_holds_the_new_fit_and_no_reference(tmp_path):
    view = Explorer(SOURCE, refit=Refit())
    view.wanted_epsilon = 1.7
    assert view.wait()
    page = view.export_html(tmp_path / "a.html").read_text(encoding="utf-8")

    assert "(1.7, 1e-06)-DP" in page


@pytest.mark.parametrize("epsilon", [0.0, 11.0])
def test_an_epsilon_outside_of_the_slider_is_refused(epsilon):
    with pytest.raises(traitlets.TraitError, match=r"between 0\.05 and 10"):
        Explorer(SOURCE, refit=Refit()).wanted_epsilon = epsilon


def test_what_cannot_take_fits_is_refused():
    with pytest.raises(TypeError, match="pass one as source"):
        Explorer(SOURCE.explanations[0.5][0], refit=Refit())
    with pytest.raises(TypeError, match="refit must be callable"):
        Explorer(SOURCE, refit=3)
    view = PlannerView(SOURCE)
    view.wanted_epsilon = 1.0
    assert "has no refit=" in view.plan["words"]


def test_a_metric_to_reach_is_answered_in_words():
    view = PlannerView(SOURCE)
    view.wanted_metric = 0.72
    assert "9 of 10 fits would reach AUROC 0.72" in view.plan["metric_words"]
    view.wanted_metric = 0.99
    assert view.plan["metric_words"].startswith("No ε up to 4 makes AUROC 0.99 likely")


def test_worker_reports_how_far_it_is():
    seen = []
    worker = LatestWins(lambda e: e, lambda *args: seen.append(args), lambda *_: None)
    worker.submit([1.0, 2.0, 3.0])
    assert worker.join()

    assert seen == [(1.0, 1.0, 1, 3), (2.0, 2.0, 2, 3), (3.0, 3.0, 3, 3)]
