"""Verification of certificates against the ledger, file, schema and key."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Literal, TypeAlias

from dpexplain._utils.guarantee_words import upper_number
from dpexplain.accounting._ledger.provenance import schema_hash
from dpexplain.accounting._ledger.store import place_of
from dpexplain.accounting.ledger_state import LedgerState
from dpexplain.accounting.summary import counted_entries
from dpexplain.certificate.certificate import Certificate, load
from dpexplain.certificate.releasing import (
    certificate_of,
    file_hash,
    fits_file,
    released_model,
)
from dpexplain.certificate.signing import public_key_of, signature_holds
from dpexplain.certificate.wording import Released
from dpexplain.exceptions import BudgetError
from dpexplain.schema import Schema

__all__ = ["Check", "Verification", "verify"]

Status: TypeAlias = Literal["passed", "failed", "not checked"]
_AnyPath: TypeAlias = str | os.PathLike[str]
_SAME = "the certificate can be reproduced from ledger and file"


@dataclass(frozen=True)
class Check:
    """One check performed during verification.

    Parameters
    ----------
    name : str
        What was checked, in one or two words.
    status : {"passed", "failed", "not checked"}
        Result.
    words : str
        Description of the result.

    Examples
    --------
    >>> from dpexplain.certificate import Check
    >>> Check("chain", "passed", "the ledger was in the state that the certificate names").name
    'chain'
    """

    name: str
    status: Status
    words: str


@dataclass(frozen=True)
class Verification:
    """Result of `verify`.

    Parameters
    ----------
    checks : tuple of Check
        Checks, in the order in which they were performed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from dpexplain import DPExplainableBoostingClassifier, PrivacyLedger, certificate, io
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> folder = tempfile.TemporaryDirectory()
    >>> file, path = Path(folder.name, "model.json"), Path(folder.name, "ledger.json")
    >>> ledger = PrivacyLedger("checked stays", cap_epsilon=2, path=path)
    >>> model = DPExplainableBoostingClassifier(epsilon=1, schema=stays.schema, ledger=ledger)
    >>> _ = io.save(model.fit(stays.X, stays.y).explain_global(), file)
    >>> page = certificate.release(file, ledger, schema=stays.schema, purpose="annual report")
    >>> saved = page.save(Path(folder.name, "certificate.html"))
    >>> verification = certificate.verify(saved, path, file)
    >>> [check.name for check in verification.checks if check.status == "failed"]
    []
    >>> folder.cleanup()
    """

    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """True if no check failed.

        Returns
        -------
        bool
        """
        return all(check.status != "failed" for check in self.checks)

    def text(self) -> str:
        """Return a summary with one line for each check.

        Returns
        -------
        str
        """
        marks = {"passed": "ok", "failed": "FAILED", "not checked": "--"}
        return "\n".join(f"{marks[c.status]:6}  {c.name:12}  {c.words}" for c in self.checks)

    def __str__(self) -> str:
        return self.text()


def verify(
    certificate: _AnyPath,
    ledger: _AnyPath,
    release: _AnyPath,
    *,
    schema: _AnyPath | None = None,
    public_key: _AnyPath | None = None,
    head: str | None = None,
) -> Verification:
    """Verify all numbers in a certificate, the ledger's hash chain, and the file.

    Nothing is charged or written. The verification also passes if the ledger was charged, or its
    cap was lowered, after the certificate was created. A person who can write to all the files
    can replace them together. To rule this out, check the signature with a known public key, or
    compare the head of the ledger with a copy kept elsewhere.

    Parameters
    ----------
    certificate : path-like
        Certificate, as an HTML page, a PDF document, a model card or a JSON file.
    ledger : path-like
        Ledger file, or address of a ledger in a database.
    release : path-like
        Released file.
    schema : path-like or None, default=None
        Schema of the fit, as TOML.
    public_key : path-like or None, default=None
        Public Ed25519 key (PEM) of the person who signs certificates. If it is given, verification
        fails for a certificate that was not signed with this key.
    head : str or None, default=None
        Head of the ledger, as noted after its last charge (``ledger.head``). If it is given,
        verification fails if entries up to that moment were deleted, for example by putting back an
        older copy of the ledger.

    Returns
    -------
    Verification
        Result with ``passed``, ``checks`` and ``text()``. An invalid file results in a failed
        check, not an exception.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from dpexplain import DPExplainableBoostingClassifier, PrivacyLedger, certificate, io
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> folder = tempfile.TemporaryDirectory()
    >>> file, path = Path(folder.name, "model.json"), Path(folder.name, "ledger.json")
    >>> ledger = PrivacyLedger("verified stays", cap_epsilon=2, path=path)
    >>> model = DPExplainableBoostingClassifier(epsilon=1, schema=stays.schema, ledger=ledger)
    >>> _ = io.save(model.fit(stays.X, stays.y).explain_global(), file)
    >>> page = certificate.release(file, ledger, schema=stays.schema, purpose="annual report")
    >>> saved = page.save(Path(folder.name, "certificate.html"))
    >>> certificate.verify(saved, path, file).passed
    True
    >>> folder.cleanup()
    """
    return Verification(tuple(_checks(certificate, ledger, release, schema, public_key, head)))


def _checks(
    certificate: _AnyPath,
    ledger: _AnyPath,
    release: _AnyPath,
    schema: _AnyPath | None,
    public_key: _AnyPath | None,
    head: str | None,
) -> Iterator[Check]:
    found: list[object] = []
    yield _tried("certificate", found, lambda: load(certificate), "as it was written")
    yield _tried("ledger", found, lambda: _state(ledger), "as it was written, chain intact")
    yield _tried("file", found, lambda: released_model(release), "a private explanation")
    given, state, shown = found
    if isinstance(given, Certificate):
        yield _signature(given, public_key)
    if not isinstance(given, Certificate) or not isinstance(state, LedgerState):
        return
    then = _state_then(given, state)
    yield _head(given, state, then)
    if head is not None:
        yield _kept_head(given, state, head)
    yield _cap(given, state)
    yield _released(given, state, release)
    yield _schema(given, schema)
    if then is not None and not isinstance(shown, Exception):
        yield _epsilon(given, then, shown)  # type: ignore[arg-type]
        yield _made_again(given, then, shown)  # type: ignore[arg-type]


def _tried(name: str, found: list[object], read: Callable[[], object], words: str) -> Check:
    """Load a file, append its content or the error to `found`, and return the check."""
    try:
        found.append(read())
    except (ValueError, OSError, BudgetError) as error:
        found.append(error)
        return Check(name, "failed", str(error).removesuffix(" Nothing was charged."))
    return Check(name, "passed", words)


def _state(path: _AnyPath) -> LedgerState:
    """Load a ledger; raise ValueError if it was edited by hand."""
    place = place_of(path)
    text, _ = place.read()
    state = LedgerState.from_json(text)
    place.check_name(state.dataset)
    if state.to_json() != text:
        raise ValueError("the ledger is not written as dpexplain writes it: it was edited by hand.")
    return state


def _state_then(given: Certificate, state: LedgerState) -> LedgerState | None:
    """Return the ledger as it was when the certificate was created.

    The result is None if the ledger was never in the state that the certificate describes.
    """
    if given.n_entries > len(state.entries) or given.n_releases > len(state.releases):
        return None
    try:
        then = state.at(given.n_entries, given.n_releases, given.cap_epsilon, given.cap_unit)
    except ValueError:
        return None
    return then if then.head == given.head else None


def _head(given: Certificate, state: LedgerState, then: LedgerState | None) -> Check:
    if then is None:
        words = (
            "the ledger was never in the state that the certificate names: one of them was "
            "changed, or it is another ledger"
        )
        return Check("chain", "failed", words)
    later = len(state.entries) - given.n_entries
    since = f", {later} charged since" if later else ""
    words = f"head {given.head[:16]}… after {counted_entries(given.n_entries)}{since}"
    return Check("chain", "passed", words)


def _kept_head(given: Certificate, state: LedgerState, head: str) -> Check:
    """Check that a head kept elsewhere was once the head of the ledger."""
    caps = {(state.cap_epsilon, state.unit), (given.cap_epsilon, given.cap_unit)}
    for cap, unit in caps:
        n_entries = replace(state, cap_epsilon=cap, unit=unit).entries_at(head)
        if n_entries is not None:
            words = f"head {head[:16]}… is that of the ledger after {counted_entries(n_entries)}"
            return Check("head", "passed", words)
    words = (
        "no state of this ledger has the given head: entries were deleted, or the head belongs to "
        "another ledger, or to a cap other than the present one and that of the certificate"
    )
    return Check("head", "failed", words)


def _cap(given: Certificate, state: LedgerState) -> Check:
    if math.isinf(state.cap_epsilon) and math.isinf(given.cap_epsilon):
        return Check("cap", "not checked", "the ledger has no cap")
    if state.cap_epsilon > given.cap_epsilon:
        words = f"raised from {given.cap_epsilon:g} to {state.cap_epsilon:g}"
        return Check("cap", "failed", words)
    spent = state.epsilon_for(state.cap_unit(), state.delta)
    if spent > state.cap_epsilon:
        words = f"{upper_number(spent)} was spent, more than {state.cap_epsilon:g}"
        return Check("cap", "failed", words)
    whom = state.cap_unit().kind_words
    words = f"{upper_number(spent)} of {state.cap_epsilon:g} is spent, for {whom}"
    return Check("cap", "passed", words)


def _released(given: Certificate, state: LedgerState, path: _AnyPath) -> Check:
    try:
        sha256 = file_hash(path)
    except OSError as error:
        return Check("release", "failed", str(error))
    if sha256 != given.release_sha256:
        return Check("release", "failed", "the file is not the one that the certificate names")
    recorded = {(file.entry, file.sha256) for file in state.releases}
    if (given.entry, sha256) not in recorded:
        return Check("release", "failed", "the ledger does not contain the hash of the file")
    words = f"{sha256[:16]}… is in the ledger, at entry {given.entry}"
    others = len({file for entry, file in recorded if entry == given.entry} - {sha256})
    if others:
        files = "1 other file is" if others == 1 else f"{others} other files are"
        words += f"; {files} recorded for the same fit"
    return Check("release", "passed", words)


def _schema(given: Certificate, path: _AnyPath | None) -> Check:
    known = given.release.schema or given.fit.schema
    if path is None:
        return Check("schema", "not checked", "no schema was given")
    if not known:
        return Check("schema", "failed", "neither fit nor release recorded a schema")
    try:
        if not Path(path).is_file():
            raise ValueError(f"{str(path)!r}: no such file.")
        same = schema_hash(Schema.from_toml(Path(path))) == known
    except (ValueError, OSError) as error:
        return Check("schema", "failed", str(error))
    if not same:
        return Check("schema", "failed", "the schema is not the one of the fit")
    return Check("schema", "passed", f"{known[:16]}… is that of the fit")


def _epsilon(given: Certificate, then: LedgerState, shown: Released) -> Check:
    """Check that the file and the certificate state the epsilon of the entry's events."""
    words = f"ε = {given.epsilon:g}, δ = {given.delta:g}"
    if given.entry < len(then.entries):
        entry, guarantee = then.entries[given.entry], shown.guarantee
        stated = (guarantee.epsilon, guarantee.delta, guarantee.unit)
        on_page = given.epsilon >= guarantee.epsilon and given.delta == guarantee.delta
        if on_page and stated[2] == given.protects and fits_file(entry, shown, then):
            return Check("epsilon", "passed", f"{words} follows from the events of the entry")
    return Check("epsilon", "failed", f"{words} does not follow from the events of the entry")


