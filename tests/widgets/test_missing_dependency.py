"""Without the extra's packages, the import says how to install them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dpexplain._utils.extras import needed


@pytest.mark.parametrize("package", ["anywidget", "ipywidgets"])
def test_import_without_a_package_names_the_extra(package):
    program = f"import sys; sys.modules[{package!r}] = None; import dpexplain_widgets"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    last = result.stderr.strip().splitlines()[-1]
    assert last == f"ModuleNotFoundError: {needed('dpexplain_widgets', package, 'widgets')}"
    assert "During handling" not in result.stderr
