"""Labeled controls for the form, each with room for a sentence below it."""

from __future__ import annotations

from html import escape

import ipywidgets
from ipywidgets import HTML, Button, Checkbox, Dropdown, Layout, Text, VBox

STYLE = """<style>
.dpexplain-form .dpexplain-field { max-width: 46em; }
.dpexplain-form .widget-text, .dpexplain-form .widget-dropdown {
  display: block; width: auto; max-width: 100%; height: auto; overflow: visible; }
.dpexplain-form .widget-text > label, .dpexplain-form .widget-dropdown > label {
  display: block; width: auto; max-width: none; height: auto; overflow: visible;
  text-align: left; white-space: normal; line-height: 1.4; }
.dpexplain-form .widget-text > input, .dpexplain-form .widget-dropdown > select {
  width: 100%; box-sizing: border-box; min-height: 2.2em; }
.dpexplain-form .widget-checkbox { width: auto; height: auto; }
.dpexplain-form .widget-checkbox label { white-space: normal; height: auto; line-height: 1.4; }
.dpexplain-form .jupyter-button { width: auto; height: auto; min-height: 2.2em;
  white-space: normal; line-height: 1.3; align-self: flex-start; padding: .3em 1em; }
.dpexplain-form .widget-html, .dpexplain-form .widget-html-content {
  width: auto; max-width: min(100%, 60em); height: auto; line-height: 1.4; }
.dpexplain-form .widget-html-content { overflow-x: auto; white-space: normal; }
.dpexplain-form :is(h2, h3) { line-height: 1.3; margin: .8em 0 .3em; }
.dpexplain-form p, .dpexplain-form ul { margin: .3em 0; }
.dpexplain-form pre { overflow-x: auto; line-height: 1.3; }
.dpexplain-form .dpexplain-mistake { border-left: 4px solid #d55e00; padding-left: .6em;
  font-weight: 600; overflow-wrap: anywhere; }
</style>"""


class Field(VBox):
    """A control with its label above it and a sentence below it.

    Parameters
    ----------
    control : ipywidgets.Widget
        The control; its label is its ``description``.
    """

    def __init__(self, control: ipywidgets.Widget) -> None:
        self.control = control
        self._words = HTML()
        self._words.layout.display = "none"
        super().__init__([control, self._words])
        self.add_class("dpexplain-field")

    def say(self, sentence: str) -> None:
        """Show what is wrong with the answer; "" removes the message."""
        show(self._words, mistake_html(sentence))

    @property
    def said(self) -> str:
        """HTML shown below the control.

        Returns
        -------
        str
        """
        return str(self._words.value)


def text_field(label: str, placeholder: str = "", value: str = "") -> Field:
    """Create a field for a line of text, which is read when the user leaves the field."""
    return Field(Text(value, description=label, placeholder=placeholder, continuous_update=False))


def choice_field(label: str, options: list[str], value: str) -> Field:
    """Create a field for choosing one of several options."""
    return Field(Dropdown(options=options, value=value, description=label))


def consent(label: str) -> Checkbox:
    """Create a checkbox for agreeing to a statement."""
    return Checkbox(False, description=label, indent=False)


def button(label: str, *, main: bool = False) -> Button:
    """Create a button that is as wide as its label."""
    return Button(
        description=label,
        button_style="primary" if main else "",
        layout=Layout(width="auto", max_width="100%"),
    )


def heading(text: str) -> HTML:
    """Create a heading for a step."""
    return HTML(f"<h3>{escape(text)}</h3>")


def show(where: HTML, content: str) -> None:
    """Show HTML, or hide the widget if there is none."""
    where.value = content
    where.layout.display = "" if content else "none"


def mistake_html(sentence: str) -> str:
    """Format an error message, marked by words as well as color; "" if it is empty."""
    if not sentence:
        return ""
    return f'<div class="dpexplain-mistake" role="alert">Please correct: {escape(sentence)}</div>'


def status_html(*sentences: str) -> str:
    """Format sentences that a screen reader reads aloud whenever they change."""
    lines = "".join(f"<p>{escape(each)}</p>" for each in sentences if each)
    return f'<div role="status">{lines}</div>' if lines else ""


def list_html(title: str, items: list[str]) -> str:
    """Format a list with a title."""
    rows = "".join(f"<li>{escape(each)}</li>" for each in items)
    return f"<p>{escape(title)}</p><ul>{rows}</ul>"
