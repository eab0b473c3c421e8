"""What the text of one setting has to be. A reader raises ValueError with the end of a sentence, after the name.

No message repeats the text: it may be a secret, also where none is expected.
"""

from __future__ import annotations

import base64
import binascii
import re
from pathlib import Path
from urllib.parse import urlsplit

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

SQLITE = "sqlite:///"

_PEM = "-----BEGIN"
_URL = re.compile(r"https?://[^/@?#\s]+(?:/[^@?#\s]*)?")
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,99}")
_POSTGRESQL = re.compile(r"postgres(?:ql)?://")


def private_key_of(text: str) -> str:
    """The PEM text of an RSA private key. Raises ValueError with the end of a sentence."""
    pem = text.replace("\\n", "\n").strip() + "\n"
    try:
        key = load_pem_private_key(pem.encode(), password=None)
    except TypeError:
        raise ValueError("is locked with a password; give the key as GitHub made it") from None
    except (ValueError, UnsupportedAlgorithm):
        raise ValueError("is no private key that can be read; give the .pem file that GitHub made") from None
    if not isinstance(key, RSAPrivateKey):
        raise ValueError("is no RSA key; GitHub makes RSA keys, on the App's page under “Private keys”")
    return pem


def key(value: str) -> str:
    """A key that is given as PEM, as base64 of it, or as a path."""
    text = value.strip()
    return private_key_of(text if text.startswith(_PEM) else _decoded(text) or _read_path(text))


def _decoded(text: str) -> str | None:
    try:
        found = base64.b64decode("".join(text.split()), validate=True).decode()
    except (binascii.Error, ValueError):
        return None
    return found if found.lstrip().startswith(_PEM) else None


def _read_path(text: str) -> str:
    try:
        return Path(text).read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise ValueError("is neither a key in PEM, nor base64 of one, nor a file that can be read") from None


def address(value: str) -> str:
    """An address of HTTP, without a slash at the end."""
    if not _URL.fullmatch(value):
        raise ValueError("must be written as https://bot.example.com, without a name, a password or a query")
    return value.rstrip("/")


def database(value: str) -> str:
    """`postgresql://...` or `sqlite:///FILE`."""
    if value.startswith(SQLITE) and len(value) > len(SQLITE) and not re.search(r"[?#]|:memory:", value):
        return value
    if not _POSTGRESQL.match(value):
        raise ValueError("must begin with postgresql:// or be sqlite:///FILE")
    try:
        urlsplit(value).port  # noqa: B018  it is read where it is asked for
    except ValueError:
        raise ValueError("cannot be taken apart; in a password write %40 for @, %2F for / and %23 for #") from None
    return _POSTGRESQL.sub("postgresql://", value)


def model_names(value: str) -> tuple[str, ...]:
    """Names between commas, each once, in order."""
    names = tuple(dict.fromkeys(name.strip() for name in value.split(",") if name.strip()))
    if not names or not all(map(_MODEL.fullmatch, names)):
        raise ValueError("must be names of models with commas between them")
    return names
