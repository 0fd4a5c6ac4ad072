"""What a saved notebook shows once its kernel is gone: in JupyterLab and as an HTML page."""

from __future__ import annotations

import nbformat
import pytest

from jupyter_lab import RUN_MS, change_theme, open_notebook, run_all_cells

pytestmark = [pytest.mark.browser, pytest.mark.full]

# What the host says of a view whose kernel is gone.
OF_HOST = ("widget model not found", "Failed to load model class")


def save(page) -> None:
    page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    page.wait_for_function("!window.jupyterapp.shell.currentWidget.context.model.dirty")


@pytest.fixture
def saved(lab, new_page):
    """Run and save a notebook; return its name and its page."""
    page = new_page(width=1400, height=1000, hosts=OF_HOST)
    open_notebook(page, lab, "survey.ipynb")
    run_all_cells(page)
    page.locator(".dpx-plot .dpx-curve-main").nth(2).wait_for()
    save(page)
    return "survey.ipynb", page


def test_the_live_view_hides_its_static_output_and_a_reopened_notebook_shows_it(
    lab, saved, new_page, pictures
):
    name, live = saved
    stills = live.locator(".dpx-still")
    assert stills.count() == 3
    assert not any(stills.nth(place).is_visible() for place in range(3))
    places = live.locator(".jp-OutputArea-child", has=stills)
    assert [places.nth(place).bounding_box() for place in range(3)] == [None] * 3
    live.close()
    lab.end_sessions()

    page = new_page(width=1400, height=1000, hosts=OF_HOST)
    open_notebook(page, lab, name)
    errors = page.get_by_text("Error displaying widget")
    errors.nth(2).wait_for(state="attached", timeout=RUN_MS)
    for place, term in enumerate(("age", "occupation", "age")):
        still = page.locator(".dpx-still").nth(place)
        still.locator("img").wait_for(timeout=RUN_MS)
        assert f"the shape of {term}" in still.locator("img").get_attribute("alt")
        assert still.locator("table").is_visible()
        assert still.locator("img").evaluate("image => image.naturalWidth") > 1000
    assert not any(errors.nth(place).is_visible() for place in range(errors.count()))
    page.locator(".dpx-still").first.screenshot(path=pictures / "reopened-light.png")
    change_theme(page, "JupyterLab Dark", is_light=False)
    page.wait_for_timeout(500)
    page.screenshot(path=pictures / "reopened-dark.png")

    run_all_cells(page)
    page.locator(".dpx-plot .dpx-curve-main").nth(2).wait_for(timeout=RUN_MS)
    assert not any(page.locator(".dpx-still").nth(place).is_visible() for place in range(3))


def test_nbconvert_shows_picture_and_table_of_each_view_at_any_width(
    lab, saved, new_page, pictures, tmp_path
):
    from nbconvert import HTMLExporter

    name, _ = saved
    notebook = nbformat.read(lab.notebooks / name, as_version=4)
    text, _ = HTMLExporter().from_notebook_node(notebook)
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    for width in (380, 1366):
        page = new_page(width=width, offline=True, hosts=("net::", "is not defined"))
        page.goto((tmp_path / "page.html").as_uri())
        stills = page.locator(".dpx-still")
        assert stills.count() == 3
        for place in range(3):
            assert stills.nth(place).locator("img").is_visible()
            assert stills.nth(place).locator("table").is_visible()
            box = stills.nth(place).locator("img").bounding_box()
            assert box["x"] + box["width"] <= width
        stills.first.screenshot(path=pictures / f"nbconvert-{width}.png")
