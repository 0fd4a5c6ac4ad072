"""A released file with its ledger, schema and certificate, without a fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import dpexplain
from dpexplain import Categorical, Classes, Numeric, PrivacyLedger, Schema
from dpexplain._utils.guarantee_words import EXACT_GAUSSIAN
from dpexplain.accounting import GaussianEvent, NonPrivateEvent, Provenance
from dpexplain.accounting.composition import gdp_noise_multiplier
from dpexplain.certificate import Certificate, Verification, release, schema_hash, verify
from dpexplain.explain import GlobalExplanation, Guarantee
from example_explanations import classifier, private_guarantee

EPSILON = 0.5
EVENT = GaussianEvent("sums", gdp_noise_multiplier(1, EPSILON, 1e-6))
SCHEMA = Schema(
    {"age": Numeric(17, 90, unit="years", step=1), "job": Categorical(["nurse", "clerk"])},
    target=Classes(["no", "yes"], name="income"),
)


@dataclass
class Certified:
    """The files of one release."""

    folder: Path
    certificate: Certificate

    @property
    def ledger(self) -> Path:
        return self.folder / "ledger.json"

    @property
    def release(self) -> Path:
        return self.folder / "model.json"

    @property
    def schema(self) -> Path:
        return self.folder / "schema.toml"

    @property
    def page(self) -> Path:
        return self.folder / "certificate.html"

    @property
    def data(self) -> Path:
        return self.folder / "certificate.json"

    def verified(self, certificate: Path | None = None, **options) -> Verification:
        return verify(certificate or self.page, self.ledger, self.release, **options)


def guarantee(epsilon: float = EPSILON) -> Guarantee:
    """Make the guarantee of a private fit, worded as in a fit."""
    return replace(private_guarantee(epsilon), sampler=EXACT_GAUSSIAN)


def certifiable(epsilon: float = EPSILON, **changes) -> GlobalExplanation:
    """Make an explanation that can be certified, with its schema."""
    fields = {"model_name": "DPModel", "classes": ("no", "yes"), "schema": SCHEMA}
    return classifier(guarantee(epsilon), **{**fields, **changes})


def certified(folder, dataset="survey", explanation=None, **options) -> Certified:
    """Charge three fits, one of them not private, and release the file of the second."""
    ledger = PrivacyLedger(
        dataset, 4.0, path=folder / "ledger.json", person="A. Curie", purpose="report"
    )
    ledger.charge([GaussianEvent("counts", 30.0)], label="counts")
    shown = explanation or certifiable()
    target = shown.target_name if shown.target_name.isprintable() else ""
    held = "" if shown.schema is None else schema_hash(shown.schema)
    facts = Provenance(target=target if len(target) <= 500 else "", schema=held)
    ledger.charge([EVENT], label=f"{shown.model_name} (epsilon=0.5)", provenance=facts)
    ledger.charge([NonPrivateEvent("reference", "fitted without noise")], label="reference")
    SCHEMA.to_toml(folder / "schema.toml")
    dpexplain.io.save(shown, folder / "model.json")
    certificate = release(folder / "model.json", ledger, schema=SCHEMA, **options)
    certificate.save(folder / "certificate.html")
    certificate.save(folder / "certificate.json")
    return Certified(folder, certificate)
