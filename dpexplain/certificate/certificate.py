"""Certificates, and their conversion to JSON, HTML, PDF and Markdown."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from dpexplain._utils.json import check_size, read_document, write_document
from dpexplain._utils.validation import (
    Adjacency,
    check_adjacency,
    check_count,
    check_delta,
    check_in_range,
    shown,
)
from dpexplain.accounting import Provenance
from dpexplain.accounting._ledger.provenance import check_hash
from dpexplain.accounting._ledger.serialize import not_negative, number_to_json
from dpexplain.accounting.unit import Unit, unit_from_dict, unit_to_dict
from dpexplain.certificate.card import card_of, data_of_card
from dpexplain.certificate.pdf import data_of_pdf, pdf_of
from dpexplain.certificate.printed import data_of_page, page_of
from dpexplain.io.files import write_file

__all__ = ["Certificate", "load"]

_KIND = "certificate"
_MAX_BYTES = 2**22
_TEXTS = ("dataset", "model", "target", "protects", "sampler", "fitted_with", "library")
_LISTS = ("features", "edited", "mechanisms", "not_private")
_NUMBERS = ("epsilon", "total_epsilon", "adaptive_epsilon", "cap_epsilon", "left_epsilon")
_COUNTS = ("entry", "n_entries", "n_releases")
_HASHES = ("release_sha256", "head")
_PAGES = (".html", ".htm", ".pdf", ".md")


@dataclass(frozen=True)
class Certificate:
    """Guarantees of a released file, and the evidence for them in the ledger.

    Every field is determined by the released file, the ledger and the version of this library, so
    `verify` can reproduce it. Values of epsilon are rounded up, and the remaining budget is rounded
    down.

    Parameters
    ----------
    dataset : str
        Name of the data set in the ledger.
    model : str
        Model that the file explains.
    target : str
        Name of the model's target.
    features : tuple of str
        Names of the model's features.
    edited : tuple of str
        Names of the terms and pairs that were edited by hand after the fit.
    protects : str
        Unit of privacy of the guarantee stated in the file, such as "one record".
    adjacency : {"add_remove", "replace"}
        Which data sets count as neighbors.
    epsilon, delta : float
        Guarantee stated in the file; its epsilon is rounded up.
    total_epsilon, adaptive_epsilon : float
        Epsilon of all private ledger entries combined, for the unit of privacy in `protects`.
        `total_epsilon` holds if the fits were planned in advance; `adaptive_epsilon` holds even if
        they were not. An epsilon is infinite if it has no bound.
    total_delta : float
        Delta for which `total_epsilon` and `adaptive_epsilon` hold.
    cap_epsilon, left_epsilon : float
        Cap of the ledger, and the largest epsilon that one more fit may have under this cap;
        infinite if there is no cap.
    cap_unit : Unit or None
        Unit of privacy of the cap, as stated in the ledger.
    mechanisms : tuple of str
        Quantities released for the file, with the amount of noise added to each.
    not_private : tuple of str
        Ledger entries that are not private.
    sampler : str
        Source of the noise.
    fit, release : Provenance
        Provenance of the fit and of the release: date, person, purpose, target and hash of the
        schema.
    release_sha256 : str
        Hash of the released file.
    entry : int
        Index of the ledger entry that corresponds to the file.
    n_entries, n_releases : int
        Number of entries, and of released files, in the ledger when the certificate was created.
    head : str
        Hash of the ledger when the certificate was created.
    fitted_with, library : str
        Versions of the library with which the model was fitted and the certificate was created.
    signature : tuple of (str, str) or None, default=None
        Public key and Ed25519 signature, in hexadecimal digits.

    See Also
    --------
    release : Create a certificate.
    verify : Verify a certificate.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from dpexplain import DPExplainableBoostingClassifier, PrivacyLedger, certificate, io
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> folder = tempfile.TemporaryDirectory()
    >>> file, path = Path(folder.name, "model.json"), Path(folder.name, "ledger.json")
    >>> ledger = PrivacyLedger("certified stays", cap_epsilon=2, path=path)
    >>> model = DPExplainableBoostingClassifier(epsilon=1, schema=stays.schema, ledger=ledger)
    >>> _ = io.save(model.fit(stays.X, stays.y).explain_global(), file)
    >>> page = certificate.release(file, ledger, schema=stays.schema, purpose="annual report")
    >>> page.protects, page.adjacency
    ('one record', 'add_remove')
    >>> "annual report" in page.html()
    True
    >>> folder.cleanup()
    """

    dataset: str
    model: str
    target: str
    features: tuple[str, ...]
    edited: tuple[str, ...]
    protects: str
    adjacency: Adjacency
    epsilon: float
    delta: float
    total_epsilon: float
    adaptive_epsilon: float
    total_delta: float
    cap_epsilon: float
    left_epsilon: float
    cap_unit: Unit | None
    mechanisms: tuple[str, ...]
    not_private: tuple[str, ...]
    sampler: str
    fit: Provenance
    release: Provenance
    release_sha256: str
    entry: int
    n_entries: int
    n_releases: int
    head: str
    fitted_with: str
    library: str
    signature: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        for name in _TEXTS:
            if not isinstance(getattr(self, name), str):
                raise ValueError(f"{name}={shown(getattr(self, name))} must be a string.")
        for name in _LISTS:
            values = tuple(getattr(self, name))
            if not all(isinstance(value, str) for value in values):
                raise ValueError(f"{name} must be a list of strings.")
            object.__setattr__(self, name, values)
        for name in _NUMBERS:
            object.__setattr__(self, name, not_negative(name, getattr(self, name)))
        for name in _COUNTS:
            check_count(name, getattr(self, name), 0)
        for name in _HASHES:
            check_hash(name, getattr(self, name))
        check_adjacency(self.adjacency)
        check_in_range("delta", self.delta, 0.0, 1.0)
        check_delta(self.total_delta)

    def promise(self) -> dict[str, Any]:
        """Return all content that a signature covers, as JSON values.

        Returns
        -------
        dict
        """
        content: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(self)}
        del content["signature"]
        content.update({name: number_to_json(content[name]) for name in _NUMBERS})
        content.update({name: list(content[name]) for name in _LISTS})
        content.update({name: content[name].to_dict() for name in ("fit", "release")})
        content["cap_unit"] = None if self.cap_unit is None else unit_to_dict(self.cap_unit)
        return content

    def to_dict(self) -> dict[str, Any]:
        """Convert the certificate to a dictionary.

        Returns
        -------
        dict
            JSON values, with infinity as the string ``"inf"``.
        """
        signature = None if self.signature is None else list(self.signature)
        return {**self.promise(), "signature": signature}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Certificate:
        """Create a certificate from the output of `to_dict`, with strict checks.

        Parameters
        ----------
        content : mapping
            Output of `to_dict`.

        Returns
        -------
        Certificate

        Raises
        ------
        ValueError
            If a field is missing, unknown or out of range.
        """
        names = {each.name for each in fields(cls)}
        if not isinstance(content, Mapping) or set(content) != names:
            raise ValueError(
                f"a certificate needs exactly these fields: {', '.join(sorted(names))}."
            )
        values = dict(content)
        for name in _LISTS:
            if not isinstance(values[name], list):
                raise ValueError(f"{name} must be a list of strings.")
        for name in ("fit", "release"):
            values[name] = Provenance.from_dict(values[name])
        unit, signature = values["cap_unit"], values["signature"]
        values["cap_unit"] = None if unit is None else unit_from_dict(unit)
        values["signature"] = None if signature is None else _signature(signature)
        return cls(**values)

    def to_json(self) -> str:
        """Return the certificate as JSON.

        Returns
        -------
        str
        """
        return write_document(_KIND, self.to_dict()) + "\n"

    def html(self) -> str:
        """Return the certificate as an HTML page that prints on one sheet of paper.

        Returns
        -------
        str
            HTML without executable scripts, images or links. The page also contains the certificate
            as JSON.
        """
        return page_of(self, self.to_json())

    def pdf(self) -> bytes:
        """Return the certificate as a one-page PDF file in A4 format.

        The page has the same text as the HTML page, leaves room for a handwritten signature, and
        also contains the certificate as JSON. Its text can be selected. If a certificate has many
        long names, the page is taller, so that the text remains readable. Chinese, Japanese,
        Korean, Arabic and Hebrew characters are shown as codes such as ``[U+5C71]``; for these,
        print the HTML page instead.

        Returns
        -------
        bytes
            The file. Matplotlib draws the page; with the same version of it, the bytes are always
            the same.
        """
        return pdf_of(self, self.to_json())

    def card(self) -> str:
        """Return the certificate as a model card for Hugging Face or MLflow.

        The card says what the HTML page says and, in its metadata, states the guarantee in YAML. It
        also contains the certificate as JSON, in a comment.

        Returns
        -------
        str
            Markdown.
        """
        return card_of(self, self.to_json())

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Save the certificate as an HTML page, a PDF, a model card or a JSON file.

        Parameters
        ----------
        path : path-like
            Destination, which must end in ``.html``, ``.htm``, ``.pdf``, ``.md`` or ``.json``. An
            existing file is replaced.

        Returns
        -------
        Path

        Raises
        ------
        ValueError
            If the file name has a different suffix.
        OSError
            If the file cannot be written.
        """
        try:
            written = self._written(Path(path).suffix.lower())
        except KeyError:
            raise ValueError(f"{str(path)!r} must end in .html, .pdf, .md or .json.") from None
        return write_file(path, written)

    def _written(self, suffix: str) -> bytes:
        """Return the content of a file with the given suffix, or raise KeyError."""
        if suffix == ".pdf":
            return self.pdf()
        writers = {
            ".json": self.to_json,
            ".html": self.html,
            ".htm": self.html,
            ".md": self.card,
        }
        return writers[suffix]().encode()

    def signed(self, public_key: str, signature: str) -> Certificate:
        """Return a copy of the certificate with a signature.

        Parameters
        ----------
        public_key, signature : str
            Public key and signature in hexadecimal digits; see `dpexplain.certificate.signing`.

        Returns
        -------
        Certificate
        """
        return dataclasses.replace(self, signature=(public_key, signature))

    def _repr_html_(self) -> str:
        return page_of(self, None)