def _made_again(given: Certificate, then: LedgerState, shown: Released) -> Check:
    """Recreate the certificate from file and ledger, and compare it with the original."""
    places = [
        place
        for place, file in enumerate(then.releases)
        if (file.entry, file.sha256, file.provenance)
        == (given.entry, given.release_sha256, given.release)
    ]
    if not places:
        return Check("content", "failed", "no such release is recorded in the ledger")
    again = certificate_of(shown, then.releases[places[0]], then)
    apart = [
        each.name
        for each in fields(Certificate)
        if each.name != "signature" and getattr(again, each.name) != getattr(given, each.name)
    ]
    if apart == ["library"]:
        words = (
            f"{_SAME}, except for the version: created with {given.library}, "
            f"this is {again.library}"
        )
        return Check("content", "failed", words)
    if apart:
        return Check("content", "failed", f"differs from ledger or file in: {', '.join(apart)}")
    return Check("content", "passed", _SAME)


def _signature(given: Certificate, path: _AnyPath | None) -> Check:
    if given.signature is None:
        if path is not None:
            return Check("signature", "failed", "the certificate is not signed")
        words = "not signed: someone who can write all files could have replaced them"
        return Check("signature", "not checked", words)
    key, signature = given.signature
    try:
        if not signature_holds(given.promise(), key, signature):
            return Check("signature", "failed", "the signature does not belong to the certificate")
        if path is None:
            words = f"valid for key {key}; compare it with the officer's"
            return Check("signature", "passed", words)
        same = public_key_of(path) == key
    except (ImportError, ValueError, OSError) as error:
        missing = isinstance(error, ImportError) and path is None
        return Check("signature", "not checked" if missing else "failed", str(error))
    if not same:
        return Check("signature", "failed", "signed with another key than the given one")
    return Check("signature", "passed", "signed with the given key")
