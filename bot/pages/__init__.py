"""The pages of the set-up: templates beside this file, filled in strictly. What is not a Fragment is escaped."""

from __future__ import annotations

import base64
import hashlib
import html
from importlib import resources
from string import Template


class Fragment(str):
    """HTML that was made here."""

    __slots__ = ()


def fill(template: str, /, **values: str) -> Fragment:
    """A template with its values. A missing one is a KeyError."""
    return Fragment(Template(_text(template)).substitute({key: _escaped(value) for key, value in values.items()}))


def page(title: str, body: Fragment) -> str:
    """A whole page: it loads nothing, and runs no script."""
    return fill("frame.html", title=title, style=Fragment(_text("style.css")), body=body)


def policy(form_targets: str) -> str:
    """The Content-Security-Policy of a page whose forms may go to these origins."""
    style = base64.b64encode(hashlib.sha256(_text("style.css").encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{style}'; form-action {form_targets}; "
        "frame-ancestors 'none'; base-uri 'none'"
    )


def _text(name: str) -> str:
    return (resources.files("bot.pages") / name).read_text(encoding="utf-8")


def _escaped(value: str) -> str:
    return value if isinstance(value, Fragment) else html.escape(value)
