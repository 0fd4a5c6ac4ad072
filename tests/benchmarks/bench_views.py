"""What a dashboard needs from the kernel: payloads and live fits, without a browser."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable

from dpexplain import DPExplainableBoostingClassifier, sweep
from dpexplain.compare import Comparison, Refitter
from dpexplain.datasets import Dataset, SimulatedDataset, load_fair, make_additive
from dpexplain_widgets import Explorer
from dpexplain_widgets.payload.payload import build_payload


def payload_times(comparison: Comparison, repeats: int = 5) -> list[float]:
    """Measure the milliseconds to turn a new sweep into the payload of a page."""
    # Copies leave out what was worked out before.
    fresh = [pickle.loads(pickle.dumps(comparison)) for _ in range(repeats)]
    return [_milliseconds(lambda each=each: build_payload(each)) for each in fresh]


def explorer_times(comparison: Comparison, repeats: int = 5) -> list[float]:
    """Measure the milliseconds to make another Explorer of the same sweep."""
    return [_milliseconds(lambda: Explorer(comparison)) for _ in range(repeats)]


def live_fit_times(epsilons: int = 12) -> tuple[str, list[float]]:
    """Measure the milliseconds from a requested epsilon to its fit; name the data."""
    name, data = _stand_in()
    model = DPExplainableBoostingClassifier(schema=data.schema)
    found = sweep(model, data.X, data.y, (0.5, 1.0, 2.0, 4.0), reference=False, progress=False)
    assert isinstance(found, Comparison)
    refit = Refitter(model, data.X, data.y, data="simulated")
    view = Explorer(found, refit=refit)
    return name, [_live_fit(view, 0.6 + 0.02 * k) for k in range(epsilons)]


def _live_fit(view: Explorer, epsilon: float) -> float:
    def drag() -> None:
        view.wanted_epsilon = epsilon
        assert view.wait()

    taken = _milliseconds(drag)
    if view.epsilon != epsilon:
        raise RuntimeError(f"no live fit at epsilon={epsilon:g}: {view.plan['words']}")
    return taken


def _stand_in() -> tuple[str, Dataset | SimulatedDataset]:
    """Load the survey if it is available, otherwise simulate records of the same size."""
    if os.environ.get("DPEXPLAIN_DATA"):
        return "survey", load_fair()
    return "simulated", make_additive("clinical", 6_366, random_state=0)


def _milliseconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - start)
