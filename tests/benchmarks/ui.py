"""Speed of the Explorer in a browser: ``make bench-ui``.

From a key press or a click to the end of the frame that shows the change, in an exported page of
14 features at 7 epsilons, in one with image filters, and in JupyterLab; how large pages of 14
and of 1,000 terms are and how soon they can be used; and how long the kernel takes for a payload
and for a live fit.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import nbformat
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from bench_views import explorer_times, live_fit_times, payload_times

import dpexplain.io
import view_examples
from chromium import find_chromium
from dpexplain import DPExplainableBoostingClassifier, sweep
from dpexplain.compare import Comparison
from dpexplain.datasets import load_adult
from dpexplain_widgets import EditView, Explorer
from example_filters import picture_comparison, some_pictures
from jupyter_lab import JupyterLab, open_notebook, run_all_cells
from page_checks import latency_of_choices, latency_of_clicks, nudge_latency, scrub_latency

PARTS = ("kernel", "lab", "filters", "page", "wide", "bins", "terms")
SEVEN = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
SCRUB, OTHER = "median <= 16, p95 <= 33", "median <= 33, p95 <= 100"
EDITS = ("increasing", "smooth", "flatten", "convex", "average", "scale")
PAINTED = ".dpx-plot svg"
NOTEBOOK = (
    "import dpexplain.io\nfrom dpexplain_widgets import Explorer\n"
    "comparison = dpexplain.io.load('comparison.json')\nExplorer(comparison)",
    "Explorer(comparison)",
)
# Milliseconds from the start of the navigation, or from a mark, until the first curve is painted.
_UNTIL_PAINTED = """(selector) => new Promise((done) => {
  const start = window.dpxStart ?? 0;
  const look = () => {
    if (document.querySelector(selector) === null) requestAnimationFrame(look);
    else requestAnimationFrame(() => done(performance.now() - start));
  };
  look();
})"""
_RUN_LAST = """async (selector) => {
  const { commands, shell } = window.jupyterapp;
  const notebook = shell.currentWidget.content;
  notebook.activeCellIndex = notebook.widgets.length - 1;
  const cell = notebook.widgets.at(-1).node;
  const before = cell.querySelector(selector); // the curve of the run before stays for a while
  const start = performance.now();
  const painted = new Promise((done) => {
    const look = () => {
      const found = cell.querySelector(selector);
      if (found === null || found === before) requestAnimationFrame(look);
      else requestAnimationFrame(() => done(performance.now() - start));
    };
    look();
  });
  await commands.execute("notebook:run-cell");
  return painted;
}"""


def example() -> tuple[str, Comparison]:
    """Return adult if the data are available, else a simulated comparison of that size."""
    if os.environ.get("DPEXPLAIN_DATA"):
        adult = load_adult()
        model = DPExplainableBoostingClassifier(schema=adult.schema)
        found = sweep(model, adult.X, adult.y, SEVEN, progress=False)
        assert isinstance(found, Comparison)
        return "adult", found
    terms = view_examples.wide_terms(14, 12)
    return "simulated", view_examples.comparison(terms, SEVEN)


def report(name: str, times: list[float], target: str) -> None:
    """Print a row: median, 95th percentile and target."""
    ordered = sorted(times)
    slow = ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))]
    print(f"| {name:<44} | {statistics.median(times):>7.0f} | {slow:>7.0f} | {target:<26} |")


def opening_times(browser: Any, path: Path) -> list[float]:
    """Measure the milliseconds from navigation to the first curve, without a network."""
    opened = []
    for _ in range(5):
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.context.set_offline(True)
        page.goto(path.as_uri(), wait_until="commit")
        opened.append(page.evaluate(_UNTIL_PAINTED, PAINTED))
        page.close()
    return opened


def measure_many_terms(browser: Any, folder: Path) -> None:
    """Measure how soon a page of 1,000 terms at 3 epsilons can be used."""
    source = view_examples.comparison(view_examples.wide_terms(1_000, 6), (0.5, 1.0, 4.0))
    path = Explorer(source).export_html(folder / "terms.html")
    report("open a page of 1,000 terms, 3 epsilons", opening_times(browser, path), "<= 1000")


def measure_page(browser: Any, explorer: Explorer, folder: Path, moves: int) -> None:
    """Measure an exported page, opened from disk with every request refused."""
    path = explorer.export_html(folder / "page.html")
    report("open a page from disk, no network", opening_times(browser, path), "< 1000")
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    page.goto(path.as_uri())
    page.locator(PAINTED).first.wait_for()
    scrub(page, "page", moves)
    page.close()


def measure_filters(browser: Any, folder: Path, moves: int) -> None:
    """Scrub image filters in an exported page: 10 classes x 30 filters of 28 x 28."""
    comparison = picture_comparison(10, 30, 28, (0.5, 1.0, 2.0, 4.0, 8.0))
    pictures = some_pictures(4, 28)
    explorer = Explorer(comparison, pictures, samples_public=True, shown_map="filter")
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    page.goto(explorer.export_html(folder / "filters.html").as_uri())
    page.locator(".dpx-filter canvas").first.wait_for()
    times = scrub_latency(page, page.locator(".dpx-scrubber").first, moves)
    report("scrub, 10 x 30 filters of 28 x 28 (page)", times, OTHER)
    page.close()


def scrub(view: Any, where: str, moves: int) -> None:
    """Scrub with one curve, choose terms, scrub with small pictures of all terms, switch tabs."""
    scrubber = view.locator(".dpx-scrubber").first
    page = scrubber.page
    report(f"scrub, one term ({where})", scrub_latency(page, scrubber, moves), SCRUB)
    terms = view.locator(".dpx-terms").first.locator(".dpx-term")
    report(f"select a term ({where})", latency_of_clicks(page, terms, moves), OTHER)
    view.get_by_role("tab", name="All terms").first.click()
    view.get_by_role("listbox", name="Small charts of all terms").locator("svg").nth(1).wait_for()
    report(f"scrub, small multiples ({where})", scrub_latency(page, scrubber, moves), SCRUB)
    tabs = view.get_by_role("tab")
    report(f"switch tabs ({where})", latency_of_clicks(page, tabs, moves), "<= 50")


def measure_wide(browser: Any, folder: Path, moves: int) -> None:
    """Measure a page of 100 terms at 20 epsilons, part by part."""
    epsilons = tuple(0.1 * 1.3**k for k in range(20))
    wide = view_examples.comparison(view_examples.wide_terms(100, 6), epsilons, joint=True)
    path = Explorer(wide).export_html(folder / "wide.html", release_safe=False)
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    page.goto(path.as_uri())
    page.locator(PAINTED).first.wait_for()
    scrubber = page.locator(".dpx-scrubber").first
    for tab in ("Shape", "All terms", "Disagreement", "Ranks"):
        page.get_by_role("tab", name=tab, exact=True).click()
        page.wait_for_timeout(500)  # until all of a long list is painted
        name = f"scrub, {tab.lower()} (100 terms, 20 epsilons)"
        report(name, scrub_latency(page, scrubber, moves), "<= 33")
    page.close()


def measure_many_bins(browser: Any, folder: Path, moves: int) -> None:
    """Measure previews of edits of a curve of 256 bins."""
    waves = view_examples.numeric_term("dose", 0, 256, 256, lambda t: np.sin(9 * t))
    source = view_examples.comparison([waves, *view_examples.wide_terms(4, 6)], (1.0,))
    path = EditView(source, term="dose").export_html(folder / "edit.html")
    page = browser.new_page(viewport={"width": 1200, "height": 1000})
    page.goto(path.as_uri())
    box = page.get_by_label("Operation", exact=True)
    box.wait_for()
    times = latency_of_choices(page, box, EDITS, moves)
    report("edit: choose an operation (256 bins)", times, OTHER)
    page.close()


def edit(view: Any, moves: int) -> None:
    """Nudge part of a curve, then choose an operation; skipped on pages without edits."""
    view.get_by_role("tab", name="Edit").click()
    plot = view.locator(".dpx-edit-plot")
    plot.locator("svg").wait_for()
    page = plot.page
    report("edit: nudge (JupyterLab)", nudge_latency(page, plot, moves), OTHER)
    box = view.get_by_label("Operation", exact=True)
    offered = box.locator("option").evaluate_all("all => all.map((option) => option.value)")
    chosen = [operation for operation in EDITS if operation in offered]  # a category has fewer
    times = latency_of_choices(page, box, chosen, moves)
    report("edit: choose an operation (JupyterLab)", times, OTHER)


def measure_lab(browser: Any, comparison: Comparison, folder: Path, moves: int) -> None:
    """Measure JupyterLab: from running a cell to the first curve, then scrubbing."""
    notebooks = folder / "notebooks"
    notebooks.mkdir()
    dpexplain.io.save(comparison, notebooks / "comparison.json")
    cells = [nbformat.v4.new_code_cell(source) for source in NOTEBOOK]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    content = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(content, notebooks / "bench.ipynb")
    scratch = folder / "jupyter"
    scratch.mkdir()
    server = JupyterLab(notebooks, scratch)
    try:
        page = browser.new_page(viewport={"width": 1500, "height": 1500})
        open_notebook(page, server, "bench.ipynb")
        run_all_cells(page)
        page.locator(PAINTED).nth(1).wait_for()
        times = [page.evaluate(_RUN_LAST, PAINTED) for _ in range(3)]
        report("run a cell to the first curve (JupyterLab)", times, "< 1000")
        scrub(page.locator(".dpx").last, "JupyterLab", moves)
        edit(page.locator(".dpx").last, moves)
    finally:
        server.stop()


def measure_kernel(comparison: Comparison) -> None:
    """Measure what needs no browser."""
    report("payload of a sweep from a file (Python)", payload_times(comparison), "")
    report("another Explorer of it (Python)", explorer_times(comparison), "")
    name, times = live_fit_times()
    report(f"live fit at an epsilon ({name}, Python)", times, "<= 400")


def measure_browser(comparison: Comparison, moves: int, parts: Collection[str]) -> None:
    """Measure the parts that need a browser."""
    from playwright.sync_api import sync_playwright

    chromium = find_chromium()
    if chromium is None:
        sys.exit("no Chromium that starts: install one, or name it in DPEXPLAIN_CHROMIUM")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        place = Path(folder)
        work: dict[str, Callable[[], None]] = {
            "lab": lambda: measure_lab(browser, comparison, place, moves),
            "filters": lambda: measure_filters(browser, place, moves),
            "page": lambda: measure_page(browser, Explorer(comparison), place, moves),
            "wide": lambda: measure_wide(browser, place, moves),
            "bins": lambda: measure_many_bins(browser, place, moves),
            "terms": lambda: measure_many_terms(browser, place),
        }
        for part in (each for each in work if each in parts):
            work[part]()
        for part, what, most in (("page", "the page", 160), ("terms", "1,000 terms", 600)):
            if part in parts:
                size = (place / f"{part}.html").stat().st_size / 1000
                print(f"\nSize of {what}: {size:.1f} kB (target: at most {most} kB)")
        browser.close()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=24, help="presses and clicks for each row")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="what to measure")
    options = parser.parse_args()
    name, comparison = example()
    terms, epsilons = len(comparison.term_names), len(comparison.epsilons)
    print(f"{name}: {terms} terms, {epsilons} epsilons; load {os.getloadavg()[0]:.1f}\n")
    print(f"| {'milliseconds':<44} |  median |     p95 | {'target':<26} |")
    print(f"| :{'-' * 43} | ------: | ------: | :{'-' * 25} |")
    if "kernel" in options.parts:
        measure_kernel(comparison)
    if set(options.parts) - {"kernel"}:
        measure_browser(comparison, options.moves, options.parts)


if __name__ == "__main__":
    main()
