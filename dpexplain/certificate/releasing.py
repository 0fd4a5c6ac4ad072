"""Create certificates for released files."""

from __future__ import annotations

import hashlib
import math
import os
from dataclasses import replace
from pathlib import Path

import dpexplain.io
from dpexplain._utils.guarantee_words import upper_number
from dpexplain._utils.version import __version__
from dpexplain.accounting import LedgerEntry, PrivacyLedger, Provenance, ReleasedFile
from dpexplain.accounting._ledger.provenance import schema_hash
from dpexplain.accounting.accountant import epsilon_of
from dpexplain.accounting.ledger_state import LedgerState
from dpexplain.accounting.rdp import moments_epsilon, rdp_epsilon
from dpexplain.accounting.spending import Spending
from dpexplain.accounting.summary import summary_of
from dpexplain.certificate.certificate import Certificate
from dpexplain.certificate.signing import sign
from dpexplain.certificate.wording import Released, changed_words
from dpexplain.explain import FilterBank, Guarantee, MulticlassExplanation
from dpexplain.explain.additive.multiclass import scores_of
from dpexplain.explain.display import ONE_OF_A_SWEEP
from dpexplain.schema import Schema
from dpexplain.statement.statement import mechanism_words, open_words

__all__ = ["certificate_of", "entry_epsilon", "file_hash", "release", "released_model"]

# Relative tolerances above and below epsilon: calibration rounds noise up, never down.
_ROUNDING = 1e-9
_NO_LESS_THAN = 0.99


def release(
    path: str | os.PathLike[str],
    ledger: PrivacyLedger,
    *,
    schema: Schema | None = None,
    entry: int | None = None,
    person: str = "",
    purpose: str = "",
    key: str | os.PathLike[str] | None = None,
) -> Certificate:
    """Record a released file in its ledger and create its certificate.

    This has no privacy cost and does not need the data.

    Parameters
    ----------
    path : path-like
        File written by ``dpexplain fit`` or `dpexplain.io.save`, with the explanation of one
        private model.
    ledger : PrivacyLedger
        Ledger to which the fit was charged.
    schema : Schema or None, default=None
        Schema of the fit; its hash is compared with the one in the ledger.
    entry : int or None, default=None
        Index of the fit's entry in ``ledger.entries``; if None, the entry is searched for.
    person, purpose : str, default=""
        Person who releases the file, and purpose of the release; by default, those of the fit.
    key : path-like or None, default=None
        Private Ed25519 key (PEM) with which the certificate is signed; this requires the ``sign``
        extra.

    Returns
    -------
    Certificate
        The certificate; its method ``save`` writes a page, a model card or a JSON file.

    Raises
    ------
    ValueError
        If the file is not an explanation of one model, if it is not private, if the wording of its
        guarantee was changed after the fit, if no entry or more than one entry matches it, or if
        `schema` is not the schema of the fit. An entry matches the file if both have the same
        model, unit, adjacency, target and schema, if the epsilon of the entry's events matches the
        epsilon stated in the file, and if the file does not understate mu or the epsilon for
        replacing a record. If this error is raised, nothing is recorded.
    ImportError
        If `key` is given but the package ``cryptography`` is not installed. If this error is
        raised, nothing is recorded.
    BudgetError
        If the ledger cannot be read or written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from dpexplain import DPExplainableBoostingClassifier, PrivacyLedger, certificate, io
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> folder = tempfile.TemporaryDirectory()
    >>> file, path = Path(folder.name, "model.json"), Path(folder.name, "ledger.json")
    >>> ledger = PrivacyLedger("released stays", cap_epsilon=2, path=path)
    >>> model = DPExplainableBoostingClassifier(epsilon=1, schema=stays.schema, ledger=ledger)
    >>> _ = io.save(model.fit(stays.X, stays.y).explain_global(), file)
    >>> page = certificate.release(file, ledger, schema=stays.schema, purpose="annual report")
    >>> page.epsilon, ledger.entries[0].label
    (1.0, 'DPExplainableBoostingClassifier (epsilon=1)')
    >>> folder.cleanup()
    """
    shown, sha256 = released_model(path), file_hash(path)
    signing = None if key is None else sign(key)
    state = LedgerState.from_json(ledger.to_json())
    place = _entry_of(shown, sha256, state, entry)
    facts = Provenance(person=person, purpose=purpose)
    if schema is not None:
        known = state.entries[place].provenance.schema
        if known and known != schema_hash(schema):
            raise ValueError(
                f"the schema is not the one of the fit, whose hash is {known}; pass the TOML file "
                "that the fit used. Nothing was recorded."
            )
        facts = replace(facts, schema=schema_hash(schema))
    recorded = ledger.add_release(place, sha256, facts)
    certificate = certificate_of(shown, recorded, LedgerState.from_json(ledger.to_json()))
    return certificate if signing is None else certificate.signed(*signing(certificate.promise()))


