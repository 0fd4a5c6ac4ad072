"""``dpexplain release`` and ``verify``: certificates for released files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from dpexplain.cli.errors import CommandError
from dpexplain.cli.options import add_command, add_responsible, check_place, file_or_address

_WRONG = 1


def add_commands(commands: Any) -> None:
    """Add the ``release`` and ``verify`` commands."""
    release = add_command(
        commands,
        "release",
        summary="Record a saved explanation as released in its ledger, and write its certificate: "
        "one page in plain English, as HTML, PDF or a model card. Needs no data and spends "
        "nothing.",
        examples="dpexplain release model.json --ledger data.ledger.json --schema schema.toml \\\n"
        '    --person "A. Curie" --purpose "annual report" --out certificate.html\n'
        "dpexplain release model.json --ledger data.ledger.json --key officer.pem \\\n"
        "    --out certificate.pdf --out README.md",
    )
    release.add_argument("file", type=Path, help="explanation of one fit, as JSON")
    _add_sources(release)
    release.add_argument(
        "--entry", type=int, help="index of the fit in the ledger, if several entries fit the file"
    )
    add_responsible(release)
    release.add_argument(
        "--key", type=Path, metavar="PEM", help="private Ed25519 key that signs the certificate"
    )
    release.add_argument(
        "--out",
        type=Path,
        required=True,
        action="append",
        help="certificate, as HTML, PDF, JSON or a model card (.md); repeat for several formats",
    )
    release.set_defaults(run=run_release)

    verify = add_command(
        commands,
        "verify",
        summary="Check a certificate against ledger, released file and schema, offline and without "
        "data; exit status 1 if a check fails.",
        examples="dpexplain verify certificate.html --ledger data.ledger.json --release model.json "
        "--schema schema.toml",
    )
    verify.add_argument("file", type=Path, help="certificate, as HTML, PDF, JSON or a model card")
    _add_sources(verify)
    verify.add_argument("--release", type=Path, required=True, help="the released file")
    verify.add_argument(
        "--public-key", type=Path, metavar="PEM", help="the officer's public Ed25519 key"
    )
    verify.add_argument(
        "--head",
        metavar="HASH",
        help="head of the ledger, noted after its last charge; verification fails if entries were "
        "deleted since",
    )
    verify.set_defaults(run=run_verify)


def _add_sources(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--ledger",
        type=file_or_address,
        required=True,
        metavar="JSON",
        help="ledger file, or address of a database",
    )
    command.add_argument("--schema", type=Path, metavar="TOML", help="schema of the fit")


def run_release(asked: argparse.Namespace) -> None:
    """Record a released file in its ledger and write the certificate."""
    from dpexplain.accounting import PrivacyLedger
    from dpexplain.certificate import release
    from dpexplain.schema import Schema

    given = [path for path in (asked.file, asked.ledger, asked.schema, asked.key) if path]
    files = [path for path in given if isinstance(path, Path)]
    for place in asked.out:
        check_place(place, suffixes=(".html", ".htm", ".pdf", ".md", ".json"), kept=tuple(files))
    for path in files:
        _check_file(path)
    certificate = release(
        asked.file,
        PrivacyLedger.open(asked.ledger),
        schema=None if asked.schema is None else Schema.from_toml(asked.schema),
        entry=asked.entry,
        person=asked.person,
        purpose=asked.purpose,
        key=asked.key,
    )
    for place in asked.out:
        print(f"saved to {certificate.save(place)}")
    print(f"head of the ledger, to keep elsewhere: {certificate.head}")


def run_verify(asked: argparse.Namespace) -> int:
    """Verify a certificate and print the result of each check on its own line."""
    from dpexplain.certificate import verify

    for path in (asked.file, asked.ledger, asked.release, asked.schema, asked.public_key):
        if isinstance(path, Path):
            _check_file(path)
    found = verify(
        asked.file,
        asked.ledger,
        asked.release,
        schema=asked.schema,
        public_key=asked.public_key,
        head=asked.head,
    )
    print(found.text())
    print("verified" if found.passed else "NOT VERIFIED")
    return 0 if found.passed else _WRONG


def _check_file(path: Path) -> None:
    if not path.is_file():
        raise CommandError(f"{path}: no such file.")
