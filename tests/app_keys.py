"""Keys that tests make; GitHub's are RSA of 2,048 bits in the traditional form."""

from __future__ import annotations

from functools import cache

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

_PEM = serialization.Encoding.PEM
_TRADITIONAL = serialization.PrivateFormat.TraditionalOpenSSL


@cache
def rsa_pair() -> tuple[str, str]:
    """An RSA key in PEM, private and public."""
    made = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = made.private_bytes(_PEM, _TRADITIONAL, serialization.NoEncryption())
    public = made.public_key().public_bytes(_PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private.decode(), public.decode()


def locked_key() -> str:
    """An RSA key behind a password."""
    made = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    encryption = serialization.BestAvailableEncryption(b"password")
    return made.private_bytes(_PEM, serialization.PrivateFormat.PKCS8, encryption).decode()


def elliptic_key() -> str:
    """A key that is none of RSA."""
    made = ec.generate_private_key(ec.SECP256R1())
    return made.private_bytes(_PEM, _TRADITIONAL, serialization.NoEncryption()).decode()
