"""Certificates: one page about a released file, and the check that it is true.

A certificate is made from a released file, its ledger and its schema alone, so anybody who has them
can make it again and compare. Neither needs the data or a network.
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