def certificate_of(shown: Released, recorded: ReleasedFile, state: LedgerState) -> Certificate:
    """Create an unsigned certificate from a released file and the ledger's state.

    Parameters
    ----------
    shown : GlobalExplanation, MulticlassExplanation or FilterBank
        Content of the file.
    recorded : ReleasedFile
        Record of the file in the ledger.
    state : LedgerState
        State of the ledger, which includes this record.

    Returns
    -------
    Certificate
    """
    guarantee, summary = shown.guarantee, summary_of(state)
    total = summary.total_for(guarantee.unit)
    return Certificate(
        dataset=state.dataset,
        model=shown.model_name,
        target=shown.target_name,
        features=_features(shown),
        edited=_edited(shown),
        protects=guarantee.unit,
        adjacency=state.adjacency,
        epsilon=_up(guarantee.epsilon),
        delta=guarantee.delta,
        total_epsilon=_up(total.epsilon),
        adaptive_epsilon=_up(total.adaptive_epsilon),
        total_delta=state.delta,
        cap_epsilon=state.cap_epsilon,
        left_epsilon=_down(state.remaining_epsilon),
        cap_unit=state.unit,
        mechanisms=mechanism_words(summary.entries[recorded.entry : recorded.entry + 1]),
        not_private=open_words(summary.entries),
        sampler=guarantee.sampler or "not stated",
        fit=state.entries[recorded.entry].provenance,
        release=recorded.provenance,
        release_sha256=recorded.sha256,
        entry=recorded.entry,
        n_entries=len(state.entries),
        n_releases=len(state.releases),
        head=state.head,
        fitted_with=f"dpexplain {guarantee.version or 'of unknown version'}",
        library=f"dpexplain {__version__}",
    )


def released_model(path: str | os.PathLike[str]) -> Released:
    """Load the explanation of one private model.

    Parameters
    ----------
    path : path-like
        File written by `dpexplain.io.save`.

    Returns
    -------
    GlobalExplanation, MulticlassExplanation or FilterBank

    Raises
    ------
    TypeError
        If `path` is an explanation.
    ValueError
        If the file contains another type of object or an object that is not private, or if the
        wording of its guarantee was changed after the fit.
    """
    if isinstance(path, Released):
        raise TypeError(
            f"path is a {type(path).__name__}; a certificate is for a file: save it with "
            "dpexplain.io.save(explanation, 'model.json'), and pass 'model.json'."
        )
    shown = dpexplain.io.load(path)
    if not isinstance(shown, Released):
        raise ValueError(
            f"{str(path)!r} contains a {type(shown).__name__}; a certificate is for the "
            f"explanation of one fit, as `dpexplain fit` writes it; {ONE_OF_A_SWEEP}"
        )
    if not shown.guarantee.private or not shown.releasable:
        raise ValueError(f"{str(path)!r} is NOT PRIVATE, so it must not be released.")
    changed = changed_words(shown)
    if changed:
        raise ValueError(
            f"the guarantee in {str(path)!r} is not as dpexplain writes it ({changed}): the file "
            "was changed. Save the explanation of the fit again, and release that."
        )
    return shown


