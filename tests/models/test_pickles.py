"""A pickled model records the version that wrote it."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone

import dpexplain.models as models
from dpexplain.models import pickles
from dpexplain.models.noiseless import NoiselessModel
from fitted_models import fitted_binary, table


@pytest.mark.parametrize("kind", [*models.__all__, "NoiselessModel"])
def test_every_model_checks_the_version_of_its_pickle(kind):
    made = getattr(models, kind, NoiselessModel)
    assert issubclass(made, pickles.VersionedEstimator)


def test_a_model_of_another_version_warns_and_says_what_to_do(monkeypatch):
    model = fitted_binary()
    with monkeypatch.context() as older:
        older.setattr(pickles, "__version__", "0.0.9")
        held = pickle.dumps(model)
    with pytest.warns(UserWarning, match=r"pickled by dpexplain==0\.0\.9") as warned:
        again = pickle.loads(held)
    X, _ = table(n=20, seed=4)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    words = str(warned[0].message)
    assert "save model.explain_global() with dpexplain.io.save" in words
    assert "spend privacy budget again" in words
    assert warned[0].filename == __file__


def test_a_pickle_without_a_version_is_taken_for_an_earlier_one():
    state = fitted_binary().__getstate__()
    del state["_dpexplain_version"]
    model = object.__new__(type(fitted_binary()))
    with pytest.warns(UserWarning, match="Load it with an earlier version instead"):
        model.__setstate__(state)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, clone, None])
def test_copies_and_pickles_of_the_same_version_are_silent_and_equal(again):
    model = fitted_binary()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other = pickle.loads(pickle.dumps(model)) if again is None else again(model)
    assert not hasattr(other, "_dpexplain_version")
    assert set(vars(other)) == set(vars(clone(model) if again is clone else model))
