"""Kernels are compiled beforehand by a command, or at first use with a progress bar."""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
from types import SimpleNamespace

import pytest

import dpexplain._warm as warming
from dpexplain._utils import compiling
from dpexplain.cli import main
from dpexplain.models.registry import MODELS


@pytest.fixture
def warmed(monkeypatch):
    """Record the models that the command would fit, without fitting them."""
    found = []
    monkeypatch.setattr(
        warming, "Parallel", lambda **_: lambda tasks: [run(*a) for run, a in tasks]
    )
    monkeypatch.setattr(warming, "delayed", lambda run: lambda *a: (run, a))
    monkeypatch.setattr(warming, "warm_model", lambda name, quick: found.append(name))
    monkeypatch.setattr(warming, "warm_imports", lambda: None)
    monkeypatch.setattr(compiling.PROGRESS, "silent", True)
    monkeypatch.setattr(compiling.Kernel, "eager", True)
    return found


def test_all_models_that_have_kernels_are_compiled_in_advance(warmed):
    assert main(["warm"]) == 0
    assert sorted(warmed) == sorted(name for name, listed in MODELS.items() if listed.warm)


def test_one_model_is_compiled_with_its_reference_and_its_other_target(warmed):
    assert main(["warm", "boosting"]) == 0
    assert set(warmed) == {name for name in MODELS if "ExplainableBoosting" in name}


def test_the_quick_form_compiles_what_the_first_notebook_fits(warmed):
    assert main(["warm", "--quick"]) == 0
    private = {"DPExplainableBoostingClassifier", "DPExplainableBoostingRegressor"}
    assert set(warmed) == {*private, "ExplainableBoostingClassifier"}


def test_an_unknown_model_is_answered_with_the_known_ones(warmed, capsys):
    assert main(["warm", "forest"]) == 2
    assert "random-forest" in capsys.readouterr().err
    assert warmed == []


class Terminal(io.StringIO):
    def isatty(self):
        return True


def compiled(module):
    """Imitate numba's notice that it begins to compile a function."""
    dispatcher = SimpleNamespace(py_func=SimpleNamespace(__module__=module))
    return SimpleNamespace(data={"dispatcher": dispatcher})


def lines_of(stream):
    """Return what a terminal shows in the end: the last text written to each line."""
    return [line.split("\r")[-1].rstrip() for line in stream.getvalue().split("\n")[:-1]]


def compile_all(progress, modules):
    for module in modules:
        progress.on_start(compiled(module))
        progress.on_start(compiled(module))  # a function that the first one calls
        progress.on_end(compiled(module))
        progress.on_end(compiled(module))


@pytest.mark.parametrize("n_kernels", [1, compiling.USUAL_KERNELS, 2 * compiling.USUAL_KERNELS])
def test_what_is_compiled_at_first_use_is_said_in_one_line_with_a_bar(monkeypatch, n_kernels):
    monkeypatch.setattr(sys, "stderr", Terminal())
    progress = compiling.CompilingProgress()
    compile_all(progress, ["dpexplain.x"] * n_kernels)
    half_way = sys.stderr.getvalue().count("\r")
    progress.finish()
    progress.finish()
    (line,) = lines_of(sys.stderr)
    assert line.startswith(compiling.SAID)
    assert line.endswith(f"{n_kernels}/{n_kernels}")
    assert half_way >= n_kernels  # it moved with every kernel
    assert len(line) < 80


@pytest.mark.parametrize(
    ("stream", "module"),
    [(Terminal, "numpy"), (io.StringIO, "dpexplain.x")],
    ids=["of our kernels alone", "never into a log"],
)
def test_what_is_compiled_is_said_to_who_waits_for_it(monkeypatch, stream, module):
    monkeypatch.setattr(sys, "stderr", stream())
    progress = compiling.CompilingProgress()
    compile_all(progress, [module])
    progress.finish()
    assert sys.stderr.getvalue() == ""


