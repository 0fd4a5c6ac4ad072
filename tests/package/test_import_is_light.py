"""Importing a module loads only what it needs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import dpexplain.io
import view_examples

pytestmark = pytest.mark.full

FIGURES = {"matplotlib"}
DASHBOARDS = {"anywidget", "ipywidgets", "IPython", "dpexplain_widgets"}
SAMPLERS = {"opendp", "dp_accounting"}
LEARNING = {"sklearn", "joblib", "numba", "scipy"}
DATA = {"statsmodels"}

# What has no build for browsers, or is large there; see the recipe for JupyterLite.
ONLY_FOR_FITS = {"joblib", "llvmlite", "numba", "opendp", "scipy", "sklearn"}
# The modules that must stay out when the named one is imported.
KEPT_OUT = {
    "dpexplain": FIGURES | DASHBOARDS | SAMPLERS | LEARNING | DATA | {"numpy", "pandas"},
    "dpexplain.schema": FIGURES | DASHBOARDS | SAMPLERS | LEARNING | DATA | {"pandas"},
    "dpexplain.explain": FIGURES | DASHBOARDS | SAMPLERS | LEARNING | DATA | {"pandas"},
    "dpexplain.io": FIGURES | DASHBOARDS | SAMPLERS | DATA | {"sklearn", "numba"},
    "dpexplain.accounting": FIGURES | DASHBOARDS | SAMPLERS | DATA | {"sklearn", "numba"},
    "dpexplain.datasets": FIGURES | DASHBOARDS | SAMPLERS | LEARNING | DATA,
    "dpexplain.compare": FIGURES | DASHBOARDS | SAMPLERS | DATA | {"numba"},
    "dpexplain.models": FIGURES | DASHBOARDS | SAMPLERS | DATA | {"sklearn.metrics"},
    "dpexplain.plotting": DASHBOARDS | SAMPLERS | LEARNING | DATA,
    "dpexplain_widgets": SAMPLERS | DATA | {"sklearn", "numba", "dpexplain.models"},
}


def modules_after_importing(name: str) -> set[str]:
    program = f"import json, sys, {name}; print(json.dumps(sorted(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return set(json.loads(result.stdout))


@pytest.mark.parametrize("name", KEPT_OUT)
def test_import_loads_nothing_heavy(name):
    loaded = modules_after_importing(name)

    assert name in loaded
    assert not KEPT_OUT[name] & loaded


EACH_MODULE_FIRST = """
import importlib, pkgutil, sys
import dpexplain.schema, dpexplain.tables
for package in (dpexplain.schema, dpexplain.tables):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        for name in [each for each in sys.modules if each.split(".")[0] == "dpexplain"]:
            del sys.modules[name]
        importlib.import_module(module.name)
"""


def test_schema_and_table_modules_can_each_be_imported_first():
    subprocess.run([sys.executable, "-c", EACH_MODULE_FIRST], check=True)


OTHER_PARTS = {"app", "audit", "certificate", "cli", "compare", "datasets", "edit", "interop"}
OTHER_PARTS |= {"io", "plotting", "statement"}
FITTED = {"DPExplainableBoostingClassifier": "boosting", "DPLinearRegression": "linear"}
FITTED |= {
    "DPLocallyLinearClassifier": "locally_linear",
    "DPRandomForestClassifier": "random_forest",
}
# Loaded by no estimator but those whose own module it is.
OF_ONE_MODEL = {"boosted_trees", "dpboost", "linear", "locally_linear", "random_forest"}
# Boosting serves the others with helpers, not with its estimators.
OF_ONE_MODEL |= {"boosting.classifier", "boosting.regressor"}
FOR_SOME_TABLES = {"dask", "distributed", "duckdb", "polars", "pyarrow.dataset", "sqlalchemy"}
# Loaded when an explanation is asked for, not before.
FOR_EXPLANATIONS = {"explain.claims", "explain.filters", "explain.additive.from_interpretml"}
FOR_EXPLANATIONS |= {f"models.boosting.uncertainty.{part}" for part in ("simulate", "effects")}
# Slow to import, and not needed before a fit.
SLOW_PARTS = {"pandas", "scipy.optimize", "scipy.stats"}
OTHER_LEARNERS = {f"sklearn.{part}" for part in ("ensemble", "linear_model", "metrics", "tree")}


@pytest.mark.parametrize("estimator", FITTED)
def test_importing_one_estimator_loads_that_model_and_no_kernel_table_or_figure(estimator):
    program = (
        f"import json, sys; from dpexplain import {estimator}; print(json.dumps([*sys.modules]))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    loaded = set(json.loads(result.stdout))

    assert f"dpexplain.models.{FITTED[estimator]}" in loaded
    unwanted = FIGURES | DASHBOARDS | SAMPLERS | DATA | FOR_SOME_TABLES | OTHER_LEARNERS | {"numba"}
    unwanted |= SLOW_PARTS
    unwanted |= {f"dpexplain.{part}" for part in OTHER_PARTS}
    unwanted |= {
        f"dpexplain.models.{part}"
        for part in OF_ONE_MODEL
        if part.split(".")[0] != FITTED[estimator]
    }
    if FITTED[estimator] != "locally_linear":  # filters are its parameters
        unwanted |= {f"dpexplain.{part}" for part in FOR_EXPLANATIONS}
    assert not unwanted & loaded


ON_FIRST_USE = """
import sys
{before}
from dpexplain import DPLinearRegression
print(*(name in sys.modules for name in ("scipy.stats", "pandas")))
{after}
import pandas, scipy.stats, sklearn.base
from scipy.stats import norm
from dpexplain._utils.lazy import pd
from sklearn.utils.fixes import _mode
assert sys.modules["scipy.stats"] is scipy.stats and scipy.stats.__spec__ is not None
assert sys.modules["pandas"] is pandas and pandas.__spec__ is not None
assert pd.DataFrame is pandas.DataFrame and pd.NA is pandas.NA
print(norm.cdf(0), _mode([1, 1, 2]).mode.item(), scipy.stats.qmc.__name__)
"""


@pytest.mark.parametrize(
    ("before", "after", "present"),
    [
        ("", "", "False False"),
        ("", "from scipy import stats", "False False"),
        ("", "import scipy.stats.qmc, pandas.api.types", "False False"),
        ("", "from sklearn.utils.fixes import pd; pd.NA", "False False"),
        ("import scipy.stats", "", "True False"),
        ("import pandas", "", "False True"),
        ("import sklearn.base", "", "True True"),
    ],
)
def test_pandas_and_statistics_of_scipy_are_imported_on_first_use(before, after, present):
    program = ON_FIRST_USE.format(before=before, after=after)
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert result.stdout.split() == [*present.split(), "0.5", "1", "scipy.stats.qmc"], result.stderr


IN_THE_MEANTIME = """
import importlib, sys
from dpexplain._utils import lazy

