"""Take the pictures of the README: ``make pictures``.

The Explorer of the first notebook with new fits: light, dark and narrow. The noise is fresh, so
every run gives a different picture.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from chromium import find_chromium
from dpexplain import DPExplainableBoostingClassifier, PrivacyLedger, sweep
from dpexplain.datasets import load_fair
from dpexplain_widgets import Explorer
from notebooks import few_colors

FOLDER = Path(__file__).parents[2] / "docs"
PICTURES = (("light", 1240, "light"), ("dark", 1240, "dark"), ("narrow", 430, "light"))


def survey_explorer() -> Explorer:
    """Fit what the first notebook fits, and choose what to show."""
    from sklearn.model_selection import train_test_split

    survey = load_fair()
    X, X_test, y, y_test = train_test_split(survey.X, survey.y, test_size=0.2, random_state=0)
    comparison = sweep(
        DPExplainableBoostingClassifier(schema=survey.schema),
        X,
        y,
        epsilons=(0.1, 0.25, 0.5, 1, 2, 4, 8),
        evaluate=(X_test, y_test),
        ledger=PrivacyLedger("survey-1974", cap_epsilon=20),
        progress=False,
    )
    return Explorer(comparison, term="yrs_married", epsilon_index=3)


def main() -> None:
    """Write the pictures in docs/: light, dark, and as narrow as a phone."""
    from playwright.sync_api import sync_playwright

    path = find_chromium()
    if path is None:
        sys.exit("no Chromium that starts: install one, or name it in DPEXPLAIN_CHROMIUM")
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = survey_explorer().export_html(Path(folder) / "page.html", release_safe=False)
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for name, width, scheme in PICTURES:
            page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            page.goto(file.as_uri())
            view = page.locator(".dpx").first
            view.locator(".dpx-plot svg").first.wait_for()
            page.wait_for_timeout(300)  # until nothing moves any more
            picture = few_colors(view.screenshot())
            (FOLDER / f"explorer-{name}.png").write_bytes(picture)
        browser.close()


if __name__ == "__main__":
    main()
