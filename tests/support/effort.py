"""How hard property tests search: briefly every day, with fresh examples in full runs.

``make test`` tries the same few examples each time, so that its verdict depends on the code
alone. ``make test-all`` (``--hypothesis-profile=full``) tries many more, and new ones each
time, unless its noise repeats as well (`entropy`). An example that once failed stays
beside the test as ``@example``. Neither a slow machine nor an unlucky draw is a failure: there are
no deadlines, and no health checks that depend on either.
"""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import HealthCheck, settings

USUAL = 100
"""Examples of a property test before a profile takes its share or its multiple of them."""

_WHOLE_FILE = re.compile(r"^pytestmark = .*\bpytest\.mark\.full\b", re.MULTILINE)

_BY_CHANCE = (
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.filter_too_much,
    HealthCheck.large_base_example,
)


def profiles(*, repeated: bool) -> dict[str, settings]:
    """Return the settings of both commands by the names of their profiles.

    Parameters
    ----------
    repeated : bool
        Whether the full run looks at the same examples each time, as it draws the same noise.
        Hypothesis repeats them wherever ``CI`` is set, unless told otherwise.

    Returns
    -------
    dict of str to settings
        ``"daily"`` and ``"full"``.
    """
    usual = settings(deadline=None, print_blob=True, suppress_health_check=_BY_CHANCE)
    same = settings(usual, derandomize=True, database=None)
    full = same if repeated else settings(usual, derandomize=False)
    return {
        "daily": settings(same, max_examples=USUAL // 4),
        "full": settings(full, max_examples=USUAL),
    }


def register_profiles(*, repeated: bool) -> None:
    """Register both profiles and load the daily one, which pytest's option overrides."""
    for name, chosen in profiles(repeated=repeated).items():
        settings.register_profile(name, chosen)
    settings.load_profile("daily")


def examples(usual: int, *suppressed: HealthCheck) -> settings:
    """Make a decorator for a property test that needs more or fewer examples than others.

    Parameters
    ----------
    usual : int
        Examples in place of `USUAL`; a profile takes its share or its multiple of them.
    *suppressed : HealthCheck
        Checks of health that the test does not pass, besides those that depend on chance.

    Returns
    -------
    settings
        For use as a decorator.
    """
    return settings(
        max_examples=max(1, usual * settings.default.max_examples // USUAL),
        suppress_health_check=(*_BY_CHANCE, *suppressed),
    )


def waits_as_a_whole(file: Path) -> bool:
    """Whether all tests of a file run only in ``make test-all``; the file is not imported.

    Such a file says so in one line, ``pytestmark = pytest.mark.full`` or a list with that mark.
    """
    return _WHOLE_FILE.search(file.read_text(encoding="utf-8")) is not None
