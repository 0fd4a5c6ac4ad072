"""What a person would notice on a page of views: labels that are cut, touching or small."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

# Deliberately shortened, with the whole name in a tooltip or the read-out.
_SHORTENED = ".dpx-term-name, .dpx-announcement"

# The main marks of a chart, whichever kind of term is shown: fresh noise decides which is first.
CHART = ".dpx-plot :is(.dpx-curve-main, .dpx-bar-main)"

# Signs that isolate names from other writing directions, and the minus sign of a page.
_TYPED = str.maketrans({"\u2068": None, "\u2069": None, "\u2212": "-"})

_LAYOUT = (Path(__file__).parent / "layout.js").read_text(encoding="utf-8")


def plain(text: str) -> str:
    """Return text of a page in the signs that a person types."""
    return text.translate(_TYPED)


def words_of(part: Any) -> str:
    """Return the plain text of a part of a page, hidden parts included."""
    return plain(part.text_content())


def words_at(page: Any, place: str) -> str:
    """Return the plain text of the first part that a selector finds, on one line."""
    return " ".join(plain(page.locator(place).first.inner_text()).split())


def layout_problems(page: Any) -> list[str]:
    """List labels that are cut or touch, small text, and anything that leaves its frame."""
    problems: list[str] = page.evaluate(_LAYOUT, _SHORTENED)
    return problems


def console_problem(message: Any) -> str | None:
    """Return any message from a page or a view, but only errors from the host around it."""
    source = str(message.location.get("url", ""))
    if message.type == "error" or source.startswith(("file:", "blob:", "data:")):
        return f"console {message.type}: {message.text} ({message.location})"
    return None


def settle(page: Any) -> None:
    """Wait for the frame after the next one, in which changed widths have been drawn."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


# From the time at which the browser got an event to the end of the frame that shows the change.
_WATCH_LATENCY = """(kind) => {
  const times = [];
  const channel = new MessageChannel();
  addEventListener(kind, ({ timeStamp }) => {
    requestAnimationFrame(() => {
      channel.port1.onmessage = () => times.push(performance.now() - timeStamp);
      channel.port2.postMessage(null);
    });
  }, { capture: true });
  window.dpxLatency = times;
}"""


_WAIT_FOR_MOVE = """(count) => new Promise((done) => {
  const look = () => (window.dpxLatency.length >= count ? done() : requestAnimationFrame(look));
  look();
})"""


def scrub_latency(page: Any, scrubber: Any, moves: int) -> list[float]:
    """Measure the milliseconds from each of `moves` key presses to the painted frame."""
    return _latency_of_keys(page, scrubber, ("ArrowRight", "ArrowLeft"), moves)


def nudge_latency(page: Any, plot: Any, moves: int) -> list[float]:
    """Measure the milliseconds from each of `moves` nudges of first bins to the frame."""
    plot.focus()
    for key in ("Home", "Shift+ArrowRight", "Shift+ArrowRight"):
        page.keyboard.press(key)
    return _latency_of_keys(page, plot, ("ArrowUp", "ArrowDown"), moves)


def _latency_of_keys(page: Any, place: Any, keys: tuple[str, str], moves: int) -> list[float]:
    place.focus()

    def press(move: int) -> None:
        # Four times one way, four times back, so that every press moves.
        page.keyboard.press(keys[(move // 4) % 2])

    return _latency(page, "keydown", press, moves)


def latency_of_clicks(page: Any, places: Any, moves: int) -> list[float]:
    """Measure the milliseconds from each of `moves` clicks, on places in turn, to the frame."""
    count = min(8, places.count())
    return _latency(page, "click", lambda move: places.nth((move + 1) % count).click(), moves)


def latency_of_choices(page: Any, box: Any, values: Sequence[str], moves: int) -> list[float]:
    """Measure the milliseconds from each of `moves` choices in a box to the frame."""

    def choose(move: int) -> None:
        box.select_option(values[move % len(values)])

    return _latency(page, "change", choose, moves)


def _latency(page: Any, kind: str, act: Callable[[int], None], moves: int) -> list[float]:
    page.evaluate(_WATCH_LATENCY, kind)
    moments = random.Random(0)
    for move in range(moves):
        # A reader does not press in time with the screen: the next frame is 0 to 16.7 ms away.
        page.wait_for_timeout(moments.uniform(50, 100))
        act(move)
        page.evaluate(_WAIT_FOR_MOVE, move + 1)
    times: list[float] = page.evaluate("window.dpxLatency")
    return times


def curve_of(view: Any) -> str:
    """Return the outline of the main curve of a view."""
    return str(view.locator(".dpx-plot .dpx-curve-main").first.get_attribute("d"))


def histogram_of(view: Any) -> list[str]:
    """Return the heights of the bars in the histogram of a view."""
    bars = view.locator(".dpx-plot .dpx-count")
    heights: list[str] = bars.evaluate_all("bars => bars.map((bar) => bar.getAttribute('height'))")
    return heights
