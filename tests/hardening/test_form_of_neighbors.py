"""The form without code shows and saves the same with and without one odd record.

Both worlds get the same noisy answers. The test compares the state of all widgets, as a notebook
would save it, what is printed, warned and logged, and the files that the form writes.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from ipywidgets import Widget

from canary_channels import Listener
from dpexplain.app import ReleaseForm, checking
from dpexplain.app.fields import show, status_html
from form_tables import click, filled, messy_lines, state_of, write_messy
from replays import same_answers

pytestmark = pytest.mark.full

ODD = {
    "an outlier": "900;901;899,9;1;1",
    "another text": "900;901;Zorblax;Zorblax;Zorblax",
    "a person again": "900;0;30,5;2;0",
    "an open quote": '900;901;"30;1;0',
    "too many cells": "900;901;30;1;0;Zorblax",
    "a huge number": "900;901;1e400;1;9",
}
FILES = ("model.json", "model.schema.toml")


def world(folder, lines, answers, form_class, model):
    """Use the form on a table; the first world fills the list of answers."""
    folder.mkdir()
    with same_answers(answers) as patch, Listener() as listener:
        patch.chdir(folder)
        write_messy(folder, lines)
        if model == "boosting":  # its public structure is drawn anew for every fit
            seeded = _seeded(checking.private_estimator)
            patch.setattr(checking, "private_estimator", seeded)
            patch.setattr("dpexplain.cli.fits.private_estimator", seeded)
        form = filled(form_class, model=model)
        click(form, "read", "check", "fit", "confirm", "page")
        assert form.done is not None, form.messages["fit"].value
        state = state_of(form)
        Widget.close_all()
    files = [Path(folder, name).read_text() for name in FILES]
    shutil.rmtree(folder)  # the other world has the same paths
    heard = re.sub(r"ock \d+", "ock", listener.text)  # addresses of locks
    return state, heard, files


def _seeded(honest):
    def estimator(asked, schema, **parameters):
        return honest(asked, schema, **parameters).set_params(structure_seed=3)

    return estimator


def both(tmp_path, odd, form_class=ReleaseForm, model="linear"):
    answers = []
    return [
        world(tmp_path / "table", lines, answers, form_class, model)
        for lines in (messy_lines(), [*messy_lines(), odd])
    ]


@pytest.mark.parametrize(
    ("odd", "model"),
    [*((odd, "linear") for odd in ODD), ("another text", "boosting"), ("an outlier", "boosting")],
)
def test_form_does_not_tell_whether_an_odd_record_is_there(odd, model, tmp_path):
    absent, present = both(tmp_path, ODD[odd], model=model)
    assert absent == present


class CountsRecords(ReleaseForm):
    """A form that says how many records there are."""

    def _read(self):
        super()._read()
        n = len(Path("data.csv").read_text().splitlines()) - 1
        show(self.messages["drafted"], status_html(f"{n} records"))


class ShowsTheComparison(ReleaseForm):
    """A form that shows what does not fit the schema."""

    def _check(self):
        super()._check()
        found = Path("data.NOT-PRIVATE.txt").read_text()
        show(self.messages["checked"], status_html(found))


class PrintsTheComparison(ReleaseForm):
    """A form that prints what does not fit the schema into the log."""

    def _check(self):
        super()._check()
        print(Path("data.NOT-PRIVATE.txt").read_text())


@pytest.mark.parametrize(
    "mutant", [CountsRecords, ShowsTheComparison, PrintsTheComparison], ids=lambda m: m.__name__
)
def test_a_planted_form_that_tells_is_caught(mutant, tmp_path):
    absent, present = both(tmp_path, ODD["another text"], form_class=mutant)
    assert absent != present
