"""Install hints for optional dependencies."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, distribution


def needed(what: str, package: str, extra: str) -> str:
    """Name the missing package and the command that installs it.

    Parameters
    ----------
    what : str
        What needs the package, such as a function.
    package : str
        The missing package.
    extra : str
        The extra of this project that installs the package.

    Returns
    -------
    str
        A sentence without its final period.

    Examples
    --------
    >>> print(needed("to_shap", "shap", "interop"))
    to_shap needs shap; install it with: ...pip install ...[interop]'...
    """
    return f"{what} needs {package}; install it with: {install_command(extra)}"


def install_command(extra: str) -> str:
    """Return the command that adds an extra to this copy of dpexplain.

    If the copy was installed from a clone, the command installs from the clone; otherwise it
    installs the project by name. It uses uv if uv installed the copy.
    """
    try:
        installed = distribution("dpexplain")
    except PackageNotFoundError:  # a folder on the path
        return f"pip install '.[{extra}]' in a clone of dpexplain"
    installer = (installed.read_text("INSTALLER") or "").strip()
    pip = "uv pip" if installer == "uv" else "pip"
    origin = json.loads(installed.read_text("direct_url.json") or "{}")
    if "dir_info" not in origin:
        return f"{pip} install 'dpexplain[{extra}]'"
    editable = "-e " if origin["dir_info"].get("editable") else ""
    return f"{pip} install {editable}'.[{extra}]' in a clone of dpexplain"