def file_hash(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 hash of a file.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    str
        Hash of the file's bytes in hexadecimal digits, as printed by ``sha256sum``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from dpexplain.certificate import file_hash
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "model.json")
    ...     _ = file.write_text("{}")
    ...     file_hash(file)[:16]
    '44136fa355b3678a'
    """
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def entry_epsilon(entry: LedgerEntry, delta: float, state: LedgerState) -> float:
    """Compute the epsilon of an entry from its events.

    Parameters
    ----------
    entry : LedgerEntry
    delta : float
        Delta of a guarantee; 0 for pure differential privacy.
    state : LedgerState
        Ledger that contains the entry.

    Returns
    -------
    float
        Epsilon, which is infinite if there is no bound at this delta.
    """
    return _epsilon(entry.spending(state.adjacency), delta) if entry.private else math.inf


def _epsilon(spending: Spending, delta: float) -> float:
    if delta > 0.0:
        return epsilon_of(spending, delta)
    pure = spending.squared_mu == 0.0 and not spending.subsampled
    return spending.sum_of_pure if pure else math.inf


def _entry_of(shown: Released, sha256: str, state: LedgerState, entry: int | None) -> int:
    """Return the index of the ledger entry for a file, or raise ValueError.

    The result is the given entry, the entry with which the file was recorded, or the only matching
    entry.
    """
    guarantee = shown.guarantee
    fitting = [n for n, e in enumerate(state.entries) if fits_file(e, shown, state)]
    if entry is not None:
        if entry not in fitting:
            raise ValueError(
                f"entry={entry} does not promise what the file does ({guarantee.short}; unit: "
                f"{guarantee.unit}); {_advice(fitting)} Nothing was recorded."
            )
        return entry
    recorded = {file.entry for file in state.releases if file.sha256 == sha256} & set(fitting)
    for found in (sorted(recorded), fitting):
        if len(found) == 1:
            return found[0]
    raise ValueError(
        f"the ledger of {state.dataset!r} has {len(fitting)} entries that promise what the file "
        f"does ({guarantee.short}; unit: {guarantee.unit}); {_advice(fitting)} "
        "Nothing was recorded."
    )


def _advice(fitting: list[int]) -> str:
    if not fitting:
        return "pass the ledger that this fit was charged to, and the file as the fit wrote it."
    known = ", ".join(map(str, fitting[:20]))
    return (
        f"pass entry= with one of {known}; see ledger.frame(). In a shell, pass --entry; "
        "dpexplain ledger FILE --format entries lists them."
    )


def fits_file(entry: LedgerEntry, shown: Released, state: LedgerState) -> bool:
    """Check whether a ledger entry matches a released file.

    Parameters
    ----------
    entry : LedgerEntry
    shown : GlobalExplanation, MulticlassExplanation or FilterBank
        Content of the file.
    state : LedgerState
        Ledger that contains the entry.

    Returns
    -------
    bool
        Whether the model, unit, adjacency, target, schema and numbers match. The epsilon of the
        entry's events must not exceed the epsilon stated in the file. If it is considerably
        smaller, the entry matches only if its events have the mu stated in the file and its label
        gives that epsilon. An entry that names a schema does not match a file without a schema,
        except for files about filters, which never contain one.
    """
    guarantee, target = shown.guarantee, entry.provenance.target
    if entry.unit.words != guarantee.unit or state.adjacency != guarantee.adjacency:
        return False
    if entry.label != shown.model_name and not entry.label.startswith(f"{shown.model_name} ("):
        return False
    if target and target != shown.target_name:
        return False
    if entry.provenance.schema and not _same_schema(shown, entry.provenance.schema):
        return False
    return _same_epsilon(entry, guarantee, state) and _no_less(entry, guarantee, state)


def _same_schema(shown: Released, known: str) -> bool:
    """Return whether the schema in a file has the hash `known`; True for filters.

    Files about filters never contain a schema.
    """
    if isinstance(shown, FilterBank):
        return True
    held = [part.schema for part in scores_of(shown)]
    return all(schema is not None and schema_hash(schema) == known for schema in held)


def _same_epsilon(entry: LedgerEntry, guarantee: Guarantee, state: LedgerState) -> bool:
    """Return whether the epsilon of an entry's events matches the one in a file.

    All ways of composing the events are considered. An additive model fitted with
    ``preset="paper"`` costs considerably less than its stated epsilon. Its entry matches if the
    events have the mu stated in the file and the entry's label gives the epsilon.
    """
    cost = paid = entry_epsilon(entry, guarantee.delta, state)
    spending = entry.spending(state.adjacency)
    if spending.subsampled and guarantee.delta > 0.0:
        paid = max(cost, rdp_epsilon(spending, guarantee.delta))
        if spending.adjacency == "add_remove" and not (spending.laplace or spending.pure):
            paid = max(paid, moments_epsilon(spending, guarantee.delta))
    if cost > guarantee.epsilon * (1.0 + _ROUNDING):
        return False
    named = any(f"(epsilon={guarantee.epsilon:g}{end}" in entry.label for end in ",)")
    return (named and _same_mu(spending, guarantee)) or paid >= guarantee.epsilon * _NO_LESS_THAN


def _same_mu(spending: Spending, guarantee: Guarantee) -> bool:
    mu = spending.gaussian_bound
    if guarantee.mu is None or not 0.0 < mu < math.inf:
        return False
    return math.isclose(guarantee.mu, mu, rel_tol=_ROUNDING)


def _no_less(entry: LedgerEntry, guarantee: Guarantee, state: LedgerState) -> bool:
    """Return whether the mu and `epsilon_replace` stated in a file are large enough.

    They must be at least as large as those of the entry's events.
    """
    spending, least = entry.spending(state.adjacency), 1.0 - _ROUNDING
    if guarantee.mu is not None and guarantee.mu < spending.gaussian_bound * least:
        return False
    stated = guarantee.epsilon_replace
    return stated is None or stated >= _epsilon(spending.replaced(), guarantee.delta) * least


def _features(shown: Released) -> tuple[str, ...]:
    if isinstance(shown, FilterBank):
        return shown.input_names
    return shown.term_names if isinstance(shown, MulticlassExplanation) else tuple(shown)


def _edited(shown: Released) -> tuple[str, ...]:
    records = () if isinstance(shown, FilterBank) else shown.edits
    return tuple(dict.fromkeys(name for record in records for name in record.terms))


def _up(value: float) -> float:
    return value if math.isinf(value) else float(upper_number(value))


def _down(value: float) -> float:
    return value if math.isinf(value) else math.floor(1000.0 * value) / 1000.0
