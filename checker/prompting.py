"""Renders the prompts: strict templates, and fences that the text inside them cannot forge."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import count
from string import Template

from checker.links.prose import visible
from checker.pair import Text
from checker.taxonomy import ANALYZERS, Artifact, Role

# Stands for a fence's word until `seal` finds one; it is taken out of whatever strangers wrote.
_MARK = "\x01"
_REQUEST_HEADING = "\n# Request\n"


@dataclass(frozen=True)
class Prompt:
    """A role's prompt file: the part that never changes, and the template of what it is given."""

    system: str
    request: Template

    def render(self, **parts: str) -> str:
        """The request with every name filled in. A missing or a superfluous name is an error of ours."""
        names = set(self.request.get_identifiers())
        if names != set(parts):
            raise KeyError(f"the template wants {sorted(names)}, it was given {sorted(parts)}")
        return seal(self.request.substitute(parts))


def load(role: Role) -> Prompt:
    """The prompt of a role, from the package `prompts`, with the rules that all roles, or all analyzers, share."""
    if role is Role.CLASSIFIER:
        return assemble("baseline_question.md", "baseline_zero_shot.md", "shared.md")
    rules = ["shared.md", "analyzers.md"] if role in ANALYZERS else ["shared.md"]
    return assemble(f"{role.value}.md", *rules)


@cache
def assemble(name: str, *rules: str) -> Prompt:
    """The prompt of one file of the package `prompts`; further files of rules end its system part."""
    folder = resources.files("prompts")
    text = (folder / name).read_text(encoding="utf-8")
    shared = "".join((folder / rule).read_text(encoding="utf-8") for rule in rules)
    system, heading, request = text.partition(_REQUEST_HEADING)
    if not heading:
        raise ValueError(f"prompts/{name} has no heading '# Request'")
    return Prompt(f"{system.strip()}\n\n{shared.strip()}\n", Template(request.strip() + "\n"))


@dataclass(frozen=True)
class Shown:
    """A text as a role is shown it. `cut` counts the characters left out."""

    text: Text
    body: str
    cut: int = 0


def show(text: Text, limit: int) -> Shown:
    """At most `limit` characters of a text, cut in the middle. HTML comments, which no reader sees, are left out."""
    is_code = text.artifact in (Artifact.CODE_PATCH, Artifact.TEST_PATCH)
    body = (text.body if is_code else visible(text.body)).replace("\r\n", "\n").strip()
    if len(body) <= limit:
        return Shown(text, body)
    half = limit // 2
    cut = len(body) - 2 * half
    return Shown(text, f"{body[:half]}\n[... {cut:,} characters are not shown ...]\n{body[len(body) - half :]}", cut)


def fence(shown: Iterable[Shown]) -> str:
    """Texts, each between an opening line with its name and a closing line, still to be sealed."""
    return "\n".join(enclose(item.body, _label(item.text)) for item in shown) or "(none)"


def enclose(body: str, label: str) -> str:
    """Anything that strangers wrote, between fences that are still to be sealed."""
    return f"<{_MARK} {label}>\n{body.replace(_MARK, '')}\n</{_MARK}>"


def seal(text: str) -> str:
    """Puts one word into all fences of a text: one that occurs nowhere in it, so that nothing in it can forge a fence.

    It depends on the text alone, so that equal inputs make equal requests.
    """
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
    for attempt in count():
        word = "t" + hashlib.sha256(digest.digest() + str(attempt).encode()).hexdigest()[:7]
        if word not in text:
            return text.replace(_MARK, word)
    raise AssertionError("count() never ends")


def _label(text: Text) -> str:
    about = [f'name="{text.name}"']
    if text.author:
        about.append(
            f'by="{plain_name(text.author)}{f" ({plain_name(text.association)})" if text.association else ""}"'
        )
    if text.created_at:
        about.append(f'at="{text.created_at:%Y-%m-%d %H:%M}"')
    return " ".join(about)


def plain_name(name: str) -> str:
    """A name of GitHub's without anything that could end a line or a fence."""
    return re.sub(r"[^\w.\[\]-]", "", name)[:60]
