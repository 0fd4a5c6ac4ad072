"""Accessibility problems that axe-core finds on a page open in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import axe_playwright_python

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def violations(page: Any, selector: str = "html", *, without: tuple[str, ...] = ()) -> list[str]:
    """List the violations within an element, one line per rule, leaving some rules out."""
    rules = {rule: {"enabled": False} for rule in without}
    options = {"runOnly": LEVELS, "rules": rules}
    page.evaluate(AXE)
    found = page.evaluate("([where, options]) => axe.run(where, options)", [selector, options])
    assert found["passes"]
    return [
        f"{each['id']}: {each['help']} at {[node['target'] for node in each['nodes'][:3]]}"
        for each in found["violations"]
    ]
