"""Install hints for optional dependencies."""

from __future__ import annotations


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
    >>> needed("to_shap", "shap", "interop")
    "to_shap needs shap; install it with: pip install '.[interop]' in a clone of dpexplain"
    """
    return (
        f"{what} needs {package}; install it with: pip install '.[{extra}]' in a clone of dpexplain"
    )
