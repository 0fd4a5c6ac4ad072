"""Certificates signed with the officer's key, if ``cryptography`` is installed."""

from __future__ import annotations

import importlib.util
import json

import pytest

from certified import certified
from dpexplain.certificate import Certificate, load, release
from dpexplain.certificate.signing import sign

INSTALLED = importlib.util.find_spec("cryptography") is not None
needs_library = pytest.mark.skipif(not INSTALLED, reason="the extra 'sign' is not installed")


def keys(folder, name):
    """Write a key pair as ``openssl genpkey -algorithm ed25519`` does."""
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric import ed25519

    private = ed25519.Ed25519PrivateKey.generate()
    secret, public = folder / f"{name}.pem", folder / f"{name}.pub.pem"
    secret.write_bytes(
        private.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    )
    public.write_bytes(
        private.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    )
    return secret, public


@pytest.mark.skipif(INSTALLED, reason="the extra 'sign' is installed")
def test_key_without_the_library_is_answered_with_the_extra(tmp_path):
    made = certified(tmp_path)
    before = made.ledger.read_bytes()

    with pytest.raises(ImportError, match=r"'\.\[sign\]'"):
        sign(tmp_path / "officer.pem")
    with pytest.raises(ImportError, match="cryptography"):
        certified_again(made, tmp_path / "officer.pem")
    assert made.ledger.read_bytes() == before


@pytest.mark.skipif(INSTALLED, reason="the extra 'sign' is installed")
def test_signature_that_cannot_be_checked_fails_where_a_key_is_given(tmp_path):
    made = certified(tmp_path)
    made.certificate.signed("a" * 64, "b" * 128).save(made.page)

    assert signature_of(made) == "not checked"
    assert signature_of(made, public_key=tmp_path / "officer.pub.pem") == "failed"


def certified_again(made, key):
    from dpexplain import PrivacyLedger

    certificate = release(made.release, PrivacyLedger.open(made.ledger), key=key)
    certificate.save(made.page)
    certificate.save(made.data)
    return certificate


def signature_of(made, **options):
    checks = {check.name: check.status for check in made.verified(**options).checks}
    return checks["signature"]


@needs_library
def test_signed_certificate_is_valid_for_the_key_of_the_officer_alone(tmp_path):
    secret, public = keys(tmp_path, "officer")
    _, other = keys(tmp_path, "other")
    made = certified(tmp_path, key=secret)

    assert load(made.page).signature == made.certificate.signature is not None
    assert made.verified(public_key=public).passed
    assert signature_of(made) == "passed"
    assert signature_of(made, public_key=other) == "failed"
    assert "Signing key" in made.page.read_text()


@needs_library
def test_changed_or_removed_signature_fails_where_the_key_is_given(tmp_path):
    secret, public = keys(tmp_path, "officer")
    made = certified(tmp_path, key=secret)
    key, signature = made.certificate.signature
    flipped = f"{int(signature[0], 16) ^ 1:x}{signature[1:]}"
    made.certificate.signed(key, flipped).save(made.page)
    assert signature_of(made) == "failed"

    Certificate.from_dict({**made.certificate.to_dict(), "signature": None}).save(made.page)
    assert signature_of(made) == "not checked"
    assert signature_of(made, public_key=public) == "failed"


@needs_library
def test_signature_covers_every_field(tmp_path):
    secret, _ = keys(tmp_path, "officer")
    made = certified(tmp_path, key=secret)
    for change in ({"epsilon": 0.4}, {"head": "ab" * 32}, {"dataset": "other"}):
        Certificate.from_dict({**made.certificate.to_dict(), **change}).save(made.page)
        assert signature_of(made) == "failed"


@needs_library
@pytest.mark.parametrize("text", ["", "no key", "public"])
def test_file_that_is_no_private_key_is_refused_without_showing_it(tmp_path, text):
    made = certified(tmp_path)
    before = made.ledger.read_bytes()
    path = tmp_path / "key.pem"
    path.write_text(keys(tmp_path, "officer")[1].read_text() if text == "public" else text)

    with pytest.raises(ValueError, match="is not an unencrypted private Ed25519 key") as caught:
        certified_again(made, path)
    assert "BEGIN" not in str(caught.value)
    assert made.ledger.read_bytes() == before


@needs_library
def test_signature_is_in_the_json_as_two_texts_of_digits(tmp_path):
    made = certified(tmp_path, key=keys(tmp_path, "officer")[0])
    key, signature = json.loads(made.data.read_text())["content"]["signature"]

    assert (len(key), len(signature)) == (64, 128)
