"""Install hints for optional dependencies."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, distribution


def needed(what: str, package: str, extra: str) -> str:
    """Return a message that names a missing package and explains how to install it.

    Parameters
    ----------
    what : str
        Name of the function or feature that needs the package.
    package : str
        The missing package.
    extra : str
        The extra of this project that installs the package.

    Returns
    -------
    str
        A sentence without a final period.

    Examples
    --------
    >>> print(needed("to_shap", "shap", "interop"))
    to_shap needs shap; install it with: ...pip install ...[interop]"...
    """
    return f"{what} needs {package}; install it with: {install_command(extra)}"


def install_command(extra: str) -> str:
    """Return the command that installs an extra for this installation of dpexplain.

    If dpexplain was installed or imported from a clone, the command installs from the clone;
    otherwise, it installs the project by name. It uses uv if dpexplain was installed with uv. The
    quotes work in every shell, including those on Windows.
    """
    try:
        installed = distribution("dpexplain")
    except PackageNotFoundError:  # imported from a folder, not installed
        return f'pip install ".[{extra}]" in a clone of dpexplain'
    installer = (installed.read_text("INSTALLER") or "").strip()
    pip = "uv pip" if installer == "uv" else "pip"
    origin = json.loads(installed.read_text("direct_url.json") or "{}")
    if "dir_info" not in origin:
        return f'{pip} install "dpexplain[{extra}]"'
    editable = "-e " if origin["dir_info"].get("editable") else ""
    return f'{pip} install {editable}".[{extra}]" in a clone of dpexplain'
