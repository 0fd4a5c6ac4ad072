"""Each attack succeeds on a planted mistake, which shows that it works, but not otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

import noise_attacks
from attack_kit import Attack
from known_failures import FAILURES
from suites import SUITES

pytestmark = pytest.mark.full

CASES = [
    pytest.param(
        attack,
        name,
        id=f"{attack.title}-{name}" if attack.every_model else attack.title,
        marks=[pytest.mark.system_entropy] * (suite is noise_attacks),
    )
    for suite in SUITES
    for attack in suite.ATTACKS
    for name in attack.targets()
]


@pytest.mark.parametrize(("attack", "name"), CASES)
def test_attack_succeeds_on_a_mutant_and_fails_on_the_library(
    attack: Attack, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = attack.run(name)
    assert not found.broke, found.evidence
    attack.plant(monkeypatch)
    assert attack.run(name).broke, f"missed: {attack.mutant}"


def test_the_page_on_attacks_lists_each_of_them(repository: Path) -> None:
    page = (repository / "docs" / "attacks.md").read_text(encoding="utf-8")
    titles = [attack.title for suite in SUITES for attack in suite.ATTACKS]
    assert [title for title in titles if title not in page] == []
    assert [f.letter for f in FAILURES if f.title not in page] == []
