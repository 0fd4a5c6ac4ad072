"""An explanation with pairs of features, as models of InterpretML have them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpexplain.explain import GlobalExplanation, Guarantee, PairAxis, PairCurve, ShapeFunction

OPEN = Guarantee.not_private("fitted elsewhere")
PEOPLE = pd.DataFrame({"age": [25, 70, None], "job": ["nurse", "clerk", "baker"], "town": "B"})


def paired():
    """Curves of age and job; a pair of them, and a pair with a feature that has no curve."""
    special = ("other", "missing")
    age = ShapeFunction(
        "age", "numeric", [0.1, 0.2, 0.0], [5, 4, 1], guarantee=OPEN, bin_edges=[20, 40, 80],
        special=("missing",),
    )  # fmt: skip
    job = ShapeFunction(
        "job", "categorical", [0.3, -0.3, 0.0, 0.0], [6, 2, 1, 1], guarantee=OPEN,
        categories=("nurse", "clerk"), special=special,
    )  # fmt: skip
    of_age = PairAxis("age", "numeric", bin_edges=[20, 50, 80], special=("missing",), unit="years")
    of_job = PairAxis("job", "categorical", categories=("nurse", "clerk"), special=special)
    of_town = PairAxis("town", "categorical", categories=("A", "B"), special=special)
    cells = np.arange(12.0).reshape(3, 4) - 5
    pairs = (
        PairCurve("age & job", (of_age, of_job), cells, np.ones((3, 4)), guarantee=OPEN),
        PairCurve("age & town", (of_age, of_town), cells / 10, np.ones((3, 4)), guarantee=OPEN),
    )
    return GlobalExplanation(
        (age, job), 0.5, "logit", guarantee=OPEN, classes=("no", "yes"), pairs=pairs
    )