def another_thread():
    import pandas as pd, scipy.stats as stats
    from pandas import DataFrame
    from scipy.stats import norm
    print(stats.qmc.__name__, norm.cdf(0), pd.DataFrame is DataFrame)
    importlib.import_module("scipy.stats.qmc")
    importlib.import_module("pandas.api.types")

honest = importlib.import_module
lazy.import_module = lambda name: (
    another_thread() if name == "sklearn.base" else honest(name)
)
lazy.import_sklearn_base()
import pandas, scipy.stats
for module in (pandas, scipy.stats):
    print(sys.modules[module.__name__] is module, module.__spec__ is not None)
"""


def test_another_thread_gets_pandas_and_statistics_while_sklearn_is_imported():
    program = [sys.executable, "-c", IN_THE_MEANTIME]
    result = subprocess.run(program, capture_output=True, text=True)

    assert result.stdout.split() == ["scipy.stats.qmc", "0.5", *["True"] * 5], result.stderr


def test_a_saved_comparison_is_explored_without_any_code_of_models(tmp_path):
    path = dpexplain.io.save(view_examples.comparison(), tmp_path / "comparison.json")
    program = (
        "import json, sys, dpexplain, dpexplain_widgets\n"
        f"view = dpexplain_widgets.Explorer(dpexplain.io.load({str(path)!r}))\n"
        "assert 'image/png' in view._repr_mimebundle_()[0]\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert result.returncode == 0, result.stderr
    loaded = set(json.loads(result.stdout))
    assert "dpexplain_widgets.views.explorer" in loaded
    parts = {f"dpexplain.{part}" for part in ("models", "binning", "mechanisms", "audit", "cli")}
    assert not loaded & (parts | SAMPLERS | DATA | FIGURES | {"numba", "sklearn"})


def test_a_public_name_loads_its_part_on_first_use():
    program = (
        "import sys, dpexplain\n"
        "before = 'dpexplain.schema' in sys.modules\n"
        "dpexplain.Schema\n"
        "print(before, 'dpexplain.schema' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert result.stdout.split() == ["False", "True"], result.stderr


def test_a_saved_comparison_is_explored_without_packages_that_fits_need(tmp_path):
    saved = dpexplain.io.save(view_examples.comparison(), tmp_path / "comparison.json")
    program = (
        "import sys\n"
        f"sys.modules.update(dict.fromkeys({sorted(ONLY_FOR_FITS)}))\n"  # cannot be imported
        "import dpexplain.io\n"
        "from dpexplain_widgets import Explorer\n"
        f"Explorer(dpexplain.io.load({str(saved)!r})).export_html('page.html')"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert result.returncode == 0, result.stderr
    assert (tmp_path / "page.html").stat().st_size > 50_000