def test_a_notebook_shows_the_bar_as_output_and_not_as_an_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "ipykernel.zmqshell", SimpleNamespace())
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    progress = compiling.CompilingProgress()
    compile_all(progress, ["dpexplain.x"])
    progress.finish()
    assert sys.stderr.getvalue() == ""
    (line,) = lines_of(sys.stdout)
    assert line.startswith(compiling.SAID)


def test_a_kernel_calls_another_and_is_pickled_by_name():
    from dpexplain.mechanisms import _kernels_gaussian

    kernel = _kernels_gaussian.run_trials
    assert pickle.loads(pickle.dumps(kernel)) is kernel


TWO_KERNELS = """
from dpexplain._utils.compiling import njit

@njit(inline="always")
def twice(x):
    return 2 * x

@njit(nogil=True)
def four_times(x):
    return twice(twice(x))
"""


def test_numba_is_imported_by_the_first_call_of_a_kernel_and_kernels_may_call_each_other(tmp_path):
    (tmp_path / "dpexplain_kernels.py").write_text(TWO_KERNELS)
    program = (
        "import sys, dpexplain_kernels as k\n"
        "print('numba' in sys.modules, k.four_times(3), k.twice(3), 'numba' in sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert result.stdout.split() == ["False", "12", "6", "True"], result.stderr


ONE_KERNEL = """
from dpexplain._utils import compiling

@compiling.njit(cache=True)
def twice(x):
    return 2 * x
"""
PAYS = """
import dpexplain_kernels as k
from dpexplain._utils.compiling import PATIENCE, Kernel
print(k.twice.pays(0.6 * PATIENCE), k.twice.pays(0.3 * PATIENCE), k.twice.pays(0.2 * PATIENCE))
print(k.twice.pays(0))
k.twice.patience = PATIENCE
print(k.twice.pays(1))
k.twice(3)
print(k.twice.pays(1))
k.twice.dispatcher = None
Kernel.eager = True
k.twice.patience = PATIENCE
print(k.twice.pays(1))
"""


def test_a_kernel_is_compiled_once_numpy_has_done_enough_steps_or_it_is_on_disk(tmp_path):
    module = tmp_path / "dpexplain_kernels.py"
    module.write_text(ONE_KERNEL)

    def paying():
        result = subprocess.run(
            [sys.executable, "-c", PAYS], cwd=tmp_path, capture_output=True, text=True,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}, timeout=300,
            check=False,
        )  # fmt: skip
        return [line.split() for line in result.stdout.splitlines()] or result.stderr

    assert paying() == [["False", "False", "True"], ["True"], ["False"], ["True"], ["True"]]
    assert paying() == [["True"] * 3, *[["True"]] * 4]
    module.write_text("\n" + ONE_KERNEL)  # the stored kernel is that of another line
    assert paying()[0] == ["False", "False", "True"]


FIRST_FIT = """
from dpexplain import Categorical, Classes, DPExplainableBoostingClassifier, Numeric, Schema
from dpexplain._utils.compiling import PROGRESS, Kernel

features = {"age": Numeric(0, 9), "job": Categorical(["a"])}
model = DPExplainableBoostingClassifier(schema=Schema(features, target=Classes([0, 1])))
rows, classes = [[k % 9, "a"] for k in range(200)], [k % 2 for k in range(200)]
model.fit(rows, classes).explain_global()
print(PROGRESS.n_done)
Kernel.eager = True  # as in `dpexplain warm`
model.fit(rows, classes)
print(PROGRESS.n_done)
"""


@pytest.mark.full
def test_a_first_fit_and_its_explanation_compile_the_usual_kernels(tmp_path):
    result = subprocess.run(
        [sys.executable, "-c", FIRST_FIT], env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    first = compiling.USUAL_KERNELS
    assert result.stdout.split() == [str(first), str(first + 1)], result.stderr
