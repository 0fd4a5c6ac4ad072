"""The style stays inside the views, and is readable on light and dark pages."""

from __future__ import annotations

import re

import pytest

from dpexplain_widgets.export.bundle import STATIC, STYLES, stylesheet

CSS = re.sub(r"/\*.*?\*/", "", stylesheet(), flags=re.DOTALL)
PALETTES = {"light": r"\.dpx \{(.*?)\}", "dark": r'\.dpx\[data-theme="dark"\] \{(.*?)\}'}
TEXT = ("text", "muted", "reference")
MARKS = ("main", "reference", "pinned", "other", "axis", "whisker", "focus")


def palette(theme: str) -> dict[str, str]:
    # Indented are those for paper, which are light in either theme.
    blocks = re.findall("^" + PALETTES[theme], CSS, re.DOTALL | re.MULTILINE)
    return dict(re.findall(r"--dpx-([\w-]+): (#[0-9a-f]{6});", "".join(blocks)))


def luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def selectors() -> list[str]:
    rules = re.findall(r"([^{}]+)\{", re.sub(r"@(container|media)[^{]*\{", "", CSS))
    return [selector.strip() for rule in rules for selector in rule.split(",")]


def test_every_rule_starts_inside_a_view():
    outside = [each for each in selectors() if not re.match(r"\.dpx(?![\w-])", each)]

    assert len(selectors()) > 80
    assert outside == []


def test_nothing_comes_from_elsewhere():
    assert not re.search(r"url\(|@import|@font-face|@keyframes", CSS)


def test_no_text_is_smaller_than_twelve_pixels():
    sizes = [float(size) for size in re.findall(r"font-size: ([\d.]+)px", CSS)]

    assert len(sizes) == CSS.count("font-size:")
    assert min(sizes) >= 12


# Contrasts asked for by WCAG 2.2: 4.5 for text (1.4.3), 3 for the marks of a chart (1.4.11).
@pytest.mark.parametrize("theme", PALETTES)
@pytest.mark.parametrize("name", TEXT)
@pytest.mark.parametrize("ground", ["surface", "sunken"])
def test_text_stands_out(theme, name, ground):
    colors = palette(theme)

    assert contrast(colors[name], colors[ground]) >= 4.5


@pytest.mark.parametrize("theme", PALETTES)
@pytest.mark.parametrize("name", MARKS)
def test_marks_stand_out(theme, name):
    colors = palette(theme)

    assert contrast(colors[name], colors["surface"]) >= 3


@pytest.mark.parametrize("theme", PALETTES)
@pytest.mark.parametrize("level", range(7))
def test_numbers_stand_out_of_every_level_of_a_heat_map(theme, level):
    colors = palette(theme)
    ink = colors["on-pale" if level < 5 else "on-strong"]

    assert contrast(ink, colors[f"heat-{level}"]) >= 4.5


@pytest.mark.parametrize("theme", PALETTES)
def test_levels_of_a_heat_map_go_one_way_from_the_page_on(theme):
    colors = palette(theme)
    steps = [contrast(colors[f"heat-{level}"], colors["surface"]) for level in range(7)]

    assert steps == sorted(steps)


def test_dark_pages_have_a_palette_of_their_own():
    light, dark = palette("light"), palette("dark")

    assert set(light) == set(dark)
    assert all(light[name] != dark[name] for name in light)


def test_every_style_file_is_part_of_the_stylesheet():
    assert sorted(STYLES) == sorted(path.name for path in STATIC.rglob("*.css"))
