"""Shared by tests of all private estimators: data, quick fits, unreadable cells."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd

import dpexplain.models as models
import private_models
from dpexplain.mechanisms import NoiseSource
from dpexplain.schema import Categorical, Numeric
from private_models import known, records_for

FEATURES = {"age": Numeric(0, 100, unit="years", step=1), "job": Categorical(["clerk", "nurse"])}
CANARY = "Zorblax-1729"


class Untouchable:
    """Columns of secrets that record every access, even if its error is suppressed."""

    def __init__(self, columns):
        self.looks = []
        cells = np.empty((20, len(columns) + 1), dtype=object)
        for place in np.ndindex(cells.shape):
            cells[place] = Secret(self.looks)
        self.frame = pd.DataFrame(cells[:, 1:], columns=list(columns))
        self.target = pd.Series(cells[:, 0])


class Secret:
    """Cell that may be carried around but not looked at."""

    def __init__(self, looks):
        vars(self)["looks"] = looks

    def _look(self, *args):
        vars(self)["looks"].append("look")
        raise AssertionError("a value was read")

    __str__ = __repr__ = __float__ = __int__ = __index__ = __hash__ = __eq__ = __bool__ = _look
    __format__ = __lt__ = __gt__ = __len__ = __iter__ = __array__ = __getattr__ = _look


def schema_for(name):
    return private_models.schema_for(name, FEATURES)


def make(name, **settings):
    return private_models.make(name, **{"schema": schema_for(name), **settings})


def accepts(name, parameter):
    return parameter in inspect.signature(getattr(models, name)).parameters


def made_quickly(name, rounds=2, **settings):
    """Make a model that fits in few rounds, whatever it calls them."""
    return make(name, **known(name, max_rounds=rounds), **settings)


def finite_numbers(explanation):
    """Whether a global explanation of any kind contains only finite numbers."""
    frame = explanation.frame()
    column = "weight" if "weight" in frame else "contribution"
    return bool(np.isfinite(frame[column]).all())


def break_noise(monkeypatch, text):
    """Make every draw of every mechanism fail."""

    def broken(self, *arguments):
        raise ValueError(text)

    for draw in ("draw_int", "draw_laplace", "choose"):
        monkeypatch.setattr(NoiseSource, draw, broken)


def has_delta(name):
    """Whether the guarantee has a delta other than zero."""
    return getattr(models, name)._has_delta


def make_data(name, n=400, seed=0):
    return records_for(name, n, seed)
