"""What a fit charges, under every way of composing that a private estimator offers."""

from __future__ import annotations

import pytest

from private_contract import accepts, has_delta, made_quickly, make_data
from private_models import PRIVATE, known

pytestmark = pytest.mark.full

PRESETS = ("default", "paper")
COMPOSITIONS = ("joint", "gdp", "classic", "pld", "rdp", "moments")


def offered(name):
    """Return all combinations of a model's settings, by its own names."""
    presets = [{"preset": preset} for preset in PRESETS] if accepts(name, "preset") else [{}]
    compositions = [{}]
    if accepts(name, "composition"):
        compositions += [{"composition": composition} for composition in COMPOSITIONS]
    for preset in presets:
        for composition in compositions:
            settings = known(name, **preset, **composition)
            if is_choice(name, settings):
                yield settings


def is_choice(name, settings):
    try:
        made_quickly(name, 5, **settings)._check_settings()
    except ValueError as error:
        if "is not a valid choice" not in str(error):
            raise
        return False
    return True


OFFERED = [(name, settings) for name in PRIVATE for settings in offered(name)]


@pytest.mark.parametrize(("name", "settings"), OFFERED)
def test_the_ledger_never_holds_more_than_was_asked_for(name, settings):
    X, y = make_data(name)
    model = made_quickly(name, 5, **settings).fit(X, y)
    spent = model.ledger_.total_epsilon(1e-6)
    assert spent <= 1.0 * (1 + 1e-6)
    if not has_delta(name):
        return
    if model.guarantee_.mu is not None:
        assert model.ledger_.summary().entries[0].mu == pytest.approx(model.guarantee_.mu)
    if settings.get("composition") in ("joint", "pld"):
        assert spent == pytest.approx(1.0, rel=1.1e-4)


def test_each_model_is_fitted_and_settings_that_it_lacks_repeat_no_fit():
    assert {name for name, _ in OFFERED} == set(PRIVATE)
    assert len({(name, *sorted(settings.items())) for name, settings in OFFERED}) == len(OFFERED)
    assert {s["composition"] for _, s in OFFERED if "composition" in s} == set(COMPOSITIONS)
