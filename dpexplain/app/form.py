"""Form that takes the user from a table to a signed page without writing code."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

from ipywidgets import HTML, HBox, VBox

from dpexplain.app import checking, work
from dpexplain.app.answers import LABELS, PASSWORD, AnswerError, Answers, at, has_password, heard
from dpexplain.app.fields import (
    STYLE,
    Field,
    button,
    choice_field,
    consent,
    heading,
    list_html,
    mistake_html,
    show,
    status_html,
    text_field,
)
from dpexplain.app.files import check_files
from dpexplain.models.registry import commands
from dpexplain.schema import Schema

_PLACEHOLDERS = {
    "table": "data.csv",
    "separator": ",",
    "encoding": "utf-8",
    "header": "1",
    "sample": "public_sample.csv",
    "schema": "dictionary.csv",
    "delta": "1e-6",
    "rows": "3",
    "cap": "3",
    "ledger": "data.ledger.json",
    "purpose": "annual report",
    "out": "model.json, next to the table",
}
_MESSAGES = (
    *("rules", "checked", "drafted", "budget", "meaning"),
    *("price", "fit", "done", "page", "certificate"),
)
_WHERE = "Files are read on the computer where Jupyter runs; nothing is uploaded."


class ReleaseForm(VBox):
    """Form that takes the user from a table to a verified certificate.

    The form does what the commands ``dpexplain fit``, ``report``, ``release`` and ``verify`` do.
    It stores no records: the widgets, and therefore a saved notebook, contain only the answers and
    the released results. The result of `schema.check` is not private, so it is only written to a
    file next to the table.

    Parameters
    ----------
    **answers : str
        Initial answers, such as ``table="data.csv"`` or ``epsilon="1"``; the names are the keys of
        `fields`.

    Attributes
    ----------
    fields : dict of str to Field
        Controls, keyed by the name of the answer; an answer is the value of a control, such as
        ``fields["table"].control.value``.
    buttons : dict of str to Button
        ``draft``, ``read``, ``check``, ``fit``, ``confirm``, ``cancel``, ``page`` and
        ``certificate``.
    public : Checkbox
        Checkbox for stating that the sample is public.
    done : Done or None
        The last fit; None before the first fit, or if the last one failed.

    Raises
    ------
    TypeError
        If the name of an initial answer is unknown.

    Examples
    --------
    >>> from dpexplain.app import ReleaseForm
    >>> form = ReleaseForm(epsilon="1")
    >>> form.fields["epsilon"].control.value
    '1'
    >>> sorted(form.buttons)[:3]
    ['cancel', 'certificate', 'check']
    """

    def __init__(self, **answers: str) -> None:
        if unknown := sorted(set(answers) - set(LABELS)):
            raise TypeError(f"no answer named {unknown[0]!r}; the answers are {list(LABELS)}.")
        self.fields = {name: _field(name, answers) for name in LABELS}
        self.public = consent("Anyone may see this sample: it holds no private records")
        self.buttons = {
            "draft": button("Write a draft of the schema"),
            "read": button("Read the schema", main=True),
            "check": button("Compare table and schema (NOT PRIVATE, only for the data holder)"),
            "fit": button("Fit …", main=True),
            "confirm": button("Yes, charge the ledger and fit", main=True),
            "cancel": button("No"),
            "page": button("Write the page"),
            "certificate": button("Write and verify the certificate"),
        }
        self.messages = {name: HTML() for name in _MESSAGES}
        self.results = VBox()
        self.done: work.Done | None = None
        self._planned: checking.Plan | None = None
        self._cleared = {name for name, given in answers.items() if has_password(given)}
        self._asking = HBox([self.buttons["confirm"], self.buttons["cancel"]])
        self._asking.layout.flex_flow = "row wrap"
        super().__init__(self._steps())
        self.add_class("dpexplain-form")
        for message in self.messages.values():
            show(message, "")
        self._ask(None)
        self._say_meaning()
        self._say_budget()
        self._listen()

    def __repr__(self) -> str:
        """Return a short text; the default would list all widgets in the form."""
        return "ReleaseForm(): open the notebook in Jupyter to use the form"

    def answers(self) -> Answers:
        """Return the answers as entered.

        Returns
        -------
        Answers
        """
        given = {name: field.control.value for name, field in self.fields.items()}
        separator = given["separator"]  # which may be a tab
        return Answers(
            **{name: value.strip() for name, value in given.items() if name != "separator"},
            separator=separator.strip() or separator,
        )

    def _steps(self) -> list[Any]:
        fields, buttons, messages = self.fields, self.buttons, self.messages
        return [
            HTML(STYLE + "<h2>From a table to a signed page</h2>" + f"<p>{escape(_WHERE)}</p>"),
            heading("1. Table"),
            *(fields[name] for name in ("table", "separator", "encoding", "header")),
            heading("2. What is public about it"),
            fields["schema"],
            fields["target"],
            fields["groups"],
            buttons["read"],
            messages["rules"],
            buttons["check"],
            messages["checked"],
            HTML(
                "<p><strong>No data dictionary?</strong> Start from a draft, which reads a public "
                "sample. Never use private records for it: their values would become public.</p>"
            ),
            fields["sample"],
            self.public,
            buttons["draft"],
            messages["drafted"],
            heading("3. Privacy"),
            messages["budget"],
            fields["epsilon"],
            messages["meaning"],
            *(fields[n] for n in ("rows", "cap", "person", "purpose", "model", "delta", "ledger")),
            heading("4. Fit"),
            fields["out"],
            buttons["fit"],
            messages["price"],
            self._asking,
            messages["fit"],
            messages["done"],
            self.results,
        ]

    def _listen(self) -> None:
        actions = {
            "draft": self._draft,
            "read": self._read,
            "check": self._check,
            "fit": self._plan,
            "confirm": self._fit,
            "cancel": lambda: self._ask(None),
            "page": self._write_page,
            "certificate": self._write_certificate,
        }
        for name, action in actions.items():
            self.buttons[name].on_click(lambda _, action=action: self._run(action))
        for name, field in self.fields.items():
            field.control.observe(lambda _, name=name: self._changed(name), "value")

    def _run(self, action: Callable[[], None]) -> None:
        """Run the action of a button, and show an error next to the field it concerns."""
        for field in self.fields.values():
            field.say("")
        show(self.messages["fit"], "")
        try:
            with heard(), at("fit"):
                action()
        except AnswerError as mistake:
            self._say(mistake)

    def _say(self, mistake: AnswerError) -> None:
        if mistake.field in self.fields:
            self.fields[mistake.field].say(mistake.sentence)
            if mistake.field != "key":
                words = f"Nothing was charged. See {LABELS[mistake.field]!r} above."
                show(self.messages["fit"], status_html(words))
        else:
            show(self.messages[mistake.field], mistake_html(mistake.sentence))

    def _changed(self, name: str) -> None:
        """Handle a changed answer.

        If the user is being asked to confirm a fit, the question is withdrawn, because the cost may
        have changed. An answer that contains a password is cleared.
        """
        self.fields[name].say("")
        self._ask(None)
        if name == "epsilon":
            self._say_meaning()
        if name in ("table", "ledger"):
            self._say_budget()
        if name in ("table", "sample"):
            self.public.value = False  # it was stated about another file
        self._cleared.discard(name)
        if has_password(self.fields[name].control.value):
            self.fields[name].control.value = ""  # notebooks save what controls hold
            self.fields[name].say(PASSWORD)
            self._cleared.add(name)

    def _say_meaning(self) -> None:
        words = checking.meaning_words(self.answers().epsilon)
        show(self.messages["meaning"], status_html(words))

    def _say_budget(self) -> None:
        answers = self.answers()
        slow = "://" in answers.ledger  # a database may take long to answer
        words = "" if slow else checking.budget_words(answers)
        show(self.messages["budget"], status_html(words))

    def _read(self) -> None:
        schema = checking.read_rules(self.answers())
        show(self.messages["rules"], _rules_html(schema))

    def _draft(self) -> None:
        path, decisions = work.draft(self.answers(), public=self.public.value)
        self.fields["schema"].control.value = str(path)
        show(
            self.messages["drafted"],
            status_html(f"The draft is in {path}. Edit it in any editor, then read the schema.")
            + list_html("To decide, from the public sample:", decisions),
        )

    def _check(self) -> None:
        path = work.check(self.answers())
        show(
            self.messages["checked"],
            status_html(
                f"The comparison is in {path}. It is not private: only the data holder may read "
                "it, and no page may quote it. It is not shown here, because notebooks are saved "
                "with what they show."
            ),
        )

    def _plan(self) -> None:
        self._ask(None)
        for name in self._cleared:  # without its address, another ledger would be charged
            raise AnswerError(name, PASSWORD)
        self._ask(checking.plan(self.answers()))

    def _ask(self, planned: checking.Plan | None) -> None:
        """Ask whether to charge the ledger for a plan; None withdraws the question."""
        self._planned = planned
        words: tuple[str, ...] = ()
        if planned is not None:
            words = (planned.price_words(), *planned.warned, planned.question())
        show(self.messages["price"], status_html(*words))
        self._asking.layout.display = "" if words else "none"
        show(self.messages["fit"], "")

    def _fit(self) -> None:
        planned = self._planned
        if planned is None:
            return
        self._ask(None)  # a second click cannot charge twice
        check_files(planned.asked)  # before what the last fit showed is removed
        self.done, self.results.children = None, ()
        show(self.messages["done"], "")
        show(self.messages["fit"], status_html("Fitting …"))
        try:
            with work.charging(planned.asked):
                self.done = work.fit(planned)
                self._show_results(self.done)
                show(self.messages["done"], status_html(*work.done_words(self.done)))
        except work.ChargedError as mistake:  # stays when answers change
            show(self.messages["done"], mistake_html(mistake.sentence))
        finally:  # an interrupt as well
            show(self.messages["fit"], "")
            self._say_budget()

    def _show_results(self, done: work.Done) -> None:
        from dpexplain_widgets import Explorer

        for name in ("page", "certificate"):
            show(self.messages[name], "")
        self.results.children = (
            heading("Health check"),
            HTML(done.fitted.health._repr_html_()),
            heading("What the model says"),
            Explorer(done.fitted.explanation),
            heading("5. Page and certificate"),
            self.buttons["page"],
            self.messages["page"],
            self.fields["key"],
            self.buttons["certificate"],
            self.messages["certificate"],
        )

    def _write_page(self) -> None:
        if self.done is not None:
            path = work.write_report(self.done)
            show(self.messages["page"], status_html(f"The page is in {path}."))

    def _write_certificate(self) -> None:
        if self.done is None:
            return
        found = work.write_certificate(self.done, self.answers())
        result = "verified. Print it and sign it" if found.passed else "NOT VERIFIED"
        show(
            self.messages["certificate"],
            status_html(
                f"The certificate is in {self.done.files['certificate']} and, as PDF, in "
                f"{self.done.files['pdf']}: {result}."
            )
            + f"<pre>{escape(found.text())}</pre>",
        )


def _field(name: str, answers: dict[str, str]) -> Field:
    if name == "model":
        return choice_field(LABELS[name], list(commands()), answers.get(name, "boosting"))
    given = answers.get(name, "")
    secret = has_password(given)
    field = text_field(LABELS[name], _PLACEHOLDERS.get(name, ""), "" if secret else given)
    field.say(PASSWORD if secret else "")
    return field


def _rules_html(schema: Schema) -> str:
    return schema._repr_html_() + list_html("To decide:", checking.to_decide(schema))
