"""Take the pictures of the Explorer in README.md and docs: ``make pictures``.

The example is the survey of 1974 (`DPEXPLAIN_DATA`) at seven epsilons, next to the non-private
reference. Noise is fresh, so pictures differ from one run to the next.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from chromium import find_chromium
from dpexplain import DPExplainableBoostingClassifier, sweep
from dpexplain.datasets import load_fair
from dpexplain_widgets import Explorer

DOCS = Path(__file__).parents[2] / "docs"
EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
PICTURES = (("light", "light", 1240), ("dark", "dark", 1240), ("narrow", "light", 430))
COLORS = 255  # small files; the interface has few colors


def main() -> None:
    """Fit once, then take each picture of the same page."""
    chromium = find_chromium()
    if chromium is None:
        sys.exit("no Chromium that starts: install one, or name it in DPEXPLAIN_CHROMIUM")
    survey = load_fair()
    model = DPExplainableBoostingClassifier(schema=survey.schema)
    comparison = sweep(model, survey.X, survey.y, EPSILONS, evaluate=(survey.X, survey.y))
    view = Explorer(comparison, term="yrs_married")
    view.epsilon = 1.0
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = view.export_html(Path(folder) / "page.html", release_safe=False)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, scheme, width in PICTURES:
            page = browser.new_page(
                viewport={"width": width, "height": 1000},
                color_scheme=scheme,
                reduced_motion="reduce",
            )
            page.goto(path.as_uri())
            page.locator(".dpx-plot svg").first.wait_for()
            page.wait_for_timeout(500)
            file = DOCS / f"explorer-{name}.png"
            page.locator(".dpx-panel").first.screenshot(path=file)
            Image.open(file).convert("RGB").quantize(COLORS).save(file, optimize=True)
            print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")
        browser.close()


if __name__ == "__main__":
    main()
