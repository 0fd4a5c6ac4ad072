"""Kernels are compiled beforehand by a command, or at first use with a word to whoever waits."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace

import pytest

import dpexplain._warm as warming
from dpexplain._utils import compiling
from dpexplain.cli import main
from dpexplain.models.registry import MODELS


@pytest.fixture
def warmed(monkeypatch):
    """Models that the command fits, which here fits none."""
    found = []
    monkeypatch.setattr(
        warming, "Parallel", lambda **_: lambda tasks: [run(*a) for run, a in tasks]
    )
    monkeypatch.setattr(warming, "delayed", lambda run: lambda *a: (run, a))
    monkeypatch.setattr(warming, "warm_model", lambda name, quick: found.append(name))
    monkeypatch.setattr(warming, "warm_imports", lambda: None)
    monkeypatch.setattr(compiling.WORD, "said", True)
    return found


def test_all_models_that_have_kernels_are_compiled_in_advance(warmed):
    assert main(["warm"]) == 0
    assert sorted(warmed) == sorted(name for name, listed in MODELS.items() if listed.warm)


def test_one_model_is_compiled_with_its_reference_and_its_other_target(warmed):
    assert main(["warm", "boosting"]) == 0
    assert set(warmed) == {name for name in MODELS if "ExplainableBoosting" in name}


def test_the_quick_form_compiles_what_the_first_notebook_fits(warmed):
    assert main(["warm", "--quick"]) == 0
    assert set(warmed) == {"DPExplainableBoostingClassifier", "DPExplainableBoostingRegressor"}


def test_an_unknown_model_is_answered_with_the_known_ones(warmed, capsys):
    assert main(["warm", "forest"]) == 2
    assert "random-forest" in capsys.readouterr().err
    assert warmed == []


class Terminal(io.StringIO):
    def isatty(self):
        return True


def compiled(module):
    """What numba tells when it begins to compile a function."""
    dispatcher = SimpleNamespace(py_func=SimpleNamespace(__module__=module))
    return SimpleNamespace(data={"dispatcher": dispatcher})


@pytest.mark.parametrize(
    ("stream", "modules", "said"),
    [
        (Terminal, ["dpexplain.x", "dpexplain.y"], f"{compiling.SAID}\n"),
        (Terminal, ["numpy"], ""),
        (io.StringIO, ["dpexplain.x"], ""),
    ],
    ids=["once to a terminal", "of our kernels alone", "never into a log"],
)
def test_what_is_compiled_at_first_use_is_said(monkeypatch, stream, modules, said):
    monkeypatch.setattr(sys, "stderr", stream())
    word = compiling.Word()
    for module in modules:
        word.on_start(compiled(module))
    assert sys.stderr.getvalue() == said
