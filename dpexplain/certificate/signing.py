"""Ed25519 signatures for certificates, using the package ``cryptography``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from dpexplain._utils.extras import needed
from dpexplain.accounting._ledger.chain import digest

__all__ = ["public_key_of", "sign", "signature_holds"]

_PURPOSE = b"dpexplain certificate 1\n"  # makes signatures invalid for other documents


def sign(key: str | os.PathLike[str]) -> Callable[[Mapping[str, Any]], tuple[str, str]]:
    """Load a private key, and return a function that signs with it.

    Parameters
    ----------
    key : path-like
        Unencrypted Ed25519 key as PEM, as written by ``openssl genpkey -algorithm ed25519``.

    Returns
    -------
    function
        Function that maps the output of ``Certificate.promise()`` to the public key and the
        signature, both in hexadecimal digits.

    Raises
    ------
    ImportError
        If ``cryptography`` is not installed.
    ValueError
        If the file is not an unencrypted Ed25519 key. The message never quotes the file.
    """
    serialization, ed25519 = _library()
    held = Path(key).read_bytes()
    try:
        private = serialization.load_pem_private_key(held, password=None)
    except Exception:  # the message for a damaged key may quote the key
        raise ValueError(_no_key(key, "private")) from None
    if not isinstance(private, ed25519.Ed25519PrivateKey):
        raise ValueError(_no_key(key, "private"))

    def signed(promise: Mapping[str, Any]) -> tuple[str, str]:
        return _hex(private.public_key()), private.sign(_message(promise)).hex()

    return signed


def public_key_of(path: str | os.PathLike[str]) -> str:
    """Load a public key.

    Parameters
    ----------
    path : path-like
        PEM file, as written by ``openssl pkey -in key.pem -pubout``.

    Returns
    -------
    str
        Public key as 64 hexadecimal digits.

    Raises
    ------
    ImportError
        If ``cryptography`` is not installed.
    ValueError
        If the file is not a public Ed25519 key.
    """
    serialization, ed25519 = _library()
    held = Path(path).read_bytes()
    try:
        public = serialization.load_pem_public_key(held)
    except Exception:
        raise ValueError(_no_key(path, "public")) from None
    if not isinstance(public, ed25519.Ed25519PublicKey):
        raise ValueError(_no_key(path, "public"))
    return _hex(public)


def signature_holds(promise: Mapping[str, Any], public_key: str, signature: str) -> bool:
    """Check whether a signature is valid for a certificate and a public key.

    Parameters
    ----------
    promise : mapping
        Signed content of the certificate, from ``Certificate.promise()``.
    public_key, signature : str
        Public key and signature, in hexadecimal digits.

    Returns
    -------
    bool

    Raises
    ------
    ImportError
        If ``cryptography`` is not installed.
    """
    _, ed25519 = _library()
    from cryptography.exceptions import InvalidSignature

    try:
        key = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        key.verify(bytes.fromhex(signature), _message(promise))
    except (InvalidSignature, ValueError):
        return False
    return True


def _message(promise: Mapping[str, Any]) -> bytes:
    return _PURPOSE + digest(promise).encode()


def _hex(public: Any) -> str:
    serialization, _ = _library()
    raw: bytes = public.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return raw.hex()


def _library() -> tuple[Any, Any]:
    """Import ``cryptography``, or raise ImportError with a hint on how to install it."""
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise ImportError(needed("a signature", "cryptography", "sign")) from None
    return serialization, ed25519


def _no_key(path: object, kind: str) -> str:
    return f"{str(path)!r} is not an unencrypted {kind} Ed25519 key in PEM form."