def load(path: str | os.PathLike[str]) -> Certificate:
    """Load a certificate saved with `Certificate.save`.

    The content is not compared with the ledger or the released file; use `verify` for that.

    Parameters
    ----------
    path : path-like
        An HTML page, a PDF document, a model card or a JSON file.

    Returns
    -------
    Certificate

    Raises
    ------
    ValueError
        If the file is not a certificate, or was changed after it was written.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from dpexplain import DPExplainableBoostingClassifier, PrivacyLedger, certificate, io
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> folder = tempfile.TemporaryDirectory()
    >>> file, path = Path(folder.name, "model.json"), Path(folder.name, "ledger.json")
    >>> ledger = PrivacyLedger("loaded stays", cap_epsilon=2, path=path)
    >>> model = DPExplainableBoostingClassifier(epsilon=1, schema=stays.schema, ledger=ledger)
    >>> _ = io.save(model.fit(stays.X, stays.y).explain_global(), file)
    >>> page = certificate.release(file, ledger, schema=stays.schema, purpose="annual report")
    >>> saved = page.save(Path(folder.name, "certificate.html"))
    >>> certificate.load(saved) == page
    True
    >>> folder.cleanup()
    """
    raw, suffix = Path(path).read_bytes(), Path(path).suffix.lower()
    try:
        check_size(len(raw), _MAX_BYTES)
        certificate: Certificate = read_document(
            _data_of(raw, suffix),
            (_KIND,),
            lambda _, content: Certificate.from_dict(content),
            _MAX_BYTES,
        )
    except ValueError as error:
        why = "not UTF-8 text." if isinstance(error, UnicodeDecodeError) else error
        raise ValueError(f"{str(path)!r} is not a certificate: {why}") from None
    if certificate._written(suffix if suffix in _PAGES else ".json") != raw:
        version = "dpexplain or Matplotlib" if suffix == ".pdf" else "dpexplain"
        raise ValueError(
            f"{str(path)!r} differs from what {certificate.library[:60]!r} wrote: it was changed, "
            f"or this is a different version of {version}, which writes its pages differently."
        )
    return certificate


def _data_of(raw: bytes, suffix: str) -> str:
    """Return the JSON in a file whose format is determined by its suffix."""
    if suffix == ".pdf":
        return data_of_pdf(raw)
    readers = {".html": data_of_page, ".htm": data_of_page, ".md": data_of_card}
    return readers.get(suffix, str)(raw.decode())


def _signature(content: object) -> tuple[str, str]:
    if not isinstance(content, list) or len(content) != 2:
        raise ValueError("signature must be a public key and a signature.")
    key, signature = content
    for name, value, length in (("public key", key, 64), ("signature", signature, 128)):
        known = isinstance(value, str) and len(value) == length
        if not known or not set(value) <= set("0123456789abcdef"):
            raise ValueError(f"the {name} must have {length} hexadecimal digits.")
    return key, signature
