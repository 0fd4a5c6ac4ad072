"""Every output of a fitted model, and the secrets found there."""

from __future__ import annotations

import io as text_io
import json
import logging
import pickle
import sys
import tempfile
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt

import dpexplain.io
from canary import canary_records, in_bytes, in_object, in_text, in_words
from dpexplain import GlobalExplanation, PrivacyLedger
from dpexplain.exceptions import HealthWarning
from dpexplain.explain import FilterBank
from dpexplain.plotting import plot_importance, plot_shape_function
from dpexplain_widgets import Explorer, LedgerView


class Fitted(NamedTuple):
    """A model fitted on the canary records, and everything said during the fit."""

    model: Any
    explanation: GlobalExplanation | FilterBank
    heard: str
    files: dict[str, bytes]


class Listener:
    """Captures standard output and error, all logging and all warnings of a block.

    Alarms of the health check follow from released numbers, and can be left out.
    """

    def __init__(self, *, alarms: bool = True) -> None:
        self._alarms = alarms

    def __enter__(self) -> Listener:
        self._heard = text_io.StringIO()
        self._handler = logging.StreamHandler(self._heard)
        # What a compiler says of the code that it compiles comes once, and before any record.
        self._handler.addFilter(lambda record: not record.name.startswith("numba"))
        self._level = logging.root.level
        logging.root.addHandler(self._handler)
        logging.root.setLevel(logging.DEBUG)
        self._streams = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = self._heard
        self._catch = warnings.catch_warnings(record=True)
        self._warnings = self._catch.__enter__()
        warnings.simplefilter("always")
        if not self._alarms:
            warnings.simplefilter("ignore", HealthWarning)
        return self

    def __exit__(self, *error: object) -> None:
        self._catch.__exit__(*error)
        sys.stdout, sys.stderr = self._streams
        logging.root.removeHandler(self._handler)
        logging.root.setLevel(self._level)

    @property
    def text(self) -> str:
        """Return everything that was said."""
        said = "".join(f"{warning.message}\n" for warning in self._warnings)
        return self._heard.getvalue() + said


def fit_canary(name: str, estimator: Any, folder: Path) -> Fitted:
    """Fit an estimator on the canary records, with a ledger file in an empty folder."""
    X, y, groups = canary_records(name)
    with Listener() as listener:
        ledger = PrivacyLedger("canary", path=folder / "ledger.json")
        model = estimator.set_params(ledger=ledger, max_rows_per_person=2)
        model.fit(X, y, groups=groups)
        explanation = model.explain_global()
        print(model, explanation, explanation.guarantee, ledger)
    files = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return Fitted(model, explanation, listener.text, files)


def _memory(fitted: Fitted) -> list[str]:
    return in_object([fitted.model, fitted.explanation])


def _modules(fitted: Fitted) -> list[str]:
    """Search everything stored in the modules of the project."""
    ours = [module for name, module in sys.modules.items() if name.startswith("dpexplain")]
    held = [
        [value for name, value in vars(module).items() if not name.startswith("__")]
        for module in ours
    ]
    defaults = [_defaults_of(module) for module in ours]
    # Constants and tables of the modules may well hold the bare number 397.
    return [found for found in in_object([held, defaults]) if not found.startswith("int ")]


def _defaults_of(module: types.ModuleType) -> list[Any]:
    """List default values and class attributes, where a careless cache would be."""
    classes = [value for value in vars(module).values() if isinstance(value, type)]
    own = [value for value in classes if value.__module__.startswith("dpexplain")]
    return [
        value
        for each in own
        for name, value in vars(each).items()
        if not name.startswith("__") and not callable(value)
    ]


def _terms(fitted: Fitted) -> tuple[Any, ...]:
    return tuple(getattr(fitted.explanation, "terms", ()))


def _words(fitted: Fitted) -> list[str]:
    shown = (*_terms(fitted), fitted.explanation, fitted.model, fitted.model.ledger_)
    return in_words(fitted.heard + "".join(repr(each) for each in shown))


def _html(fitted: Fitted) -> list[str]:
    explanation = fitted.explanation
    shown = [*_terms(fitted), explanation, explanation.guarantee, fitted.model.ledger_]
    pages = [each._repr_html_() for each in (*shown, fitted.model, fitted.model.schema_)]
    tables = [explanation.frame().to_csv()]
    if hasattr(explanation, "importances"):
        tables.append(explanation.importances().to_csv())
    return in_text("".join((*pages, *tables, fitted.model.guarantee_.statement())))


def _files(fitted: Fitted) -> list[str]:
    saveable = (fitted.explanation, fitted.model.guarantee_, fitted.model.ledger_.summary())
    with tempfile.TemporaryDirectory() as folder:
        saved = [dpexplain.io.save(each, f"{folder}/saved.json").read_bytes() for each in saveable]
    return [secret for raw in (*fitted.files.values(), *saved) for secret in in_bytes(raw)]


def _pickles(fitted: Fitted) -> list[str]:
    protocols = range(pickle.HIGHEST_PROTOCOL + 1)
    found = [in_bytes(pickle.dumps(fitted.model, protocol)) for protocol in protocols]
    found += [in_object(pickle.loads(pickle.dumps(fitted.model)))]
    return [secret for each in found for secret in each]


def _figures(fitted: Fitted) -> list[str]:
    with plt.rc_context({"svg.fonttype": "none"}):
        if isinstance(fitted.explanation, FilterBank):
            axes = [fitted.explanation.plot(what).flat[0] for what in ("class_means", "filters")]
        else:
            axes = [plot_shape_function(term) for term in _terms(fitted)]
            axes.append(plot_importance(fitted.explanation))
        return [secret for each in axes for secret in _figure(each.figure)]


def _figure(figure: Any) -> list[str]:
    """Search the text of a figure, the points it draws, and its files."""
    found = []
    for kind in ("svg", "png"):
        file = text_io.BytesIO()
        figure.savefig(file, format=kind)
        found += in_bytes(file.getvalue())
    artists = figure.findobj()
    texts = [artist.get_text() for artist in artists if hasattr(artist, "get_text")]
    points = [artist.get_xydata() for artist in artists if hasattr(artist, "get_xydata")]
    plt.close(figure)
    return found + in_words("\n".join(texts)) + in_object(points)


def _widgets(fitted: Fitted) -> list[str]:
    found = []
    views = [LedgerView(fitted.model.ledger_.summary())]
    if isinstance(fitted.explanation, GlobalExplanation):
        views.append(Explorer(fitted.explanation))
    for view in views:
        state = {key: value for key, value in view.get_state().items() if key[0] != "_"}
        bundle = view._repr_mimebundle_()
        found += in_object(state) + in_words(repr(view))
        found += in_text(json.dumps([view.payload, bundle]))
    return found


CHANNELS: dict[str, Callable[[Fitted], list[str]]] = {
    "memory": _memory,
    "modules": _modules,
    "words": _words,
    "html": _html,
    "files": _files,
    "pickles": _pickles,
    "figures": _figures,
    "widgets": _widgets,
}
