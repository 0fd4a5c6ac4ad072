"""Take the pictures of the README: ``make pictures``.

The Explorer of the first notebook, fitted anew, in light and dark. The noise is fresh, so
every run gives another picture of the same thing.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from chromium import find_chromium
from dpexplain import DPExplainableBoostingClassifier, PrivacyLedger, sweep
from dpexplain.datasets import load_fair
from dpexplain_widgets import Explorer
from dpexplain_widgets.page import offline_page, state_of
from dpexplain_widgets.state import STATE_TRAITS

FOLDER = Path(__file__).parents[2] / "docs"
WIDTH = 1240


def survey_explorer() -> Explorer:
    """Fit what the first notebook fits, and choose what is worth a look."""
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
    """Write docs/explorer-light.png and docs/explorer-dark.png."""
    from playwright.sync_api import sync_playwright

    path = find_chromium()
    if path is None:
        sys.exit("no Chromium that starts: install one, or name it in DPEXPLAIN_CHROMIUM")
    FOLDER.mkdir(exist_ok=True)
    html = offline_page([state_of(survey_explorer(), STATE_TRAITS)])
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "page.html"
        file.write_text(html, encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport={"width": WIDTH, "height": 900}, color_scheme=scheme)
            page.goto(file.as_uri())
            view = page.locator(".dpx").first
            view.locator(".dpx-plot svg").first.wait_for()
            view.screenshot(path=FOLDER / f"explorer-{scheme}.png")
        browser.close()


if __name__ == "__main__":
    main()
