"""Certificates: verifiable one-page descriptions of privacy guarantees.

A certificate is created only from a released file, its ledger and its schema, so anyone who has
them can reproduce and verify it. Neither the data nor a network connection is needed.
"""

from __future__ import annotations

from dpexplain.accounting._ledger.provenance import schema_hash
from dpexplain.certificate.certificate import Certificate, load
from dpexplain.certificate.releasing import file_hash, release
from dpexplain.certificate.verifying import Check, Verification, verify

__all__ = [
    "Certificate",
    "Check",
    "Verification",
    "file_hash",
    "load",
    "release",
    "schema_hash",
    "verify",
]
